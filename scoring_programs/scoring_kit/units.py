"""Per-unit results: what each unit of resampling contributes to a metric, so that it can be computed over any of them.

A unit is what was sampled when the test set was made, and stays whole in a resample: a timeline with its posts, a
speaker, a document, a row. How often each unit counts is a row of `counts`, shape [resamples, units]: all ones is the
score itself, a bootstrap sample has numbers from 0 on that add up to the number of units.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[np.float64]"
Limit: TypeAlias = Literal["error", "squared", "root", "sides", "biased"]
"""The limit of intervals of a metric: it is a mean of errors, or of squared ones, or the root of that, which single
units can outweigh; it sets labels of the gold against the others; or its resamples lie beside its value: it has none.
"""
CELLS = 2**17
"""Most cells of the counts of items that are looked at together: 1 MB, which stays in a processor's cache."""


class Statistic(Protocol):
    """The units' contributions to one metric."""

    def over(self, counts: Array) -> Array:
        """Return the metric over each row of `counts`, [resamples, units] → [resamples]; NaN where it is undefined."""
        ...

    def to_exchange(self) -> Statistic:
        """Return the same with answers that another system's can stand in for, whatever scale each writes them on.

        Correlations take z-scores, metrics of an order take ranks; the others depend on the scale, and are as they are.
        Over all units once it is the same metric, but for correlations, which are a little wider: times a constant.
        Source: Deutsch, Dror and Roth, Transactions of the ACL 9, 2021 (PERM-BOTH with standardised scores).
        """
        return self

    def joined(self, other: Self) -> Self:
        """Return the statistic over the units of both, those of `other` last: two systems, ready to exchange units."""
        ...

    def at(self, places: NDArray[np.intp]) -> Self:
        """Return the statistic of the units at these places, each as often as it is named, as units of their own."""
        ...

    def as_sums(self) -> Additive | None:
        """Return the statistic as a formula of sums over units; None where it is none."""
        return None


@dataclass(frozen=True, eq=False)
class Additive(Statistic):
    """A metric that is a formula of sums over units: accuracy, F1, BLEU, a mean.

    Attributes:
        sums: what each unit adds, an array or a sparse matrix of shape [units, terms].
        formula: the metric of summed terms, shape [..., terms] → [...]; NaN where it is undefined. It is the
            same for every submission.

    >>> import numpy as np
    >>> from scoring_kit.metrics.summed import mean
    >>> accuracy = Additive.of([(2, 3), (1, 1)], mean)  # of two units: right, answered
    >>> accuracy.over(np.array([[1, 1], [2, 0]])).round(3).tolist()  # both once; the first twice
    [0.75, 0.667]
    """

    sums: Any
    formula: Callable[[Array], Array]

    @classmethod
    def of(cls, terms: Iterable[Sequence[float]], formula: Callable[[Array], Array]) -> Self:
        """Return the statistic of the terms of each unit, in the order of the units."""
        import numpy as np

        return cls(np.array(list(terms), dtype=np.float64), formula)

    def over(self, counts: Array) -> Array:
        """Return the formula of the summed terms; see `Statistic`."""
        return self.formula(counts @ self.sums)

    def joined(self, other: Self) -> Self:
        import numpy as np

        return replace(self, sums=np.concatenate([self.sums, other.sums]))

    def at(self, places: NDArray[np.intp]) -> Self:
        return replace(self, sums=self.sums[places])

    def as_sums(self) -> Additive:
        return self


def by_unit(names: Sequence[str], owners: Sequence[str], terms: Array) -> Array:
    """Terms of rows, shape [rows, terms], summed by the unit that owns each row: shape [units, terms].

    >>> import numpy as np
    >>> by_unit(["A", "B"], ["B", "A", "B"], np.array([[1.0], [2.0], [3.0]])).tolist()
    [[2.0], [4.0]]
    """
    import numpy as np

    place = {name: i for i, name in enumerate(names)}
    sums = np.zeros((len(names), terms.shape[1]))
    np.add.at(sums, [place[name] for name in owners], terms)
    return sums


@dataclass(frozen=True, eq=False)
class Items(Statistic):
    """A metric of single items that no sum replaces: a rank correlation, a median, an area under a curve.

    Attributes:
        units: how many there are; one may have no item.
        unit: the place of each item's unit, shape [items].
        values: what is known of each item, such as gold and prediction, shape [items, columns].
        formula: the metric of items that count several times: (values, how often each item counts, shape [resamples,
            items]) → [resamples]; NaN where it is undefined.
    """

    units: int
    unit: NDArray[np.intp]
    values: Array
    formula: Callable[[Array, Array], Array]

    def over(self, counts: Array) -> Array:
        """Return the formula over the items of each row of `counts`; see `Statistic`."""
        import numpy as np

        some = max(1, CELLS // max(1, len(self.unit)))
        found = [np.empty(0)]
        for start in range(0, len(counts), some):
            found.append(self.formula(self.values, counts[start : start + some, self.unit]))
        return np.concatenate(found)

    def joined(self, other: Self) -> Self:
        import numpy as np

        return replace(
            self,
            units=self.units + other.units,
            unit=np.concatenate([self.unit, other.unit + self.units]),
            values=np.concatenate([self.values, other.values]),
        )

    def at(self, places: NDArray[np.intp]) -> Self:
        items, unit = items_at(self.unit, places)
        return replace(self, units=len(places), unit=unit, values=self.values[items])


def items_at(unit: NDArray[np.intp], places: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the items of the units at some places, and for each of them which of these places it is at.

    Args:
        unit: the place of each item's unit, shape [items].
        places: some units, any of them several times.
    """
    import numpy as np

    order = np.argsort(unit, kind="stable")
    ordered = unit[order]
    start = np.searchsorted(ordered, places, "left")
    number = np.searchsorted(ordered, places, "right") - start
    within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    return order[np.repeat(start, number) + within], np.repeat(np.arange(len(places)), number)


@dataclass(frozen=True, eq=False)
class ScoredUnits:
    """The units that a metric scores, whatever was submitted.

    Attributes:
        unit: what one of them is, in the singular.
        places: theirs among the task's units, ascending.
    """

    unit: str
    places: Sequence[int] | NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Group:
    """A metric over one group or class of the gold.

    Attributes:
        statistic: over all units of the task.
        units: how many of them have an item of it.
        items: how many items are scored; few enough may give gold away.
        classes: as in `Units`, within the group.
    """

    statistic: Statistic
    units: int
    items: int
    classes: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Units:
    """The per-unit results of a task.

    Attributes:
        unit: what a unit is, in the singular: `timeline`, `row`, `speaker`, `document`.
        names: of the units, in the order of the gold; the same for every submission.
        statistics: by metric, as in `TaskResult.metrics`; a metric of the submission alone has none.
        scored: by metric, the units that it scores; a metric that is not here scores all of them.
        classes: by metric that is a mean over classes or groups of the gold: in how many units each of them is, of
            a list that the competition fixes may have some that are in none.
        limits: by metric, what limits its intervals, if anything does.
        called: the metrics that are functions of the organisers', called anew for each resample.
        groups: by metric, its groups and classes by name, for tables beside the ranking.
    """

    unit: str
    names: Sequence[str]
    statistics: Mapping[str, Statistic]
    scored: Mapping[str, ScoredUnits] = field(default_factory=dict)
    classes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    called: Collection[str] = ()
    groups: Mapping[str, Mapping[str, Group]] = field(default_factory=dict)
