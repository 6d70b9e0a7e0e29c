"""The random draws, and percentile intervals: where none is printed that would not hold the true value often enough.

The bounds rest on `research/coverage`, whose table is in docs/final-report.md: 95 % intervals that hold the true value
in at least 93 % of simulated test sets.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from scoring_kit.program import ScoreColumn
from scoring_kit.units import Array

LEVEL = 95
"""Per cent of an interval."""
TAILS = ((100 - LEVEL) / 2, (100 + LEVEL) / 2)
DIGITS = 12
"""Decimals by which values are compared, as `scoring_kit.results.comparable` does it."""
FEWEST_UNITS = 50
FEWEST_FOR_CLASSES = 100
UNITS_A_CLASS = 20
"""On average, of a mean over classes or groups: bounds on the rarest alone pass just the gold that has it too often."""
FEWEST_UNBOUNDED = 300
FEWEST_SQUARED = 2000
"""Where errors are squared, too."""
UNBOUNDED = 1000
"""An error whose `worst` is this or more has no bound to speak of: single units can outweigh all others.

No test of the units replaces the bound on their number: those without an extreme one look fine, and miss the truth.
"""
MOST_LACKING = 0.01
"""Of the resamples, the share that may lack a class of the gold, or leave a metric undefined. Such resamples take the
place of the lowest values: with 1 % of them the lower end of an interval is the 1.5th percentile of the others instead
of the 2.5th.
"""


def percentile_interval(values: Array) -> tuple[float, float]:
    """The 95 % interval of resampled values: their 2.5th and 97.5th percentile.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    low, high = np.percentile(values, TAILS)
    return float(low), float(high)


def uncut_interval(values: Array) -> tuple[float, float] | None:
    """The 95 % interval; None where it ends at the lowest or highest value that any resample has.

    So many resamples share that value then, as with a score near its bound, that the interval is cut off there; one of
    a single value is such an interval.
    """
    low, high = percentile_interval(np.round(values, DIGITS))
    if low <= np.round(values.min(), DIGITS) or high >= np.round(values.max(), DIGITS):
        return None
    return percentile_interval(values)


def few_units(
    column: ScoreColumn, number: int, word: str, classes: Sequence[int], *, squared: bool = False
) -> str | None:
    """Why there are too few units for intervals of a written column; None where there are enough.

    Args:
        column: the column.
        number: of the units that it scores.
        word: what to call them, in the plural.
        classes: in how many units each class or group is that the metric is a mean over; none of another metric.
        squared: whether it is made of squared errors.
    """
    fewest, what = FEWEST_UNITS, "an interval"
    if classes:
        fewest = max(FEWEST_FOR_CLASSES, UNITS_A_CLASS * len(classes))
        what = f"an interval of a mean over {len(classes)} classes or groups"
    if column.worst is not None and abs(column.worst) >= UNBOUNDED:
        fewest, kind = FEWEST_UNBOUNDED, "an error"
        if squared:
            fewest, kind = FEWEST_SQUARED, "a squared error"
        what = f"an interval of {kind} without a bound (worst: {column.worst:g})"
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


CELLS = 2**21
"""Most cells of a block: 16 MB of float64."""
SAMPLES, EXCHANGES = 0, 1
"""Which sequence of random numbers: each purpose has its own."""


def bootstrap_counts(units: int, resamples: int, seed: int, width: int = 1) -> Iterator[Array]:
    """How often each unit is in each bootstrap sample, drawn with replacement: blocks of shape [some, units].

    Args:
        units: how many there are; each sample has as many.
        resamples: how many samples, over all blocks.
        seed: the same seed gives the same samples.
        width: cells for each sample that the caller makes besides.
    """
    random = np.random.default_rng([seed, SAMPLES])
    for size in _blocks(resamples, max(units, width)):
        drawn = random.integers(units, size=(size, units))
        drawn += units * np.arange(size)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=size * units)
        yield counts.reshape(size, units).astype(np.float64)


def exchanges(units: int, resamples: int, seed: int, width: int = 1) -> Iterator[Array]:
    """Which units are exchanged between two teams, each with probability 1/2: blocks of 0 and 1, [some, units]."""
    random = np.random.default_rng([seed, EXCHANGES])
    for size in _blocks(resamples, max(units, width)):
        yield random.integers(2, size=(size, units), dtype=np.uint8).astype(np.float64)


def _blocks(resamples: int, width: int) -> Iterator[int]:
    size = max(1, CELLS // width)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)
