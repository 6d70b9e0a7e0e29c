"""The random draws, intervals, and what teams have in a column of the board over any resample; and their ranks.

Intervals are percentile intervals, and only where one holds the true value often enough: the bounds rest on
`research/coverage`, whose table is in its README.md: 95 % intervals that hold the true value in at least 93 % of
simulated test sets. Arrays of teams have the shape [teams, resamples].
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scoring_kit.program import AVERAGE_RANK, ScoreColumn
from scoring_kit.units import Array, Limit, Statistic

Ranks = NDArray[np.int64]
COMPUTATIONS: Mapping[str, Callable[..., Array]] = {"min": np.min, "max": np.max, "sum": np.sum, "avg": np.mean}


TAILS = (2.5, 97.5)
"""Per cent: the ends of an interval of 95 %."""
DIGITS = 12
"""Decimals by which values are compared, as `scoring_kit.results.comparable` does it."""
FEWEST_UNITS = 50
FEWEST_FOR_CLASSES = 100
UNITS_A_CLASS = 20
"""On average, of a mean over classes or groups: bounds on the rarest alone pass just the gold that has it too often."""
FEWEST_UNBOUNDED: Mapping[Limit, int] = {"error": 300, "squared": 2000, "root": 2000}
"""Of errors without a bound to speak of: single units can outweigh all others.

No test of the units replaces the bound on their number: those without an extreme one look fine, and miss the truth.
"""
FEWEST_BOUNDED = 200
"""Of errors that have one."""
FARTHEST = 10
"""Times the mean error, or squared error: a `worst` within it bounds the errors."""
UNBOUNDED = 1000
"""A column whose `worst` is this or more is an error without a bound, whatever is known of its metric."""
FEWEST_ON_A_SIDE = 40
"""Of the labels that a metric sets against the others, such as positive and negative."""
MOST_OFF = 0.5
"""Standard deviations by which the mean of the resamples may be off the score."""
MOST_LACKING = 0.01
"""Of the resamples, the share that may lack a class of the gold, or leave a metric undefined. Such resamples take the
place of the lowest values: with 1 % of them the lower end of an interval is the 1.5th percentile of the others instead
of the 2.5th.
"""


def percentile_interval(values: Array) -> tuple[float, float]:
    """Return the 95 % interval of resampled values: their 2.5th and 97.5th percentile.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    low, high = np.percentile(values, TAILS)
    return float(low), float(high)


Interval: TypeAlias = tuple[float, float]


def interval_or_reason(values: Array, score: float) -> Interval | str:
    """Return the 95 % interval of a score's resampled values, or why there is none; raises nothing."""
    if is_off(values, score):
        return "The resamples lie to one side of the score."
    ends = uncut_interval(values)
    if ends is None:
        return "More than 2.5 % of the resamples share the highest or the lowest value: an interval would be cut off."
    if not ends[0] <= score <= ends[1]:
        return "The score lies outside of the interval that the resamples give."
    return ends


def is_off(values: Array, score: float) -> bool:
    """Return whether resamples lie to one side of the score, so that their percentiles miss the true value.

    A resample repeats units, which adds noise to some statistics, such as calibration errors.
    """
    off = abs(float(values.mean()) - score)
    return off > MOST_OFF * float(values.std()) and round(off, DIGITS) > 0


def uncut_interval(values: Array) -> tuple[float, float] | None:
    """Return the 95 % interval; None where it ends at the lowest or highest value that any resample has.

    So many resamples share that value then, as with a score near its bound, that the interval is cut off there; one of
    a single value is such an interval.
    """
    low, high = percentile_interval(np.round(values, DIGITS))
    if low <= np.round(values.min(), DIGITS) or high >= np.round(values.max(), DIGITS):
        return None
    return percentile_interval(values)


