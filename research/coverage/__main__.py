"""Coverage of the final report's 95 % intervals, where they are printed, in simulated test sets.

For each metric and number of units, `SETS` test sets are drawn from a population whose true value is known (or taken
from two million units). The kit's own draws, intervals and rules decide which intervals are printed. The table has the
share of the test sets with an interval, and the share of these that hold the true value (standard error .003, or
more where few sets have an interval).

Run: `.venv/bin/python -m research.coverage [METRIC …]`; about half an hour.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scoring_programs"))

from scoring_kit.metrics import summed
from scoring_kit.metrics.classification import units_of_classes
from scoring_kit.program import ScoreColumn
from scoring_kit.resampling.draws import TAILS, bootstrap_counts, few_units, uncut_interval
from scoring_kit.units import Array

SETS, RESAMPLES, SEED = 5000, 2000, 7
SIZES = (10, 20, 50, 100, 200, 500, 2000)
AT_ONCE = 100
"""So many test sets are resampled alike."""
RANDOM = np.random.default_rng(SEED)


@dataclass(frozen=True)
class Case:
    """A metric and a population.

    Attributes:
        draw: number of units → what each of them adds, shape [units, terms].
        formula: the metric of summed terms.
        true: the population's value; None: that of two million units.
        worst: the column's.
        of_classes: the metric is a mean over classes.
        squared: it is made of squared errors.
    """

    draw: Callable[[int], Array]
    formula: Callable[[Array], Array]
    true: float | None = None
    worst: float = 0.0
    of_classes: bool = False
    squared: bool = False

    @property
    def truth(self) -> float:
        if self.true is not None:
            return self.true
        total = sum(self.draw(200_000).sum(axis=0) for _ in range(10))
        return float(self.formula(np.asarray(total)[np.newaxis])[0])


def right_or_wrong(share: float) -> Callable[[int], Array]:
    return lambda units: np.column_stack([RANDOM.random(units) < share, np.ones(units)]).astype(float)


def labels(shares: list[float], right: float) -> Callable[[int], Array]:
    """Rows of labels with these shares; a wrong answer is any other label."""

    def draw(units: int) -> Array:
        gold = RANDOM.choice(len(shares), size=units, p=shares)
        other = (gold + RANDOM.integers(1, len(shares), size=units)) % len(shares)
        predicted = np.where(RANDOM.random(units) < right, gold, other)
        one = np.eye(len(shares))
        return np.hstack([one[gold] * (gold == predicted)[:, np.newaxis], one[predicted], one[gold]])

    return draw


def squares(units: int) -> Array:
    """Squared errors with Student's t distribution of five degrees of freedom."""
    return np.column_stack([RANDOM.standard_t(5, size=units) ** 2, np.ones(units)])


def normal_squares(units: int) -> Array:
    """Squared normal errors."""
    return np.column_stack([RANDOM.normal(size=units) ** 2, np.ones(units)])


def absolute(units: int) -> Array:
    """Absolute errors with Student's t distribution of three degrees of freedom."""
    return np.column_stack([np.abs(RANDOM.standard_t(3, size=units)), np.ones(units)])


def skewed(units: int) -> Array:
    """Exponential errors."""
    return np.column_stack([RANDOM.exponential(size=units), np.ones(units)])


def pairs(units: int) -> Array:
    """Normal gold and answers that correlate by .7."""
    x = RANDOM.normal(size=units)
    y = 0.7 * x + np.sqrt(1 - 0.7**2) * RANDOM.normal(size=units)
    return np.column_stack([np.ones(units), x, y, x * x, y * y, x * y])


def documents(units: int) -> Array:
    """Documents with about ten gold items each, a share of them found, and some found wrongly."""
    gold = 1 + RANDOM.geometric(0.1, size=units)
    found = RANDOM.binomial(gold, RANDOM.beta(4, 3, size=units))
    return np.column_stack([found, found + RANDOM.poisson(0.4 * gold), gold]).astype(float)


