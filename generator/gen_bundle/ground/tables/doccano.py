"""Doccano's JSON lines: `text` with `label`, or with `entities` and `relations`, and `Comments`."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from gen_bundle.ground.tables.annotations import Item, one_or_labels, spans_in_order, table_of
from gen_bundle.ground.tables.table import FileTable

COMMENTS = ("Comments", "comments")
ANNOTATED = ("label", "labels", "entities", "relations", "cats", *COMMENTS)


def is_export(first: Mapping[str, Any]) -> bool:
    """Return whether records are those of Doccano."""
    names = set(first)
    return "text" in names and bool(names & {"label", "entities"}) and bool(names & {*COMMENTS, "relations"})


def read_records(name: str, suffix: str, values: Sequence[Any], numbers: Sequence[int]) -> FileTable:
    """Return a row for each document; labels of which no document has several are one label each."""
    annotated = [record.get("entities", record.get("label")) or () for record in values]
    everything = itertools.chain.from_iterable(annotated)
    are_labels = "entities" not in values[0] and all(isinstance(one, str) for one in everything)
    items, related = [], 0
    for number, record, found in zip(numbers, values, annotated, strict=True):
        given = {key: value for key, value in record.items() if key not in ANNOTATED}
        items.append(Item(number, given, [{"spans": _spans(found)}]))
        if are_labels and one_or_labels(annotated):
            items[-1].answers = [{"label": next(iter(found), None)}]
        elif are_labels:
            items[-1].answers = [{"labels": list(found)}]
        related += bool(record.get("relations"))
    notes = [f"{name}: the relations of {related} documents are left out"] if related else []
    return table_of(name, suffix, "Doccano", items, notes)


def _spans(annotated: Sequence[Any]) -> list[list[Any]]:
    found: list[list[Any]] = []
    for span in annotated:
        if isinstance(span, dict):
            found.append([span.get("start_offset"), span.get("end_offset"), str(span.get("label", ""))])
        elif isinstance(span, list):
            found.append(span)
    return spans_in_order(found)