def few_units(
    column: ScoreColumn,
    number: int,
    word: str,
    classes: Sequence[int],
    limit: Limit | None = None,
    error: float | None = None,
) -> str | None:
    """Return why there are no intervals of a written column for these units, or too few; None where there are enough.

    Args:
        column: the column.
        number: of the units that it scores.
        word: what to call them, in the plural.
        classes: in how many units each class or group is that the metric is a mean over, or each label that it sets
            against the others; none of another metric.
        limit: what limits intervals of the metric, as in `Units`.
        error: the column's value, where it is a mean error.
    """
    if limit == "biased":
        return f"Resamples repeat units, which adds to {column.title}: intervals would lie beside the true value."
    fewest, what = _fewest(column, limit, error)
    if limit == "sides":
        if classes and min(classes) < FEWEST_ON_A_SIDE:
            return (
                f"{column.title} sets labels against the others, and only {min(classes)} of {number} {word} are on one "
                f"side; at least {FEWEST_ON_A_SIDE} make an interval."
            )
    elif classes and fewest < max(FEWEST_FOR_CLASSES, UNITS_A_CLASS * len(classes)):
        fewest = max(FEWEST_FOR_CLASSES, UNITS_A_CLASS * len(classes))
        what = f"an interval of a mean over {len(classes)} classes or groups"
    if number < fewest:
        return f"There are only {number} {word}; at least {fewest} make {what}."
    if 0 in classes:
        return f"{column.title} is a mean over a fixed list of classes, one of which none of the {number} {word} has."
    lacking = sum((1 - units / number) ** number for units in classes)
    if lacking > MOST_LACKING:
        return (
            f"{column.title} is a mean over classes or groups of the gold, and the rarest is in only {min(classes)} of "
            f"{number} {word}: {min(lacking, 1):.1%} of the resamples lack one, where at most {MOST_LACKING:.0%} may."
        )
    return None


def _fewest(column: ScoreColumn, limit: Limit | None, error: float | None) -> tuple[int, str]:
    """How many units an interval takes as far as single ones can outweigh the others, and of what it is one."""
    worst = column.worst
    if limit is None or limit not in FEWEST_UNBOUNDED:
        if worst is None or abs(worst) < UNBOUNDED:
            return FEWEST_UNITS, "an interval"
        limit = "error"
    name = "an error" if limit == "error" else "a squared error"
    bound = "without a bound"
    if column.sort == "asc" and worst is not None and error is not None:
        farthest = error * (math.sqrt(FARTHEST) if limit == "root" else FARTHEST)
        if worst <= farthest:
            return FEWEST_BOUNDED, f"an interval of {name}"
        bound += f" (worst: {worst:g}; within {farthest:.3g} it would bound an error of {error:.3g})"
    return FEWEST_UNBOUNDED[limit], f"an interval of {name} {bound}"


CELLS = 2**21
"""Most cells of a block: 16 MB of float64."""
SAMPLES, EXCHANGES = 0, 1
"""Which sequence of random numbers: each purpose has its own."""


def bootstrap_counts(units: int, resamples: int, seed: int, drawn_units: int | None = None) -> Iterator[Array]:
    """Yield how often each unit is in each bootstrap sample, drawn with replacement: blocks of shape [some, units].

    A sample has as many units, or `drawn_units`.
    """
    random = np.random.default_rng([seed, SAMPLES])
    number = units if drawn_units is None else drawn_units
    for size in _blocks(resamples, max(units, number)):
        drawn = random.integers(units, size=(size, number))
        drawn += units * np.arange(size)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=size * units)
        yield counts.reshape(size, units).astype(np.float64)


def exchanges(units: int, resamples: int, seed: int, width: int = 1) -> Iterator[Array]:
    """Yield which units are exchanged between two teams, each with probability 1/2: blocks of 0 and 1, [some, units].

    `width` is how many cells the caller makes besides for each of them.
    """
    random = np.random.default_rng([seed, EXCHANGES])
    for size in _blocks(resamples, max(units, width)):
        yield random.integers(2, size=(size, units), dtype=np.uint8).astype(np.float64)


