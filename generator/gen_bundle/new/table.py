"""Reads a gold file by what it is, whatever its name says: strictly, with line numbers, and no row is lost."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    def records(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """Some rows, each as its values by the columns' names."""
        return [dict(zip(self.names, self.rows[at], strict=True)) for at in rows]

    def column(self, name: str) -> list[Any]:
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def texts(self, name: str) -> list[str]:
        """A column's values as strings or labels compare; what is neither is empty."""
        return [text_of(value) or "" for value in self.column(name)]

    def place(self, row: int) -> str:
        file = self.files[self.phases[row]] if self.phases else self.file
        number = self.numbers[row]
        return f"{file}[{number}]" if self.suffix == ".json" else f"{file}:{number}"


def text_of(value: Any) -> str | None:
    """A value as a string or label compares; None for what is neither."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else None


class NoHeaderError(UserError):
    """The first line of a table looks like a row. `names` are those that its columns might have, `first` its cells."""

    def __init__(self, message: str, names: Sequence[str], first: Sequence[str]) -> None:
        super().__init__(message)
        self.names = names
        self.first = first


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
    other_columns = [gold for gold in others if sorted(gold.names) != sorted(first.names)]
    other_format = [gold for gold in others if (gold.suffix, gold.quoting) != (first.suffix, first.quoting)]
    expected = f"Expected those of {first.file}: {', '.join(first.names)}."
    one_format = f"and {first.file} is {first.suffix}. Expected one format for all phases."
    raise_all(
        [
            *(f"{gold.file}: has the columns {', '.join(gold.names)}. {expected}" for gold in other_columns),
            *(f"{gold.file}: is {gold.suffix}, {one_format}" for gold in other_format),
        ]
    )
    rows: list[Sequence[Any]] = []
    numbers: list[int] = []
    notes: dict[str, None] = {}
    phases: list[str] = []
    for phase, gold in files.items():
        order = [gold.names.index(name) for name in first.names]
        rows += (list(map(row.__getitem__, order)) for row in gold.rows)
        numbers += gold.numbers
        notes |= dict.fromkeys(gold.notes)
        phases += [phase] * len(gold.rows)
    return replace(
        first,
        file=" and ".join(gold.file for gold in files.values()),
        rows=rows,
        numbers=numbers,
        notes=tuple(notes),
        phases=phases,
        files={phase: gold.file for phase, gold in files.items()},
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


def raise_all(problems: Iterable[str]) -> None:
    """Raise what was found, the first of them in full, the rest counted."""
    found = list(problems)
    if found:
        raise UserError(*found[:MOST_SHOWN], more=len(found[MOST_SHOWN:]))


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
    if (json_form := _json_form(text.strip(), suffix)) is not None:
        return json_form
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


def _json_form(text: str, suffix: str) -> str | None:
    if text[0] not in "[{":
        return None
    if _is_json(text):
        return ".jsonl" if suffix == ".jsonl" and "\n" not in text else ".json"
    first = text.partition("\n")[0]
    return ".jsonl" if text.startswith("{") and _is_json(first) else None


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
    rows = [[str(number), line] for number, line in zip(numbers, lines, strict=True)]
    return GoldRows(file, ".txt", [LINE_KEY, "answer"], rows, numbers, notes=notes)


def _delimiter(text: str, suffix: str) -> str:
    """What separates cells: as the file's name says, unless the first lines show another of the usual ones."""
    lines = [line for line in text.split("\n", LINES_LOOKED_AT)[:LINES_LOOKED_AT] if line.strip()]
    usual = DELIMITERS[suffix]
    there = [mark for mark in dict.fromkeys(usual + RECOGNISED) if mark in lines[0]]
    there.sort(key="\t".__ne__)  # tabs are hardly ever part of a text
    for mark in there:
        if len({line.count(mark) for line in lines}) == 1:
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
    names = []
    columns = []
    for name in gold.names:
        cells = gold.column(name)
        if all(map(DECIMAL_COMMA.fullmatch, cells)) and any("," in cell for cell in cells):
            names.append(name)
            cells = [cell.replace(",", ".") for cell in cells]
        columns.append(cells)
    if not names:
        return gold
    note = f"{gold.file}: the decimal commas of {', '.join(names)} are written as points"
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
    where = f"{file}:{top}"
    first = list(map(str.strip, cells))
    is_header = not names or list(names) == first
    header, rows = (first, lines[1:]) if is_header else (list(names), lines)
    if not names:
        _check_header(where, first, rows)
    whose = "the first line" if is_header else "--columns"
    separated = f"separated by {BETWEEN.get(delimiter, repr(delimiter))}"
    expected = f"Expected {len(header)}, as many as {whose}, {separated}."
    if len(header) != len(first):
        raise UserError(f"{where}: has {len(first)} cells. {expected}")
    wrong = {number: len(cells) for number, cells in rows if len(cells) != len(header)}
    faults = _faults_of_names(where, header)
    raise_all([*faults, *(f"{file}:{number}: has {count} cells. {expected}" for number, count in wrong.items())])
    gold = GoldRows(file, suffix, header, [cells for _, cells in rows], [number for number, _ in rows])
    return gold if all(header) else _without_unnamed(gold)


