"""Files of rows in any format: CSV, TSV, JSON lines, JSON or plain lines.

A line ends with LF or CRLF alone, so that a text may hold any other character. Runs on Python 3.9 with the standard
library alone.
"""

import csv
import io
import json
import re
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Callable, Collection, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from declared.records import (
    UNLOOKED,
    NumberedRows,
    Records,
    Rows,
    below,
    names_around_lists,
    rows_of_lists,
    value_at,
)
from declared.tables import Key, Table
from scoring_kit.base.field_types import ABSENT, Field
from scoring_kit.base.row_files import BLANKS, FieldPlace, File, steps
from scoring_kit.base.submissions import allow_long_cells
from scoring_kit.base.texts import counted
from scoring_kit.csv_reading import separated_otherwise
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import JsonObject, report_duplicates

LONE_RETURN = re.compile(r"\r(?!\n)")
BETWEEN = {"\t": "tabs", ",": "commas", " ": "blanks"}
BETWEEN_CELLS = re.compile("[ \t]+")
AT_ONCE = 10_000
"""So many rows are looked at together: one by one they take far longer."""
MEGABYTE = 1 << 20
Cells = Iterator[Tuple[Sequence[int], List[List[str]]]]
"""Some rows at a time: the number of each row's last line, and its cells, none of a blank line."""
Report = Callable[[int, str], None]


def read_rows(
    text: str,
    name: str,
    file: File,
    wanted: Sequence[Field],
    table: Table,
    problems: Problems,
    looked_at: Optional[Collection[Key]] = None,
) -> Rows:
    """Read the text of a file, called `name` in messages.

    `wanted` are the fields whose values are asked for; of the key those that the rows hold (`Table.key_in`). Key and
    rows of the `table` decide how a JSON object is read. `looked_at` are the keys, as they are compared, whose records
    in such an object are looked at; None: all of them.
    """
    if file.suffix == ".json":
        return _json(text, name, file, wanted, table, problems, looked_at)
    if file.within is not None and table.many:
        records = _lines_as_records(_after(text, file.skip), name, file, problems)
        return rows_of_lists(records, wanted, file, table, problems)
    text = _after(text, file.skip)

    def place(line: int) -> str:
        return f"{name}:{line + file.skip}"

    if file.has_cells:
        places = [file.place(field) for field in wanted]
        return _delimited(text, name, file, places, table.counts_lines, place, problems)
    if file.suffix == ".jsonl":
        if table.counts_lines:
            text = text.rstrip("\r\n")
        return Rows((), True, _json_lines(text, wanted, file, table, place, problems), place)
    return Rows((), False, enumerate(zip(text_lines(text)), 1), place)


def column_names(text: str, file: File, table: Optional[Table] = None) -> List[str]:
    """Return the names of all columns of a file, those of JSON records in the order in which they first occur.

    A JSON value that is a field by itself is called like it where the `table` is known.
    """
    if file.columns is not None:
        return list(file.columns)
    if file.has_cells:
        rows = _delimited(_after(text, file.skip), "", file, (), False, str, Problems())
        return [name for name in rows.names if name]
    records = _records(text, file, table)
    if table is not None and file.within is not None:
        return names_around_lists(records, file, table)
    only = table.only_answer if table else None
    names: Dict[str, None] = {}
    for record in records:
        if isinstance(record, JsonObject) and not (only and only.type == "probabilities" and only.name not in record):
            names.update(dict.fromkeys(record))
        elif only is not None and record is not ABSENT:
            names[only.name] = None
    return list(names)


def _after(text: str, lines: int) -> str:
    """The text without so many lines at its beginning."""
    return "\n".join(text.split("\n", lines)[lines:])


