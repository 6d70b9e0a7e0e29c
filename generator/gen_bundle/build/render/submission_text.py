"""Text of pages and starting kits on declared tables and of the data, so that it holds after every change of these."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from gen_bundle.build.package.phase_data import PhaseData
from gen_bundle.build.render.files_text import either, files_example, files_gold, files_rule, files_table
from gen_bundle.build.render.page_tables import markdown_table, page_text
from gen_bundle.declaration.model import DeclaredSubmission, SubmissionField, SubmittedTable
from gen_bundle.declaration.scoring import DeclaredScoring
from gen_bundle.declaration.scoring.tables import LINE, DeclaredTable, submitted_table
from gen_bundle.declaration.source import items_of, mapping_of
from scoring_kit.base.field_types import TYPES, Field, bounds_text
from scoring_kit.base.row_files import BLANKS, File, write_rows
from scoring_kit.base.submissions import allow_long_cells

EXAMPLE_ROWS = 3
MOST_FILES = 12
"""So many public files of a phase are listed; the others are counted."""
MOST_BYTES = 50_000_000
"""The rows of larger files are not counted."""
JSON = (".json", ".jsonl")
DELIMITED = {".csv": ",", ".tsv": "\t"}
DELIMITERS = {
    "\t": "tabs",
    ",": "commas",
    ";": "semicolons",
    "|": "vertical bars",
    " ": "blanks",
    ":": "colons",
    BLANKS: "blanks or tabs",
}


def tables_of(submission: DeclaredSubmission, phases: Sequence[PhaseData]) -> list[SubmittedTable]:
    """Return the tables of a submission that these phases score, in their order."""
    if not submission.tables:
        return [submission]
    scored: set[str] = set()
    for data in phases:
        scored.update(data.manifest["expected"].get("tables", ()))
    return [table for name, table in submission.tables.items() if name in scored]


def type_text(row: SubmissionField, field: Field, file: File) -> str:
    """Return how a value of a field is written in a file; a package's own types stay as they are."""
    if row.type not in TYPES:
        return row.type_words
    kind = field.kind
    text = kind.in_cell
    if file.suffix in JSON:
        text = kind.in_json
    elif field.columns:
        text = kind.in_columns
    said = _filled(text, field, _listed(field.values or ()) or "the task's labels")
    if field.case == "ignore":
        said += "; upper and lower case are the same"
    return said


def _filled(text: str, field: Field, values: str, /, **more: str) -> str:
    """A text of a type with what the field declares put in."""
    words = {"length": "", "sum": "; they add up to 1", **more}
    if field.length is not None:
        words["length"] = f"{field.length} "
    if field.normalise:
        words["sum"] = ""
    return text.format(
        values=values,
        separator=field.separator,
        range=bounds_text(field.min, field.max),
        columns=_listed(field.columns),
        positive=page_text(field.positive),
        negative=page_text(field.negative),
        **words,
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(page_text, names))


def format_text(tables: Sequence[SubmittedTable]) -> str:
    """Return the fields of each table, as they are written in its file."""
    parts = []
    for table in tables:
        declared = submitted_table(table)
        file, rows = declared.file, []
        if len(tables) > 1:
            parts.append(f"{page_text(table.file)}:")
        if file.files:
            parts.append(files_table(table, declared))
            continue
        for row in table.fields:
            field = declared.field_of(row.field)
            required = "yes"
            if not row.required:
                required = "no"
                if row.default is not None:
                    required = f"no; else {_default(row.default)}"
            rows.append([_place_text(field, file), type_text(row, field, file), required, row.meaning])
        parts.append(markdown_table(["Field", "Type", "Required", "Meaning"], rows))
        if about := _file_text(table, file):
            parts.append(about)
    return "\n\n".join(parts)


def _default(value: Any) -> str:
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return page_text(value)


def _place_text(field: Field, file: File) -> str:
    """Return what a file calls a field, or where it has it."""
    place = file.place(field)
    if field.name == file.named_by:
        return f"{page_text(field.name)}, in the file's name"
    if place.path is None:
        return page_text(place.name)
    if not place.path:
        return f"{page_text(field.name)}, the record itself"
    return page_text(".".join(place.path))


