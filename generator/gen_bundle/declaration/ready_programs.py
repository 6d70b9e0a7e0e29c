"""The keys of bundle.yaml where the programs are somebody else's (`programs:`), packed as they are.

Tasks are Codabench's own. Only what cannot be written is refused
here: what the platform would refuse, or what would not work, the check finds in the finished bundle.
"""

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import Field

from gen_bundle.codabench import settings as platform
from gen_bundle.codabench.settings import MAX_INTEGER
from gen_bundle.codabench.versions import COMPUTATIONS, Computation
from gen_bundle.declaration.model import (
    CompetitionSettings,
    DeclaredLeaderboard,
    DeclaredPage,
    DeclaredSubmission,
    Identifier,
    Line,
    PhaseSettings,
    Question,
    StrictModel,
    SubmissionRule,
)
from gen_bundle.declaration.rules import check_computed_of, check_files, check_shared_data, check_unique
from gen_bundle.declaration.source import Section, columns_of, nearest

PROGRAMS = "programs"
"""The key of bundle.yaml that makes a competition foreign."""
Name = Annotated[str, Field(min_length=1, max_length=platform.NAME.limit)]
ColumnText = Annotated[str, Field(min_length=1, max_length=platform.KEY.limit)]
PackedPath = Annotated[
    str,
    Field(
        min_length=1,
        description="A folder, which is zipped with all that is in it, or a file, which is packed as it is.",
    ),
]
DATA = "data"
"""The folder of a project that --data replaces."""
UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
WORDS = {
    "scoring": "the scoring program",
    "ingestion": "the ingestion program",
    "reference_data": "the reference data",
    "input_data": "the input data",
    "public_data": "the public data",
    "starting_kit": "the starting kit",
    "path": "the solution",
}
"""A key's file in words."""
AnyRule = Literal[SubmissionRule, "Add_And_Delete", "Force_Last", "Force_Latest_Multiple", "Force_Best"]


class Programs(StrictModel):
    """Programs that are packed as they are; a program given for a task comes before its phase's, then the one above."""

    scoring: PackedPath | None = Field(None, description="Folder, zip or file of the scoring program.")
    ingestion: PackedPath | None = Field(
        None, description="Folder, zip or file of the ingestion program. `null`: none, where there is one above."
    )


class ForeignColumn(StrictModel):
    """One column of the leaderboard."""

    key: ColumnText = Field(description="Name of the score as the scoring program writes it.")
    title: ColumnText = Field(description="Heading on the leaderboard.")
    sort: Literal["desc", "asc"] = Field(description="desc: higher is better, asc: lower is better.")
    precision: int = Field(4, description="Decimals shown.")
    hidden: bool = Field(False, description="Kept from the leaderboard; only organisers see it.")
    index: int | None = Field(None, ge=0, le=MAX_INTEGER, description="Its place. Absent: that in this list, from 0.")
    computation: Computation | None = Field(
        None, description="Filled by the platform. avg_rank compares the submissions; it needs Codabench 1.29 or newer."
    )
    of: list[ColumnText] | None = Field(None, description="Keys of the columns it is computed from.")
    measured: Literal["seconds"] | None = Field(
        None, description="It shows how long code ran: `confirm` does not compare it, as it differs from run to run."
    )
    worst: float | int | None = Field(None, description="The worst score that there can be, for readers alone.")
    meaning: Line | None = Field(None, description="One line that says what the column shows, for readers alone.")


class ForeignTask(StrictModel):
    """A Codabench task: its programs, its data, and the columns that it fills.

    A task of several phases whose data or programs differ becomes a Codabench task for each of them.
    """

    id: Identifier = Field(description="By which phases, solutions and `--set` name it.")
    name: Name = Field(description="As participants read it.")
    description: str = Field("", description="Where a phase has several tasks, the platform shows it.")
    key: Line | None = Field(None, description="UUID of a task that the server has already, in place of all else.")
    programs: Programs = Field(default_factory=Programs, description="In place of those of the phase and the top.")
    reference_data: PackedPath | None = Field(
        None,
        description="Folder, zip or file. Absent: `data/PHASE/TASK` or `data/PHASE`, by their ids, or with .zip, where "
        "that exists. `null`: none.",
    )
    input_data: PackedPath | None = Field(
        None, description="Likewise, of code. Absent: `data/input/PHASE` or `data/input`. `null`: none."
    )
    ingestion_only_during_scoring: bool = Field(
        False, description="The ingestion program runs beside the scoring program, in its step."
    )
    columns: list[ForeignColumn] | None = Field(
        None, description="Its columns of the leaderboard, where these are not given there."
    )