def _without_unnamed(gold: GoldRows) -> GoldRows:
    kept = [at for at, name in enumerate(gold.names) if name]
    note = f"{gold.file}: {len(gold.names) - len(kept)} columns without a name are left out"
    rows = [list(map(row.__getitem__, kept)) for row in gold.rows]
    return replace(gold, names=list(filter(None, gold.names)), rows=rows, notes=(note,))


def _check_header(where: str, first: Sequence[str], rows: Sequence[Row]) -> None:
    """Raise NoHeaderError where the first line looks like a row."""
    alike = [cells for _, cells in rows if len(cells) == len(first)]
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
    if all(map(NUMBER.fullmatch, given)):
        if not NUMBER.fullmatch(cell):
            return "name"
        return "value" if _is_near(cell, given) else ""
    shapes = set(map(_shape, given))
    if len(shapes) == 1 and "0" in "".join(shapes):
        return "value" if _shape(cell) in shapes else "name"
    if all(map(LIST.fullmatch, given)):
        return "value" if LIST.fullmatch(cell) else "name"
    different = set(given)
    if cell in different:
        return "value"
    return "no label" if len(given) >= FEWEST_REPEATS * len(different) else ""


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
        name = _name_for(cell, [row[at] for row in rows], is_first="id" not in names)
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
    place = "{}:{}" if suffix == ".jsonl" else "{}[{}]"
    found = _json_lines(text, file, problems) if suffix == ".jsonl" else _json_items(text, file, problems)
    rows = [(number, item) for number, item in found if isinstance(item, dict)]
    if not problems:
        others = [place.format(file, number) for number, item in found if not isinstance(item, dict)]
        problems += [f"{where}: is not an object. Expected {{name: value, …}}." for where in others]
    names: dict[str, None] = {}
    for number, item in rows:
        names |= dict.fromkeys(item)
        if not _is_unicode(item):
            what = "holds half of a surrogate pair (\\ud800 to \\udfff). Expected whole characters."
            problems.append(f"{place.format(file, number)}: {what}")
    for name in names:
        if not name or name != name.strip() or LINE_END.search(name):
            what = "is empty, or has blanks around it or a line break in it. Expected a plain name."
            problems.append(f"{file}: the name {name!r} {what}")
    raise_all(problems)
    values = [list(map(item.get, names)) for _, item in rows]
    return GoldRows(file, suffix, list(names), values, [number for number, _ in rows])


def _json_lines(text: str, file: str, problems: list[str]) -> list[tuple[int, Any]]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            found.append((number, _parsed(line, f"{file}:{number}", problems)))
    return found


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
