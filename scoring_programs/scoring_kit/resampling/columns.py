"""What teams have in a column of the board, over any resample of the units, as the platform shows it; and their ranks.

Arrays of teams have the shape [teams, resamples].
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from scoring_kit.program import AVERAGE_RANK, ScoreColumn
from scoring_kit.resampling.draws import DIGITS, TAILS
from scoring_kit.units import Additive, Array, Statistic

Ranks = NDArray[np.int64]
COMPUTATIONS: Mapping[str, Callable[..., Array]] = {"min": np.min, "max": np.max, "sum": np.sum, "avg": np.mean}


@dataclass(frozen=True, eq=False)
class AtUnits:
    """A statistic over some of its `units` alone: those at `places`, ascending."""

    statistic: Statistic
    places: NDArray[np.intp]
    units: int

    def over(self, counts: Array) -> Array:
        every = np.zeros((len(counts), self.units))
        every[:, self.places] = counts
        return self.statistic.over(every)

    def to_exchange(self) -> "AtUnits":
        return AtUnits(self.statistic.to_exchange(), self.places, self.units)

    def joined(self, other: "AtUnits") -> "AtUnits":
        places = np.concatenate([self.places, other.places + self.units])
        return AtUnits(self.statistic.joined(other.statistic), places, self.units + other.units)

    def as_sums(self) -> Additive | None:
        every = self.statistic.as_sums()
        return every and Additive(every.sums[self.places], every.formula)


@dataclass(frozen=True)
class Part:
    """A written column, and a team's per-unit results for it; None where the team did not enter the column's task."""

    column: ScoreColumn
    statistic: Statistic | None

    def shown(self, values: Array) -> Array:
        """Values as the board shows them: where the metric is undefined, or worse than `worst`, that."""
        column = self.column
        if column.worst is None:
            return values
        if column.sort == "desc":
            return np.fmax(values, column.worst)
        return np.fmin(values, column.worst)

    def over(self, counts: Array) -> Array:
        """The metric over each row of `counts`, before `shown`: [resamples, units] → [resamples]."""
        if self.statistic is None:
            return np.full(len(counts), np.nan)
        return self.statistic.over(counts)


@dataclass(frozen=True)
class TeamColumn:
    """A team's values in a column: its one part, or what the platform computes of several.

    Attributes:
        column: the column.
        parts: the written columns that it is made of; itself, where it is written.
        competes: whether the team counts for the average ranks of others, as a baseline does not.
    """

    column: ScoreColumn
    parts: Sequence[Part]
    competes: bool = True

    def by_unit(self, units: int) -> Array:
        """The column, none of average ranks, on each unit alone; NaN where it is undefined there."""
        values = []
        for start in range(0, units, 500):
            some = np.arange(start, min(start + 500, units))
            counts = np.zeros((len(some), units))
            counts[np.arange(len(some)), some] = 1.0
            values.append(combined([self], [part.over(counts)[np.newaxis] for part in self.parts])[0])
        return np.concatenate(values)


def over(teams: Sequence[TeamColumn], counts: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The column of every team over each row of `counts`, [resamples, units] → [teams, resamples]; never NaN.

    Beside it, of the same shape, where a metric behind it is undefined.
    """
    shown, undefined = [], np.zeros((len(teams), len(counts)), dtype=np.bool_)
    for place in range(len(teams[0].parts)):
        values, lacking = _part_over(teams, place, counts)
        shown.append(values)
        undefined |= lacking
    return combined(teams, shown), undefined


def _part_over(teams: Sequence[TeamColumn], place: int, counts: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The shown values of the part at a place, and where the metric is undefined; both [teams, resamples]."""
    shown = np.empty((len(teams), len(counts)))
    undefined = np.empty((len(teams), len(counts)), dtype=np.bool_)
    for row, team in enumerate(teams):
        values = team.parts[place].over(counts)
        shown[row], undefined[row] = team.parts[place].shown(values), np.isnan(values)
    return shown, undefined


def combined(teams: Sequence[TeamColumn], values: Sequence[Array], first: int | None = None) -> Array:
    """The column from the values of its parts, for each part [teams, resamples]: of the first teams, or of all.

    Average ranks are those among the teams that compete, see `scoring_kit.board.average_ranks`.
    """
    column = teams[0].column
    if column.computation is None:
        return values[0][:first]
    if column.computation == AVERAGE_RANK:
        competing = np.array([team.competes for team in teams])
        ranked = []
        for part, of_teams in zip(teams[0].parts, values, strict=True):
            rounded = np.round(of_teams, part.column.precision)
            ranked.append(mid_ranks(rounded, part.column.sort == "desc", competing, first))
        mean: Array = np.stack(ranked).mean(axis=0).round(column.precision)
        return mean
    together = np.stack([of_teams[:first] for of_teams in values])
    return COMPUTATIONS[column.computation](together, axis=0)


def rank_interval(places: Ranks) -> tuple[int, int]:
    """The 2.5th and 97.5th percentile of resampled ranks, each a rank that occurs."""
    low, high = np.percentile(places, TAILS, method="inverted_cdf")
    return int(low), int(high)


def ranks(values: Array, descending: bool) -> Ranks:
    """The rank of every team in each resample: one more than the number of better teams; equal ones share a rank."""
    goodness = _goodness(values, descending)
    return np.stack([1 + np.count_nonzero(goodness > own, axis=0) for own in goodness])


def mid_ranks(values: Array, descending: bool, competing: NDArray[np.bool_], first: int | None = None) -> Array:
    """Ranks in each resample among the competing teams and the team itself; ties share the mean of their places.

    Args:
        values: of the teams, [teams, resamples].
        descending: whether the highest is the best.
        competing: the teams that count for the ranks of others, [teams].
        first: of how many teams, the first ones, the ranks are wanted; of all without.
    """
    goodness = _goodness(values, descending)
    others = goodness[competing]
    placed = []
    for own, competes in zip(goodness[:first], competing, strict=False):
        ties = np.count_nonzero(others == own, axis=0) - int(competes)
        placed.append(1 + np.count_nonzero(others > own, axis=0) + ties / 2)
    return np.stack(placed)


def _goodness(values: Array, descending: bool) -> Array:
    """Values that can be compared, of which the highest is the best."""
    if not descending:
        values = -values
    return np.round(values, DIGITS)


def wins(places: Ranks) -> Array:
    """The share of resamples in which each team is first; teams that share the first rank share the win. [teams]."""
    first = places == 1
    share: Array = (first / first.sum(axis=0)).mean(axis=1)
    return share


def shares(places: Ranks) -> Array:
    """The share of resamples in which each team has each rank, shape [teams, ranks]."""
    return np.stack([np.bincount(own - 1, minlength=len(places)) / places.shape[1] for own in places])


def mean_tau(published: Ranks, places: Ranks) -> float | None:
    """Mean Kendall tau-b between the published ranks, [teams], and those of the resamples.

    A resample in which all teams are equal has no order and counts 0; None where the published ranks have none.
    """
    concordance = np.zeros(places.shape[1])
    ordered = np.zeros(places.shape[1])
    published_ordered = 0
    for a, b in combinations(range(len(published)), 2):
        sign = np.sign(places[a] - places[b])
        concordance += sign * np.sign(published[a] - published[b])
        ordered += sign != 0
        published_ordered += int(published[a] != published[b])
    if not published_ordered:
        return None
    scale = np.sqrt(ordered * published_ordered)
    return float(np.divide(concordance, scale, out=np.zeros_like(scale), where=scale > 0).mean())
