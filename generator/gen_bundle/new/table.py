"""Reads a gold file by what it is, whatever its name says: strictly, with line numbers, and no row is lost."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from gen_bundle.errors import UserError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
BETWEEN = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
"""What may separate the cells of a table, in words; the first three are recognised."""
RECOGNISED = ",\t;"
BINARY = {
    b"PK\x03\x04": "an Excel workbook or another zip. Expected text; in Excel: Save as, CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind. Expected text; in Excel: Save as, CSV UTF-8",
    b"\x1f\x8b": "compressed by gzip. Expected text; unpack it: gunzip",
    b"PAR1": "a Parquet file. Expected text, such as JSON lines",
    b"\xff\xfe": "encoded in UTF-16. Expected UTF-8; save the file again as UTF-8",
    b"\xfe\xff": "encoded in UTF-16. Expected UTF-8; save the file again as UTF-8",
}
"""How files begin that are no text → what they are, and what is expected."""
MOST_SHOWN = 20
LINES_LOOKED_AT = 50
ROWS_LOOKED_AT = 20_000
"""So many rows tell whether the first line is one of them."""
FIELD_LIMIT = 1 << 27
LINE_KEY = "line"
NUMBERED = "id"
LINE_END = re.compile("[\r\n]")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)?")
LIST = re.compile(r"(?s)\[\s*([\[{('\"\d].*)?\]")
"""A list in a cell, of JSON or Python, and no label in brackets."""
TAG = re.compile(r"O|[BI]-.+")
CONLL_COMMENT = re.compile(r"# |-DOCSTART-|#\w+ =")
FEWEST_REPEATS = 1.5
"""Texts that occur so often on average are labels."""
Quoting = Literal["rfc4180", "none"]
Row = tuple[int, list[str]]
"""The number of its line, and its cells."""


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


class NoHeaderError(UserError):
    """The first line of a table looks like a row. `names` are those that its columns might have, `first` its cells."""

    def __init__(self, message: str, names: Sequence[str], first: Sequence[str]) -> None:
        super().__init__(message)
        self.names = names
        self.first = first


def text_of(value: Any) -> str | None:
    """A value as a string or label compares; None for what is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else None


def read_gold(path: Path, names: Sequence[str] = (), delimiter: str | None = None) -> GoldRows:
    """Read a gold file.

    Args:
        path: the file.
        names: of the columns of a table without a header line. If its first line holds the same, it is the header.
        delimiter: between the cells of a table; None: as the file's name or its first line says.

    Raises:
        NoHeaderError: no `names` are given, and the first line of a table looks like a row of it.
        UserError: everything that is wrong with it: file, line, what was expected.
    """
    text = _text(path)
    form = _form(path, text, delimiter)
    if form == "conll":
        gold = _conll(text, path.name)
    elif form in DELIMITERS:
        gold = _table(text, path.name, form, names, delimiter or _delimiter(text, form))
    elif form == ".txt":
        gold = _lines(text, path.name)
    else:
        gold = _json(text, path.name, form)
    if names and list(names) != list(gold.names):
        raise UserError(f"--columns: {path.name} has the columns {', '.join(gold.names)}. Expected no such option.")
    if not gold.rows:
        raise UserError(f"{path.name}: has no rows. Expected one for each item, below the line with the column names.")
    return gold


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


def raise_all(problems: Sequence[str]) -> None:
    """Raise what was found, the first of them in full, the rest counted."""
    if problems:
        raise UserError(*problems[:MOST_SHOWN], more=len(problems[MOST_SHOWN:]))


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"--gold {path}: {error.strerror}. Expected a file that can be read.") from error
    for begin, what in BINARY.items():
        if data.startswith(begin):
            raise UserError(f"{path.name}: is {what}.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path.name}:{line}: holds bytes that are not UTF-8. Expected UTF-8; save the file again as UTF-8."
        ) from error
    if not text.strip():
        raise UserError(f"{path.name}: is empty. Expected the gold: one row for each item.")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(f"{path.name}:{line}: holds a NUL character. Expected plain text.")
    return text


def _form(path: Path, text: str, delimiter: str | None) -> str:
    """The format: one of the suffixes, or `conll`. What the text is goes before what the file is called."""
    suffix = path.suffix.lower()
    if delimiter is not None:
        return suffix if suffix in DELIMITERS else ".csv"
    if found := _json_form(text.strip(), suffix):
        return found
    if suffix not in (".csv", ".json", ".jsonl") and _is_conll(text):
        return "conll"
    if suffix == ".txt" and _is_table(text):
        return ".tsv"
    if suffix in SUFFIXES:
        return suffix
    raise UserError(
        f"--gold {path}: its format is unknown. Expected a file that ends with {', '.join(SUFFIXES)}, or a table with "
        '--delimiter, such as --delimiter ";".'
    )


