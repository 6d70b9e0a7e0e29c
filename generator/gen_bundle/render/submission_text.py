"""What pages and starting kits say of declared tables and of the data, so that it holds after every change of these."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from gen_bundle.declaration.model import DeclaredSubmission, SubmissionField, SubmittedTable
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.render.tables import markdown_table

SAFE_ON_PAGES = re.compile(r"[\w .,:/-]*")
EXAMPLE_ROWS = 3
MOST_FILES = 12
"""So many public files of a phase are listed; the others are counted."""
MOST_BYTES = 50_000_000
"""The rows of larger files are not counted."""
WORDS = {
    "label": ("one of {values}", "one of {values}"),
    "labels": (
        "any of {values}, separated by `{separator}`; empty for none",
        "a list of any of {values}; `[]` for none",
    ),
    "number": ("a number{range}", "a number{range}"),
    "text": ("a text", "a text"),
    "texts": ("a JSON list of texts", "a list of texts"),
    "tags": (
        "`O`, `B-x` or `I-x` for each token, separated by spaces",
        "a list of `O`, `B-x` or `I-x`, one for each token",
    ),
    "spans": (
        "a JSON list of `[start, end]` or `[start, end, type]`",
        "a list of `[start, end]` or `[start, end, type]`",
    ),
    "string": ("a text", "a text"),
}
"""Type → how a value is written in a cell, and in JSON."""
DELIMITERS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars", " ": "blanks", ":": "colons"}
SENTENCES = {
    "label": "Give each {row} one label in {field}{values}.",
    "labels": "Give each {row} all labels that fit in {field}; there may be none{values}.",
    "number": "Predict a number, {field}, for each {row}.",
    "text": "Write a text, {field}, for each {row}.",
    "texts": "Write a list of texts, {field}, for each {row}.",
    "tags": "Tag every token of each {row} in {field}.",
    "spans": "Mark the spans of each {row} in {field}; the end of a span is the first position after it.",
}
"""Type → what is asked of participants."""


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


def type_text(field: SubmissionField, file: str) -> str:
    """How a value of a field is written in a file of this name; a package's own types stay as they are."""
    if field.type not in WORDS:
        return field.type_words
    in_cell, in_json = WORDS[field.type]
    listed = ", ".join(page_text(_plain(value)) for value in field.values or [])
    text = in_json if _is_json(file) else in_cell
    words = field.type_words.removeprefix("number")
    return text.format(values=listed or "the task's labels", separator=field.separator, range=words)


def format_text(tables: Sequence[SubmittedTable]) -> str:
    """The fields of each table, as they are written in its file."""
    parts = []
    for table in tables:
        rows = [
            [page_text(one.field), type_text(one, table.file), "yes" if one.required else "no", one.meaning]
            for one in table.fields
        ]
        heading = f"{page_text(table.file)}:\n\n" if len(tables) > 1 else ""
        format_table = markdown_table(["Field", "Type", "Required", "Meaning"], rows)
        parts.append("\n\n".join(filter(None, [heading + format_table, _file_text(table)])))
    return "\n\n".join(parts)


def _file_text(table: SubmittedTable) -> str:
    """What is not as usual in a table's file."""
    names = ", ".join(page_text(field.field) for field in table.fields)
    sentences = [
        f"The first {table.skip} lines are not read." if table.skip else "",
        f"Cells are separated by {DELIMITERS.get(table.delimiter, table.delimiter)}." if table.delimiter else "",
        f"There is no header line: each row holds {names}, in this order." if table.header == "none" else "",
    ]
    return " ".join(filter(None, sentences))


def example_text(tables: Sequence[SubmittedTable]) -> str:
    """The first lines of each table with made-up answers, as a fenced block."""
    parts = []
    for table in tables:
        heading = f"{page_text(table.file)}:\n\n" if len(tables) > 1 else ""
        example = _example(table)
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", example)), 0)
        parts.append(f"{heading}{fence}\n{example}\n{fence}")
    return "\n\n".join(parts)


