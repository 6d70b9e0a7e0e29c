"""Faults of gold before the first submission: metrics that it leaves undefined for every answer."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from declared.metrics import Sample, picked, positive_of
from declared.plan import Plan
from declared.reference import GoldTable, Reference
from declared.samples import compared, labels_in, numbers_of, scored_groups
from scoring_kit.base.field_types import NATURAL_POSITIVE
from scoring_kit.errors import first_of

SHOWN_LABELS = 5
Fault = tuple[str, str, str]
"""Where, what is wrong, what is expected."""
CONSTANT: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("pearson", "spearman", "kendall"),
        ("all gold values are equal, so that no correlation is defined", "at least two different values"),
    ),
    "kappa": ("all gold labels are equal, so that kappa is 0 or undefined", "at least two different labels"),
    "ccc": ("all gold values are equal, so that ccc is 0 or undefined", "at least two different values"),
}
"""The fault of gold of a single value, by metric."""


def faults(plan: Plan, reference: Reference) -> Iterator[Fault]:
    """Yield everything about the gold that leaves a column undefined, or that its metric cannot take."""
    gold = reference[plan.table]
    file = gold.table.listing if gold.table.gold.files else gold.table.gold
    where = f"{file.name} ({plan.key})"
    groups = scored_groups(plan, gold)
    if not any(groups.values()):
        chosen, there = [], []
        for name, wanted in plan.where.items():
            chosen.append(f"{name} {wanted}")
            there.append(f"{name} is {first_of(sorted(set(gold.groups[name])), SHOWN_LABELS, str)}")
        what = f"no key is scored: no row has {' and '.join(chosen)}" if chosen else "no key is scored"
        yield where, what, "; ".join(there) or "gold rows that the column's `where` chooses"
        return
    for what, expected in _of_numbers(plan, gold):
        yield where, what, expected
    if plan.file is not None:
        return
    for what, expected in _of_columns(plan, gold):
        yield where, what, expected
    if (named := _positive(plan, gold)) is not None:
        yield where, *named
        return
    find = OF_METRICS.get(plan.metric)
    for group, values in _values_by_group(plan, gold):
        if plan.mean_by and len(values) < 2:
            yield (
                where,
                f"{plan.mean_by} has fewer than two groups{group}, of whose means nothing is defined",
                "two groups",
            )
            continue
        if plan.metric in CONSTANT and len(set(values)) < 2:
            what, expected = CONSTANT[plan.metric]
            yield where, what + group, expected
        for what, expected in find(plan, values, gold) if find else ():
            yield where, what + group, expected


Found = Iterator[tuple[str, str]]
"""Each fault of the gold, and what is expected."""


def _of_columns(plan: Plan, gold: GoldTable) -> Found:
    for name, field in zip(plan.fields, gold.fields[plan.key], strict=False):
        if gold.table.many and field.type == "texts" and gold.table.field(name).type == "text":
            what = f"rows: many compares each row with one text, and {field.name} has lists of texts"
            yield what, "one text in each row"
    listed = plan.options.get("labels")
    if not isinstance(listed, list) or gold.table.holds_files:
        return
    unknown: set[str] = set()
    for sample, _ in compared(plan, gold):
        unknown |= set(listed) - labels_in(sample.gold).union(sample.fields[0].values or ())
    for label in sorted(unknown):
        yield f"no gold label is {label}", "`labels` of the gold alone"


def _of_numbers(plan: Plan, gold: GoldTable) -> Found:
    for name, column in plan.numbers.items():
        numbers = numbers_of(plan, gold, name) or []
        if math.isnan(sum(numbers)) or min(numbers, default=0) < 0:
            yield f"{column}, the {name}, is not everywhere a number from 0", f"numbers in {column}"
            continue
        for group, positions in scored_groups(plan, gold).items():
            own = picked(numbers, positions)
            if name == "weight" and not any(own):
                yield f"{column} is 0 for every key{_in_group(group)}", "a weight above 0"
            if name == "scale" and not all(own):
                yield f"{column}, which errors are divided by, is 0 for a key{_in_group(group)}", "scales above 0"


def _in_group(group: Sequence[str]) -> str:
    return f" in the group {', '.join(group)}" if group else ""


def _positive(plan: Plan, gold: GoldTable) -> tuple[str, str] | None:
    """A positive label that the declaration must name, since the gold's labels do not tell it."""
    is_one = "positive" in plan.options and plan.options["positive"] is None
    of_number = gold.table.field(plan.fields[0]).type == "number" if plan.fields else False
    if not is_one or not (of_number or plan.options.get("average") == "binary"):
        return None
    labels: set[str] = set()
    for field in gold.fields[plan.key]:
        labels |= labels_in(gold.answers.columns[field.name, field.type])
    if any(map(labels.issubset, NATURAL_POSITIVE)):
        return None
    shown = ", ".join(sorted(labels)[:SHOWN_LABELS])
    return f"positive is missing, and the gold has the labels {shown}", "`positive: LABEL` in the metric"


def _values_by_group(plan: Plan, gold: GoldTable) -> Iterator[tuple[str, Sequence[Any]]]:
    """(" in the group …" or nothing, the gold values) of each field and group: means of groups, the places of tags."""
    for sample, groups in compared(plan, gold):
        for group, positions in groups.items():
            own = sample.at(positions)
            values = own.gold
            if own.mean_by is not None:
                values = _means(own)
            elif plan.module == "labels" and own.has_places:
                values = list(chain.from_iterable(values))
            yield _in_group(group), values


