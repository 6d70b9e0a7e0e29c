"""A leaderboard as it is declared: columns, the one that ranks, and how submissions get there."""

from collections.abc import Mapping
from dataclasses import dataclass

TIE_BREAK = "x-tie-break"
"""Our own key of a leaderboard, which the platform ignores."""
REPLACING_RULES = ("Force_Last", "Force_Best")  # a new submission may take the place of its owner's earlier one
AUTOMATIC_RULES = (*REPLACING_RULES, "Force_Latest_Multiple")


@dataclass(frozen=True)
class Column:
    """A column of the leaderboard.

    Attributes:
        sorting: `desc` (higher is better) or `asc`.
        precision: Decimals shown; negative ones round to tens.
        computation: `avg`, `sum`, `min`, `max` or `avg_rank` over other columns, or None.
        inputs: Indexes of the columns that a computed one is made of.
    """

    index: int
    key: str
    title: str
    sorting: str = "desc"
    precision: int = 2
    hidden: bool = False
    computation: str | None = None
    inputs: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard's declaration; columns by index.

    Attributes:
        tie_break: Keys of the columns that order equal scores, where the declaration says so; rows that are still equal
            share a rank then. None: the platform's own order.
    """

    columns: tuple[Column, ...]
    primary_index: int = 0
    submission_rule: str = "Add"
    title: str = ""
    tie_break: tuple[str, ...] | None = None

    def column(self, key: str) -> Column | None:
        return next((column for column in self.columns if column.key == key), None)

    @property
    def primary(self) -> Column | None:
        """The column that ranks; None when no column has the primary index."""
        return next((column for column in self.columns if column.index == self.primary_index), None)

    @property
    def is_manual(self) -> bool:
        """Participants put submissions on the board themselves."""
        return self.submission_rule not in AUTOMATIC_RULES

    def doubts(self, scores: Mapping[str, object]) -> list[str]:
        """What the server takes silently, although the row is incomplete."""
        doubts = []
        missing = [column.key for column in self.columns if column.computation is None and column.key not in scores]
        if missing:
            top = " The row comes first, before every score." if self._leads_without(scores) else ""
            doubts.append(f"no score for {', '.join(missing)}: shown as n/a.{top}")
        computed = [column.key for column in self.columns if column.computation is not None and column.key in scores]
        if computed:
            doubts.append(f"the scorer writes {', '.join(computed)}, which the platform computes; leave it out")
        return doubts

    def ignored(self, scores: Mapping[str, object]) -> list[str]:
        """Keys of a scores file that are not columns."""
        return [key for key in scores if self.column(key) is None]

    def _leads_without(self, scores: Mapping[str, object]) -> bool:
        primary = self.primary
        if primary is None or primary.sorting != "desc" or primary.computation == "avg_rank":
            return False
        sources = [column for column in self.columns if column.index in primary.inputs]
        return not any(column.key in scores for column in (sources if primary.computation else [primary]))

    @property
    def visible(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if not column.hidden)
