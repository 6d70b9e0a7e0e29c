"""The rows of a table by key: read from a participant's files or from the gold's, by the same rules.

Runs on Python 3.9 with the standard library alone, because participants run it at home.
"""

import json
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from declared.records import NumberedRow, NumberedRows, Rows
from declared.rows import AT_ONCE, read_rows
from declared.tables import LINE, Key, Table
from scoring_kit.base.field_types import ABSENT, Field, FieldError, json_text
from scoring_kit.base.row_files import File
from scoring_kit.base.texts import counted
from scoring_kit.errors import Fault, Problems, first_of, shown

if TYPE_CHECKING:
    from scoring_kit.base.array_heads import Head

NAMES_SHOWN = 10
FILE_BITS = 40
"""A row's number has fewer bits; the number of its file is above them."""


@dataclass(frozen=True)
class Answers:
    """Values in columns.

    Attributes:
        columns: (field, type) → its values: one for each key in the keys' order, or, with many rows, one for each row.
        owners: with many rows, the position of each row's key; empty otherwise.
        numbers: the number of the row that each value comes from, for `Rows.place`; -1 for a key without a row.
        unknown: the keys of rows that were left out since nobody knows them, as they are shown.
    """

    columns: Dict[Tuple[str, str], List[Any]]
    owners: List[int]
    numbers: List[int]

    unknown: List[str] = dataclass_field(default_factory=list)

    def by_key(self, rows: Sequence[Any], keys: int) -> List[List[Any]]:
        """Return what is known of each row, in a list for each of so many keys."""
        found: List[List[Any]] = [[] for _ in range(keys)]
        for row, owner in zip(rows, self.owners):
            found[owner].append(row)
        return found


@dataclass(frozen=True)
class ArrayFile:
    """An array where it lies, so that one key's numbers are read at a time (`declared.arrays`).

    Attributes:
        path: of the file.
        name: in messages.
        format: one of `array_heads.FORMATS`.
        member: its name within a .npz; None: the only one.
        head: what the file's head says.
        counted: what metrics have counted of an answer against its gold, so that it is read once; of a report's team
            the file is gone when its results are resampled.
    """

    path: Path
    name: str
    format: str
    member: Optional[str]
    head: "Head"
    counted: Dict[Any, Any] = dataclass_field(default_factory=dict, compare=False)


def with_paths(row: Any) -> Any:
    """Return a row with the path of each array in its place."""
    if not isinstance(row, dict):
        return row
    return {name: value.path if isinstance(value, ArrayFile) else value for name, value in row.items()}


def key_of(values: Sequence[Any], table: Table, rows: Rows, number: int, report: Fault) -> Optional[Key]:
    """Return the key in the first values of a row; None, with the fault reported, where a part is blank or no text."""
    parts = []
    for at, name in enumerate(table.key):
        value = values[at]
        if value is ABSENT or value is None:
            value = ""
        text = json_text(value)
        if not isinstance(text, str):
            report(rows.place(number), f"{name} is not a text:", repr(value), "an id")
        elif text and text == text.strip():
            parts.append(text)
        elif text.strip():
            report(rows.place(number), f"{name} has blanks around it:", text, "the id without the blanks")
        else:
            report(rows.place(number), f"{name} is empty", "", "the id of a row of the data")
    return tuple(parts) if len(parts) == len(table.key) else None


def named_key(key: Key) -> str:
    """Return a key in a message."""
    return ", ".join(map(shown, key))


def near(column: str, names: Iterable[str]) -> str:
    """Return in words which of the names may be meant by a column that is missing."""
    folded = {name.casefold(): name for name in names}
    found = get_close_matches(column.casefold(), folded, n=1)
    return f"; there is {folded[found[0]]}" if found else ""


def report_missing(names: Sequence[str], file: File, problems: Problems) -> None:
    """Record as one problem the files of a table that were not sent, each by its name."""
    what = "is missing"
    if names[1:]:
        what += f", with {counted(len(names) - 1, 'more file')}: {first_of(names[1:], NAMES_SHOWN, shown)}"
    whose = f" for each {file.named_by}" if file.named_by else ""
    problems.error(names[0], what, f"a file {file.name}{whose}")


