"""Reads gold by what it is, whatever its name says: strictly, with line numbers, and no row is lost."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gen_bundle.errors import UserError
from gen_bundle.new import delimited, json_gold, shapes
from gen_bundle.new.gold import GoldFile, GoldRows, open_gold, other_columns, raise_all

SHAPES: Sequence[tuple[Callable[[GoldFile], bool], Callable[[GoldFile], GoldRows]]] = (
    (delimited.has_delimiter, delimited.read_table),
    (json_gold.is_json, json_gold.read_json),
    (shapes.is_qrels, shapes.read_qrels),
    (shapes.is_run, shapes.refuse_run),
    (shapes.is_fasttext, shapes.read_fasttext),
    (shapes.is_judged_lists, shapes.read_judged_lists),
    (shapes.is_tagged_tokens, shapes.read_tagged_tokens),
    (shapes.is_labelled_words, shapes.read_labelled_words),
    (delimited.is_table, delimited.read_table),
    (shapes.is_lines, shapes.read_lines),
)
"""What a file may be, and how that is read: the first that it is."""
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
    for is_shape, read in SHAPES:
        if is_shape(file):
            return read(file)
    raise UserError(
        f"--gold {file.name}: its format is unknown. Expected a file that ends with .csv, .tsv, .jsonl, .json or .txt "
        '(each line an answer), or a table with --delimiter, such as --delimiter ";".'
    )


def _read_folder(folder: Path, columns: Sequence[str] = (), encoding: str | None = None) -> GoldRows:
    """The rows of all files of a folder, each with the name of its document.

    Args:
        folder: the folder.
        columns: names of the columns of tables without a header line.
        encoding: of the files; None: UTF-8.

    Raises:
        UserError: there are files of several kinds, or some do not fit the others.
    """
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    suffixes = {path.suffix.lower() for path in paths}
    if suffixes in ({".ann"}, {".ann", ".txt"}):
        return _annotations(folder.name, paths, encoding)
    if len(suffixes) != 1:
        raise UserError(
            f"--gold {folder}: a folder with files of {len(suffixes)} kinds ({', '.join(sorted(suffixes))}). Expected "
            "one kind, with a file for each document: .csv, .tsv, .jsonl, .json, .txt, or .ann with their .txt."
        )
    files = [open_gold(path, columns, encoding=encoding) for path in paths]
    if suffixes == {".txt"}:
        names = [Path(file.name).stem for file in files]
        texts = [file.text.strip("\r\n") for file in files]
        note = f"{folder.name}: each file is the answer to one document, which is called as the file"
        answers = {DOCUMENT: names, "text": texts}
        return GoldRows(folder.name, ".jsonl", answers, range(1, len(files) + 1), notes=(note,))
    return _joined(folder.name, files)


def _joined(name: str, files: Sequence[GoldFile]) -> GoldRows:
    """The rows of tables or of JSON, each after its document."""
    read = []
    for file in files:
        if json_gold.is_json(file):
            read.append(json_gold.read_json(_as_list(file)))
        else:
            read.append(delimited.read_table(file))
    first = read[0]
    raise_all(other_columns(read))
    document = "file" if DOCUMENT in first.names else DOCUMENT
    columns: dict[str, list[Any]] = {name: [] for name in (document, *first.names)}
    for gold in read:
        columns[document] += [Path(gold.file).stem] * len(gold)
        for name, values in gold.columns.items():
            columns[name] += values
    note = f"{name}: {len(files)} files, whose names are the column {document}"
    suffix = ".jsonl" if first.is_json else first.suffix
    numbers = range(1, len(columns[document]) + 1)
    return replace(first, file=name, suffix=suffix, columns=columns, numbers=numbers, notes=(note,))


def _as_list(file: GoldFile) -> GoldFile:
    """JSON whose one object is one record, of one document."""
    text = file.text.strip()
    return replace(file, text=f"[{text}]") if text.startswith("{") and file.suffix == ".json" else file


def _annotations(name: str, paths: Sequence[Path], encoding: str | None) -> GoldRows:
    """The entities of each document as spans; a discontinuous one from its start to its end."""
    texts: dict[str, str] = {}
    spans: dict[str, list[list[Any]]] = {}
    others = 0
    for path in paths:
        text = open_gold(path, encoding=encoding).text if path.stat().st_size else ""
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
