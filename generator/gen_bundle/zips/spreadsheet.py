"""The sheets of a workbook in Office Open XML (.xlsx, ECMA-376 part 1, section 18) as tables of text."""

from __future__ import annotations

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
MAX_BYTES = 64 * 1024 * 1024
MAX_COLUMNS = 16_384


def sheets(files: Mapping[str, Node]) -> Iterator[tuple[str, Node]]:
    """Each sheet of a workbook as comma-separated text; what cannot be read is left out."""
    try:
        shared = [_text(item) for item in _elements(files[SHARED], "si")] if SHARED in files else []
    except (ElementTree.ParseError, ValueError):
        return
    for name, node in files.items():
        if SHEET.fullmatch(name):
            try:
                table = _table(node, shared)
            except (ElementTree.ParseError, ValueError, LookupError):
                continue
            yield f"{name}.csv", Node(size=len(table), open=partial(io.BytesIO, table))


def _elements(node: Node, name: str) -> Iterator[ElementTree.Element]:
    """The elements of a name, one after the other, each forgotten once it has been looked at.

    Raises:
        ElementTree.ParseError: no XML.
        ValueError: too much of it, or entities.
    """
    data = node.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES or b"<!" in data[:4096]:
        raise ValueError("no sheet")
    for _, element in ElementTree.iterparse(io.BytesIO(data)):  # noqa: S314 - without a document type
        if _local(element) == name:
            yield element
            element.clear()


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in element.iter() if _local(part) == "t")


def _table(node: Node, shared: list[str]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in _elements(node, "row"):
        cells: list[str] = []
        for cell in row:
            place = _column(cell.get("r", "")) if cell.get("r") else len(cells)
            cells += [""] * (place - len(cells))
            cells.append(_value(cell, shared))
        writer.writerow(cells)
    return out.getvalue().encode()


def _column(reference: str) -> int:
    """The place of a column: 0 for A7, 27 for AB7."""
    place = 0
    for letter in reference.rstrip("0123456789"):
        place = place * 26 + ord(letter) - ord("A") + 1
    if not 0 < place <= MAX_COLUMNS:
        raise ValueError(f"no column: {reference}")
    return place - 1


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    if cell.get("t") == "inlineStr":
        return _text(cell)
    value = next((part.text or "" for part in cell if _local(part) == "v"), "")
    return shared[int(value)] if cell.get("t") == "s" and value else value
