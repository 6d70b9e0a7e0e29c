"""Correlations and errors of numbers, as SciPy's and scikit-learn's: sums of powers, or the ranks of the keys."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys, by_value
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Items

MOST_IN_PAIRS = 3000
"""With more keys, pairs of them take longer than sorting them for each resample."""


@dataclass(frozen=True, eq=False)
class Centred(Additive):
    """A formula of sums that loses digits where predictions differ little but are far from the gold.

    Attributes:
        own: `sums`, of predictions less their own mean; joined ones need a centre that all submissions share.
    """

    own: Array

    def over(self, counts: Array) -> Array:
        return self.formula(counts @ self.own)


def pearson(sample: Sample, options: Options, keys: Keys) -> Centred:
    """Pearson's correlation, of values less the mean of the gold, which is the same for every submission.

    Undefined where all values of one side are equal.
    """
    gold, predicted = _sides(sample)
    x = gold - gold.mean()
    formula = partial(summed.pearson, constant=keys.worst)
    shared, own = (
        keys.summed(np.ones(len(x)), x, y, x * x, y * y, x * y)
        for y in (predicted - gold.mean(), predicted - predicted.mean())
    )
    return Centred(shared, formula, own)


def spearman(sample: Sample, options: Options, keys: Keys) -> Items:
    """Spearman's correlation, of ranks among the keys that were drawn; undefined as Pearson's."""
    return keys.items(partial(_spearman, constant=keys.worst), *_sides(sample))


def kendall(sample: Sample, options: Options, keys: Keys) -> Items:
    """Kendall's tau-b; undefined as Pearson's."""
    return keys.items(partial(_kendall, constant=keys.worst), *_sides(sample))


def mse(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Mean squared error."""
    gold, predicted = _sides(sample)
    return keys.mean((gold - predicted) ** 2)


def rmse(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Root of the mean squared error."""
    gold, predicted = _sides(sample)
    return keys.additive(summed.rmse, (gold - predicted) ** 2, np.ones(len(gold)))


def mae(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Mean absolute error."""
    gold, predicted = _sides(sample)
    return keys.mean(np.abs(gold - predicted))


def r2(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Coefficient of determination, of values less the mean of the gold; undefined for fewer than two keys."""
    gold, predicted = _sides(sample)
    x = gold - gold.mean()
    return keys.additive(_r2, np.ones(len(x)), x, x * x, (gold - predicted) ** 2)


def ranks(totals: Array) -> Array:
    """The mean rank of each distinct value where it counts so often, both [resamples, distinct]; see `by_value`."""
    mean: Array = np.cumsum(totals, axis=1) - (totals - 1) / 2
    return mean


def _sides(sample: Sample) -> tuple[Array, Array]:
    return np.asarray(sample.gold, dtype=np.float64), np.asarray(sample.predicted, dtype=np.float64)


def _spearman(values: Array, counts: Array, constant: float) -> Array:
    number = counts.sum(axis=1)
    spreads, centred = [], []
    for column in values.T:
        totals, place = by_value(column, counts)
        distance = ranks(totals) - (number[:, np.newaxis] + 1) / 2
        spreads.append((totals * distance**2).sum(axis=1))
        centred.append(distance[:, place])
    together = (counts * centred[0] * centred[1]).sum(axis=1)
    value = summed.quotient(together, np.sqrt(spreads[0] * spreads[1]), undefined=constant)
    return np.where((number < 2) | (spreads[0] == 0), math.nan, value)


def _kendall(values: Array, counts: Array, constant: float) -> Array:
    """From the pairs of keys that both sides order alike, less those that they order in opposite ways."""
    if len(values) > MOST_IN_PAIRS:
        return np.array([_kendall_of_one(values, row, constant) for row in counts])
    signs = [np.sign(side[:, np.newaxis] - side).astype(np.float32) for side in values.T]
    # whole numbers, so float32 is exact as long as fewer than 2^24 keys are drawn
    alike = counts.astype(np.float32) @ (signs[0] * signs[1])
    number = counts.sum(axis=1)
    untied = []
    for side in values.T:
        totals, _ = by_value(side, counts)
        untied.append(number**2 - (totals**2).sum(axis=1))
    value = summed.quotient((alike * counts).sum(axis=1), np.sqrt(untied[0]) * np.sqrt(untied[1]), undefined=constant)
    return np.where((number < 2) | (untied[0] == 0), math.nan, value)


def _kendall_of_one(values: Array, counts: Array, constant: float) -> float:
    """The same for one resample, which takes less time than all pairs where there are many keys."""
    from scipy.stats import kendalltau

    gold, predicted = np.repeat(values, counts.astype(np.intp), axis=0).T
    if len(gold) < 2 or gold.min() == gold.max():
        return math.nan
    return float(kendalltau(gold, predicted).statistic) if predicted.min() < predicted.max() else constant


def _r2(sums: Array) -> Array:
    """As scikit-learn: where all gold values are equal, 1 without an error and 0 with one."""
    number, x, xx, errors = np.moveaxis(sums, -1, 0)
    spread = summed.spread(number, x, xx)
    value = np.where(spread > 0, 1 - summed.quotient(number * errors, spread), np.where(errors == 0, 1.0, 0.0))
    return np.where(number < 2, math.nan, value)
