"""The units that the keys of a sample belong to, and statistics of what the keys add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np

from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Items, Statistic, items_at

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ItemFormula: TypeAlias = "Callable[[Array, Array], Array]"
"""Of the items' values, and how often each counts."""
Entries: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"
"""The keys that have something, and what each of them has, both as numbers from 0; a key may come several times."""
TermsFormula: TypeAlias = "Callable[[Terms], Array]"


@dataclass(frozen=True)
class Keys:
    """Which unit each key of a sample belongs to.

    Attributes:
        unit: the place of each key's unit, shape [keys].
        units: how many units there are.
        worst: what counts where a submission leaves the metric undefined.
        weight: how much each key counts, shape [keys]; None: all the same.
    """

    unit: NDArray[np.intp]
    units: int
    worst: float
    weight: Array | None = None

    def at(self, places: NDArray[np.intp]) -> Keys:
        """Return the keys of the units at some places, as `Statistic.at` has them."""
        keys, unit = items_at(self.unit, places)
        weight = None if self.weight is None else self.weight[keys]
        return Keys(unit, len(places), self.worst, weight)

    def joined(self, other: Keys) -> Keys:
        """Return the keys of the units of both, those of `other` last."""
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])
        return Keys(np.concatenate([self.unit, other.unit + self.units]), self.units + other.units, self.worst, weight)

    def weighing(self, weight: Sequence[float] | None) -> Keys:
        """Return the same keys, each counting so much; None: all the same."""
        own = None if weight is None else np.asarray(weight, dtype=np.float64)
        return replace(self, weight=own)

    def summed(self, *terms: ArrayLike) -> Array:
        """Terms, each given for every key, added up for each unit: shape [units, terms]."""
        columns = np.array(terms, dtype=np.float64)
        if self.weight is not None:
            columns *= self.weight
        if self.units == 1:  # summed in pairs, which keeps more digits than one key after the other
            return np.array([columns.sum(axis=1)])
        return np.column_stack([np.bincount(self.unit, column, self.units) for column in columns])

    def counted(self, entries: Entries, width: int, amounts: Array | None = None) -> Any:
        """Return what entries (key and column) add up to for each unit, shape [units, width]; sparse for several units.

        `amounts` is what each entry adds; 1 where it is None.
        """
        key, column = entries
        if self.weight is not None:
            amounts = self.weight[key] if amounts is None else self.weight[key] * amounts
        if self.units == 1:
            return np.bincount(column, amounts, width).astype(np.float64)[np.newaxis]
        from scipy.sparse import csr_matrix  # most of a short job's time, which only resampling needs

        added = np.ones(len(key)) if amounts is None else amounts
        return csr_matrix((added, (self.unit[key], column)), shape=(self.units, width))

    def additive(self, formula: Callable[[Array], Array], *terms: ArrayLike) -> Additive:
        """Return a formula of sums; each term is given for every key."""
        return Additive(self.summed(*terms), formula)

    def of_labels(self, labels: Sequence[str], sides: Sequence[Entries], formula: TermsFormula) -> LabelCounts:
        """Return a formula of the counts of each label, of entries of key and label.

        The sides are the true positives, the predictions, and the gold. Where keys weigh differently, the last two
        follow once more among the sums, each key counting 1.
        """
        sums, number = self.counted(_side_by_side(sides, len(labels)), 3 * len(labels)), 3
        if self.weight is not None:
            plain, number = self.weighing(None).counted(_side_by_side(sides[1:], len(labels)), 2 * len(labels)), 5
            if self.units == 1:
                sums = np.hstack([sums, plain])
            else:
                from scipy.sparse import csr_matrix, hstack

                sums = csr_matrix(hstack([sums, plain]))

        def of_sums(sums: Array) -> Array:
            true, predicted, gold, *of_any_weight = np.split(sums, number, axis=-1)
            return formula(Terms(true, predicted, gold, *(of_any_weight or (predicted, gold))))

        return LabelCounts(sums, of_sums, labels)

    def mean(self, values: ArrayLike) -> Additive:
        """Return the mean of a value of each key."""
        return self.additive(summed.mean, values, np.ones(len(self.unit)))

    def items(self, formula: Callable[[Array, Array], Array], *values: ArrayLike) -> Items:
        """Return a formula of the keys themselves; each value is given for every key."""
        return Items(self.units, self.unit, *self._weighted(values, formula))

    def ordered(self, formula: Callable[[Array, Array], Array], gold: ArrayLike, *predicted: ArrayLike) -> Ordered:
        """Return a formula of the keys' gold and of the order of their predictions, in one column or several."""
        columns, weighted = self._weighted([gold, *predicted], formula)
        return Ordered(self.units, self.unit, columns, weighted, len(predicted))

    def _weighted(self, values: Sequence[ArrayLike], formula: ItemFormula) -> tuple[Array, ItemFormula]:
        """The keys' values as columns, and a formula of them in which each key counts as much as it weighs."""
        if self.weight is None:
            return np.array(values, dtype=np.float64).T, formula

        def of_weighted(values: Array, counts: Array) -> Array:
            return formula(values[:, :-1], counts * values[:, -1])

        return np.array([*values, self.weight], dtype=np.float64).T, of_weighted


