"""The tables of any file, each as a whole: a column is a list of cells, by its title."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gen_bundle.ground.tables.any_file import blocks, count_lines
from gen_bundle.ground.zips.tree import Node
from scoring_kit.base.submissions import allow_long_cells

LONGEST_CELL = 100_000


def whole_tables(node: Node, most_rows: int) -> Iterator[tuple[dict[str, list[str]], bool]]:
    """Yield the tables of a file as columns by title, and whether these are all rows: of more, every n-th is taken."""
    tables: dict[str, dict[str, list[str]]] = {}
    rows: Counter[str] = Counter()
    titles: dict[str, str] = {}
    step = 1 + count_lines(node) // most_rows
    for block in blocks(node):
        columns = tables.setdefault(block.kind, {})
        start = 0
        if block.kind == "table" and not rows["table"]:
            titles = {name: cells[0].strip() for name, cells in block.columns.items()}
            start = 1
        first = start + -rows[block.kind] % step
        before = -(-rows[block.kind] // step)
        for name, cells in block.columns.items():
            column = columns.setdefault(titles.get(name, name), [])
            column += [""] * (before - len(column))
            column += cells[first::step]
        rows[block.kind] += len(block.lines) - start
    for kind, columns in tables.items():
        most = max(map(len, columns.values()), default=0)
        for column in columns.values():
            column += [""] * (most - len(column))
        yield columns, rows[kind] == most


def first_cells(texts: Iterable[str]) -> Iterator[str]:
    """The first cell of each row, up to a quotation mark that is never closed, after which all is one cell."""
    allow_long_cells()
    with suppress(csv.Error):
        for row in csv.reader(texts):
            if row and len(row[0]) > LONGEST_CELL:
                return
            yield from row[:1]
