"""Metrics as formulas of terms summed over units (`scoring_kit.units.Additive`): shape [..., terms] → [...].

What is 0/0 is what the metric itself makes of it: 0, or NaN where the metric is undefined. Terms of labels are the
true positives of each label, then the predictions of each, then the gold items of each, as
`classification.label_terms` gives them.

>>> import numpy as np
>>> counts = np.array([3.0, 4.0, 6.0])  # true positives, predicted, gold
>>> float(precision(counts)), float(recall(counts)), float(f1(counts))
(0.75, 0.5, 0.6)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scoring_kit.units import Array

ROUNDING = 1e-13
"""Relative to its terms, a difference of sums so small is the rounding of an exact 0."""


def correlation(shared: Array, scale: Array, constant: float) -> Array:
    """Shared / scale, which rounding leaves in [-1, 1]; `constant` where the scale is 0."""
    import numpy as np

    return np.where(scale == 0, constant, np.clip(quotient(shared, scale), -1.0, 1.0))


def count(sums: Array) -> Array:
    """Return a number of things: its only term."""
    return sums[..., 0]


def f1(sums: Array, nothing: float = 0.0) -> Array:
    """F1 from (true positives, predicted, gold): 2 tp / (predicted + gold); `nothing` where there is neither."""
    return quotient(2 * sums[..., 0], sums[..., 1] + sums[..., 2], nothing)


def fbeta(sums: Array, beta: float, nothing: float = 0.0) -> Array:
    """F-beta from (true positives, predicted, gold): (1 + β²) tp / (predicted + β² gold); `nothing` for 0/0."""
    weight = beta**2
    return quotient((1 + weight) * sums[..., 0], sums[..., 1] + weight * sums[..., 2], nothing)


def macro_f1(sums: Array) -> Array:
    """Mean of the labels' F1, from terms of labels; a label that never occurs counts 0.

    >>> import numpy as np
    >>> float(macro_f1(np.array([1.0, 1.0, 2.0, 1.0, 1.0, 2.0])))  # of two labels: right, predicted, gold
    0.6666666666666666
    """
    true_positives, predicted, gold = by_label(sums)
    return _over_labels(quotient(2 * true_positives, predicted + gold))


def macro_precision(sums: Array) -> Array:
    """Mean of the labels' precision, from terms of labels; a label that is never predicted counts 0."""
    true_positives, predicted, _ = by_label(sums)
    return _over_labels(quotient(true_positives, predicted))


def macro_recall(sums: Array) -> Array:
    """Mean of the labels' recall, from terms of labels; a label that the gold does not have counts 0."""
    true_positives, _, gold = by_label(sums)
    return _over_labels(quotient(true_positives, gold))


def mean(sums: Array) -> Array:
    """Mean from (total, count); undefined over nothing.

    >>> import numpy as np
    >>> float(mean(np.array([6.0, 4.0])))
    1.5
    """
    return quotient(sums[..., 0], sums[..., 1], undefined=math.nan)


def mean_where(values: Array, counted: NDArray[np.bool_]) -> Array:
    """Return the mean over the last axis of the values that are counted; undefined where none is."""
    import numpy as np

    total: Array = np.where(counted, values, 0.0).sum(axis=-1)
    return quotient(total, counted.sum(axis=-1), undefined=math.nan)


def pearson(sums: Array, constant: float = math.nan) -> Array:
    """Pearson's correlation from (number, Σx, Σy, Σx², Σy², Σxy), x gold and y predicted.

    Undefined for fewer than two pairs and where all gold values are equal; `constant` where all predicted ones are. The
    values should be taken less their mean, since large ones leave few digits to their differences.
    """
    import numpy as np

    number, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    of_gold, of_predicted = spread(number, x, xx), spread(number, y, yy)
    value = correlation(number * xy - x * y, np.sqrt(of_gold) * np.sqrt(of_predicted), constant)
    return np.where((number < 2) | (of_gold == 0), math.nan, value)


def precision(sums: Array, nothing: float = 0.0) -> Array:
    """Precision from (true positives, predicted, gold); `nothing` without predictions."""
    return quotient(sums[..., 0], sums[..., 1], nothing)


def quotient(numerator: Array, denominator: Array, undefined: float = 0.0) -> Array:
    """Numerator / denominator, arrays of the same shape; `undefined` where the denominator is 0.

    >>> import numpy as np
    >>> quotient(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    import numpy as np

    quotients: Array = np.full(np.shape(numerator), float(undefined))
    np.divide(numerator, denominator, out=quotients, where=denominator != 0)
    return quotients


def ratio(sums: Array) -> Array:
    """Return a share from (part, whole), such as accuracy; 0 of nothing.

    >>> import numpy as np
    >>> ratio(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [0.75, 0.0]
    """
    return quotient(sums[..., 0], sums[..., 1])


def recall(sums: Array, nothing: float = 0.0) -> Array:
    """Recall from (true positives, predicted, gold); `nothing` without gold."""
    return quotient(sums[..., 0], sums[..., 2], nothing)


def rmse(sums: Array) -> Array:
    """Root mean squared error from (sum of squared errors, count); undefined over nothing.

    >>> import numpy as np
    >>> float(rmse(np.array([16.0, 4.0])))
    2.0
    """
    root: Array = mean(sums) ** 0.5
    return root


def spread(number: Array, total: Array, squares: Array) -> Array:
    """`number` times the sum of squared distances from the mean; exactly 0 where all values are equal."""
    import numpy as np

    # n Σx² - (Σx)², which rounding leaves a little above 0 where all values are equal
    difference = number * squares - total**2
    return np.where(difference > ROUNDING * number * squares, difference, 0.0)


def by_label(sums: Array) -> tuple[Array, Array, Array]:
    """True positives, predicted and gold, each of shape [..., labels]."""
    import numpy as np

    true_positives, predicted, gold = np.split(sums, 3, axis=-1)
    return true_positives, predicted, gold


def _over_labels(values: Array) -> Array:
    """The mean of the labels' values, shape [..., labels] → [...]."""
    means: Array = values.mean(axis=-1)
    return means
