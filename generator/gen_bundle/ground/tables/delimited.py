"""Tables of cells: what separates them, whether the first line names the columns, and no row is lost."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.tables.table import (
    DELIMITERS,
    FEWEST_REPEATS,
    LINE_END,
    LIST,
    NUMBERED,
    FileTable,
    NoHeaderError,
    Quoting,
    all_match,
)
from gen_bundle.ground.tables.text_file import TextFile
from scoring_kit.base.field_types import NUMBER
from scoring_kit.base.submissions import allow_long_cells

BETWEEN = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
"""Marks that may separate the cells of a table, in words; blanks only where they can be nothing else."""
RECOGNISED = "\t,;|"
"""Tabs first: they are hardly ever part of a text."""
ROWS_LOOKED_AT = 20_000
"""So many rows tell whether the first line is one of them."""
QUOTING: Mapping[Quoting, Literal[0, 3]] = {"rfc4180": csv.QUOTE_MINIMAL, "none": csv.QUOTE_NONE}
MOST_LINES_SHOWN = 5


@dataclass(frozen=True)
class CellRows:
    """The cells of each row, the number of its last line, and the lines of those that are blank."""

    cells: list[list[str]]
    numbers: list[int]
    blank: list[int]


@dataclass(frozen=True)
class Layout:
    """How a table's lines are cells: what separates them, and whether blanks follow that."""

    delimiter: str
    blanks_follow: bool = False


def read_where_table(file: TextFile) -> FileTable | None:
    """Return a table: of .csv and .tsv always, else where lines hold as many cells and nothing else divides them."""
    if file.suffix in DELIMITERS or _layout(file) is not None:
        return read_delimited(file)
    return None


def _layout(file: TextFile) -> Layout | None:
    """Return what separates cells: as the file's name says, unless the first lines show another of the usual ones."""
    lines = file.beginning
    if file.delimiter is not None:
        return Layout(file.delimiter)
    usual = DELIMITERS.get(file.suffix, "")
    marks = list(dict.fromkeys(f"\t{usual}{RECOGNISED}"))
    text = "\n".join(lines)
    for mark in marks:
        are_words = " " not in text.replace(f"{mark} ", mark)
        if separates(mark, lines) and (usual or mark in "\t|" or are_words):
            return Layout(mark, _blanks_follow(mark, text))
    if not usual:
        return None
    mark = next((one for one in marks if one in lines[0]), usual)
    return Layout(mark, _blanks_follow(mark, text))


def separates(mark: str, lines: Sequence[str]) -> bool:
    """Return whether a mark is in each line equally often."""
    times = {line.count(mark) for line in lines}
    return len(times) == 1 and times != {0}


def _blanks_follow(mark: str, text: str) -> bool:
    return text.count(mark) == text.count(f"{mark} ")


def read_delimited(file: TextFile) -> FileTable:
    """Return a table; one whose quotation marks are part of its texts is read as it is."""
    layout = _layout(file) or Layout(",")
    suffix = file.suffix
    if suffix not in DELIMITERS:
        suffix = ".tsv" if layout.delimiter == "\t" else ".csv"
    try:
        table = _columns(_rows(file, layout), file, suffix, layout.delimiter)
    except UserError as error:
        if isinstance(error, NoHeaderError) or '"' not in file.text or layout.delimiter != "\t":
            raise
        try:
            plain = _columns(_rows(file, layout, "none"), file, ".tsv", layout.delimiter)
        except UserError as other:
            raise (other if isinstance(other, NoHeaderError) else error) from None
        table = replace(plain, quoting="none")
    notes = [*table.notes]
    if layout.delimiter != DELIMITERS[suffix]:
        read = f"{file.name}: separated by {BETWEEN.get(layout.delimiter, repr(layout.delimiter))}"
        notes.append(f"{read}; what is written here has {BETWEEN[DELIMITERS[table.suffix]]}")
    return replace(table, notes=tuple(notes))


def _rows(file: TextFile, layout: Layout, quoting: Quoting = "rfc4180") -> CellRows:
    allow_long_cells()
    reader = csv.reader(
        io.StringIO(file.text, newline="\n"),
        delimiter=layout.delimiter,
        quoting=QUOTING[quoting],
        strict=True,
        skipinitialspace=layout.blanks_follow,
    )
    rows = CellRows([], [], [])
    number = 0
    try:
        for cells in reader:
            number = reader.line_num
            if "".join(cells).strip():
                rows.cells.append(cells)
                rows.numbers.append(number)
            elif len(cells) > 1:
                rows.blank.append(number)
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        raise UserError(f"{file.name}:{number + 1}: cannot be read ({error}). Expected {expected}.") from error
    return rows


def _left_out(file: TextFile, blank: Sequence[int]) -> list[str]:
    """Return what is to be said of blank rows, such as Excel leaves below a table."""
    if not blank:
        return []
    shown = listed([str(line) for line in blank], MOST_LINES_SHOWN)
    return [f"{file.name}: {len(blank)} rows whose cells are all blank are left out (lines {shown})"]


