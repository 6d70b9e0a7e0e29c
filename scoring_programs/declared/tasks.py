"""Scoring a task of a declared competition: each column's metric, over fields and groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from declared.figures import figures_of
from declared.metrics import Sample, measure
from declared.metrics.own import own_function, own_value
from declared.plan import Plan, plans
from declared.reference import GoldTable, Reference
from declared.samples import own_rows, samples_of, scored_groups
from declared.submission import Submission
from scoring_kit.results import Figure, Metric, TaskResult

Positions = Sequence[int]


@dataclass(frozen=True)
class Value:
    """A column's value.

    Attributes:
        value: the mean over fields and groups, `worst` standing in for undefined ones.
        undefined: the groups (and fields) in which the metric is undefined.
        keys: how many keys were scored.
    """

    value: float
    undefined: Sequence[str]
    keys: int


def scorer(task: str) -> Callable[[Reference, Submission, Mapping[str, Any]], TaskResult]:
    """The function that scores a task."""

    def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
        metrics: dict[str, Metric] = {}
        settings: dict[str, str] = {}
        warnings: list[str] = []
        figures: dict[str, Figure] = {}
        libraries: dict[str, None] = {}
        for plan in plans(options)[task]:
            gold, answers = reference.tables[plan.table], submission.tables[plan.table]
            value = column_value(plan, gold, answers)
            metrics[plan.key] = Metric(value.value, value.keys)
            settings[plan.key] = described(plan)
            libraries.update(dict.fromkeys(plan.kind.libraries if plan.kind else ()))
            if value.undefined:
                warnings.append(undefined_text(plan, value.undefined))
            figures.update(figures_of(plan, gold, answers))
        return TaskResult(metrics, settings, tuple(libraries), warnings, list(figures.values()))

    return score


def column_value(plan: Plan, gold: GoldTable, answers: Any) -> Value:
    """A column's value: the metric in each group, of each field, and the mean of these."""
    groups = scored_groups(plan, gold)
    values: list[float] = []
    undefined: list[str] = []
    for name, compute in _computations(plan, gold, answers):
        for group, positions in groups.items():
            value = compute(positions)
            if math.isnan(value):
                value = plan.worst
                undefined.append(", ".join(filter(None, [name, group])))
            values.append(value)
    return Value(math.fsum(values) / len(values), undefined, sum(map(len, groups.values())))


def _computations(plan: Plan, gold: GoldTable, answers: Any) -> list[tuple[str, Callable[[Positions], float]]]:
    """What is to be averaged: (field, its value over some keys); "" where there is but one."""
    if plan.file is not None:
        function = own_function(plan.file, plan.metric)
        gold_rows, rows = own_rows(gold, answers)

        def own(positions: Positions) -> float:
            chosen = [gold_rows[i] for i in positions], [rows[i] for i in positions]
            return own_value(plan.metric, function, chosen[0], chosen[1], plan.options)

        return [("", own)]
    samples = samples_of(plan, gold, answers)
    names = [""] if len(samples) == 1 else list(plan.fields)
    return [(name, _over(plan, sample)) for name, sample in zip(names, samples, strict=True)]


def _over(plan: Plan, sample: Sample) -> Callable[[Positions], float]:
    compute = measure(plan.metric)

    def over(positions: Positions) -> float:
        return compute(sample if len(positions) == len(sample.gold) else sample.at(positions), plan.options)

    return over


def undefined_text(plan: Plan, places: Sequence[str]) -> str:
    """The warning that a value is undefined for this submission, and what stands in for it."""
    shown = "; ".join(filter(None, places[:5]))
    where = f" for {shown}" + (f" and {len(places) - 5} more" if len(places) > 5 else "") if shown else ""
    return f"{plan.key}: {plan.metric} is undefined{where}, as for constant predictions; {plan.worst:g} counts instead."


def described(plan: Plan) -> str:
    """A column's metric in the signature: name, fields, options, rows and groups."""
    options = [f"{name}={value}" for name, value in sorted(plan.options.items()) if value is not None]
    parts = [plan.metric, "+".join(plan.fields), *options]
    if tuple(plan.gold) != tuple(plan.fields):
        parts.append("gold=" + "+".join(plan.gold))
    parts += [f"where.{column}={_wanted(wanted)}" for column, wanted in plan.where.items()]
    parts += ["by=" + "+".join(plan.by)] if plan.by else []
    return ",".join(filter(None, parts))


def _wanted(wanted: Any) -> str:
    if isinstance(wanted, Mapping):
        return f"{wanted.get('min', '')}..{wanted.get('max', '')}"
    return "/".join(wanted)
