"""Scoring a task of a declared competition: each column's metric, over fields and groups."""

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from declared.figures import Later, bars_by_group, figures_of_fields
from declared.metrics import Sample, definitions, picked
from declared.plan import ColumnSources, Plan, columns_of_task
from declared.reference import GoldTable, Reference
from declared.samples import Group, OwnRows, compared, numbers_of, own_rows, scored_groups
from declared.submission import Submission
from declared.tables import Table
from scoring_kit.base.texts import counted
from scoring_kit.errors import Problems, first_of
from scoring_kit.results import Figure, Metric, NotComputed, TaskResult
from scoring_kit.units import Units

if TYPE_CHECKING:
    from declared.metrics.per_key import OfKeys

CODE_DIGITS = 8
"""Of the digest of an own function's file, in hexadecimal."""
Positions = Sequence[int]


@dataclass(frozen=True)
class Computed:
    """A column's metric before the mean over fields and groups.

    Attributes:
        groups: group → the positions of its keys.
        samples: what a metric of the table compared, one for each field or all together; none for an own function.
        values: each field ("" where there is but one) with its value in each group that has gold; NaN: undefined.
        sizes: likewise, how many keys are scored in each group.
        failed: why an own function gave no number in some group.
        of_keys: what an own function gave for each key, where it is called once for each.
    """

    groups: Mapping[Group, Positions]
    samples: Sequence[Sample]
    values: Mapping[str, Mapping[Group, float]]
    sizes: Mapping[str, Mapping[Group, int]]
    failed: NotComputed | None = None
    of_keys: "OfKeys | None" = None

    @property
    def undefined(self) -> list[str]:
        """The groups (and fields) in which the metric is undefined."""
        found = []
        for field, values in self.values.items():
            for group, value in values.items():
                if math.isnan(value):
                    found.append(", ".join(filter(None, [field, *group])))
        return found

    @property
    def rows(self) -> int:
        """How many keys are scored; those alone that an own function says count."""
        if self.of_keys is not None:
            return int(self.of_keys.terms[:, 2].sum())
        return sum(map(len, self.groups.values()))

    def mean(self, plan: Plan) -> float:
        """Return the mean over fields and groups, which may weigh as they have keys; undefined values are replaced."""
        means: list[float] = []
        for field, of_groups in self.values.items():
            weighted, number = [], 0
            for group, value in of_groups.items():
                defined = plan.undefined if math.isnan(value) else value
                if plan.by_weight:
                    weighted.append(defined * self.sizes[field][group])
                    number += self.sizes[field][group]
                else:
                    means.append(defined)
            if plan.by_weight:
                mean = math.fsum(weighted) / number if number else plan.undefined
                means.append(mean)
        return math.fsum(means) / len(means)


def scorer(task: str) -> Callable[[Reference, Submission, Mapping[str, Any]], TaskResult]:
    """Return the function that scores a task."""

    def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
        columns = columns_of_task(task, options, submission.entered)
        _check_arrays(columns.tables, reference, submission)
        every, of_keys = {}, {}
        for plan in columns.metrics:
            every[plan.key] = compute(plan, reference, submission)
            of_keys[plan.key] = every[plan.key].of_keys
        metrics, undefined = _values(columns, every)
        said: dict[str, str] = {}
        libraries: dict[str, None] = {}
        warnings, failed = [], {}
        for plan in columns.own:
            column = every[plan.key]
            said.update(settings(plan, reference[plan.table].table))
            if plan.definition is not None:
                libraries.update(dict.fromkeys(plan.definition.libraries))
            for name in plan.all_tables:
                libraries.update(dict.fromkeys(reference[name].table.libraries))
            if column.undefined:
                warnings.append(undefined_text(plan, column.undefined))
            elif column.of_keys is not None and column.of_keys.undefined:
                what = f"is undefined for {column.of_keys.undefined} of {counted(column.rows, 'key')}"
                warnings.append(f"{plan.key}: {plan.metric} {what}; {plan.undefined:g} counts instead.")
            if column.failed:
                failed[plan.key] = column.failed
        for one in columns.made:
            said[one.key] = f"expression={quote(one.expression.text, safe='')}"

        def units() -> Units:
            from declared.units import units_of  # and with it most of SciPy, which scores alone do not need

            return units_of(columns, reference, submission, of_keys)

        return TaskResult(
            metrics={key: metrics[key] for key in columns.keys},
            settings=said,
            libraries=tuple(libraries),
            warnings=[*warnings, *undefined, *unknown_items(columns.own, reference, submission)],
            figures=Later(lambda: _figures(columns.own, every, reference)),
            units=units,
            failed=failed,
        )

    return score


