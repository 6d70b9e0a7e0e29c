"""Gold: the text of its file, and the rows in it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from gen_bundle.ground.errors import UserError
from scoring_kit.base.field_types import json_text

BINARY = {
    b"PK\x03\x04": "an Excel workbook or another zip. Expected text; in Excel: Save as, CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind. Expected text; in Excel: Save as, CSV UTF-8",
    b"\x1f\x8b": "compressed by gzip. Expected text; unpack it: gunzip",
    b"PAR1": "a Parquet file. Expected text, such as JSON lines",
    b"\x80\x04": "a pickle of Python. Expected text, such as JSON lines",
    b"SQLite": "a database. Expected text, such as a table exported as CSV",
    b"%PDF": "a PDF. Expected text",
}
"""How files begin that are no text → what they are, and what is expected."""
DELIMITERS = {".csv": ",", ".tsv": "\t"}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LINES_LOOKED_AT = 200
"""So many lines tell the shape of a file; what the others lack is said when they are read."""
MOST_SHOWN = 20
LINE_KEY = "line"
NUMBERED = "id"
LINE_END = re.compile("[\r\n]")
LIST = re.compile(r"(?s)\[\s*([\[{('\"\d].*)?\]")
"""A list in a cell, of JSON or Python, and no label in brackets."""
FEWEST_REPEATS = 1.5
"""Texts that occur so often on average are labels."""
Quoting = Literal["rfc4180", "none"]


class NoHeaderError(UserError):
    """The first line of a table looks like a row. `names` are those that its columns might have, `first` its cells."""

    def __init__(self, message: str, names: Sequence[str], first: Sequence[str]) -> None:
        super().__init__(message)
        self.names = names
        self.first = first


@dataclass(frozen=True)
class GoldFile:
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


def open_gold(
    path: Path, columns: Sequence[str] = (), delimiter: str | None = None, at: str = "", encoding: str | None = None
) -> GoldFile:
    """The text of a file; raises UserError where it is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"--gold {path}: {error.strerror}. Expected a file that can be read.") from error
    for begin, what in BINARY.items():
        if data.startswith(begin):
            raise UserError(f"{path.name}: is {what}.")
    text, notes = _decoded(data, path.name, encoding)
    if not text.strip():
        raise UserError(f"{path.name}: is empty. Expected the gold: one row for each item.")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{path.name}:{line}: holds a NUL character. Expected plain text.")
    if "\n" not in text and text.count("\r") > 1:
        text = text.replace("\r", "\n")  # as old Macs end lines
    return GoldFile(path.name, path.suffix.lower(), text, columns, delimiter, at, notes)


def _decoded(data: bytes, name: str, encoding: str | None) -> tuple[str, tuple[str, ...]]:
    """The text, and what is to be said of its encoding."""
    if encoding is None and data.startswith(UTF_16):
        encoding = "utf-16"
    try:
        text = data.decode(encoding or "utf-8-sig")
    except LookupError as error:
        raise UserError(f"--encoding {encoding}: no such encoding. Expected one such as cp1252 or utf-16.") from error
    except UnicodeDecodeError as error:
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


