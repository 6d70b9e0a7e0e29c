"""Reads a gold file by what it is, whatever its name says: strictly, with line numbers, and no row is lost."""

import json
from collections.abc import Sequence
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.new.delimited import DELIMITERS, delimiter_of, read_table
from gen_bundle.new.json_gold import read_json
from gen_bundle.new.shapes import is_conll, read_conll, read_lines
from gen_bundle.new.table import GoldRows

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt")
BINARY = {
    b"PK\x03\x04": "an Excel workbook or another zip. Expected text; in Excel: Save as, CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind. Expected text; in Excel: Save as, CSV UTF-8",
    b"\x1f\x8b": "compressed by gzip. Expected text; unpack it: gunzip",
    b"PAR1": "a Parquet file. Expected text, such as JSON lines",
    b"\xff\xfe": "encoded in UTF-16. Expected UTF-8; save the file again as UTF-8",
    b"\xfe\xff": "encoded in UTF-16. Expected UTF-8; save the file again as UTF-8",
}
"""How files begin that are no text → what they are, and what is expected."""


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
        gold = read_conll(text, path.name)
    elif form in DELIMITERS:
        gold = read_table(text, path.name, form, names, delimiter or delimiter_of(text, form))
    elif form == ".txt":
        gold = read_lines(text, path.name)
    else:
        gold = read_json(text, path.name, form)
    if names and list(names) != list(gold.names):
        raise UserError(f"--columns: {path.name} has the columns {', '.join(gold.names)}. Expected no such option.")
    if not gold.rows:
        raise UserError(f"{path.name}: has no rows. Expected one for each item, below the line with the column names.")
    return gold


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
    if suffix not in (".csv", ".json", ".jsonl") and is_conll(text):
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
