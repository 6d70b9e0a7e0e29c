"""Metrics as formulas of sums over units, vectorised over resamples: what `scoring_kit.units.Additive` takes.

Every function takes the summed terms, shape [..., terms], and gives the metric, shape [...]. Terms of labels come
label after label, (true positives, predicted, gold) each.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROUNDING = 1e-13
"""Relative to its terms, a difference of sums so small is the rounding of an exact 0."""


def by_label(sums: Array) -> tuple[Array, Array, Array]:
    """True positives, predicted and gold of each label, shape [..., labels] each."""
    counts = sums.reshape(*sums.shape[:-1], -1, 3)
    return counts[..., 0], counts[..., 1], counts[..., 2]


def f1(sums: Array) -> Array:
    """F1 of (true positives, predicted, gold); 0/0 = 0."""
    return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def macro_f1(sums: Array) -> Array:
    """Mean F1 of the labels that are predicted or gold; NaN where there are none."""
    true, predicted, gold = by_label(sums)
    return mean_where(ratio(2 * true, predicted + gold), predicted + gold > 0)


def mean(sums: Array) -> Array:
    """The mean, such as an accuracy, of (total, number); NaN of nothing."""
    return ratio(sums[..., 0], sums[..., 1], nothing=math.nan)


def mean_where(values: Array, counted: NDArray[np.bool_]) -> Array:
    """The mean over the last axis of the values that are counted; NaN where none is."""
    return ratio(np.where(counted, values, 0.0).sum(axis=-1), counted.sum(axis=-1), nothing=math.nan)


def pearson(sums: Array, constant: float = math.nan) -> Array:
    """Pearson's correlation of (number, Σx, Σy, Σx², Σy², Σxy), x gold and y predicted.

    NaN for fewer than two pairs and where all gold values are equal; `constant` where all predicted values are. The
    values should be taken less the mean of the gold, since large ones leave few digits to their differences.
    """
    number, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    of_gold, of_predicted = spread(number, x, xx), spread(number, y, yy)
    value = ratio(number * xy - x * y, np.sqrt(of_gold) * np.sqrt(of_predicted), nothing=constant)
    return np.where((number < 2) | (of_gold == 0), math.nan, value)


def precision(sums: Array) -> Array:
    """Precision of (true positives, predicted, gold); 0/0 = 0."""
    return ratio(sums[..., 0], sums[..., 1])


def ratio(part: Array, whole: Array | NDArray[np.int_], nothing: float = 0.0) -> Array:
    """The quotient, and `nothing` where the whole is 0."""
    filled = np.full(np.broadcast_shapes(part.shape, whole.shape), float(nothing))
    return np.divide(part, whole, out=filled, where=whole != 0)


def recall(sums: Array) -> Array:
    """Recall of (true positives, predicted, gold); 0/0 = 0."""
    return ratio(sums[..., 0], sums[..., 2])


def rmse(sums: Array) -> Array:
    """Root of the mean of (total of squared errors, number); NaN of nothing."""
    return np.sqrt(mean(sums))


def spread(number: Array, total: Array, squares: Array) -> Array:
    """`number` times the sum of squared distances from the mean; exactly 0 where all values are equal."""
    difference = number * squares - total**2
    return np.where(difference > ROUNDING * number * squares, difference, 0.0)
