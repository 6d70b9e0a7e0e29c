"""CSV read strictly, with line numbers, by the standard library (RFC 4180 quoting, comma, UTF-8).

Rows are made one at a time, so that a file of a million rows costs little more than its text.
"""

import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Sequence, Tuple

from scoring_kit.base.submissions import allow_long_cells
from scoring_kit.errors import Problems, first_of, shown
from scoring_kit.json_reading import read_utf8

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
MISSING_SHOWN = 20
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons"}
HEADER = re.compile(r"[^\r\n]+")


@dataclass(frozen=True)
class CsvTable:
    """A CSV file's header and rows.

    Attributes:
        header: column names, blanks around them removed.
        rows: (line number of the row's last line, its cells unchanged), one for each row with anything in it; they
            can be gone through once, and what is wrong with them is recorded on the way.
    """

    header: List[str]
    rows: Iterator[Tuple[int, List[str]]]

    def places(self, names: Iterable[str]) -> Dict[str, int]:
        """Return where in a row these columns are, those that the file has."""
        return {name: self.header.index(name) for name in names if name in self.header}


def read_table(text: str, name: str, problems: Problems) -> CsvTable:
    r"""Parse CSV; rows of another width than the header and unparsable lines are recorded and left out.

    >>> problems = Problems()
    >>> table = read_table("id,label\n1,yes\n", "answers.csv", problems)
    >>> table.header, list(table.rows)
    (['id', 'label'], [(2, ['1', 'yes'])])
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.error(f"{name}:{line}", "contains a NUL character", "plain text")
        return CsvTable([], iter(()))
    if separated_otherwise(text, ",", name, problems):
        return CsvTable([], iter(()))
    lines = _parsed(text, name, problems)
    header = [column.strip() for column in next(lines, (0, []))[1]]
    if not any(header):
        problems.error(name, "has no header line", "a first line with the column names, separated by commas")
        return CsvTable([], iter(()))
    # Spreadsheets write columns without a name to the right of the table; they are not read.
    for column, times in sorted(Counter(header).items()):
        if column and times > 1:
            problems.error(f"{name}:1", f"the column {shown(column)} occurs more than once", "each column once")
    return CsvTable(header, lines)


def read_gold_table(path: Path, problems: Problems) -> CsvTable:
    """Parse a CSV file of the organisers, of any size; raises OrganiserError where it is no text at all."""
    text = read_utf8(path, path.name, float("inf"), problems)
    if text is None:
        raise problems.organiser_error()
    return read_table(text, path.name, problems)


def separated_otherwise(text: str, separator: str, name: str, problems: Problems, declared: str = "") -> bool:
    """Return whether a header line has another separator than it should, as spreadsheets write it; it is recorded.

    `declared` says how another one is declared, where that can be.
    """
    found = HEADER.search(text)
    header = found.group() if found else ""
    other = next((words for mark, words in SEPARATORS.items() if mark in header), None)
    if other is None or separator in header:
        return False
    wanted = SEPARATORS[separator]
    expected = f"{wanted}; save the file again with {wanted}{declared}"
    problems.error(f"{name}:1", f"fields are separated by {other}", expected)
    return True


def _parsed(text: str, name: str, problems: Problems) -> Iterator[Tuple[int, List[str]]]:
    """The header, then the rows that are as wide; lines without anything are left out after the header."""
    allow_long_cells()
    reader = csv.reader((re.Match.group(one) for one in LINE.finditer(text)), strict=True)
    width = last = 0
    try:
        for cells in reader:
            last = reader.line_num
            if not width or (len(cells) == width and "".join(cells).strip()):
                width = width or len(cells)
                yield reader.line_num, cells
            elif any(cell.strip() for cell in cells):
                what, expected = f"has {len(cells)} cells", f"{width}, as many as the header has columns"
                problems.error(f"{name}:{reader.line_num}", what, expected)
    except csv.Error as error:
        problems.cannot_be_read(f"{name}:{reader.line_num}", error, f"{name}:{last + 1}")


def check_columns(header: Sequence[str], known: Sequence[str], name: str, problems: Problems) -> None:
    """Record columns that are not `known`: an error where only upper and lower case differ, else a warning.

    >>> problems = Problems()
    >>> check_columns(["id", "Label"], ["id", "label"], "answers.csv", problems)
    >>> problems.errors
    ['answers.csv:1: unknown column "Label". Expected: the spelling label.']
    """
    right = {column.casefold(): column for column in known}
    for column in header:
        if column in known:
            continue
        if column.casefold() in right:
            problems.error(f"{name}:1", f"unknown column {shown(column)}", f"the spelling {right[column.casefold()]}")
        else:
            problems.warn(f"{name}:1", f"the column {shown(column)} is not read; known are {', '.join(known)}")


def identified_rows(
    rows: Iterable[Tuple[int, List[str]]], at: int, id_column: str, name: str, expected: str, problems: Problems
) -> Iterator[Tuple[int, str, List[str]]]:
    """Go through the rows of a file of gold, whose ids are in the column at `at`: (line, id, cells).

    Rows with a blank or repeated id are recorded as errors and left out.

    >>> rows = [(2, ["a", "yes"]), (3, ["b", "no"])]
    >>> list(identified_rows(rows, 0, "id", "gold.csv", "an id of its own", Problems()))
    [(2, 'a', ['a', 'yes']), (3, 'b', ['b', 'no'])]
    """
    first_line: Dict[str, int] = {}
    for line, cells in rows:
        item = cells[at].strip()
        if not item:
            problems.error(f"{name}:{line}", f"{id_column} is empty", expected)
        elif item in first_line:
            problems.error(f"{name}:{line}", f"{id_column} {item} already occurs in line {first_line[item]}", expected)
        else:
            first_line[item] = line
            yield line, item, cells


def rows_by_id(
    table: CsvTable, id_column: str, ids: Sequence[str], name: str, problems: Problems
) -> Iterator[Tuple[int, int, List[str]]]:
    r"""Go through the rows of an answer file: (position of the row's id in `ids`, line, cells).

    Rows with a blank or repeated id are recorded as errors and left out; so are, at the end, those with an unknown id,
    and ids with no row.

    >>> problems = Problems()
    >>> table = read_table("id,label\nb,no\n", "answers.csv", problems)
    >>> list(rows_by_id(table, "id", ["a", "b"], "answers.csv", problems))
    [(1, 2, ['b', 'no'])]
    >>> problems.errors
    ['answers.csv: no row for 1 of 2 ids: "a". Expected: one row for each id of the data.']
    """
    at = table.header.index(id_column)
    position = {item: i for i, item in enumerate(ids)}
    first_line = [0] * len(ids)
    unknown: List[str] = []
    unknown_at = 0
    for line, cells in table.rows:
        item = cells[at].strip()
        i = position.get(item)
        if not item:
            problems.error(f"{name}:{line}", f"{id_column} is empty", "the id of a row of the data")
        elif i is None:
            unknown.append(shown(item))
            unknown_at = unknown_at or line
        elif first_line[i]:
            what = f"the {id_column} {shown(item)} already occurs in line {first_line[i]}"
            problems.error(f"{name}:{line}", what, "one row for each id")
        else:
            first_line[i] = line
            yield i, line, cells
    if unknown:
        problems.unknown_ids(f"{name}:{unknown_at}", id_column, unknown, some_known=any(first_line))
    missing = [item for item in ids if not first_line[position[item]]]
    if missing and not problems.ends_early:
        what = f"no row for {len(missing)} of {len(ids)} ids: {first_of(missing, MISSING_SHOWN, shown)}"
        problems.error(name, what, "one row for each id of the data")
