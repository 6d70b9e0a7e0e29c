"""What is wrong with gold before the first submission: metrics that it leaves undefined for every answer."""

from collections.abc import Iterator, Sequence
from typing import Any

from declared.plan import Plan
from declared.reference import GoldTable
from declared.samples import gold_values, scored_groups

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
    for column in gold_values(plan, gold):
        for name, positions in groups.items():
            values = [column[i] for i in positions]
            group = f" in the group {name}" if name else ""
            for what, expected in _undefined(plan, values):
                yield where, what + group, expected


def _undefined(plan: Plan, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """(what, expected) for the gold values of one group."""
    if plan.metric in CORRELATIONS and len(set(values)) < 2:
        yield "all gold values are equal, so that no correlation is defined", "at least two different values"
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
    if plan.metric in ("wer", "cer"):
        if any(isinstance(value, list) for value in values):
            yield f"{plan.metric} compares with one text, and the gold has lists of texts", "one text for each key"
        elif not any(value.split() for value in values):
            yield "no gold text has a word", "gold texts with words"


def remarks(plan: Plan, gold: GoldTable) -> Iterator[str]:
    """What the organisers should know of a metric with this gold."""
    if plan.metric != "rouge":
        return
    from rouge_score.tokenize import tokenize

    (column,) = gold_values(plan, gold)
    texts = [value if isinstance(value, str) else " ".join(value) for value in column]
    silent = sum(bool(text.strip()) and not tokenize(text, None) for text in texts)
    if silent > len(texts) / 2:
        yield (
            f"{plan.key}: rouge-score sees no token in {silent} of {len(texts)} gold texts, since it keeps only Latin "
            "letters and digits: every score will be near 0. Take chrf or bleu for this script."
        )