def text_lines(text: str) -> List[str]:
    """Return the lines of a text; a line end at its end belongs to the last line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _delimited(
    text: str,
    name: str,
    file: File,
    wanted: Sequence[FieldPlace],
    counts_blank: bool,
    place: Callable[[int], str],
    problems: Problems,
) -> Rows:
    """A table of cells; rows of another width are recorded and left out, blank lines are skipped unless they count."""
    nothing = Rows((), False, iter(()), place)
    delimiter, header = file.separator, file.columns
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.error(place(line), "holds a NUL character", "plain text")
        return nothing
    declared = problems.to_organisers(", or write its delimiter in bundle.yaml")
    if not file.delimiter and header is None and separated_otherwise(text, delimiter, name, problems, declared):
        return nothing
    if file.delimiter == BLANKS:
        rows = _unquoted(text, split_at_blanks)
    elif file.quoting == "none":
        rows = _unquoted(text, lambda line: line.split(delimiter))
    else:
        rows = _quoted(text, delimiter, place, problems)
    if header is not None:
        expected = f"{len(header)}, without a header line: {', '.join(header)}"
        rows = _without_header(rows, header, place, problems)
    else:
        header, rows = _read_header(rows, wanted, place, problems)
        if not header:
            between = BETWEEN.get(delimiter, delimiter)
            problems.error(name, "has no header line", f"a first line with the column names, separated by {between}")
            return nothing
        expected = f"{len(header)}, as many as the header has columns"

    def report(line: int, what: str) -> None:
        problems.error(place(line), what, expected)

    return Rows(header, False, _picked(rows, header, wanted, report, counts_blank=counts_blank), place)


def _is_blank(cells: Sequence[str]) -> bool:
    return not cells or (len(cells) == 1 and not cells[0].strip())


def _first(rows: Sequence[Sequence[str]]) -> Optional[int]:
    """The place of the first row that is not blank."""
    for at, cells in enumerate(rows):
        if not _is_blank(cells):
            return at
    return None


def _read_header(
    rows: Cells, wanted: Sequence[FieldPlace], place: Callable[[int], str], problems: Problems
) -> Tuple[List[str], Cells]:
    """The columns' names in the first line that is not blank, and the rows below it; no names where it has none."""
    for lines, taken in rows:
        at = _first(taken)
        if at is None:
            continue
        header = [cell.strip() for cell in taken[at]]
        for column in dict.fromkeys(chain(*(one.cells for one in wanted))):
            if header.count(column) > 1:
                what = f"the column {shown(column)} is there more than once"
                problems.error(place(lines[at]), what, "each column once")
        if any(header):
            return header, chain([(lines[at + 1 :], taken[at + 1 :])], rows)
        break
    return [], rows


def _without_header(rows: Cells, columns: Sequence[str], place: Callable[[int], str], problems: Problems) -> Cells:
    """The rows; a first one that holds the columns' names is recorded, and left out."""
    names = [column.casefold() for column in columns]
    is_first = True
    for lines, taken in rows:
        at = _first(taken)
        if is_first and at is not None:
            is_first = False
            if [cell.strip().casefold() for cell in taken[at]] == names:
                problems.error(place(lines[at]), "is a header line", "rows alone, from the first line on")
                lines, taken = [*lines[:at], *lines[at + 1 :]], [*taken[:at], *taken[at + 1 :]]
        yield lines, taken


def _picked(
    rows: Cells, header: Sequence[str], wanted: Sequence[FieldPlace], report: Report, *, counts_blank: bool
) -> NumberedRows:
    """The cells of each row that are asked for; those of another width than the header's are recorded and left out."""
    width, pick = len(header), _cell_picker(header, wanted)
    blank: List[int] = []  # the lines before a row that are blank, which those at the end may be
    for lines, taken in rows:
        for line, cells in zip(lines, taken):
            if _is_blank(cells) and not (counts_blank and width == 1):
                blank.append(line)
                continue
            for at in blank if counts_blank else ():
                report(at, "is blank")
            blank.clear()
            given = cells or [""]
            if len(given) == width:
                yield line, pick(given)
            else:
                report(line, f"has {counted(len(given), 'cell')}")


def _cell_picker(header: Sequence[str], wanted: Sequence[FieldPlace]) -> Callable[[List[str]], Tuple[Any, ...]]:
    """Return what picks the values of places from a row of cells, an empty cell where it has no such column."""
    places: List[Tuple[bool, List[int]]] = []
    for place in wanted:
        at: List[int] = []
        if set(place.cells).issubset(header):
            at = [header.index(column) for column in place.cells]
        places.append((bool(place.columns), at))

    def pick(cells: List[str]) -> Tuple[Any, ...]:
        values: List[Any] = []
        for is_spread, at in places:
            if not at:
                values.append("")
            elif is_spread:
                values.append(tuple([cells[i] for i in at]))
            else:
                values.append(cells[at[0]])
        return tuple(values)

    return pick


def split_at_blanks(line: str) -> List[str]:
    """Return the cells of a line between blanks and tabs, of which those at its ends do not count."""
    return BETWEEN_CELLS.split(line.strip(" \t"))


