"""Correlations and errors of numbers, as SciPy's and scikit-learn's: sums of powers, or the ranks of the keys."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from declared.metrics import Metric, Options, Sample
from declared.metrics.keys import Keys, Ordered, by_value, mean_ranks, ranks
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Items

MOST_IN_PAIRS = 3000
"""With more keys, pairs of them take longer than sorting them for each resample."""


class Correlation(Additive):
    """Pearson's correlation from the terms of `summed.pearson`, of values less their mean."""

    def to_exchange(self) -> Additive:
        """Of z-scores: predictions are divided by their spread, and so are the sums.

        Mean and spread are those of the same units, to which z-scores are closer than to those of the population. So
        correlations of exchanged ones are widened as residuals are, by √(n/(n - 2)).
        Source: Davison and Hinkley, Bootstrap Methods and their Application, 1997, chapter 6 (modified residuals).
        """
        number, _, _, _, squares, _ = self.sums.sum(axis=0)
        # without any spread the correlation is undefined, whatever the sums are divided by
        spread = math.sqrt(squares / number) or 1.0
        units = int(np.count_nonzero(self.sums[:, 0]))
        wider = math.sqrt(units / max(units - 2, 1))

        def widened(sums: Array) -> Array:
            return wider * self.formula(sums)

        return Additive(self.sums / [1, 1, spread, 1, spread**2, spread], widened)


@dataclass(frozen=True, eq=False)
class RankCorrelation(Items):
    """Spearman's correlation of gold and predicted items; in a resample, of their ranks among those drawn."""

    keys: Keys

    def to_exchange(self) -> Additive:
        """Pearson's correlation of the ranks among all items, and so a formula of sums."""
        gold, predicted = self.values.T
        return _correlation(mean_ranks(gold), mean_ranks(predicted), self.keys).to_exchange()

    def joined(self, other: Self) -> Self:
        return replace(super().joined(other), keys=self.keys.joined(other.keys))

    def at(self, places: NDArray[np.intp]) -> Self:
        return replace(super().at(places), keys=self.keys.at(places))


def pearson(sample: Sample, options: Options, keys: Keys) -> Correlation:
    """Pearson's correlation; undefined where all values of one side are equal."""
    return _correlation(*_sides(sample), keys)


def spearman(sample: Sample, options: Options, keys: Keys) -> RankCorrelation:
    """Spearman's correlation, of ranks among the keys that were drawn; undefined as Pearson's."""
    values = np.column_stack(_sides(sample))

    def of_ranks(values: Array, counts: Array) -> Array:
        """Pearson's correlation of ranks, whose sums are known: those of ranks, and of squares but for ties."""
        number = counts.sum(axis=1)
        spreads, of_keys = [], []
        for column in values.T:
            totals, place = by_value(column, counts)
            # Σ (rank - mean)² of n keys is (n³ - Σ t³) / 12, where t of them share each value
            spreads.append((number**3 - (totals * totals * totals).sum(axis=1)) / 12)
            of_keys.append(ranks(totals)[:, place])
        # Σ of the products less n · mean², and the mean of the ranks from 1 to n is (n + 1) / 2
        together = (counts * of_keys[0] * of_keys[1]).sum(axis=1) - number * (number + 1) ** 2 / 4
        value = summed.correlation(together, np.sqrt(spreads[0] * spreads[1]), keys.worst)
        return np.where((number < 2) | (spreads[0] == 0), math.nan, value)

    return RankCorrelation(keys.units, keys.unit, values, of_ranks, keys)


def kendall(sample: Sample, options: Options, keys: Keys) -> Ordered:
    """Kendall's tau-b; undefined as Pearson's."""

    def tau(values: Array, counts: Array) -> Array:
        return _kendall(values, counts, keys.worst)

    return keys.ordered(tau, *_sides(sample))


def _mean_error(size: Callable[[Array], Array]) -> Metric:
    """Mean size of the errors; of lists that of each key, then their mean, or of all components at once (`pooled`)."""

    def metric(sample: Sample, options: Options, keys: Keys) -> Additive:
        errors, number = _of_components(sample, size)
        if options.get("average") == "pooled":
            return keys.additive(summed.mean, errors, number)
        return keys.mean(summed.quotient(errors, number))

    return metric


mse = _mean_error(np.square)
mae = _mean_error(np.abs)


