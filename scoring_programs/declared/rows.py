"""Files of rows in any format: CSV, TSV, JSON lines, JSON or plain lines.

A line ends with LF or CRLF alone, so that a text may hold any other character. Runs on Python 3.9 with the standard
library alone.
"""

import csv
import json
import re
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Callable, Dict, Iterator, List, Mapping, Sequence, Tuple

from declared.fields import ABSENT
from declared.tables import File, Table
from scoring_kit.csv_reading import separated_otherwise
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import JsonObject, report_duplicates

LONE_RETURN = re.compile(r"\r(?!\n)")
FIELD_LIMIT = 1 << 27


@dataclass(frozen=True)
class Rows:
    """The rows of a file.

    Attributes:
        names: the columns that the file has; of JSON, which may differ from row to row, those asked for.
        is_json: whether values are JSON values; else they are cells.
        rows: (number of the row's place, its values in the order of the names asked for), `ABSENT` where it has none;
            can be gone through once, and what is wrong is recorded on the way.
        place: the words for a row's number: `file:line`, `file[index]`.
        keys: the names of a JSON object, each a key, also one without rows.
        empty_keys: of many rows, those without any.
    """

    names: Sequence[str]
    is_json: bool
    rows: Iterator[Tuple[int, Tuple[Any, ...]]]
    place: Callable[[int], str]
    keys: Sequence[str] = ()
    empty_keys: Sequence[str] = ()


def read_rows(text: str, name: str, file: File, wanted: Sequence[str], table: Table, problems: Problems) -> Rows:
    """Read the text of a file.

    Args:
        text: its content.
        name: its name in messages.
        file: its format and quoting.
        wanted: the names whose values are asked for.
        table: whose file it is: key and rows decide how a JSON object is read.
        problems: takes what is wrong.
    """
    text = _skipped(text, file)
    if file.suffix in (".csv", ".tsv"):
        return _delimited(text, name, file, wanted, problems)
    if file.suffix == ".jsonl":
        rows = _json_lines(text, name, wanted, problems)
        return Rows(wanted, True, rows, lambda line: f"{name}:{line}")
    if file.suffix == ".json":
        return _json(text, name, wanted, table, problems)
    lines = text_lines(text)
    return Rows(wanted, False, ((n, (line,)) for n, line in enumerate(lines, 1)), lambda line: f"{name}:{line}")


def column_names(text: str, file: File, only_answer: str = "") -> List[str]:
    """The names of all columns of a file, those of JSON objects in the order in which they first occur.

    `only_answer` is what the values of a JSON object are called that are no objects (see `Table.only_answer`).
    """
    nothing = Problems()
    if file.columns is not None:
        return list(file.columns)
    text = _skipped(text, file)
    if file.suffix in (".csv", ".tsv"):
        return [name for name in _delimited(text, "", file, (), nothing).names if name]
    names: Dict[str, None] = {}
    for value in _json_values(text, file, nothing):
        if isinstance(value, JsonObject):
            names.update(dict.fromkeys(value))
        elif only_answer and file.suffix == ".json":
            names[only_answer] = None
    return list(names)


def _skipped(text: str, file: File) -> str:
    """The text with blank lines in place of those that are not read, so that the others keep their numbers."""
    return "\n" * file.skip + "\n".join(text.split("\n")[file.skip :]) if file.skip else text


def _json_values(text: str, file: File, problems: Problems) -> Iterator[Any]:
    """The objects of a JSON file that may be rows."""
    if file.suffix == ".jsonl":
        for line in text_lines(text):
            yield _parsed(line, "", problems)
    elif file.suffix == ".json":
        value = _parsed(text, "", problems)
        for item in value if isinstance(value, list) else value.values() if isinstance(value, JsonObject) else ():
            yield from item if isinstance(item, list) and item else [item]


