"""What pages and starting kits say of declared tables and of the data, so that it holds after every change of these."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from gen_bundle.declaration.model import DeclaredSubmission, SubmissionField, SubmittedTable
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.render.tables import markdown_table
from scoring_kit.base.fields import TYPES, Field, bounds_text, ordered
from scoring_kit.base.long_cells import allow_long_cells
from scoring_kit.base.row_files import File, write_rows

SAFE_ON_PAGES = re.compile(r"[\w .,:/-]*")
EXAMPLE_ROWS = 3
MOST_FILES = 12
"""So many public files of a phase are listed; the others are counted."""
MOST_BYTES = 50_000_000
"""The rows of larger files are not counted."""
DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars", " ": "blanks", ":": "colons"}


def page_text(text: str) -> str:
    """A name for a page: as code, and with nothing in it that Markdown or formulas would take for their own."""
    if SAFE_ON_PAGES.fullmatch(text):
        return f"`{text}`"
    shown = "".join(char if SAFE_ON_PAGES.fullmatch(char) else f"&#{ord(char)};" for char in text)
    return f"<code>{shown}</code>"


def tables_of(submission: DeclaredSubmission, phases: Sequence[PhaseData]) -> list[SubmittedTable]:
    """The tables of a submission that these phases score, in their order."""
    if not submission.tables:
        return [submission]
    scored = {name for data in phases for name in data.manifest["expected"].get("tables", {})}
    return [table for name, table in submission.tables.items() if name in scored]


def type_text(row: SubmissionField, file: File) -> str:
    """How a value of a field is written in a file; a package's own types stay as they are."""
    kind = TYPES.get(row.type)
    if kind is None:
        return row.type_words
    field = _field(row)
    text = kind.in_columns if field.columns else kind.in_cell
    if file.suffix in (".json", ".jsonl"):
        text = kind.in_json
    said = _filled(text, field, ", ".join(map(page_text, field.values or ())) or "the task's labels")
    return f"{said}; upper and lower case are the same" if field.case == "ignore" else said


def _filled(text: str, field: Field, values: str, /, **more: str) -> str:
    """A text of a type with what the field declares put in."""
    length = "" if field.length is None else f"{field.length} "
    adding_up = "" if field.normalise else "; they add up to 1"
    return text.format(
        values=values,
        separator=field.separator,
        range=bounds_text(field.min, field.max),
        length=length,
        columns=", ".join(map(page_text, field.columns)),
        positive=page_text(field.positive),
        negative=page_text(field.negative),
        sum=adding_up,
        **more,
    )


def _field(row: SubmissionField) -> Field:
    """A field as scoring reads it."""
    values = None if row.values is None else list(map(_plain, row.values))
    columns = row.columns or []
    if row.type == "probabilities":
        columns = columns or values or []
    elif row.type == "labels" and columns:
        values = values or columns
    positive = "1" if row.positive is None else _plain(row.positive)
    negative = "0" if row.negative is None else _plain(row.negative)
    return Field(
        row.field,
        row.type,
        values=ordered(values),
        separator=row.separator,
        min=row.min,
        max=row.max,
        required=row.required,
        columns=columns,
        positive=positive,
        negative=negative,
        normalise=row.normalise,
        length=row.length,
        case=row.case or "exact",
    )


def _file(table: SubmittedTable) -> File:
    """A table's file as scoring reads it."""
    file = File(table.file, table.format, table.quoting, table.delimiter, skip=table.skip, at=str(table.at or ""))
    if table.header == "none":
        cells = [file.place(_field(row)).cells for row in table.fields if row.field != file.named_by]
        return replace(file, columns=[column for of_field in cells for column in of_field])
    is_json = file.suffix in (".json", ".jsonl")
    paths = {row.field: str(row.at) for row in table.fields if is_json and row.at is not None}
    return replace(file, names={row.field: row.column for row in table.fields if row.column}, paths=paths)


def _by_line(table: SubmittedTable) -> bool:
    return not table.key or (table.key == "line" and "line" not in [row.field for row in table.fields])


def format_text(tables: Sequence[SubmittedTable]) -> str:
    """The fields of each table, as they are written in its file."""
    parts = []
    for table in tables:
        file = _file(table)
        rows = []
        for row in table.fields:
            required = "yes" if row.required else "no"
            if row.default is not None and not row.required:
                required = f"no; else {_default(row)}"
            rows.append([_place_text(row, file), type_text(row, file), required, row.meaning])
        heading = f"{page_text(table.file)}:\n\n" if len(tables) > 1 else ""
        format_table = markdown_table(["Field", "Type", "Required", "Meaning"], rows)
        parts.append("\n\n".join(filter(None, [heading + format_table, _file_text(table, file)])))
    return "\n\n".join(parts)


