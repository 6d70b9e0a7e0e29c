"""The keys that the platform reads, and every typed field that it validates, in its order, for both formats.

Source: Django REST framework 3.16 serializer fields, with the types and lengths of Codabench 1.25's models. How it
reads a value is in `gen_bundle.codabench.reading`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from gen_bundle.codabench.competition import DEFAULT_A_DAY, DEFAULT_IN_ALL, PHASE_FILES, TASK_FILES
from gen_bundle.codabench.reading import (
    YAML_NAME,
    CompetitionYaml,
    as_boolean,
    as_integer,
    as_text,
    board_label,
    of_leaderboard,
    old_columns,
    old_labels,
    old_phases,
    sorted_phases,
)
from gen_bundle.codabench.versions import DIFFERENCES
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.yaml_document import Path, is_endless, texts_in
from gen_bundle.ground.zips.tree import is_encodable


class Stage(IntEnum):
    """Where the platform is when it meets a fault; it stops at the first one."""

    ARCHIVE = 0
    YAML = 1
    VERSION = 2
    PAGES = 3
    TASKS = 4
    SOLUTIONS = 5
    TERMS = 6
    IMAGE = 7
    QUEUE = 8
    PHASES = 9
    PHASE_ORDER = 10
    LEADERBOARDS = 11
    SAVE_TASKS = 12
    SAVE_SOLUTIONS = 13
    SAVE_LEADERBOARDS = 14
    SAVE_PHASES = 15
    SAVE_COMPETITION = 16
    STORE = 17
    LATER = 18


MAX_INTEGER = 2_147_483_647
Fault = Literal["missing", "null", "blank", "long", "text", "nul", "boolean", "integer", "range", "choice", "email"]
Refused = tuple[Fault, str]
"""The fault that a field finds with a value, and that in words that follow the name of the field."""


class Missing:
    """The one value that stands for a key that is not there."""


MISSING: Final = Missing()


@dataclass(frozen=True)
class Text:
    """A text field."""

    limit: int | None = None
    null: bool = False
    blank: bool = False

    def refused(self, value: Any) -> Refused | None:
        if isinstance(value, str) and not value.strip():
            return None if self.blank else ("blank", "is blank, and needs a text")
        text = as_text(value)
        if text is None:
            return "text", f"is read as {shown(value)}, which is not a text"
        if "\0" in text or not is_encodable(text):
            return "nul", "holds a NUL character or half of a surrogate pair"
        if self.limit is not None and len(text) > self.limit:
            return "long", f"has {len(text)} characters, and at most {self.limit} fit"
        return None


@dataclass(frozen=True)
class Email(Text):
    """A text field that holds an e-mail address."""

    def refused(self, value: Any) -> Refused | None:
        refused, text = super().refused(value), as_text(value)
        if text is None or (refused is None and text and not is_email(text)):
            return "email", f"is {shown(value)}, which is not an e-mail address"
        return refused


class Boolean(NamedTuple):
    """A truth value."""

    null: bool = False

    def refused(self, value: Any) -> Refused | None:
        return None if as_boolean(value) is not None else ("boolean", f"is {shown(value)}, and must be true or false")


class Integer(NamedTuple):
    """A whole number within bounds."""

    low: int = 0
    high: int = MAX_INTEGER
    null: bool = False

    def refused(self, value: Any) -> Refused | None:
        number = as_integer(value)
        if number is None:
            return "integer", f"is {shown(value)}, and must be a whole number"
        if not self.low <= number <= self.high:
            return "range", f"is {shown(value)}, and must lie between {self.low} and {self.high}"
        return None


class Choice(NamedTuple):
    """One of some texts."""

    choices: tuple[str, ...]
    null: bool = False
    blank: bool = False

    def refused(self, value: Any) -> Refused | None:
        if (value == "" and self.blank) or str(value) in self.choices:
            return None
        return "choice", f"is {shown(value)}; allowed are {', '.join(self.choices)}"


Kind = Text | Boolean | Integer | Choice


def shown(value: Any) -> str:
    """Return a value for a message, cut to a length that can be read."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a mapping"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


