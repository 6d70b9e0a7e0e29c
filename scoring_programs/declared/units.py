"""The per-unit results of a task: which unit each key belongs to, and what the units add to each column."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from declared.answers import Answers
from declared.metrics import definitions
from declared.metrics.keys import Keys
from declared.metrics.labels import PARTS
from declared.metrics.own import Own, OwnMetricError, own_function, own_value
from declared.plan import Plan
from declared.reference import GoldTable, Reference
from declared.samples import classes_of, own_rows, samples_of, scored_groups
from declared.submission import Submission
from declared.tables import Key, Table
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Group, ScoredUnits, Statistic, Units

Places = NDArray[np.intp]
Pair = tuple[Any, Any]
Formula = Callable[[Array], Array]


def units_of(plans: Sequence[Plan], reference: Reference, submission: Submission) -> Units:
    """The per-unit results of a task with these columns.

    A unit is what `reference.cluster` names, or else a key. Where several tables have units of one kind, the same name
    is the same unit.
    """
    tables = [reference.tables[name] for name in dict.fromkeys(plan.table for plan in plans)]
    kinds = list(dict.fromkeys(_kind(gold.table) for gold in tables))
    names: dict[tuple[str, Key], int] = {}
    unit_of = {
        gold.table.id: np.array([names.setdefault((_kind(gold.table), name), len(names)) for name in _names(gold)])
        for gold in tables
    }
    shown = [", ".join(name) if len(kinds) == 1 else f"{kind} {', '.join(name)}" for kind, name in names]
    plans = [plan for plan in plans if plan.definition is None or plan.definition.resampled]
    statistics = {
        plan.key: _column(
            plan, reference.tables[plan.table], submission.tables[plan.table], unit_of[plan.table], len(names)
        )
        for plan in plans
    }
    scored = {
        plan.key: ScoredUnits(reference.tables[plan.table].table.unit, statistic.places)
        for plan, statistic in zip(plans, statistics.values(), strict=True)
        if isinstance(statistic, MeanOfParts)
    }
    classes = {}
    for plan in plans:
        found = classes_of(plan, reference.tables[plan.table])
        classes[plan.key] = [len(np.unique(unit_of[plan.table][positions])) for positions in found.values()]
    words = dict.fromkeys(gold.table.unit for gold in tables)
    groups: dict[str, dict[str, Group]] = {}
    for plan in plans:
        table = plan.table
        own = _groups(plan, reference.tables[table], submission.tables[table], unit_of[table], len(names))
        groups.setdefault(plan.key if plan.by else _of_each(plan), own)
    groups = {name: own for name, own in groups.items() if own}
    return Units(" or ".join(words), shown, statistics, scored, classes, groups)


def _of_each(plan: Plan) -> str:
    """What the figures of a metric's labels are called."""
    metric = "F1" if plan.metric == "f1" else plan.metric.capitalize()
    return f"{metric} of each {plan.fields[0] if plan.fields else plan.key}"


def _kind(table: Table) -> str:
    return table.cluster or ", ".join(table.key)


def _names(gold: GoldTable) -> Sequence[Key]:
    return [(name,) for name in gold.groups[gold.table.cluster]] if gold.table.cluster else gold.keys


def _column(plan: Plan, gold: GoldTable, answers: Answers, unit_of: Places, units: int) -> Statistic:
    """The statistic of a column: the metric in each group and field, then their mean."""
    parts = []
    for positions in scored_groups(plan, gold).values():
        places, unit = np.unique(unit_of[positions], return_inverse=True)
        keys = Keys(unit, len(places), plan.undefined)
        parts += [Part(places, one) for one in _statistics(plan, gold, answers, positions, keys)]
    if len(parts) == 1 and len(parts[0].places) == units:
        return parts[0].statistic
    return MeanOfParts(units, parts)


def _groups(plan: Plan, gold: GoldTable, answers: Answers, unit_of: Places, units: int) -> dict[str, Group]:
    """The metric in each group of `by`, or else F1, precision or recall of each label of the gold."""
    found = {}
    for group, positions in scored_groups(plan, gold).items() if plan.by else ():
        places, unit = np.unique(unit_of[positions], return_inverse=True)
        keys = Keys(unit, len(places), plan.worst)
        parts = [Part(places, one) for one in _statistics(plan, gold, answers, positions, keys)]
        found[", ".join(group)] = Group(MeanOfParts(units, parts), len(places), len(positions))
    if plan.by or plan.metric not in PARTS or len(plan.fields) > 1:
        return found
    (positions,) = scored_groups(plan, gold).values()
    (sample,) = samples_of(plan, gold, answers)
    sides = [[_as_set(side[i]) for i in positions] for side in (sample.gold, sample.predicted)]
    places, unit = np.unique(unit_of[positions], return_inverse=True)
    keys = Keys(unit, len(places), plan.worst)
    for label in sorted(set().union(*sides[0])):
        truth, given = (np.array([label in labels for labels in side]) for side in sides)
        statistic = keys.additive(PARTS[plan.metric], truth & given, given, truth)
        own = len(np.unique(unit[truth]))
        items = int(min(truth.sum(), given.sum() or truth.sum()))
        found[label] = Group(MeanOfParts(units, [Part(places, statistic)]), own, items)
    return found


