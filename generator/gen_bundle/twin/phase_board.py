"""The board that a phase's submissions leave."""

from collections.abc import Sequence
from dataclasses import dataclass

from gen_bundle.codabench.board import Board, NoBoardError, Submitted
from gen_bundle.twin.bundle import Phase
from gen_bundle.twin.packed import own_columns
from gen_bundle.twin.plan import Planned


@dataclass(frozen=True)
class BoardRow:
    """One row of a phase's board; a field of `board` in dry-run.json.

    Attributes:
        cells: Shown text of each visible column; in a phase of several tasks that of the column's own task.
        tasks: In a phase of several tasks what each task shows for each column, as the platform lays it out.
    """

    phase: str
    rank: int
    submission: str
    cells: dict[str, str]
    tasks: dict[str, dict[str, str]] | None = None


@dataclass(frozen=True)
class Remarks:
    """What is reported of a phase, or of the engine, beside the runs; `rows` are those of a phase's board."""

    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rows: tuple[BoardRow, ...] = ()


def board_of(phase: Phase, board: Board) -> Remarks:
    """The board of a phase as participants see it."""
    try:
        rows = board.rows()
    except NoBoardError as error:
        return Remarks((f"phase {phase.id}: no leaderboard: {error}",))
    several = len(phase.tasks) > 1
    owners = {key: task.id for task in phase.tasks for key in own_columns(task.scoring_program)} if several else {}
    return Remarks(
        rows=tuple(
            BoardRow(
                phase.id,
                row.rank,
                row.entry.name,
                board.cells(row, owners),
                board.cells_by_task(row) if several else None,
            )
            for row in rows
        )
    )


def migrating(made: Sequence[tuple[Submitted, Planned]]) -> list[Planned]:
    """The submissions that a phase which begins later runs again: Finished, and on this phase's board."""
    return [
        planned for entry, planned in made if entry.finished and any(part.on_board for part in (entry, *entry.children))
    ]
