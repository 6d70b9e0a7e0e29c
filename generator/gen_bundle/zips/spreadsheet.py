"""The sheets of a workbook in Office Open XML (.xlsx, ECMA-376 part 1, section 18) as tables of text."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from functools import partial
from xml.etree import ElementTree

from gen_bundle.zips.tree import Node

WORKBOOK = "xl/workbook.xml"
SHARED = "xl/sharedStrings.xml"
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
CELL = re.compile(r"([A-Z]{1,3})[0-9]*")
MAX_BYTES = 64 * 1024 * 1024  # of a part of the workbook, and of all its tables together
MAX_COLUMNS = 16_384
UNREADABLE = (ElementTree.ParseError, ValueError, LookupError)


def sheets(files: Mapping[str, Node]) -> tuple[list[tuple[str, Node]], bool]:
    """The sheets of a workbook as comma-separated text, and whether these are all: others are broken or too large."""
    tables: list[tuple[str, Node]] = []
    complete, left = True, MAX_BYTES
    try:
        shared = [_text(item) for item in _elements(files[SHARED], "si")] if SHARED in files else []
    except UNREADABLE:
        return tables, False
    for name in filter(SHEET.fullmatch, files):
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        try:
            for cells in _rows(files[name], shared):
                left -= len(cells) + sum(map(len, cells))
                if left < 0:
                    raise ValueError("too large")
                writer.writerow(cells)
        except UNREADABLE:
            complete = False
        else:
            text = table.getvalue().encode()
            tables.append((f"{name}.csv", Node(size=len(text), open=partial(io.BytesIO, text))))
    return tables, complete


def _elements(node: Node, name: str) -> Iterator[ElementTree.Element]:
    """The elements of a name, one after the other, each forgotten once it has been looked at.

    Raises:
        ElementTree.ParseError: it is not XML.
        ValueError: too much of it, or entities.
    """
    data = node.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES or b"<!" in data[:4096]:
        raise ValueError("too large, or with a document type")
    for _, element in ElementTree.iterparse(io.BytesIO(data)):  # noqa: S314 - without a document type
        if _local(element) == name:
            yield element
            element.clear()


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in element.iter() if _local(part) == "t")


def _rows(node: Node, shared: list[str]) -> Iterator[list[str]]:
    for row in _elements(node, "row"):
        cells: list[str] = []
        for cell in row:
            place = _column(cell.get("r", "")) if cell.get("r") else len(cells)
            cells += [""] * (place - len(cells))
            cells.append(_value(cell, shared))
        yield cells


def _column(reference: str) -> int:
    """The place of a column: 0 for A7, 27 for AB7."""
    cell = CELL.fullmatch(reference)
    place = 0
    for letter in cell[1] if cell else "":
        place = place * 26 + ord(letter) - ord("A") + 1
    if not 0 < place <= MAX_COLUMNS:
        raise ValueError("not a column")
    return place - 1


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    if cell.get("t") == "inlineStr":
        return _text(cell)
    value = next((part.text or "" for part in cell if _local(part) == "v"), "")
    return shared[int(value)] if cell.get("t") == "s" and value else value
