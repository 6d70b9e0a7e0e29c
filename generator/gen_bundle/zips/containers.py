"""Archives, compressed files and spreadsheets, recognised by their content, not their names."""

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import IO, cast

from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.packed import searchable, unpack
from gen_bundle.zips.spreadsheet import WORKBOOK, sheets
from gen_bundle.zips.tree import CHUNK, Node

ZIP = b"PK\x03\x04"
TAR, TAR_AT = b"ustar", 257
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
    b"SQLite format 3\0": "an SQLite database",
    b"(dp": "a Python pickle",
    b"(lp": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04\x95": "a Python pickle",
    b"\x80\x05\x95": "a Python pickle",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a file of an old Office program",
}
UNREADABLE = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError)


@dataclass(frozen=True)
class Contents:
    """What is inside a file.

    Attributes:
        files: the files in it, by name.
        closed: why it, or a part of it, cannot be looked into; empty where it can.
    """

    files: list[tuple[str, Node]] = field(default_factory=list)
    closed: str = ""


def contents(node: Node, tick: Callable[[int], None], held: ExitStack) -> Contents:
    """Open a file that holds others; what is opened stays so until `held` is closed. Nothing for any other file."""
    start = _start(node)
    closed = next((kind for magic, kind in CLOSED.items() if start.startswith(magic)), "")
    if closed:
        return Contents(closed=closed)
    if start.startswith(ZIP) or (start.startswith(b"#!") and ZIP in start):  # a Python program may be a zip
        return _zip(node, tick, held)
    try:
        if start[TAR_AT:] == TAR:
            return Contents(_tar(node, tick, held))
        for magic, opener in COMPRESSED.items():
            if start.startswith(magic):
                return Contents([("content", _inflated(node, opener, tick, held))])
    except UNREADABLE as error:
        return Contents(closed=f"not a readable archive ({error})")
    return Contents()


def holds_files(node: Node) -> bool:
    """Whether a file begins like an archive or a compressed file."""
    start = _start(node)
    return start.startswith((ZIP, *COMPRESSED, *CLOSED)) or start[TAR_AT:] == TAR


def _start(node: Node) -> bytes:
    return node.read(TAR_AT + len(TAR))


def _zip(node: Node, tick: Callable[[int], None], held: ExitStack) -> Contents:
    package = unpack(node, tick, held)
    files = list(package.tree.root.files())
    closed = f"a zip of which a part cannot be read ({package.fault})" if package.fault else ""
    if any(name == WORKBOOK for name, _ in files):
        tables, complete = sheets(dict(files))
        files += tables
        closed = closed or ("" if complete else "a workbook with a sheet that is broken or too large")
    return Contents(files, closed)


def _inflated(
    node: Node, opener: Callable[[IO[bytes]], IO[bytes]], tick: Callable[[int], None], held: ExitStack
) -> Node:
    """The one file that is compressed in a file: read once, so that a broken one is found, and never written out."""
    with _opened(node) as stream:
        copy = searchable(stream, held, node.size)

    def reopened() -> IO[bytes]:
        copy.seek(0)
        return opener(copy)

    size, state = 0, hashlib.sha256()
    with reopened() as plain:
        while chunk := plain.read(CHUNK):
            size += len(chunk)
            state.update(chunk)
            tick(len(chunk))
            if BUNDLE.is_bomb(size, node.size):
                raise ValueError("inflated out of all proportion")
    return Node(size=size, open=reopened, sha256=state.hexdigest(), tick=tick)


def _tar(node: Node, tick: Callable[[int], None], held: ExitStack) -> list[tuple[str, Node]]:
    with _opened(node) as stream:
        copy = searchable(stream, held, max(node.size, BUNDLE.ratio_from))
    archive = held.enter_context(tarfile.open(fileobj=copy, mode="r:"))  # noqa: SIM115 - `held` closes it
    return [
        (member.name, Node(size=member.size, open=partial(_member, archive, member), tick=tick))
        for member in archive
        # a sparse file may claim any size
        if member.isreg() and not member.issparse()
    ]


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    return archive.extractfile(member) or io.BytesIO()


def _opened(node: Node) -> IO[bytes]:
    return node.open() if node.open else io.BytesIO()
