"""Reading any text file as a table: rows of cells, each with the name or the place of its column."""

from collections.abc import Iterator
from typing import Any

from gen_bundle.check.leaks.records import each_line, json_value, plain, rows
from gen_bundle.zips.tree import Node

ColumnName = str | int
Row = dict[ColumnName, str]
# Rows of more cells hold features rather than answers.
WIDEST = 200
# The columns of keys in mappings of objects (followed by the objects' fields) and of single values.
KEY, PAIR_KEY, PAIR_VALUE = "key of ", "key", "value"
# Smaller mappings of single values are objects.
MIN_PAIRS = 10


def table(node: Node) -> Iterator[Row]:
    """The rows of a file, with cells as they are compared (see `plain`); empty rows and cells are left out.

    Columns are named in JSON and JSON lines, where every object is a row, and are counted from 0 in tables. Any other
    text is split line by line.
    """
    return (row for row in _rows(node) if row)


def _rows(node: Node) -> Iterator[Row]:
    value = json_value(node)
    if value is not None:
        yield from json_rows(value)
        yield from map(_numbered, rows(node))
        return
    is_table = False
    for row in rows(node):
        is_table = True
        yield _numbered(row)
    if not is_table:
        yield from each_line(node, json_rows, _numbered)


def _numbered(row: list[str]) -> Row:
    return {place: plain(cell) for place, cell in enumerate(row[:WIDEST]) if cell and not cell.isspace()}


def json_rows(value: Any) -> Iterator[Row]:
    """The objects of a JSON value in their order, with their single values and the key of each."""
    waiting: list[tuple[str | None, Any]] = [(None, value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict):
            single: Row = {str(name): plain(str(one)) for name, one in part.items() if _is_single(one)}
            if single:
                yield single if key is None else {KEY + ", ".join(map(str, part)): plain(key), **single}
            if len(single) == len(part) >= MIN_PAIRS:
                for name, one in single.items():
                    yield {PAIR_KEY: plain(str(name)), PAIR_VALUE: one}
            waiting += [(str(name), one) for name, one in reversed(part.items()) if isinstance(one, (dict, list))]
        elif isinstance(part, list):
            waiting += [(None, one) for one in reversed(part) if isinstance(one, (dict, list))]


def _is_single(value: Any) -> bool:
    return not isinstance(value, (dict, list)) and value is not None and value != ""