def _default(row: SubmissionField) -> str:
    text = row.default
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False)
    return page_text(text)


def _place_text(row: SubmissionField, file: File) -> str:
    """What a file calls a field, or where it has it."""
    place = file.place(_field(row))
    if row.field == file.named_by:
        return f"{page_text(row.field)}, in the file's name"
    if place.path is None:
        return page_text(place.name)
    return page_text(".".join(place.path)) if place.path else f"{page_text(row.field)}, the record itself"


def _file_text(table: SubmittedTable, file: File) -> str:
    """What is not as usual in a table's file."""
    names = ", ".join(map(page_text, file.columns or ()))
    named_by = page_text(file.named_by)
    any_name = file.name.startswith("*")
    sentences = [
        f"There is a file for each {named_by}, called {page_text(file.name)}." if file.named_by else "",
        f"The file may have any name that ends with {page_text(file.name[1:])}." if any_name else "",
        f"It is read as {file.suffix[1:].upper()}." if table.format else "",
        f"The first {table.skip} lines are not read." if table.skip else "",
        f"Cells are separated by {DELIMITERS.get(table.delimiter, table.delimiter)}." if table.delimiter else "",
        f"There is no header line: each row holds {names}, in this order." if file.columns else "",
        f"The records are at {page_text(file.at)}." if file.at else "",
    ]
    return " ".join(filter(None, sentences))


def example_text(tables: Sequence[SubmittedTable]) -> str:
    """The first lines of each table's files with made-up answers, as fenced blocks."""
    parts = []
    for table in tables:
        files = _example(table)
        for name, text in files.items():
            heading = f"{page_text(name)}:\n\n" if len(tables) > 1 or len(files) > 1 else ""
            example = text.rstrip("\n")
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", example)), 0)
            parts.append(f"{heading}{fence}\n{example}\n{fence}")
    return "\n\n".join(parts)


def _example(table: SubmittedTable) -> dict[str, str]:
    """Name → text of the files of a table with a few rows."""
    fields = [_field(row) for row in table.fields]
    rows = []
    for at in range(EXAMPLE_ROWS):
        rows.append([_made_up(table, row, at) for row in table.fields])
    return write_rows(_file(table), fields, rows, _key(table), by_line=_by_line(table))


def _made_up(table: SubmittedTable, row: SubmissionField, at: int) -> Any:
    """A value of a field in row `at`; whether spans have a type, only the field's meaning says."""
    key = _key(table)
    if row.field in key:
        # Rows of one key show that it may have many; of a key of several fields the last one differs.
        is_same = table.rows == "many" or row.field != key[-1]
        return f"{row.field}-{1 if is_same else at + 1}"
    if row.type == "spans" and "type" in row.meaning:
        return [[at, at + 4, "TYPE"]]
    return TYPES.get(row.type, TYPES["text"]).made_up(_field(row), at)


def task_text(tables: Sequence[SubmittedTable]) -> str:
    """What participants are asked for: a sentence for each field that they answer."""
    sentences = []
    for table in tables:
        key = _key(table)
        answers = [row for row in table.fields if row.field not in key]
        if table.rows == "many":
            listed = ", ".join(page_text(row.field) for row in answers)
            sentences.append(f"For each {' and '.join(map(page_text, key))}, give any number of rows: {listed}.")
            continue
        for row in answers:
            field = _field(row)
            listed = ", ".join(map(page_text, field.values or ()))
            text = TYPES.get(row.type, TYPES["string"]).asks
            values = f": {listed}" if listed else ""
            asked_of = "line" if _by_line(table) else "row"
            sentences.append(_filled(text, field, values, row=asked_of, field=page_text(row.field)))
    return "\n\n".join(sentences)


