"""Which columns of the gold the metrics read, and as what type."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from declared.fields import Field, ordered
from declared.metrics import definitions
from declared.plan import Plan
from declared.rows import Rows
from declared.tables import Table

NAMING = ("label", "labels", "tags", "spans")
"""Types whose values name labels, or types of spans."""


def fields_read(
    table: Table,
    wanted: Sequence[Plan],
    names: Sequence[str],
    rows: Rows,
    values: Sequence[tuple[int, tuple[Any, ...]]],
    labels: Mapping[str, Sequence[str]],
) -> list[Field]:
    """The gold's typed columns that metrics read: each as its field's type, or as the metric asks for."""
    fields: dict[tuple[str, str], Field] = {}
    for plan in wanted:
        for name, field in _compared(plan, table, names):
            if field.type == "text" and _several(rows.is_json, [row[names.index(field.name)] for _, row in values]):
                field = replace(field, type="texts")
            if field.type in ("label", "labels") and field.values is None and name in labels:
                field = replace(field, values=ordered(labels[name]))
            fields[field.name, field.type] = field
    return list(fields.values())


def gold_fields(plan: Plan, table: Table, names: Sequence[str]) -> list[Field]:
    """The gold's columns that a metric reads, typed."""
    return [field for _, field in _compared(plan, table, names)]


def _compared(plan: Plan, table: Table, names: Sequence[str]) -> list[tuple[str, Field]]:
    """Each gold column that a metric reads, typed, after the submission's field that it is compared with.

    An own function reads every field that the gold has. The gold always has a value, also of fields that a submission
    may leave out.
    """
    if plan.file:
        return [(field.name, replace(field, required=True)) for field in table.answers if field.name in names]
    kind = definitions()[plan.metric]
    if kind.module == "rankings":
        item, relevance = plan.gold
        judged = [(item, Field(item, "string"))]
        if relevance in names:  # else every row of the gold is relevant
            judged.append((relevance, Field(relevance, "number")))
        return judged
    found = []
    for name, column in zip(plan.fields, plan.gold, strict=True):
        own = table.field(name)
        field = replace(own, name=column, required=True)
        if own.type in kind.gold:  # of probabilities the labels are those that they are of
            field = Field(column, kind.gold[own.type], values=own.values)
        found.append((name, field))
    return found


def open_fields(table: Table, wanted: Sequence[Plan], names: Sequence[str]) -> dict[str, set[tuple[str, str]]]:
    """Field of labels without declared values, or of typed spans → (name, type) of the gold columns to compare with."""
    found: dict[str, set[tuple[str, str]]] = {}
    any_text = {name for plan in wanted if plan.module == "clusters" for name in plan.fields}
    for plan in wanted:
        for name, field in _compared(plan, table, names):
            own = next((own for own in table.answers if own.name == name), None)
            is_open = own is not None and own.type == field.type and own.type in NAMING and own.values is None
            if is_open and name not in any_text:
                found.setdefault(name, set()).add((field.name, field.type))
    return found


def tagged(table: Table, wanted: Sequence[Plan], names: Sequence[str]) -> dict[str, str]:
    """Field of tags → the gold column that it is compared with."""
    compared = (pair for plan in wanted for pair in _compared(plan, table, names))
    return {name: field.name for name, field in compared if field.type == "tags"}


def _several(is_json: bool, raw: Sequence[Any]) -> bool:
    """Whether a gold column of texts holds lists of references."""
    if is_json:
        return any(isinstance(value, list) for value in raw)
    return bool(raw) and all(_is_list_of_texts(cell) for cell in raw)


def _is_list_of_texts(cell: str) -> bool:
    if not cell.startswith("["):
        return False
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