def _example(table: SubmittedTable) -> str:
    names = [field.field for field in table.fields]
    rows = [[_made_up(table, field, at) for field in table.fields] for at in range(EXAMPLE_ROWS)]
    suffix = PurePosixPath(table.file).suffix
    if _is_json(table.file):
        objects = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows]
        return "\n".join(objects) if suffix == ".jsonl" else "[\n" + ",\n".join(objects) + "\n]"
    cells = [[_cell(field, value) for field, value in zip(table.fields, row, strict=True)] for row in rows]
    if suffix == ".txt" and not table.delimiter:
        return "\n".join(row[-1] for row in cells)
    delimiter = table.delimiter or ("\t" if suffix == ".tsv" else ",")
    lines = cells if table.header == "none" else [names, *cells]
    if table.quoting == "none":
        return "\n".join(delimiter.join(row) for row in lines)
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(lines)
    return buffer.getvalue().rstrip("\n")


def _made_up(table: SubmittedTable, field: SubmissionField, at: int) -> Any:
    """A value of a field in row `at`; whether spans have a type, only the field's meaning says."""
    key = _key(table)
    if field.field in key:
        # Rows of one key show that it may have many; of a key of several fields the last one differs.
        is_same = table.rows == "many" or field.field != key[-1]
        return f"{field.field}-{1 if is_same else at + 1}"
    if field.type in ("label", "labels"):
        values = [_plain(value) for value in field.values or ["one", "another"]]
        chosen = values[at % len(values)]
        return chosen if field.type == "label" else sorted({chosen, values[0]}, key=values.index)
    if field.type == "number":
        low, high = field.min or 0, field.max
        return round(low + (high - low) * (at + 1) / 4, 2) if high is not None else low + at + 0.5
    made: dict[str, Any] = {
        "tags": ["O", "B-X", "I-X"],
        "spans": [[at, at + 4, "TYPE"] if "type" in field.meaning else [at, at + 4]],
        "texts": ["An example answer", "another one"],
        "string": f"{field.field}-{at + 1}",
    }
    return made.get(field.type, "An example answer")


def _cell(field: SubmissionField, value: Any) -> str:
    if field.type == "tags":
        return " ".join(value)
    if field.type == "labels":
        return field.separator.join(value)
    return json.dumps(value) if isinstance(value, list) else str(value)


def task_text(tables: Sequence[SubmittedTable]) -> str:
    """What participants are asked for: a sentence for each field that they answer."""
    sentences = []
    for table in tables:
        key = _key(table)
        answers = [field for field in table.fields if field.field not in key]
        if table.rows == "many":
            listed = ", ".join(page_text(field.field) for field in answers)
            sentences.append(f"For each {' and '.join(map(page_text, key))}, give any number of rows: {listed}.")
            continue
        row = "row" if key else "line"
        for field in answers:
            listed = ", ".join(page_text(_plain(value)) for value in field.values or [])
            text = SENTENCES.get(field.type, "Give {field} for each {row}.")
            values = f": {listed}" if listed else ""
            sentences.append(text.format(row=row, field=page_text(field.field), values=values))
    return "\n\n".join(sentences)


def rows_text(tables: Sequence[SubmittedTable]) -> str:
    """How rows are matched, and what becomes of those that are missing."""
    texts = []
    for table in tables:
        whose = f" of {page_text(table.file)}" if len(tables) > 1 else ""
        if not table.key:
            texts.append(f"Line *n*{whose} answers input *n*; a file with any other number of lines is refused.")
            continue
        key = " and ".join(map(page_text, _key(table)))
        is_empty = table.missing == "empty" or (table.missing is None and table.rows == "many")
        text = f"Rows{whose} are matched by {key}, in any order. "
        if is_empty:
            text += f"A missing {key} counts as an empty answer; an unknown one is refused."
        else:
            repeated = "" if table.rows == "many" else ", repeated"
            text += f"A missing{repeated} or unknown row is refused, and all problems of a file are listed together."
        texts.append(text)
    return "\n\n".join(texts)


def gold_text(options: Mapping[str, Any], task_ids: Sequence[str]) -> str:
    """The gold files of declared tables with the columns that scoring these tasks reads, as a list."""
    lines = []
    for table in options["tables"]:
        columns = dict.fromkeys(table["key"])
        for task in task_ids:
            for metric in options["metrics"].get(task, {}).values():
                if table["id"] in (metric["tables"] or [metric["table"]]):
                    columns |= dict.fromkeys([*metric["gold"], *metric["where"], *metric["by"]])
        if table["cluster"]:
            columns[table["cluster"]] = None
        listed = ", ".join(map(page_text, columns))
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


def _is_json(file: str) -> bool:
    return PurePosixPath(file).suffix in (".json", ".jsonl")


def _key(table: SubmittedTable) -> list[str]:
    return [table.key] if isinstance(table.key, str) else table.key or []


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