def _check_arrays(tables: Iterable[str], reference: Reference, submission: Submission) -> None:
    """Look at the numbers of the arrays that metrics read; raises SubmissionError with every problem."""
    problems = Problems()
    for name in tables:
        if reference[name].table.holds_files:
            from declared.arrays import check_arrays  # in no program of rows alone

            check_arrays(reference[name].table, submission.tables[name], problems)
    problems.stop_if_any()


def _values(columns: ColumnSources, computed: Mapping[str, Computed]) -> tuple[dict[str, Metric], list[str]]:
    """The score of each metric and expression, and a warning of each expression that is undefined."""
    found = {}
    for plan in columns.metrics:
        column = computed[plan.key]
        found[plan.key] = Metric(column.mean(plan), column.rows)
    if not columns.made:
        return found, []
    import numpy as np

    from declared import expressions

    values = {key: np.array([worst], dtype=np.float64) for key, worst in columns.absent.items()}
    for plan in columns.metrics:
        values[plan.key] = expressions.bounded(np.array([found[plan.key].value]), plan)
    warnings = []
    for one in columns.made:
        value = expressions.computed(one.expression, values, 1)
        if np.isnan(value[0]):
            what = f"{one.key}: {one.expression.text} is undefined, as for a division by zero"
            warnings.append(f"{what}; {one.worst:g} counts instead.")
        values[one.key] = expressions.shown(value, one)
        rows = [found[key].rows for key in one.expression.keys if key in found]
        found[one.key] = Metric(float(values[one.key][0]), min(rows, default=0))
    return found, warnings


def _figures(plans: Sequence[Plan], computed: Mapping[str, Computed], reference: Reference) -> list[Figure]:
    figures: dict[Hashable, Figure] = {}
    made: dict[Hashable, Figure | None] = {}
    for plan in plans:
        column = computed[plan.key]
        if plan.by and not plan.file:
            table = reference[plan.table].table
            items = "keys" if table.cluster else f"{table.unit}s"
            figures[plan.key] = bars_by_group(plan, column.groups, list(column.values.values()), items)
        figures.update(figures_of_fields(plan, column.samples, made))
    return list(figures.values())


def compute(plan: Plan, reference: Reference, submission: Submission) -> Computed:
    """Return the metric of each field, or of all of them together, in each group."""
    gold, answers = reference[plan.table], submission.tables[plan.table]
    if plan.tables:
        tables, keys = {}, 0
        for name in plan.tables:
            tables[name] = own_rows(reference[name], submission.tables[name])
            keys += len(tables[name])
        return _own(plan, {(): range(keys)}, {(): tables})
    groups = scored_groups(plan, gold)
    if plan.file is not None:
        rows = own_rows(gold, answers)
        if plan.per:
            return _once_a_key(plan, gold, groups, rows)
        of_groups = {}
        for group, positions in groups.items():
            of_groups[group] = {plan.table: picked(rows, positions)}
        return _own(plan, groups, of_groups)
    metric = definitions()[plan.metric]
    found = compared(plan, gold, answers)
    names = plan.fields if len(found) > 1 else ("",)
    values: dict[str, dict[Group, float]] = {}
    sizes: dict[str, dict[Group, int]] = {}
    shown = []
    for name, (sample, own) in zip(names, found, strict=True):
        values[name], sizes[name] = {}, {}
        for group, positions in own.items():
            sizes[name][group] = len(positions)
            values[name][group] = metric.value(sample.at(positions), plan.options)
        if gold.skipped:
            sample = sample.at(sorted(chain(*own.values())))
        shown.append(sample)
    return Computed(groups, shown, values, sizes)


def _own(plan: Plan, groups: Mapping[Group, Positions], tables: Mapping[Group, Mapping[str, OwnRows]]) -> Computed:
    """An own function, called with the rows of each group."""
    from declared.metrics.own import OwnMetricError, own_value  # in no program without such a metric

    values, sizes = {}, {}
    failed = None
    for group, rows in tables.items():
        sizes[group] = len(groups[group])
        try:
            values[group] = own_value(plan, rows)
        except OwnMetricError as error:
            values[group] = plan.worst
            failed = error.failed
    return Computed(groups, [], {"": values}, {"": sizes}, failed)


