"""The tables of a declared competition: files, keys, rows and fields, with what is wrong with them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gen_bundle.declaration.model import SubmittedTable
from gen_bundle.declaration.scoring.fields import check_place, read_fields
from gen_bundle.declaration.scoring.file_tables import (
    NONE,
    OF_ROWS,
    check_file_table,
    format_faults,
    gold_files,
    holds_files,
    is_of_rows,
    path_faults,
    sent_files,
)
from gen_bundle.declaration.source import Section, items_of, mapping_of, nearest
from scoring_kit.base.array_heads import LIBRARIES
from scoring_kit.base.field_types import TYPES, Field
from scoring_kit.base.row_files import File

FORMATS = ("csv", "tsv", "jsonl", "json", "txt")
SUFFIXES = tuple(f".{name}" for name in FORMATS)
ONLY_TABLE = "table"
LINE = "line"
"""As a key: rows are matched by their number."""
KEY_TYPES = ("string", "label", "number", "text")
FILE_OPTIONS = ("quoting", "delimiter", "skip", "at", "names", "paths", "spread", "columns", "files")
"""Keys of a file besides its name and format."""
ONLY_MANY = "is for rows: many: each record holds the rows of its key."
NO_FILE = File("", "")
NO_REFERENCE = "is missing. Expected: {file: gold.csv}, the gold in each phase's folder."


@dataclass
class DeclaredTable:
    """A table as bundle.yaml declares it, defaults put in.

    Attributes:
        id: its name; `table` where there is a single one.
        file: what participants hand in.
        by_line: whether row n answers row n of the gold.
        numbers_rows: whether a part of the key is the number of the row within its file.
        fields: name → the field as the scoring package gets it.
        skips_empty: whether a gold cell may be empty.
        public: gold columns that participants may know.
        check: FILE.py:FUNCTION.
        said: what bundle.yaml says of it.
        said_of_gold: what it says of its `reference`.
    """

    id: str
    file: File = NO_FILE
    key: list[str] = field(default_factory=list)
    by_line: bool = False
    numbers_rows: bool = False
    many: bool = False
    reject_missing: bool = True
    ignores_unknown: bool = False
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    gold: File = NO_FILE
    gold_keys: File | None = None
    skips_empty: bool = False
    cluster: str | None = None
    unit: str | None = None
    distinct: str | None = None
    all_items: bool = False
    public: list[str] = field(default_factory=list)
    check: str | None = None
    said: Section = field(default_factory=lambda: Section({}))
    said_of_gold: Section = field(default_factory=lambda: Section({}))

    def field_of(self, name: str) -> Field:
        """Return a field as scoring reads it."""
        return Field.from_dict(self.fields[name])

    @property
    def answers(self) -> list[str]:
        """The names of the fields that are not part of the key."""
        return [name for name in self.fields if name not in self.key]

    @property
    def libraries(self) -> set[str]:
        """The packages that read its arrays."""
        parts = (*self.file.parts, *self.gold.parts)
        return {LIBRARIES[str(part.format)] for part in parts if part.format in LIBRARIES}

    @property
    def unit_word(self) -> str:
        """Return what a unit of resampling is called, where nothing else is said: `review` for `review_id`."""
        if self.unit:
            return self.unit
        names = self.key
        if self.cluster:
            names = [self.cluster]
        if len(names) == 1:
            word = re.sub(r"(^|[_\W])([gu]?u?ids?|keys?|index)$", "", names[0], flags=re.IGNORECASE)
            if words := " ".join(re.split(r"[_\W]+", word)).strip():
                return words
        if self.file.files:
            return "file"
        return "item" if self.many else "row"

    def as_option(self) -> dict[str, Any]:
        """Return the table as the scoring package gets it."""
        option = {name: value for name, value in vars(self).items() if name not in ("check", "said", "said_of_gold")}
        option["fields"] = list(self.fields.values())
        option["unit"] = self.unit_word
        for name in ("file", "gold", "gold_keys"):
            file = option[name]
            if file is not None:
                option[name] = {"name": file.name, "format": file.format}
                option[name].update({key: getattr(file, key) for key in FILE_OPTIONS if getattr(file, key)})
                if file.within is not None:
                    option[name]["within"] = file.within
        if self.gold_keys:
            option["gold_keys"]["names"] = self.gold_keys.names
        return option


def submitted_table(submitted: SubmittedTable) -> DeclaredTable:
    """Return what participants hand in, with nothing of the gold; of a scoring package as far as it says the same."""
    return _table(ONLY_TABLE, Section(submitted.model_dump(exclude_none=True, by_alias=True)), Section({}))


def read_tables(declared: Section) -> dict[str, DeclaredTable]:
    """Return the tables of `submission` and their `reference`, by id."""
    submission = declared.get("submission")
    if not isinstance(submission, dict):
        return {}  # the model reports it
    section = declared.below(submission, "submission")
    if submission.get("tables") is None:
        return {ONLY_TABLE: _table(ONLY_TABLE, section, declared)}
    several = mapping_of(section.get("tables"))
    tables = {}
    for name, table in several.items():
        if isinstance(table, dict):  # else the model reports it
            one = section.below(table, "tables", name)
            tables[name] = _table(name, one, one)
    submission.setdefault("file", ", ".join(dict.fromkeys(table.file.name for table in tables.values())))
    rows = []  # of the format table of all, each after its file's name
    for table in several.values():
        for row in items_of(mapping_of(table).get("fields")):
            if isinstance(row, dict):
                rows.append({**row, "field": f"{table.get('file')}: {row.get('field')}"})
            else:
                rows.append(row)
    submission.setdefault("fields", rows)
    return tables


def _table(name: str, section: Section, around: Section) -> DeclaredTable:
    """A table, and its `reference`, which stands `around` it or in it."""
    table = DeclaredTable(name, said=section)
    table.key = section.names("key")
    table.fields = _fields(section, table.key)
    is_called_otherwise = not str(section.get("file")).endswith(SUFFIXES)
    if is_called_otherwise and any(item.get("type") not in (None, *TYPES) for item in section.sections("fields")):
        return table  # of files whose types are misspelt no more can be said
    if holds_files(section):
        _read_files(table, section, around)
        return table
    table.file = _file(section)
    table.many = section.get("rows") == "many"
    default = "empty" if table.many else "reject"
    _read_rules(table, section, default)
    places = {str(item.get("field")): item for item in section.sections("fields")}
    table.by_line = table.key == [LINE] and LINE not in places
    table.numbers_rows = LINE in table.key and len(table.key) > 1 and LINE not in places
    table.file = _placed(table, table.file, section, list(table.fields), places)
    gold = around.get("reference")
    if gold is not None:
        _read_reference(table, around.below(gold, "reference"), places)
    else:
        around.fault(NO_REFERENCE, "reference")
    if table.file.has_lines and table.gold.has_lines and not table.key:
        table.key, table.by_line = [LINE], True
    _check_shape(table, section)
    _check_pattern(table, table.file, section, "file")
    _check_pattern(table, table.gold, around, "reference", "file")
    return table


def _read_rules(table: DeclaredTable, section: Section, missing: str) -> None:
    """Read what becomes of answers that are missing or unknown, and the organisers' own check."""
    table.reject_missing = (section.get("missing") or missing) == "reject"
    table.ignores_unknown = section.get("unknown") == "ignore"
    table.check = section.get("check")


