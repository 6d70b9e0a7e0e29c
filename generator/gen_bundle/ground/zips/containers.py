"""Archives, compressed files and spreadsheets, recognised by their content, not their names."""

import bz2
import csv
import gzip
import io
import lzma
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import IO, cast
from xml.etree import ElementTree

from gen_bundle.ground.zips.tree import Node, digest, file_of, searchable, unpack
from gen_bundle.ground.zips.unpacking import BUNDLE
from scoring_kit.base.submissions import UNREADABLE

ZIP = b"PK\x03\x04"
TAR, TAR_AT = b"ustar", 257
SQLITE = b"SQLite format 3\0"
COMPRESSED: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b\x08": lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream, mode="rb")),
    b"BZh": lambda stream: cast("IO[bytes]", bz2.BZ2File(stream)),
    b"\xfd7zXZ\0": lambda stream: cast("IO[bytes]", lzma.LZMAFile(stream)),  # noqa: SIM115 - its readers close it
}
CLOSED = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"\x04\x22\x4d\x18": "an LZ4 file",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"(dp": "a Python pickle",
    b"(lp": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04\x95": "a Python pickle",
    b"\x80\x05\x95": "a Python pickle",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a file of an old Office program",
}

# A workbook in Office Open XML (.xlsx, ECMA-376 part 1, section 18).
WORKBOOK = "xl/workbook.xml"
SHARED = "xl/sharedStrings.xml"
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
CELL = re.compile(r"([A-Z]{1,3})[0-9]*")
MAX_BYTES = 64 * 1024 * 1024  # of a part of the workbook, and of all its tables together
MAX_COLUMNS = 16_384
NO_SHEET = (ElementTree.ParseError, ValueError, LookupError)


@dataclass(frozen=True)
class Contents:
    """The content of a file that holds others.

    Attributes:
        files: the files in it, by name.
        closed: why it, or a part of it, cannot be looked into; empty where it can.
    """

    files: list[tuple[str, Node]] = field(default_factory=list)
    closed: str = ""


def contents(node: Node, held: ExitStack) -> Contents:
    """Open a file that holds others; what is opened stays so until `held` is closed. Nothing for any other file."""
    start = _start(node)
    for magic, kind in CLOSED.items():
        if start.startswith(magic):
            return Contents(closed=kind)
    if start.startswith(ZIP) or (start.startswith(b"#!") and ZIP in start):  # a Python program may be a zip
        return _zip(node, held)
    if start.startswith(SQLITE):
        return _database(node)
    try:
        if start[TAR_AT:] == TAR:
            return Contents(_tar(node, held))
        for magic, opener in COMPRESSED.items():
            if start.startswith(magic):
                return Contents([("content", _inflated(node, opener, held))])
    except (tarfile.TarError, *UNREADABLE) as error:
        return Contents(closed=f"not a readable archive ({error})")
    return Contents()


def holds_files(node: Node) -> bool:
    """Return whether a file begins like an archive or a compressed file."""
    start = _start(node)
    return start.startswith((ZIP, *COMPRESSED, *CLOSED)) or start[TAR_AT:] == TAR


def _start(node: Node) -> bytes:
    return node.read(TAR_AT + len(TAR))


def _zip(node: Node, held: ExitStack) -> Contents:
    package = unpack(node, held)
    files = list(package.tree.files())
    closed = f"a zip of which a part cannot be read ({package.fault})" if package.fault else ""
    if WORKBOOK in package.names:
        tables, complete = _sheets(dict(files))
        files += tables
        if not complete:
            closed = closed or "a workbook with a sheet that is broken or too large"
    return Contents(files, closed)


