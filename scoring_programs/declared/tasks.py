"""Scoring a task of a declared competition: each column's metric, over fields and groups."""

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from declared.answers import Answers
from declared.figures import Later, bars_by_group, figures_of_fields
from declared.metrics import Sample, definitions
from declared.plan import Plan, plans
from declared.reference import GoldTable, Reference
from declared.samples import Group, own_rows, samples_of, scored_groups
from declared.submission import Submission
from declared.tables import Table
from scoring_kit.results import Figure, Metric, NotComputed, TaskResult
from scoring_kit.units import Units

CODE_DIGITS = 8
"""Of the digest of an own function's file, in hexadecimal."""
Positions = Sequence[int]


@dataclass(frozen=True)
class Computed:
    """A column's metric before the mean over fields and groups.

    Attributes:
        groups: group → the positions of its keys.
        samples: what a metric of the table compared, one for each field or all together; none for an own function.
        values: each field ("" where there is but one) with the value in each group, in their order; NaN: undefined.
        failed: why an own function gave no number in some group.
    """

    groups: Mapping[Group, Positions]
    samples: Sequence[Sample]
    values: Sequence[tuple[str, Sequence[float]]]
    failed: NotComputed | None = None

    @property
    def undefined(self) -> list[str]:
        """The groups (and fields) in which the metric is undefined."""
        return [
            ", ".join(filter(None, [field, ", ".join(group)]))
            for field, values in self.values
            for group, value in zip(self.groups, values, strict=True)
            if math.isnan(value)
        ]

    def mean(self, undefined: float) -> float:
        """The mean over fields and groups, with `undefined` in place of undefined values."""
        values = [undefined if math.isnan(value) else value for _, row in self.values for value in row]
        return math.fsum(values) / len(values)


def scorer(task: str) -> Callable[[Reference, Submission, Mapping[str, Any]], TaskResult]:
    """The function that scores a task."""

    def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
        own = plans(options)[task]
        computed = [(plan, compute(plan, reference.tables[plan.table], submission.tables[plan.table])) for plan in own]
        libraries = [name for plan in own if plan.definition for name in plan.definition.libraries]
        return TaskResult(
            metrics={
                plan.key: Metric(column.mean(plan.undefined), sum(map(len, column.groups.values())))
                for plan, column in computed
            },
            settings=dict(part for plan in own for part in settings(plan, reference.tables[plan.table].table)),
            libraries=tuple(dict.fromkeys(libraries)),
            warnings=[
                *(undefined_text(plan, column.undefined) for plan, column in computed if column.undefined),
                *unknown_items(own, reference, submission),
            ],
            figures=Later(partial(_figures, computed)),
            units=partial(_units, own, reference, submission),
            failed={plan.key: column.failed for plan, column in computed if column.failed},
        )

    return score


def _figures(computed: Sequence[tuple[Plan, Computed]]) -> list[Figure]:
    figures: dict[Hashable, Figure] = {}
    for plan, column in computed:
        if plan.by and not plan.file:
            figures[plan.key] = bars_by_group(plan, column.groups, [row for _, row in column.values])
        figures.update(figures_of_fields(plan, column.samples))
    return list(figures.values())


def _units(own: Sequence[Plan], reference: Reference, submission: Submission) -> Units:
    from declared.units import units_of

    return units_of(own, reference, submission)


def compute(plan: Plan, gold: GoldTable, answers: Answers) -> Computed:
    """The metric of each field, or of all of them together, in each group."""
    groups = scored_groups(plan, gold)
    if plan.file is not None:
        from declared.metrics.own import OwnMetricError, own_function, own_value  # in no program without such a metric

        function = own_function(plan.file, plan.metric)
        both = own_rows(gold, answers)
        sides = [[[rows[i] for i in positions] for rows in both] for positions in groups.values()]
        own, failed = [], None
        for truth, given in sides:
            try:
                own.append(own_value(plan, function, truth, given))
            except OwnMetricError as error:
                own.append(plan.worst)
                failed = error.failed
        return Computed(groups, [], [("", own)], failed)
    samples = samples_of(plan, gold, answers)
    metric = definitions()[plan.metric]
    names = [""] if len(samples) == 1 else plan.fields
    values = [
        (name, [metric.value(sample.at(positions), plan.options) for positions in groups.values()])
        for name, sample in zip(names, samples, strict=True)
    ]
    return Computed(groups, samples, values)


