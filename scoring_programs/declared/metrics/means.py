"""Metrics of means: gold and predictions are averaged in each group of keys, and the groups are what is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from declared.metrics.keys import Keys
from scoring_kit.units import Array, Statistic

OfSides: TypeAlias = Callable[[Array, Array, Keys], Statistic]
"""A metric of gold and predictions."""
AT_ONCE = 50
"""So many resamples are looked at together: their groups are the keys of one sample, each resample a unit."""
FEWEST = 2
"""Of fewer groups no metric is defined."""


def of_means(
    groups: Sequence[str],
    sides: tuple[Sequence[Any], Sequence[Any]],
    metric: OfSides,
    keys: Keys,
    *,
    is_correlation: bool,
) -> OfMeans:
    """Return the statistic of a metric over the means of groups: `groups` and both `sides` are given for every key."""
    places = dict(zip(dict.fromkeys(groups), count()))
    number, owners = len(places), np.array([places[name] for name in groups], dtype=np.intp)
    terms = np.array([np.ones(len(owners)), *sides], dtype=np.float64)
    columns = owners + number * np.arange(3)[:, np.newaxis]
    entries = np.tile(keys.unit, 3), columns.ravel()
    sums = csr_matrix((terms.ravel(), entries), shape=(keys.units, number * 3))
    return OfMeans(sums, metric, keys.worst, is_correlation)


@dataclass(frozen=True, eq=False)
class OfMeans(Statistic):
    """A metric over the means of groups, NaN where fewer than two of them are drawn.

    Attributes:
        sums: of each unit the number of keys in each group, then their gold's sum, then their predictions',
            shape [units, 3 · groups].
        metric: of gold, predictions and their units.
        worst: what counts where a submission leaves it undefined.
        is_correlation: whether it does not depend on the scale of the predictions.
    """

    sums: Any
    metric: OfSides
    worst: float
    is_correlation: bool

    def over(self, counts: Array) -> Array:
        """Return the metric over each row of `counts`; see `Statistic`."""
        found = [np.empty(0)]
        for start in range(0, len(counts), AT_ONCE):
            found.append(self._of_some(counts[start : start + AT_ONCE]))
        return np.concatenate(found)

    def _of_some(self, counts: Array) -> Array:
        number, gold, predicted = np.split(counts @ self.sums, 3, axis=1)
        there = number > 0
        values = np.full(len(counts), np.nan)
        enough = there.sum(axis=1) >= FEWEST
        there[~enough] = False
        if not enough.any():
            return values
        of_resamples = Keys(np.nonzero(there)[0], len(counts), self.worst)
        statistic = self.metric(gold[there] / number[there], predicted[there] / number[there], of_resamples)
        values[enough] = statistic.over(np.eye(len(counts)))[enough]
        return values

    def to_exchange(self) -> OfMeans:
        """Of z-scores, by the mean and spread of the predictions' means; see `Statistic`."""
        if not self.is_correlation:
            return self
        total = csr_matrix(self.sums).sum(axis=0)
        number, _, predicted = np.split(np.asarray(total).ravel(), 3)
        means = predicted / number
        spread = float(means.std()) or 1.0
        counted, gold, of_predictions = np.split(csr_matrix(self.sums).toarray(), 3, axis=1)
        scores = (of_predictions - counted * means.mean()) / spread
        return replace(self, sums=csr_matrix(np.hstack([counted, gold, scores])))

    def at(self, places: NDArray[np.intp]) -> OfMeans:
        return replace(self, sums=self.sums[places])

    def joined(self, other: OfMeans) -> OfMeans:
        return replace(self, sums=csr_matrix(vstack([self.sums, other.sums])))