def text_lines(text: str) -> List[str]:
    """The lines of a text; a line end at its end belongs to the last line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _delimited(text: str, name: str, file: File, wanted: Sequence[str], problems: Problems) -> Rows:
    """A table with a header; rows of another width are recorded and left out, blank lines are skipped."""

    def place(line: int) -> str:
        return f"{name}:{line}"

    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.error(place(line), "holds a NUL character", "plain text")
        return Rows((), False, iter(()), place)
    if not file.delimiter and file.columns is None and separated_otherwise(text, file.separator, name, problems):
        return Rows((), False, iter(()), place)
    delimiter = file.separator
    rows = _unquoted(text, delimiter) if file.quoting == "none" else _quoted(text, delimiter, name, problems)
    if file.columns is not None:
        at = [file.columns.index(column) if column in file.columns else len(file.columns) for column in wanted]
        expected = f"{len(file.columns)}, without a header line: {', '.join(file.columns)}"
        rows = _without_header(rows, file.columns, place, problems)
        return Rows(file.columns, False, _picked(rows, at, len(file.columns), expected, place, problems), place)
    line, cells = next(rows, (1, []))
    header = [column.strip() for column in cells]
    if not any(header):
        between = {"\t": "tabs", ",": "commas"}.get(delimiter, delimiter)
        problems.error(name, "has no header line", f"a first line with the column names, separated by {between}")
        return Rows((), False, iter(()), place)
    for column in wanted:
        if header.count(column) > 1:
            problems.error(place(line), f"the column {shown(column)} is there more than once", "each column once")
    at = [header.index(column) if column in header else len(header) for column in wanted]
    expected = f"{len(header)}, as many as the header has columns"
    return Rows(header, False, _picked(rows, at, len(header), expected, place, problems), place)


def _without_header(
    rows: Iterator[Tuple[int, List[str]]], columns: Sequence[str], place: Callable[[int], str], problems: Problems
) -> Iterator[Tuple[int, List[str]]]:
    """The rows; a first one that holds the columns' names is recorded, and left out."""
    names = [column.casefold() for column in columns]
    for number, (line, cells) in enumerate(rows):
        if number == 0 and [cell.strip().casefold() for cell in cells] == names:
            problems.error(place(line), "is a header line", "rows alone, from the first line on")
        else:
            yield line, cells


def _picked(
    rows: Iterator[Tuple[int, List[str]]],
    at: Sequence[int],
    width: int,
    expected: str,
    place: Callable[[int], str],
    problems: Problems,
) -> Iterator[Tuple[int, Tuple[Any, ...]]]:
    pick = picker(at)
    all_there = all(place < width for place in at)
    for line, cells in rows:
        if len(cells) == width:
            yield line, pick(cells if all_there else [*cells, ABSENT])
        elif cells and (len(cells) > 1 or cells[0].strip()):
            problems.error(place(line), f"has {len(cells)} cell{'s' if len(cells) > 1 else ''}", expected)


def picker(at: Sequence[int]) -> Callable[[Sequence[Any]], Tuple[Any, ...]]:
    """What gives a tuple of the values at these places."""
    if len(at) > 1:
        return itemgetter(*at)
    return lambda values: tuple([values[i] for i in at])


def _unquoted(text: str, delimiter: str) -> Iterator[Tuple[int, List[str]]]:
    for number, line in enumerate(text_lines(text), start=1):
        if line.strip():
            yield number, line.split(delimiter)


