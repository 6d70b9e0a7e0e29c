"""The competition that an accepted bundle becomes, the same for both formats; read leniently, never refusing."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gen_bundle.codabench.dates import Instant, read_instant
from gen_bundle.codabench.document import CompetitionYaml, Entry
from gen_bundle.codabench.fields import as_boolean, as_integer, as_text
from gen_bundle.codabench.leaderboard import TIE_BREAK, Leaderboard
from gen_bundle.codabench.leaderboard import Column as BoardColumn
from gen_bundle.codabench.yaml_document import Path

TASK_FILES = ("ingestion_program", "input_data", "scoring_program", "reference_data")
PHASE_FILES = ("public_data", "starting_kit")
DEFAULT_IMAGE = "codalab/codalab-legacy:py37"
DEFAULT_LIMIT_S = 600
DEFAULT_A_DAY, DEFAULT_IN_ALL = 5, 100


@dataclass(frozen=True)
class DataUse:
    """A program or data file that competition.yaml names, in the order in which the platform stores them."""

    at: Path
    role: str
    path: Any
    order: tuple[int, ...]


@dataclass(frozen=True)
class Solution(DataUse):
    """An example submission, with the indexes of its tasks."""

    tasks: tuple[Hashable, ...] = ()


@dataclass(frozen=True)
class Task:
    """A task of the platform with its files by role; `id` is our own key, which the platform ignores."""

    at: Path
    index: Any
    name: str
    files: Mapping[str, DataUse]
    ingestion_only_during_scoring: bool = False
    id: Any = None


@dataclass(frozen=True)
class Phase:
    """A phase in the platform's order; `at` and the paths of its dates point into competition.yaml.

    Attributes:
        tasks: in the order in which they are named, which the platform does not keep.
        limit_s: seconds that each of a submission's jobs may take; the default where none is given.
        a_day, in_all: submissions that a participant may make; 0 and None mean no limit.
        id: our own key, which the platform ignores.
    """

    at: Path
    name: str
    start: Instant
    end: Instant
    start_at: Path
    end_at: Path
    tasks: tuple[Task, ...]
    files: Mapping[str, DataUse]
    limit_s: int
    a_day: int | None
    in_all: int | None
    auto_migrate: bool
    index: Any
    id: Any = None


@dataclass(frozen=True)
class Column:
    """A column of the first leaderboard."""

    at: Path
    key: str
    title: str
    index: int | None
    ascending: bool
    hidden: bool
    precision: int | None
    computation: str | None
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class Competition:
    """What the platform would create."""

    title: str
    image: str
    image_at: Path
    tasks: tuple[Task, ...] = ()
    phases: tuple[Phase, ...] = ()
    columns: tuple[Column, ...] = ()
    primary_index: int = 0
    submission_rule: str = "Add"
    queue: bool = False
    programs_available: bool = False
    input_available: bool = False
    detailed_results: bool = False
    board_title: str = ""
    tie_break: tuple[str, ...] | None = None
    solutions: tuple[Solution, ...] = ()
    pages: tuple[tuple[Path, str], ...] = field(default=())

    @property
    def used_tasks(self) -> tuple[Task, ...]:
        """The tasks that a phase runs, each once."""
        used: dict[Path, Task] = {}
        for phase in self.phases:
            used |= {task.at: task for task in phase.tasks}
        return tuple(used.values())

    @property
    def task_indexes(self) -> list[Hashable]:
        """What phases and solutions can refer to."""
        return [task.index for task in self.tasks if isinstance(task.index, Hashable)]

    def uses(self) -> list[DataUse]:
        """Every named file, in the platform's order of storing."""
        named = [use for task in self.tasks for use in task.files.values()]
        return named + list(self.solutions) + [use for phase in self.phases for use in phase.files.values()]


def named_files(
    at: Path, value: Mapping[Any, Any], roles: tuple[str, ...], order: tuple[int, ...]
) -> dict[str, DataUse]:
    """The files of these roles that the mapping at a place of competition.yaml names, by role."""
    return {
        role: DataUse((*at, role), role, value[role], (*order, position))
        for position, role in enumerate(roles)
        if role in value
    }


def is_on(value: Any) -> bool:
    """Whether a value counts as true."""
    return as_boolean(value) is True


def sorted_phases(entries: list[Entry]) -> list[Entry]:
    """Phases in the platform's order: by index (0 where missing), the list's order among equals."""
    try:
        return sorted(entries, key=lambda phase: phase.value.get("index", 0))
    except TypeError:
        return entries


