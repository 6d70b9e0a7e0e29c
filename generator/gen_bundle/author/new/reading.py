"""Reads gold by what it is, whatever its name says: strictly, with line numbers, and no row is lost."""

import csv
import io
import itertools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gen_bundle.author.new import json_gold, shapes
from gen_bundle.author.new.gold import (
    DELIMITERS,
    FEWEST_REPEATS,
    LINE_END,
    LIST,
    NUMBERED,
    GoldFile,
    GoldRows,
    NoHeaderError,
    one_after_another,
    open_gold,
    raise_all,
)
from gen_bundle.ground.errors import UserError
from scoring_kit.base.field_types import NUMBER
from scoring_kit.base.submissions import allow_long_cells

BETWEEN = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
"""What may separate the cells of a table, in words; blanks only where they can be nothing else."""
RECOGNISED = "\t,;|"
"""Tabs first: they are hardly ever part of a text."""
MOST_SKIPPED = 9
FEWEST_ROWS = 3
ROWS_LOOKED_AT = 20_000
"""So many rows tell whether the first line is one of them."""
Rows = tuple[list[list[str]], list[int]]
"""The cells of each row, and the number of its last line."""
DOCUMENT = "doc"
ENTITY = re.compile(r"T[0-9]+\t(\S+) ([0-9]+ [0-9]+(?:;[0-9]+ [0-9]+)*)\t.*")
"""An entity of brat: its type, and where its pieces start and end."""


def read_as_it_stands(
    path: Path,
    names: Sequence[str] = (),
    delimiter: str | None = None,
    *,
    at: str = "",
    encoding: str | None = None,
) -> GoldRows:
    """The rows of a gold file, or of a folder with a file for each document.

    Args:
        path: the file.
        names: of the columns of a table without a header line. If its first line holds the same, it is the header.
        delimiter: between the cells of a table; None: as the file's name or its first line says.
        at: of JSON, the names that lead to the records, with dots between them.
        encoding: None: UTF-8, or UTF-16 where the file begins so.

    Raises:
        NoHeaderError: no `names` are given, and the first line of a table looks like a row of it.
        UserError: everything that is wrong with it: file, line, what was expected.
    """
    if path.is_dir():
        return _read_folder(path, names, encoding)
    file = open_gold(path, names, delimiter, at, encoding)
    gold = _read(file)
    if names and list(names) != list(gold.names)[-len(names) :]:
        between = 'what separates them, such as --delimiter " "' if gold.suffix == ".txt" else "no such option"
        raise UserError(f"--columns: {file.name} has the columns {', '.join(gold.names)}. Expected {between}.")
    if at and not gold.is_json:
        raise UserError(f"--at {at}: {file.name} is no JSON. Expected no such option.")
    if not len(gold):
        raise UserError(f"{file.name}: has no rows. Expected one for each item, below the line with the column names.")
    return replace(gold, notes=(*file.notes, *gold.notes))


def _read(file: GoldFile) -> GoldRows:
    if file.delimiter is not None:
        return _read_table(file)
    for read in SHAPES:
        gold = read(file)
        if gold is not None:
            return gold
    raise UserError(
        f"--gold {file.name}: its format is unknown. Expected a file that ends with .csv, .tsv, .jsonl, .json or .txt "
        '(each line an answer), or a table with --delimiter, such as --delimiter ";".'
    )


