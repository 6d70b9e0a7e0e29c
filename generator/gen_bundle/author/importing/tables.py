"""Tables of gold and of submissions, as any scorer's files have them: read, written again, and paired."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from operator import eq, itemgetter
from pathlib import PurePosixPath
from typing import Any, Literal

from gen_bundle.ground.tables.table import DELIMITERS
from scoring_kit.base.submissions import allow_long_cells

MARKS = (",", "\t", ";", "|", " ")
LARGEST = 50_000_000
ANSWER = "answer"
"""The column of a file of one value a line."""
KEY, VALUE = "key", "value"
"""The columns of a JSON object of keys and plain values."""
Row = tuple[Any, ...]
Form = Literal["cells", "records", "mapping", "list", "json lines"]
Columns = dict[str, str]
"""A column of the submission → one of the gold."""


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
        return list(map(itemgetter(self.columns.index(name)), self.rows))

    def ids(self, columns: Iterable[str]) -> list[tuple[str, ...]]:
        """The cells of each row in these columns, as texts."""
        rows = zip(*map(self.column, columns), strict=True)
        return [tuple(map(str, row)) for row in rows]

    def with_rows(self, rows: Iterable[Row]) -> "FoundTable":
        return replace(self, rows=tuple(rows))

    def written(self) -> bytes:
        """The file."""
        if self.form == "cells":
            lines = [self.columns, *self.rows]
            if not self.header:
                del lines[0]
            if not self.delimiter:
                return "\n".join([*map(itemgetter(0), lines), ""]).encode()
            out = io.StringIO()
            csv.writer(out, delimiter=self.delimiter, lineterminator="\n").writerows(lines)
            return out.getvalue().encode()
        records = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        if self.form == "json lines":
            return "\n".join([*map(json.dumps, records), ""]).encode()
        value: Any = records
        if self.form == "list":
            value = self.column(VALUE)
        if self.form == "mapping":
            value = {one.pop(KEY): one for one in records}
            if self.columns == (KEY, VALUE):
                value = dict(self.rows)
        return json.dumps(value).encode()


def is_number(value: Any) -> bool:
    """Whether a cell or a JSON value is a finite number."""
    if isinstance(value, bool) or value is None:
        return False
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return number - number == 0


# Reading


def read_table(name: str, data: bytes, names: frozenset[str]) -> FoundTable | None:
    """The table in a file; None where there is none. `names` are words of the scorer, which columns may be called."""
    if len(data) > LARGEST:
        return None
    suffix = name.rpartition(".")[2].lower()
    try:
        text = data.decode("utf-8-sig")
        if suffix == "jsonl":
            return _records(name, "json lines", list(map(json.loads, filter(str.strip, text.splitlines()))))
        if suffix == "json":
            return _json_table(name, json.loads(text))
    except (ValueError, RecursionError):
        return None
    if "\0" in text:
        return None
    return _text_table(name, text, names)


def _json_table(name: str, value: Any) -> FoundTable | None:
    if not value or not isinstance(value, list | dict):
        return None
    if isinstance(value, list):
        if _are_plain(value):
            return FoundTable(name, "list", (VALUE,), tuple(zip(value, strict=True)))
        return _records(name, "records", value)
    if _are_plain(value.values()):
        return FoundTable(name, "mapping", (KEY, VALUE), tuple(value.items()))
    table = _records(name, "mapping", list(value.values()))
    if table is None or not {KEY, VALUE}.isdisjoint(table.columns):
        return None
    rows = [(key, *row) for key, row in zip(value, table.rows, strict=True)]
    return replace(table, columns=(KEY, *table.columns), rows=tuple(rows))


def _are_plain(values: Iterable[Any]) -> bool:
    """Whether none is a list or an object of JSON."""
    return {list, dict}.isdisjoint(map(type, values))


def _records(name: str, form: Form, records: Sequence[Any]) -> FoundTable | None:
    """A table of flat records that all have the same names."""
    if not records or not isinstance(records[0], dict) or not records[0]:
        return None
    columns = tuple(records[0])
    rows: list[Row] = []
    for record in records:
        if not isinstance(record, dict) or set(record) != set(columns) or not _are_plain(record.values()):
            return None
        rows.append(tuple(map(record.__getitem__, columns)))
    return FoundTable(name, form, columns, tuple(rows))


def _text_table(name: str, text: str, names: frozenset[str]) -> FoundTable | None:
    usual = DELIMITERS.get(PurePosixPath(name).suffix.lower(), "")
    delimiter, rows = _cells(text, usual)
    if not rows:
        return None
    if _has_header(rows, names):
        return FoundTable(name, "cells", rows[0], tuple(rows[1:]), delimiter or usual, header=True)
    columns = [ANSWER]
    if delimiter:
        columns = [f"column{place}" for place in range(1, len(rows[0]) + 1)]
    return FoundTable(name, "cells", tuple(columns), tuple(rows), delimiter)


def _cells(text: str, usual: str) -> tuple[str, list[Row]]:
    """What separates cells, as many in each row and the usual mark first, and the rows; else a line is one cell."""
    allow_long_cells()
    for mark in sorted(MARKS, key=lambda one: one != usual):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        try:
            rows: list[Row] = list(map(tuple, filter(any, reader)))
        except csv.Error:
            continue
        if len(set(map(len, rows))) == 1 and len(rows[0]) > 1:
            return mark, rows
    return "", list(zip(filter(None, map(str.strip, text.splitlines())), strict=True))


def _has_header(rows: Sequence[Row], names: frozenset[str]) -> bool:
    """Whether the first row names the columns: no number, none of its words below it, and a sign that it is one."""
    first, rest = rows[0], rows[1:]
    if not rest or any(map(is_number, first)) or not all(first) or len(set(first)) < len(first):
        return False
    words = set(map(str.lower, first))
    is_sign = "id" in words or not names.isdisjoint(words)
    for cell, below in zip(first, zip(*rest, strict=True), strict=True):
        if cell in below:
            return False
        is_sign = is_sign or all(map(is_number, below))
    return is_sign


# Pairing


@dataclass(frozen=True)
class FilePair:
    """A file of the submission with its gold.

    Attributes:
        gold: its name is the path in the reference data.
        key: the columns by which rows are matched; none: row n answers row n.
        fields: the columns that answer columns of the gold.
        elsewhere: the gold of the same name in other tasks.
    """

    answer: FoundTable
    gold: FoundTable
    key: Columns
    fields: Columns
    elsewhere: tuple[FoundTable, ...] = ()

    def gold_values(self, field: str) -> list[Any]:
        """The gold's values for a column of the submission, in all tasks."""
        column = self.fields[field]
        values = self.gold.column(column)
        for table in self.elsewhere:
            if column in table.columns:
                values += table.column(column)
        return values

    def beside(self, golds: Sequence[FoundTable]) -> "FilePair":
        """The pair, with the gold of its name among that of all tasks."""
        others = [gold for gold in golds if gold.name == self.gold.name and gold is not self.gold]
        return replace(self, elsewhere=tuple(others))

    def fits(self, gold: FoundTable) -> bool:
        """Whether other gold has the columns of its own."""
        return {*self.key.values(), *self.fields.values()} <= set(gold.columns)

    def answered_right(self, gold: FoundTable) -> "FilePair":
        """The right answers to other gold, in a file like this one."""
        theirs = self.key | self.fields
        columns = []
        for one in self.answer.columns:
            if one in theirs:
                columns.append(gold.column(theirs[one]))
            else:
                columns.append([""] * len(gold.rows))
        return replace(self, answer=self.answer.with_rows(zip(*columns, strict=True)), gold=gold)

    @property
    def said(self) -> str:
        by = ", ".join(self.key) or "line"
        return f"{self.answer.name} answers {self.gold.name}, by {by}"


