"""Per-unit results of declared tasks: what the keys of each unit add to a metric, a module for each of `metrics`.

Each module has a function of the metric's name: (sample, options, keys) → statistic; means over keys need none. Over
all units once it gives what the metric itself gives; over a unit that is counted twice, the metric of the data with
that unit's keys repeated.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from declared.metrics import MeanOverKeys, Options, Sample, definitions, measure
from scoring_kit.units import Additive, Array, Items, Statistic


@dataclass(frozen=True)
class Keys:
    """Which unit each key of a sample belongs to.

    Attributes:
        unit: the place of each key's unit, shape [keys].
        units: how many units there are.
        worst: what counts where a submission leaves the metric undefined.
    """

    unit: NDArray[np.intp]
    units: int
    worst: float

    def summed(self, terms: Any) -> Any:
        """The terms of each key, an array or a sparse matrix of shape [keys, terms], added up for each unit."""
        number = len(self.unit)
        belongs = csr_matrix((np.ones(number), (self.unit, np.arange(number))), shape=(self.units, number))
        return belongs @ terms

    def additive(self, formula: Callable[[Array], Array], *terms: ArrayLike) -> Additive:
        """A formula of sums; each term is given for every key."""
        return Additive(self.summed(np.column_stack([np.asarray(term, dtype=np.float64) for term in terms])), formula)

    def mean(self, values: ArrayLike) -> Additive:
        from scoring_kit.metrics import summed

        return self.additive(summed.mean, values, np.ones(len(self.unit)))

    def items(self, formula: Callable[[Array, Array], Array], *values: ArrayLike) -> Items:
        """A formula of the keys themselves; each value is given for every key."""
        columns = np.column_stack([np.asarray(value, dtype=np.float64) for value in values])
        return Items(self.units, self.unit, columns, formula)


def by_value(values: Array, counts: Array) -> tuple[Array, NDArray[np.intp]]:
    """How often each distinct value counts, ascending, shape [resamples, distinct]; and each key's place among them.

    Args:
        values: of the keys, shape [keys].
        counts: how often each key counts, or what it adds instead, shape [resamples, keys].
    """
    distinct, place = np.unique(values, return_inverse=True)
    belongs = csr_matrix((np.ones(len(place)), (np.arange(len(place)), place)), shape=(len(place), len(distinct)))
    return np.asarray(counts @ belongs), place


def statistic(metric: str, sample: Sample, options: Options, keys: Keys) -> Statistic:
    """What the keys of a sample add to a metric of the table."""
    computed = measure(metric)
    if isinstance(computed, MeanOverKeys):
        return keys.mean(computed.values(sample, options))
    function = getattr(importlib.import_module(f"declared.statistics.{definitions()[metric].module}"), metric)
    found: Statistic = function(sample, options, keys)
    return found