# The parts of an e-mail address; they are compiled when one is looked at, which takes 30 ms.
LOCAL_PART = (
    r"[-!#$%&'*+/=?^_`{}|~0-9A-Z]+(\.[-!#$%&'*+/=?^_`{}|~0-9A-Z]+)*\Z"
    r'|"([\x01-\x08\x0b\x0c\x0e-\x1f!#-\[\]-\x7f]|\\[\x01-\x09\x0b\x0c\x0e-\x7f])*"\Z'
)
LETTER = r"A-Za-z\u00a1-\uffff"  # both cases: IGNORECASE on such a range takes 30 ms to compile
FIRST_LABEL = rf"[{LETTER}0-9](?:[{LETTER}0-9-]{{0,61}}[{LETTER}0-9])?"
LATER_LABEL = rf"\.(?!-)[{LETTER}0-9-]{{1,63}}(?<!-)"
TOP_LABEL = rf"\.(?!-)(?:[{LETTER}-]{{2,63}}|(?i:xn--[A-Z0-9]{{1,59}}))(?<!-)"
DOMAIN = rf"{FIRST_LABEL}(?:{LATER_LABEL})*{TOP_LABEL}\Z"
ASCII_DOMAIN = DOMAIN.replace(r"\u00a1-\uffff", "")  # compiles in a tenth of the time
ADDRESS = r"\[([A-F0-9:.]+)\]\Z"


def is_email(text: str) -> bool:
    """Return whether Django takes the text for an e-mail address (django.core.validators.EmailValidator, 5.2)."""
    local, at, domain = text.rpartition("@")
    if not at or len(text) > 320 or not re.match(LOCAL_PART, local, re.IGNORECASE):
        return False
    pattern = ASCII_DOMAIN if domain.isascii() else DOMAIN
    if domain == "localhost" or re.match(pattern, domain):
        return True
    literal = re.match(ADDRESS, domain, re.IGNORECASE)
    if literal is None:
        return False
    from ipaddress import ip_address

    try:
        ip_address(literal.group(1))
    except ValueError:
        return False
    return True


def is_uuid(text: str) -> bool:
    """Return whether the text is the key of something on the server."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def is_json(value: Any) -> bool:
    """Return whether a YAML value can be written as JSON and stored by PostgreSQL (no dates, loops, NaN or NUL)."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return all("\0" not in text and is_encodable(text) for text in texts_in(value))


NAME = Text(256)
COLUMN_TITLE = KEY = Text(36)
BOARD_TITLE = Text(64)
PAGE_TITLE = Text(255)
IMAGE = Text(128)
REWARD = Text(256, null=True, blank=True)
CONTACT = Email(256, null=True, blank=True)
# the task of an old phase is called "<label> Task", in at most 256 characters
OLD_TASK_NAME = Text(251, blank=True)
FREE_TEXT = Text(null=True, blank=True)
FLAG = Boolean()
COUNT = Integer(null=True)
SORTING = Choice(("desc", "asc"))
RULES = ("Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best")
LOWEST_INTEGER = -2_147_483_648


class PlatformField(NamedTuple):
    """A field of a mapping of competition.yaml.

    Attributes:
        place: where the platform reads it among the fields of its mapping.
        default: what counts where the key is missing; MISSING: it may not be.
        ours: what bundle.yaml calls it, where that is another name.
    """

    place: int
    key: str
    kind: Kind
    default: Any
    ours: str = ""

    @property
    def name(self) -> str:
        """Its name in bundle.yaml."""
        return self.ours or self.key

    def read(self, mapping: Mapping[Any, Any]) -> Any:
        """Return its value in a mapping as the platform reads it; None where that is none of its kind."""
        value = mapping.get(self.key, self.default)
        if isinstance(self.kind, Boolean):
            return as_boolean(value)
        return as_integer(value) if isinstance(self.kind, Integer) else as_text(value)