def _means(sample: Sample) -> list[float]:
    of_groups: dict[str, list[float]] = {}
    for group, value in zip(sample.mean_by or (), sample.gold, strict=True):
        of_groups.setdefault(group, []).append(value)
    return [math.fsum(values) / len(values) for values in of_groups.values()]


def _mape(plan: Plan, values: Sequence[Any], gold: GoldTable) -> Found:
    if 0 in values:
        yield "a gold value is 0, to which no error is relative", "gold values other than 0, or smape"


def _points(plan: Plan, values: Sequence[Any], gold: GoldTable) -> Found:
    matrix = plan.options["matrix"]
    best = 0
    for label in values:
        best += matrix.get(label, {}).get(label, 0)
    if best <= 0:
        yield "the gold itself gets no points", "a matrix with points above 0 for right answers"


def _r2(plan: Plan, values: Sequence[Any], gold: GoldTable) -> Found:
    if len(values) < 2:
        yield "there is a single key, for which R² is undefined", "at least two keys"


def _order(plan: Plan, values: Sequence[Any], gold: GoldTable) -> Found:
    """Of areas under curves: keys with the label, and others."""
    field = gold.table.field(plan.fields[0])
    labels = [positive_of(plan.options, values)]
    if field.type == "probabilities":
        labels = list(field.values or ())
        if plan.options["average"] != "macro":  # a label that no key has weighs nothing
            labels = sorted(set(values))
    for label in labels:
        positives = values.count(label)
        if not positives:
            yield f"no gold label is {label}", "`positive` as one of the gold labels"
        if positives == len(values) and plan.metric == "roc_auc":
            yield f"all gold labels are {label}", "two labels"


def _rankings(plan: Plan, values: Sequence[Any], gold: GoldTable) -> Found:
    has_relevance = len(gold.fields[plan.key]) > 1
    if plan.options["items"] == "all" and not has_relevance:
        what = f"items: all tells participants which items there are, and without the column {plan.gold[1]} all of them"
        yield f"{what} are relevant", f"a column {plan.gold[1]}, with 0 for items that are not, or no `items`"
    without, whole = 0, True
    for rows in values:
        items, most = set(), 0
        for item, *relevance in rows:
            (level,) = relevance or [1]
            items.add(item)
            most = max(most, level)
            whole = whole and level == int(level)
        if len(items) < len(rows):
            yield "an item of a query is there twice", "each item once for a query, whatever its case and spelling"
        without += most <= 0
    if not whole:
        yield "a relevance is not a whole number", "whole numbers, 0 for an item that is not relevant"
    if without:
        yield f"{without} queries have no relevant item", "for each query an item with a relevance above 0"


def _one_text(plan: Plan, values: Sequence[Any], gold: GoldTable) -> Found:
    """Of edits: one text for each key, and for error rates one with words."""
    if list in map(type, values):
        yield f"{plan.metric} compares with one text, and the gold has lists of texts", "one text for each key"
    elif plan.metric in ("wer", "cer") and not any(map(str.split, values)):
        yield "no gold text has a word", "gold texts with words"


Find = Callable[[Plan, Sequence[Any], GoldTable], Found]
OF_METRICS: Mapping[str, Find] = {
    "mape": _mape,
    "points": _points,
    "r2": _r2,
    "roc_auc": _order,
    "average_precision": _order,
    **dict.fromkeys(("ndcg", "ap", "rr", "precision_at", "recall_at", "r_precision"), _rankings),
    **dict.fromkeys(("wer", "cer", "edit_distance", "lcs_f1", "lcs_precision", "lcs_recall"), _one_text),
}
"""By metric: what leaves it undefined in the gold values of one group."""


def _nothing_to_find(plan: Plan, values: Sequence[Any]) -> bool:
    """Whether the gold of one group has no label, span or row, and the metric gives 0 for finding none."""
    average = plan.options.get("average")
    if plan.metric.startswith("span_") and plan.module == "labels":
        return set(chain.from_iterable(values)) <= {"O"}
    if plan.module == "sets":
        return average == "micro" and not any(map(any, values))
    if plan.options.get("zero_division") or plan.metric not in ("f1", "fbeta", "precision", "recall"):
        return False
    if average == "binary":
        return positive_of(plan.options, values) not in values
    return not any(values)


def remarks(plan: Plan, reference: Reference) -> Iterator[str]:
    """Yield what the organisers should know of a metric with this gold."""
    if plan.file is not None:
        return
    gold = reference[plan.table]
    groups = _values_by_group(plan, gold)
    empty = list(dict.fromkeys(group for group, values in groups if _nothing_to_find(plan, values)))
    if empty:
        what = f"{plan.key}: the gold has nothing to find{first_of(empty, 1, str)}, so that no answer scores above 0"
        repair = "Leave these rows out with `where`, or take a metric in which two empty sets are equal."
        yield f"{what} there, not even a right one. {repair}"
    if plan.metric == "rouge":
        yield from _without_tokens(plan, gold)


def _without_tokens(plan: Plan, gold: GoldTable) -> Iterator[str]:
    """A script of which ROUGE sees nothing."""
    from rouge_score.tokenize import tokenize

    silent = 0
    texts: list[Any] = []
    for sample, _ in compared(plan, gold):
        texts += sample.gold
    for text in texts:
        if not isinstance(text, str):
            text = " ".join(text)
        silent += bool(text.strip()) and not tokenize(text, None)
    if silent > len(texts) / 2:
        yield (
            f"{plan.key}: rouge-score sees no token in {silent} of {len(texts)} gold texts, since it keeps only Latin "
            "letters and digits: every score will be near 0. Take chrf or bleu for this script."
        )
