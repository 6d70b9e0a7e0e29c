"""A file, or a folder with a file for each document, as one table; every format is one file here, and named below."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.tables import answer_lines, brat, conll, delimited, hugging_face, json_records, trec, webanno
from gen_bundle.ground.tables.number_rows import read_number_rows
from gen_bundle.ground.tables.table import FileTable, one_after_another
from gen_bundle.ground.tables.text_file import TextFile, open_text

DOCUMENT = "doc"
MOST_NAMED = 5
FORMATS: Sequence[Callable[[TextFile], FileTable | None]] = (
    json_records.read_json,
    trec.read_judgements,
    trec.refuse_run,
    webanno.read_tokens,
    conll.read_tagged_tokens,
    delimited.read_where_table,
    answer_lines.read_lines,
)
"""Readers of all that a text may be: the first that does not return None counts."""


def read_table(
    path: Path,
    names: Sequence[str] = (),
    delimiter: str | None = None,
    *,
    at: str = "",
    encoding: str | None = None,
) -> FileTable:
    """Return the rows of a file, or of a folder with a file for each document.

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
        return _read_folder(path, names, delimiter, encoding)
    if path.suffix.lower() == hugging_face.PARQUET:
        if names or delimiter or at or encoding:
            raise UserError(f"{path.name}: a Parquet file says itself how it is read. Expected no option for that.")
        return hugging_face.read_parquet(path)
    file = open_text(path, names, delimiter, at, encoding)
    table = hugging_face.with_names(path, _read(file))
    if names and list(names) != list(table.names)[-len(names) :]:
        between = 'what separates them, such as --delimiter " "' if table.suffix == ".txt" else "no such option"
        raise UserError(f"--columns: {file.name} has the columns {', '.join(table.names)}. Expected {between}.")
    if at and not table.is_json:
        raise UserError(f"--at {at}: {file.name} is no JSON. Expected no such option.")
    if not len(table):
        raise UserError(f"{file.name}: has no rows. Expected one for each item, below the line with the column names.")
    return replace(table, notes=(*file.notes, *table.notes))


def _read(file: TextFile) -> FileTable:
    if file.delimiter is not None:
        return delimited.read_delimited(file)
    for read in FORMATS:
        table = read(file)
        if table is not None:
            return table
    raise UserError(
        f"--gold {file.name}: its format is unknown. Expected a file that ends with .csv, .tsv, .jsonl, .json or .txt "
        '(each line an answer), or a table with --delimiter, such as --delimiter ";".'
    )


def _read_folder(folder: Path, columns: Sequence[str], delimiter: str | None, encoding: str | None) -> FileTable:
    """Return the rows of all files of a folder, each with the name of its document."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    suffixes = {path.suffix.lower() for path in paths}
    if suffixes in ({".ann"}, {".ann", ".txt"}):
        return brat.read_documents(folder.name, paths, encoding)
    if len(suffixes) != 1:
        raise UserError(
            f"--gold {folder}: a folder with files of {len(suffixes)} kinds ({', '.join(sorted(suffixes))}). Expected "
            "one kind, with a file for each document: .csv, .tsv, .jsonl, .json, .txt, or .ann with their .txt."
        )
    empty: list[str] = []
    files: list[TextFile] = []
    for path in paths:
        if suffixes == {".txt"} and not path.stat().st_size:
            empty.append(path.name)
        else:
            files.append(open_text(path, columns, delimiter, encoding=encoding))
    read = read_number_rows(files) if suffixes == {".txt"} and files else None
    if read is None:
        raise_all(f"{name}: is empty. Expected the gold: one row for each item." for name in empty)
        read = [_of_document(file) for file in files]
    whole = one_after_another(read)
    document = "file" if DOCUMENT in whole.names else DOCUMENT
    documents: list[str] = []
    for table in read:
        documents += [Path(table.file).stem] * len(table)
    whole = replace(whole, columns={document: documents, **whole.columns})
    numbers = range(1, len(documents) + 1)
    suffix = ".jsonl" if whole.is_json else whole.suffix
    notes = [f"{folder.name}: {len(read)} files, whose names are the column {document}"]
    if empty:
        what = f"{len(empty)} files are empty ({listed(empty, MOST_NAMED)})"
        notes.append(f"{folder.name}: {what}: name all documents in a table, `reference: {{keys: FILE}}`")
    return replace(whole, file=folder.name, suffix=suffix, numbers=numbers, notes=tuple(notes))


def _of_document(file: TextFile) -> FileTable:
    """Return the rows of one document: a text is the one answer to it, an object of JSON the one record."""
    text = file.text.strip()
    if file.suffix == ".txt":
        return FileTable(file.name, ".jsonl", {"text": [file.text.strip("\r\n")]}, [1])
    if file.suffix == ".json" and text.startswith("{"):
        file = replace(file, text=f"[{text}]")
    table = json_records.read_json(file)
    return delimited.read_delimited(file) if table is None else table
