"""Reads a gold file by what it is, whatever its name says: strictly, with line numbers, and no row is lost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.new import delimited, json_gold, shapes
from gen_bundle.new.folder_gold import read_folder
from gen_bundle.new.gold_file import GoldFile, open_gold
from gen_bundle.new.other_forms import as_they_are_meant
from gen_bundle.new.table import GoldRows

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


def read_gold(
    path: Path,
    names: Sequence[str] = (),
    delimiter: str | None = None,
    *,
    at: str = "",
    encoding: str | None = None,
) -> GoldRows:
    """The rows of a gold file, or of a folder with a file for each document, as their columns are meant.

    Arguments and errors are those of `read_as_it_stands`.
    """
    return as_they_are_meant(read_as_it_stands(path, names, delimiter, at=at, encoding=encoding))


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
        return read_folder(path, names, encoding)
    file = open_gold(path, names, delimiter, at, encoding)
    gold = _read(file)
    if names and list(names) != list(gold.names)[-len(names) :]:
        between = 'what separates them, such as --delimiter " "' if gold.suffix == ".txt" else "no such option"
        raise UserError(f"--columns: {file.name} has the columns {', '.join(gold.names)}. Expected {between}.")
    if at and not gold.is_json:
        raise UserError(f"--at {at}: {file.name} is no JSON. Expected no such option.")
    if not gold.rows:
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
