"""Files of rows: how they are called and read, where they have each field, and how they are written.

Runs on Python 3.9 with the standard library alone, because participants run it at home.
"""

import csv
import io
import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Collection, Dict, Iterable, List, Mapping, Optional, Pattern, Sequence, Tuple

from scoring_kit.base.field_types import Field

BLANKS = "blanks"
"""As a delimiter: any number of blanks and tabs."""
ANY_NAME = "predictions"
"""The name of a file that may have any."""


@dataclass(frozen=True)
class FieldPlace:
    """Where a file has the value of a field.

    Attributes:
        name: its column, or its name in JSON.
        columns: the columns that it is spread over; empty where it has one of its own.
        path: in JSON, the names and numbers that lead to it from the record; None where its name does.
    """

    name: str
    columns: Tuple[str, ...] = ()
    path: Optional[Tuple[str, ...]] = None

    @property
    def cells(self) -> Tuple[str, ...]:
        """The columns of a table of cells that hold it."""
        return self.columns or (self.name,)


@dataclass(frozen=True)
class File:
    """A file of rows, and how it is read.

    Attributes:
        name: its name, or a pattern: `*.csv`, or `{doc}.csv` with a file for each value of the key field `doc`.
        format: csv, tsv, jsonl, json or txt; None: what the suffix says.
        quoting: rfc4180, or none where cells are not quoted.
        delimiter: what separates cells, where that is not the suffix's own; `BLANKS` for any blanks and tabs.
        columns: the names of its columns, in order, where it has no header line.
        skip: so many lines at its beginning are not read.
        at: in JSON, the path to the records.
        within: in JSON, the path from a record to the list of the rows of its key; None: a record is a row.
        names: field → its column or name here, where that is another.
        paths: field → its path in a JSON record.
        spread: field → the columns that it is spread over here, where those are others than its own.
        files: in place of rows, field → name and format of the file that holds it.
    """

    name: str
    format: Optional[str] = None
    quoting: str = "rfc4180"
    delimiter: Optional[str] = None
    columns: Optional[Sequence[str]] = None
    skip: int = 0
    at: str = ""
    within: Optional[str] = None
    names: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    spread: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def holding(self, field: str) -> "File":
        """Return the file, or files, of a field of a table without rows."""
        name, file_format = self.files[field]
        return File(name, file_format)

    @property
    def parts(self) -> List["File"]:
        """Return the different files of a table without rows."""
        return list({name: File(name, file_format) for name, file_format in self.files.values()}.values())

    @property
    def suffix(self) -> str:
        """The format as a suffix; lines with a delimiter are a table."""
        suffix = "." + (self.format or self.name.rpartition(".")[2].lower())
        return ".csv" if suffix == ".txt" and self.delimiter else suffix

    @property
    def ending(self) -> str:
        """The part of the name from its last dot on, in lower case."""
        return "." + self.name.rpartition(".")[2].lower()

    @property
    def separator(self) -> str:
        """Return what separates the cells of a table."""
        if self.delimiter == BLANKS:
            return " "
        return self.delimiter or ("\t" if self.suffix == ".tsv" else ",")

    @property
    def has_cells(self) -> bool:
        """Whether it is a table of cells."""
        return self.suffix in (".csv", ".tsv")

    @property
    def has_lines(self) -> bool:
        """Whether each of its lines is one text."""
        return self.suffix == ".txt"

    @property
    def named_by(self) -> str:
        """The field of the key whose value is in the name; empty where the name is the same for all."""
        return self.name.partition("{")[2].partition("}")[0]

    @cached_property
    def _named(self) -> "Pattern[str]":
        """Return what the names of files match: the value is one part of a path, the same wherever it stands."""
        start, *others = map(re.escape, self.name.split("{" + self.named_by + "}"))
        return re.compile(start + "([^/]+)" + r"\1".join(others))

    @property
    def is_pattern(self) -> bool:
        """Whether its name stands for others."""
        return bool(self.named_by or self.files) or self.name.startswith("*")

    def value_in(self, name: str) -> Optional[str]:
        """Return what stands in a file's name for the placeholder; None where the name does not fit the pattern."""
        found = self._named.fullmatch(name) if self.named_by else None
        return found[1] if found else None

    def name_of(self, value: str) -> str:
        """Return the name of the file of a value."""
        return self.name.replace("{" + self.named_by + "}", value)

    def matching(self, names: Collection[str]) -> List[str]:
        """Return those of the names that fit a pattern, or are this file's own."""
        parts = self.parts if self.files else [self]
        found = []
        for name in names:
            if any(part._fits(name) for part in parts):
                found.append(name)
        return found

    def _fits(self, name: str) -> bool:
        if self.named_by:
            return self.value_in(name) is not None
        if self.name.startswith("*"):
            return name.endswith(self.name[1:]) and "/" not in name
        return name == self.name

    def place(self, field: Field) -> FieldPlace:
        """Return where it has a field."""
        name = self.names.get(field.name, field.name)
        path = steps(self.paths[field.name]) if field.name in self.paths else None
        return FieldPlace(name, tuple(self.spread.get(field.name, field.columns)), path)

    def cells(self, fields: Iterable[Field]) -> List[str]:
        """Return the columns of a table of cells that hold these fields."""
        found: List[str] = []
        for one in fields:
            found += self.place(one).cells
        return found