def _columns(read: CellRows, file: TextFile, suffix: str, delimiter: str) -> FileTable:
    """The table of these rows, whose first one is the header unless names are given that it does not hold."""
    rows, numbers = read.cells or [[""]], read.numbers or [1]
    first = [cell.strip() for cell in rows[0]]
    where = f"{file.name}:{numbers[0]}"
    header, whose = list(file.columns), "--columns"
    if not header or header == first:
        rows, numbers = rows[1:], numbers[1:]
        header, whose = first, "the first line"
    expected = f"Expected {len(header)}, as many as {whose}, separated by {BETWEEN.get(delimiter, repr(delimiter))}."
    faults = _faults_of_names(where, header)
    alike: list[list[str]] = []
    for number, cells in zip(numbers, rows, strict=True):
        if len(cells) == len(header):
            alike.append(cells)
        else:
            faults.append(f"{file.name}:{number}: has {len(cells)} cells. {expected}")
    some = alike[:ROWS_LOOKED_AT]
    if not file.columns and (evidence := _row_in_place_of_header(header, some)):
        raise no_header(where, header, some, evidence)
    raise_all(faults)
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    notes = tuple(_left_out(file, read.blank))
    return _without_unnamed(header, columns, FileTable(file.name, suffix, {}, numbers, notes=notes))


def _without_unnamed(header: list[str], columns: Sequence[Sequence[str]], table: FileTable) -> FileTable:
    """Return the table with the columns that have a name, and ids in a first one without; it may merely count rows."""
    notes = [*table.notes]
    if not header[0] and len(table) and NUMBERED not in header:
        ids = columns[0]
        counts = all(one.isdecimal() for one in ids) and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        if not counts and len(set(ids)) == len(ids):
            header = [NUMBERED, *header[1:]]
            notes.append(f"{table.file}: its first column has no name, and is called {NUMBERED}")
    if unnamed := header.count(""):
        notes.append(f"{table.file}: {unnamed} columns without a name are left out")
    named = dict(zip(header, columns, strict=True))
    named.pop("", None)
    return replace(table, columns=named, notes=tuple(notes))


def _faults_of_names(where: str, names: Sequence[str]) -> list[str]:
    faults: list[str] = []
    for name, times in Counter(names).items():
        if name and times > 1:
            faults.append(f"{where}: the column {name!r} is there more than once. Expected each column once.")
        if LINE_END.search(name):
            faults.append(f"{where}: the column {name!r} has a line break in its name. Expected a name on one line.")
    if not any(names):
        faults.append(f"{where}: names no column. Expected a first line with the columns' names.")
    return faults


def _row_in_place_of_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return what makes the first line look like a row: its cells are values of their columns; else nothing."""
    values: list[str] = []
    doubts = 0
    for cell, column in zip(first, zip(*rows, strict=True), strict=False):
        given = [one for one in column if one.strip()]
        kind = _kind_of_cell(cell, given)
        if kind == "name":
            return ""
        if kind == "value":
            values.append(cell)
        doubts += kind == "no label"
    return values[-1] if len(values) > doubts else ""


def _kind_of_cell(cell: str, given: Sequence[str]) -> str:
    """`value` or `name` of its column, `no label` of it, or empty where nothing speaks for either."""
    if not cell or not given:
        return ""
    if all_match(NUMBER, given):
        is_alike = NUMBER.fullmatch(cell) is not None
        numbers = [float(one) for one in given]
        low, high = min(numbers), max(numbers)
        distance = high - low  # a value is no further from the others; 2019 is none among prices
        if is_alike and not low - distance <= float(cell) <= high + distance:
            return ""
    elif shape := _shape_of_all(given):
        is_alike = _shape(cell) == shape
    elif all_match(LIST, given):
        is_alike = LIST.fullmatch(cell) is not None
    else:
        different = set(given)
        are_labels = len(given) >= FEWEST_REPEATS * len(different)
        if cell not in different:
            return "no label" if are_labels else ""
        is_alike = True
    return "value" if is_alike else "name"


def _shape(cell: str) -> str:
    """A text with its numbers made equal: those of ids differ in them alone."""
    if len(cell) >= 100:
        return ""
    return re.sub("[0-9]+", "0", cell)


def _shape_of_all(cells: Sequence[str]) -> str:
    """Return the shape that all of some cells have; empty where they differ, or have no numbers."""
    shapes = {_shape(one) for one in cells}
    shape = shapes.pop()
    return shape if not shapes and "0" in shape else ""


def no_header(where: str, first: Sequence[str], rows: Sequence[Sequence[str]], evidence: str) -> NoHeaderError:
    """Return the error of a table whose first line is a row, as some `evidence` in it shows."""
    columns = list(zip(*rows, strict=True))
    names: list[str] = []
    for at, cell in enumerate(first):
        name = _name_for(cell, columns[at], is_first="id" not in names)
        if name in names:
            name = f"{name}{at + 1}"
        names.append(name)
    for at in range(len(first) - 1, 0, -1):
        if _are_places(columns[at - 1], columns[at]):
            names[at - 1 : at + 1] = ["start", "end"]
            break
    header = ""
    if len(set(first)) == len(first) and "," not in "".join(first):
        header = f" If this line is the header all the same: --columns {','.join(first)}."
    return NoHeaderError(
        f"{where}: looks like a row and no header: {evidence!r} is a value of its own column. Expected the columns' "
        f"names: --columns {','.join(names)}.{header}",
        names,
        first,
    )


def _are_places(starts: Sequence[str], ends: Sequence[str]) -> bool:
    """Return whether two columns may say where something starts and ends."""
    for start, end in zip(starts, ends, strict=True):
        if not (start.isdecimal() and end.isdecimal() and int(start) < int(end)):
            return False
    return True


def _name_for(cell: str, given: Sequence[str], *, is_first: bool) -> str:
    """Return what a column without a name may be called."""
    if is_first and len({cell, *given}) == len(given) + 1 and " " not in "".join(given):
        return "id"
    if all_match(LIST, given):
        return "spans"
    if _shape_of_all(given) == _shape(cell) != "" and not NUMBER.fullmatch(cell):
        return "doc"
    if len(given) >= FEWEST_REPEATS * len(set(given)):
        return "label"
    return "score" if all_match(NUMBER, given) else "text"