def files_of_keys(
    sent: Iterable[Tuple[str, Any, str]], known: Mapping[Any, Any], field: str, table: Table, problems: Problems
) -> Dict[str, Dict[Any, str]]:
    """Return for each pattern of file names what is known of a key → the name of its file.

    `sent` has pattern, value in the name, as it is compared, and name of each file; files of unknown values of the
    `field`, and second ones, are recorded.
    """
    found: Dict[str, Dict[Any, str]] = {}
    unknown: List[str] = []
    for pattern, value, name in sent:
        of_pattern = found.setdefault(pattern, {})
        if value not in known and table.ignores_unknown:
            unknown.append(name)
        elif value not in known:
            problems.error_in_file(name, f"is of an unknown {field}", "a file for each id of this phase's data")
        elif known[value] in of_pattern:
            first = of_pattern[known[value]]
            problems.error(name, f"a second file for the same answer, after {first}", "one file for each")
        else:
            of_pattern[known[value]] = name
    if unknown:
        what = f"{counted(len(unknown), 'file')} of unknown {field} left out"
        problems.warn(table.file.name, f"{what}: {first_of(unknown, NAMES_SHOWN, shown)}")
    return found


@dataclass(frozen=True)
class NamedText:
    """A file that was read: its name, its text, and the value of the key's field that its name says."""

    name: str
    text: str
    named: str = ""


def read_files(
    sources: Sequence[NamedText],
    file: File,
    fields: Sequence[Field],
    table: Table,
    problems: Problems,
    keys: Optional[Sequence[Key]] = None,
) -> List[Rows]:
    """Return the rows of each file of a table, with their whole key before the values of `fields`.

    `keys` are those whose rows are asked for; None in gold, whose rows say which there are.
    """
    looked_at = None
    if keys is not None and table.ignores_unknown:
        looked_at = table.positions(keys)
    wanted = list(fields)
    if not file.has_lines:
        wanted = [*table.key_in(file), *fields]
    parts = []
    for source in sources:
        before = problems.found
        rows = read_rows(source.text, source.name, file, wanted, table, problems, looked_at)
        if table.counts_lines or file.has_lines:
            values = list(rows.rows)
            keyed: List[NumberedRow] = []
            if problems.found == before:  # a row that is left out would give the next ones other keys
                keyed = _keyed_in_order(values, keys, file, table, source, problems)
            rows = replace(rows, rows=iter(keyed), keys=(), empty_keys=())
        elif file.named_by:
            at = table.key.index(file.named_by)
            empty = [(*key[:at], source.named, *key[at:]) for key in rows.empty_keys]
            rows = replace(rows, rows=_with_part(rows.rows, at, source.named), keys=(), empty_keys=empty)
        parts.append(rows)
    return parts


def _with_part(rows: NumberedRows, at: int, part: str) -> NumberedRows:
    for number, values in rows:
        yield number, (*values[:at], part, *values[at:])


def _keyed_in_order(
    values: List[NumberedRow],
    keys: Optional[Sequence[Key]],
    file: File,
    table: Table,
    source: NamedText,
    problems: Problems,
) -> List[NumberedRow]:
    """The rows of a file whose places say their keys, or parts of them, with these keys before their values."""
    own = _keys_in_order(keys, file, table, source)
    if table.counts_lines:
        _drop_blank_end(values, own, table)
    keyed: List[NumberedRow] = []
    if table.numbers_rows:
        width = len(table.key_in(file))
        for at, (number, row) in enumerate(values, 1):
            parts = {LINE: str(at), file.named_by: source.named}
            held = iter(row[:width])
            key = [parts[name] if name in parts else next(held) for name in table.key]
            keyed.append((number, (*key, *row[width:])))
        return keyed
    if own is None:
        own = [(str(number),) for number in range(1, len(values) + 1)]
    if len(values) != len(own):
        expected = f"{len(own)}, one for each row of the data, in its order"
        problems.error(source.name, f"has {counted(len(values), 'line')}", expected)
        return []
    for one, (number, row) in zip(own, values):
        keyed.append((number, (*one, *row)))
    return keyed


def _drop_blank_end(values: List[NumberedRow], keys: Optional[Sequence[Key]], table: Table) -> None:
    """Take blank lines away from the end of rows; those of gold with gaps count, and those that keys ask for."""
    if keys is None and table.skips_empty:
        return
    least = len(keys or ())
    while len(values) > least and not any(values[-1][1]):
        values.pop()


