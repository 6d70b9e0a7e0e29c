"""Which columns of the gold the metrics read, and as what type."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from declared.metrics import definitions
from declared.plan import Plan
from declared.rows import Rows
from declared.tables import Table
from scoring_kit.base.fields import Field, ordered

NAMING = ("label", "labels", "tags", "spans")
"""Types whose values name labels, or types of spans."""
LABEL_TYPES = {"label", "ordinal"}


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
            if table.skips_empty:
                field = replace(field, required=False)
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
        return [(field.name, as_gold(field)) for field in table.answers if field.name in names]
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
        found.append((name, _typed(column, as_gold(own), kind.gold.get(own.type), table)))
    return found


def as_gold(field: Field) -> Field:
    """A field as the gold has it: of probabilities the label."""
    if field.type == "probabilities":
        field = replace(field, type="label", columns=())
    return replace(field, required=True, default=None)


def _typed(column: str, compared: Field, asked: str | None, table: Table) -> Field:
    """A gold column, typed like the field that it is compared with, or as a metric asks; a field keeps its spelling."""
    own = table.find(column)
    kind = asked or compared.type
    if own is not None and own.name != compared.name and (own.type == kind or {own.type, kind} <= LABEL_TYPES):
        return replace(as_gold(own), type=kind)
    if asked is not None and compared.type != asked:
        return Field(column, asked)
    return compared if column == compared.name else replace(compared, name=column, columns=())


def open_fields(table: Table, wanted: Sequence[Plan], names: Sequence[str]) -> dict[str, list[Field]]:
    """Field of labels without declared values, or of typed spans → the gold's typed columns to compare with."""
    found: dict[str, list[Field]] = {}
    any_text = {name for plan in wanted if plan.module == "clusters" for name in plan.fields}
    for name, field in chain.from_iterable(_compared(plan, table, names) for plan in wanted):
        if name in any_text or not _is_open(table.find(name), field):
            continue
        columns = found.setdefault(name, [])
        if field not in columns and field.name in names:
            columns.append(field)
    return found


def _is_open(own: Field | None, compared: Field) -> bool:
    """Whether the gold that a field is compared with says which labels there are, or types of spans."""
    return own is not None and own.type == compared.type and own.type in NAMING and own.values is None


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