# Fields that bundle.yaml has as competition.yaml has them stand in the order in which a build writes them.
SETTINGS = (
    PlatformField(22, "forum_enabled", FLAG, True, "forum"),
    PlatformField(17, "competition_type", Choice(("competition", "benchmark")), "competition"),
    PlatformField(9, "enable_detailed_results", FLAG, False),
    PlatformField(10, "show_detailed_results_in_submission_panel", FLAG, True),
    PlatformField(11, "show_detailed_results_in_leaderboard", FLAG, True),
    PlatformField(12, "auto_run_submissions", FLAG, True),
    PlatformField(13, "can_participants_make_submissions_public", FLAG, True),
    PlatformField(14, "make_programs_available", FLAG, False),
    PlatformField(15, "make_input_data_available", FLAG, False),
)
QUEUE = PlatformField(0, "queue", FREE_TEXT, None)  # looked up before the competition's fields are read
OPTIONAL = (
    PlatformField(20, "contact_email", CONTACT, None, "contact"),
    QUEUE,
    PlatformField(19, "reward", REWARD, None),
)
TOP_FIELDS = (
    PlatformField(0, "title", NAME, None),
    PlatformField(2, "docker_image", IMAGE, "image"),
    PlatformField(5, "description", FREE_TEXT, ""),
    PlatformField(7, "registration_auto_approve", FLAG, False),
    *SETTINGS,
    *(field for field in OPTIONAL if field is not QUEUE),
)
PAGES_PLACE, PHASES_PLACE = 3, 4
OLD_TOP_FIELDS = (
    *("title", "description", "enable_detailed_results", "show_detailed_results_in_submission_panel"),
    *("show_detailed_results_in_leaderboard", "auto_run_submissions"),
    *("make_programs_available", "make_input_data_available"),
)
MIGRATE = PlatformField(5, "auto_migrate_to_this_phase", FLAG, False, "auto_migrate")
HIDING = (
    PlatformField(6, "hide_output", FLAG, False),
    PlatformField(7, "hide_prediction_output", FLAG, False),
    PlatformField(8, "hide_score_output", FLAG, False),
)
LIMITS = (
    PlatformField(3, "max_submissions_per_day", COUNT, DEFAULT_A_DAY),
    PlatformField(4, "max_submissions", COUNT, DEFAULT_IN_ALL),
    PlatformField(2, "execution_time_limit", Integer(), 0),
)
PHASE_SETTINGS = (*LIMITS, MIGRATE, *HIDING)


def keys_of(fields: Iterable[PlatformField]) -> list[str]:
    """Return the keys of fields on the platform."""
    return [field.key for field in fields]


# The keys of each kind of mapping.
# `id` is never reported: tools use it for their own purposes.
OWN = frozenset(["id"])
PAGE = OWN | {"title", "file", "index"}
TASK = OWN | {"index", "key", "name", "description", "ingestion_only_during_scoring", *TASK_FILES}
SOLUTION = OWN | {"index", "key", "name", "description", "tasks", "path"}
# `gold: public` tells the check that a phase's reference data are not secret.
PHASE = OWN | {"gold", "index", "name", "description", "start", "end", "tasks", *PHASE_FILES}
PHASE |= {*keys_of(PHASE_SETTINGS)}
LISTS = {"pages": PAGE, "tasks": TASK, "solutions": SOLUTION, "phases": PHASE}
COLUMN = OWN | {"title", "key", "index", "sorting", "precision", "hidden", "computation", "computation_indexes"}
TOP_KEYS = OWN | {"version", "image", "terms", "pages", "tasks", "solutions", "phases", "leaderboards"}
# `milestones` are the dates beside the phases that a preview shows.
TOP_KEYS |= {"fact_sheet", "milestones", *keys_of((*TOP_FIELDS, QUEUE))}

OLD_TOP_KEYS = OWN | {"version", "image", "html", "phases", "leaderboard", "queue", "competition_docker_image"}
OLD_TOP_KEYS |= {"has_registration", "end_date", *OLD_TOP_FIELDS}
OLD_PHASE = OWN | {"phasenumber", "label", "description", "start_date", "auto_migration"}
OLD_PHASE |= {"is_parallel_parent", "parent_phasenumber", "ingestion_program_only_during_scoring"}
OLD_PHASE |= {*keys_of((*HIDING, *LIMITS)), *PHASE_FILES, *TASK_FILES}
# how the old server ran and drew a phase, which does not matter here
OLD_PHASE |= {"is_scoring_only", "color"}
OLD_COLUMN = OWN | {"leaderboard", "label", "rank", "sort", "numeric_format", "hidden", "title", "computed"}