def _json_form(text: str, suffix: str) -> str:
    """Which of the two formats of JSON a text is; empty where it is none."""
    if text[0] not in "[{":
        return ""
    if _is_json(text):
        return ".jsonl" if suffix == ".jsonl" and "\n" not in text else ".json"
    is_lines = text.startswith("{") and _is_json(text.partition("\n")[0])
    return ".jsonl" if is_lines else ""


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_table(text: str) -> bool:
    """Whether lines of text have as many tabs each, and some."""
    return len({line.count("\t") for line in text.splitlines() if line}) == 1 and "\t" in text


def _is_conll(text: str) -> bool:
    """Whether these are lines `token … tag`, with blank lines between sentences."""
    lines = [line.split() for line in text.strip().splitlines() if not CONLL_COMMENT.match(line)]
    tokens = [cells for cells in lines if cells]
    tagged = all(len(cells) > 1 and TAG.fullmatch(cells[-1]) for cells in tokens)
    return tagged and len(tokens) < len(lines) and any(cells[-1].startswith("B-") for cells in tokens)


def _conll(text: str, file: str) -> GoldRows:
    """Sentences with their tokens and tags."""
    sentences: list[list[Any]] = []
    numbers: list[int] = []
    is_new = True
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.split()
        if not cells or CONLL_COMMENT.match(line):
            is_new = True
            continue
        if is_new:
            sentences.append([f"s{len(sentences) + 1}", [], []])
            numbers.append(number)
            is_new = False
        sentences[-1][1].append(cells[0])
        sentences[-1][2].append(cells[-1])
    note = f"{file}: columns as CoNLL has them; the sentences were numbered, and are written as JSON lines"
    return GoldRows(file, ".jsonl", [NUMBERED, "tokens", "tags"], sentences, numbers, notes=(note,))


def _lines(text: str, file: str) -> GoldRows:
    """A text in each line."""
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    words = {len(line.split()) for line in lines}
    notes: tuple[str, ...] = ()
    if len(lines) > 2 and len(words) == 1 and words < set(range(2, 9)):
        notes = (f'{file}: each line has {words.pop()} words. If these are columns, give --delimiter " "',)
    numbers = range(1, len(lines) + 1)
    rows = list(zip(map(str, numbers), lines, strict=True))
    return GoldRows(file, ".txt", [LINE_KEY, "answer"], rows, numbers, notes=notes)


def _delimiter(text: str, suffix: str) -> str:
    """What separates cells: as the file's name says, unless the first lines show another of the usual ones."""
    lines = [line for line in text.split("\n", LINES_LOOKED_AT)[:LINES_LOOKED_AT] if line.strip()]
    usual = DELIMITERS[suffix]
    there = [mark for mark in dict.fromkeys(usual + RECOGNISED) if mark in lines[0]]
    there.sort(key="\t".__ne__)  # tabs are hardly ever part of a text
    for mark in there:
        times = {line.count(mark) for line in lines}
        if len(times) == 1:
            return mark
    return there[0] if there else usual


def _table(text: str, file: str, suffix: str, names: Sequence[str], delimiter: str) -> GoldRows:
    """A table; one whose quotation marks are part of its texts is read as it is."""
    try:
        gold = _columns(list(_quoted_rows(text, delimiter, file)), file, suffix, names, delimiter)
    except NoHeaderError:
        raise
    except UserError as error:
        if '"' not in text or delimiter != "\t":
            raise
        try:
            plain = _columns(list(_plain_rows(text, delimiter)), file, ".tsv", names, delimiter)
        except NoHeaderError:
            raise
        except UserError:
            raise error from None
        gold = replace(plain, quoting="none")
    if delimiter == DELIMITERS[suffix]:
        return gold
    gold = _with_points(gold) if delimiter == ";" else gold
    read = f"{file}: separated by {BETWEEN.get(delimiter, repr(delimiter))}"
    return replace(gold, notes=(*gold.notes, f"{read}; what is written here has {BETWEEN[DELIMITERS[gold.suffix]]}"))