def _database(node: Node) -> Contents:
    """The tables of an SQLite database as comma-separated text."""
    import sqlite3

    data = node.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return Contents(closed="a large SQLite database")
    tables: list[tuple[str, Node]] = []
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            base.deserialize(data)
            base.execute("PRAGMA trusted_schema = OFF")
            plain = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
            for (name,) in base.execute(plain).fetchall():
                rows = base.execute('SELECT * FROM "{}"'.format(name.replace('"', '""')))  # noqa: S608 - as it is called
                text = io.StringIO()
                writer = csv.writer(text, lineterminator="\n")
                writer.writerow([column for column, *_ in rows.description])
                writer.writerows(rows)
                tables.append((f"{name}.csv", file_of(text.getvalue().encode("utf-8", "replace"))))
        except (sqlite3.Error, UnicodeError) as error:
            return Contents(tables, closed=f"an SQLite database of which a part cannot be read ({error})")
    return Contents(tables)


def _inflated(node: Node, opener: Callable[[IO[bytes]], IO[bytes]], held: ExitStack) -> Node:
    """The one file that is compressed in a file: read once, so that a broken one is found, and never written out."""
    copy = _copy(node, held, node.size)
    size = 0

    def reopened() -> IO[bytes]:
        copy.seek(0)
        return opener(copy)

    def count(more: int) -> None:
        nonlocal size
        size += more
        if BUNDLE.is_bomb(size, node.size):
            raise ValueError("inflated out of all proportion")

    with reopened() as plain:
        sha256 = digest(plain, count)
    return Node(size=size, open=reopened, sha256=sha256)


def _tar(node: Node, held: ExitStack) -> list[tuple[str, Node]]:
    copy = _copy(node, held, max(node.size, BUNDLE.ratio_from))
    archive = held.enter_context(tarfile.open(fileobj=copy, mode="r:"))  # noqa: SIM115 - `held` closes it

    files: list[tuple[str, Node]] = []
    for member in archive:
        if member.isreg() and not member.issparse():  # a sparse file may claim any size
            files.append((member.name, _in_tar(archive, member)))
    return files


def _in_tar(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Node:
    return Node(size=member.size, open=lambda: archive.extractfile(member) or io.BytesIO())


def _copy(node: Node, held: ExitStack, most: int) -> IO[bytes]:
    with node.open() if node.open else io.BytesIO() as stream:
        return searchable(stream, held, most)


def _sheets(files: Mapping[str, Node]) -> tuple[list[tuple[str, Node]], bool]:
    """The sheets of a workbook as comma-separated text, and whether these are all: others are broken or too large."""
    tables: list[tuple[str, Node]] = []
    complete, left = True, MAX_BYTES
    shared: list[str] = []
    try:
        if SHARED in files:
            shared = [_text(one) for one in _elements(files[SHARED], "si")]
    except NO_SHEET:
        return tables, False
    for name in files:
        if not SHEET.fullmatch(name):
            continue
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        try:
            for row in _elements(files[name], "row"):
                cells = _cells(row, shared)
                left -= len(cells) + len("".join(cells))
                if left < 0:
                    raise ValueError("too large")
                writer.writerow(cells)
        except NO_SHEET:
            complete = False
        else:
            tables.append((f"{name}.csv", file_of(table.getvalue().encode())))
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
        if element.tag.rpartition("}")[2] == name:
            yield element
            element.clear()


def _text(element: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in element.iterfind(".//{*}t"))


def _cells(row: ElementTree.Element, shared: list[str]) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if reference := cell.get("r"):
            cells += [""] * (_column(reference) - len(cells))
        value = cell.findtext("{*}v", "")
        if cell.get("t") == "inlineStr":
            value = _text(cell)
        elif cell.get("t") == "s" and value:
            value = shared[int(value)]
        cells.append(value)
    return cells


def _column(reference: str) -> int:
    """The place of a column: 0 for A7, 27 for AB7."""
    cell = CELL.fullmatch(reference)
    place = 0
    for letter in cell[1] if cell else "":
        place = place * 26 + ord(letter) - ord("A") + 1
    if not 0 < place <= MAX_COLUMNS:
        raise ValueError("not a column")
    return place - 1
