"""The competition that an accepted bundle becomes, the same for both formats; read leniently, never refusing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gen_bundle.codabench.dates import Instant, read_instant
from gen_bundle.codabench.fields import as_boolean, as_integer, as_text
from gen_bundle.codabench.yaml_document import Path

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle, Entry

TASK_FILES = ("ingestion_program", "input_data", "scoring_program", "reference_data")
PHASE_FILES = ("public_data", "starting_kit")
DEFAULT_IMAGE = "codalab/codalab-legacy:py37"
DEFAULT_LIMIT_S = 600


@dataclass(frozen=True)
class DataUse:
    """A program or data file that competition.yaml names, in the order in which the platform stores them."""

    at: Path
    role: str
    path: Any
    order: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """A task of the platform with its files by role."""

    at: Path
    index: Any
    name: str
    files: Mapping[str, DataUse]
    ingestion_only_during_scoring: bool = False


@dataclass(frozen=True)
class Phase:
    """A phase in the platform's order; `at` and the paths of its dates point into competition.yaml."""

    at: Path
    name: str
    start: Instant
    end: Instant
    start_at: Path
    end_at: Path
    tasks: tuple[Task, ...]
    files: Mapping[str, DataUse]
    limit_s: int | None


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
    solutions: tuple[DataUse, ...] = ()
    pages: tuple[tuple[Path, str], ...] = field(default=())

    @property
    def used_tasks(self) -> tuple[Task, ...]:
        """The tasks that a phase runs, each once."""
        used: dict[Path, Task] = {}
        for phase in self.phases:
            used |= {task.at: task for task in phase.tasks}
        return tuple(used.values())

    def uses(self) -> list[DataUse]:
        """Every named file, in the platform's order of storing."""
        named = [use for task in self.tasks for use in task.files.values()]
        return named + list(self.solutions) + [use for phase in self.phases for use in phase.files.values()]


def _files(entry: Entry, roles: tuple[str, ...], order: tuple[int, ...]) -> dict[str, DataUse]:
    return {
        role: DataUse((*entry.at, role), role, entry.value[role], (*order, position))
        for position, role in enumerate(roles)
        if role in entry.value
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


def read_v2(bundle: Bundle) -> Competition:
    """The competition of a bundle with `version: 2`."""
    tasks = tuple(
        Task(
            entry.at,
            entry.get("index"),
            str(entry.get("name") or entry.get("index")),
            {} if "key" in entry.value else _files(entry, TASK_FILES, (entry.position,)),
            is_on(entry.get("ingestion_only_during_scoring")),
        )
        for entry in bundle.entries("tasks")
    )
    by_index: dict[Hashable, Task] = {}
    for task in tasks:
        if isinstance(task.index, Hashable):
            by_index.setdefault(task.index, task)
    phases = tuple(
        _phase_v2(bundle, entry, order, by_index) for order, entry in enumerate(sorted_phases(bundle.entries("phases")))
    )
    top = bundle.yaml
    board = next(iter(bundle.entries("leaderboards")), None)
    primary = as_integer(board.value.get("primary_index", 0)) if board else 0
    return Competition(
        image=as_text(top.get("docker_image", DEFAULT_IMAGE)) or "",
        image_at=("docker_image",),
        tasks=tasks,
        phases=phases,
        columns=tuple(_column_v2(entry) for entry in bundle.entries("leaderboards", 0, "columns")),
        primary_index=0 if primary is None else primary,
        submission_rule=str(board.value.get("submission_rule", "Add")) if board else "Add",
        queue=bool(top.get("queue")),
        programs_available=is_on(top.get("make_programs_available")),
        input_available=is_on(top.get("make_input_data_available")),
        solutions=tuple(
            DataUse((*entry.at, "path"), "solution", entry.value["path"], (entry.position,))
            for entry in bundle.entries("solutions")
            if "key" not in entry.value and "path" in entry.value
        ),
        pages=(
            *(((*entry.at, "file"), entry.value["file"]) for entry in bundle.entries("pages") if "file" in entry.value),
            *(((("terms",), top["terms"]),) if isinstance(top.get("terms"), str) else ()),
        ),
    )


def _phase_v2(bundle: Bundle, entry: Entry, order: int, by_index: Mapping[Hashable, Task]) -> Phase:
    named = entry.get("tasks")
    listed = list(named) if isinstance(named, (list, dict, str, set)) else []
    tasks: dict[Path, Task] = {}
    for index in listed:
        if isinstance(index, Hashable) and index in by_index:
            tasks[by_index[index].at] = by_index[index]
    limit = as_integer(entry.get("execution_time_limit"))
    return Phase(
        entry.at,
        str(entry.get("name")),
        read_instant(entry.get("start"), bundle.now),
        read_instant(entry.get("end"), bundle.now),
        (*entry.at, "start"),
        (*entry.at, "end"),
        tuple(tasks.values()),
        _files(entry, PHASE_FILES, (order,)),
        limit or DEFAULT_LIMIT_S,
    )


def _column_v2(entry: Entry) -> Column:
    computation = entry.get("computation")
    indexes = entry.get("computation_indexes")
    listed = [str(index) for index in indexes] if isinstance(indexes, (list, dict, str)) else []
    inputs = tuple(number for index in ",".join(listed).split(",") if (number := as_integer(index)) is not None)
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
