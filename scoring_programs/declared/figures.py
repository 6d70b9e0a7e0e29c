"""The figures that fit a metric: a confusion matrix for labels, counts by type for spans, bars for groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from declared.metrics import Sample
from declared.plan import Plan
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure

LABEL_METRICS = ("accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "precision", "recall")
"""Metrics of one label a key, which a confusion matrix explains."""


def bars_by_group(plan: Plan, groups: Mapping[str, Sequence[int]], values: Sequence[Sequence[float]]) -> BarChart:
    """A bar for each group: the mean of its fields' values, with the number of keys.

    Args:
        plan: the column.
        groups: group → the positions of its keys.
        values: for each field its value in each group.
    """
    means = [sum(column) / len(column) for column in zip(*values, strict=True)]
    bars = [Bar(name, mean, len(keys)) for (name, keys), mean in zip(groups.items(), means, strict=True)]
    return BarChart(f"{plan.key} by {', '.join(plan.by)}", bars, plan.better, items="keys")


def figure_of_field(plan: Plan, name: str, sample: Sample) -> Mapping[str, Figure]:
    """The figure that fits a field and its metric, by what it shows, so that two columns of a field share theirs."""
    (field, *_) = sample.fields
    if plan.metric in LABEL_METRICS and field.type == "label":
        from declared.metrics.labels import label_counts

        labels, counts = label_counts(sample)
        predicted = [*labels, "(no label)"] if counts[:, -1].any() else labels
        rows = counts[:, : len(predicted)].tolist()
        return {f"labels {name}": ConfusionMatrix(f"{name}: gold against predicted labels", labels, predicted, rows)}
    if field.type == "labels" and not (plan.kind and plan.kind.joint):
        from declared.metrics.labels import set_label_counts

        return {f"sets {name}": CountBars(f"{name}: labels", set_label_counts(sample))}
    if field.type == "tags":
        from declared.metrics.tags import type_counts

        return {f"spans {name}": CountBars(f"{name}: spans by type", type_counts(sample))}
    return {}