def _as_set(value: str | frozenset[str] | None) -> frozenset[str]:
    if isinstance(value, frozenset):
        return value
    return frozenset() if value is None else frozenset([value])


def _statistics(plan: Plan, gold: GoldTable, answers: Answers, positions: Sequence[int], keys: Keys) -> list[Statistic]:
    """One for each field, or for all of them together."""
    if plan.file is not None:
        pairs = list(zip(*own_rows(gold, answers), strict=True))
        value = partial(_own_value, plan=plan, function=own_function(plan.file, plan.metric))
        return [Recomputed(keys.units, keys.unit, [pairs[i] for i in positions], value)]
    samples = samples_of(plan, gold, answers)
    metric = definitions()[plan.metric]
    return [metric.statistic(sample.at(positions), plan.options, keys) for sample in samples]


def _own_value(pairs: Sequence[Pair], plan: Plan, function: Own) -> float:
    gold, predicted = zip(*pairs, strict=True)
    try:
        value = own_value(plan, function, gold, predicted)
    except OwnMetricError:
        return plan.worst
    return plan.undefined if np.isnan(value) else value


@dataclass(frozen=True, eq=False)
class Part:
    """A metric over some of the units: those at `places`, ascending."""

    places: Places
    statistic: Statistic

    def over(self, counts: Array) -> Array:
        """The metric; NaN where no unit is drawn, too."""
        own = counts[:, self.places]
        drawn = own.any(axis=1)
        values = np.full(len(counts), np.nan)
        values[drawn] = self.statistic.over(own[drawn])
        return values

    def to_exchange(self) -> "Part":
        return Part(self.places, self.statistic.to_exchange())


@dataclass(frozen=True, eq=False)
class MeanOfParts:
    """The mean of a metric over fields and groups; a part that the gold drawn leaves undefined is left out."""

    units: int
    parts: Sequence[Part]

    @property
    def places(self) -> Places:
        """Of the units that some part scores, ascending."""
        return np.unique(np.concatenate([part.places for part in self.parts]))

    def over(self, counts: Array) -> Array:
        return _mean(np.column_stack([part.over(counts) for part in self.parts]))

    def to_exchange(self) -> "MeanOfParts":
        return MeanOfParts(self.units, [part.to_exchange() for part in self.parts])

    def joined(self, other: "MeanOfParts") -> "MeanOfParts":
        parts = [
            Part(np.concatenate([one.places, two.places + self.units]), one.statistic.joined(two.statistic))
            for one, two in zip(self.parts, other.parts, strict=True)
        ]
        return MeanOfParts(self.units + other.units, parts)

    def as_sums(self) -> Additive | None:
        """Where every part is a formula of sums: for each part the number of its units, then its terms."""
        parts = [part.statistic.as_sums() for part in self.parts]
        sums = [part for part in parts if part is not None]
        if len(sums) < len(parts):
            return None
        terms = [_at_places(own.sums, part.places, self.units) for own, part in zip(sums, self.parts, strict=True)]
        ends = np.cumsum([own.shape[1] for own in terms])
        formula = partial(_mean_of_formulas, formulas=[own.formula for own in sums], ends=ends[:-1])
        return Additive(csr_matrix(hstack(terms)), formula)


def _at_places(sums: Any, places: Places, units: int) -> Any:
    """What each of all the units adds: 1 where it is at one of the places, then its terms."""
    own = hstack([np.ones((len(places), 1)), csr_matrix(sums)])
    place = csr_matrix((np.ones(len(places)), (places, np.arange(len(places)))), shape=(units, len(places)))
    return place @ own


def _mean_of_formulas(sums: Array, formulas: Sequence[Formula], ends: Any) -> Array:
    """The mean of the parts' formulas, from summed terms [resamples, terms]; a part without a unit is left out."""
    values = np.full((len(sums), len(formulas)), np.nan)
    for place, (formula, own) in enumerate(zip(formulas, np.split(sums, ends, axis=1), strict=True)):
        drawn = own[:, 0] > 0
        values[drawn, place] = formula(own[drawn, 1:])
    return _mean(values)


def _mean(values: Array) -> Array:
    """The mean of the parts' values, shape [resamples, parts], that are defined."""
    return summed.mean_where(values, ~np.isnan(values))


@dataclass(frozen=True, eq=False)
class Recomputed:
    """An own function, called with the rows of the keys that are drawn, each as often as it counts.

    Attributes:
        units: how many there are.
        unit: the place of each key's unit, shape [keys].
        pairs: the gold and predicted rows of each key.
        value: the function of such pairs.
    """

    units: int
    unit: Places
    pairs: Sequence[Pair]
    value: Callable[[Sequence[Pair]], float]

    def over(self, counts: Array) -> Array:
        drawn = (np.repeat(np.arange(len(row)), row).tolist() for row in counts[:, self.unit].astype(np.intp))
        return np.array([self.value([self.pairs[i] for i in places]) for places in drawn])

    def to_exchange(self) -> "Recomputed":
        return self

    def joined(self, other: "Recomputed") -> "Recomputed":
        unit = np.concatenate([self.unit, other.unit + self.units])
        return Recomputed(self.units + other.units, unit, [*self.pairs, *other.pairs], self.value)

    def as_sums(self) -> None:
        return None
