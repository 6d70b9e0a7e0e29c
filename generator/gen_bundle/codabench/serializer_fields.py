"""The keys that the platform reads, and every typed field that it validates, in its order, for both formats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gen_bundle.codabench.competition import DEFAULT_A_DAY, DEFAULT_IN_ALL, PHASE_FILES, TASK_FILES
from gen_bundle.codabench.fields import MISSING, Boolean, Choice, Email, Integer, Kind, Text
from gen_bundle.codabench.reading import (
    CompetitionYaml,
    board_label,
    of_leaderboard,
    old_columns,
    old_labels,
    old_phases,
    sorted_phases,
)
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import DIFFERENCES
from gen_bundle.codabench.yaml_document import Path, is_endless

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

# (key, kind, default, place among the competition's fields); a default of MISSING means that the key may be left out
TOP_FIELDS: tuple[tuple[str, Kind, Any, int], ...] = (
    ("title", NAME, None, 0),
    ("docker_image", IMAGE, "image", 2),
    ("description", FREE_TEXT, "", 5),
    ("registration_auto_approve", FLAG, False, 7),
    ("enable_detailed_results", FLAG, False, 9),
    ("show_detailed_results_in_submission_panel", FLAG, True, 10),
    ("show_detailed_results_in_leaderboard", FLAG, True, 11),
    ("auto_run_submissions", FLAG, True, 12),
    ("can_participants_make_submissions_public", FLAG, True, 13),
    ("make_programs_available", FLAG, False, 14),
    ("make_input_data_available", FLAG, False, 15),
    ("competition_type", Choice(("competition", "benchmark")), "competition", 17),
    ("reward", REWARD, None, 19),
    ("contact_email", CONTACT, None, 20),
    ("forum_enabled", FLAG, True, 22),
)
PAGES_PLACE, PHASES_PLACE = 3, 4
OLD_TOP_FIELDS = (
    "title",
    "description",
    "enable_detailed_results",
    "show_detailed_results_in_submission_panel",
    "show_detailed_results_in_leaderboard",
    "auto_run_submissions",
    "make_programs_available",
    "make_input_data_available",
)
PHASE_FLAGS = ("hide_output", "hide_prediction_output", "hide_score_output")

# The keys of each kind of mapping.
LIMITS = ("max_submissions_per_day", "max_submissions", "execution_time_limit")
# `id` is never reported: tools use it for their own purposes.
OWN = frozenset(["id"])
PAGE = OWN | {"title", "file", "index"}
TASK = OWN | {"index", "key", "name", "description", "ingestion_only_during_scoring", *TASK_FILES}
SOLUTION = OWN | {"index", "key", "name", "description", "tasks", "path"}
# `gold: public` tells the check that a phase's reference data are not secret.
PHASE = OWN | {"gold", "index", "name", "description", "start", "end", "tasks", "auto_migrate_to_this_phase"}
PHASE |= {*PHASE_FLAGS, *LIMITS, *PHASE_FILES}
BOARD = OWN | {"index", "title", "key", "columns", "primary_index", "hidden", "submission_rule"}
COLUMN = OWN | {"title", "key", "index", "sorting", "precision", "hidden", "computation", "computation_indexes"}
TOP_KEYS = OWN | {"version", "image", "terms", "pages", "tasks", "solutions", "phases", "leaderboards"}
# `milestones` are the dates beside the phases that a preview shows.
TOP_KEYS |= {"fact_sheet", "milestones", "queue", *(key for key, *_ in TOP_FIELDS)}

OLD_TOP_KEYS = OWN | {"version", "image", "html", "phases", "leaderboard", "queue", "competition_docker_image"}
OLD_TOP_KEYS |= {"has_registration", "end_date", *OLD_TOP_FIELDS}
OLD_PHASE = OWN | {"phasenumber", "label", "description", "start_date", "auto_migration"}
OLD_PHASE |= {"is_parallel_parent", "parent_phasenumber", "ingestion_program_only_during_scoring"}
OLD_PHASE |= {*PHASE_FLAGS, *LIMITS, *PHASE_FILES, *TASK_FILES}
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
ON_BY_DEFAULT = frozenset(key for key, _, default, _ in TOP_FIELDS if default is True)
# Keys that are not read, and whose `false` is not what holds without them.
FALSE_COUNTS = frozenset(["has_registration", "has_max_submissions"])


def huge_keys(declared: CompetitionYaml) -> list[str]:
    """The top-level keys that are read and whose values become enormous once their aliases are written out."""
    return [key for key in sorted(TOP_KEYS | OLD_TOP_KEYS) if is_endless(declared.yaml.get(key))]


@dataclass(frozen=True)
class FieldUse:
    """A value that a field has to take, and where the platform is when it reads it."""

    at: Path
    kind: Kind
    value: Any
    stage: Stage
    order: tuple[int, ...]


def declared_fields(declared: CompetitionYaml) -> Iterator[FieldUse]:
    """All fields of the bundle's competition.yaml."""
    if declared.format == "v1":
        yield from _v1_fields(declared)
        return
    yield from _task_fields(declared)
    for board in declared.entries("leaderboards"):
        yield from _board_fields(declared, board.at, board.position, board.value)
    yield from _v2_fields(declared)


