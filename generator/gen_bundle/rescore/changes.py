"""Old scores against new ones: who changes, in which column, by how much, and which ranks move."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gen_bundle.rescore.standings import Standing
from gen_bundle.twin.report import TOLERANCE

Standings = Mapping[str, Standing]


@dataclass(frozen=True)
class Change:
    """A score that is not the same, or, with equal scores in the primary column, a rank that is not.

    Attributes:
        old, new: None where there was or is no score.
        rank_old, rank_new: the submission's place on the board; None where it is not on it.
        size: of the change, as a share of the range of the column's values; infinite where a score comes or goes.
    """

    submission: str
    column: str
    old: float | None
    new: float | None
    rank_old: int | None
    rank_new: int | None
    size: float = 0.0

    @property
    def moved(self) -> int:
        """By how many places the rank changes."""
        both = self.rank_old is not None and self.rank_new is not None
        return abs((self.rank_old or 0) - (self.rank_new or 0)) if both else 0


@dataclass(frozen=True)
class Comparison:
    """What scoring again changed.

    Attributes:
        changes: the largest first.
        fails_now: submissions that were scored before, and fail now.
        works_now: submissions that failed before, and are scored now.
        uncompared: submissions of which one side is not known.
        board: every submission that is or was on the board with its score in the column that ranks, by its new rank.
    """

    changes: Sequence[Change] = ()
    fails_now: Sequence[str] = ()
    works_now: Sequence[str] = ()
    uncompared: Sequence[str] = ()
    board: Sequence[Change] = ()

    @property
    def reranked(self) -> Sequence[Change]:
        """What of the board changes: a rank, or a score in the column that ranks."""
        scores = {(one.submission, one.column) for one in self.changes}
        moved = [one for one in self.board if one.rank_old != one.rank_new]
        return [one for one in self.board if one in moved or (one.submission, one.column) in scores]

    @property
    def answer(self) -> str:
        """How many ranks change, and whether the winner does; empty without a board."""
        if not self.board:
            return ""
        moved = sum(one.rank_old != one.rank_new for one in self.board)
        old, new = (
            [one.submission for one in self.board if getattr(one, side) == 1] for side in ("rank_old", "rank_new")
        )
        winner = "the winner stays" if old == new else f"the winner changes: {_named(old)} → {_named(new)}"
        ranks = f"{moved or 'none'} of {len(self.board)} ranks change{'s' if moved == 1 else ''}"
        return f"{ranks}; {winner}"

    @property
    def same(self) -> bool:
        """Nothing changed in what could be compared."""
        return not (self.changes or self.fails_now or self.works_now)


@dataclass(frozen=True)
class Measure:
    """What is compared.

    Attributes:
        columns: the columns that both sides have, the primary one first.
        allowed: how far an old value may be off, by submission and column, where it was rounded.
    """

    columns: Sequence[str]
    allowed: Mapping[tuple[str, str], float] = field(default_factory=dict)


def compare(old: Standings, new: Standings, names: Sequence[str], measure: Measure) -> Comparison:
    """Compare the standings of all submissions; what only one side knows is not compared."""
    both = [name for name in names if name in old and name in new]
    ranges = {column: _range(column, old, new, both) for column in measure.columns}
    changes = [change for name in both for change in _changes(name, old[name], new[name], ranges, measure)]
    return Comparison(
        sorted(changes, key=lambda one: (-one.size, -one.moved, one.submission, one.column)),
        [name for name in both if new[name].failed and not old[name].failed],
        [name for name in both if old[name].failed and not new[name].failed],
        [name for name in names if name not in old or name not in new],
        _board(old, new, both, measure),
    )


def _board(old: Standings, new: Standings, names: Sequence[str], measure: Measure) -> list[Change]:
    if not measure.columns:
        return []
    first = measure.columns[0]
    rows = [
        Change(name, first, old[name].values.get(first), new[name].values.get(first), old[name].rank, new[name].rank)
        for name in names
    ]
    shown = [row for row in rows if row.rank_old is not None or row.rank_new is not None]
    last = len(rows) + 1
    return sorted(shown, key=lambda row: (row.rank_new or last, row.rank_old or last, row.submission))


def _named(names: Sequence[str]) -> str:
    return " and ".join(names) or "nobody"


def _changes(
    name: str, old: Standing, new: Standing, ranges: Mapping[str, float], measure: Measure
) -> Iterator[Change]:
    found = False
    for column in measure.columns:
        was, now = old.values.get(column), new.values.get(column)
        if was is None and now is None:
            continue
        size = math.inf
        if was is not None and now is not None:
            if abs(was - now) <= measure.allowed.get((name, column), TOLERANCE):
                continue
            size = abs(was - now) / ranges[column]
        found = True
        yield Change(name, column, was, now, old.rank, new.rank, size)
    if not found and old.rank != new.rank and measure.columns:
        first = measure.columns[0]
        yield Change(name, first, old.values.get(first), new.values.get(first), old.rank, new.rank)


def _range(column: str, old: Standings, new: Standings, names: Sequence[str]) -> float:
    """Between the least and the largest value of a column; 1 where there is only one value."""
    values = [side[name].values[column] for side in (old, new) for name in names if column in side[name].values]
    return (max(values) - min(values) if values else 0.0) or 1.0