def _blocks(resamples: int, width: int) -> Iterator[int]:
    size = max(1, CELLS // width)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


@dataclass(frozen=True)
class Part:
    """A written column, and a team's per-unit results for it; None where the team did not enter the column's task."""

    column: ScoreColumn
    statistic: Statistic | None

    def shown(self, values: Array) -> Array:
        """Values as the board shows them: where the metric is undefined, or worse than `worst`, that."""
        if self.column.worst is None:
            return values
        better_of = np.fmax if self.column.sort == "desc" else np.fmin
        return better_of(values, self.column.worst)

    def over(self, counts: Array) -> Array:
        """Return the metric over each row of `counts`, before `shown`: [resamples, units] → [resamples]."""
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

    def at(self, places: NDArray[np.intp]) -> "TeamColumn":
        """Return the column over the units at these places (`Statistic.at`); a part that it did not enter stays so."""
        parts = []
        for part in self.parts:
            statistic = None if part.statistic is None else part.statistic.at(places)
            parts.append(Part(part.column, statistic))
        return replace(self, parts=parts)

    def joined(self, other: "TeamColumn") -> "TeamColumn":
        """Return the column over both's units, those of `other` last, where both entered the tasks of all parts."""
        parts = []
        for one, two in zip(self.parts, other.parts, strict=True):
            together = None
            if one.statistic is not None and two.statistic is not None:
                together = one.statistic.joined(two.statistic)
            parts.append(Part(one.column, together))
        return replace(self, parts=parts)

    def by_unit(self, units: int) -> Array:
        """Return the column, none of average ranks, on each unit alone; NaN where it is undefined there."""
        values = []
        for start in range(0, units, 500):
            some = np.arange(start, min(start + 500, units))
            counts = np.zeros((len(some), units))
            counts[np.arange(len(some)), some] = 1.0
            values.append(combined([self], [part.over(counts)[np.newaxis] for part in self.parts])[0])
        return np.concatenate(values)


def over(teams: Sequence[TeamColumn], counts: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the column of every team over each row of `counts`, [resamples, units] → [teams, resamples]; never NaN.

    Beside it, of the same shape, where a metric behind it is undefined.
    """
    shown, undefined = [], np.zeros((len(teams), len(counts)), dtype=np.bool_)
    for same_part in zip(*(team.parts for team in teams), strict=True):
        of_teams = np.empty((len(teams), len(counts)))
        for row, part in enumerate(same_part):
            values = part.over(counts)
            of_teams[row] = part.shown(values)
            undefined[row] |= np.isnan(values)
        shown.append(of_teams)
    return combined(teams, shown), undefined


def combined(teams: Sequence[TeamColumn], values: Sequence[Array], first: int | None = None) -> Array:
    """Return the column from the values of its parts, for each part [teams, resamples]: of the first teams, or of all.

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
    """Return the 2.5th and 97.5th percentile of resampled ranks, each a rank that occurs."""
    low, high = np.percentile(places, TAILS, method="inverted_cdf")
    return int(low), int(high)


def ranks(values: Array, descending: bool) -> Ranks:
    """Return the rank of every team in each resample: one more than there are better teams; equal ones share it."""
    goodness = _goodness(values, descending)
    return np.stack([1 + np.count_nonzero(goodness > own, axis=0) for own in goodness])


def mid_ranks(values: Array, descending: bool, competing: NDArray[np.bool_], first: int | None = None) -> Array:
    """Ranks in each resample among the competing teams and the team itself; ties share the mean of their places.

    `values` has the shape [teams, resamples], `competing` [teams]; the ranks are those of the `first` teams, or of all.
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
    """Return the share of resamples in which each team is first, [teams]; teams that share the rank share the win."""
    first = places == 1
    share: Array = (first / first.sum(axis=0)).mean(axis=1)
    return share


def optimism(values: Array, places: Ranks, scores: Array) -> float:
    """Return by how much the team that is first in a resample is above its own score there, the mean over resamples.

    Args:
        values: of the teams, [teams, resamples].
        places: their ranks, likewise; teams that share the first place count in equal parts.
        scores: theirs over all units, [teams].
    """
    first = places == 1
    above = (first * (values - scores[:, np.newaxis])).sum(axis=0) / first.sum(axis=0)
    return float(above.mean())


def shares(places: Ranks) -> Array:
    """Return the share of resamples in which each team has each rank, shape [teams, ranks]."""
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