def _file_text(table: SubmittedTable, file: File) -> str:
    """Return what is not as usual in a table's file."""
    sentences = []
    if file.named_by:
        sentences.append(f"There is a file for each {page_text(file.named_by)}, called {page_text(file.name)}.")
    if file.name.startswith("*"):
        sentences.append(f"The file may have any name that ends with {page_text(file.name[1:])}.")
    if table.format and not file.delimiter:
        sentences.append(f"It is read as {file.suffix[1:].upper()}.")
    if file.skip:
        sentences.append(f"The first {file.skip} lines are not read.")
    if file.delimiter:
        sentences.append(f"Cells are separated by {DELIMITERS.get(file.delimiter, file.delimiter)}.")
    if file.columns:
        sentences.append(f"There is no header line: each row holds {_listed(file.columns)}, in this order.")
    if file.at:
        sentences.append(f"The records are at {page_text(file.at)}.")
    if file.within is not None:
        where = f"at {page_text(file.within)}" if file.within else "itself is that list"
        sentences.append(
            f"Each record holds the rows of its key in a list{': it ' if not file.within else ' '}{where}."
        )
    return " ".join(sentences)


def example_text(tables: Sequence[SubmittedTable]) -> str:
    """Return the first lines of each table's files with made-up answers, as fenced blocks."""
    parts = []
    for table in tables:
        files = {} if (declared := submitted_table(table)).file.files else _example(table)
        if declared.file.files:
            parts.append(f"```\n{files_example(declared)}\n```")
        for name, text in files.items():
            example = text.rstrip("\n")
            fence = "```"
            while fence in example:
                fence += "`"
            if len(tables) > 1 or len(files) > 1:
                parts.append(f"{page_text(name)}:")
            parts.append(f"{fence}\n{example}\n{fence}")
    return "\n\n".join(parts)


def _example(table: SubmittedTable) -> dict[str, str]:
    """Name → text of the files of a table with a few rows; only a field's meaning says whether spans have a type."""
    declared = submitted_table(table)
    key = _key(declared)
    fields = [declared.field_of(row.field) for row in table.fields]
    rows = []
    for at in range(EXAMPLE_ROWS):
        values: list[Any] = []
        for row, field in zip(table.fields, fields, strict=True):
            if field.name in key:
                # Rows of one key show that it may have many; of a key of several fields the last one differs.
                differs = not declared.many and field.name == key[-1]
                values.append(f"{field.name}-{1 + at * differs}")
            elif row.type == "spans" and "type" in row.meaning:
                values.append([[at, at + 4, "TYPE"]])
            else:
                values.append((field.kind if row.type in TYPES else TYPES["text"]).made_up(field, at))
        rows.append(values)
    return write_rows(declared.file, fields, rows, key, by_line=not key)


def task_text(tables: Sequence[SubmittedTable]) -> str:
    """Return what participants are asked for: a sentence for each field that they answer."""
    sentences = []
    for table in tables:
        declared = submitted_table(table)
        key = _key(declared)
        answers = [row for row in table.fields if row.field not in key]
        if declared.many:
            whose = " and ".join(map(page_text, key))
            listed = _listed(row.field for row in answers)
            sentences.append(f"For each {whose}, give any number of rows: {listed}.")
            continue
        asked_of = "row" if key else "line"
        if declared.file.files:
            asked_of = page_text(key[0]) if key else "phase"
        for row in answers:
            field = declared.field_of(row.field)
            values = f": {_listed(field.values)}" if field.values else ""
            text = (field.kind if row.type in TYPES else TYPES["string"]).asks
            sentences.append(_filled(text, field, values, row=asked_of, field=page_text(row.field)))
    return "\n\n".join(sentences)


def rows_text(tables: Sequence[SubmittedTable]) -> str:
    """Return how rows are matched, and what becomes of those that are missing."""
    texts = []
    for table in tables:
        declared = submitted_table(table)
        place = f" at {page_text(declared.file.at)}" if declared.file.at else ""
        whose = f" of {page_text(table.file)}{place}" if len(tables) > 1 else ""
        if declared.file.files:
            texts.append(files_rule(declared, whose))
            continue
        named = [page_text(name) for name in _key(declared)]
        if declared.numbers_rows:
            named[declared.key.index(LINE)] = "the number of the row in its file"
        key = " and ".join(named)
        if not key:
            one, several = ("Record", "records") if declared.file.suffix == ".json" else ("Line", "lines")
            texts.append(f"{one} *n*{whose} answers input *n*; a file with any other number of {several} is refused.")
            continue
        text = f"Rows{whose} are matched by {key}{'' if declared.numbers_rows else ', in any order'}. "
        if declared.reject_missing:
            refused = ["missing"]
            if not declared.many:
                refused.append("repeated")
            if not declared.ignores_unknown:
                refused.append("unknown")
            listed = either(refused)
            text += f"A {listed} row is refused, and all problems of a file are listed together."
        else:
            defaults = []
            for row in table.fields:
                if row.default is not None:
                    defaults.append(f"{page_text(row.field)} {_default(row.default)}")
            text += f"A missing {key} counts as {', '.join(defaults) or 'an empty answer'}"
            text += "." if declared.ignores_unknown else "; an unknown one is refused."
        if declared.ignores_unknown:
            text += f" Rows of an unknown {key} are left out."
        texts.append(text)
    return "\n\n".join(texts)


