"""The per-unit results of a task: which unit each key belongs to, and what the units add to each column."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from declared.answers import Answers
from declared.expressions import bounded, computed, shown
from declared.metrics import definitions, picked
from declared.metrics.keys import Keys
from declared.metrics.labels import PARTS
from declared.metrics.own import OwnMetricError, own_value
from declared.metrics.per_key import OfKeys
from declared.plan import ColumnSources, ExpressionPlan, Plan
from declared.reference import GoldTable, Reference
from declared.samples import OwnRows, by_label, classes_of, compared, numbers_of, own_rows, scored_groups
from declared.submission import Submission
from declared.tables import Key
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Group, Limit, ScoredUnits, Statistic, Units, items_at

STRICTEST: Sequence[Limit] = ("biased", "squared", "root", "error", "sides")
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PlacedTable:
    """A table with the place of each key's unit.

    Attributes:
        gold: its gold.
        answers: the submission's.
        unit: the place of each key's unit, shape [keys].
        units: how many units the task has.
    """

    gold: GoldTable
    answers: Answers
    unit: Places
    units: int

    def units_at(self, positions: Sequence[int]) -> int:
        """In how many units the keys at these positions are."""
        return len(np.unique(self.unit[positions]))


def units_of(
    columns: ColumnSources,
    reference: Reference,
    submission: Submission,
    of_keys: Mapping[str, OfKeys | None],
) -> Units:
    """Return the per-unit results of a task with these columns.

    A unit is what `reference.cluster` names, or else a key. Where several tables have units of one kind, the same name
    is the same unit. `of_keys` has by column what a function that is called once a key gave, so that none is again.
    """
    every = columns.metrics
    shown, tables = _placed(columns.tables, reference, submission)
    statistics: dict[str, Statistic] = {}
    classes: dict[str, list[int]] = {}
    scored: dict[str, ScoredUnits] = {}
    groups: dict[str, dict[str, Group]] = {}
    called: set[str] = set()
    for plan in every:
        if plan.file is not None and of_keys.get(plan.key) is None:
            called.add(plan.key)
        if not plan.resampled:
            continue
        placed = tables[plan.table]
        of_groups = _parts(plan, tables, of_keys.get(plan.key))
        parts = list(chain.from_iterable(of_groups.values()))
        # a single part that all units have is the metric itself, and needs no mean and no choice of units
        statistics[plan.key], classes[plan.key] = parts[0].over_keys.statistic, []
        if len(parts) > 1 or len(parts[0].over_keys.places) < placed.units:
            statistics[plan.key] = _mean_of(plan, parts)
            places = np.unique(np.concatenate([part.over_keys.places for part in parts]))
            scored[plan.key] = ScoredUnits(placed.gold.table.unit, places)
        if plan.tables:
            continue
        classes[plan.key] = [placed.units_at(positions) for _, positions in classes_of(plan, placed.gold)]
        if plan in columns.own:
            _add_groups(groups, plan, placed, of_groups)
    _add_expressions(columns, statistics, classes)
    for one in columns.made:
        if called.intersection(one.expression.keys):  # needs as long as its part, whose function is called anew
            called.add(one.key)
    words = dict.fromkeys(placed.gold.table.unit for placed in tables.values())
    return Units(" or ".join(words), shown, statistics, scored, classes, _limits(every, columns), called, groups)


def _mean_of(plan: Plan, parts: Sequence["ScoredPart"]) -> "MeanOfParts":
    """The mean over fields and groups; with `by_weight` the mean over fields of the weighted means over groups."""
    if not plan.by_weight:
        return MeanOfParts([part.over_keys for part in parts])
    of_fields: dict[str, tuple[list[PartOfUnits], list[PartOfUnits]]] = {}
    for part in parts:
        metrics, sizes = of_fields.setdefault(part.field, ([], []))
        metrics.append(part.over_keys)
        sizes.append(part.size)
    means = []
    for metrics, sizes in of_fields.values():
        means.append(WeightedMean([*metrics, *sizes]))
    return MeanOfParts(means)


def _limits(metrics: Sequence[Plan], columns: ColumnSources) -> dict[str, Limit]:
    """Return what limits intervals of each column; of one that is made of others, the strictest of theirs."""
    found: dict[str, Limit] = {}
    for plan in metrics:
        if plan.definition is not None and plan.definition.limit is not None:
            found[plan.key] = plan.definition.limit
    for one in columns.made:
        own = [found[key] for key in one.expression.keys if key in found]
        if own:
            found[one.key] = min(own, key=STRICTEST.index)
    return found


def _add_expressions(columns: ColumnSources, statistics: dict[str, Statistic], classes: dict[str, list[int]]) -> None:
    """Add the columns that are made of others, and take away those of other tasks that they are made of."""
    of_keys: dict[str, Plan | ExpressionPlan] = {}
    every: list[Plan | ExpressionPlan] = [*columns.metrics, *columns.made]
    for column in every:
        of_keys[column.key] = column
    for one in columns.made:
        entered = [key for key in one.expression.keys if key not in columns.absent]
        if statistics.keys() >= set(entered):  # else one of them is not resampled
            operands, own = [], []
            sizes: list[int] = []
            for key in entered:
                operands.append(statistics[key])
                own.append(of_keys[key])
                sizes += classes[key]
            statistics[one.key] = OfColumns(operands, one, own, columns.absent)
            classes[one.key] = sizes
    for key in statistics.keys() - set(columns.keys):
        del statistics[key]


def _placed(
    read: Sequence[str], reference: Reference, submission: Submission
) -> tuple[list[str], dict[str, PlacedTable]]:
    """Return what the units are called, and the tables that metrics `read`, by id."""
    number: dict[tuple[str, Key], int] = {}
    unit_of: dict[str, Places] = {}
    kinds = set()
    for own in read:
        gold = reference[own]
        cluster = gold.table.cluster
        kind = cluster or ", ".join(gold.table.key)
        kinds.add(kind)
        names: Iterable[Key] = zip(gold.groups[cluster]) if cluster else gold.keys
        unit_of[own] = np.array([number.setdefault((kind, name), len(number)) for name in names])
    shown = []
    for kind, name in number:
        shown.append(", ".join(name))
        if len(kinds) > 1:
            shown[-1] = f"{kind} {shown[-1]}"
    tables = {}
    for own, unit in unit_of.items():
        tables[own] = PlacedTable(reference[own], submission.tables[own], unit, len(number))
    return shown, tables


def _parts(
    plan: Plan, tables: Mapping[str, PlacedTable], of_keys: OfKeys | None
) -> dict[tuple[str, ...], list["ScoredPart"]]:
    """Group → the metric over its keys: of each field, of all of them together, or as an own function has it."""
    placed = tables[plan.table]
    if plan.tables:
        unit, rows = {}, {}
        for name in plan.tables:
            unit[name], rows[name] = tables[name].unit, own_rows(tables[name].gold, tables[name].answers)
        whole = Recomputed(placed.units, unit, rows, plan)
        return {(): [ScoredPart.of("", placed.units, np.arange(placed.units), whole, np.zeros(placed.units))]}
    groups = scored_groups(plan, placed.gold)
    found: dict[tuple[str, ...], list[ScoredPart]] = {group: [] for group in groups}
    if plan.file is not None:
        rows_of_keys, weight = own_rows(placed.gold, placed.answers), numbers_of(plan, placed.gold, "weight")
        for group, positions in groups.items():
            places, own = np.unique(placed.unit[positions], return_inverse=True)
            function: Statistic
            counted = np.ones(len(positions))
            if of_keys is not None:
                keys = Keys(own, len(places), plan.undefined).weighing(picked(weight, positions))
                function, counted = of_keys.statistic(positions, keys), of_keys.terms[positions, 2]
            else:
                drawn = {plan.table: picked(rows_of_keys, positions)}
                function = Recomputed(len(places), {plan.table: own}, drawn, plan)
            found[group].append(ScoredPart.of("", placed.units, places, function, np.bincount(own, counted)))
        return found
    metric = definitions()[plan.metric]
    for sample, with_gold in compared(plan, placed.gold, placed.answers):
        name = sample.fields[0].name
        for group, positions in with_gold.items():
            places, own = np.unique(placed.unit[positions], return_inverse=True)
            keys = Keys(own, len(places), plan.undefined)
            statistic = metric.statistic(sample.at(positions), plan.options, keys)
            found[group].append(
                ScoredPart.of(name, placed.units, places, statistic, np.bincount(own, np.ones(len(own))))
            )
    return found


def _add_groups(
    groups: dict[str, dict[str, Group]],
    plan: Plan,
    placed: PlacedTable,
    parts: Mapping[tuple[str, ...], Sequence["ScoredPart"]],
) -> None:
    """Add for tables beside the ranking the groups of `by`, or else F1, precision or recall of each label."""
    if plan.by:
        classes = classes_of(plan, placed.gold)
        of_column = groups[plan.key] = {}
        for group, positions in scored_groups(plan, placed.gold).items():
            within = [placed.units_at(own) for of_group, own in classes if of_group == group]
            mean = MeanOfParts([part.over_keys for part in parts[group]])
            of_column[", ".join(group)] = Group(mean, placed.units_at(positions), len(positions), within)
    elif plan.metric in PARTS and len(plan.fields) == 1 and placed.gold.table.field(plan.fields[0]).type != "tags":
        metric = "F1" if plan.metric == "f1" else plan.metric.capitalize()
        name = f"{metric} of each {plan.fields[0]}"
        if name not in groups:
            groups[name] = _labels(plan, placed)


def _labels(plan: Plan, placed: PlacedTable) -> dict[str, Group]:
    (positions,) = scored_groups(plan, placed.gold).values()
    ((sample, _),) = compared(plan, placed.gold, placed.answers)
    sample, every = sample.at(positions), range(len(positions))
    in_gold, in_answers = by_label(sample.gold, every), by_label(sample.predicted, every)
    places, unit = np.unique(placed.unit[positions], return_inverse=True)
    keys = Keys(unit, len(places), plan.worst).weighing(sample.weight)
    found = {}
    for label in sorted(in_gold):
        truth, given = np.zeros((2, len(every)), dtype=bool)
        truth[in_gold[label]] = True
        given[in_answers.get(label, [])] = True
        part = PartOfUnits(placed.units, places, keys.additive(PARTS[plan.metric], truth & given, given, truth))
        items = int(min(truth.sum(), given.sum() or truth.sum()))
        found[label] = Group(MeanOfParts([part]), len(np.unique(unit[truth])), items)
    return found


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """A metric over the keys of one group.

    Attributes:
        field: whose values are compared; empty where they are those of several.
        over_keys: the metric.
        size: how many keys are scored.
    """

    field: str
    over_keys: "PartOfUnits"
    size: "PartOfUnits"

    @classmethod
    def of(cls, field: str, units: int, places: Places, statistic: Statistic, keys: Any) -> Self:
        """Return the part at these places of so many units, each with a number of keys that are scored."""
        size = Additive(np.asarray(keys, dtype=np.float64)[:, np.newaxis], summed.count)
        return cls(field, PartOfUnits(units, places, statistic), PartOfUnits(units, places, size))


@dataclass(frozen=True, eq=False)
class PartOfUnits:
    """A metric over some of so many units: those at `places`, ascending; NaN where none of them is drawn."""

    units: int
    places: Places
    statistic: Statistic

    def over(self, counts: Array) -> Array:
        own = counts[:, self.places]
        # of no unit the formula would be one of zeros, such as 0/0 = 0
        drawn = own.any(axis=1)
        values = np.full(len(counts), np.nan)
        values[drawn] = self.statistic.over(own[drawn])
        return values

    def to_exchange(self) -> "PartOfUnits":
        return replace(self, statistic=self.statistic.to_exchange())

    def joined(self, other: "PartOfUnits") -> "PartOfUnits":
        places = np.concatenate([self.places, other.places + self.units])
        return PartOfUnits(self.units + other.units, places, self.statistic.joined(other.statistic))

    def at(self, places: Places) -> "PartOfUnits":
        # units that are not of this part fall away; one that is named twice stays twice
        inside = np.flatnonzero(np.isin(places, self.places))
        own = np.searchsorted(self.places, places[inside])
        return PartOfUnits(len(places), inside, self.statistic.at(own))

    def as_sums(self) -> Additive | None:
        """Return what each of all the units adds: 1 where it is at one of the places, then its terms."""
        sums = self.statistic.as_sums()
        if sums is None:
            return None
        number = len(self.places)
        own = hstack([np.ones((number, 1)), csr_matrix(sums.sums)])
        # gives every unit a row, of zeros where it is not of this part
        place = csr_matrix((np.ones(number), (self.places, np.arange(number))), shape=(self.units, number))

        def where_drawn(terms: Array) -> Array:
            values = np.full(len(terms), np.nan)
            drawn = terms[:, 0] > 0
            values[drawn] = sums.formula(terms[drawn, 1:])
            return values

        return Additive(place @ own, where_drawn)


@dataclass(frozen=True, eq=False)
class Composed(ABC):
    """A metric that is made of the values of several statistics."""

    parts: Sequence[Statistic]

    @abstractmethod
    def whole(self, values: Sequence[Array], resamples: int) -> Array:
        """Return what the parts' values make, of shape [resamples] each."""

    def over(self, counts: Array) -> Array:
        return self.whole([part.over(counts) for part in self.parts], len(counts))

    def to_exchange(self) -> Self:
        return replace(self, parts=[part.to_exchange() for part in self.parts])

    def joined(self, other: Self) -> Self:
        return replace(self, parts=[one.joined(two) for one, two in zip(self.parts, other.parts, strict=True)])

    def at(self, places: Places) -> Self:
        return replace(self, parts=[part.at(places) for part in self.parts])

    def as_sums(self) -> Additive | None:
        """Return all parts' terms side by side, where every part is a formula of sums."""
        sums, formulas, widths = [], [], []
        for part in self.parts:
            own = part.as_sums()
            if own is None:
                return None
            sums.append(csr_matrix(own.sums))
            formulas.append(own.formula)
            widths.append(sums[-1].shape[1])
        if not sums:
            return None

        def of_parts(terms: Array) -> Array:
            of_each = zip(formulas, np.split(terms, np.cumsum(widths)[:-1], axis=1), strict=True)
            return self.whole([formula(own) for formula, own in of_each], len(terms))

        return Additive(csr_matrix(hstack(sums)), of_parts)


