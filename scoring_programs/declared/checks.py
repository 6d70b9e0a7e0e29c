"""What is wrong with gold before the first submission: metrics that it leaves undefined for every answer."""

from collections.abc import Iterator, Sequence
from typing import Any

from declared.gold_fields import gold_fields
from declared.plan import Plan
from declared.reference import GoldTable
from declared.samples import gold_values, scored_groups, typed_gold

Fault = tuple[str, str, str]
"""Where, what is wrong, what is expected."""
CORRELATIONS = ("pearson", "spearman", "kendall")


def faults(plan: Plan, gold: GoldTable) -> Iterator[Fault]:
    """Everything about the gold that leaves a column undefined, or that its metric cannot take."""
    where = f"{gold.table.gold.name} ({plan.key})"
    groups = scored_groups(plan, gold)
    if not any(groups.values()):
        chosen = f" where {', '.join(plan.where)} fit" if plan.where else ""
        yield where, f"no key is scored{chosen}", "gold rows that the column's `where` chooses"
        return
    if plan.file is not None or plan.definition is None:
        return
    for declared, field in zip(gold_fields(plan, gold.table, ()), typed_gold(plan, gold), strict=True):
        if gold.table.many and field.type != declared.type:
            what = f"rows: many compares each row with one text, and {field.name} has lists of texts"
            yield where, what, "one text in each row"
    listed = plan.options.get("labels")
    if isinstance(listed, list):
        for label in _unknown_labels(listed, plan, gold):
            yield where, f"no gold label is {label}", "`labels` of the gold alone"
    for group, values in _values_by_group(plan, gold):
        for what, expected in _undefined(plan, values):
            yield where, what + group, expected


def _unknown_labels(listed: Sequence[str], plan: Plan, gold: GoldTable) -> list[str]:
    """Those of the listed labels that a field neither declares nor, in the gold of any phase, has."""
    unknown = set()
    for field, values in zip(typed_gold(plan, gold), gold_values(plan, gold), strict=True):
        there = set().union(*values) if field.type == "labels" else set(values)
        unknown |= set(listed) - there.union(field.values or ())
    return sorted(unknown)


def _values_by_group(plan: Plan, gold: GoldTable) -> Iterator[tuple[str, Sequence[Any]]]:
    """(" in the group …" or nothing, the gold values) of each field and group."""
    for column in gold_values(plan, gold):
        for texts, positions in scored_groups(plan, gold).items():
            name = ", ".join(texts)
            yield f" in the group {name}" if name else "", [column[i] for i in positions]


def _undefined(plan: Plan, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """(what, expected) for the gold values of one group."""
    if plan.metric in CORRELATIONS and len(set(values)) < 2:
        yield "all gold values are equal, so that no correlation is defined", "at least two different values"
    if plan.metric == "kappa" and len(set(values)) < 2:
        yield "all gold labels are equal, so that kappa is 0 or undefined", "at least two different labels"
    if plan.metric == "ccc" and len(set(values)) < 2:
        yield "all gold values are equal, so that ccc is 0 or undefined", "at least two different values"
    if plan.metric == "mape" and 0 in values:
        yield "a gold value is 0, to which no error is relative", "gold values other than 0, or smape"
    if plan.metric == "points":
        matrix = plan.options["matrix"]
        if not sum(matrix.get(label, {}).get(label, 0) for label in values) > 0:
            yield "the gold itself gets no points", "a matrix with points above 0 for right answers"
    if plan.metric == "r2" and len(values) < 2:
        yield "there is a single key, for which R² is undefined", "at least two keys"
    if plan.definition is not None and plan.definition.gold == "label":
        positives = sum(value == plan.options["positive"] for value in values)
        if not positives and plan.metric in ("roc_auc", "average_precision"):
            yield f"no gold label is {plan.options['positive']}", "`positive` as one of the gold labels"
        if positives == len(values) and plan.metric == "roc_auc":
            yield f"all gold labels are {plan.options['positive']}", "two labels"
    if plan.definition is not None and plan.definition.module == "rankings":
        if any(relevance != int(relevance) for rows in values for _, relevance in rows):
            yield "a relevance is not a whole number", "whole numbers, 0 for an item that is not relevant"
        without = [i for i, rows in enumerate(values) if not any(relevance > 0 for _, relevance in rows)]
        if without:
            yield f"{len(without)} queries have no relevant item", "for each query an item with a relevance above 0"
    if plan.definition is not None and plan.definition.module in ("edits", "sequences"):
        if any(isinstance(value, list) for value in values):
            yield f"{plan.metric} compares with one text, and the gold has lists of texts", "one text for each key"
        elif plan.definition.module == "edits" and not any(value.split() for value in values):
            yield "no gold text has a word", "gold texts with words"


def _nothing_to_find(plan: Plan, module: str, values: Sequence[Any]) -> bool:
    """Whether the gold of one group has no label, span or row, and the metric gives 0 for finding none."""
    if module == "tags":
        return all(tag == "O" for tags in values for tag in tags)
    average = plan.options.get("average")
    if module == "sets":
        return average == "micro" and not any(map(any, values))
    if plan.options.get("zero_division"):
        return False
    return plan.metric in ("f1", "fbeta", "precision", "recall") and not any(
        value == plan.options["positive"] if average == "binary" else value for value in values
    )


def remarks(plan: Plan, gold: GoldTable) -> Iterator[str]:
    """What the organisers should know of a metric with this gold."""
    if plan.definition is None:
        return
    module, groups = plan.definition.module, _values_by_group(plan, gold)
    empty = list(dict.fromkeys(group for group, values in groups if _nothing_to_find(plan, module, values)))
    if empty:
        more = f" and {len(empty) - 1} more" if empty[1:] else ""
        yield (
            f"{plan.key}: the gold has nothing to find{empty[0]}{more}, so that no answer scores above 0 there, not "
            "even a right one. Leave these rows out with `where`, or take a metric in which two empty sets are equal."
        )
    if plan.metric != "rouge":
        return
    from rouge_score.tokenize import tokenize

    values = [value for column in gold_values(plan, gold) for value in column]
    texts = [value if isinstance(value, str) else " ".join(value) for value in values]
    silent = sum(bool(text.strip()) and not tokenize(text, None) for text in texts)
    if silent > len(texts) / 2:
        yield (
            f"{plan.key}: rouge-score sees no token in {silent} of {len(texts)} gold texts, since it keeps only Latin "
            "letters and digits: every score will be near 0. Take chrf or bleu for this script."
        )