def _with_points(gold: GoldRows) -> GoldRows:
    """With decimal points in the columns of numbers that have commas, as spreadsheets write both in half of Europe."""
    columns: list[Sequence[str]] = []
    numbers = []
    for name in gold.names:
        cells = gold.column(name)
        if any("," in cell for cell in cells) and all(map(DECIMAL_COMMA.fullmatch, cells)):
            numbers.append(name)
            cells = [cell.replace(",", ".") for cell in cells]
        columns.append(cells)
    if not numbers:
        return gold
    note = f"{gold.file}: the decimal commas of {', '.join(numbers)} are written as points"
    return replace(gold, rows=list(zip(*columns, strict=True)), notes=(*gold.notes, note))


def _quoted_rows(text: str, delimiter: str, file: str) -> Iterator[Row]:
    csv.field_size_limit(FIELD_LIMIT)
    reader = csv.reader((line + "\n" for line in text.split("\n")), delimiter=delimiter, strict=True)
    number = 0
    try:
        for cells in reader:
            number = reader.line_num
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield number, cells
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        raise UserError(f"{file}:{number + 1}: cannot be read ({error}). Expected {expected}.") from error


def _plain_rows(text: str, delimiter: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\r").split(delimiter)


def _columns(lines: list[Row], file: str, suffix: str, names: Sequence[str], delimiter: str) -> GoldRows:
    """The table of these rows, whose first one is the header unless `names` are given that it does not hold."""
    top, cells = lines[0] if lines else (1, [""])
    first = [cell.strip() for cell in cells]
    header, rows, whose = first, lines[1:], "the first line"
    if names and list(names) != first:
        header, rows, whose = list(names), lines, "--columns"
    if not names:
        _check_header(f"{file}:{top}", first, rows)
    between = BETWEEN.get(delimiter, repr(delimiter))
    expected = f"Expected {len(header)}, as many as {whose}, separated by {between}."
    if len(header) != len(first):
        raise UserError(f"{file}:{top}: has {len(first)} cells. {expected}")
    faults = _faults_of_names(f"{file}:{top}", header)
    for number, cells in rows:
        if len(cells) != len(header):
            faults.append(f"{file}:{number}: has {len(cells)} cells. {expected}")
    raise_all(faults)
    gold = GoldRows(file, suffix, header, [cells for _, cells in rows], [number for number, _ in rows])
    return gold if all(header) else _without_unnamed(gold)


def _without_unnamed(gold: GoldRows) -> GoldRows:
    """Without the columns that have no name."""
    names = [name for name in gold.names if name]
    rows = list(zip(*map(gold.column, names), strict=True))
    note = f"{gold.file}: {len(gold.names) - len(names)} columns without a name are left out"
    return replace(gold, names=names, rows=rows, notes=(note,))


def _check_header(where: str, first: Sequence[str], rows: Sequence[Row]) -> None:
    """Raise NoHeaderError where the first line looks like a row."""
    alike = [cells for _, cells in rows[:ROWS_LOOKED_AT] if len(cells) == len(first)]
    if evidence := _row_in_place_of_header(first, alike):
        raise _no_header(where, first, alike, evidence)


def _faults_of_names(where: str, names: Sequence[str]) -> list[str]:
    faults = [
        f"{where}: the column {name!r} is there more than once. Expected each column once."
        for name, times in Counter(names).items()
        if name and times > 1
    ]
    faults += [
        f"{where}: the column {name!r} has a line break in its name. Expected a name on one line."
        for name in names
        if LINE_END.search(name)
    ]
    if not any(names):
        faults.append(f"{where}: names no column. Expected a first line with the columns' names.")
    return faults


def _row_in_place_of_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What makes the first line look like a row: its cells are values of their columns. Empty where it does not."""
    values: list[str] = []
    doubts = 0
    for cell, column in zip(first, zip(*rows, strict=True), strict=False):
        given = [value for value in column if value.strip()]
        kind = _kind_of_cell(cell, given)
        if kind == "name":
            return ""
        if kind == "value":
            values.append(cell)
        doubts += kind == "no label"
    return values[-1] if len(values) > doubts else ""


def _kind_of_cell(cell: str, given: Sequence[str]) -> str:
    """`value` or `name` of its column, `no label` of it, or empty where nothing speaks for either."""
    if not cell or not given:
        return ""
    shapes = {_shape(value) for value in given}
    different = set(given)
    if all(map(NUMBER.fullmatch, given)):
        is_number = NUMBER.fullmatch(cell) is not None
        is_value, otherwise = is_number and _is_near(cell, given), "" if is_number else "name"
    elif len(shapes) == 1 and "0" in min(shapes):
        is_value, otherwise = _shape(cell) in shapes, "name"
    elif all(map(LIST.fullmatch, given)):
        is_value, otherwise = LIST.fullmatch(cell) is not None, "name"
    else:
        is_value = cell in different
        otherwise = "no label" if len(given) >= FEWEST_REPEATS * len(different) else ""
    return "value" if is_value else otherwise


def _shape(cell: str) -> str:
    """A text with its numbers made equal: those of ids differ in them alone."""
    return re.sub("[0-9]+", "0", cell) if len(cell) < 100 else ""


def _is_near(cell: str, given: Sequence[str]) -> bool:
    """Whether a number is no further from the others than these are from each other; 2019 is no value among prices."""
    numbers = [float(value) for value in given]
    low, high = min(numbers), max(numbers)
    return low - (high - low) <= float(cell) <= high + (high - low)


def _no_header(where: str, first: Sequence[str], rows: Sequence[Sequence[str]], evidence: str) -> NoHeaderError:
    names: list[str] = []
    for at, cell in enumerate(first):
        given = [row[at] for row in rows]
        name = _name_for(cell, given, is_first="id" not in names)
        if name in names:
            name = f"{name}{at + 1}"
        names.append(name)
    may_be = len(set(first)) == len(first) and not any("," in cell for cell in first)
    header = f" If this line is the header all the same: --columns {','.join(first)}." if may_be else ""
    return NoHeaderError(
        f"{where}: looks like a row and no header: {evidence!r} is a value of its own column. Expected the columns' "
        f"names: --columns {','.join(names)}.{header}",
        names,
        first,
    )


def _name_for(cell: str, given: Sequence[str], *, is_first: bool) -> str:
    """What a column without a name may be called."""
    if is_first and len({cell, *given}) == len(given) + 1 and not any(" " in value for value in given):
        return "id"
    if all(map(LIST.fullmatch, given)):
        return "spans"
    if {_shape(value) for value in given} == {_shape(cell)} and not NUMBER.fullmatch(cell) and "0" in _shape(cell):
        return "doc"
    if len(given) >= FEWEST_REPEATS * len(set(given)):
        return "label"
    return "score" if all(map(NUMBER.fullmatch, given)) else "text"


def _json(text: str, file: str, suffix: str) -> GoldRows:
    """Objects, one a line or in a list; or one object whose names are the keys, of objects or of plain answers."""
    problems: list[str] = []
    read = _json_lines if suffix == ".jsonl" else _json_items
    found = read(text, file, problems)

    def place(number: int) -> str:
        return f"{file}:{number}" if suffix == ".jsonl" else f"{file}[{number}]"

    is_json = not problems
    names: dict[str, None] = {}
    rows = []
    for number, item in found:
        if isinstance(item, dict):
            rows.append((number, item))
            names.update(dict.fromkeys(item))
        elif is_json:
            problems.append(f"{place(number)}: is not an object. Expected {{name: value, …}}.")
    for number, item in rows:
        if not _is_unicode(item):
            problems.append(
                f"{place(number)}: holds half of a surrogate pair (\\ud800 to \\udfff). Expected whole characters."
            )
    what = "is empty, or has blanks around it or a line break in it"
    problems += [f"{file}: the name {name!r} {what}. Expected a plain name." for name in names if _is_odd(name)]
    raise_all(problems)
    columns = list(names)
    values = [list(map(item.get, columns)) for _, item in rows]
    return GoldRows(file, suffix, columns, values, [number for number, _ in rows])


def _is_odd(name: str) -> bool:
    return not name or name != name.strip() or LINE_END.search(name) is not None


def _json_lines(text: str, file: str, problems: list[str]) -> list[tuple[int, Any]]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [(number, _parsed(line, f"{file}:{number}", problems)) for number, line in lines]


def _json_items(text: str, file: str, problems: list[str]) -> list[tuple[int, Any]]:
    value = _parsed(text, file, problems)
    if isinstance(value, dict):
        of_objects = {isinstance(item, dict) for item in value.values()}
        if len(of_objects) > 1:
            expected = "objects alone, or plain answers alone"
            problems.append(
                f"{file}: is an object of which some values are objects, and others not. Expected {expected}."
            )
            return []
        named = (({"answer": item} if False in of_objects else item) for item in value.values())
        value = [{NUMBERED: key, **item} for key, item in zip(value, named, strict=True)]
    if not isinstance(value, list):
        if not problems:
            problems.append(f"{file}: is neither a list nor an object. Expected a list of objects, one for each row.")
        return []
    return list(enumerate(value))


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
