"""Reads a table of cells: CSV, TSV, and what spreadsheets make of them."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gen_bundle.errors import UserError
from gen_bundle.new.header import NoHeaderError, Row, check_header
from gen_bundle.new.table import LINE_END, GoldRows, raise_all

DELIMITERS = {".csv": ",", ".tsv": "\t"}
BETWEEN = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
"""What may separate the cells of a table, in words; the first three are recognised."""
RECOGNISED = ",\t;"
LINES_LOOKED_AT = 50
FIELD_LIMIT = 1 << 27
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)?")


def delimiter_of(text: str, suffix: str) -> str:
    """What separates cells: as the file's name says, unless the first lines show another of the usual ones."""
    lines = [line for line in text.split("\n", LINES_LOOKED_AT)[:LINES_LOOKED_AT] if line.strip()]
    usual = DELIMITERS[suffix]
    there = [mark for mark in dict.fromkeys(usual + RECOGNISED) if mark in lines[0]]
    there.sort(key="\t".__ne__)  # tabs are hardly ever part of a text
    for mark in there:
        times = {line.count(mark) for line in lines}
        if len(times) == 1:
            return mark
    return there[0] if there else usual


def read_table(text: str, file: str, suffix: str, names: Sequence[str], delimiter: str) -> GoldRows:
    """A table; one whose quotation marks are part of its texts is read as it is."""
    try:
        gold = _columns(list(_quoted_rows(text, delimiter, file)), file, suffix, names, delimiter)
    except NoHeaderError:
        raise
    except UserError as error:
        if '"' not in text or delimiter != "\t":
            raise
        try:
            plain = _columns(list(_plain_rows(text, delimiter)), file, ".tsv", names, delimiter)
        except NoHeaderError:
            raise
        except UserError:
            raise error from None
        gold = replace(plain, quoting="none")
    if delimiter == DELIMITERS[suffix]:
        return gold
    gold = _with_points(gold) if delimiter == ";" else gold
    read = f"{file}: separated by {BETWEEN.get(delimiter, repr(delimiter))}"
    return replace(gold, notes=(*gold.notes, f"{read}; what is written here has {BETWEEN[DELIMITERS[gold.suffix]]}"))


def _with_points(gold: GoldRows) -> GoldRows:
    """With decimal points in the columns of numbers that have commas, as spreadsheets write both in half of Europe."""
    columns: list[Sequence[str]] = []
    numbers = []
    for name in gold.names:
        cells = gold.column(name)
        if any("," in cell for cell in cells) and all(map(DECIMAL_COMMA.fullmatch, cells)):
            numbers.append(name)
            cells = [cell.replace(",", ".") for cell in cells]
        columns.append(cells)
    if not numbers:
        return gold
    note = f"{gold.file}: the decimal commas of {', '.join(numbers)} are written as points"
    return replace(gold, rows=list(zip(*columns, strict=True)), notes=(*gold.notes, note))


def _quoted_rows(text: str, delimiter: str, file: str) -> Iterator[Row]:
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.reader((line + "\n" for line in text.split("\n")), delimiter=delimiter, strict=True)
    number = 0
    try:
        for cells in reader:
            number = reader.line_num
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield number, cells
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        raise UserError(f"{file}:{number + 1}: cannot be read ({error}). Expected {expected}.") from error


def _plain_rows(text: str, delimiter: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\r").split(delimiter)


def _columns(lines: list[Row], file: str, suffix: str, names: Sequence[str], delimiter: str) -> GoldRows:
    """The table of these rows, whose first one is the header unless `names` are given that it does not hold."""
    top, cells = lines[0] if lines else (1, [""])
    first = [cell.strip() for cell in cells]
    header, rows, whose = first, lines[1:], "the first line"
    if names and list(names) != first:
        header, rows, whose = list(names), lines, "--columns"
    if not names:
        check_header(f"{file}:{top}", first, rows)
    between = BETWEEN.get(delimiter, repr(delimiter))
    expected = f"Expected {len(header)}, as many as {whose}, separated by {between}."
    if len(header) != len(first):
        raise UserError(f"{file}:{top}: has {len(first)} cells. {expected}")
    faults = _faults_of_names(f"{file}:{top}", header)
    for number, cells in rows:
        if len(cells) != len(header):
            faults.append(f"{file}:{number}: has {len(cells)} cells. {expected}")
    raise_all(faults)
    gold = GoldRows(file, suffix, header, [cells for _, cells in rows], [number for number, _ in rows])
    return gold if all(header) else _without_unnamed(gold)


def _without_unnamed(gold: GoldRows) -> GoldRows:
    """Without the columns that have no name."""
    names = [name for name in gold.names if name]
    rows = list(zip(*map(gold.column, names), strict=True))
    note = f"{gold.file}: {len(gold.names) - len(names)} columns without a name are left out"
    return replace(gold, names=names, rows=rows, notes=(note,))


def _faults_of_names(where: str, names: Sequence[str]) -> list[str]:
    faults = [
        f"{where}: the column {name!r} is there more than once. Expected each column once."
        for name, times in Counter(names).items()
        if name and times > 1
    ]
    faults += [
        f"{where}: the column {name!r} has a line break in its name. Expected a name on one line."
        for name in names
        if LINE_END.search(name)
    ]
    if not any(names):
        faults.append(f"{where}: names no column. Expected a first line with the columns' names.")
    return faults
