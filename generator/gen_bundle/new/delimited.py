"""Reads a table of cells: CSV, TSV, and what spreadsheets make of them; its first line may be a row."""

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gen_bundle.errors import UserError
from gen_bundle.new.gold import (
    FEWEST_REPEATS,
    LINE_END,
    LIST,
    NUMBER,
    NUMBERED,
    GoldFile,
    GoldRows,
    NoHeaderError,
    raise_all,
)
from scoring_kit.base.submissions import allow_long_cells

DELIMITERS = {".csv": ",", ".tsv": "\t"}
BETWEEN = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
"""What may separate the cells of a table, in words; blanks only where they can be nothing else."""
RECOGNISED = "\t,;|"
"""Tabs first: they are hardly ever part of a text."""
MOST_SKIPPED = 9
FEWEST_ROWS = 3
ROWS_LOOKED_AT = 20_000
"""So many rows tell whether the first line is one of them."""
Rows = tuple[list[list[str]], list[int]]
"""The cells of each row, and the number of its last line."""


@dataclass(frozen=True)
class Layout:
    """How a table's lines are cells: `skipped` lines before it, and whether blanks follow its delimiters."""

    delimiter: str
    skipped: int = 0
    blanks_follow: bool = False


def has_delimiter(file: GoldFile) -> bool:
    """Whether it was said what separates the cells."""
    return file.delimiter is not None


def is_table(file: GoldFile) -> bool:
    """Whether lines hold as many cells each: always of .csv and .tsv, else if their delimiter can be nothing else."""
    return file.suffix in DELIMITERS or _layout(file) is not None


def _layout(file: GoldFile) -> Layout | None:
    """What separates cells: as the file's name says, unless the first lines show another of the usual ones."""
    lines = file.beginning
    if file.delimiter is not None:
        return Layout(file.delimiter)
    usual = DELIMITERS.get(file.suffix, "")
    marks = list(dict.fromkeys(f"\t{usual}{RECOGNISED}"))
    for skipped in _may_be_skipped(lines, usual):
        for mark in marks:
            if _separates(mark, lines, skipped) and (usual or mark in "\t|" or _are_words(mark, lines[skipped:])):
                return Layout(mark, skipped, _blanks_follow(mark, lines))
    if not usual:
        return Layout(" ") if _are_quoted(lines) or _are_labelled_ids(lines) else None
    mark = next(filter(lines[0].__contains__, marks), usual)
    return Layout(mark, 0, _blanks_follow(mark, lines))


def _may_be_skipped(lines: Sequence[str], usual: str) -> Iterator[int]:
    """How many lines may come before the table: until one has the usual delimiter, which quoted cells may have, too."""
    for skipped in range(max(0, min(MOST_SKIPPED, len(lines) - FEWEST_ROWS)) + 1):
        yield skipped
        if usual and usual in lines[skipped]:
            return


def _separates(mark: str, lines: Sequence[str], skipped: int) -> bool:
    """Whether a mark is in each line equally often, but for some lines before the table that have none."""
    times = {line.count(mark) for line in lines[skipped:]}
    return len(times) == 1 and 0 not in times and not any(mark in line for line in lines[:skipped])


def _are_words(mark: str, lines: Sequence[str]) -> bool:
    return not any(" " in line.replace(f"{mark} ", mark) for line in lines)


def _blanks_follow(mark: str, lines: Sequence[str]) -> bool:
    return mark != " " and all(line.count(mark) == line.count(f"{mark} ") for line in lines)


def _are_quoted(lines: Sequence[str]) -> bool:
    """Whether quoted cells have blanks between them, as R writes a table."""
    return all(line.startswith('"') and '" "' in line for line in lines)


def _are_labelled_ids(lines: Sequence[str]) -> bool:
    """Whether each line is an id and short values after it, separated by blanks."""
    rows = [line.split(" ") for line in lines]
    widths = set(map(len, rows))
    if len(rows) < FEWEST_ROWS or len(widths) > 1 or min(widths) not in range(2, 9):
        return False
    ids, *_, answers = zip(*rows, strict=True)
    are_ids = len(set(ids)) == len(ids) and all(any(map(str.isdigit, one)) for one in ids)
    are_short = len(answers) >= FEWEST_REPEATS * len(set(answers)) or all(map(NUMBER.fullmatch, answers))
    return are_ids and are_short