class ForeignPhase(PhaseSettings):
    """One phase; those of others may overlap, and have no end."""

    name: Name = Field(description="As participants read it.")
    start: str = Field(
        description="A moment with its zone: UTC, an offset, or AoE. Other texts stay as they are, and are read as UTC."
    )
    end: str | None = Field(None, description="Likewise; with a zone and no time, its last second. Absent: endless.")
    programs: Programs = Field(default_factory=Programs, description="Of this phase's tasks, in place of those above.")
    max_submissions: int = Field(20, ge=0, description="For each participant in the whole phase; 0: no limit.")
    execution_time_limit: int = Field(
        600, ge=0, le=MAX_INTEGER, description="Seconds; the public queue allows 600, and takes 0 for that."
    )
    public_data: PackedPath | None = Field(
        None,
        description="Folder, zip or file. Absent: `data/public/PHASE`, `public/PHASE`, `data/public` or `public`, the "
        "first that exists. `null`: none.",
    )
    starting_kit: PackedPath | None = Field(None, description="Likewise. Absent: `kits/PHASE` or `kits`. `null`: none.")


class ForeignSolution(StrictModel):
    """An example submission, which the dry run takes, and which participants may download."""

    path: PackedPath = Field(description="Folder, zip or file.")
    tasks: list[Identifier] = Field(description="Ids of the tasks that it is for.")
    name: Name | None = Field(None, description="As the platform lists it.")
    description: str = Field("", description="Likewise.")


class ForeignLeaderboard(DeclaredLeaderboard):
    """The leaderboard with its columns, for all tasks and phases."""

    title: Annotated[str, Field(min_length=1, max_length=platform.BOARD_TITLE.limit)] = Field(
        "Results", description="Heading over the leaderboard."
    )
    tie_break: list[str] = Field(
        default_factory=list, description="With ties: equal: keys of the columns that order equal scores."
    )
    key: Annotated[str, Field(min_length=1, max_length=platform.KEY.limit)] = Field(
        "results", description="Its name on the platform."
    )
    primary_index: int = Field(0, ge=0, le=MAX_INTEGER, description="The index of the column that ranks.")
    columns: list[ForeignColumn] | None = Field(
        None, description="Its columns, where these are not given with the tasks."
    )


class ForeignCompetition(CompetitionSettings):
    """A competition whose programs are packed as they are."""

    title: Name = Field(description="Name of the competition.")
    contact: str | None = Field(None, description="An e-mail address.")
    submission_rule: AnyRule = Field(
        "all",
        description="What is on the leaderboard: as in other declarations, or by any of the platform's own names.",
    )
    pages: list[DeclaredPage] = Field(description="The competition's pages, in their order.")
    terms: Line = Field(description="File of the terms, relative to bundle.yaml.")
    queue: str | None = Field(None, description="UUID (vhost) of your own queue; the public one where absent.")
    reward: Annotated[str, Field(max_length=platform.REWARD.limit)] | None = Field(
        None, description="What can be won, in a line."
    )
    programs: Programs = Field(description="The programs of all tasks that have none of their own.")
    tasks: list[ForeignTask] = Field(min_length=1, description="Codabench's tasks, in their order.")
    phases: list[ForeignPhase] = Field(min_length=1, description="The phases, in the platform's order.")
    submission: DeclaredSubmission | None = Field(
        None, description="What participants hand in, for pages that are templates; nothing is checked by it."
    )
    solutions: list[ForeignSolution] | None = Field(
        None, description="Example submissions. Absent: all in the folder `solutions`, for every task."
    )
    leaderboard: ForeignLeaderboard = Field(
        default_factory=ForeignLeaderboard, description="Its title, its columns, and which of them ranks."
    )
    fact_sheet: dict[str, Question | dict[str, Any]] = Field(
        default_factory=dict,
        description="Questions asked with every submission, as in other declarations or as the platform reads them.",
    )
    enable_detailed_results: bool = Field(False, description="Participants see the page that the program writes.")
    show_detailed_results_in_submission_panel: bool = Field(True, description="Beside their own submissions.")
    show_detailed_results_in_leaderboard: bool = Field(True, description="Beside the rows of the leaderboard.")
    auto_run_submissions: bool = Field(True, description="`false`: organisers start each submission.")
    can_participants_make_submissions_public: bool = Field(True, description="Whether others may download them.")
    make_programs_available: bool = Field(False, description="Participants may download the programs.")
    make_input_data_available: bool = Field(False, description="Participants may download the input data.")
    competition_type: Literal["competition", "benchmark"] = Field("competition", description="How it is listed.")

    @property
    def columns(self) -> list[ForeignColumn]:
        """The leaderboard's columns, in its own order or that of the tasks."""
        if self.leaderboard.columns is not None:
            return self.leaderboard.columns
        return [column for task in self.tasks for column in task.columns or []]

    def tasks_of(self, phase: ForeignPhase) -> list[ForeignTask]:
        """Return the tasks of a phase, in the platform's order."""
        return [task for task in self.tasks if phase.tasks is None or task.id in phase.tasks]

    def phases_of(self, task: ForeignTask) -> list[ForeignPhase]:
        """Return the phases that have a task."""
        return [phase for phase in self.phases if task in self.tasks_of(phase)]

    def programs_of(self, task: ForeignTask, phase: ForeignPhase | None) -> Programs:
        """Return a task's programs in a phase: its own, else those of the phase, else those of the competition."""
        given: dict[str, str | None] = {}
        for programs in (self.programs, phase.programs if phase else Programs(), task.programs):
            given |= {role: getattr(programs, role) for role in programs.model_fields_set}
        return Programs(**given)