def _read_folder(folder: Path, columns: Sequence[str], encoding: str | None) -> GoldRows:
    """The rows of all files of a folder, each with the name of its document."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    suffixes = {path.suffix.lower() for path in paths}
    if suffixes in ({".ann"}, {".ann", ".txt"}):
        return _annotations(folder.name, paths, encoding)
    if len(suffixes) != 1:
        raise UserError(
            f"--gold {folder}: a folder with files of {len(suffixes)} kinds ({', '.join(sorted(suffixes))}). Expected "
            "one kind, with a file for each document: .csv, .tsv, .jsonl, .json, .txt, or .ann with their .txt."
        )
    read = []
    for path in paths:
        read.append(_of_document(open_gold(path, columns, encoding=encoding)))
    whole = one_after_another(read)
    document = "file" if DOCUMENT in whole.names else DOCUMENT
    documents: list[str] = []
    for gold in read:
        documents += [Path(gold.file).stem] * len(gold)
    whole = replace(whole, columns={document: documents, **whole.columns})
    numbers = range(1, len(documents) + 1)
    suffix = ".jsonl" if whole.is_json else whole.suffix
    note = f"{folder.name}: {len(read)} files, whose names are the column {document}"
    return replace(whole, file=folder.name, suffix=suffix, numbers=numbers, notes=(note,))


def _of_document(file: GoldFile) -> GoldRows:
    """The gold of one document: a text is the one answer to it, an object of JSON the one record."""
    text = file.text.strip()
    if file.suffix == ".txt":
        return GoldRows(file.name, ".jsonl", {"text": [file.text.strip("\r\n")]}, [1])
    if file.suffix == ".json" and text.startswith("{"):
        file = replace(file, text=f"[{text}]")
    gold = json_gold.read_json(file)
    return _read_table(file) if gold is None else gold


def _annotations(name: str, paths: Sequence[Path], encoding: str | None) -> GoldRows:
    """The entities of each document as spans; a discontinuous one from its start to its end."""
    texts: dict[str, str] = {}
    spans: dict[str, list[list[Any]]] = {}
    others = 0
    for path in paths:
        text = ""
        if path.stat().st_size:
            text = open_gold(path, encoding=encoding).text
        if path.suffix.lower() == ".txt":
            texts[path.stem] = text
            continue
        found = spans.setdefault(path.stem, [])
        for line in filter(None, map(str.strip, text.split("\n"))):
            if entity := ENTITY.fullmatch(line):
                places = re.findall("[0-9]+", entity[2])
                found.append([int(places[0]), int(places[-1]), entity[1]])
            else:
                others += 1
    notes = [f"{name}: the entities of {len(spans)} .ann files are spans; a document is called as its file"]
    if others:
        left_out = f"{others} annotations that are no entities are left out"
        notes.append(f"{name}: {left_out}; relations and events need a scoring package")
    columns: dict[str, Sequence[Any]] = {DOCUMENT: list(spans)}
    if texts:
        columns["text"] = [texts.get(document, "") for document in spans]
    columns["spans"] = list(spans.values())
    return GoldRows(name, ".jsonl", columns, range(1, len(spans) + 1), notes=tuple(notes))


# Tables


@dataclass(frozen=True)
class Layout:
    """How a table's lines are cells: `skipped` lines before it, and whether blanks follow its delimiters."""

    delimiter: str
    skipped: int = 0
    blanks_follow: bool = False


def _read_where_table(file: GoldFile) -> GoldRows | None:
    """A table: always of .csv and .tsv, else where lines hold as many cells each and nothing else separates them."""
    if file.suffix in DELIMITERS or _layout(file) is not None:
        return _read_table(file)
    return None


def _layout(file: GoldFile) -> Layout | None:
    """What separates cells: as the file's name says, unless the first lines show another of the usual ones."""
    lines = file.beginning
    if file.delimiter is not None:
        return Layout(file.delimiter)
    usual = DELIMITERS.get(file.suffix, "")
    marks = list(dict.fromkeys(f"\t{usual}{RECOGNISED}"))
    for skipped in _may_be_skipped(lines, usual):
        for mark in marks:
            are_words = " " not in "\n".join(lines[skipped:]).replace(f"{mark} ", mark)
            if _separates(mark, lines, skipped) and (usual or mark in "\t|" or are_words):
                return Layout(mark, skipped, _blanks_follow(mark, lines))
    if not usual:
        return Layout(" ") if _are_quoted(lines) or _are_labelled_ids(lines) else None
    mark = next(filter(lines[0].__contains__, marks), usual)
    return Layout(mark, 0, _blanks_follow(mark, lines))


def _may_be_skipped(lines: Sequence[str], usual: str) -> Iterator[int]:
    """How many lines may come before the table: until one has the usual delimiter, which quoted cells may have, too."""
    for skipped in range(max(0, min(MOST_SKIPPED, len(lines) - FEWEST_ROWS)) + 1):
        yield skipped
        if usual and usual in lines[skipped]:
            return


def _separates(mark: str, lines: Sequence[str], skipped: int) -> bool:
    """Whether a mark is in each line equally often, but for some lines before the table that have none."""
    times = [line.count(mark) for line in lines]
    return not any(times[:skipped]) and len(set(times[skipped:])) == 1 and times[-1] > 0