def read_table(file: GoldFile) -> GoldRows:
    """A table; one whose quotation marks are part of its texts is read as it is."""
    layout = _layout(file) or Layout(",")
    suffix = file.suffix
    if suffix not in DELIMITERS:
        suffix = ".tsv" if layout.delimiter == "\t" else ".csv"
    try:
        gold = _columns(_rows(file, layout), file, suffix, layout.delimiter)
    except UserError as error:
        if isinstance(error, NoHeaderError) or '"' not in file.text or layout.delimiter != "\t":
            raise
        try:
            plain = _columns(_plain_rows(file, layout), file, ".tsv", layout.delimiter)
        except NoHeaderError:
            raise
        except UserError:
            raise error from None
        gold = replace(plain, quoting="none")
    notes = [*gold.notes]
    if layout.skipped:
        notes.append(f"{file.name}: its first {layout.skipped} lines, which are no rows, are left out")
    if layout.delimiter != DELIMITERS[suffix]:
        read = f"{file.name}: separated by {BETWEEN.get(layout.delimiter, repr(layout.delimiter))}"
        notes.append(f"{read}; what is written here has {BETWEEN[DELIMITERS[gold.suffix]]}")
    return replace(gold, notes=tuple(notes))


def _rows(file: GoldFile, layout: Layout) -> Rows:
    """Where nothing is quoted, splitting says the same in a fraction of the time."""
    text = file.text
    if '"' in text or text.count("\r") > text.count("\r\n") or layout.blanks_follow:
        return _quoted_rows(file, layout)
    return _plain_rows(file, layout)


def _quoted_rows(file: GoldFile, layout: Layout) -> Rows:
    allow_long_cells()
    lines = itertools.islice(io.StringIO(file.text, newline="\n"), layout.skipped, None)
    skips = layout.blanks_follow
    reader = csv.reader(lines, delimiter=layout.delimiter, strict=True, skipinitialspace=skips)
    rows: list[list[str]] = []
    numbers: list[int] = []
    number = layout.skipped
    try:
        for cells in reader:
            number = reader.line_num + layout.skipped
            if len(cells) > 1 or (cells and cells[0].strip()):
                rows.append(cells)
                numbers.append(number)
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        raise UserError(f"{file.name}:{number + 1}: cannot be read ({error}). Expected {expected}.") from error
    return rows, numbers


def _plain_rows(file: GoldFile, layout: Layout) -> Rows:
    rows: list[list[str]] = []
    numbers: list[int] = []
    for number, line in enumerate(file.text.split("\n"), 1):
        if number > layout.skipped and (line.strip() or layout.delimiter in line):
            rows.append(line.removesuffix("\r").split(layout.delimiter))
            numbers.append(number)
    return rows, numbers


def _columns(read: Rows, file: GoldFile, suffix: str, delimiter: str) -> GoldRows:
    """The table of these rows, whose first one is the header unless names are given that it does not hold."""
    rows, numbers = read
    if not rows:
        rows, numbers = [[""]], [1]
    first = list(map(str.strip, rows[0]))
    where = f"{file.name}:{numbers[0]}"
    header, whose = list(file.columns), "--columns"
    if not header or header == first:
        rows, numbers = rows[1:], numbers[1:]
        header, whose = first, "the first line"
    if not file.columns:
        header = _with_unnamed(first, rows)
        _check_header(where, header, rows)
    expected = f"Expected {len(header)}, as many as {whose}, separated by {BETWEEN.get(delimiter, repr(delimiter))}."
    faults = _faults_of_names(where, header)
    if set(map(len, rows)) - {len(header)}:
        for number, cells in zip(numbers, rows, strict=True):
            if len(cells) != len(header):
                faults.append(f"{file.name}:{number}: has {len(cells)} cells. {expected}")
    raise_all(faults)
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return _without_unnamed(header, columns, GoldRows(file.name, suffix, {}, numbers))


