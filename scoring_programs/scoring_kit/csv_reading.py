"""CSV read strictly, with line numbers, by the standard library (RFC 4180 quoting, comma, UTF-8)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Iterator, List, Tuple

from scoring_kit.errors import Problems, shown


@dataclass(frozen=True)
class Table:
    """A CSV file's header and rows.

    Attributes:
        header: column names, blanks around them removed.
        rows: (line number of the row's last line, its cells as they stand), one for each row with anything in it.
    """

    header: List[str]
    rows: List[Tuple[int, List[str]]]


def read_table(text: str, name: str, problems: Problems) -> Table:
    """Parse CSV; rows of another width than the header and unparsable lines are recorded and left out."""
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        problems.error(f"{name}:{line}", "holds a NUL character", "plain text")
        return Table([], [])
    lines = _rows(text, name, problems)
    _, header = next(lines, (0, []))
    header = [column.strip() for column in header]
    if not any(header):
        problems.error(name, "has no header line", "a first line with the column names, separated by commas")
        return Table([], [])
    for column in sorted({c for c in header if header.count(c) > 1}):
        problems.error(f"{name}:1", f"the column {shown(column)} stands there more than once", "each column once")
    rows = []
    for line, cells in lines:
        if len(cells) == len(header):
            rows.append((line, cells))
        elif any(cell.strip() for cell in cells):
            problems.error(
                f"{name}:{line}", f"has {len(cells)} cells", f"{len(header)}, as many as the header has columns"
            )
    return Table(header, rows)


def _rows(text: str, name: str, problems: Problems) -> Iterator[Tuple[int, List[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        problems.error(f"{name}:{reader.line_num}", f"cannot be read as CSV ({error})", "cells separated by commas")