# What the new format calls the keys of the old one.
NEW_NAMES = {
    "competition_docker_image": "docker_image",
    "has_registration": "registration_auto_approve",
    "enable_forum": "forum_enabled",
    "html": "pages",
    "leaderboard": "leaderboards",
    "label": "name",
    "start_date": "start",
    "end_date": "end",
    "phasenumber": "index",
    "auto_migration": "auto_migrate_to_this_phase",
    "rank": "index",
    "sort": "sorting",
    "numeric_format": "precision",
}
ON_BY_DEFAULT = frozenset(field.key for field in TOP_FIELDS if field.default is True)
# Keys that are not read, and whose `false` is not what holds without them.
FALSE_COUNTS = frozenset(["has_registration", "has_max_submissions"])
TASK_FLAG = PlatformField(2, "ingestion_only_during_scoring", FLAG, False)
TASK_FIELDS = (PlatformField(0, "name", NAME, None), PlatformField(1, "description", FREE_TEXT, None), TASK_FLAG)
OLD_TASK_FIELDS = (
    PlatformField(0, "label", OLD_TASK_NAME, "None"),
    PlatformField(1, "description", FREE_TEXT, None),
    PlatformField(2, "ingestion_program_only_during_scoring", FLAG, False),
)
SOLUTION_FIELDS = (PlatformField(0, "name", NAME, None), PlatformField(1, "description", FREE_TEXT, None))
BOARD_SETTINGS = (PlatformField(4, "hidden", FLAG, False), PlatformField(0, "primary_index", Integer(), 0))
BOARD_FIELDS = (
    PlatformField(1, "title", BOARD_TITLE, MISSING),
    PlatformField(2, "key", KEY, MISSING),
    PlatformField(5, "submission_rule", Choice(RULES), "Add"),
    *BOARD_SETTINGS,
)
BOARD = OWN | {"index", "columns", *keys_of(BOARD_FIELDS)}
COLUMN_FLAG = PlatformField(5, "hidden", FLAG, False)
COLUMN_FIELDS = (
    PlatformField(1, "title", COLUMN_TITLE, MISSING),
    PlatformField(2, "key", KEY, MISSING),
    PlatformField(3, "sorting", SORTING, "desc"),
    PlatformField(4, "index", Integer(), MISSING),
    COLUMN_FLAG,
    PlatformField(6, "precision", Integer(LOWEST_INTEGER), 2),
)


class FieldUse(NamedTuple):
    """A value that a field has to take, and where the platform is when it reads it."""

    at: Path
    kind: Kind
    value: Any
    stage: Stage
    order: tuple[int, ...]

    @property
    def refused(self) -> Refused | None:
        """Return what the field refuses about the value, if anything."""
        if self.value is MISSING:
            return "missing", "is missing"
        if self.value is None:
            return None if self.kind.null else ("null", "has no value (null), and needs one")
        return self.kind.refused(self.value)


def _uses(
    at: Path, given: Mapping[Any, Any], fields: Iterable[PlatformField], stage: Stage, *order: int
) -> Iterator[FieldUse]:
    for place, key, kind, default, _ in fields:
        yield FieldUse((*at, key), kind, given.get(key, default), stage, (*order, place))


def declared_fields(declared: CompetitionYaml) -> Iterator[FieldUse]:
    """Yield all fields of the bundle's competition.yaml."""
    if declared.format == "v1":
        yield from _v1_fields(declared)
        return
    for task in declared.entries("tasks"):
        if "key" not in task.value:
            yield from _uses(task.at, task.value, TASK_FIELDS, Stage.SAVE_TASKS, task.position, 4)
    for solution in declared.entries("solutions"):
        if "key" not in solution.value:
            named = {**solution.value, "name": solution.get("name") or "solution"}
            yield from _uses(solution.at, named, SOLUTION_FIELDS, Stage.SAVE_SOLUTIONS, solution.position, 1)
    computation = Choice(DIFFERENCES[declared.platform].computations, null=True, blank=True)
    column_fields = (PlatformField(0, "computation", computation, None), *COLUMN_FIELDS)
    for board in declared.entries("leaderboards"):
        yield from _uses(board.at, board.value, BOARD_FIELDS, Stage.SAVE_LEADERBOARDS, board.position)
        for column in declared.entries(*board.at, "columns"):
            order = (board.position, 3, column.position)
            yield from _uses(column.at, column.value, column_fields, Stage.SAVE_LEADERBOARDS, *order)
    yield from _uses((), declared.yaml, TOP_FIELDS, Stage.SAVE_COMPETITION)
    for page in declared.entries("pages"):
        title = [PlatformField(0, "title", PAGE_TITLE, None)]
        yield from _uses(page.at, page.value, title, Stage.SAVE_COMPETITION, PAGES_PLACE, page.position)
    for number, phase in enumerate(sorted_phases(declared.entries("phases"))):
        yield from _phase_fields(phase.at, number, phase.value, "name", MIGRATE.key)