def check_foreign_rules(declared: Section, folder: Path) -> None:
    """Note every broken rule of a foreign competition."""
    check_unique(declared, "phases", "id")
    check_unique(declared, "tasks", "id")
    check_files(declared, folder)
    _check_columns(declared)
    for name in ("phases", "solutions"):
        _check_task_ids(declared, name)
    check_shared_data(declared)


def _check_columns(declared: Section) -> None:
    """Columns stand on the leaderboard or with the tasks; each has a key of its own."""
    of_board = list(declared.mapping("leaderboard").sections("columns"))
    of_tasks = list(columns_of(declared))
    if of_board and of_tasks:
        what = "tasks have columns, too. Expected all in one of the two places."
        declared.fault(what, "leaderboard", "columns")
    without = ["columns" not in task.data for task in declared.sections("tasks")]
    if without and all(without) and not of_board:
        what = "columns is missing. Expected the leaderboard's columns, with their key, title and sort."
        declared.fault(what, "tasks", 0)
    columns = of_board + of_tasks
    keys: list[str] = []
    for column in columns:
        key = column.get("key")
        if key and key in keys:
            column.fault(f"{key!r} is used twice. Expected: a different key for each of the columns.", "key")
        keys.append(key)
    for column in columns:
        if column.items("of") and column.get("computation") is None:
            column.fault(f"is given without a computation. Expected one of {', '.join(COMPUTATIONS)}.", "of")
        check_computed_of(column, keys, "column")


def _check_task_ids(declared: Section, name: str) -> None:
    ids = [str(task.get("id")) for task in declared.sections("tasks")]
    for item in declared.sections(name):
        for index, task in enumerate(item.items("tasks")):
            if task not in ids:
                item.fault(f"no task {task!r}. {nearest(task, ids)}", "tasks", index)


def source_of(folder: Path, data: Path | None, path: str) -> Path:
    """Return where a path of bundle.yaml leads to: below `data/`, into the folder given for it."""
    if data is not None and is_below_data(path):
        return data / PurePosixPath(posixpath.normpath(path)).relative_to(DATA)
    return folder / path


def is_below_data(path: str) -> bool:
    """Return whether a path leads to what --data replaces."""
    return PurePosixPath(posixpath.normpath(path)).parts[:1] == (DATA,)


def is_on_server(path: str, source: Path) -> bool:
    """Return whether it is the UUID of a data set that the server has."""
    return UUID.fullmatch(path) is not None and not source.exists()


def place_of(path: str, source: Path) -> str:
    """Return where in the bundle that is which lies at `source`: a folder is a zip there."""
    return posixpath.normpath(path) + (".zip" if source.is_dir() else "")


def check_packed(declared: Section, folder: Path, own_data: Path | None) -> None:
    """Note paths that lead nowhere, or out of the project."""
    sections = [declared.mapping(PROGRAMS)]
    for name in ("tasks", "phases", "solutions"):
        for item in declared.sections(name):
            sections += [item.mapping(PROGRAMS), item]
    for section in sections:
        for key, what in WORDS.items():
            path = section.get(key)
            if path and (fault := _path_fault(path, what, folder, own_data)):
                section.fault(fault, key)


def _path_fault(path: str, what: str, folder: Path, own_data: Path | None) -> str:
    if not _is_below(path):
        return f"{path!r} does not lead to a part of the project. Expected a path below {folder}."
    source = source_of(folder, own_data, path)
    if _is_there(source) or UUID.fullmatch(path):
        return ""
    shown = path if source == folder / path else str(source)
    if _is_there(Path(f"{source}.zip")):
        return f"nothing is at {shown}. Did you mean {path}.zip?"
    return f"nothing is at {shown}. Expected {what} there: a folder, which is zipped, a zip or a file."


def _is_below(path: str) -> bool:
    """Whether a path leads below the folder that it is seen from, and not to that folder."""
    place = PurePosixPath(posixpath.normpath(path))
    return bool(place.parts) and not place.is_absolute() and place.parts[0] != ".."


def _is_there(source: Path) -> bool:
    try:
        return source.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