def _unquoted(text: str, split: Callable[[str], List[str]]) -> Cells:
    lines = text_lines(text)
    for start in range(0, len(lines), AT_ONCE):
        taken = lines[start : start + AT_ONCE]
        yield range(start + 1, start + 1 + len(taken)), [split(line) for line in taken]


def _quoted(text: str, delimiter: str, place: Callable[[int], str], problems: Problems) -> Cells:
    # The csv module would end a line at a carriage return, so a character that the text does not have takes its place.
    stand_in = ""
    if LONE_RETURN.search(text):
        stand_in = next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)
        text = LONE_RETURN.sub(stand_in, text)
    allow_long_cells()
    reader = csv.reader(chain.from_iterable(_ended_lines(text)), delimiter=delimiter, strict=True)
    while True:
        before = reader.line_num
        taken: List[List[str]] = []
        fault: Optional[csv.Error] = None
        try:
            taken.extend(islice(reader, AT_ONCE))
        except csv.Error as error:
            fault = error
        for cells in taken if stand_in else ():
            cells[:] = [cell.replace(stand_in, "\r") for cell in cells]
        numbers = _last_lines(before, reader.line_num, taken)
        yield numbers, taken
        if fault is not None:
            start = numbers[-1] if taken else before
            problems.cannot_be_read(place(reader.line_num), fault, place(start + 1))
        if len(taken) < AT_ONCE:
            return


def _ended_lines(text: str) -> Iterator[Iterable[str]]:
    """The lines of a text, each with its end, a megabyte at a time: often only the first is wanted."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + MEGABYTE) + 1 or len(text)
        yield io.StringIO(text[start:end], "\n")
        start = end


def _last_lines(before: int, last: int, rows: Sequence[Sequence[str]]) -> Sequence[int]:
    """The number of each row's last line, after the line `before`; most files have a line for each row."""
    if last - before == len(rows):
        return range(before + 1, last + 1)
    numbers = []
    for cells in rows:
        before += 1 + "".join(cells).count("\n")
        numbers.append(before)
    return numbers


def _json_lines(
    text: str,
    wanted: Sequence[Field],
    file: File,
    table: Table,
    place: Callable[[int], str],
    problems: Problems,
) -> NumberedRows:
    values_of = _record_picker(wanted, file, table, names_key=not table.key_in(file))
    for number, line in enumerate(text_lines(text), start=1):
        if not line.strip() and not table.counts_lines:
            continue
        where = place(number)
        value = _parsed(line, where, problems)
        if value is ABSENT:
            continue
        values = values_of(value, where, problems)
        if values is None:
            problems.error(where, "is not a JSON object", "one JSON object a line")
        else:
            yield number, values


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


def _records(text: str, file: File, table: Optional[Table]) -> Iterator[Any]:
    """The values of a JSON file that may be records, or hold the lists of a key's rows."""
    if file.suffix == ".jsonl":
        for line in text_lines(_after(text, file.skip)):
            yield _parsed(line, "", Problems())
    elif file.suffix == ".json":
        value = below(_parsed(text, "", Problems()), steps(file.at))
        if file.within is not None and table is not None and not table.key_in(file):
            value = [value]  # the file is one record
        if isinstance(value, JsonObject):
            value = list(value.values())
        for item in value if isinstance(value, list) else ():
            if file.within is None and isinstance(item, list) and item:
                yield from item
            else:
                yield item


def _record_picker(
    wanted: Sequence[Field], file: File, table: Table, *, names_key: bool
) -> Callable[[Any, str, Problems], Optional[Tuple[Any, ...]]]:
    """Return what takes the values of fields from a JSON record, `ABSENT` where it has none; None from no record.

    `names_key` says that its key is told elsewhere, so that a record may be the only answer itself.
    """
    places = [file.place(field) for field in wanted]
    by_path = all(place.path is not None for place in places)
    only = table.only_answer
    may_be_answer = names_key and only is not None and len(wanted) == 1 and places[0].path is None
    is_answer = may_be_answer and only is not None and only.type == "probabilities"

    def values(record: Any, where: str, problems: Problems) -> Optional[Tuple[Any, ...]]:
        is_object = isinstance(record, JsonObject)
        if not places:
            return ()
        if is_object:
            report_duplicates(record, where, problems)
        if is_answer or (may_be_answer and not is_object):
            return (record,)
        if not is_object and not by_path:
            return None
        return tuple([value_at(record, place) for place in places])

    return values


