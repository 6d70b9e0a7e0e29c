"""From gold and answers to what a metric compares: pairs of values by key, the keys that count, and their groups."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import repeat
from operator import le, lt
from typing import Any

from declared.answers import Answers
from declared.metrics import Sample, definitions, positive_of
from declared.own_checks import answered_rows
from declared.plan import Plan
from declared.reference import GoldTable
from scoring_kit.base.field_types import NUMBER, Field, ordered

Group = tuple[str, ...]
"""Its text in each column of `by`."""
Groups = dict[Group, list[int]]
"""The positions of the keys that count, by group."""
OwnRows = Sequence[tuple[Any, Any, Any]]
"""The rows of a table for an own function, one for each key: the key (a text, or a tuple of several), its gold and its
answer, each a dict of field → value, or with many rows a list of them; the gold with its further columns."""
OVER_CLASSES = ("f1", "fbeta", "precision", "recall", "jaccard", "balanced_accuracy")
"""Metrics of labels that may be a mean over them."""


def compared(plan: Plan, gold: GoldTable, answers: Answers | None = None) -> list[tuple[Sample, Groups]]:
    """Return what a metric of the table compares, over all keys: each field by itself, or all of them together.

    Each has the groups of `scored_groups`, less the keys whose gold is empty there. Without `answers` only the gold.
    """
    table, fields = gold.table, gold.fields[plan.key]
    groups, empty = scored_groups(plan, gold), _empty(plan, gold)
    weight, scale = numbers_of(plan, gold, "weight"), numbers_of(plan, gold, "scale")
    mean_by = gold.groups[plan.mean_by] if plan.mean_by else None
    predicted: Sequence[Any] = ()
    if _is_whole(plan, gold):
        if answers:
            predicted = _wholes(answers, map(table.field, plan.fields), gold)
        whole = Sample(_wholes(gold.answers, fields, gold), predicted, fields, table.many, weight)
        return [(whole, _without(groups, empty[0]))]
    found = []
    for name, field, without_gold in zip(plan.fields, fields, empty, strict=True):
        own = table.field(name)
        truth: Sequence[Any] = gold.answers.columns[field.name, field.type]
        if answers:
            predicted = answers.columns[name, own.type]
        form, truth, predicted = _in_form(plan, own, field, truth, predicted)
        sample = Sample(truth, predicted, [form], weight=weight, scale=scale, mean_by=mean_by, worst=plan.worst)
        found.append((sample, _without(groups, without_gold)))
    return found


def numbers_of(plan: Plan, gold: GoldTable, name: str) -> list[float] | None:
    """Return the `weight` or `scale` of each key; None where the metric has none."""
    column = plan.numbers.get(name)
    return None if column is None else [number_of(text) for text in gold.groups[column]]


def number_of(text: str) -> float:
    """Return the number that a text of the gold is; NaN where it is none."""
    return float(text) if NUMBER.fullmatch(text) else math.nan


def _is_whole(plan: Plan, gold: GoldTable) -> bool:
    """Whether all fields, and of many rows all of a key, are compared as one."""
    return gold.table.many or (plan.definition is not None and plan.definition.joint)


def _wholes(answers: Answers, fields: Iterable[Field], gold: GoldTable) -> list[Any]:
    """For each key the tuple of its values, or with many rows a list of them."""
    rows = list(zip(*(answers.columns[field.name, field.type] for field in fields), strict=True))
    return answers.by_key(rows, len(gold.keys)) if gold.table.many else rows


def _in_form(
    plan: Plan, own: Field, of_gold: Field, gold: Sequence[Any], answers: Sequence[Any]
) -> tuple[Field, Sequence[Any], Sequence[Any]]:
    """A field's values, as they are, but for an ordinal that is compared as a number, and what is compared as a label.

    Returns:
        The field whose type they have, the gold, and the answers.
    """
    kinds = own.type, definitions()[plan.metric].module
    if kinds == ("ordinal", "numbers"):  # a gold value that is left out is none
        return Field(own.name, "number"), map_list(own.numbers.get, gold), map_list(own.numbers.get, answers)
    if kinds == ("number", "labels"):
        positive = positive_of(plan.options, gold)
        names = [f"not {positive}", positive]
        threshold, reaches = plan.options["threshold"], le
        if isinstance(threshold, Mapping):
            threshold, reaches = threshold["above"], lt
        gold = map_list(lambda label: names[label == positive], gold)
        answers = map_list(lambda number: names[reaches(threshold, number)], answers)
        return Field(own.name, "label", values=ordered(names)), gold, answers
    if kinds == ("probabilities", "labels"):
        values = list(own.values or ())
        return of_gold, gold, map_list(lambda shares: values[shares.index(max(shares))], answers)
    if own.type == "probabilities":
        return own, gold, answers
    return of_gold, gold, answers


def map_list(form: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """Return each value in a form; None, which no metric reads, as it is."""
    return [None if value is None else form(value) for value in values]


def own_rows(gold: GoldTable, answers: Answers) -> OwnRows:
    """Return what an own function compares, over all keys."""
    keys: Sequence[Any] = gold.keys
    if len(gold.table.key) == 1:
        keys = [key[0] for key in keys]
    truth = answered_rows(gold.answers, gold.table, gold.keys, gold.further)
    return list(zip(keys, truth, answered_rows(answers, gold.table, gold.keys), strict=True))


def scored_groups(plan: Plan, gold: GoldTable) -> Groups:
    """Return the positions of the keys that count, by group; a metric without `by` has one group, `()`.

    Groups come in the order of their texts; those that `where` leaves without a key are left out.
    """
    chosen = list(range(len(gold.keys)))
    if gold.skipped and plan.fields:
        empty = frozenset.intersection(*_empty(plan, gold))
        chosen = [i for i in chosen if i not in empty]
    for column, wanted in plan.where.items():
        texts = gold.groups[column]
        is_wanted = _fitting(wanted, gold.table.by_name.get(column))
        fitting = {text for text in set(texts) if is_wanted(text)}
        chosen = [i for i in chosen if texts[i] in fitting]
    if not plan.by:
        return {(): chosen}
    of_keys = list(zip(*(gold.groups[column] for column in plan.by), strict=True))
    groups: Groups = {}
    for i in chosen:
        groups.setdefault(of_keys[i], []).append(i)
    return dict(sorted(groups.items()))


def _without(groups: Groups, empty: frozenset[int]) -> Groups:
    """The groups without these positions, those that have others."""
    if not empty:
        return groups
    kept = {}
    for group, positions in groups.items():
        own = [i for i in positions if i not in empty]
        if own:
            kept[group] = own
    return kept


def _empty(plan: Plan, gold: GoldTable) -> list[frozenset[int]]:
    """The positions of the keys whose gold is empty: of each field, or of all that are compared as wholes."""
    found = [gold.skipped.get((field.name, field.type), frozenset()) for field in gold.fields[plan.key]]
    if _is_whole(plan, gold):
        return [frozenset[int]().union(*found)]
    return found


def classes_of(plan: Plan, gold: GoldTable) -> list[tuple[Group | None, list[int]]]:
    """Return the positions of the keys of each group of `by` (with None), and of each label that is averaged over.

    A label comes with its group; one of a fixed list that no gold has is without positions. Of a metric that sets
    labels against the others, the smaller side of each. Empty for a metric of neither kind.
    """
    found: list[tuple[Group | None, list[int]]] = []
    if plan.by:
        found += zip(repeat(None), scored_groups(plan, gold).values())
    if plan.definition is not None and plan.definition.limit == "sides":
        for sample, groups in compared(plan, gold):
            for group, positions in groups.items():
                for own in by_label(sample.gold, positions).values():
                    others = sorted({*positions}.difference(own))
                    found.append((group, min(own, others, key=len)))
    is_mean = plan.metric in OVER_CLASSES and plan.options.get("average", "macro") == "macro"
    if plan.file is not None or not is_mean:
        return found
    listed = plan.options.get("labels")
    for sample, groups in compared(plan, gold):
        lacking = set(_fixed_labels(listed, sample.fields[0]))
        for group, positions in groups.items():
            for label, own in by_label(sample.gold, positions).items():
                if not isinstance(listed, list) or label in listed:
                    found.append((group, own))
                    lacking.discard(label)
        for _ in lacking:
            found.append(((), []))
    return found


def by_label(values: Sequence[Any], positions: Iterable[int]) -> dict[str, list[int]]:
    """Return at which of these positions each label is."""
    found: dict[str, list[int]] = {}
    for i in positions:
        for label in labels_of(values[i]):
            found.setdefault(label, []).append(i)
    return found


def _fixed_labels(listed: Any, field: Field) -> Iterable[str]:
    """The labels that a metric's option `labels` fixes, whatever the gold has."""
    if listed == "declared":
        return field.values or ()
    return listed if isinstance(listed, list) else ()


def labels_of(value: str | Collection[str] | None) -> frozenset[str]:
    """Return the labels of a value: of a set or of places all, of a single label that one, of no label none."""
    if isinstance(value, frozenset | list):
        return frozenset(value)
    return frozenset() if value is None else frozenset([str(value)])


def labels_in(values: Iterable[str | Collection[str] | None]) -> set[str]:
    """Return the labels of some values."""
    found: set[str] = set()
    for value in values:
        found |= labels_of(value)
    return found


def _fitting(wanted: Any, field: Field | None) -> Callable[[str], bool]:
    """Return what says whether a gold text is one that `where` wants: one of a list, or a number in a range."""
    if not isinstance(wanted, Mapping):
        texts = set(wanted)
        if field is not None:
            texts = {field.canonical(text) for text in wanted}
        return lambda text: text in texts
    low, high = wanted.get("min", -math.inf), wanted.get("max", math.inf)
    if field is not None and field.type == "ordinal":
        return lambda text: bool(low <= field.numbers.get(text, math.nan) <= high)
    return lambda text: bool(low <= number_of(text) <= high)
