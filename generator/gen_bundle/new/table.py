"""The rows of gold, and the texts that their cells hold."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from gen_bundle.errors import UserError

MOST_SHOWN = 20
LINE_KEY = "line"
NUMBERED = "id"
LINE_END = re.compile("[\r\n]")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
LIST = re.compile(r"(?s)\[\s*([\[{('\"\d].*)?\]")
"""A list in a cell, of JSON or Python, and no label in brackets."""
TAG = re.compile(r"O|[BI]-.+")
FEWEST_REPEATS = 1.5
"""Texts that occur so often on average are labels."""
Quoting = Literal["rfc4180", "none"]


@dataclass(frozen=True)
class GoldRows:
    """The rows of gold.

    Attributes:
        file: its name in messages.
        suffix: the format in which it is written again: .csv, .tsv, .jsonl, .json or .txt.
        names: of its columns. A .txt file has `line`, the lines' numbers, and `answer`.
        rows: the values in the order of `names`: cells as texts, or JSON values; None where a name is absent.
        numbers: of the line or item of each row, for `place`.
        quoting: whether cells are quoted by RFC 4180, or taken as they are.
        notes: what was read otherwise than the file's name says.
        phases: of each row, where every phase has a file of its own; else empty.
        files: phase → its file.
    """

    file: str
    suffix: str
    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numbers: Sequence[int]
    quoting: Quoting = "rfc4180"
    notes: tuple[str, ...] = ()
    phases: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_json(self) -> bool:
        return self.suffix in (".json", ".jsonl")

    def column(self, name: str) -> Sequence[Any]:
        return self._columns[self.names.index(name)]

    def texts(self, name: str) -> Sequence[str | None]:
        """The values of a column as strings or labels compare; None for what is neither."""
        if name not in self._texts:
            self._texts[name] = [text_of(value) for value in self.column(name)]
        return self._texts[name]

    def shown(self, name: str) -> Sequence[str]:
        """The values of a column as texts, each."""
        values = zip(self.texts(name), self.column(name), strict=True)
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

    @cached_property
    def _keys(self) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
        return {}

    @cached_property
    def _columns(self) -> list[Sequence[Any]]:
        return list(zip(*self.rows, strict=True)) or [()] * len(self.names)

    @cached_property
    def _texts(self) -> dict[str, list[str | None]]:
        return {}

    def place(self, row: int) -> str:
        file = self.files[self.phases[row]] if self.phases else self.file
        number = self.numbers[row]
        return f"{file}[{number}]" if self.suffix == ".json" else f"{file}:{number}"


def text_of(value: Any) -> str | None:
    """A value as a string or label compares; None for what is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else None


def joined(files: Mapping[str, GoldRows]) -> GoldRows:
    """The gold of several phases as one; raises UserError where their columns or formats differ."""
    first, *others = files.values()
    problems = []
    for gold in others:
        if sorted(gold.names) != sorted(first.names):
            problems.append(
                f"{gold.file}: has the columns {', '.join(gold.names)}. Expected those of {first.file}: "
                f"{', '.join(first.names)}."
            )
    for gold in others:
        if (gold.suffix, gold.quoting) != (first.suffix, first.quoting):
            what = f"is {gold.suffix}, and {first.file} is {first.suffix}"
            problems.append(f"{gold.file}: {what}. Expected one format for all phases.")
    raise_all(problems)
    rows: list[Sequence[Any]] = []
    numbers: list[int] = []
    phases: list[str] = []
    notes: dict[str, None] = {}
    for phase, gold in files.items():
        rows += zip(*(gold.column(name) for name in first.names), strict=True)
        numbers += gold.numbers
        phases += [phase] * len(gold.rows)
        notes |= dict.fromkeys(gold.notes)
    names = {phase: gold.file for phase, gold in files.items()}
    return replace(
        first,
        file=" and ".join(names.values()),
        rows=rows,
        numbers=numbers,
        notes=tuple(notes),
        phases=phases,
        files=names,
    )


def numbered(gold: GoldRows) -> GoldRows:
    """The gold with a column `id` that numbers its rows, in each phase from 1."""
    if NUMBERED in gold.names:
        raise UserError(f"--key {LINE_KEY}: {gold.file} has a column {NUMBERED!r} already. Expected --key {NUMBERED}.")
    seen: Counter[str] = Counter()
    rows: list[Sequence[Any]] = []
    for at, row in enumerate(gold.rows):
        phase = gold.phases[at] if gold.phases else ""
        seen[phase] += 1
        rows.append([str(seen[phase]), *row])
    return replace(gold, names=[NUMBERED, *gold.names], rows=rows)


def without(gold: GoldRows, *unwanted: str) -> GoldRows:
    """The gold without some columns; empty names are such as well."""
    names = [name for name in gold.names if name not in unwanted]
    return replace(gold, names=names, rows=list(zip(*map(gold.column, names), strict=True)))


def raise_all(problems: Sequence[str]) -> None:
    """Raise what was found, the first of them in full, the rest counted."""
    if problems:
        raise UserError(*problems[:MOST_SHOWN], more=len(problems[MOST_SHOWN:]))
