"""Reads a gold file of any of the formats that a declared competition takes, strictly and with line numbers."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gen_bundle.errors import UserError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt")
MOST_SHOWN = 20
FIELD_LIMIT = 1 << 27
LINE_KEY = "line"
LINE_END = re.compile("[\r\n]")
BETWEEN = {",": "commas", "\t": "tabs", ";": "semicolons"}
"""What may separate the cells of a table."""
Quoting = Literal["rfc4180", "none"]


@dataclass(frozen=True)
class Gold:
    """The rows of a gold file.

    Attributes:
        file: its name in messages.
        suffix: says its format: .csv, .tsv, .jsonl, .json or .txt.
        names: of its columns. A .txt file has `line`, the lines' numbers, and `answer`.
        rows: the values in the order of `names`: cells as texts, or JSON values; None where a name is absent.
        numbers: of the line or item of each row, for `place`.
        quoting: whether cells are quoted by RFC 4180, or taken as they are.
        unnamed: how many columns without a name were left out.
    """

    file: str
    suffix: str
    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    numbers: Sequence[int]
    quoting: Quoting = "rfc4180"
    unnamed: int = 0

    @property
    def is_json(self) -> bool:
        return self.suffix in (".json", ".jsonl")

    def column(self, name: str) -> list[Any]:
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def place(self, row: int) -> str:
        number = self.numbers[row]
        return f"{self.file}[{number}]" if self.suffix == ".json" else f"{self.file}:{number}"


def read_gold(path: Path) -> Gold:
    """Read a gold file.

    Raises:
        UserError: everything that is wrong with it: file, line, what was expected.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UserError(f"--gold {path}: its format is unknown. Expected a file that ends with {', '.join(SUFFIXES)}.")
    text = _text(path)
    if not text.strip():
        raise UserError(f"{path.name}: is empty. Expected the gold: one row for each item.")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{path.name}:{line}: holds a NUL character. Expected plain text.")
    if suffix in (".csv", ".tsv"):
        gold = _table(text, path.name, suffix)
    elif suffix == ".txt":
        lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
        numbers = range(1, len(lines) + 1)
        rows = [[str(number), line] for number, line in zip(numbers, lines, strict=True)]
        gold = Gold(path.name, suffix, [LINE_KEY, "answer"], rows, numbers)
    else:
        gold = _json(text, path.name, suffix)
    if not gold.rows:
        raise UserError(f"{path.name}: has no rows. Expected one for each item, below the line with the column names.")
    return gold


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"--gold {path}: {error.strerror}. Expected a file that can be read.") from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UserError(f"{path.name}: is encoded in UTF-16. Expected UTF-8; save the file again as UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path.name}:{line}: holds bytes that are not UTF-8. Expected UTF-8; save the file again as UTF-8."
        ) from error


def raise_all(problems: Sequence[str]) -> None:
    """Raise what was found, the first of them in full, the rest counted."""
    if problems:
        raise UserError(*problems[:MOST_SHOWN], more=len(problems[MOST_SHOWN:]))


def _table(text: str, file: str, suffix: str) -> Gold:
    """A table with a header; a TSV whose quotation marks are part of its texts is read as it is."""
    header = text.lstrip("\r\n").partition("\n")[0]
    wanted = "\t" if suffix == ".tsv" else ","
    other = next((words for mark, words in BETWEEN.items() if mark in header), None)
    if other and wanted not in header:
        expected = f"{BETWEEN[wanted]}; save the file again with {BETWEEN[wanted]}"
        raise UserError(f"{file}:1: fields are separated by {other}. Expected {expected}.")
    quoted, problems = _delimited(_quoted_rows(text, suffix), file, suffix)
    if quoted is None and '"' in text and suffix == ".tsv":
        plain, others = _delimited(_plain_rows(text, suffix), file, suffix)
        if plain is not None and not others:
            return replace(plain, quoting="none")
    if quoted is None:
        raise_all(problems)
        raise UserError(f"{file}: cannot be read as a table.")
    return quoted