def _phase_fields(at: Path, number: int, phase: Mapping[Any, Any], name: str, migrate: str) -> Iterator[FieldUse]:
    named = (
        PlatformField(0, name, NAME, None),
        PlatformField(1, "description", FREE_TEXT, None),
        MIGRATE._replace(key=migrate),
    )
    limited = {**phase, "execution_time_limit": phase.get("execution_time_limit") or 0}
    yield from _uses(at, limited, (*named, *LIMITS, *HIDING), Stage.SAVE_COMPETITION, PHASES_PLACE, number)


def _v1_fields(declared: CompetitionYaml) -> Iterator[FieldUse]:
    top = declared.yaml
    read = [field for field in TOP_FIELDS if field.key in OLD_TOP_FIELDS]
    yield from _uses((), top, read, Stage.SAVE_COMPETITION)
    image = top.get("competition_docker_image") or "image"
    yield FieldUse(("competition_docker_image",), IMAGE, image, Stage.SAVE_COMPETITION, (2,))
    for number, title in enumerate(declared.mapping(("html",))):
        if title != "terms":
            yield FieldUse(("html", title), PAGE_TITLE, title, Stage.SAVE_COMPETITION, (PAGES_PLACE, number, 0))
    for number, (at, phase) in enumerate(old_phases(declared)):
        labelled = {**phase, "label": str(phase.get("label"))}
        yield from _uses(at, labelled, OLD_TASK_FIELDS, Stage.SAVE_TASKS, number, 4)
        yield from _phase_fields(at, number, phase, "label", "auto_migration")
    for position, name in enumerate(of_leaderboard(top, "leaderboards")):
        board: Path = ("leaderboard", "leaderboards", name)
        yield FieldUse(board, BOARD_TITLE, name, Stage.SAVE_LEADERBOARDS, (position, 1))
        yield FieldUse(board, KEY, name, Stage.SAVE_LEADERBOARDS, (position, 2))
    labels = old_labels(top)
    for number, (name, column) in enumerate(old_columns(top)):
        if board_label(column) not in labels:
            continue  # it is lost before anything looks at it
        key = column.get("title", name)
        fields = (
            PlatformField(0, "label", COLUMN_TITLE, key),
            PlatformField(1, "key", KEY, key),
            PlatformField(2, "sort", SORTING, "desc"),
            PlatformField(3, "hidden", FLAG, False),
            PlatformField(4, "numeric_format", Integer(LOWEST_INTEGER), 2),
        )
        sorted_column = {**column, "key": key, "sort": column.get("sort") or "desc"}
        yield from _uses(("leaderboard", "columns", name), sorted_column, fields, Stage.SAVE_LEADERBOARDS, 0, 3, number)


def check_top(declared: CompetitionYaml, place: str = YAML_NAME) -> None:
    """Raise UserError where competition.yaml is no mapping, or its aliases repeat each other beyond all bounds."""
    if not declared.yaml:
        raise UserError(f"{place}: expected a mapping with title, pages, tasks, phases and leaderboards.")
    if huge_keys(declared):
        raise UserError(f"{place}: its aliases (&, *) repeat each other to enormous size. Write them out.")


def huge_keys(declared: CompetitionYaml) -> list[str]:
    """Return the top-level keys that are read and whose values become enormous once their aliases are written out."""
    return [key for key in sorted(TOP_KEYS | OLD_TOP_KEYS) if is_endless(declared.yaml.get(key))]
