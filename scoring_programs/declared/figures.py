"""The figures that fit a metric: a confusion matrix for labels, counts by type for spans, bars for groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from declared.metrics import measure
from declared.plan import Plan
from declared.reference import GoldTable
from declared.samples import samples_of, scored_groups
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure

LABEL_METRICS = ("accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "precision", "recall")
"""Metrics of one label a key, which a confusion matrix explains."""


def figures_of(plan: Plan, gold: GoldTable, answers: Any) -> Mapping[str, Figure]:
    """Figures by what they show, so that two columns of a field share theirs."""
    if plan.file is not None:
        return {}
    figures: dict[str, Figure] = {}
    samples = samples_of(plan, gold, answers)
    groups = scored_groups(plan, gold)
    if plan.by:
        compute = measure(plan.metric)
        bars = [
            Bar(name, sum(compute(one.at(positions), plan.options) for one in samples) / len(samples), len(positions))
            for name, positions in groups.items()
        ]
        figures[f"by {plan.key}"] = BarChart(f"{plan.key} by {', '.join(plan.by)}", bars, plan.better, items="keys")
    if not plan.where and not gold.table.many:
        for name, sample in zip(plan.fields, samples, strict=False):
            (field, *_) = sample.fields
            if plan.metric in LABEL_METRICS and field.type == "label":
                from declared.metrics.labels import label_counts

                labels, counts = label_counts(sample)
                predicted = [*labels, "(no label)"] if counts[:, -1].any() else labels
                rows = counts[:, : len(predicted)].tolist()
                figures[f"labels {name}"] = ConfusionMatrix(
                    f"{name}: gold against predicted labels", labels, predicted, rows
                )
            elif field.type == "labels" and not (plan.kind and plan.kind.joint):
                from declared.metrics.labels import set_label_counts

                figures[f"sets {name}"] = CountBars(f"{name}: labels", set_label_counts(sample))
            elif field.type == "tags":
                from declared.metrics.tags import type_counts

                figures[f"spans {name}"] = CountBars(f"{name}: spans by type", type_counts(sample))
    return figures