def _quoted_rows(text: str, suffix: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(FIELD_LIMIT)
    lines = (line + "\n" for line in text.split("\n"))
    reader = csv.reader(lines, delimiter="\t" if suffix == ".tsv" else ",", strict=True)
    for cells in reader:
        if cells and (len(cells) > 1 or cells[0].strip()):
            yield reader.line_num, cells


def _plain_rows(text: str, suffix: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\r").split("\t" if suffix == ".tsv" else ",")


def _delimited(lines: Iterator[tuple[int, list[str]]], file: str, suffix: str) -> tuple[Gold | None, list[str]]:
    """The table, and what is wrong; None for a table that cannot be used."""
    between = BETWEEN["\t" if suffix == ".tsv" else ","]
    number = 0
    try:
        number, header = next(lines, (1, []))
        top = number
        names = [name.strip() for name in header]
        problems = [
            f"{file}:{top}: the column {name!r} is there more than once. Expected each column once."
            for name, times in Counter(names).items()
            if name and times > 1
        ]
        problems += [
            f"{file}:{top}: the column {name!r} has a line break in its name. Expected a name on one line."
            for name in names
            if LINE_END.search(name)
        ]
        rows: list[list[str]] = []
        numbers: list[int] = []
        for number, cells in lines:
            if len(cells) != len(names):
                what = f"has {len(cells)} cells. Expected {len(names)}, as many as the first line"
                problems.append(f"{file}:{number}: {what}, separated by {between}.")
            else:
                rows.append(cells)
                numbers.append(number)
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        return None, [f"{file}:{number + 1}: cannot be read ({error}). Expected {expected}."]
    kept = [at for at, name in enumerate(names) if name]
    if problems or not kept:
        return None, problems or [f"{file}:{top}: names no column. Expected a first line with the columns' names."]
    rows = [[cells[at] for at in kept] for cells in rows] if len(kept) < len(names) else rows
    gold = Gold(file, suffix, [names[at] for at in kept], rows, numbers, unnamed=len(names) - len(kept))
    return gold, []


def _json(text: str, file: str, suffix: str) -> Gold:
    """Objects, one a line or in a list; or one object whose names are the keys."""
    problems: list[str] = []
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if suffix == ".jsonl":
        found = [(number, _parsed(line, f"{file}:{number}", problems)) for number, line in lines]
    else:
        value = _parsed(text, file, problems)
        items = list(value.items()) if isinstance(value, dict) else []
        if any(not isinstance(item, dict) for _, item in items):
            expected = "an object for each id, or a list of objects"
            problems.append(f"{file}: is an object whose values are not all objects. Expected {expected}.")
            items = []
        if not isinstance(value, dict | list) and not problems:
            problems.append(f"{file}: is neither a list nor an object. Expected a list of objects, one for each row.")
        listed = value if isinstance(value, list) else [{"id": key, **item} for key, item in items]
        found = list(enumerate(listed))

    def place(number: int) -> str:
        return f"{file}:{number}" if suffix == ".jsonl" else f"{file}[{number}]"

    names: dict[str, None] = {}
    rows = [(number, item) for number, item in found if isinstance(item, dict)]
    if not problems:
        problems += [
            f"{place(number)}: is not an object. Expected {{name: value, …}}."
            for number, item in found
            if not isinstance(item, dict)
        ]
    for number, item in rows:
        names.update(dict.fromkeys(item))
        if not _is_unicode(item):
            problems.append(
                f"{place(number)}: holds half of a surrogate pair (\\ud800 to \\udfff). Expected whole characters."
            )
    problems += [
        f"{file}: the name {name!r} is empty, or has blanks around it or a line break in it. Expected a plain name."
        for name in names
        if not name or name != name.strip() or LINE_END.search(name)
    ]
    raise_all(problems)
    values = [[item.get(name) for name in names] for _, item in rows]
    return Gold(file, suffix, list(names), values, [number for number, _ in rows])


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _parsed(text: str, where: str, problems: list[str]) -> Any:
    """The value of a JSON text; None, with the problem noted, where there is none."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        at = f"{where}:{error.lineno}" if "\n" in text else where
        problems.append(f"{at}:{error.colno}: not valid JSON ({error.msg}). Expected valid JSON.")
    except RecursionError:
        problems.append(f"{where}: is nested too deeply. Expected the fields of a row.")
    except ValueError as error:
        problems.append(f"{where}: {error}.")
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    times = Counter(name for name, _ in pairs)
    twice = [name for name, number in times.items() if number > 1]
    if twice:
        raise ValueError(f"the name {twice[0]!r} is there more than once. Expected each name once")
    return dict(pairs)


def _no_constant(name: str) -> Callable[[], None]:
    raise ValueError(f"{name} is not a JSON value. Expected a finite number, or null")
