"""From gold and answers to what a metric compares: pairs of values by key, the keys that count, and their groups."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import le, lt
from typing import Any

from declared.answers import Answers
from declared.gold_fields import gold_fields
from declared.metrics import Sample, definitions, positive_of
from declared.own_checks import answered_rows, by_key
from declared.plan import Plan
from declared.reference import GoldTable
from scoring_kit.base.fields import NUMBER, Field, ordered

Columns = list[Sequence[Any]]
Group = tuple[str, ...]
"""Its text in each column of `by`."""
OVER_CLASSES = ("f1", "fbeta", "precision", "recall", "jaccard", "balanced_accuracy")
"""Metrics of labels that may be a mean over them."""


def samples_of(plan: Plan, gold: GoldTable, answers: Answers) -> list[Sample]:
    """What a metric of the table compares, over all keys: each field by itself, or all of them together."""
    table = gold.table
    fields = typed_gold(plan, gold)
    given: Columns = [answers.columns[name, table.field(name).type] for name in plan.fields]
    predicted = _units(plan, gold, given, answers.owners)
    values = _units(plan, gold, _gold_columns(gold, fields), gold.answers.owners)
    numbers = {name: list(map(number_of, gold.groups[column])) for name, column in plan.numbers.items()}
    if table.many or len(predicted) < len(fields):  # compared as wholes
        return [Sample(values[0], predicted[0], fields, table.many, numbers.get("weight"))]
    samples = []
    for name, field, truth, answer in zip(plan.fields, fields, values, predicted, strict=True):
        form = _form(plan, table.field(name), field, truth)
        sides = form.gold(truth), form.answers(answer)
        samples.append(Sample(*sides, [form.field], weight=numbers.get("weight"), scale=numbers.get("scale")))
    return samples


def gold_values(plan: Plan, gold: GoldTable) -> list[Sequence[Any]]:
    """The gold side of what `samples_of` gives."""
    fields = typed_gold(plan, gold)
    values = _units(plan, gold, _gold_columns(gold, fields), gold.answers.owners)
    if gold.table.many or len(values) < len(fields):
        return values
    pairs = zip(plan.fields, fields, values, strict=True)
    return [_form(plan, gold.table.field(name), field, truth).gold(truth) for name, field, truth in pairs]


def typed_gold(plan: Plan, gold: GoldTable) -> list[Field]:
    """The gold's columns that a metric reads."""
    names = [field.name for field in gold.fields]
    return [gold.field(field.name, field.type) for field in gold_fields(plan, gold.table, names)]


def number_of(text: str) -> float:
    """The number that a text of the gold is; NaN where it is none."""
    return float(text) if NUMBER.fullmatch(text) else math.nan


def _gold_columns(gold: GoldTable, fields: Sequence[Field]) -> Columns:
    return [gold.answers.columns[field.name, field.type] for field in fields]


def _units(plan: Plan, gold: GoldTable, columns: Columns, owners: Sequence[int]) -> list[Sequence[Any]]:
    """A value for each key: of each column, or, where they are compared as wholes, of all of them."""
    if gold.table.many:
        return [by_key(len(gold.keys), owners, list(zip(*columns, strict=True)))]
    is_joint = plan.definition is not None and plan.definition.joint
    return [list(zip(*columns, strict=True))] if is_joint else list(columns)


def _same(values: Sequence[Any]) -> Sequence[Any]:
    return values


@dataclass(frozen=True)
class ComparedForm:
    """What a metric compares of a field's values: gold and answers as it takes them, of the type of `field`."""

    field: Field
    gold: Callable[[Sequence[Any]], Sequence[Any]] = _same
    answers: Callable[[Sequence[Any]], Sequence[Any]] = _same


def _form(plan: Plan, own: Field, of_gold: Field, gold: Sequence[Any]) -> ComparedForm:
    """Values as they are, but for an ordinal that is compared as a number, and what is compared as a label."""
    kinds = own.type, definitions()[plan.metric].module
    if kinds == ("ordinal", "numbers"):  # a gold value that is left out is none
        as_numbers = partial(map_list, own.numbers.get)
        return ComparedForm(Field(own.name, "number"), as_numbers, as_numbers)
    if kinds == ("number", "labels"):
        positive = positive_of(plan.options, gold)
        rest = f"not {positive}"
        threshold = plan.options["threshold"]
        reaches = partial(le, threshold) if not isinstance(threshold, Mapping) else partial(lt, threshold["above"])
        names = {True: positive, False: rest}
        labels = Field(own.name, "label", values=ordered([rest, positive]))
        return ComparedForm(
            labels,
            partial(map_list, lambda label: names[label == positive]),
            partial(map_list, lambda number: names[reaches(number)]),
        )
    if kinds == ("probabilities", "labels"):
        values = list(own.values or ())
        return ComparedForm(of_gold, _same, partial(map_list, lambda shares: values[shares.index(max(shares))]))
    compared = own if own.type == "probabilities" else of_gold
    return ComparedForm(compared)