def in_one_unit(keys: int, worst: float) -> Keys:
    """Return all keys in a single unit, so that the statistic over it is the metric itself."""
    return Keys(np.zeros(keys, dtype=np.intp), 1, worst)


class Terms(NamedTuple):
    """For each label: true positives, predicted, gold, and in how many answers and gold values it is, of any weight."""

    true: Array
    predicted: Array
    gold: Array
    answered: Array
    there: Array


@dataclass(frozen=True, eq=False)
class LabelCounts(Additive):
    """A metric of the counts of each label, kept sparse: a key has few of many labels.

    The sums are the true positives of each label, then predicted, then gold, and whatever the formula takes besides,
    [units, terms · labels]. Labels that do not occur change nothing, but for declared ones, which come first.

    Attributes:
        labels: their names; no two submissions need the same.
    """

    labels: Sequence[str]

    def joined(self, other: Self) -> Self:
        from scipy.sparse import csr_matrix, vstack

        labels = list(dict.fromkeys([*self.labels, *other.labels]))
        place = dict(zip(labels, count()))
        sums = []
        for one in (self, other):
            places = np.array([place[label] for label in one.labels], dtype=np.intp)
            own = csr_matrix(one.sums).tocoo()
            terms = own.shape[1] // max(1, len(one.labels))
            # where each of its columns goes: term after term, each as wide as the labels of both together
            columns = (places + len(labels) * np.arange(terms)[:, np.newaxis]).ravel()
            shape = (own.shape[0], terms * len(labels))
            sums.append(csr_matrix((own.data, (own.row, columns[own.col])), shape=shape))
        return replace(self, labels=labels, sums=csr_matrix(vstack(sums)))


def _side_by_side(sides: Sequence[Entries], labels: int) -> Entries:
    """Entries of several terms as those of one table, each term in as many columns as there are labels."""
    keys, columns = [], []
    for term, (key, label) in enumerate(sides):
        keys.append(key)
        columns.append(label + term * labels)
    return np.concatenate(keys), np.concatenate(columns)


@dataclass(frozen=True, eq=False)
class Ordered(Items):
    """A metric of gold and predicted items in which nothing but the order of the predictions counts.

    Attributes:
        predicted: how many columns of predictions follow that of the gold.
    """

    predicted: int = 1

    def to_exchange(self) -> Statistic:
        columns = list(self.values.T)
        for place in range(1, 1 + self.predicted):
            columns[place] = mean_ranks(columns[place])
        return Items(self.units, self.unit, np.column_stack(columns), self.formula)


def mean_ranks(values: Array) -> Array:
    """Return the rank of each value from 1, ascending; equal ones share their mean."""
    totals, place = by_value(values, np.ones((1, len(values))))
    of_keys: Array = ranks(totals)[0, place]
    return of_keys


def ranks(totals: Array) -> Array:
    """Return the mean rank of each distinct value that counts so often, both [resamples, distinct]; see `by_value`."""
    # the t places of a value end at the sum so far, and their mean lies (t - 1) / 2 before that
    mean: Array = np.cumsum(totals, axis=1) - (totals - 1) / 2
    return mean


def by_value(values: Array, counts: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return how often each distinct value counts, ascending, [resamples, distinct], and each key's place there.

    Args:
        values: of the keys, shape [keys], at least one.
        counts: how often each key counts, or what it adds instead, shape [resamples, keys].
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # among sorted values a new one begins where one differs from the one before
    is_new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.cumsum(is_new) - 1
    totals = counts[:, order]
    if not is_new.all():
        totals = np.add.reduceat(totals, np.flatnonzero(is_new), axis=1)
    return totals, place