def read_v2(declared: CompetitionYaml) -> Competition:
    """The competition of a bundle with `version: 2`."""
    tasks = tuple(
        Task(
            entry.at,
            entry.get("index"),
            str(entry.get("name") or entry.get("index")),
            {} if "key" in entry.value else named_files(entry.at, entry.value, TASK_FILES, (entry.position,)),
            is_on(entry.get("ingestion_only_during_scoring")),
            entry.get("id"),
        )
        for entry in declared.entries("tasks")
    )
    by_index: dict[Hashable, Task] = {}
    for task in tasks:
        if isinstance(task.index, Hashable):
            by_index.setdefault(task.index, task)
    phases = tuple(
        _phase_v2(entry, order, by_index, declared.now)
        for order, entry in enumerate(sorted_phases(declared.entries("phases")))
    )
    top = declared.yaml
    board = next(iter(declared.entries("leaderboards")), None)
    primary = as_integer(board.value.get("primary_index", 0)) if board else 0
    return Competition(
        title=as_text(top.get("title")) or "",
        image=as_text(top.get("docker_image", DEFAULT_IMAGE)) or "",
        image_at=("docker_image",),
        tasks=tasks,
        phases=phases,
        columns=tuple(_column_v2(entry) for entry in declared.entries("leaderboards", 0, "columns")),
        primary_index=0 if primary is None else primary,
        submission_rule=str(board.value.get("submission_rule", "Add")) if board else "Add",
        queue=bool(top.get("queue")),
        programs_available=is_on(top.get("make_programs_available")),
        input_available=is_on(top.get("make_input_data_available")),
        detailed_results=is_on(top.get("enable_detailed_results")),
        board_title=as_text(board.get("title")) or "" if board else "",
        tie_break=_tie_break(board.get(TIE_BREAK)) if board else None,
        solutions=tuple(
            Solution(
                (*entry.at, "path"), "solution", entry.value["path"], (entry.position,), listed(entry.get("tasks"))
            )
            for entry in declared.entries("solutions")
            if "key" not in entry.value and "path" in entry.value
        ),
        pages=(
            *(
                ((*entry.at, "file"), entry.value["file"])
                for entry in declared.entries("pages")
                if "file" in entry.value
            ),
            *(((("terms",), top["terms"]),) if isinstance(top.get("terms"), str) else ()),
        ),
    )


def _phase_v2(entry: Entry, order: int, by_index: Mapping[Hashable, Task], now: datetime) -> Phase:
    tasks: dict[Path, Task] = {}
    for index in listed(entry.get("tasks")):
        if index in by_index:
            tasks[by_index[index].at] = by_index[index]
    return Phase(
        entry.at,
        str(entry.get("name") or entry.get("index") or order),
        read_instant(entry.get("start"), now),
        read_instant(entry.get("end"), now),
        (*entry.at, "start"),
        (*entry.at, "end"),
        tuple(tasks.values()),
        named_files(entry.at, entry.value, PHASE_FILES, (order,)),
        *limits(entry.value),
        is_on(entry.get("auto_migrate_to_this_phase")),
        entry.value.get("index", 0),
        entry.get("id"),
    )


def limits(phase: Mapping[Any, Any]) -> tuple[int, int | None, int | None]:
    """Seconds a job, submissions a day, and submissions in all; the same keys in both formats."""
    return (
        as_integer(phase.get("execution_time_limit")) or DEFAULT_LIMIT_S,
        as_integer(phase.get("max_submissions_per_day", DEFAULT_A_DAY)),
        as_integer(phase.get("max_submissions", DEFAULT_IN_ALL)),
    )


def listed(indexes: Any) -> tuple[Hashable, ...]:
    """The indexes that a list names; the platform goes through mappings and texts as well, by key and character."""
    named = list(indexes) if isinstance(indexes, (list, dict, str, set)) else []
    return tuple(index for index in named if isinstance(index, Hashable))


def _column_v2(entry: Entry) -> Column:
    computation = entry.get("computation")
    inputs = tuple(
        number for text in input_texts(entry.get("computation_indexes")) if (number := as_integer(text)) is not None
    )
    return Column(
        entry.at,
        as_text(entry.get("key")) or "",
        as_text(entry.get("title")) or "",
        as_integer(entry.get("index")),
        entry.get("sorting") == "asc",
        is_on(entry.get("hidden")),
        as_integer(entry.value.get("precision", 2)),
        None if computation is None else str(computation),
        inputs,
    )


def input_texts(indexes: Any) -> list[str]:
    """The column indexes of a computation as the server stores them: every item as text, then split at commas."""
    if not isinstance(indexes, (list, dict, str, set)):
        return []
    joined = ",".join(str(index) for index in indexes)
    return joined.split(",") if joined else []


def _tie_break(value: object) -> tuple[str, ...] | None:
    return tuple(map(str, value)) if isinstance(value, list) else None


def leaderboard(competition: Competition) -> Leaderboard:
    """The board that every phase gets; columns without a number as index, which the platform refuses, are left out."""
    columns = [
        BoardColumn(
            column.index,
            column.key,
            column.title or column.key,
            "asc" if column.ascending else "desc",
            2 if column.precision is None else column.precision,
            column.hidden,
            column.computation,
            frozenset(column.inputs) if column.computation else frozenset(),
        )
        for column in competition.columns
        if column.index is not None
    ]
    columns.sort(key=lambda column: column.index)
    return Leaderboard(
        tuple(columns),
        competition.primary_index,
        competition.submission_rule,
        competition.board_title,
        competition.tie_break,
    )