def map_list(form: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """Each value in a form; None, which no metric reads, as it is."""
    return [None if value is None else form(value) for value in values]


@dataclass(frozen=True)
class OwnRows:
    """What an own function gets of a table: for each key its rows, in the order of the keys.

    Attributes:
        keys: a text each, or a tuple of texts where several fields are the key.
        gold: a dict of field → value, or with many rows a list of them; with the gold's further columns, as text.
        predicted: likewise, without further columns.
    """

    keys: Sequence[Any]
    gold: Sequence[Any]
    predicted: Sequence[Any]

    def at(self, positions: Sequence[int]) -> "OwnRows":
        """The keys at these positions, of which one may come several times."""
        keys = [self.keys[i] for i in positions]
        return OwnRows(keys, [self.gold[i] for i in positions], [self.predicted[i] for i in positions])

    def joined(self, other: "OwnRows") -> "OwnRows":
        """These rows, then the others."""
        keys, gold, predicted = (
            [*self.keys, *other.keys],
            [*self.gold, *other.gold],
            [*self.predicted, *other.predicted],
        )
        return OwnRows(keys, gold, predicted)


def own_rows(gold: GoldTable, answers: Answers) -> OwnRows:
    """What an own function compares, over all keys."""
    keys = [key[0] if len(key) == 1 else key for key in gold.keys]
    truth = answered_rows(gold.answers, gold.table, gold.keys, gold.further)
    return OwnRows(keys, truth, answered_rows(answers, gold.table, gold.keys))


def scored_groups(plan: Plan, gold: GoldTable) -> dict[Group, list[int]]:
    """The positions of the keys that count, by group; a metric without `by` has one group, `()`.

    Groups come in the order of their texts; those that `where` leaves without a key are left out.
    """
    chosen = list(range(len(gold.keys)))
    if gold.skipped and plan.fields:
        empty = frozenset.intersection(*_empty_by_sample(plan, gold))
        chosen = [i for i in chosen if i not in empty]
    for column, wanted in plan.where.items():
        texts = gold.groups[column]
        fitting = set(filter(_fitting(wanted, gold.table.find(column)), set(texts)))
        chosen = [i for i in chosen if texts[i] in fitting]
    if not plan.by:
        return {(): chosen}
    of_keys = list(zip(*(gold.groups[column] for column in plan.by), strict=True))
    groups: dict[Group, list[int]] = {}
    for i in chosen:
        groups.setdefault(of_keys[i], []).append(i)
    return dict(sorted(groups.items()))


def scored_by_sample(plan: Plan, gold: GoldTable) -> list[dict[Group, list[int]]]:
    """The groups of `scored_groups` for each of `samples_of`: without the keys whose gold is empty there."""
    groups = scored_groups(plan, gold)
    found = []
    for empty in _empty_by_sample(plan, gold):
        kept = {}
        for group, positions in groups.items() if empty else ():
            own = [i for i in positions if i not in empty]
            if own:
                kept[group] = own
        if not empty:
            kept = groups
        found.append(kept)
    return found


def _empty_by_sample(plan: Plan, gold: GoldTable) -> list[frozenset[int]]:
    """The positions of the keys whose gold is empty: of each field, or of all that are compared as wholes."""
    found = [gold.skipped.get((field.name, field.type), frozenset()) for field in typed_gold(plan, gold)]
    is_joint = plan.definition is not None and plan.definition.joint
    return [frozenset[int]().union(*found)] if gold.table.many or is_joint else found


def classes_of(plan: Plan, gold: GoldTable) -> dict[Any, list[int]]:
    """The positions of the keys of each group of `by` and label that a metric is a mean over.

    A label of a fixed list that no gold has is without positions. Empty for a metric that is no such mean.
    """
    found: dict[Any, list[int]] = {}
    if plan.by:
        found.update(scored_groups(plan, gold))
    is_mean = plan.metric in OVER_CLASSES and plan.options.get("average", "macro") == "macro"
    if plan.file is not None or not is_mean:
        return found
    fixed = plan.options.get("labels")
    listed = set(fixed) if isinstance(fixed, list) else None
    columns = zip(gold_values(plan, gold), scored_by_sample(plan, gold), typed_gold(plan, gold), strict=True)
    for number, (values, groups, field) in enumerate(columns):
        of_column = _by_label(values, groups, listed)
        there = {label for _, label in of_column}
        of_column.update({((), label): [] for label in _fixed_labels(fixed, field) - there})
        found.update({(number, *key): positions for key, positions in of_column.items()})
    return found


def _by_label(
    values: Sequence[Any], groups: Mapping[Group, list[int]], listed: set[str] | None
) -> dict[tuple[Group, str], list[int]]:
    """The positions of the keys of each group and label of the gold, of those that are listed; all without a list."""
    found: dict[tuple[Group, str], list[int]] = {}
    for group, positions in groups.items():
        for i in positions:
            labels = values[i] if isinstance(values[i], frozenset) else {values[i]}
            for label in labels if listed is None else labels & listed:
                found.setdefault((group, label), []).append(i)
    return found


def _fixed_labels(labels: Any, field: Field) -> set[str]:
    """The labels that a metric's option `labels` fixes, whatever the gold has."""
    if isinstance(labels, list):
        return set(labels)
    return set(field.values or ()) if labels == "declared" else set()


def _fitting(wanted: Any, field: Field | None) -> Callable[[str], bool]:
    """What says whether a gold text is one that `where` wants: one of a list, or a number in a range."""
    if not isinstance(wanted, Mapping):
        texts = wanted if field is None else map(field.canonical, wanted)
        return set(texts).__contains__
    low, high = wanted.get("min", -math.inf), wanted.get("max", math.inf)
    if field is not None and field.type == "ordinal":
        return lambda text: bool(low <= field.numbers.get(text, math.nan) <= high)
    return lambda text: bool(low <= number_of(text) <= high)