def undefined_text(plan: Plan, places: Sequence[str]) -> str:
    """The warning that a value is undefined for this submission, and what counts instead."""
    shown = "; ".join(filter(None, places[:5]))
    where = f" for {shown}" + (f" and {len(places) - 5} more" if len(places) > 5 else "") if shown else ""
    counted = f"{plan.undefined:g} counts instead"
    return f"{plan.key}: {plan.metric} is undefined{where}, as for constant predictions; {counted}."


def unknown_items(own: Sequence[Plan], reference: Reference, submission: Submission) -> Iterator[str]:
    """A warning of each table whose rankings, of half of all keys or more, name no item that the gold judges."""
    ranked = {plan.table: plan for plan in own if plan.definition is not None and plan.definition.module == "rankings"}
    for name, plan in ranked.items():
        gold, answers = reference.tables[name], submission.tables[name]
        item = plan.options["item"]
        given = list(zip(answers.owners, answers.columns[item, gold.table.field(item).type], strict=True))
        judged = zip(gold.answers.owners, gold.answers.columns[item, "string"], strict=True)
        if 2 * len(set(answers.owners)) >= len(gold.keys) and not set(judged).intersection(given):
            what = f"0 of {len(given)} ranked items are judged"
            yield f"{gold.table.file.name}: {what}. Is {item} written as in the data?"


def settings(plan: Plan, table: Table) -> Iterator[tuple[str, str]]:
    """A column's parts of the signature: its metric, and a digest of own code or the order of labels that it weighs."""
    yield plan.key, described(plan)
    if plan.file is not None:
        yield f"{plan.key}.code", hashlib.sha256(plan.file.read_bytes()).hexdigest()[:CODE_DIGITS]
    elif plan.options.get("weights", "none") != "none":
        yield f"{plan.key}.values", "+".join(_quoted(table.field(name).values or (), "/") for name in plan.fields)


def described(plan: Plan) -> str:
    """A column's metric in the signature: name, fields, options, rows and groups."""
    used = dict(plan.options)
    if plan.definition is not None and plan.definition.module == "embeddings":
        from declared.metrics.embeddings import engine_settings

        used = {"part": plan.options["part"], **engine_settings(plan.options)}  # no folder of the organisers' machine
    texts = {name: "/".join(value) if isinstance(value, list) else str(value) for name, value in used.items()}
    options = [f"{name}={quote(texts[name])}" for name in sorted(texts) if used[name] is not None]
    parts = [plan.metric, _quoted(plan.fields, "+"), *options]
    if tuple(plan.gold) != tuple(plan.fields):
        parts.append(f"gold={_quoted(plan.gold, '+')}")
    parts += [f"where.{quote(column, safe='')}={_wanted(wanted)}" for column, wanted in plan.where.items()]
    parts += [f"by={_quoted(plan.by, '+')}"] if plan.by else []
    parts += [f"undefined={plan.undefined:g}"] if plan.undefined != plan.worst else []
    return ",".join(filter(None, parts))


def _wanted(wanted: Any) -> str:
    if isinstance(wanted, Mapping):
        return f"{wanted.get('min', '')}..{wanted.get('max', '')}"
    return _quoted(wanted, "/")


def _quoted(texts: Iterable[str], separator: str) -> str:
    """Texts of the declaration, which may hold what separates the parts of a signature."""
    return separator.join(quote(text, safe="") for text in texts)