def _blanks_follow(mark: str, lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return mark != " " and text.count(mark) == text.count(f"{mark} ")


def _are_quoted(lines: Sequence[str]) -> bool:
    """Whether quoted cells have blanks between them, as R writes a table."""
    return all(line.startswith('"') and '" "' in line for line in lines)


def _are_labelled_ids(lines: Sequence[str]) -> bool:
    """Whether each line is an id and short values after it, separated by blanks."""
    rows = list(map(operator.methodcaller("split", " "), lines))
    widths = set(map(len, rows))
    if len(rows) < FEWEST_ROWS or len(widths) > 1 or min(widths) not in range(2, 9):
        return False
    ids, *_, answers = zip(*rows, strict=True)
    are_ids = len(set(ids)) == len(ids) and all(any(map(str.isdigit, one)) for one in ids)
    are_short = len(answers) >= FEWEST_REPEATS * len(set(answers)) or all(map(NUMBER.fullmatch, answers))
    return are_ids and are_short


def _read_table(file: GoldFile) -> GoldRows:
    """A table; one whose quotation marks are part of its texts is read as it is."""
    layout = _layout(file) or Layout(",")
    suffix = file.suffix
    if suffix not in DELIMITERS:
        suffix = ".tsv" if layout.delimiter == "\t" else ".csv"
    try:
        gold = _columns(_rows(file, layout), file, suffix, layout.delimiter)
    except UserError as error:
        if isinstance(error, NoHeaderError) or '"' not in file.text or layout.delimiter != "\t":
            raise
        try:
            plain = _columns(_plain_rows(file, layout), file, ".tsv", layout.delimiter)
        except NoHeaderError:
            raise
        except UserError:
            raise error from None
        gold = replace(plain, quoting="none")
    notes = [*gold.notes]
    if layout.skipped:
        notes.append(f"{file.name}: its first {layout.skipped} lines, which are no rows, are left out")
    if layout.delimiter != DELIMITERS[suffix]:
        read = f"{file.name}: separated by {BETWEEN.get(layout.delimiter, repr(layout.delimiter))}"
        notes.append(f"{read}; what is written here has {BETWEEN[DELIMITERS[gold.suffix]]}")
    return replace(gold, notes=tuple(notes))


def _rows(file: GoldFile, layout: Layout) -> Rows:
    """Where nothing is quoted, splitting says the same in a fraction of the time."""
    text = file.text
    if '"' not in text and text.count("\r") == text.count("\r\n") and not layout.blanks_follow:
        return _plain_rows(file, layout)
    allow_long_cells()
    lines = itertools.islice(io.StringIO(text, newline="\n"), layout.skipped, None)
    skips = layout.blanks_follow
    reader = csv.reader(lines, delimiter=layout.delimiter, strict=True, skipinitialspace=skips)
    rows: list[list[str]] = []
    numbers: list[int] = []
    number = layout.skipped
    try:
        for cells in reader:
            number = reader.line_num + layout.skipped
            if len(cells) > 1 or (cells and cells[0].strip()):
                rows.append(cells)
                numbers.append(number)
    except csv.Error as error:
        expected = "cells quoted by RFC 4180: a quotation mark inside a quoted cell is doubled"
        raise UserError(f"{file.name}:{number + 1}: cannot be read ({error}). Expected {expected}.") from error
    return rows, numbers


def _plain_rows(file: GoldFile, layout: Layout) -> Rows:
    rows: list[list[str]] = []
    numbers: list[int] = []
    for number, line in enumerate(file.text.replace("\r\n", "\n").split("\n"), 1):
        if number > layout.skipped and (line.strip() or layout.delimiter in line):
            rows.append(line.split(layout.delimiter))
            numbers.append(number)
    return rows, numbers


def _columns(read: Rows, file: GoldFile, suffix: str, delimiter: str) -> GoldRows:
    """The table of these rows, whose first one is the header unless names are given that it does not hold."""
    rows, numbers = read
    if not rows:
        rows, numbers = [[""]], [1]
    first = list(map(str.strip, rows[0]))
    where = f"{file.name}:{numbers[0]}"
    header, whose = list(file.columns), "--columns"
    if not header or header == first:
        rows, numbers = rows[1:], numbers[1:]
        header, whose = first, "the first line"
    if not file.columns:
        header = _with_unnamed(first, rows)
        alike = [cells for cells in rows[:ROWS_LOOKED_AT] if len(cells) == len(header)]
        if evidence := _row_in_place_of_header(header, alike):
            raise _no_header(where, header, alike, evidence)
    expected = f"Expected {len(header)}, as many as {whose}, separated by {BETWEEN.get(delimiter, repr(delimiter))}."
    faults = _faults_of_names(where, header)
    if set(map(len, rows)) - {len(header)}:
        for number, cells in zip(numbers, rows, strict=True):
            if len(cells) != len(header):
                faults.append(f"{file.name}:{number}: has {len(cells)} cells. {expected}")
    raise_all(faults)
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return _without_unnamed(header, columns, GoldRows(file.name, suffix, {}, numbers))


def _with_unnamed(first: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The header with an empty name where all rows have a cell more: the last one, or as R writes it the first."""
    if len(first) < 2 or len(rows) < FEWEST_ROWS or set(map(len, rows)) != {len(first) + 1}:
        return first
    if any(cells[-1] for cells in rows):
        return ["", *first]
    return [*first, ""]


def _without_unnamed(header: list[str], columns: Sequence[Sequence[str]], gold: GoldRows) -> GoldRows:
    """The gold with the columns that have a name, and ids in a first one without; it may merely count the rows."""
    if not header[0] and len(gold) and NUMBERED not in header:
        ids = columns[0]
        counts = all(map(str.isdecimal, ids)) and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        if not counts and len(set(ids)) == len(ids):
            header = [NUMBERED, *header[1:]]
            gold = replace(gold, notes=(f"{gold.file}: its first column has no name, and is called {NUMBERED}",))
    unnamed = header.count("")
    if unnamed:
        gold = replace(gold, notes=(f"{gold.file}: {unnamed} columns without a name are left out",))
    named = dict(zip(header, columns, strict=True))
    named.pop("", None)
    return replace(gold, columns=named)


def _faults_of_names(where: str, names: Sequence[str]) -> list[str]:
    faults = []
    for name, times in Counter(names).items():
        if name and times > 1:
            faults.append(f"{where}: the column {name!r} is there more than once. Expected each column once.")
        if LINE_END.search(name):
            faults.append(f"{where}: the column {name!r} has a line break in its name. Expected a name on one line.")
    if not any(names):
        faults.append(f"{where}: names no column. Expected a first line with the columns' names.")
    return faults


def _row_in_place_of_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What makes the first line look like a row: its cells are values of their columns. Empty where it does not."""
    values: list[str] = []
    doubts = 0
    for cell, column in zip(first, zip(*rows, strict=True), strict=False):
        given = list(filter(str.strip, column))
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
    shapes = set(map(_shape, given))
    if all(map(NUMBER.fullmatch, given)):
        is_alike = NUMBER.fullmatch(cell) is not None
        numbers = list(map(float, given))
        low, high = min(numbers), max(numbers)
        distance = high - low  # a value is no further from the others; 2019 is none among prices
        if is_alike and not low - distance <= float(cell) <= high + distance:
            return ""
    elif len(shapes) == 1 and "0" in min(shapes):
        is_alike = _shape(cell) in shapes
    elif all(map(LIST.fullmatch, given)):
        is_alike = LIST.fullmatch(cell) is not None
    else:
        different = set(given)
        are_labels = len(given) >= FEWEST_REPEATS * len(different)
        if cell not in different:
            return "no label" if are_labels else ""
        is_alike = True
    return "value" if is_alike else "name"


def _shape(cell: str) -> str:
    """A text with its numbers made equal: those of ids differ in them alone."""
    if len(cell) >= 100:
        return ""
    return re.sub("[0-9]+", "0", cell)


def _no_header(where: str, first: Sequence[str], rows: Sequence[Sequence[str]], evidence: str) -> NoHeaderError:
    columns = list(zip(*rows, strict=True))
    names: list[str] = []
    for at, cell in enumerate(first):
        name = _name_for(cell, columns[at], is_first="id" not in names)
        if name in names:
            name = f"{name}{at + 1}"
        names.append(name)
    for at in range(len(first) - 1, 0, -1):
        starts, ends = columns[at - 1 : at + 1]
        are_whole = all(map(str.isdecimal, [*starts, *ends]))
        if are_whole and all(map(operator.lt, map(int, starts), map(int, ends))):
            names[at - 1 : at + 1] = ["start", "end"]
            break
    header = ""
    if len(set(first)) == len(first) and "," not in "".join(first):
        header = f" If this line is the header all the same: --columns {','.join(first)}."
    return NoHeaderError(
        f"{where}: looks like a row and no header: {evidence!r} is a value of its own column. Expected the columns' "
        f"names: --columns {','.join(names)}.{header}",
        names,
        first,
    )


def _name_for(cell: str, given: Sequence[str], *, is_first: bool) -> str:
    """What a column without a name may be called."""
    if is_first and len({cell, *given}) == len(given) + 1 and " " not in "".join(given):
        return "id"
    if all(map(LIST.fullmatch, given)):
        return "spans"
    if set(map(_shape, given)) == {_shape(cell)} and not NUMBER.fullmatch(cell) and "0" in _shape(cell):
        return "doc"
    if len(given) >= FEWEST_REPEATS * len(set(given)):
        return "label"
    return "score" if all(map(NUMBER.fullmatch, given)) else "text"


SHAPES: Sequence[Callable[[GoldFile], GoldRows | None]] = (
    json_gold.read_json,
    shapes.read_qrels,
    shapes.refuse_run,
    shapes.read_fasttext,
    shapes.read_judged_lists,
    shapes.read_tagged_tokens,
    shapes.read_labelled_words,
    _read_where_table,
    shapes.read_lines,
)
"""What a file may be: the first that it is."""