@dataclass(frozen=True, eq=False)
class MeanOfParts(Composed):
    """The mean of a metric over fields and groups; a part that the gold drawn leaves undefined is left out."""

    @staticmethod
    def whole(values: Sequence[Array], resamples: int) -> Array:
        of_parts = np.stack(values, axis=1)
        return summed.mean_where(of_parts, ~np.isnan(of_parts))


@dataclass(frozen=True, eq=False)
class WeightedMean(Composed):
    """The mean of a metric over groups, each weighing as much as the keys of it that are drawn: metrics, then sizes."""

    @staticmethod
    def whole(values: Sequence[Array], resamples: int) -> Array:
        of_groups, sizes = np.split(np.stack(values, axis=1), 2, axis=1)
        # a group that is undefined weighs nothing
        sizes = np.where(np.isnan(of_groups), 0.0, np.nan_to_num(sizes))
        return summed.quotient((np.nan_to_num(of_groups) * sizes).sum(axis=1), sizes.sum(axis=1), undefined=np.nan)


@dataclass(frozen=True, eq=False)
class OfColumns(Composed):
    """The statistic of an expression, NaN where one of its columns is.

    Attributes:
        plan: what it is.
        columns: those whose statistics the parts are.
        absent: key → the score of each column of a task that the submission does not enter.
    """

    plan: ExpressionPlan
    columns: Sequence[Plan | ExpressionPlan]
    absent: Mapping[str, float]

    def whole(self, values: Sequence[Array], resamples: int) -> Array:
        every = {}
        for key, worst in self.absent.items():
            every[key] = np.full(resamples, float(worst))
        undefined = np.zeros(resamples, dtype=bool)
        for column, own in zip(self.columns, values, strict=True):
            every[column.key] = bounded(own, column)
            undefined |= np.isnan(own)
        found = shown(computed(self.plan.expression, every, resamples), self.plan)
        return np.where(undefined, np.nan, found)

    def joined(self, other: "OfColumns") -> "OfColumns":
        """See `Statistic`; a column that one of the two did not enter has its worst value for both."""
        entered = {column.key: part for column, part in zip(other.columns, other.parts, strict=True)}
        columns, parts = [], []
        for column, part in zip(self.columns, self.parts, strict=True):
            if column.key in entered:
                columns.append(column)
                parts.append(part.joined(entered[column.key]))
        return OfColumns(parts, self.plan, columns, {**self.absent, **other.absent})