def rmse(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Root of the mean squared error; of lists as `mse`, so that each key has a root of its own unless pooled."""
    errors, number = _of_components(sample, np.square)
    if sample.fields[0].type == "numbers" and options["average"] == "key":
        return keys.mean(np.sqrt(summed.quotient(errors, number)))
    return keys.additive(summed.rmse, errors, number)


def _of_components(sample: Sample, size: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return the sum of the sizes of each key's errors, and of how many numbers; both of shape [keys]."""
    if sample.fields[0].type != "numbers":
        gold, predicted = _sides(sample)
        return size(gold - predicted), np.ones(len(gold))
    number = np.array([len(values) for values in sample.gold], dtype=np.intp)
    gold = np.array(list(chain.from_iterable(sample.gold)), dtype=np.float64)
    predicted = np.array(list(chain.from_iterable(sample.predicted)), dtype=np.float64)
    errors = np.bincount(np.repeat(np.arange(len(number)), number), size(gold - predicted), len(number))
    return np.asarray(errors, dtype=np.float64), number.astype(np.float64)


def mape(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Mean absolute error relative to the gold, whose size is at least the machine's precision."""
    gold, predicted = _sides(sample)
    return keys.mean(np.abs(gold - predicted) / np.maximum(np.abs(gold), np.finfo(np.float64).eps))


def smape(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Mean of 200 |gold - predicted| / (|gold| + |predicted|), 0/0 = 0. Source: the M4 competition."""
    gold, predicted = _sides(sample)
    return keys.mean(200 * summed.quotient(np.abs(gold - predicted), np.abs(gold) + np.abs(predicted)))


def rmsle(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Root of the mean squared difference of the logarithms of 1 + value."""
    gold, predicted = _sides(sample)
    return keys.additive(summed.rmse, (np.log1p(gold) - np.log1p(predicted)) ** 2, np.ones(len(gold)))


def medae(sample: Sample, options: Options, keys: Keys) -> Items:
    """Median absolute error."""
    gold, predicted = _sides(sample)
    return keys.items(_median, np.abs(gold - predicted))


def max_error(sample: Sample, options: Options, keys: Keys) -> Items:
    """Largest absolute error."""
    gold, predicted = _sides(sample)
    return keys.items(_largest, np.abs(gold - predicted))


def mase(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Mean absolute error over the key's scale. Source: Hyndman and Koehler, Int. Journal of Forecasting 22, 2006."""
    gold, predicted = _sides(sample)
    return keys.mean(np.abs(gold - predicted) / np.asarray(sample.scale, dtype=np.float64))


def pinball(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Mean pinball loss: what is too low weighs as the quantile, what is too high as the rest."""
    gold, predicted = _sides(sample)
    quantile = options["quantile"]
    return keys.mean(np.maximum(quantile * (gold - predicted), (quantile - 1) * (gold - predicted)))


def ccc(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Concordance correlation of values less the mean of the gold; undefined where all values of both are equal.

    Source: Lin, Biometrics 45, 1989, with variances over n.
    """
    gold, predicted = _sides(sample)
    x, y = gold - gold.mean(), predicted - gold.mean()

    def concordance(sums: Array) -> Array:
        number, x, y, xx, xy, differences = np.moveaxis(sums, -1, 0)
        spread = summed.spread(number, x, xx)
        covariance = np.where(spread == 0, 0.0, number * xy - x * y)
        # 2 covariance + mean squared difference is the variances + (difference of means)²
        value = summed.quotient(2 * covariance, 2 * covariance + number * differences, undefined=keys.worst)
        return np.where(number < 1, math.nan, value)

    return keys.additive(concordance, np.ones(len(x)), x, y, x * x, x * y, (x - y) ** 2)


def r2(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Coefficient of determination, of values less the mean of the gold; undefined for fewer than two keys."""
    gold, predicted = _sides(sample)
    x = gold - gold.mean()
    sums = keys.summed(np.ones(len(x)), x, x * x, (gold - predicted) ** 2)
    # fewer than two keys is a question of keys, and not of what they weigh
    drawn = keys.weighing(None).summed(np.ones(len(x)))
    return Additive(np.column_stack([sums, drawn]), _r2)


def _sides(sample: Sample) -> tuple[Array, Array]:
    return np.asarray(sample.gold, dtype=np.float64), np.asarray(sample.predicted, dtype=np.float64)


def _correlation(gold: Array, predicted: Array, keys: Keys) -> Correlation:
    # sums of squares of large numbers would lose the digits of small differences
    x, y = gold - gold.mean(), predicted - predicted.mean()
    sums = keys.summed(np.ones(len(x)), x, y, x * x, y * y, x * y)

    def formula(sums: Array) -> Array:
        return summed.pearson(sums, keys.worst)

    return Correlation(sums, formula)


def _kendall(values: Array, counts: Array, constant: float) -> Array:
    """From the pairs of keys that both sides order alike, less those that they order in opposite ways."""
    if len(values) > MOST_IN_PAIRS:
        return np.array([_kendall_of_one(values, row, constant) for row in counts])
    number = counts.sum(axis=1)
    signs, untied = [], []
    for side in values.T:
        signs.append(np.sign(side[:, np.newaxis] - side).astype(np.float32))
        totals, _ = by_value(side, counts)
        # of all ordered pairs of keys those whose values differ
        untied.append(number**2 - (totals**2).sum(axis=1))
    # whole numbers, so float32 is exact as long as fewer than 2^24 keys are drawn
    alike = counts.astype(np.float32) @ (signs[0] * signs[1])
    value = summed.correlation((alike * counts).sum(axis=1), np.sqrt(untied[0]) * np.sqrt(untied[1]), constant)
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
    number, x, xx, errors, drawn = np.moveaxis(sums, -1, 0)
    spread = summed.spread(number, x, xx)
    value = np.where(spread > 0, 1 - summed.quotient(number * errors, spread), np.where(errors == 0, 1.0, 0.0))
    return np.where(drawn < 2, math.nan, value)


def _median(values: Array, counts: Array) -> Array:
    totals, place = by_value(values[:, 0], counts)
    distinct = np.empty(totals.shape[1])
    distinct[place] = values[:, 0]
    reached = np.cumsum(totals, axis=1)
    # between the value at which half of the weight is reached and the one at which it is passed
    half = reached[:, -1:] / 2
    low = distinct[np.argmax(reached >= half, axis=1)]
    high = distinct[np.argmax(reached > half + np.finfo(np.float64).eps, axis=1)]
    # rounding may leave nothing above one half of tiny weights
    middle = np.where(high < low, low, (low + high) / 2)
    return np.where(half[:, 0] > 0, middle, math.nan)


def _largest(values: Array, counts: Array) -> Array:
    largest = np.where(counts > 0, values[:, 0], -math.inf).max(axis=1)
    return np.where(np.isfinite(largest), largest, math.nan)
