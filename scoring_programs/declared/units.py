"""The per-unit results of a task: which unit each key belongs to, and what the units add to each column."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from declared.answers import Answers
from declared.expressions import bounded, computed, shown
from declared.metrics import definitions
from declared.metrics.keys import Keys
from declared.metrics.labels import PARTS
from declared.metrics.numbers import SQUARED
from declared.metrics.own import OwnMetricError, own_value
from declared.plan import ColumnSources, ExpressionPlan, Plan
from declared.reference import GoldTable, Reference
from declared.samples import OwnRows, classes_of, own_rows, samples_of, scored_by_sample, scored_groups
from declared.submission import Submission
from declared.tables import Key, Table
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Group, ScoredUnits, Statistic, Units

Places = NDArray[np.intp]
Formula = Callable[[Array], Array]


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


def units_of(columns: ColumnSources, reference: Reference, submission: Submission) -> Units:
    """The per-unit results of a task with these columns.

    A unit is what `reference.cluster` names, or else a key. Where several tables have units of one kind, the same name
    is the same unit.
    """
    every = [*columns.own, *columns.beside]
    shown, tables = _placed(every, reference, submission)
    statistics: dict[str, Statistic] = {}
    classes: dict[str, list[int]] = {}
    scored, operands = {}, {}
    for plan in every:
        if not plan.resampled:
            continue
        placed, statistic = tables[plan.table], _column(plan, tables)
        statistics[plan.key], operands[plan.key] = statistic, Operand(statistic, plan)
        classes[plan.key] = [] if plan.tables else _classes(plan, placed)
        if isinstance(statistic, MeanOfParts):
            scored[plan.key] = ScoredUnits(placed.gold.table.unit, statistic.places)
    for one in columns.made:
        parts = {key: operands[key] for key in one.expression.keys if key in operands}
        if set(one.expression.keys) <= {*parts, *columns.absent}:  # else one of them is not resampled
            statistics[one.key] = OfColumns(one, parts, columns.absent)
            operands[one.key] = Operand(statistics[one.key], one)
            classes[one.key] = list(chain.from_iterable(classes[key] for key in parts))
    for key in statistics.keys() - set(columns.keys):
        del statistics[key]
    words = dict.fromkeys(one.gold.table.unit for one in tables.values())
    groups = dict(_groups_of(columns.own, tables))
    return Units(" or ".join(words), shown, statistics, scored, classes, _squared(columns), groups)


def _squared(columns: ColumnSources) -> set[str]:
    """The columns that are made of squared errors, themselves or by an expression."""
    found = {plan.key for plan in (*columns.own, *columns.beside) if plan.metric in SQUARED}
    for one in columns.made:
        if found.intersection(one.expression.keys):
            found.add(one.key)
    return found


def _classes(plan: Plan, placed: PlacedTable) -> list[int]:
    """In how many units each class or group is that the metric is a mean over."""
    return [len(np.unique(placed.unit[positions])) for positions in classes_of(plan, placed.gold).values()]


def _placed(
    plans: Sequence[Plan], reference: Reference, submission: Submission
) -> tuple[list[str], dict[str, PlacedTable]]:
    """What the units are called, and the tables that metrics read, by id."""
    read = dict.fromkeys(name for plan in plans for name in plan.all_tables)
    golds = [reference.tables[name] for name in read]
    kinds = list(dict.fromkeys(_kind(gold.table) for gold in golds))
    names: dict[tuple[str, Key], int] = {}
    unit_of = {}
    for gold in golds:
        kind = _kind(gold.table)
        unit_of[gold.table.id] = np.array([names.setdefault((kind, name), len(names)) for name in _names(gold)])
    shown = [", ".join(name) if len(kinds) == 1 else f"{kind} {', '.join(name)}" for kind, name in names]
    tables = {}
    for gold in golds:
        own = gold.table.id
        tables[own] = PlacedTable(gold, submission.tables[own], unit_of[own], len(names))
    return shown, tables


def _groups_of(plans: Sequence[Plan], tables: Mapping[str, PlacedTable]) -> Iterator[tuple[str, dict[str, Group]]]:
    """For tables beside the ranking: the groups of `by`, or the labels, of each column that has some."""
    given = set()
    for plan in plans:
        if plan.tables or not plan.resampled:
            continue
        name = plan.key
        if not plan.by:
            metric = "F1" if plan.metric == "f1" else plan.metric.capitalize()
            name = f"{metric} of each {', '.join(plan.fields[:1]) or plan.key}"
        groups = _groups(plan, tables[plan.table]) if name not in given else {}
        if groups:
            given.add(name)
            yield name, groups


def _kind(table: Table) -> str:
    return table.cluster or ", ".join(table.key)


def _names(gold: GoldTable) -> Sequence[Key]:
    cluster = gold.table.cluster
    return [(name,) for name in gold.groups[cluster]] if cluster else gold.keys


def _column(plan: Plan, tables: Mapping[str, PlacedTable]) -> Statistic:
    """The statistic of a column: the metric in each group and field, then their mean."""
    units = tables[plan.table].units
    if plan.tables:
        read = {name: tables[name] for name in plan.tables}
        places = {name: one.unit for name, one in read.items()}
        return Recomputed(units, places, {name: own_rows(one.gold, one.answers) for name, one in read.items()}, plan)
    parts = [part for _, of_group in _parts(plan, tables[plan.table]) for part in of_group]
    if len(parts) == 1 and len(parts[0].places) == units:
        return parts[0].statistic
    return MeanOfParts(units, parts)


def _parts(plan: Plan, placed: PlacedTable) -> Iterator[tuple[str, list["PartOfUnits"]]]:
    """The metric over the keys of each group: of each field, of all of them together, or as an own function has it."""
    if plan.file is not None:
        rows = own_rows(placed.gold, placed.answers)
        for group, positions in scored_groups(plan, placed.gold).items():
            places, unit = np.unique(placed.unit[positions], return_inverse=True)
            own = Recomputed(len(places), {plan.table: unit}, {plan.table: rows.at(positions)}, plan)
            yield ", ".join(group), [PartOfUnits(places, own)]
        return
    metric, by_sample = definitions()[plan.metric], scored_by_sample(plan, placed.gold)
    samples = list(zip(samples_of(plan, placed.gold, placed.answers), by_sample, strict=True))
    for group in scored_groups(plan, placed.gold):
        parts = []
        for sample, groups in samples:
            if group in groups:
                places, unit = np.unique(placed.unit[groups[group]], return_inverse=True)
                keys = Keys(unit, len(places), plan.undefined)
                parts.append(PartOfUnits(places, metric.statistic(sample.at(groups[group]), plan.options, keys)))
        yield ", ".join(group), parts


def _groups(plan: Plan, placed: PlacedTable) -> dict[str, Group]:
    """The metric in each group of `by`, or else F1, precision or recall of each label of the gold."""
    if not plan.by:
        return _labels(plan, placed) if plan.metric in PARTS and len(plan.fields) == 1 else {}
    found = {}
    classes = classes_of(plan, placed.gold)
    groups = scored_groups(plan, placed.gold).items()
    for (name, parts), (group, positions) in zip(_parts(plan, placed), groups, strict=True):
        units = len(np.unique(placed.unit[positions]))
        of_group = [own for key, own in classes.items() if len(key) == 3 and key[1] == group]
        within = [len(np.unique(placed.unit[own])) for own in of_group]
        found[name] = Group(MeanOfParts(placed.units, parts), units, len(positions), within)
    return found


def _labels(plan: Plan, placed: PlacedTable) -> dict[str, Group]:
    (positions,) = scored_groups(plan, placed.gold).values()
    (sample,) = [one.at(positions) for one in samples_of(plan, placed.gold, placed.answers)]
    gold, predicted = list(map(_as_set, sample.gold)), list(map(_as_set, sample.predicted))
    places, unit = np.unique(placed.unit[positions], return_inverse=True)
    keys = Keys(unit, len(places), plan.worst).weighing(sample.weight)
    found = {}
    for label in sorted(set().union(*gold)):
        truth = np.array([label in labels for labels in gold])
        given = np.array([label in labels for labels in predicted])
        part = PartOfUnits(places, keys.additive(PARTS[plan.metric], truth & given, given, truth))
        items = int(min(truth.sum(), given.sum() or truth.sum()))
        found[label] = Group(MeanOfParts(placed.units, [part]), len(np.unique(unit[truth])), items)
    return found


def _as_set(value: str | frozenset[str] | None) -> frozenset[str]:
    if isinstance(value, frozenset):
        return value
    return frozenset() if value is None else frozenset([value])


@dataclass(frozen=True, eq=False)
class PartOfUnits:
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

    def to_exchange(self) -> "PartOfUnits":
        return PartOfUnits(self.places, self.statistic.to_exchange())


@dataclass(frozen=True, eq=False)
class MeanOfParts:
    """The mean of a metric over fields and groups; a part that the gold drawn leaves undefined is left out."""

    units: int
    parts: Sequence[PartOfUnits]

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
            PartOfUnits(np.concatenate([one.places, two.places + self.units]), one.statistic.joined(two.statistic))
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
            drawn[name] = rows.at(np.repeat(np.arange(len(often)), often).tolist())
        try:
            value = own_value(self.plan, drawn)
        except OwnMetricError:
            return self.plan.worst
        return self.plan.undefined if np.isnan(value) else value

    def to_exchange(self) -> "Recomputed":
        return self

    def joined(self, other: "Recomputed") -> "Recomputed":
        places = {name: np.concatenate([own, other.places[name] + self.units]) for name, own in self.places.items()}
        rows = {name: own.joined(other.rows[name]) for name, own in self.rows.items()}
        return Recomputed(self.units + other.units, places, rows, self.plan)

    def as_sums(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class Operand:
    """A column of an expression, and its statistic."""

    statistic: Statistic
    plan: Plan | ExpressionPlan


@dataclass(frozen=True, eq=False)
class OfColumns:
    """The statistic of an expression.

    Attributes:
        plan: what it is.
        operands: key → column.
        absent: key → the score of each column of a task that the submission does not enter.
    """

    plan: ExpressionPlan
    operands: Mapping[str, Operand]
    absent: Mapping[str, float]

    def over(self, counts: Array) -> Array:
        return self.of({key: one.statistic.over(counts) for key, one in self.operands.items()}, len(counts))

    def of(self, values: Mapping[str, Array], resamples: int) -> Array:
        """The expression of its columns' values, [resamples] each; NaN where one of them is NaN."""
        every = {key: np.full(resamples, float(worst)) for key, worst in self.absent.items()}
        undefined = np.zeros(resamples, dtype=bool)
        for key, own in values.items():
            every[key] = bounded(own, self.operands[key].plan)
            undefined |= np.isnan(own)
        found = shown(computed(self.plan.expression, every, resamples), self.plan)
        return np.where(undefined, np.nan, found)

    def to_exchange(self) -> "OfColumns":
        return self._with({key: one.statistic.to_exchange() for key, one in self.operands.items()})

    def joined(self, other: "OfColumns") -> "OfColumns":
        """See `Statistic`; a column that one of the two did not enter has its worst value for both."""
        both = {key: one for key, one in self.operands.items() if key in other.operands}
        together = {key: one.statistic.joined(other.operands[key].statistic) for key, one in both.items()}
        return replace(self._with(together), absent={**self.absent, **other.absent})

    def as_sums(self) -> Additive | None:
        """Where every column is a formula of sums: the terms of all of them."""
        sums = {key: own for key, one in self.operands.items() if (own := one.statistic.as_sums()) is not None}
        if not sums or len(sums) < len(self.operands):
            return None
        ends = np.cumsum([own.sums.shape[1] for own in sums.values()])
        formulas = {key: own.formula for key, own in sums.items()}
        terms = hstack([csr_matrix(own.sums) for own in sums.values()])
        return Additive(csr_matrix(terms), partial(_of_sums, whole=self, formulas=formulas, ends=ends[:-1]))

    def _with(self, statistics: Mapping[str, Statistic]) -> "OfColumns":
        operands = {key: replace(self.operands[key], statistic=one) for key, one in statistics.items()}
        return replace(self, operands=operands)


def _of_sums(sums: Array, whole: OfColumns, formulas: Mapping[str, Formula], ends: Any) -> Array:
    """An expression from the summed terms of its columns, [resamples, terms]."""
    parts = zip(formulas.items(), np.split(sums, ends, axis=1), strict=True)
    return whole.of({key: formula(own) for (key, formula), own in parts}, len(sums))
