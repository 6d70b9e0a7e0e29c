"""The per-unit results of a task: which unit each key belongs to, and what the units add to each column."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import itemgetter
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
from declared.samples import OwnRows, classes_of, compared, labels_of, own_rows, scored_groups
from declared.submission import Submission
from declared.tables import Key
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

    def units_at(self, positions: Sequence[int]) -> int:
        """In how many units the keys at these positions are."""
        return len(np.unique(self.unit[positions]))


def units_of(columns: ColumnSources, reference: Reference, submission: Submission) -> Units:
    """The per-unit results of a task with these columns.

    A unit is what `reference.cluster` names, or else a key. Where several tables have units of one kind, the same name
    is the same unit.
    """
    every = [*columns.own, *columns.beside]
    shown, tables = _placed(every, reference, submission)
    statistics: dict[str, Statistic] = {}
    classes: dict[str, list[int]] = {}
    scored: dict[str, ScoredUnits] = {}
    operands: dict[str, Operand] = {}
    for plan in every:
        if not plan.resampled:
            continue
        placed, statistic = tables[plan.table], _column(plan, tables)
        statistics[plan.key], operands[plan.key] = statistic, Operand(plan, statistic)
        classes[plan.key] = _classes(plan, placed)
        if isinstance(statistic, MeanOfParts):
            scored[plan.key] = ScoredUnits(placed.gold.table.unit, statistic.places)
    for one in columns.made:
        entered = [key for key in one.expression.keys if key not in columns.absent]
        if operands.keys() >= set(entered):  # else one of them is not resampled
            statistics[one.key] = OfColumns(one, list(map(operands.__getitem__, entered)), columns.absent)
            operands[one.key] = Operand(one, statistics[one.key])
            classes[one.key] = list(chain(*map(classes.__getitem__, entered)))
    for key in statistics.keys() - set(columns.keys):
        del statistics[key]
    words = dict.fromkeys(one.gold.table.unit for one in tables.values())
    groups = _groups_of(columns.own, tables)
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
    if plan.tables:
        return []
    return [placed.units_at(positions) for _, positions in classes_of(plan, placed.gold)]


def _placed(
    plans: Sequence[Plan], reference: Reference, submission: Submission
) -> tuple[list[str], dict[str, PlacedTable]]:
    """What the units are called, and the tables that metrics read, by id."""
    number: dict[tuple[str, Key], int] = {}
    unit_of: dict[str, Places] = {}
    for own in dict.fromkeys(chain(*(plan.all_tables for plan in plans))):
        gold = reference.tables[own]
        cluster = gold.table.cluster
        kind = cluster or ", ".join(gold.table.key)
        names: Iterable[Key] = zip(gold.groups[cluster]) if cluster else gold.keys
        unit_of[own] = np.array([number.setdefault((kind, name), len(number)) for name in names])
    has_one_kind = len(set(map(itemgetter(0), number))) <= 1
    shown = []
    for kind, name in number:
        shown.append(", ".join(name))
        if not has_one_kind:
            shown[-1] = f"{kind} {shown[-1]}"
    tables = {}
    for own, unit in unit_of.items():
        tables[own] = PlacedTable(reference.tables[own], submission.tables[own], unit, len(number))
    return shown, tables


def _groups_of(plans: Sequence[Plan], tables: Mapping[str, PlacedTable]) -> dict[str, dict[str, Group]]:
    """For tables beside the ranking: the groups of `by`, or the labels, of each column that has some."""
    found: dict[str, dict[str, Group]] = {}
    for plan in plans:
        if plan.tables or not plan.resampled:
            continue
        name = plan.key
        if not plan.by:
            metric = "F1" if plan.metric == "f1" else plan.metric.capitalize()
            name = f"{metric} of each {', '.join(plan.fields[:1]) or plan.key}"
        if name in found:
            continue
        groups = _groups(plan, tables[plan.table])
        if groups:
            found[name] = groups
    return found


def _column(plan: Plan, tables: Mapping[str, PlacedTable]) -> Statistic:
    """The statistic of a column: the metric in each group and field, then their mean."""
    units = tables[plan.table].units
    if plan.tables:
        places, rows = {}, {}
        for name in plan.tables:
            places[name], rows[name] = tables[name].unit, own_rows(tables[name].gold, tables[name].answers)
        return Recomputed(units, places, rows, plan)
    parts: list[PartOfUnits] = []
    for _, of_group in _parts(plan, tables[plan.table]):
        parts += of_group
    if len(parts) == 1 and len(parts[0].places) == units:
        return parts[0].statistic
    return MeanOfParts(units, parts)


def _parts(plan: Plan, placed: PlacedTable) -> Iterator[tuple[str, list["PartOfUnits"]]]:
    """The metric over the keys of each group: of each field, of all of them together, or as an own function has it."""
    if plan.file is not None:
        rows = own_rows(placed.gold, placed.answers)
        for group, positions in scored_groups(plan, placed.gold).items():
            places, unit = np.unique(placed.unit[positions], return_inverse=True)
            own = Recomputed(len(places), {plan.table: unit}, {plan.table: [rows[i] for i in positions]}, plan)
            yield ", ".join(group), [PartOfUnits(places, own)]
        return
    metric, samples = definitions()[plan.metric], compared(plan, placed.gold, placed.answers)
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
        within = [placed.units_at(own) for of_group, own in classes if of_group == group]
        mean = MeanOfParts(placed.units, parts)
        found[name] = Group(mean, placed.units_at(positions), len(positions), within)
    return found


def _labels(plan: Plan, placed: PlacedTable) -> dict[str, Group]:
    (positions,) = scored_groups(plan, placed.gold).values()
    ((sample, _),) = compared(plan, placed.gold, placed.answers)
    sample = sample.at(positions)
    gold, predicted = list(map(labels_of, sample.gold)), list(map(labels_of, sample.predicted))
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

    def joined(self, other: "PartOfUnits", units: int) -> "PartOfUnits":
        """The metric over the units of both, those of `other` after so many."""
        return PartOfUnits(np.concatenate([self.places, other.places + units]), self.statistic.joined(other.statistic))


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
        return _mean([part.over(counts) for part in self.parts], len(counts))

    def to_exchange(self) -> "MeanOfParts":
        return MeanOfParts(self.units, [part.to_exchange() for part in self.parts])

    def joined(self, other: "MeanOfParts") -> "MeanOfParts":
        parts = [one.joined(two, self.units) for one, two in zip(self.parts, other.parts, strict=True)]
        return MeanOfParts(self.units + other.units, parts)

    def as_sums(self) -> Additive | None:
        """Where every part is a formula of sums: for each part the number of its units, then its terms."""
        parts = []
        for part in self.parts:
            own = part.statistic.as_sums()
            if own is None:
                return None
            terms = _at_places(own.sums, part.places, self.units)
            parts.append(Additive(terms, partial(_where_drawn, formula=own.formula)))
        return _side_by_side(parts, _mean)


def _at_places(sums: Any, places: Places, units: int) -> Any:
    """What each of all the units adds: 1 where it is at one of the places, then its terms."""
    own = hstack([np.ones((len(places), 1)), csr_matrix(sums)])
    place = csr_matrix((np.ones(len(places)), (places, np.arange(len(places)))), shape=(units, len(places)))
    return place @ own


def _where_drawn(sums: Array, formula: Formula) -> Array:
    """A formula of the terms after the first, which is how many units are drawn; undefined where none is."""
    values = np.full(len(sums), np.nan)
    drawn = sums[:, 0] > 0
    values[drawn] = formula(sums[drawn, 1:])
    return values


def _side_by_side(parts: Sequence[Additive], whole: Callable[[Sequence[Array], int], Array]) -> Additive:
    """All sums in one table, and a formula of the parts' values, [resamples] each, and the number of resamples."""
    terms = [csr_matrix(part.sums) for part in parts]
    ends = np.cumsum([own.shape[1] for own in terms])[:-1]
    formulas = [part.formula for part in parts]
    return Additive(csr_matrix(hstack(terms)), partial(_of_parts, formulas=formulas, ends=ends, whole=whole))


