"""Correlations and errors of numbers: sums of powers, or the ranks of the keys that were drawn."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from declared.metrics import Sample
from declared.statistics import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Items

Options = Mapping[str, Any]


def pearson(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Pearson's correlation, of values less the mean of the gold, which is the same for every submission."""
    gold, predicted = _sides(sample)
    x, y = gold - gold.mean(), predicted - gold.mean()
    formula = partial(summed.pearson, constant=keys.worst)
    return keys.additive(formula, np.ones(len(x)), x, y, x * x, y * y, x * y)


def spearman(sample: Sample, options: Options, keys: Keys) -> Items:
    """Spearman's correlation, of ranks among the keys that were drawn."""
    return keys.items(partial(_spearman, constant=keys.worst), *_sides(sample))


def kendall(sample: Sample, options: Options, keys: Keys) -> Items:
    """Kendall's tau-b."""
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
    """Coefficient of determination, of values less the mean of the gold."""
    gold, predicted = _sides(sample)
    x = gold - gold.mean()
    return keys.additive(_r2, np.ones(len(x)), x, x * x, (gold - predicted) ** 2)


def ranks(values: Array, counts: Array) -> Array:
    """The mean rank of each value among all, each of them counted so often."""
    _, place = np.unique(values, return_inverse=True)
    totals = np.bincount(place, counts)
    found: Array = (np.cumsum(totals) - (totals - 1) / 2)[place]
    return found


def _sides(sample: Sample) -> tuple[Array, Array]:
    return np.asarray(sample.gold, dtype=np.float64), np.asarray(sample.predicted, dtype=np.float64)


def _spearman(values: Array, counts: Array, constant: float) -> float:
    middle = (counts.sum() + 1) / 2
    x, y = (ranks(column, counts) - middle for column in values.T)
    of_gold, of_predicted = float(counts @ (x * x)), float(counts @ (y * y))
    if counts.sum() < 2 or of_gold == 0:
        return math.nan
    return float(counts @ (x * y)) / math.sqrt(of_gold * of_predicted) if of_predicted else constant


def _kendall(values: Array, counts: Array, constant: float) -> float:
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
