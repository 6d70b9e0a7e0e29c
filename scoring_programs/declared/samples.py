"""From gold and answers to what a metric compares: pairs of values by key, the keys that count, and their groups."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from declared.answers import Answers
from declared.gold_fields import gold_fields
from declared.metrics import Sample
from declared.plan import Plan
from declared.reference import GoldTable
from scoring_kit.base.fields import NUMBER, Field

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
    if len(predicted) == len(fields) > 1:
        pairs = zip(gold_values(plan, gold), predicted, fields, strict=True)
        return [Sample(values, answer, [field]) for values, answer, field in pairs]
    (values,), (answer,) = gold_values(plan, gold), predicted
    return [Sample(values, answer, fields, table.many)]


def gold_values(plan: Plan, gold: GoldTable) -> list[Sequence[Any]]:
    """The gold side of what `samples_of` gives."""
    fields = typed_gold(plan, gold)
    return _units(plan, gold, [gold.answers.columns[field.name, field.type] for field in fields], gold.answers.owners)


def typed_gold(plan: Plan, gold: GoldTable) -> list[Field]:
    """The gold's columns that a metric reads."""
    return [gold.field(field.name, field.type) for field in gold_fields(plan, gold.table, ())]


def _units(plan: Plan, gold: GoldTable, columns: Columns, owners: Sequence[int]) -> list[Sequence[Any]]:
    """A value for each key: of each column, or, where they are compared as wholes, of all of them."""
    if gold.table.many:
        return [_by_key(gold, owners, list(zip(*columns, strict=True)))]
    return (
        [list(zip(*columns, strict=True))] if plan.definition is not None and plan.definition.joint else list(columns)
    )


def _by_key(gold: GoldTable, owners: Sequence[int], rows: Sequence[Any]) -> list[list[Any]]:
    found: list[list[Any]] = [[] for _ in gold.keys]
    for owner, row in zip(owners, rows, strict=True):
        found[owner].append(row)
    return found


def own_rows(gold: GoldTable, answers: Answers) -> tuple[list[Any], list[Any]]:
    """What an own function compares: for each key a dict of field → value, or with many rows a list of them.

    The gold's rows hold its further columns, too, as text.
    """
    typed = {field.name: gold.answers.columns[field.name, field.type] for field in gold.fields}
    key_columns = {name: [key[i] for key in gold.keys] for i, name in enumerate(gold.table.key)}
    given = {name: column for (name, _), column in answers.columns.items()}
    if not gold.table.many:
        return _dicts({**gold.further, **key_columns, **typed}), _dicts({**key_columns, **given})
    sides = []
    for columns, owners in (({**gold.further, **typed}, gold.answers.owners), (given, answers.owners)):
        keyed = {name: [column[owner] for owner in owners] for name, column in key_columns.items()}
        sides.append(_by_key(gold, owners, _dicts({**columns, **keyed})))
    return sides[0], sides[1]


def _dicts(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def scored_groups(plan: Plan, gold: GoldTable) -> dict[Group, list[int]]:
    """The positions of the keys that count, by group; a metric without `by` has one group, `()`.

    Groups come in the order of their texts; those that `where` leaves without a key are left out.
    """
    chosen = list(range(len(gold.keys)))
    for column, wanted in plan.where.items():
        texts = gold.groups[column]
        fitting = {text for text in set(texts) if _fits(text, wanted)}
        chosen = [i for i in chosen if texts[i] in fitting]
    if not plan.by:
        return {(): chosen}
    groups: dict[Group, list[int]] = {}
    for i in chosen:
        groups.setdefault(tuple(gold.groups[column][i] for column in plan.by), []).append(i)
    return dict(sorted(groups.items()))


def classes_of(plan: Plan, gold: GoldTable) -> dict[Any, list[int]]:
    """The positions of the keys of each group of `by` and gold label that a metric is a mean over.

    Empty for a metric that is no such mean.
    """
    is_mean = plan.metric in OVER_CLASSES and plan.options.get("average", "macro") == "macro"
    columns = gold_values(plan, gold) if is_mean and plan.file is None else []
    listed = plan.options.get("labels")
    found: dict[Any, list[int]] = {}
    for group, positions in scored_groups(plan, gold).items():
        if plan.by:
            found[group] = positions
        for number, values in enumerate(columns):
            for i in positions:
                labels = values[i] if isinstance(values[i], frozenset) else [values[i]]
                for label in labels if not isinstance(listed, list) else set(labels).intersection(listed):
                    found.setdefault((group, number, label), []).append(i)
    return found


def _fits(text: str, wanted: Any) -> bool:
    """Whether a gold text is one that `where` wants: one of a list, or a number in a range."""
    if not isinstance(wanted, Mapping):
        return text in wanted
    if not NUMBER.fullmatch(text):
        return False
    return bool(wanted.get("min", -math.inf) <= float(text) <= wanted.get("max", math.inf))
