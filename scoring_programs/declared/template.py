"""The file that participants fill in: every key, and the emptiest answer that is valid."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from declared.reference import GoldTable, expected
from declared.submission import with_values
from scoring_kit.base.fields import Field


def template_text(gold: GoldTable, answers: Sequence[Field]) -> str:
    """A table's file in its own format, to answer these fields: a row for each key."""
    table = gold.table
    fields = [*table.key_fields, *answers]
    rows = list(_rows(gold, answers))
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
    fields = [with_values(field, known["values"]) for field in answers]
    for at, key in enumerate(gold.keys):
        yield [*key, *(emptiest(field, known["lengths"], at) for field in fields)]


def emptiest(field: Field, lengths: Any, at: int) -> Any:
    """The emptiest valid answer to the key at a position, as JSON writes it, given the numbers of tags."""
    return field.kind.emptiest(field, lengths[field.name][at] if field.name in lengths else 0)


def _cell(field: Field, value: Any) -> str:
    text: str = field.kind.to_cell(field, value)
    return text
