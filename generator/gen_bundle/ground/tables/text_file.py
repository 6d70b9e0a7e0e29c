"""The text of a file, whatever its encoding; what is no text is named."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.kinds import NO_TEXT, expected_of, kind_of

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LINES_LOOKED_AT = 200
"""So many lines tell the shape of a file; what the others lack is said when they are read."""


@dataclass(frozen=True)
class TextFile:
    """The text of gold, and how it is read where the text does not say it.

    Attributes:
        name: its name in messages.
        suffix: of its name, in lower case.
        text: without a byte order mark.
        columns: names of the columns where there is no header line; empty: those of the file.
        delimiter: between the cells of a table; None: as the file's name or its first lines say.
        at: of JSON, the names and numbers that lead to the records, with dots between them.
        notes: what is to be said of it.
    """

    name: str
    suffix: str
    text: str
    columns: Sequence[str] = ()
    delimiter: str | None = None
    at: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def head(self) -> list[str]:
        """The first lines."""
        lines = self.text.split("\n", LINES_LOOKED_AT)[:LINES_LOOKED_AT]
        return [line.removesuffix("\r") for line in lines]

    @cached_property
    def beginning(self) -> list[str]:
        """Those of the first lines that are not blank; at least one."""
        return [line for line in self.head if line.strip()] or [self.text.strip().partition("\n")[0]]


def open_text(
    path: Path, columns: Sequence[str] = (), delimiter: str | None = None, at: str = "", encoding: str | None = None
) -> TextFile:
    """The text of a file; raises UserError where it is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"--gold {path}: {error.strerror}. Expected a file that can be read.") from error
    if kind := kind_of(data):
        raise UserError(f"{path.name}: is {kind}. Expected {expected_of(kind)}.")
    text, notes = _decoded(data, path.name, encoding)
    if not text.strip():
        raise UserError(f"{path.name}: is empty. Expected the gold: one row for each item.")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{path.name}:{line}: holds a NUL character. Expected plain text.")
    return TextFile(path.name, path.suffix.lower(), text, columns, delimiter, at, notes)


def _decoded(data: bytes, name: str, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """The text, and what is to be said of its encoding."""
    if encoding is None and data.startswith(UTF_16):
        encoding = "utf-16"
    try:
        text = data.decode(encoding or "utf-8-sig")
    except LookupError as error:
        raise UserError(f"--encoding {encoding}: no such encoding. Expected one such as cp1252 or utf-16.") from error
    except UnicodeDecodeError as error:
        if b"\0" in data and encoding is None:
            raise UserError(f"{name}: is {NO_TEXT}. Expected {expected_of(NO_TEXT)}.") from error
        line = data.count(b"\n", 0, error.start) + 1
        if encoding is not None:
            raise UserError(
                f"{name}:{line}: holds bytes that are not {encoding}. Expected another --encoding."
            ) from error
        raise UserError(
            f"{name}:{line}: holds bytes that are not UTF-8. Expected UTF-8; save the file again as UTF-8, "
            "or say what it is: --encoding cp1252 (western Europe on Windows; cp1250 and cp1251 are of the east)."
        ) from error
    notes = (f"{name}: read as {encoding}; what is written here is UTF-8",) if encoding else ()
    return text.removeprefix("\ufeff"), notes