def _key(table: DeclaredTable) -> list[str]:
    """The fields by which rows are matched; none where their number does it."""
    return [] if table.by_line else table.key


def gold_text(scoring: DeclaredScoring, task_ids: Sequence[str]) -> str:
    """Return the gold files of declared tables with the columns that scoring these tasks reads, as a list."""
    lines = []
    for table in scoring.tables.values():
        if table.gold.files:
            lines.append(files_gold(table))
            continue
        columns = _key(table)
        for metric in scoring.metrics_of(task_ids):
            if table.id in metric.read_tables:
                of_means = [metric.mean_by] if metric.mean_by else []
                columns = [*columns, *metric.gold, *metric.where, *metric.by, *of_means]
        if table.cluster:
            columns = [*columns, table.cluster]
        named = [table.gold.names.get(column, column) for column in dict.fromkeys(columns)]
        line = f"- {page_text(table.gold.name)} with {_listed(named)}"
        if table.gold_keys:
            line += f"; and {page_text(table.gold_keys.name)}, all keys"
        lines.append(line)
    return "\n".join(lines)


def data_table(phases: Sequence[PhaseData]) -> str:
    """Return how many items each phase asks for, and which files participants are given for it."""
    rows = []
    for data in phases:
        files = []
        for name, content in sorted(data.public.items()):
            files.append(page_text(name) + _shape(name, content))
        if len(files) > MOST_FILES:
            files[MOST_FILES:] = [f"{len(files) - MOST_FILES} more"]
        asked = []
        tables = data.manifest["expected"].get("tables", {})
        for name, table in tables.items():
            of_several = f"{name}: " if len(tables) > 1 else ""
            asked.append(f"{of_several}{len(table['keys']):,}")
        rows.append([data.phase.name, "; ".join(asked), "; ".join(files) or "none"])
    return markdown_table(["Phase", "To be answered", "Public data"], rows)


def _shape(name: str, content: Path | bytes) -> str:
    """The number of rows and the columns of a table; empty for any other file, and for one that is none after all."""
    data = content
    if isinstance(data, Path):
        data = data.read_bytes()
    if len(data) > MOST_BYTES:
        return ""
    try:
        shape = _rows_and_columns(PurePosixPath(name).suffix.lower(), data)
    except (ValueError, TypeError, csv.Error, RecursionError):
        return ""
    if shape is None:
        return ""
    number, columns = shape
    listed = f": {_listed(columns)}" if columns else ""
    return f" ({number:,} rows{listed})"


def _rows_and_columns(suffix: str, data: bytes) -> tuple[int, Sequence[str]] | None:
    """How many rows a table has, and which columns; None for what is no table."""
    if suffix in DELIMITED:
        allow_long_cells()
        header, *rows = [row for row in csv.reader(_text(data), delimiter=DELIMITED[suffix]) if row] or [[]]
        return len(rows), header
    if suffix == ".jsonl":
        lines = [line for line in _text(data).read().split("\n") if line.strip()]
        return len(lines), list(json.loads(lines[0])) if lines else []
    if suffix == ".json":
        value = json.load(_text(data))
        first = [*items_of(value), None][0]
        return len(value), list(mapping_of(first))
    return None


def _text(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="\n")


def baselines_text(phases: Sequence[PhaseData]) -> str:
    """Return the names of the baselines, or that there are none."""
    names: set[str] = set()
    for data in phases:
        names.update(data.baselines)
    if not names:
        return "There is no baseline."
    listed = f"`{'`, `'.join(sorted(names))}`"
    if len(names) == 1:
        return f"Baseline: {listed}."
    return f"Baselines: {listed}."