def steps(path: str) -> Tuple[str, ...]:
    """Return the names and numbers of a path; none of an empty one."""
    return tuple(path.split(".")) if path else ()


def write_rows(
    file: File, fields: Sequence[Field], rows: Sequence[Sequence[Any]], key: Sequence[str], *, by_line: bool = False
) -> Dict[str, str]:
    """Name → text of the files that hold these rows: values as JSON writes them, in the order of the fields.

    `key` names the fields of the key, which are among them; `by_line` says that no file holds it.
    """
    if not file.named_by:
        return {file.name.replace("*", ANY_NAME): _text(file, fields, rows, key, by_line=by_line)}
    at = [one.name for one in fields].index(file.named_by)
    others = [*fields[:at], *fields[at + 1 :]]
    grouped: Dict[str, List[Sequence[Any]]] = {}
    for row in rows:
        grouped.setdefault(row[at], []).append([*row[:at], *row[at + 1 :]])
    return {file.name_of(value): _text(file, others, some, key, by_line=by_line) for value, some in grouped.items()}


def _text(
    file: File, fields: Sequence[Field], rows: Sequence[Sequence[Any]], key: Sequence[str], *, by_line: bool
) -> str:
    """The text of a file, before whose rows are as many lines as are not read."""
    unread = "".join(f"line {number}, which is not read\n" for number in range(1, file.skip + 1))
    held: Dict[FieldPlace, Field] = {}
    columns: List[List[Any]] = []
    is_key = []
    for at, one in enumerate(fields):
        place = file.place(one)
        if place not in held and not (by_line and one.name in key):  # several fields may share a column
            held[place] = one
            columns.append([row[at] for row in rows])
            is_key.append(one.name in key)
    fields = list(held.values())
    if file.has_cells:
        return unread + _cells_text(file, fields, columns)
    if file.has_lines:
        to_cell = fields[-1].kind.to_cell
        return unread + "".join(f"{to_cell(fields[-1], value)}\n" for value in columns[-1])
    return unread + _json_text(file, list(held), is_key, columns)


def _json_text(
    file: File, places: Sequence[FieldPlace], is_key: Sequence[bool], columns: Sequence[Sequence[Any]]
) -> str:
    """The rows as JSON, or the lists of each key's rows; `is_key` tells of each column whether it is one of the key."""
    held: Any
    rows = list(zip(*columns))
    if file.within is None:
        records = held = [_record(places, row) for row in rows]
        if any(place.path == () for place in places):  # the record itself is the answer, below its key
            held = dict(zip(columns[is_key.index(True)], records))
    else:
        not_key = [not of_key for of_key in is_key]
        named, others = list(compress(places, is_key)), list(compress(places, not_key))
        lists: Dict[Tuple[Any, ...], List[Any]] = {}
        for row in rows:
            lists.setdefault(tuple(compress(row, is_key)), []).append(_record(others, compress(row, not_key)))
        path = steps(file.within)
        records = held = [_put(_record(named, key), path, listed) for key, listed in lists.items()]
        if not named:
            held = records[0]
        elif not path and file.suffix != ".jsonl":  # a list says no key
            held = {key[0]: listed for key, listed in lists.items()}
    is_by_line = file.suffix == ".jsonl" and (file.within is None or named)
    if not is_by_line and (file.within is not None or file.at or held is not records):
        return _json(_put(None, steps(file.at), held), indent=1) + "\n"
    lines = [_json(record) for record in records]
    return "\n".join([*lines, ""]) if is_by_line else "[\n" + ",\n".join(lines) + "\n]\n"


def _record(places: Iterable[FieldPlace], values: Iterable[Any]) -> Any:
    """Values at their places in a JSON record; None where there are none."""
    record: Any = None
    for place, value in zip(places, values):
        path = (place.name,) if place.path is None else place.path
        record = _put(record, path, value)
    return record


def _json(value: Any, indent: Optional[int] = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _cells_text(file: File, fields: Sequence[Field], values: Sequence[Sequence[Any]]) -> str:
    """The table of the values of each field."""
    header = file.cells(fields)
    cells: List[Sequence[str]] = []
    for one, column in zip(fields, values):
        written = [one.kind.to_cell(one, value) for value in column]
        cells += zip(*written) if one.columns else [written]
    lines: List[Sequence[str]] = list(zip(*cells))
    if file.columns is None:
        lines.insert(0, header)
    else:
        order = [header.index(column) for column in file.columns if column in header]
        for number, line in enumerate(lines):
            lines[number] = [line[at] for at in order]
    if file.delimiter == BLANKS:  # between which nothing is no cell
        for number, line in enumerate(lines):
            lines[number] = [cell or "-" for cell in line]
    if file.quoting == "none" or file.delimiter == BLANKS:
        return "\n".join([*(file.separator.join(line) for line in lines), ""])
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=file.separator, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def _put(container: Any, path: Sequence[str], value: Any) -> Any:
    """The container, made where there is none, with the value at a path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if not (step.isdecimal() and (container is None or isinstance(container, list))):
        if not isinstance(container, dict):
            container = {}
        container[step] = _put(container.get(step), rest, value)
        return container
    container = container or []
    container += [None] * (int(step) + 1 - len(container))
    container[int(step)] = _put(container[int(step)], rest, value)
    return container