def pairs_of(answers: Sequence[FoundTable], golds: Sequence[FoundTable]) -> list[FilePair]:
    """Each file of a submission with the gold that it fits best; files that fit none are left out."""
    found = []
    for answer in answers:
        fitting: list[FilePair] = []
        for gold in golds:
            for key in _keys(answer, gold):
                fields = _answered(answer, gold, key)
                if fields:
                    fitting.append(FilePair(answer, gold, key, fields))
                    break
        if fitting:
            found.append(max(fitting, key=_fit))
    return found


def _fit(pair: FilePair) -> tuple[bool, int, int]:
    """The better, the larger: matched by a key, then by the columns of the same name, then by the files' names."""
    columns = pair.key | pair.fields
    likeness = 0
    for one, other in zip(pair.answer.name.lower(), pair.gold.name.rpartition("/")[2].lower(), strict=False):
        if one != other:
            break
        likeness += 1
    return bool(pair.key), sum(map(eq, columns, columns.values())), likeness


def _keys(answer: FoundTable, gold: FoundTable) -> Iterator[Columns]:
    """What may be a key: columns with the same values in both, each once; of the same name first. At last the line."""
    pairs = [(one, other) for one, other in product(answer.columns, gold.columns) if one != other]
    both = list(filter(gold.columns.__contains__, answer.columns))
    same = list(zip(both, both, strict=True))
    for chosen in chain(combinations([*same, *pairs], 1), combinations(same, 2)):
        key = dict(chosen)
        answered, wanted = answer.ids(key), gold.ids(key.values())
        ids = set(answered)
        if ids == set(wanted) and len(ids) == len(answered) == len(wanted):
            yield key
    if len(answer.rows) == len(gold.rows):
        yield {}


def _answered(answer: FoundTable, gold: FoundTable, key: Columns) -> Columns:
    """The columns that are no key, each with the gold's: of the same name, else the one whose values are most alike."""
    columns = [one for one in answer.columns if one not in key]
    free = [one for one in gold.columns if one not in key.values()]
    others = [one for one in free if one not in columns]
    found: dict[str, str] = {}
    for column in columns:
        if column in free:
            found[column] = column
        elif others:
            alike = [_likeness(answer.column(column), gold.column(one)) for one in others]
            found[column] = others.pop(alike.index(max(alike)))
    return found


def _likeness(answered: Sequence[object], wanted: Sequence[object]) -> tuple[float, bool]:
    """How alike the values of two columns are: the share of those that both have, then whether both are numbers."""
    one, other = set(map(str, answered)), set(map(str, wanted))
    both_numbers = all(map(is_number, answered)) == all(map(is_number, wanted))
    return len(one & other) / len(one | other), both_numbers