def _task_fields(declared: CompetitionYaml) -> Iterator[FieldUse]:
    for task in declared.entries("tasks"):
        if "key" not in task.value:
            place = (task.position, 4)
            yield FieldUse((*task.at, "name"), NAME, task.get("name"), Stage.SAVE_TASKS, (*place, 0))
            yield FieldUse((*task.at, "description"), FREE_TEXT, task.get("description"), Stage.SAVE_TASKS, (*place, 1))
            flag = task.value.get("ingestion_only_during_scoring", False)
            yield FieldUse((*task.at, "ingestion_only_during_scoring"), FLAG, flag, Stage.SAVE_TASKS, (*place, 2))
    for solution in declared.entries("solutions"):
        if "key" not in solution.value:
            for number, (key, kind) in enumerate((("name", NAME), ("description", FREE_TEXT))):
                value = solution.get(key) or ("solution" if key == "name" else solution.get(key))
                yield FieldUse((*solution.at, key), kind, value, Stage.SAVE_SOLUTIONS, (solution.position, 1, number))


def _v2_fields(declared: CompetitionYaml) -> Iterator[FieldUse]:
    for key, kind, default, place_in_row in TOP_FIELDS:
        yield FieldUse((key,), kind, declared.yaml.get(key, default), Stage.SAVE_COMPETITION, (place_in_row,))
    for page in declared.entries("pages"):
        order = (PAGES_PLACE, page.position, 0)
        yield FieldUse((*page.at, "title"), PAGE_TITLE, page.get("title"), Stage.SAVE_COMPETITION, order)
    for number, phase in enumerate(sorted_phases(declared.entries("phases"))):
        yield from _phase_fields(phase.at, number, phase.value, "name", "auto_migrate_to_this_phase")


def _phase_fields(at: Path, number: int, phase: Mapping[Any, Any], name: str, migrate: str) -> Iterator[FieldUse]:
    limit = phase.get("execution_time_limit")
    rows: list[tuple[str, Kind, Any]] = [
        (name, NAME, phase.get(name)),
        ("description", FREE_TEXT, phase.get("description")),
        ("execution_time_limit", Integer(), limit or 0),
        ("max_submissions_per_day", COUNT, phase.get("max_submissions_per_day", DEFAULT_A_DAY)),
        ("max_submissions", COUNT, phase.get("max_submissions", DEFAULT_IN_ALL)),
        (migrate, FLAG, phase.get(migrate, False)),
        *((key, FLAG, phase.get(key, False)) for key in PHASE_FLAGS),
    ]
    for place, (key, kind, value) in enumerate(rows):
        yield FieldUse((*at, key), kind, value, Stage.SAVE_COMPETITION, (PHASES_PLACE, number, place))