def _once_a_key(plan: Plan, gold: GoldTable, groups: Mapping[Group, Positions], rows: OwnRows) -> Computed:
    """An own function, called with one key at a time; where it fails, every key has the worst value."""
    import numpy as np

    from declared.metrics.keys import in_one_unit
    from declared.metrics.own import OwnMetricError
    from declared.metrics.per_key import OfKeys, values_of_keys

    failed, weight = None, numbers_of(plan, gold, "weight")
    try:
        of_keys = values_of_keys(plan, rows, chain.from_iterable(groups.values()))
    except OwnMetricError as error:
        failed = error.failed
        of_keys = OfKeys(np.tile([plan.worst, 1, 1], (len(rows), 1)))
    values, sizes = {}, {}
    for group, positions in groups.items():
        sizes[group] = int(of_keys.terms[positions, 2].sum())
        keys = in_one_unit(len(positions), math.nan).weighing(picked(weight, positions))
        values[group] = float(of_keys.statistic(positions, keys).over(np.ones((1, 1)))[0])
    return Computed(groups, [], {"": values}, {"": sizes}, failed, of_keys)


def undefined_text(plan: Plan, places: Sequence[str]) -> str:
    """Return the warning that a value is undefined for this submission, and what counts instead."""
    where = ""
    if any(places):
        where = f" for {first_of([place for place in places if place], 5, str, '; ')}"
    counted = f"{plan.undefined:g} counts instead"
    return f"{plan.key}: {plan.metric} is undefined{where}, as for constant predictions; {counted}."


def unknown_items(own: Sequence[Plan], reference: Reference, submission: Submission) -> Iterator[str]:
    """Yield a warning of each table whose rankings, of half of all keys or more, name no item that the gold judges."""
    ranked = {plan.table: plan for plan in own if plan.module == "rankings"}
    for name, plan in ranked.items():
        gold, answers = reference[name], submission.tables[name]
        item = plan.options["item"]
        given = list(zip(answers.owners, answers.columns[item, gold.table.field(item).type], strict=True))
        judged = zip(gold.answers.owners, gold.answers.columns[item, "string"], strict=True)
        answers_most = 2 * len(set(answers.owners)) >= len(gold.keys)
        if answers_most and not set(judged).intersection(given):
            what = f"0 of {len(given)} ranked items are judged"
            yield f"{gold.table.file.name}: {what}. Is {item} written as in the data?"


def settings(plan: Plan, table: Table) -> Iterator[tuple[str, str]]:
    """Yield a column's parts of the signature: its metric, and a digest of own code or the order of weighed labels."""
    yield plan.key, described(plan)
    if plan.file is not None:
        code = hashlib.sha256(plan.file.read_bytes())
        for name in sorted(plan.beside):
            code.update(hashlib.sha256((plan.file.parent / name).read_bytes()).digest())
        yield f"{plan.key}.code", code.hexdigest()[:CODE_DIGITS]
    elif plan.options.get("weights", "none") != "none":
        yield f"{plan.key}.values", "+".join(_quoted(table.field(name).values or (), "/") for name in plan.fields)


def described(plan: Plan) -> str:
    """Return a column's metric in the signature: name, fields, options, rows and groups."""
    used = dict(plan.options)
    if plan.module == "embeddings":
        from declared.metrics.embeddings import engine_settings

        used = {"part": plan.options["part"], **engine_settings(plan.options)}  # no folder of the organisers' machine
    parts = [plan.metric]
    if plan.fields:
        parts.append(_quoted(plan.fields, "+"))
    for name, value in sorted(used.items()):
        if value is not None:
            text = "/".join(map(str, value)) if isinstance(value, list) else str(value)
            parts.append(f"{name}={quote(text)}")
    if tuple(plan.gold) != tuple(plan.fields):
        parts.append(f"gold={_quoted(plan.gold, '+')}")
    for column, wanted in plan.where.items():
        values = _quoted(wanted, "/")
        if isinstance(wanted, Mapping):
            values = f"{wanted.get('min', '')}..{wanted.get('max', '')}"
        parts.append(f"where.{quote(column, safe='')}={values}")
    parts += _groups_described(plan)
    if plan.undefined != plan.worst:
        parts.append(f"undefined={plan.undefined:g}")
    return ",".join(parts)


def _groups_described(plan: Plan) -> Iterator[str]:
    """How keys come together, in the signature."""
    for name in ("per", "by", "mean_by", "tables", "weight"):
        named = getattr(plan, name)
        if isinstance(named, str):
            named = [named]
        if named:
            yield f"{name}={_quoted(named, '+')}"
    if plan.by_weight:
        yield "by_weight"


def _quoted(texts: Iterable[str], separator: str) -> str:
    """Texts of the declaration, which may hold what separates the parts of a signature."""
    return separator.join(quote(text, safe="") for text in texts)