def _json(
    text: str,
    name: str,
    file: File,
    wanted: Sequence[Field],
    table: Table,
    problems: Problems,
    looked_at: Optional[Collection[Key]],
) -> Rows:
    """A list of records, or one object whose names are the keys: each a record, or a list of them with many rows.

    Below a key, what is no object is the only answer that there is.
    """
    value = _located(_parsed(text, name, problems), name, file, table, problems)
    key = table.key_in(file)
    keys: List[str] = []
    if isinstance(value, JsonObject) and len(key) == 1:
        report_duplicates(value, name, problems)
        keys = list(value)
        wanted = [field for field in wanted if field not in key]
    if file.within is not None and table.many:
        records = _json_records(value, name, file, table, problems, looked_at)
        return replace(rows_of_lists(records, wanted, file, table, problems, len(keys[:1])), keys=keys)
    values_of = _record_picker(wanted, file, table, names_key=bool(keys) or not key)
    found: List[Tuple[Any, ...]] = []
    places: List[str] = []
    for where, named, record in _json_records(value, name, file, table, problems, looked_at):
        values: Optional[Tuple[Any, ...]] = (ABSENT,) * len(wanted)
        if record is not UNLOOKED:
            values = values_of(record, where, problems)
        if values is None:
            problems.error(where, "is not a JSON object", "an object with the fields of a row")
        else:
            found.append((*named, *values))
            places.append(where)
    empty = [(one,) for one in keys if table.many and value[one] == []]
    return Rows((), True, enumerate(found), lambda number: places[number], keys, empty)


def _lines_as_records(text: str, name: str, file: File, problems: Problems) -> Records:
    for number, line in enumerate(text_lines(text), start=1):
        where = f"{name}:{number + file.skip}"
        if line.strip() and (value := _parsed(line, where, problems)) is not ABSENT:
            yield where, (), value


def _located(value: Any, name: str, file: File, table: Table, problems: Problems) -> Any:
    """The records of a file: what is at its path; the record itself, as a list, where each key has a file."""
    if value is ABSENT or (not file.at and table.key_in(file)):
        return value
    found = below(value, steps(file.at))
    if found is ABSENT:
        problems.error(name, f"has nothing at {file.at}", "the records there")
    is_record = isinstance(found, JsonObject) or (file.within is not None and found is not ABSENT)
    is_record = is_record and not table.key_in(file) and not table.counts_lines
    return [found] if is_record else found


def _json_records(
    value: Any, name: str, file: File, table: Table, problems: Problems, looked_at: Optional[Collection[Key]]
) -> Iterator[Tuple[str, Tuple[str, ...], Any]]:
    """(words for its place, the key that its name is, record) of each record of a list, or below an object's names."""
    key = table.key_in(file)
    if isinstance(value, list):
        for number, record in enumerate(value):
            yield f"{name}[{number}]", (), record
    elif isinstance(value, JsonObject) and len(key) == 1:
        inner = file.place(key[0]).name
        for where, one, record in _below_keys(value, name, file, table, problems, looked_at):
            is_list = file.within == "" and table.many  # whose names are no fields of the record
            if isinstance(record, JsonObject) and not is_list and record.get(inner, one) != one:
                what = f"{inner} differs from the name of its object"
                problems.error(where, what, "the same, or no such field inside")
            yield where, (one,), record
    elif value is not ABSENT:
        other = f", or one object whose names are the {key[0].name}" if len(key) == 1 else ""
        problems.error(name, "is not a list of rows", f"a JSON list of objects{other}")


def _below_keys(
    value: JsonObject, name: str, file: File, table: Table, problems: Problems, looked_at: Optional[Collection[Key]]
) -> Iterator[Tuple[str, str, Any]]:
    """(words for its place, key, record) of each record below the names of an object."""
    for key, item in value.items():
        where = f"{name} {shown(key)}"
        if looked_at is not None and table.canonical((key,)) not in looked_at:
            yield where, key, UNLOOKED
        elif not table.many or file.within is not None:
            yield where, key, item
        elif isinstance(item, list):
            for number, record in enumerate(item):
                yield f"{where}[{number}]", key, record
        else:
            problems.error(where, "is not a list", "a list of objects, one for each row of the key")
