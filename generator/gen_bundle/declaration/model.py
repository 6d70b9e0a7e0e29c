"""The model of bundle.yaml. The JSON Schema for editors is generated from these models.

Lengths and value ranges are those that Codabench's own serializers enforce (1.25).
"""

import keyword
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from gen_bundle.codabench import settings as platform
from gen_bundle.codabench.competition import DEFAULT_A_DAY, DEFAULT_LIMIT_S
from gen_bundle.codabench.settings import MAX_INTEGER
from gen_bundle.codabench.versions import Computation
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.declaration.dates import End, Start
from gen_bundle.declaration.source import text_of
from scoring_kit.base.field_types import bounds_text
from scoring_kit.base.row_files import BLANKS

REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?==[0-9][A-Za-z0-9.!+_]*")


def _identifier(value: str) -> str:
    if not value.isidentifier() or keyword.iskeyword(value):
        raise ValueError("expected letters, digits and underscores, not starting with a digit")
    return value


Identifier = Annotated[str, Field(max_length=platform.KEY.limit), AfterValidator(_identifier)]
Line = Annotated[str, Field(min_length=1, pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$")]
ColumnTitle = Annotated[Line, Field(max_length=platform.COLUMN_TITLE.limit)]
BoardTitle = Annotated[Line, Field(max_length=platform.BOARD_TITLE.limit)]
PageTitle = Annotated[Line, Field(max_length=platform.PAGE_TITLE.limit)]
Image = Annotated[Line, Field(max_length=platform.IMAGE.limit)]
Reward = Annotated[Line, Field(max_length=platform.REWARD.limit)]
Contact = Annotated[Line, Field(max_length=platform.CONTACT.limit, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Quoting = Annotated[Literal["rfc4180", "none"], Field(description="none: cells taken as they are, such as raw tweets.")]
Header = Annotated[
    Literal["none"] | None,
    Field(description="none: the file has no header line, and its columns are the fields in their order."),
]


def _delimiter(value: str) -> str:
    if value != BLANKS and (len(value) != 1 or value == '"'):
        raise ValueError("expected one character, such as ';', or blanks")
    return value


Delimiter = Annotated[
    Annotated[Line, AfterValidator(_delimiter)] | None,
    Field(
        description="The character between cells; blanks: any number of blanks and tabs. Absent: a comma in .csv, a "
        "tab in .tsv."
    ),
]
Skip = Annotated[int, Field(ge=0, description="So many lines at the beginning of the file are not read.")]
Format = Annotated[
    Literal["csv", "tsv", "jsonl", "json", "txt", "npy", "npz", "png", "nii", "nii.gz"] | None,
    Field(description="How the file is read. Absent: as the name's suffix says."),
]
Records = Annotated[
    str | int | None,
    Field(description="Where the records are in a .json file: names by dots, places by numbers."),
]
Place = Annotated[
    str | int | None,
    Field(
        description="Where the value is in a JSON record: names by dots, places by numbers. Empty: the record itself."
    ),
]
Listed = Annotated[
    str | int | None,
    Field(
        alias="list",
        description="With rows: many, in JSON: where each record holds the rows of its key in a list. Empty: the "
        "record itself.",
    ),
]
ColumnName = Annotated[
    Line | None,
    Field(
        description="Its column, or name in JSON, where that is not the field's own; of an array its name in a .npz."
    ),
]
FieldFile = Annotated[
    Line | None,
    Field(
        description="Of type file or array: its own file, where a key has several. {case}: the value of the key field."
    ),
]
Details = Literal["none", "headline", "full"]
Layout = Literal["joint", "tasks", "separate"]
BETTER: Mapping[str, Literal["higher", "lower"]] = {"desc": "higher", "asc": "lower"}
"""The meaning of `sort` for a column's scores."""
CODE_KEYS = ("entry", "interface", "memory")
"""Of a submission: keys that only competitions that take code have."""
SubmissionRule = Literal["manual", "last", "best", "all", "Add", "Add_And_Delete_Multiple"]


class StrictModel(BaseModel):
    """Unknown keys are errors, values are not converted, and nothing changes after reading."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        defer_build=True,  # most commands read one kind of bundle.yaml
        model_title_generator=lambda model: model.__name__.removeprefix("Declared"),  # for the schema's readers
    )


def _requirement(value: str) -> str:
    if not REQUIREMENT.fullmatch(value):
        raise ValueError("expected NAME==VERSION, such as spacy==3.8.7")
    return value


Requirement = Annotated[str, AfterValidator(_requirement)]


class DeclaredColumn(StrictModel):
    """One column of the leaderboard; the first column of the first task is the primary one."""

    key: Identifier = Field(description="Name of the score in scores.json.")
    title: ColumnTitle = Field(description="Heading on the leaderboard.")
    sort: Literal["desc", "asc"] = Field(description="desc: higher is better, asc: lower is better.")
    precision: int = Field(4, ge=0, le=10, description="Decimals shown.")
    hidden: bool = Field(False, description="Kept from the leaderboard; only organisers see it.")
    worst: float | int | None = Field(
        None,
        ge=-1e9,
        le=1e9,
        description="What a submission that does not enter the task gets. Required unless computed.",
    )
    meaning: Line = Field(description="One line that says what the column shows, for the Evaluation page.")
    metric: Any = Field(
        None, description="With scoring_program: declared: a metric's name, or a mapping of name, fields and options."
    )
    expression: Line | None = Field(
        None,
        description="In place of a metric, with scoring_program: declared: what the score is made of, by the keys of "
        "other columns: 0.6 * f1 + 0.4 * (1 - brier).",
    )
    measured: Literal["seconds"] | None = Field(
        None, description="In place of a metric, with submission.kind: code: the wall-clock seconds that the code ran."
    )
    computation: Computation | None = Field(
        None, description="Filled by the platform. avg_rank compares the submissions; it needs Codabench 1.29 or newer."
    )
    of: list[Identifier] | None = Field(None, min_length=1, description="Keys of the columns it is computed from.")


class DeclaredTask(StrictModel):
    """One task: a module of the scoring package, and the columns that it fills."""

    id: Identifier = Field(description="Also the name of the scoring package's module.")
    name: Annotated[Line, Field(max_length=200)] = Field(description="As participants read it.")
    description: str = Field("", description="One or two sentences; in layout tasks the platform shows them.")
    columns: list[DeclaredColumn] = Field(
        min_length=1, description="The task's columns of the leaderboard, in their order."
    )


class PhaseSettings(StrictModel):
    """The keys of every phase, whoever wrote the programs; names and dates have bounds of their own in each kind."""

    id: Identifier = Field(description="Also the name of the phase's folder in the data.")
    name: object = Field(description="As participants read it.")
    description: str = Field("", description="Markdown.")
    tasks: list[Identifier] | None = Field(
        None, description="Ids of the tasks that this phase has. Absent: all of them."
    )
    data: Identifier | None = Field(
        None,
        description="Id of the phase whose data this one uses, too: reference data, baselines and public data. Absent: "
        "it has data of its own.",
    )
    start: object = Field(description="When it begins.")
    end: object = Field(description="When it ends.")
    max_submissions_per_day: int = Field(DEFAULT_A_DAY, ge=0, description="For each participant; 0: no limit.")
    max_submissions: int = Field(
        20,
        ge=0,
        description="For each participant in the whole phase; 0: no limit. Each gives some of the gold away.",
    )
    execution_time_limit: int = Field(
        DEFAULT_LIMIT_S, ge=1, le=MAX_INTEGER, description="Seconds; the public queue allows 600."
    )
    auto_migrate: bool = Field(False, description="Submissions of the phase before are scored again in this one.")
    hide_output: bool = Field(False, description="Participants see neither logs nor output files of the phase.")
    hide_prediction_output: bool = Field(False, description="Participants see no output files of the prediction step.")
    hide_score_output: bool = Field(False, description="Participants see no output files of the scoring step.")
    gold: Literal["secret", "public"] = Field("secret", description="Whether participants may have the phase's gold.")

    @property
    def data_id(self) -> str:
        """Name of the folder that its data lie in: its own id, or that of the phase whose data it shares."""
        return self.data or self.id


class DeclaredPhase(PhaseSettings):
    """One phase; phases follow each other and never overlap."""

    name: Annotated[Line, Field(max_length=200)] = Field(description="As participants read it.")
    tasks: list[Identifier] | None = Field(
        None, min_length=1, description="Ids of the tasks that this phase has. Absent: all of them."
    )
    start: Start = Field(
        description="A moment with its zone: UTC, an offset, or AoE. Without a time: its first second."
    )
    end: End | None = Field(None, description="A moment with its zone. Without a time: its last second. None: endless.")
    details: Details | None = Field(
        None,
        description="What participants see of a run: the leaderboard's columns (none), also what depends on their "
        "submission alone (headline), or figures of every part (full). Absent: full where the gold is public, none "
        "where the scoring output is hidden, else headline.",
    )
    score_decimals: int | None = Field(
        None, ge=0, le=10, description="Decimals of every score that is written; exact where absent."
    )

    @property
    def hides_scores(self) -> bool:
        """Whether the platform keeps the scoring output from participants."""
        return self.hide_output or self.hide_score_output

    @property
    def shown_details(self) -> Details:
        """`details`, or its default where it is absent."""
        if self.details is not None:
            return self.details
        if self.hides_scores:
            return "none"
        return "full" if self.gold == "public" else "headline"


class DeclaredPage(StrictModel):
    """A page of the competition: a Jinja2 template over Markdown, relative to bundle.yaml."""

    title: PageTitle = Field(description="Heading of the page's tab.")
    file: Line = Field(description="Path of the template.")


class SubmissionField(StrictModel):
    """One row of the format table; with scoring_program: declared, also how its values are read."""

    field: Line = Field(description="Its name, as it is written in the file.")
    type: Line = Field(
        description="As participants read it; with scoring_program: declared, one of the types in docs/declared.md."
    )
    required: bool = Field(description="Whether a submission without it is refused.")
    meaning: Line = Field(description="One line that says what it holds.")
    column: ColumnName = None
    at: Place = None
    file: FieldFile = None
    format: Format = None
    shape: Literal["gold", "any"] = Field(
        "gold", description="Of type array. gold: the shape of the key's gold. any: for functions of your own."
    )
    values: list[Any] | Literal["any"] | None = Field(
        None,
        description="Of types of labels: the labels there are, in their order; any: every text is a label. Of type "
        "array: the numbers there are.",
    )
    scheme: Literal["none"] | None = Field(None, description="Of type tags. none: each tag is one of `values`.")
    separator: str = Field(
        "|", min_length=1, description="Of type labels: what separates the labels of a CSV or TSV cell."
    )
    min: float | int | None = Field(None, description="Of type number or numbers: the smallest.")
    max: float | int | None = Field(None, description="Of type number or numbers: the largest.")
    columns: list[Line] | None = Field(
        None,
        description="Of type labels, probabilities or numbers: the columns that it is spread over, in their order.",
    )
    positive: Any = Field(
        None, description='Of type labels with columns: the cell of a label that is in the set. Absent: "1".'
    )
    negative: Any = Field(None, description='Likewise of one that is not. Absent: "0".')
    normalise: bool = Field(False, description="Of type probabilities: they may have any sum.")
    length: int | None = Field(None, ge=1, description="Of type numbers: how many there are.")
    case: Literal["ignore"] | None = Field(None, description="ignore: texts that differ in case alone are the same.")
    aliases: dict[Any, Any] | None = Field(None, description="Other spellings, each with the one that it stands for.")
    default: Any = Field(None, description="What a missing row or an empty answer counts as.")

    @property
    def type_words(self) -> str:
        if isinstance(self.values, list) and self.values:
            listed = ", ".join(text_of(value) or "" for value in self.values)
            return f"{self.type}: {listed}" if self.type == "label" else f"{self.type}, any of {listed}"
        return self.type + bounds_text(self.min, self.max)


class ReferenceField(StrictModel):
    """Where the gold has a field, if not where submissions have it."""

    column: ColumnName = None
    at: Place = None
    file: FieldFile = None
    format: Format = None
    columns: list[Line] | None = Field(None, min_length=1, description="Of type numbers: the column of each of them.")


class DeclaredReference(StrictModel):
    """The gold of a declared table."""

    file: Line = Field(description="The gold in each phase's folder: the submission's fields, and further columns.")
    format: Format = None
    quoting: Quoting = "rfc4180"
    header: Header = None
    delimiter: Delimiter = None
    skip: Skip = 0
    at: Records = None
    within: Listed = None
    columns: list[Line] | None = Field(
        None, description="With header: none: the gold's columns in their order. Absent: the submission's fields."
    )
    fields: dict[str, ReferenceField] | None = Field(
        None, description="Field → its column, or its place in JSON, where the gold has it elsewhere."
    )
    empty: Literal["error", "skip"] = Field(
        "error", description="skip: a key whose gold cell is empty is left out of the metrics that read that cell."
    )
    keys: Line | None = Field(
        None, description="With rows: many, or files: a table of all keys, also of those without gold rows."
    )
    cluster: Line | None = Field(None, description="Gold column of rows that stay together when results are resampled.")
    unit: Line | None = Field(
        None, description="What a key, or a cluster of them, is called in reports, in the singular: review."
    )
    public: list[Line] = Field(default_factory=list, description="Gold columns that participants may know.")


class SubmittedTable(StrictModel):
    """One table of a submission, with scoring_program: declared."""

    file: Line = Field(
        description="Name of the file; its suffix decides how it is read (.csv .tsv .jsonl .json .txt; of arrays .npy "
        ".npz .png .nii .nii.gz). *.csv: the one file that ends so. {doc}.csv: a file for each value of the key field "
        "doc; it may be a folder, too."
    )
    fields: list[SubmissionField] = Field(min_length=1, description="The rows of the format table, in their order.")
    key: Line | list[Line] | None = Field(
        None,
        description="The field, or fields, by which rows are matched. line: row n answers row n; among others, the "
        "number of the row within its file. none, with fields of type file or array: the one file is the one answer.",
    )
    rows: Literal["one", "many"] = Field("one", description="many: any number of rows for a key.")
    missing: Literal["reject", "empty"] | None = Field(
        None, description="A key without a row: reject (default with rows: one), or empty (default with rows: many)."
    )
    unknown: Literal["reject", "ignore"] = Field(
        "reject", description="Rows, or files, of keys that the gold lacks. ignore: they are left out, with a warning."
    )
    format: Format = None
    quoting: Quoting = "rfc4180"
    header: Header = None
    delimiter: Delimiter = None
    skip: Skip = 0
    at: Records = None
    within: Listed = None
    check: Line | None = Field(
        None,
        description="FILE.py:FUNCTION beside bundle.yaml, check(rows) -> list of problems: any of them refuses the "
        "submission. Standard library alone, since participants run it, too.",
    )


class SubmissionTable(SubmittedTable):
    """One of several tables, with its gold."""

    reference: DeclaredReference = Field(description="The gold of this table.")


class DeclaredSubmission(SubmittedTable):
    """The answers that participants hand in, as the Submission page and the starting kit describe it."""

    kind: Literal["results", "code"] = Field(
        "results", description="results: predictions. code: a program that writes them, run by an ingestion program."
    )
    entry: Line | None = Field(
        None, description="With kind: code: the file at the top of the zip that is run, such as model.py."
    )
    interface: Literal["function", "command"] | None = Field(
        None,
        description="With kind: code. function (default): predict(input_folder, output_folder) of the entry is called. "
        "command: the entry is run with these two folders as its arguments.",
    )
    memory: int | None = Field(
        None, ge=64, description="With kind: code: MiB that the entry's processes may hold together. Absent: no limit."
    )
    file: Line = Field(description="Name, or pattern, of the file or files in the zip, or that the code writes.")
    tables: dict[Identifier, SubmissionTable] | None = Field(
        None,
        min_length=1,
        description="Several tables by name, each with its file, key, fields and reference.",
    )


class Question(StrictModel):
    """A question of the fact sheet, asked with every submission."""

    type: Literal["text", "checkbox", "select"] = Field(description="How it is answered.")
    title: Line = Field(description="The question as participants read it.")
    choices: list[str] | None = Field(None, min_length=1, description="For type select: the answers there are.")
    required: bool = Field(False, description="Whether an answer is needed to submit.")
    on_leaderboard: bool = Field(False, description="Whether the leaderboard shows the answer.")


class DeclaredLeaderboard(StrictModel):
    """The leaderboard as a whole; its columns belong to the tasks."""

    title: BoardTitle = Field("Results", description="Heading over the leaderboard.")
    hidden: bool = Field(False, description="Only organisers see the leaderboard, in every phase.")
    ties: Literal["columns", "equal"] = Field(
        "columns",
        description="What orders equal scores. columns: the following columns, as on the platform. equal: only the "
        "columns in tie_break; rows that are still equal share a rank.",
    )
    tie_break: list[Identifier] = Field(
        default_factory=list, description="With ties: equal: keys of the columns that order equal scores."
    )


class Milestone(StrictModel):
    """A date beside the phases, such as the day when papers are due."""

    name: Annotated[Line, Field(max_length=200)] = Field(description="What happens, as participants read it.")
    date: End = Field(description="A moment with its zone: UTC, an offset, or AoE. Without a time: its last second.")


class CompetitionSettings(StrictModel):
    """The keys of every competition, whoever wrote its programs."""

    title: Annotated[Line, Field(max_length=222)] = Field(description="Name of the competition.")
    name: Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] | None = Field(
        None,
        description="Short name, by which signatures know the competition, wherever its folder is. Absent: the "
        "folder's name.",
    )
    description: str = Field("", description="One or two sentences, shown in lists of competitions.")
    logo: Line = Field(description="PNG, JPEG, GIF or WebP, relative to bundle.yaml.")
    contact: Contact | None = Field(None, description="An e-mail address.")
    docker_image: Image | None = Field(
        None,
        description=f"Image with its tag. Absent: {PLATFORM_IMAGE}, which Codabench publishes: it has numpy, SciPy and "
        "scikit-learn, and scores everything that needs no model.",
    )
    registration: Literal["auto", "approve"] = Field(
        "auto", description="auto: participants take part once they register. approve: once the organisers agree."
    )
    pages: list[DeclaredPage] = Field(min_length=1, description="The competition's pages, in their order.")
    terms: Line = Field(description="Template of the terms, relative to bundle.yaml.")
    raw: bool = Field(False, description="Pages and terms are no templates: they are taken as they are.")
    milestones: list[Milestone] = Field(
        default_factory=list, description="Further dates, shown with those of the phases and in the preview."
    )
    queue: str | None = Field(
        None,
        pattern=r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$",
        description="UUID (vhost) of your own queue; the public one where absent.",
    )
    forum: bool = Field(True, description="Whether the competition has a forum.")
    reward: Reward | None = Field(None, description="What can be won, in a line.")

    @property
    def files(self) -> list[str]:
        """The logo, the pages and the terms, relative to bundle.yaml."""
        return [self.logo, *(page.file for page in self.pages), self.terms]

    @property
    def image(self) -> str:
        """Return what its programs run in."""
        return self.docker_image or PLATFORM_IMAGE


class DeclaredCompetition(CompetitionSettings):
    """A competition: everything but its data and the text of its pages."""

    scoring_program: Identifier | None = Field(None, description="Scoring package; the folder's name where absent.")
    layout: Layout = Field(
        "joint",
        description="joint: all tasks in one Codabench task a phase. tasks: a Codabench task for each task and phase. "
        "separate: a bundle for each task.",
    )
    submission_rule: SubmissionRule = Field(
        "all",
        description="What is on the leaderboard. Of itself: each participant's last submission, the best, or all. By "
        "hand: one that can be replaced (Add) and also removed (manual), or any number (Add_And_Delete_Multiple).",
    )
    leaderboard: DeclaredLeaderboard = Field(
        default_factory=DeclaredLeaderboard, description="Its title, and whether it is hidden."
    )
    details_min_items: int = Field(5, ge=1, description="No detailed figure is shown over fewer scored items.")
    phases: list[DeclaredPhase] = Field(min_length=1, description="The phases, in the order of their dates.")
    tasks: list[DeclaredTask] = Field(min_length=1, description="The tasks; the first one's first column ranks.")
    submission: DeclaredSubmission = Field(description="What participants hand in.")
    reference: DeclaredReference | None = Field(None, description="With scoring_program: declared: the gold.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the scoring package.")
    requirements: list[Requirement] = Field(
        default_factory=list,
        description="Python packages that the competition's own scoring needs besides, NAME==VERSION. `image lock` "
        "locks them, with what they bring along, into the scoring image.",
    )
    scoring_files: list[Line] = Field(
        default_factory=list,
        description="Files beside bundle.yaml that metrics of your own read, such as an ontology, or import: they "
        "travel beside metrics.py, so that Path(__file__).parent / NAME finds them. Participants do not get them.",
    )
    time_zones: list[str] = Field(
        default=["America/New_York", "Europe/London", "Asia/Tokyo"], description="Local times shown on the pages."
    )
    fact_sheet: dict[Identifier, Question] = Field(
        default_factory=dict, description="Questions asked with every submission, by a name of your choice."
    )
