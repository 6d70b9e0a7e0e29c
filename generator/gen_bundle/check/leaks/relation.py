"""Whether one column gives another one away: with the same values, under other names, or as yes and no."""

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby

# Values of a column of yes and no.
BITS = frozenset(["0", "1", "-1", "+1", "true", "false", "t", "f", "yes", "no", "y", "n"])
# How likely a chance agreement may be among all pairs of columns that are compared in a file.
BY_CHANCE = 1e-3


@dataclass
class Relation:
    """A column of gold and a public one, row by row.

    Attributes:
        by_name: whether the gold values are labels, which may be written under other names; values that mostly occur
            once, like texts and exact numbers, are given away only by themselves.
        shown: the public value of each gold value.
        pairs: the rows, in their order, as pairs of gold and public value.
        meant: the gold value of each public value.
        one_to_one: whether each public value stands for only one gold value.
        same: whether all public values are the gold ones.
    """

    by_name: bool = True
    shown: dict[str, str] = field(default_factory=dict)
    meant: dict[str, str] = field(default_factory=dict)
    pairs: list[tuple[str, str]] = field(default_factory=list)
    one_to_one: bool = True
    same: bool = True

    def add(self, gold: str, public: str) -> bool:
        """Note a row; returns whether the public column may still give the gold one away."""
        self.pairs.append((gold, public))
        if self.meant.setdefault(public, gold) != gold:
            self.one_to_one = False
        if gold != public:
            self.same = False
        if self.shown.setdefault(gold, public) != public:
            return False
        return self.same or (self.by_name and (self.one_to_one or (len(self.meant) <= 2 and public in BITS)))

    def is_significant(self, compared: int, *, by_order: bool = False) -> bool:
        """Whether the agreement is more than chance.

        Of all orders of the public column's values (n! / (m1! m2! …) for values that occur m1, m2 … times), count those
        that agree with the gold as well: 1 for the same values, one for each exchange of equally frequent labels for
        other names, at most 2^k for yes and no on k labels. Their share, times the pairs of columns `compared`, must
        be below 1 in 1000. If rows are joined by their order alone, runs of a value count as one row, since any two
        sorted columns agree.
        """
        if (
            len(self.meant) < 2
            or not (self.same or self.by_name)
            or (not self.one_to_one and not self.meant.keys() <= BITS)
        ):
            return False
        pairs = [pair for pair, _ in groupby(self.pairs)] if by_order else self.pairs
        counts = Counter(public for _, public in pairs)
        orders = _log_factorial(len(pairs)) - sum(map(_log_factorial, counts.values()))
        if self.same:
            agreeing = 0.0
        elif self.one_to_one:
            agreeing = sum(map(_log_factorial, Counter(counts.values()).values()))
        else:
            agreeing = len(self.shown) * math.log(2)
        return agreeing - orders + math.log(max(1, compared)) < math.log(BY_CHANCE)


def _log_factorial(number: int) -> float:
    return math.lgamma(number + 1)