def _fields(section: Section, key: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the fields by name; those of the key that stand in a file's name alone may be left out, and are added."""
    fields = section.items("fields")
    names, known = [section.get("file")], []
    for item in section.sections("fields"):
        names.append(item.get("file"))
        known.append(item.get("field"))
    in_names = {File(name).named_by for name in names if isinstance(name, str)}
    added = in_names.intersection(key).difference(known)
    for name in key:
        if name in added:
            fields.append({"field": name})  # behind the others, which keep their places in bundle.yaml
    return dict(sorted(read_fields(section, key), key=lambda field: field[0] not in added))


def _read_files(table: DeclaredTable, section: Section, around: Section) -> None:
    """Read a table whose values are files, and its gold, which may be rows by the same key."""
    if table.key == [NONE]:
        table.key = []
    elif len(table.key) != 1:
        section.fault("expected one field, whose value is in the names of the files, or none.", "key")
        table.key = table.key[:1]
    _read_rules(table, section, "reject")
    check_file_table(section, table.key, table.fields)
    table.file = sent_files(section, table.key)
    section.data.setdefault("file", table.file.name)
    for _, fault in format_faults(table.file, table.fields):
        section.fault(fault, "file")
    gold = around.get("reference")
    if gold is None:
        around.fault(NO_REFERENCE, "reference")
        return
    reference = around.below(gold, "reference")
    if is_of_rows(reference, table.key):
        _read_reference(table, reference, {})
        return
    for name in (*OF_ROWS, "columns", "empty"):
        if name in gold:
            reference.fault("is for tables of rows; fields of type file or array have none.", name)
    fields = _renamed(table, reference)
    table.gold = gold_files(reference, table.file, fields, table.key)
    gold.setdefault("file", table.gold.name)
    for name, fault in format_faults(table.gold, table.fields):
        reference.fault(fault, "file") if name not in fields else fields[name].fault(fault, "file")
    _read_structure(table, reference)


def _read_reference(table: DeclaredTable, section: Section, places: Mapping[str, Section]) -> None:
    table.gold = _file(section)
    table.skips_empty = section.get("empty") == "skip"
    columns = section.get("columns")
    if columns and section.get("header") != "none":
        section.fault("is for files without a header line. Expected header: none beside it.", "columns")
    named = columns or list(table.fields)
    if table.gold.within is not None and not table.many:
        section.fault(ONLY_MANY, "list")
    renamed = _renamed(table, section)
    table.gold = _placed(table, table.gold, section, named, {**places, **renamed})
    spread = {name: list(one.get("columns")) for name, one in renamed.items() if one.get("columns")}
    table.gold = replace(table.gold, spread=spread)
    _read_structure(table, section)


def _read_structure(table: DeclaredTable, section: Section) -> None:
    """Which keys there are, how they belong together, and what of the gold is public."""
    table.said_of_gold = section
    if section.get("keys") is not None:
        keys = section.below({"file": section.get("keys"), "quoting": section.get("quoting")})
        table.gold_keys = replace(_file(keys, "keys"), names=table.gold.names)
        if not (table.many or table.gold.files):
            section.fault("is only for rows: many; the gold of rows: one holds every key.", "keys")
    table.cluster, table.unit = section.get("cluster"), section.get("unit")
    table.public = list(section.get("public") or ())


def _renamed(table: DeclaredTable, reference: Section) -> dict[str, Section]:
    """`reference.fields`: where the gold has a field."""
    found = {}
    for name, one in mapping_of(reference.get("fields")).items():
        if not isinstance(one, dict):
            continue  # the model reports it
        field = found[name] = reference.below(one, "fields", name)
        if name not in table.fields:
            field.fault(f"no field {name!r}. {nearest(str(name), list(table.fields))}")
        check_place(field, is_file=bool(table.file.files))
        if field.get("columns") and table.fields.get(name, {}).get("type") != "numbers":
            field.fault("is for fields of type numbers.", "columns")
    return found


def _placed(
    table: DeclaredTable, file: File, section: Section, columns: list[str], places: Mapping[str, Section]
) -> File:
    """The file with where it has each field: by its place without a header, else by a column's name or a path."""
    if section.get("header") == "none":
        return replace(file, columns=_placed_columns(table, file, columns, section))
    names: dict[str, str] = {}
    paths: dict[str, str] = {}
    for name, one in places.items():
        if one.get("at") is not None and file.format in ("json", "jsonl"):
            paths[name] = str(one.get("at"))
        elif one.get("column"):
            names[name] = one.get("column")
    return replace(file, names=names, paths=paths)


def _placed_columns(table: DeclaredTable, file: File, columns: list[str], section: Section) -> list[str]:
    """The columns of a file without a header line: a field that is spread takes as many places."""
    expanded: list[str] = []
    for name in columns:
        field = table.fields.get(name, {})
        is_gold_label = field.get("type") == "probabilities" and file is not table.file
        if name != file.named_by:
            elsewhere = mapping_of(mapping_of(section.get("fields")).get(name)).get("columns")
            own = [name] if is_gold_label else field.get("columns")
            expanded += elsewhere or own or [name]
    for name in table.key:
        if table.by_line or name in (*expanded, file.named_by) or (name == LINE and table.numbers_rows):
            continue
        if file is table.file:
            section.fault(f"no field {name!r}, which has a place in the file's rows.", "key")
        else:
            section.fault(f"the key {name} is missing. Expected a place for it.", "columns")
    if len(set(expanded)) < len(expanded):
        section.fault("names a column twice. Expected each once.", "columns")
    return expanded


def _check_shape(table: DeclaredTable, section: Section) -> None:
    """Check what the file's format asks of key and fields."""
    is_line, is_gold_line = table.file.has_lines, table.gold.has_lines
    is_told = table.by_line or table.numbers_rows or table.key == [table.gold.named_by]
    if is_gold_line and not (is_line or is_told):
        section.fault(f"a gold file of lines ({table.gold.name}) has no keys. Expected a submission of lines, too.")
    if table.many and is_line:
        section.fault("a .txt file has one line for each row of the gold. Expected rows: one.", "rows")
    elif table.ignores_unknown and table.by_line:
        section.fault("ignore asks for ids in the file: with key: line no row is unknown. Expected reject.", "unknown")
    elif table.many and table.numbers_rows:
        section.fault("each row has a number, and so a key of its own. Expected rows: one.", "rows")
    elif table.many and table.by_line:
        section.fault("key: line asks for one row for each row of the gold. Expected rows: one.", "rows")
    if (is_line or is_gold_line) and len(table.answers) != 1:
        section.fault("a .txt file holds one field, the line. Expected one field that is not the key.", "fields")
    if table.file.within is not None and not table.many:
        section.fault(ONLY_MANY, "list")
    if (table.file.within is not None or table.gold.within is not None) and not table.answers:
        section.fault("list holds rows, and every field is of the key. Expected a field that rows answer.", "fields")
    _check_key(table, section)


def _check_key(table: DeclaredTable, section: Section) -> None:
    if not table.answers and table.fields and not table.many:
        section.fault("every field is a key. Expected a field that participants answer.", "fields")
    if not table.key and section.get("key") is None:
        section.fault("is missing. Expected the field, or fields, by which rows are matched.", "key")
    for name in table.key:
        kind = table.fields.get(name, {}).get("type", "string")
        if kind not in KEY_TYPES:
            section.fault(f"{name!r} is of type {kind}. Expected a key of type string.", "key")


def _check_pattern(table: DeclaredTable, file: File, section: Section, *below: str) -> None:
    """Check what a file's name asks of the key, where a part of it stands for others."""
    part = file.named_by
    if "{" in file.name and table.by_line:
        section.fault(f"key: line goes with a single file. Expected a name without {{{part}}}.", *below)
    elif "{" in file.name and part not in table.key:
        section.fault(f"{{{part}}} is no field of the key. {nearest(part, table.key)}", *below)
    elif table.numbers_rows and file is table.gold and part != table.file.named_by:
        # else no answer could have the numbers that the gold's rows have
        name = f"a name with {{{table.file.named_by}}}" if table.file.named_by else "a name without a placeholder"
        section.fault(f"line in the key is a row's number in its file. Expected, as in submissions, {name}.", *below)


def _file(section: Section, key: str = "file") -> File:
    """The `file` of a section and how it is read; `key` is what bundle.yaml calls it there."""
    ends = f"a file name that ends with {', '.join(SUFFIXES)}"
    name = section.get("file")
    if name is None:
        section.fault(f"is missing. Expected {ends}.", key)
        return File("", "")
    file_format = name.rpartition(".")[2].lower()
    for fault in path_faults(name):
        section.fault(fault, key)
    if section.get("format") is not None:
        file_format = section.choice("format", FORMATS, "csv")
    elif not name.endswith(SUFFIXES):
        section.fault(f"{name!r}: expected {ends}.", key)
        file_format = ""
    return _with_dialect(File(name, file_format), section)


OF_FORMATS = (
    ("header", ("cells",), "is for tables of cells (.csv, .tsv); {!r} has none."),
    ("delimiter", ("cells",), "is for tables of cells (.csv, .tsv); {!r} has none."),
    ("skip", ("cells", "txt", "jsonl"), "is for files of lines; {!r} is read as a whole."),
    ("at", ("json",), "is the place of the records in a .json file; {!r} is none."),
    ("list", ("json", "jsonl"), "is the place of rows in a JSON record; {!r} is none."),
)
"""Key of a file → the formats that it is for, and what is said of others."""


def _with_dialect(file: File, section: Section) -> File:
    """The file with how its cells or lines are read, and where its records are."""
    at, within = [None if path is None else str(path) for path in (section.get("at"), section.get("list"))]
    file = replace(
        file,
        quoting=section.get("quoting") or "rfc4180",
        delimiter=section.get("delimiter"),
        skip=section.get("skip") or 0,
        at=at or "",
        within=within,
    )
    kind = file.format
    if file.has_cells:
        kind = "cells"
    for key, kinds, what in OF_FORMATS:
        value = section.get(key)
        if value is not None and (key, value) != ("skip", 0) and file.format and kind not in kinds:
            section.fault(what.format(file.name), key)
    return file
