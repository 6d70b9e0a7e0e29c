"""What teams have in a column of the board, over any resample of the units: as the platform shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring_kit.program import AVERAGE_RANK, ScoreColumn
from scoring_kit.resampling.ranks import mid_ranks
from scoring_kit.units import Additive, Array, Statistic


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
        return None if every is None else Additive(every.sums[self.places], every.formula)


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
        defined = np.where(np.isnan(values), column.worst, values)
        return np.maximum(defined, column.worst) if column.sort == "desc" else np.minimum(defined, column.worst)

    def over(self, counts: Array) -> Array:
        """The metric over each row of `counts`, before `shown`: [resamples, units] → [resamples]."""
        return np.full(len(counts), np.nan) if self.statistic is None else self.statistic.over(counts)


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
    metrics = _metrics(teams, counts)
    return combined(teams, _shown(teams, metrics)), np.any(np.isnan(metrics), axis=0)


def parts_over(teams: Sequence[TeamColumn], counts: Array) -> list[Array]:
    """The shown values of each part over each row of `counts`: for each part [teams, resamples]."""
    return _shown(teams, _metrics(teams, counts))


def _metrics(teams: Sequence[TeamColumn], counts: Array) -> list[Array]:
    every = zip(*(team.parts for team in teams), strict=True)
    return [np.stack([part.over(counts) for part in of_teams]) for of_teams in every]


def _shown(teams: Sequence[TeamColumn], metrics: Sequence[Array]) -> list[Array]:
    every = zip(*(team.parts for team in teams), strict=True)
    return [
        np.stack([part.shown(own) for part, own in zip(of_teams, values, strict=True)])
        for of_teams, values in zip(every, metrics, strict=True)
    ]


def combined(teams: Sequence[TeamColumn], values: Sequence[Array], first: int | None = None) -> Array:
    """The column from the values of its parts, for each part [teams, resamples]: of the first teams, or of all.

    Average ranks are those among the teams that compete, see `scoring_kit.board.average_ranks`.
    """
    column = teams[0].column
    if column.computation is None:
        return values[0][:first]
    if column.computation == AVERAGE_RANK:
        competing = np.array([team.competes for team in teams])
        ranks = [
            mid_ranks(np.round(of_teams, part.column.precision), part.column.sort == "desc", competing, first)
            for part, of_teams in zip(teams[0].parts, values, strict=True)
        ]
        mean: Array = np.stack(ranks).mean(axis=0).round(column.precision)
        return mean
    together = np.stack([of_teams[:first] for of_teams in values])
    if column.computation in ("min", "max"):
        extreme: Array = together.min(axis=0) if column.computation == "min" else together.max(axis=0)
        return extreme
    total: Array = together.sum(axis=0)
    return total / len(values) if column.computation == "avg" else total
