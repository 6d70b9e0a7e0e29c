"""The competition that an accepted bundle becomes: its tasks, phases, leaderboard and files.

These are the shapes in which check, dry run, preview, difference and the live verbs hold a competition of the platform.
`reading` makes them of a competition.yaml in either format.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gen_bundle.codabench.dates import Instant
from gen_bundle.ground.yaml_document import Path

TASK_FILES = ("ingestion_program", "input_data", "scoring_program", "reference_data")
PHASE_FILES = ("public_data", "starting_kit")
DEFAULT_IMAGE = "codalab/codalab-legacy:py37"
DEFAULT_LIMIT_S = 600
DEFAULT_A_DAY, DEFAULT_IN_ALL = 5, 100
MEASURED, TIE_BREAK = "x-measured", "x-tie-break"
"""Our own keys of a column and of a leaderboard, which the platform ignores."""
AVERAGE_RANK = "avg_rank"
"""The computation that compares the rows of a board with each other; since 1.29."""
REPLACING_RULES = ("Force_Last", "Force_Best")  # a new submission may take the place of its owner's earlier one
AUTOMATIC_RULES = (*REPLACING_RULES, "Force_Latest_Multiple")


@dataclass(frozen=True)
class DataUse:
    """A program or data file that competition.yaml names, in the order in which the platform stores them.

    Attributes:
        path: as it is named; in a bundle that was opened for a run, where it lies.
    """

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
    """A task of the platform with its files by role.

    Attributes:
        id: our own key, which the platform ignores; in a bundle that was opened for a run, a name for folders.
    """

    at: Path
    index: Any
    name: str
    files: Mapping[str, DataUse] = field(hash=False)
    ingestion_only_during_scoring: bool = False
    id: Any = None

    def file(self, role: str) -> Any:
        """Return the path of the file with a role; None where there is none."""
        return self.files[role].path if role in self.files else None

    def with_file(self, role: str, path: Any) -> "Task":
        """Return the task with another file of a role; None takes it away."""
        return replace(self, files={**self.files, role: DataUse((*self.at, role), role, path, ())})


@dataclass(frozen=True)
class Phase:
    """A phase in the platform's order; `at` and the paths of its dates point into competition.yaml.

    Attributes:
        tasks: in the order in which they are named, which the platform does not keep; in a bundle that was opened for a
            run, in the order in which they run, that of the yaml's own `tasks`.
        limit_s: seconds that each of a submission's jobs may take; the default where none is given.
        a_day, in_all: submissions that a participant may make; 0 and None mean no limit.
        id: our own key, which the platform ignores; in a bundle that was opened for a run, a name for folders.
    """

    at: Path
    name: str
    start: Instant
    end: Instant
    start_at: Path
    end_at: Path
    tasks: tuple[Task, ...]
    files: Mapping[str, DataUse] = field(hash=False)
    limit_s: int
    a_day: int | None
    in_all: int | None
    auto_migrate: bool
    index: Any
    id: Any = None


@dataclass(frozen=True)
class Column:
    """A column of the first leaderboard.

    Attributes:
        index: None where none can be read, which the platform refuses.
        sorting: `desc` (higher is better) or `asc`.
        precision: decimals shown, negative ones round to tens; None where none can be read, which it refuses as well.
        computation: `avg`, `sum`, `min`, `max` or `avg_rank` over other columns, or None.
        inputs: indexes of the columns that a computed one is made of.
        measured: it shows a time, which differs from run to run, where the declaration says so.
    """

    index: int | None
    key: str
    title: str
    sorting: str = "desc"
    precision: int | None = 2
    hidden: bool = False
    computation: str | None = None
    inputs: tuple[int, ...] = ()
    measured: bool = False
    at: Path = ()

    @property
    def ascending(self) -> bool:
        return self.sorting == "asc"


class Leaderboard(NamedTuple):
    """The board that every phase gets; columns by index.

    Attributes:
        tie_break: Keys of the columns that order equal scores, where the declaration says so; rows that are still equal
            share a rank then. None: the platform's own order.
    """

    columns: tuple[Column, ...]
    primary_index: int = 0
    submission_rule: str = "Add"
    tie_break: tuple[str, ...] | None = None

    def column(self, key: str) -> Column | None:
        return next((column for column in self.columns if column.key == key), None)

    @property
    def primary(self) -> Column | None:
        """The column that ranks; None when no column has the primary index."""
        return next((column for column in self.columns if column.index == self.primary_index), None)

    @property
    def visible(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if not column.hidden)

    @property
    def is_manual(self) -> bool:
        """Participants put submissions on the board themselves."""
        return self.submission_rule not in AUTOMATIC_RULES

    def ignored(self, scores: Mapping[str, object]) -> list[str]:
        """Keys of a scores file that are not columns."""
        return [key for key in scores if self.column(key) is None]

    def doubts(self, scores: Mapping[str, object]) -> list[str]:
        """Return what the server takes silently, although the row is incomplete."""
        doubts, missing, computed = [], [], []
        for column in self.columns:
            if column.computation is not None and column.key in scores:
                computed.append(column.key)
            elif column.computation is None and column.key not in scores:
                missing.append(column.key)
        if missing:
            top = " The row comes first, before every score." if self._leads_without(scores) else ""
            doubts.append(f"no score for {', '.join(missing)}: shown as n/a.{top}")
        if computed:
            doubts.append(f"the scorer writes {', '.join(computed)}, which the platform computes; leave it out")
        return doubts

    def _leads_without(self, scores: Mapping[str, object]) -> bool:
        primary = self.primary
        if primary is None or primary.ascending or primary.computation == AVERAGE_RANK:
            return False
        sources = [primary]
        if primary.computation:
            sources = [column for column in self.columns if column.index in primary.inputs]
        return not any(column.key in scores for column in sources)


class Competition(NamedTuple):
    """A competition as the platform would create it.

    Attributes:
        columns: of the first leaderboard, as competition.yaml lists them.
        queue: it names a queue of its own.
    """

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

    @property
    def leaderboard(self) -> Leaderboard:
        """The board; columns without an index are left out."""
        columns = [column for column in self.columns if column.index is not None]
        columns.sort(key=lambda column: column.index or 0)
        return Leaderboard(tuple(columns), self.primary_index, self.submission_rule, self.tie_break)

    @property
    def used_tasks(self) -> tuple[Task, ...]:
        """The tasks that a phase runs, each once."""
        used: dict[Path, Task] = {}
        for phase in self.phases:
            for task in phase.tasks:
                used[task.at] = task
        return tuple(used.values())

    @property
    def task_indexes(self) -> list[Hashable]:
        """Return what phases and solutions can refer to."""
        return [task.index for task in self.tasks if isinstance(task.index, Hashable)]

    def uses(self) -> list[DataUse]:
        """Return every named file, in the platform's order of storing."""
        named: list[DataUse] = []
        for task in self.tasks:
            named += task.files.values()
        named += self.solutions
        for phase in self.phases:
            named += phase.files.values()
        return named