def _quoted(text: str, delimiter: str, name: str, problems: Problems) -> Iterator[Tuple[int, List[str]]]:
    """Cells quoted by RFC 4180, with the number of the row's last line."""
    # The csv module would end a line at a carriage return, so a character that the text does not have takes its place.
    stand_in = next(c for c in map(chr, range(0xE000, 0xF8FF)) if c not in text) if LONE_RETURN.search(text) else ""
    if stand_in:
        text = LONE_RETURN.sub(stand_in, text)
    csv.field_size_limit(FIELD_LIMIT)
    lines = (line + "\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if cells and (len(cells) > 1 or cells[0].strip()):
                yield reader.line_num, [cell.replace(stand_in, "\r") for cell in cells] if stand_in else cells
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        problems.error(f"{name}:{reader.line_num}", f"cannot be read ({error})", expected)


def _json_lines(
    text: str, name: str, wanted: Sequence[str], problems: Problems
) -> Iterator[Tuple[int, Tuple[Any, ...]]]:
    for number, line in enumerate(text_lines(text), start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        value = _parsed(line, where, problems)
        if isinstance(value, JsonObject):
            report_duplicates(value, where, problems)
            yield number, tuple([value.get(key, ABSENT) for key in wanted])
        elif value is not ABSENT:
            problems.error(where, "is not a JSON object", "one JSON object a line")


def _parsed(text: str, where: str, problems: Problems) -> Any:
    """The value of a JSON text; ABSENT, with the problem recorded, where it is not valid."""
    try:
        return json.loads(text, object_pairs_hook=JsonObject)
    except json.JSONDecodeError as error:
        at = f"{where}:{error.lineno}" if "\n" in text else where
        problems.error(f"{at}:{error.colno}", f"not valid JSON ({error.msg})", "valid JSON")
    except RecursionError:
        problems.error(where, "is nested too deeply", "the fields of a row")
    except ValueError:  # a whole number of thousands of digits
        problems.error(where, "holds a number of too many digits", "numbers as the format describes them")
    return ABSENT


def _json(text: str, name: str, wanted: Sequence[str], table: Table, problems: Problems) -> Rows:
    """A list of objects, or one object whose names are the keys: each an object, or a list of them with many rows.

    Below a key, what is no object is the only answer that there is.
    """
    value = _parsed(text, name, problems)
    found: List[Tuple[str, Tuple[Any, ...]]] = []
    keys: Sequence[str] = ()
    single = len(table.key) == 1
    if isinstance(value, list):
        for number, item in enumerate(value):
            _take(found, f"{name}[{number}]", item, {}, wanted, problems)
    elif isinstance(value, JsonObject) and single:
        report_duplicates(value, name, problems)
        keys = list(value)
        for key, item in value.items():
            where = f"{name} {shown(key)}"
            named = {table.key[0]: key}
            if not table.many:
                _take(found, where, _record(item, table), named, wanted, problems)
            elif isinstance(item, list):
                for number, one in enumerate(item):
                    _take(found, f"{where}[{number}]", _record(one, table), named, wanted, problems)
            else:
                problems.error(where, "is not a list", "a list of objects, one for each row of the key")
    elif value is not ABSENT:
        other = f", or one object whose names are the {table.key[0]}" if single else ""
        problems.error(name, "is not a list of rows", f"a JSON list of objects{other}")
    rows = ((number, values) for number, (_, values) in enumerate(found))
    empty = [key for key in keys if table.many and value[key] == []]
    return Rows(wanted, True, rows, lambda number: found[number][0], keys, empty)


def _record(item: Any, table: Table) -> Any:
    """What is below a key as an object."""
    only = table.only_answer
    return item if isinstance(item, JsonObject) or not only else JsonObject([(only, item)])


def _take(
    found: List[Tuple[str, Tuple[Any, ...]]],
    where: str,
    item: Any,
    key: Mapping[str, str],
    wanted: Sequence[str],
    problems: Problems,
) -> None:
    """Append one JSON object's values, or record that it is not an object; `key` comes from the name above it."""
    if not isinstance(item, JsonObject):
        problems.error(where, "is not a JSON object", "an object with the fields of a row")
        return
    report_duplicates(item, where, problems)
    for name, value in key.items():
        if name in item and item[name] != value:
            problems.error(where, f"{name} differs from the name of its object", "the same, or no such field inside")
    found.append((where, tuple([key.get(name, item.get(name, ABSENT)) for name in wanted])))
