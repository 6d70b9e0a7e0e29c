"""Tables of gold and submissions, as any scorer's files have them: read, and written again in the same way."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

DELIMITERS = (",", "\t", ";", "|", " ")
LARGEST = 50_000_000
SUFFIXES = {"\t": ".tsv", ",": ".csv"}
Row = tuple[Any, ...]
Form = Literal["cells", "records", "mapping", "list", "json lines"]


@dataclass(frozen=True)
class FoundTable:
    """A file that holds a table.

    Attributes:
        name: the file's.
        form: `cells` of a text with `delimiter`; of JSON the list of `records`, the `mapping` of a key to a value or a
            record, the `list` of values, or `json lines`.
        columns: their names; `column1` and so on where the file has none, `answer` where there is one.
        rows: cells as text, or JSON values.
        delimiter: between cells; empty where a line is one cell.
        header: whether the file's first line names the columns.
    """

    name: str
    form: Form
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    delimiter: str = ""
    header: bool = False

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def with_rows(self, rows: Sequence[Row]) -> "FoundTable":
        return replace(self, rows=tuple(rows))

    def written(self) -> bytes:
        """The file."""
        records = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        if self.form == "json lines":
            return "".join(f"{json.dumps(record)}\n" for record in records).encode()
        if self.form == "records":
            return json.dumps(records).encode()
        if self.form == "list":
            return json.dumps([row[0] for row in self.rows]).encode()
        if self.form == "mapping":
            return json.dumps({row[0]: self._value(row) for row in self.rows}).encode()
        lines = ([self.columns] if self.header else []) + list(self.rows)
        if not self.delimiter:
            return "".join(f"{line[0]}\n" for line in lines).encode()
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator="\n").writerows(lines)
        return out.getvalue().encode()

    def _value(self, row: Row) -> Any:
        """What a mapping's key leads to."""
        if len(row) == 2 and self.columns[1] == VALUE:
            return row[1]
        return dict(zip(self.columns[1:], row[1:], strict=True))


ANSWER = "answer"
"""The column of a file of one value a line."""
KEY, VALUE = "key", "value"
"""The columns of a JSON object of keys and plain values."""


def read_table(name: str, data: bytes, names: frozenset[str]) -> FoundTable | None:
    """The table in a file; None where there is none. `names` are words of the scorer, which columns may be called."""
    if not data.strip() or len(data) > LARGEST:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    suffix = name.rpartition(".")[2].lower()
    if suffix in ("json", "jsonl"):
        return _json_table(name, text, suffix)
    if "\0" in text:
        return None
    return _text_table(name, text, names)


def _json_table(name: str, text: str, suffix: str) -> FoundTable | None:
    try:
        if suffix == "jsonl":
            return _records(name, "json lines", [json.loads(line) for line in text.splitlines() if line.strip()])
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not value or not isinstance(value, list | dict):
        return None
    if isinstance(value, dict):
        return _mapping(name, value)
    if _are_plain(value):
        return FoundTable(name, "list", (VALUE,), tuple((one,) for one in value))
    return _records(name, "records", value)


def _are_plain(values: Iterable[Any]) -> bool:
    """Whether none is a list or an object of JSON."""
    return not any(isinstance(one, list | dict) for one in values)


def _records(name: str, form: Form, records: Sequence[Any], key: tuple[str, ...] = ()) -> FoundTable | None:
    """A table of flat records that all have the same names."""
    if not records or not all(isinstance(record, dict) and list(record) for record in records):
        return None
    columns = tuple(records[0])
    rows: list[Row] = []
    for record in records:
        if set(record) != set(columns) or not _are_plain(record.values()):
            return None
        rows.append(tuple(record[one] for one in columns))
    return FoundTable(name, form, key + columns, tuple(rows))


def _mapping(name: str, value: Mapping[str, Any]) -> FoundTable | None:
    if _are_plain(value.values()):
        return FoundTable(name, "mapping", (KEY, VALUE), tuple(value.items()))
    table = _records(name, "mapping", list(value.values()), (KEY,))
    if table is None or VALUE in table.columns:
        return None
    return table.with_rows([(key, *row) for key, row in zip(value, table.rows, strict=True)])


def _text_table(name: str, text: str, names: frozenset[str]) -> FoundTable | None:
    delimiter = next((one for one in _likely(name) if _is_regular(text, one)), "")
    rows = _text_rows(text, delimiter)
    header = _has_header(rows, names)
    columns = tuple(f"column{place}" for place in range(1, len(rows[0]) + 1))
    if len(columns) == 1:
        columns = (ANSWER,)
    if header:
        columns = rows[0]
        rows = rows[1:]
    one_column = [usual for usual, suffix in SUFFIXES.items() if name.lower().endswith(suffix)]
    if header and not delimiter and one_column:
        delimiter = one_column[0]
    return FoundTable(name, "cells", columns, tuple(rows), delimiter, header)


def _text_rows(text: str, delimiter: str) -> list[Row]:
    """The cells of every line that is not blank; without a delimiter the line is one."""
    if delimiter:
        return [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)]
    return [(line.strip(),) for line in text.splitlines() if line.strip()]


def _likely(name: str) -> list[str]:
    """The delimiters, that of the file's suffix first."""
    return sorted(DELIMITERS, key=lambda one: not name.lower().endswith(SUFFIXES.get(one, "\0")))


def _is_regular(text: str, delimiter: str) -> bool:
    """Whether every row has the same number of cells, and more than one."""
    try:
        sizes = {len(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)}
    except csv.Error:
        return False
    return len(sizes) == 1 and min(sizes) > 1


def _has_header(rows: Sequence[Row], names: frozenset[str]) -> bool:
    """Whether the first row names the columns: no number, none of its words below it, and a sign that it is one."""
    first, rest = rows[0], rows[1:]
    if not rest or any(map(is_number, first)) or not all(first) or not is_unique(first):
        return False
    is_sign = not names.isdisjoint(map(str.lower, first)) or "id" in map(str.lower, first)
    for place, cell in enumerate(first):
        below = {row[place] for row in rest}
        if cell in below:
            return False
        is_sign = is_sign or all(map(is_number, below))
    return is_sign


def is_number(value: Any) -> bool:
    """Whether a cell or a JSON value is a finite number."""
    if isinstance(value, bool) or value is None:
        return False
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return number - number == 0


def is_unique(values: Sequence[Any]) -> bool:
    """Whether no value comes twice."""
    return max(Counter(map(repr, values)).values(), default=0) <= 1