CASES: Mapping[str, Case] = {
    "accuracy .8": Case(right_or_wrong(0.8), summed.ratio),
    "accuracy .95": Case(right_or_wrong(0.95), summed.ratio),
    "macro F1, labels .2/.5/.3": Case(labels([0.2, 0.5, 0.3], 0.7), summed.macro_f1, of_classes=True),
    "macro F1, labels .05/.25/.7": Case(labels([0.05, 0.25, 0.7], 0.7), summed.macro_f1, of_classes=True),
    "the same, 97 % right": Case(labels([0.05, 0.25, 0.7], 0.97), summed.macro_f1, of_classes=True),
    "macro F1, labels .02/.28/.7": Case(labels([0.02, 0.28, 0.7], 0.7), summed.macro_f1, of_classes=True),
    "macro F1, nine labels": Case(
        labels([0.02, 0.03, 0.05, 0.07, 0.1, 0.1, 0.15, 0.2, 0.28], 0.6), summed.macro_f1, of_classes=True
    ),
    "macro F1, six labels": Case(labels([0.03, 0.07, 0.1, 0.2, 0.3, 0.3], 0.7), summed.macro_f1, of_classes=True),
    "RMSE, normal errors": Case(normal_squares, summed.rmse, true=1.0, worst=1e9, squared=True),
    "RMSE, heavy tails": Case(squares, summed.rmse, true=(5 / 3) ** 0.5, worst=1e9, squared=True),
    "MAE, heavy tails": Case(absolute, summed.mean, true=2 * 3**0.5 / math.pi, worst=1e9),
    "mean of skewed errors": Case(skewed, summed.mean, true=1.0, worst=1e9),
    "Pearson .7": Case(pairs, summed.pearson, true=0.7, worst=-1.0),
    "F1 pooled over documents": Case(documents, summed.f1),
}


def coverage(case: Case, units: int) -> tuple[float, float, float]:
    """Which share of plain intervals holds the truth, which share is printed, and which share of those holds it."""
    truth, plain, printed = case.truth, [], []
    for seed in range(SETS // AT_ONCE):
        terms = case.draw(AT_ONCE * units).reshape(AT_ONCE, units, -1)
        resampled = _resampled(case, terms, seed)
        plain += [_holds(ends, truth) for ends in np.percentile(resampled, TAILS, axis=1).T]
        for of_set, values in zip(terms, resampled, strict=True):
            interval = _printed(case, of_set, values)
            printed += [] if interval is None else [_holds(interval, truth)]
    return float(np.mean(plain)), len(printed) / SETS, float(np.mean(printed)) if printed else np.nan


def _resampled(case: Case, terms: Array, seed: int) -> Array:
    """The metric of each test set in each resample: [sets, units, terms] → [sets, resamples]."""
    sets, units, _ = terms.shape
    side_by_side = terms.transpose(1, 0, 2).reshape(units, -1)
    blocks = []
    for counts in bootstrap_counts(units, RESAMPLES, seed):
        sums = (counts @ side_by_side).reshape(len(counts), sets, -1)
        blocks.append(case.formula(sums))
    return np.concatenate(blocks).T


def _printed(case: Case, terms: Array, values: Array) -> tuple[float, float] | None:
    """The interval that the final report prints of a test set; None where it prints none."""
    column = ScoreColumn("c", "t", "C", "desc", 4, case.worst, "-")
    classes = units_of_classes(terms) if case.of_classes else []
    if few_units(column, len(terms), "units", classes, squared=case.squared):
        return None
    return uncut_interval(values)


def _holds(interval: Sequence[float], truth: float) -> bool:
    return interval[0] - 1e-12 <= truth <= interval[1] + 1e-12


def main() -> None:
    print("| metric |", " | ".join(f"n = {units}" for units in SIZES), "|")
    print("| --- |", " | ".join("---" for _ in SIZES), "|")
    for name, case in CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        cells = []
        for units in SIZES:
            plain, share, printed = coverage(case, units)
            often = f"**{printed:.3f}** of {share:.1%} " if share else ""
            cells.append(f"{often}({plain:.3f})")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