@dataclass(frozen=True, eq=False)
class Recomputed(Statistic):
    """An own function, called with the rows of the keys that are drawn, each as often as it counts.

    Attributes:
        units: how many there are.
        places: for each table the place of each key's unit, shape [keys].
        rows: for each table the rows of its keys.
        plan: the column, whose function it is.
    """

    units: int
    places: Mapping[str, Places]
    rows: Mapping[str, OwnRows]
    plan: Plan

    def over(self, counts: Array) -> Array:
        return np.array([self._value(row.astype(np.intp)) for row in counts])

    def _value(self, counts: Any) -> float:
        drawn = {}
        for name, rows in self.rows.items():
            often = counts[self.places[name]]
            drawn[name] = picked(rows, np.repeat(np.arange(len(often)), often).tolist())
        try:
            value = own_value(self.plan, drawn)
        except OwnMetricError:
            return self.plan.worst
        return self.plan.undefined if np.isnan(value) else value

    def joined(self, other: Self) -> Self:
        places, rows = {}, {}
        for name, own in self.places.items():
            places[name] = np.concatenate([own, other.places[name] + self.units])
            rows[name] = [*self.rows[name], *other.rows[name]]
        return replace(self, units=self.units + other.units, places=places, rows=rows)

    def at(self, places: Places) -> Self:
        units, rows = {}, {}
        for name, own in self.places.items():
            keys, units[name] = items_at(own, places)
            rows[name] = picked(self.rows[name], keys.tolist())
        return replace(self, units=len(places), places=units, rows=rows)
