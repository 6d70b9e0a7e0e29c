"""The file that participants fill in: every key, and the emptiest answer that is valid."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from declared.fields import Field
from declared.reference import GoldTable, expected


def template_text(gold: GoldTable, answers: Sequence[Field]) -> str:
    """A table's file in its own format, to answer these fields: a row for each key, or none where none is asked for."""
    table = gold.table
    fields = [*table.key_fields, *answers]
    rows = list(_rows(gold, answers)) if table.reject_missing or not table.many else []
    suffix = table.file.suffix
    if suffix == ".txt":
        return "".join(f"{_cell(answers[0], row[-1])}\n" for row in rows)
    names = [field.name for field in fields]
    if suffix in (".json", ".jsonl"):
        objects = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows]
        return "".join(f"{text}\n" for text in objects) if suffix == ".jsonl" else "[\n" + ",\n".join(objects) + "\n]\n"
    cells = [names, *([_cell(field, value) for field, value in zip(fields, row, strict=True)] for row in rows)]
    columns, delimiter = table.file.columns, table.file.separator
    if columns is not None:
        cells = [[line[names.index(column)] for column in columns] for line in cells[1:]]
    if table.file.quoting == "none":
        return "".join(delimiter.join(line) + "\n" for line in cells)
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(cells)
    return buffer.getvalue()


def _rows(gold: GoldTable, answers: Sequence[Field]) -> Iterator[list[Any]]:
    known = expected(gold)
    for at, key in enumerate(gold.keys):
        yield [*key, *(emptiest(field, known, at) for field in answers)]


def emptiest(field: Field, known: Mapping[str, Any], at: int) -> Any:
    """None or an empty text, list or set where it is an answer; else the first label, number nearest to 0, or O's."""
    if field.type in ("label", "number") and not field.required:
        return None
    if field.type == "label":
        return next(iter(field.values or known["values"].get(field.name) or [""]))
    if field.type == "number":
        least = max(0.0, field.min or 0.0)
        return least if field.max is None else min(least, field.max)
    if field.type == "tags":
        return ["O"] * known["lengths"][field.name][at] if field.name in known["lengths"] else []
    return [] if field.type in ("labels", "texts", "spans") else ""


def _cell(field: Field, value: Any) -> str:
    if value is None:
        return ""
    if field.type == "tags":
        return " ".join(value)
    if isinstance(value, list):
        return "" if field.type == "labels" else json.dumps(value)
    return value if isinstance(value, str) else str(value).removesuffix(".0")
