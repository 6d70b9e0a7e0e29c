"""A table: its columns, and the line or item of each row."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.tables.values import picked
from scoring_kit.base.field_types import json_text

DELIMITERS = {".csv": ",", ".tsv": "\t"}
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
class FileTable:
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
    ) -> "FileTable":
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
            self._texts[name] = [text_of(value) for value in self.columns[name]]
        return self._texts[name]

    def labels(self, name: str) -> list[str]:
        """The values of a column as labels; empty for what is none."""
        return [text or "" for text in self.texts(name)]

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
            columns += [self.labels(name) for name in wanted]
            self._keys[wanted] = list(zip(*columns, strict=True))
        return self._keys[wanted]

    def picked(self, rows: Sequence[int]) -> "FileTable":
        """These rows alone."""
        columns = {}
        for name, values in self.columns.items():
            columns[name] = picked(values, rows)
        phases = self.phases and picked(self.phases, rows)
        return replace(self, columns=columns, numbers=picked(self.numbers, rows), phases=phases)

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


def all_match(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    """Return whether all of these texts are of a form."""
    return all(pattern.fullmatch(text) for text in texts)


def text_of(value: Any) -> str | None:
    """A value as a string or label compares; None for what is neither."""
    text = json_text(value)
    return text if isinstance(text, str) else None


def one_after_another(files: Sequence[FileTable], faults: Sequence[str] = ()) -> FileTable:
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