def _board_fields(declared: CompetitionYaml, at: Path, position: int, board: Mapping[Any, Any]) -> Iterator[FieldUse]:
    rows: list[tuple[int, str, Kind, Any]] = [
        (0, "primary_index", Integer(), board.get("primary_index", 0)),
        (1, "title", BOARD_TITLE, board.get("title", MISSING)),
        (2, "key", KEY, board.get("key", MISSING)),
        (4, "hidden", FLAG, board.get("hidden", False)),
        (5, "submission_rule", Choice(RULES), board.get("submission_rule", "Add")),
    ]
    for place, key, kind, value in rows:
        yield FieldUse((*at, key), kind, value, Stage.SAVE_LEADERBOARDS, (position, place))
    for column in declared.entries(*at, "columns"):
        fields: list[tuple[str, Kind, Any]] = [
            (
                "computation",
                Choice(DIFFERENCES[declared.platform].computations, null=True, blank=True),
                column.value.get("computation"),
            ),
            ("title", COLUMN_TITLE, column.value.get("title", MISSING)),
            ("key", KEY, column.value.get("key", MISSING)),
            ("sorting", SORTING, column.value.get("sorting", "desc")),
            ("index", Integer(), column.value.get("index", MISSING)),
            ("hidden", FLAG, column.value.get("hidden", False)),
            ("precision", Integer(LOWEST_INTEGER), column.value.get("precision", 2)),
        ]
        for place, (key, kind, value) in enumerate(fields):
            order = (position, 3, column.position, place)
            yield FieldUse((*column.at, key), kind, value, Stage.SAVE_LEADERBOARDS, order)


def _v1_fields(declared: CompetitionYaml) -> Iterator[FieldUse]:
    top = declared.yaml
    for key, kind, default, place in TOP_FIELDS:
        if key in OLD_TOP_FIELDS:
            yield FieldUse((key,), kind, top.get(key, default), Stage.SAVE_COMPETITION, (place,))
    image = top.get("competition_docker_image") or "image"
    yield FieldUse(("competition_docker_image",), IMAGE, image, Stage.SAVE_COMPETITION, (2,))
    for number, title in enumerate(declared.mapping(("html",))):
        if title != "terms":
            yield FieldUse(("html", title), PAGE_TITLE, title, Stage.SAVE_COMPETITION, (PAGES_PLACE, number, 0))
    for number, (at, phase) in enumerate(old_phases(declared)):
        flag = phase.get("ingestion_program_only_during_scoring", False)
        yield FieldUse((*at, "label"), OLD_TASK_NAME, str(phase.get("label")), Stage.SAVE_TASKS, (number, 4, 0))
        yield FieldUse((*at, "description"), FREE_TEXT, phase.get("description"), Stage.SAVE_TASKS, (number, 4, 1))
        yield FieldUse((*at, "ingestion_program_only_during_scoring"), FLAG, flag, Stage.SAVE_TASKS, (number, 4, 2))
        yield from _phase_fields(at, number, phase, "label", "auto_migration")
    yield from _old_board_fields(top)


def _old_board_fields(top: Mapping[Any, Any]) -> Iterator[FieldUse]:
    for position, name in enumerate(of_leaderboard(top, "leaderboards")):
        at: Path = ("leaderboard", "leaderboards", name)
        yield FieldUse(at, BOARD_TITLE, name, Stage.SAVE_LEADERBOARDS, (position, 1))
        yield FieldUse(at, KEY, name, Stage.SAVE_LEADERBOARDS, (position, 2))
    labels = old_labels(top)
    for number, (name, column) in enumerate(old_columns(top)):
        if board_label(column) not in labels:
            continue  # it is lost before anything looks at it
        at = ("leaderboard", "columns", name)
        key = column.get("title", name)
        rows: list[tuple[str, Kind, Any]] = [
            ("label", COLUMN_TITLE, column.get("label", key)),
            ("key", KEY, key),
            ("sort", SORTING, column.get("sort") or "desc"),
            ("hidden", FLAG, column.get("hidden", False)),
            ("numeric_format", Integer(LOWEST_INTEGER), column.get("numeric_format", 2)),
        ]
        for place, (field, kind, value) in enumerate(rows):
            yield FieldUse((*at, field), kind, value, Stage.SAVE_LEADERBOARDS, (0, 3, number, place))