def rows_text(tables: Sequence[SubmittedTable]) -> str:
    """How rows are matched, and what becomes of those that are missing."""
    texts = []
    for table in tables:
        whose = f" of {page_text(table.file)}" if len(tables) > 1 else ""
        if _by_line(table):
            texts.append(f"Line *n*{whose} answers input *n*; a file with any other number of lines is refused.")
            continue
        key = " and ".join(map(page_text, _key(table)))
        is_empty = table.missing == "empty" or (table.missing is None and table.rows == "many")
        text = f"Rows{whose} are matched by {key}, in any order. "
        if is_empty:
            defaults = [f"{page_text(row.field)} {_default(row)}" for row in table.fields if row.default is not None]
            counts = f"as {', '.join(defaults)}" if defaults else "as an empty answer"
            text += f"A missing {key} counts {counts}; an unknown one is refused."
        else:
            repeated = "" if table.rows == "many" else ", repeated"
            text += f"A missing{repeated} or unknown row is refused, and all problems of a file are listed together."
        texts.append(text)
    return "\n\n".join(texts)


def gold_text(options: Mapping[str, Any], task_ids: Sequence[str]) -> str:
    """The gold files of declared tables with the columns that scoring these tasks reads, as a list."""
    lines = []
    for table in options["tables"]:
        key = [] if table["by_line"] else table["key"]
        columns = dict.fromkeys(key)
        for task in task_ids:
            for metric in options["metrics"].get(task, {}).values():
                if table["id"] in (metric["tables"] or [metric["table"]]):
                    columns |= dict.fromkeys([*metric["gold"], *metric["where"], *metric["by"]])
        if table["cluster"]:
            columns[table["cluster"]] = None
        named = table["gold"].get("names", {})
        listed = ", ".join(page_text(named.get(column, column)) for column in columns)
        keys = f"; and {page_text(table['gold_keys']['name'])}, all keys" if table["gold_keys"] else ""
        lines.append(f"- {page_text(table['gold']['name'])} with {listed}{keys}")
    return "\n".join(lines)


def data_table(phases: Sequence[PhaseData]) -> str:
    """How many items each phase asks for, and which files participants are given for it."""
    rows = []
    for data in phases:
        files = [f"{page_text(name)}{_shape(name, content)}" for name, content in sorted(data.public.items())]
        more = [f"{len(files) - MOST_FILES} more"] if len(files) > MOST_FILES else []
        rows.append([data.phase.name, _asked(data), "; ".join([*files[:MOST_FILES], *more]) or "none"])
    return markdown_table(["Phase", "To be answered", "Public data"], rows)


def _asked(data: PhaseData) -> str:
    """The number of keys of each declared table."""
    tables = data.manifest["expected"].get("tables", {})
    numbers = [f"{len(table['keys']):,}" for table in tables.values()]
    if len(numbers) == 1:
        return numbers[0]
    return "; ".join(f"{name}: {number}" for name, number in zip(tables, numbers, strict=True))


def _shape(name: str, content: Path | bytes) -> str:
    """The number of rows and the columns of a table; empty for any other file, and for one that is none after all."""
    read = READERS.get(PurePosixPath(name).suffix.lower())
    data = content.read_bytes() if isinstance(content, Path) else content
    if read is None or len(data) > MOST_BYTES:
        return ""
    try:
        rows, columns = read(data.decode("utf-8-sig"))
    except (ValueError, TypeError, csv.Error, RecursionError):
        return ""
    listed = ", ".join(map(page_text, columns))
    return f" ({rows:,} rows: {listed})" if listed else f" ({rows:,} rows)"


def _read_cells(text: str, delimiter: str) -> tuple[int, Sequence[str]]:
    allow_long_cells()
    header, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row] or [[]]
    return len(rows), header


def _read_lines(text: str) -> tuple[int, Sequence[str]]:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines), list(json.loads(lines[0])) if lines else []


def _read_list(text: str) -> tuple[int, Sequence[str]]:
    value = json.loads(text)
    first = value[0] if isinstance(value, list) and value else {}
    return len(value), list(first) if isinstance(first, dict) else []


READERS: Mapping[str, Callable[[str], tuple[int, Sequence[str]]]] = {
    ".csv": lambda text: _read_cells(text, ","),
    ".tsv": lambda text: _read_cells(text, "\t"),
    ".jsonl": _read_lines,
    ".json": _read_list,
}


def baselines_text(phases: Sequence[PhaseData]) -> str:
    """The names of the baselines, or that there are none."""
    names = sorted({name for data in phases for name in data.baselines})
    if not names:
        return "There is no baseline."
    listed = ", ".join(f"`{name}`" for name in names)
    return f"Baseline: {listed}." if len(names) == 1 else f"Baselines: {listed}."


def _key(table: SubmittedTable) -> list[str]:
    if _by_line(table):
        return []
    return [table.key] if isinstance(table.key, str) else table.key or []


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