def _keys_in_order(
    keys: Optional[Sequence[Key]], file: File, table: Table, source: NamedText
) -> Optional[Sequence[Key]]:
    """The keys that the rows of a file answer one after the other; None where the rows say which there are."""
    if not file.named_by:
        return keys
    if keys is None:
        return None if table.numbers_rows else [(source.named,)]
    at = table.key.index(file.named_by)
    canonical = table.key_fields[at].canonical
    return [key for key in keys if canonical(key[at]) == canonical(source.named)]


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several files as those of one; their numbers say which file each is from."""
    if len(parts) == 1:
        return parts[0]

    def rows() -> NumberedRows:
        for at, part in enumerate(parts):
            for number, values in part.rows:
                yield at << FILE_BITS | number, values

    def place(number: int) -> str:
        return parts[number >> FILE_BITS].place(number & ((1 << FILE_BITS) - 1))

    first = parts[0] if parts else Rows((), False, iter(()), str)
    empty: List[Key] = []
    for part in parts:
        empty += part.empty_keys
    return replace(first, rows=rows(), place=place, empty_keys=empty)


def read_answers(
    rows: Rows,
    table: Table,
    keys: Mapping[Key, int],
    fields: Sequence[Field],
    problems: Problems,
    report: Fault,
    ignores_unknown: bool = False,
) -> Answers:
    """Read the rows of a file whose values are those of the key, then of `fields`.

    `keys` has the position of each key, as it is compared. Rows with unknown keys, and second ones for a key, are
    recorded in `problems`, but for unknown ones that are ignored; what is wrong with a value goes to `report`.
    """
    waiting = 0 if table.many else len(keys)
    answers = Answers({}, [], [-1] * waiting)
    for field in fields:
        answers.columns[field.name, field.type] = [field.empty] * waiting
    into_columns = _RowsToColumns(rows, table, keys, fields, problems, report, answers)
    while taken := list(islice(rows.rows, AT_ONCE)):
        into_columns.take(taken)
    unknown = into_columns.unknown
    if ignores_unknown:
        answers.unknown.extend(unknown.values())
    elif unknown:
        known = bool(answers.owners) or max(answers.numbers, default=-1) >= 0
        place = rows.place(next(iter(unknown)))
        problems.unknown_ids(place, ", ".join(table.key), list(unknown.values()), some_known=known)
    return answers


@dataclass(frozen=True)
class _RowsToColumns:
    """Rows on their way into columns; the attributes are those of `read_answers`, and what it gives.

    `unknown` takes the number of each row with an unknown key, and this as it is shown.
    """

    rows: Rows
    table: Table
    keys: Mapping[Key, int]
    fields: Sequence[Field]
    problems: Problems
    report: Fault
    answers: Answers
    unknown: Dict[int, str] = dataclass_field(default_factory=dict)

    def take(self, taken: Sequence[NumberedRow]) -> None:
        """Put the values of rows to their keys; what is wrong is recorded: first keys, then values row by row."""
        answers, width, many = self.answers, len(self.table.key), self.table.many
        numbers: List[int] = []
        positions: List[int] = []
        rows: List[Tuple[Any, ...]] = []
        for number, values in taken:
            position = self._position(number, values)
            if position is None:
                continue
            if not many and answers.numbers[position] >= 0:
                first = self.rows.place(answers.numbers[position])
                what = f"a second row for {named_key(values[:width])}, after {first}"
                self.problems.error(self.rows.place(number), what, "one row for each key")
                continue
            if not many:
                answers.numbers[position] = number
            numbers.append(number)
            positions.append(position)
            rows.append(values[width:])
        if many:
            answers.numbers.extend(numbers)
            answers.owners.extend(positions)
        for column, read in zip(answers.columns.values(), self._values(numbers, rows)):
            if many:
                column.extend(read)
            else:
                for position, value in zip(positions, read):
                    column[position] = value

    def _values(self, numbers: Sequence[int], rows: Sequence[Tuple[Any, ...]]) -> Sequence[Sequence[Any]]:
        """Return the values of rows for each field: read column by column, or row by row where one is wrong."""
        columns: List[Sequence[Any]] = []
        try:
            for field, raw in zip(self.fields, zip(*rows)):
                values = [field.of_json(value) for value in raw] if self.rows.is_json else field.of_cells(raw)
                columns.append(values)
        except FieldError:  # which row it is in must be told
            columns = list(zip(*map(self._row, numbers, rows)))
        return columns

    def _row(self, number: int, values: Tuple[Any, ...]) -> List[Any]:
        """Return the values of a row, an empty one in place of each that is wrong and recorded."""
        read: List[Any] = []
        for field, raw in zip(self.fields, values):
            of_raw = field.of_json if self.rows.is_json else field.of_cell
            try:
                read.append(of_raw(raw))
            except FieldError as error:
                self.report(self.rows.place(number), f"{error.rule}:", _text(raw), error.expected)
                read.append(field.empty)
        return read

    def _position(self, number: int, values: Tuple[Any, ...]) -> Optional[int]:
        """The position of a row's key; None, with the problem recorded, where there is none."""
        try:
            position = self.keys.get(values[: len(self.table.key)])
        except TypeError:  # a list or an object of JSON, which `key_of` reports
            position = None
        if position is not None:
            return position
        key = key_of(values, self.table, self.rows, number, self.report)  # rarely, so that this may take its time
        position = None if key is None else self.keys.get(self.table.canonical(key))
        if key is not None and position is None:
            self.unknown[number] = named_key(key)
        return position


def _text(raw: Any) -> str:
    if raw is ABSENT or raw is None:
        return ""
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