def _of_parts(
    sums: Array, formulas: Sequence[Formula], ends: Any, whole: Callable[[Sequence[Array], int], Array]
) -> Array:
    own = zip(formulas, np.split(sums, ends, axis=1), strict=True)
    return whole([formula(terms) for formula, terms in own], len(sums))


def _mean(values: Sequence[Array], resamples: int) -> Array:
    """The mean of the parts' values that are defined."""
    of_parts = np.stack(values, axis=1)
    return summed.mean_where(of_parts, ~np.isnan(of_parts))


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
            drawn[name] = [rows[i] for i in np.repeat(np.arange(len(often)), often).tolist()]
        try:
            value = own_value(self.plan, drawn)
        except OwnMetricError:
            return self.plan.worst
        return self.plan.undefined if np.isnan(value) else value

    def to_exchange(self) -> "Recomputed":
        return self

    def joined(self, other: "Recomputed") -> "Recomputed":
        places, rows = {}, {}
        for name, own in self.places.items():
            places[name] = np.concatenate([own, other.places[name] + self.units])
            rows[name] = [*self.rows[name], *other.rows[name]]
        return Recomputed(self.units + other.units, places, rows, self.plan)

    def as_sums(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class Operand:
    """A column of an expression, and its statistic."""

    plan: Plan | ExpressionPlan
    statistic: Statistic


@dataclass(frozen=True, eq=False)
class OfColumns:
    """The statistic of an expression.

    Attributes:
        plan: what it is.
        operands: its columns.
        absent: key → the score of each column of a task that the submission does not enter.
    """

    plan: ExpressionPlan
    operands: Sequence[Operand]
    absent: Mapping[str, float]

    def over(self, counts: Array) -> Array:
        return self.of([one.statistic.over(counts) for one in self.operands], len(counts))

    def of(self, values: Sequence[Array], resamples: int) -> Array:
        """The expression of its operands' values, [resamples] each; NaN where one of them is NaN."""
        every = {}
        for key, worst in self.absent.items():
            every[key] = np.full(resamples, float(worst))
        undefined = np.zeros(resamples, dtype=bool)
        for one, own in zip(self.operands, values, strict=True):
            every[one.plan.key] = bounded(own, one.plan)
            undefined |= np.isnan(own)
        found = shown(computed(self.plan.expression, every, resamples), self.plan)
        return np.where(undefined, np.nan, found)

    def to_exchange(self) -> "OfColumns":
        return replace(self, operands=[Operand(one.plan, one.statistic.to_exchange()) for one in self.operands])

    def joined(self, other: "OfColumns") -> "OfColumns":
        """See `Statistic`; a column that one of the two did not enter has its worst value for both."""
        entered = {one.plan.key: one.statistic for one in other.operands}
        both = []
        for one in self.operands:
            if one.plan.key in entered:
                both.append(Operand(one.plan, one.statistic.joined(entered[one.plan.key])))
        return replace(self, operands=both, absent={**self.absent, **other.absent})

    def as_sums(self) -> Additive | None:
        """Where every column is a formula of sums: the terms of all of them."""
        parts = []
        for one in self.operands:
            own = one.statistic.as_sums()
            if own is None:
                return None
            parts.append(own)
        return _side_by_side(parts, self.of) if parts else None
