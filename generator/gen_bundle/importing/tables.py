"""Tables of gold and of submissions, as any scorer's files have them: read, written again, and paired."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from operator import eq
from typing import Any, Literal

from scoring_kit.base.submissions import allow_long_cells

DELIMITERS = (",", "\t", ";", "|", " ")
LARGEST = 50_000_000
SUFFIXES = {"\t": ".tsv", ",": ".csv"}
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
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def ids(self, columns: Iterable[str]) -> list[tuple[str, ...]]:
        """The cells of each row in these columns, as texts."""
        texts = [map(str, self.column(one)) for one in columns]
        return list(zip(*texts, strict=True))

    def with_rows(self, rows: Iterable[Row]) -> "FoundTable":
        return replace(self, rows=tuple(rows))

    def written(self) -> bytes:
        """The file."""
        if self.form == "cells":
            return self._cells_text().encode()
        records = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        if self.form == "json lines":
            return "".join(f"{json.dumps(record)}\n" for record in records).encode()
        value: Any = records
        if self.form == "list":
            value = self.column(VALUE)
        elif self.form == "mapping":
            value = dict(self.rows) if self.columns == (KEY, VALUE) else {one.pop(KEY): one for one in records}
        return json.dumps(value).encode()

    def _cells_text(self) -> str:
        lines = [self.columns, *self.rows] if self.header else self.rows
        if not self.delimiter:
            return "".join(f"{line[0]}\n" for line in lines)
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator="\n").writerows(lines)
        return out.getvalue()


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
            return _records(name, "json lines", [json.loads(line) for line in text.splitlines() if line.strip()])
        if suffix == "json":
            return _json_table(name, json.loads(text))
    except (ValueError, RecursionError):
        return None
    return None if "\0" in text else _text_table(name, text, names)


def _json_table(name: str, value: Any) -> FoundTable | None:
    if not value or not isinstance(value, list | dict):
        return None
    if isinstance(value, list):
        if _are_plain(value):
            return FoundTable(name, "list", (VALUE,), tuple((one,) for one in value))
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
    return not any(isinstance(one, list | dict) for one in values)


def _records(name: str, form: Form, records: Sequence[Any]) -> FoundTable | None:
    """A table of flat records that all have the same names."""
    if not records or not isinstance(records[0], dict) or not records[0]:
        return None
    columns = tuple(records[0])
    rows: list[Row] = []
    for record in records:
        if not isinstance(record, dict) or set(record) != set(columns) or not _are_plain(record.values()):
            return None
        rows.append(tuple(record[one] for one in columns))
    return FoundTable(name, form, columns, tuple(rows))


def _text_table(name: str, text: str, names: frozenset[str]) -> FoundTable | None:
    usual = next((one for one, suffix in SUFFIXES.items() if name.lower().endswith(suffix)), "")
    delimiter, rows = _cells(text, usual)
    if not rows:
        return None
    if _has_header(rows, names):
        return FoundTable(name, "cells", rows[0], tuple(rows[1:]), delimiter or usual, header=True)
    columns = tuple(f"column{place}" for place in range(1, len(rows[0]) + 1)) if delimiter else (ANSWER,)
    return FoundTable(name, "cells", columns, tuple(rows), delimiter)


def _cells(text: str, usual: str) -> tuple[str, list[Row]]:
    """What separates cells, as many in each row and the usual mark first, and the rows; else a line is one cell."""
    allow_long_cells()
    for mark in sorted(DELIMITERS, key=lambda one: one != usual):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        try:
            rows = [tuple(row) for row in reader if any(row)]
        except csv.Error:
            continue
        if len(set(map(len, rows))) == 1 and len(rows[0]) > 1:
            return mark, rows
    return "", [(line.strip(),) for line in text.splitlines() if line.strip()]


def _has_header(rows: Sequence[Row], names: frozenset[str]) -> bool:
    """Whether the first row names the columns: no number, none of its words below it, and a sign that it is one."""
    first, rest = rows[0], rows[1:]
    if not rest or any(map(is_number, first)) or not all(first) or len(set(first)) < len(first):
        return False
    words = set(map(str.lower, first))
    is_sign = "id" in words or not names.isdisjoint(words)
    for place, cell in enumerate(first):
        below = {row[place] for row in rest}
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
            values += table.column(column) if column in table.columns else []
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
        columns = [gold.column(theirs[one]) if one in theirs else [""] * len(gold.rows) for one in self.answer.columns]
        return replace(self, answer=self.answer.with_rows(zip(*columns, strict=True)), gold=gold)

    @property
    def said(self) -> str:
        by = ", ".join(self.key) or "line"
        return f"{self.answer.name} answers {self.gold.name}, by {by}"


def pairs_of(answers: Sequence[FoundTable], golds: Sequence[FoundTable]) -> list[FilePair]:
    """Each file of a submission with the gold that it fits best; files that fit none are left out."""
    found = []
    for answer in answers:
        fitting = [_matched(answer, gold) for gold in golds]
        best = max(filter(None, fitting), key=_fit, default=None)
        if best is not None:
            found.append(best)
    return found


def _fit(pair: FilePair) -> tuple[bool, int, int]:
    """The better, the larger: matched by a key, then by the columns of the same name, then by the files' names."""
    columns = pair.key | pair.fields
    words = zip(pair.answer.name.lower(), pair.gold.name.rpartition("/")[2].lower(), strict=False)
    likeness = next((place for place, (one, other) in enumerate(words) if one != other), 99)
    return bool(pair.key), sum(map(eq, columns, columns.values())), likeness


def _matched(answer: FoundTable, gold: FoundTable) -> FilePair | None:
    for key in _keys(answer, gold):
        fields = _answered(answer, gold, key)
        if fields:
            return FilePair(answer, gold, key, fields)
    return None


def _keys(answer: FoundTable, gold: FoundTable) -> Iterator[Columns]:
    """What may be a key: columns with the same values in both, each once; of the same name first. At last the line."""
    pairs = [(one, other) for one, other in product(answer.columns, gold.columns) if one != other]
    same = [(one, one) for one in answer.columns if one in gold.columns]
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
    found: dict[str, str] = {}
    for column in columns:
        if column in free:
            found[column] = column
            continue
        alike = {one: _likeness(answer.column(column), gold.column(one)) for one in free if one not in columns}
        if alike:
            found[column] = max(alike, key=alike.__getitem__)
            free.remove(found[column])
    return found


def _likeness(answered: Sequence[object], wanted: Sequence[object]) -> tuple[float, bool]:
    """How alike the values of two columns are: the share of those that both have, then whether both are numbers."""
    one, other = set(map(str, answered)), set(map(str, wanted))
    both_numbers = all(map(is_number, answered)) == all(map(is_number, wanted))
    return len(one & other) / len(one | other), both_numbers
