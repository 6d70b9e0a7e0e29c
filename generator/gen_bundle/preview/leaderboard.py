"""The leaderboard as the platform lays it out, filled from a dry run where there is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.codabench.board import NOT_AVAILABLE
from gen_bundle.errors import UserError
from gen_bundle.preview.reading import PhaseView, TaskView, View


@dataclass(frozen=True)
class BoardLine:
    """A row: its rank, who sent it, and the shown text of each cell."""

    rank: int
    submission: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class PhaseBoard:
    """A phase's board.

    Attributes:
        groups: the tasks' names, where a phase has several: the columns repeat below each.
        failed: (submission, message) of runs that ended Failed.
    """

    phase: PhaseView
    groups: tuple[str, ...]
    rows: tuple[BoardLine, ...]
    failed: tuple[tuple[str, str], ...]


def boards(view: View, dry_run: Mapping[str, Any] | None) -> list[PhaseBoard]:
    """The board of each phase.

    Raises:
        UserError: the dry run is of another bundle: it has phases or columns that the view does not show.
    """
    entries = [entry for key in ("runs", "board") for entry in _mappings((dry_run or {}).get(key))]
    cells = [entry["cells"] for entry in entries if isinstance(entry.get("cells"), Mapping)]
    names = {name for phase in view.phases for name in phase.names}
    for what, found, known in (
        ("phase", {str(entry.get("phase")) for entry in entries}, names),
        ("column", {str(key) for row in cells for key in row}, {column.key for column in view.columns}),
    ):
        if foreign := sorted(found - known):
            raise UserError(
                f"--dry-run: has the {what} {', '.join(foreign[:5])}, which this bundle does not show. "
                "Expected a dry run of this bundle: run gen-bundle dry-run again."
            )
    return [_board(view, phase, dry_run or {}) for phase in view.phases]


def _board(view: View, phase: PhaseView, dry_run: Mapping[str, Any]) -> PhaseBoard:
    several = len(phase.tasks) > 1
    rows = []
    for row in _of_phase(dry_run.get("board"), phase):
        cells = _cells(row.get("cells"), view)
        if several:
            by_task = row.get("tasks")
            cells = tuple(text for task in phase.tasks for text in _cells(_of_task(by_task, task), view))
        rows.append(BoardLine(row.get("rank", 0), str(row.get("submission", "")), cells))
    failed = [
        (str(run.get("submission", "")), str(run.get("message", "")))
        for run in _of_phase(dry_run.get("runs"), phase)
        if run.get("status") == "Failed"
    ]
    groups = tuple(task.name for task in phase.tasks) if several else ()
    return PhaseBoard(phase, groups, tuple(rows), tuple(failed))


def _of_phase(entries: Any, phase: PhaseView) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in _mappings(entries) if str(entry.get("phase")) in phase.names]


def _mappings(entries: Any) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _of_task(by_task: Any, task: TaskView) -> Any:
    entries = by_task.items() if isinstance(by_task, Mapping) else ()
    return next((cells for name, cells in entries if name in task.names), None)


def _cells(cells: Any, view: View) -> tuple[str, ...]:
    texts = cells if isinstance(cells, Mapping) else {}
    return tuple(str(texts.get(column.key, NOT_AVAILABLE)) for column in view.columns)