def _with_unnamed(first: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The header with an empty name where all rows have a cell more: the last one, or as R writes it the first."""
    if len(first) < 2 or len(rows) < FEWEST_ROWS or set(map(len, rows)) != {len(first) + 1}:
        return first
    return ["", *first] if any(cells[-1] for cells in rows) else [*first, ""]


def _without_unnamed(header: list[str], columns: Sequence[Sequence[str]], gold: GoldRows) -> GoldRows:
    """The gold with the columns that have a name, and ids in a first one without; it may merely count the rows."""
    if not header[0] and len(gold) and NUMBERED not in header:
        ids = columns[0]
        counts = all(map(str.isdecimal, ids)) and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        if not counts and len(set(ids)) == len(ids):
            header = [NUMBERED, *header[1:]]
            gold = replace(gold, notes=(f"{gold.file}: its first column has no name, and is called {NUMBERED}",))
    unnamed = header.count("")
    if unnamed:
        gold = replace(gold, notes=(f"{gold.file}: {unnamed} columns without a name are left out",))
    named = dict(zip(header, columns, strict=True))
    named.pop("", None)
    return replace(gold, columns=named)


def _faults_of_names(where: str, names: Sequence[str]) -> list[str]:
    faults = []
    for name, times in Counter(names).items():
        if name and times > 1:
            faults.append(f"{where}: the column {name!r} is there more than once. Expected each column once.")
        if LINE_END.search(name):
            faults.append(f"{where}: the column {name!r} has a line break in its name. Expected a name on one line.")
    if not any(names):
        faults.append(f"{where}: names no column. Expected a first line with the columns' names.")
    return faults


def _check_header(where: str, first: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Raise NoHeaderError where the first line looks like a row."""
    alike = [cells for cells in rows[:ROWS_LOOKED_AT] if len(cells) == len(first)]
    if evidence := _row_in_place_of_header(first, alike):
        raise _no_header(where, first, alike, evidence)


def _row_in_place_of_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What makes the first line look like a row: its cells are values of their columns. Empty where it does not."""
    values: list[str] = []
    doubts = 0
    for cell, column in zip(first, zip(*rows, strict=True), strict=False):
        given = list(filter(str.strip, column))
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
    shapes = set(map(_shape, given))
    different = set(given)
    if all(map(NUMBER.fullmatch, given)):
        is_number = NUMBER.fullmatch(cell) is not None
        is_value, otherwise = is_number and _is_near(cell, given), "" if is_number else "name"
    elif len(shapes) == 1 and "0" in min(shapes):
        is_value, otherwise = _shape(cell) in shapes, "name"
    elif all(map(LIST.fullmatch, given)):
        is_value, otherwise = LIST.fullmatch(cell) is not None, "name"
    else:
        is_value = cell in different
        otherwise = "no label" if len(given) >= FEWEST_REPEATS * len(different) else ""
    return "value" if is_value else otherwise


def _shape(cell: str) -> str:
    """A text with its numbers made equal: those of ids differ in them alone."""
    return re.sub("[0-9]+", "0", cell) if len(cell) < 100 else ""


def _is_near(cell: str, given: Sequence[str]) -> bool:
    """Whether a number is no further from the others than these are from each other; 2019 is no value among prices."""
    numbers = list(map(float, given))
    low, high = min(numbers), max(numbers)
    return low - (high - low) <= float(cell) <= high + (high - low)


def _no_header(where: str, first: Sequence[str], rows: Sequence[Sequence[str]], evidence: str) -> NoHeaderError:
    columns = list(zip(*rows, strict=True))
    names: list[str] = []
    for at, cell in enumerate(first):
        name = _name_for(cell, columns[at], is_first="id" not in names)
        if name in names:
            name = f"{name}{at + 1}"
        names.append(name)
    for at in range(len(first) - 1, 0, -1):
        if _are_ends(columns[at - 1], columns[at]):
            names[at - 1 : at + 1] = ["start", "end"]
            break
    may_be = len(set(first)) == len(first) and not any("," in cell for cell in first)
    header = f" If this line is the header all the same: --columns {','.join(first)}." if may_be else ""
    return NoHeaderError(
        f"{where}: looks like a row and no header: {evidence!r} is a value of its own column. Expected the columns' "
        f"names: --columns {','.join(names)}.{header}",
        names,
        first,
    )


def _are_ends(starts: Sequence[str], ends: Sequence[str]) -> bool:
    """Whether whole numbers in one column are always above those in the other."""
    if not all(map(str.isdecimal, [*starts, *ends])):
        return False
    return all(int(start) < int(end) for start, end in zip(starts, ends, strict=True))


def _name_for(cell: str, given: Sequence[str], *, is_first: bool) -> str:
    """What a column without a name may be called."""
    if is_first and len({cell, *given}) == len(given) + 1 and not any(" " in value for value in given):
        return "id"
    if all(map(LIST.fullmatch, given)):
        return "spans"
    if set(map(_shape, given)) == {_shape(cell)} and not NUMBER.fullmatch(cell) and "0" in _shape(cell):
        return "doc"
    if len(given) >= FEWEST_REPEATS * len(set(given)):
        return "label"
    return "score" if all(map(NUMBER.fullmatch, given)) else "text"