@dataclass(frozen=True)
class GoldRows:
    """The rows of gold, column by column.

    Attributes:
        file: its name in messages.
        suffix: the format in which it is written again: .csv, .tsv, .jsonl, .json or .txt.
        columns: name → its values: cells as texts, or JSON values; None where a name is absent. A .txt file has `line`,
            the lines' numbers, and `answer`.
        numbers: of the line or item of each row, for `place`.
        quoting: whether cells are quoted by RFC 4180, or taken as they are.
        notes: what was read otherwise than the file's name says.
        phases: of each row, where every phase has a file of its own; else empty.
        files: phase → its file.
    """

    file: str
    suffix: str
    columns: Mapping[str, Sequence[Any]]
    numbers: Sequence[int]
    quoting: Quoting = "rfc4180"
    notes: tuple[str, ...] = ()
    phases: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_rows(
        cls,
        file: str,
        suffix: str,
        names: Sequence[str],
        rows: Sequence[tuple[int, Sequence[Any]]],
        notes: Sequence[str] = (),
        quoting: Quoting = "rfc4180",
    ) -> "GoldRows":
        """Gold of at least one row, each with the number of its line."""
        numbers, cells = zip(*rows, strict=True)
        columns = dict(zip(names, zip(*cells, strict=True), strict=True))
        return cls(file, suffix, columns, numbers, quoting, tuple(notes))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def is_json(self) -> bool:
        return self.suffix in (".json", ".jsonl")

    def texts(self, name: str) -> Sequence[str | None]:
        """The values of a column as strings or labels compare; None for what is neither."""
        if not self.is_json:
            return self.columns[name]
        if name not in self._texts:
            self._texts[name] = list(map(text_of, self.columns[name]))
        return self._texts[name]

    def shown(self, name: str) -> Sequence[str]:
        """The values of a column as texts, each."""
        if not self.is_json:
            return self.columns[name]
        values = zip(self.texts(name), self.columns[name], strict=True)
        return [str(value) if text is None else text for text, value in values]

    def keys(self, names: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """The key of each row in these columns, as texts; where every phase has a file of its own, after the phase."""
        wanted = tuple(names)
        if wanted not in self._keys:
            columns: list[Sequence[str]] = [self.phases] if self.phases else []
            for name in wanted:
                columns.append([text or "" for text in self.texts(name)])
            self._keys[wanted] = list(zip(*columns, strict=True))
        return self._keys[wanted]

    def picked(self, rows: Sequence[int]) -> "GoldRows":
        """These rows alone."""
        columns = {name: list(map(values.__getitem__, rows)) for name, values in self.columns.items()}
        numbers = list(map(self.numbers.__getitem__, rows))
        phases = self.phases and list(map(self.phases.__getitem__, rows))
        return replace(self, columns=columns, numbers=numbers, phases=phases)

    @cached_property
    def _keys(self) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
        return {}

    @cached_property
    def _texts(self) -> dict[str, list[str | None]]:
        return {}

    def place(self, row: int) -> str:
        """Where a line, or an item of JSON, is."""
        file = self.files[self.phases[row]] if self.phases else self.file
        number = self.numbers[row]
        return f"{file}[{number}]" if self.suffix == ".json" else f"{file}:{number}"


def text_of(value: Any) -> str | None:
    """A value as a string or label compares; None for what is neither."""
    text = json_text(value)
    return text if isinstance(text, str) else None


def one_after_another(files: Sequence[GoldRows], faults: Sequence[str] = ()) -> GoldRows:
    """Gold after gold; raises UserError where the columns are not those of the first, and for other `faults`."""
    first = files[0]
    problems = []
    for gold in files:
        if sorted(gold.names) != sorted(first.names):
            expected = f"those of {first.file}: {', '.join(first.names)}"
            problems.append(f"{gold.file}: has the columns {', '.join(gold.names)}. Expected {expected}.")
    raise_all([*problems, *faults])
    columns: dict[str, list[Any]] = {name: [] for name in first.names}
    numbers: list[int] = []
    for gold in files:
        numbers += gold.numbers
        for name, values in columns.items():
            values += gold.columns[name]
    return replace(first, columns=columns, numbers=numbers)


def joined(files: Mapping[str, GoldRows]) -> GoldRows:
    """The gold of several phases as one; raises UserError where their columns or formats differ."""
    first, *others = files.values()
    faults = []
    for gold in others:
        if (gold.suffix, gold.quoting) != (first.suffix, first.quoting):
            what = f"is {gold.suffix}, and {first.file} is {first.suffix}"
            faults.append(f"{gold.file}: {what}. Expected one format for all phases.")
    phases: list[str] = []
    notes: dict[str, None] = {}
    for phase, gold in files.items():
        phases += [phase] * len(gold)
        notes |= dict.fromkeys(gold.notes)
    names = {phase: gold.file for phase, gold in files.items()}
    whole = one_after_another([first, *others], faults)
    return replace(whole, file=" and ".join(names.values()), notes=tuple(notes), phases=phases, files=names)


def numbered(gold: GoldRows) -> GoldRows:
    """The gold with a column `id` that numbers its rows, in each phase from 1."""
    if NUMBERED in gold.names:
        raise UserError(f"--key {LINE_KEY}: {gold.file} has a column {NUMBERED!r} already. Expected --key {NUMBERED}.")
    seen: Counter[str] = Counter()
    numbers = []
    for phase in gold.phases or [""] * len(gold):
        seen[phase] += 1
        numbers.append(str(seen[phase]))
    return replace(gold, columns={NUMBERED: numbers, **gold.columns})


def raise_all(problems: Iterable[str]) -> None:
    """Raise what was found, the first of them in full, the rest counted."""
    found = list(problems)
    if found:
        raise UserError(*found[:MOST_SHOWN], more=len(found[MOST_SHOWN:]))
