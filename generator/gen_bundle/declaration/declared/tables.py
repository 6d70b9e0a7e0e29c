"""The tables of a declared competition: files, keys, rows and fields, with what is wrong with them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gen_bundle.declaration.declared.fields import (
    PLACE_KEYS,
    Found,
    choice_of,
    names_of,
    read_fields,
    unknown_keys,
)
from gen_bundle.declaration.model import CODE_KEYS, SubmittedTable
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, listed, mappings
from scoring_kit.base.fields import Field
from scoring_kit.base.row_files import File

FORMATS = ("csv", "tsv", "jsonl", "json", "txt")
SUFFIXES = tuple(f".{name}" for name in FORMATS)
ONLY_TABLE = "table"
LINE = "line"
"""As a key: rows are matched by their number."""
FILE_KEYS = ("file", "format", "quoting", "header", "delimiter", "skip", "at")
TABLE_KEYS = ("key", "rows", "missing", *FILE_KEYS, "fields", "reference", "check")
REFERENCE_KEYS = (*FILE_KEYS, "columns", "fields", "keys", "empty", "cluster", "unit", "public")
KEY_TYPES = ("string", "label", "number", "text")
FILE_OPTIONS = ("quoting", "delimiter", "skip", "at", "names", "paths", "columns")
"""What is said of a file besides its name and format, where it is said."""
NO_FILE = File("", "")


@dataclass
class DeclaredTable:
    """A table as bundle.yaml declares it, defaults put in.

    Attributes:
        id: its name; `table` where there is a single one.
        file: what participants hand in.
        by_line: whether row n answers row n of the gold.
        fields: name → the field as the scoring package gets it.
        skips_empty: whether a gold cell may be empty.
        public: gold columns that participants may know.
        check: FILE.py:FUNCTION.
        trail: its place in bundle.yaml.
    """

    id: str
    file: File = NO_FILE
    key: list[str] = field(default_factory=list)
    by_line: bool = False
    many: bool = False
    reject_missing: bool = True
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
    trail: Trail = ()

    def field_of(self, name: str) -> Field:
        """A field as scoring reads it."""
        return Field.from_dict(self.fields[name])

    @property
    def answers(self) -> list[str]:
        """The names of the fields that are not part of the key."""
        return [name for name in self.fields if name not in self.key]

    @property
    def unit_word(self) -> str:
        """What a unit of resampling is called, where nothing else is said: `review` for `review_id`."""
        if self.unit:
            return self.unit
        names = self.key
        if self.cluster:
            names = [self.cluster]
        if len(names) == 1:
            word = re.sub(r"(^|[_\W])(ids?|keys?|index)$", "", names[0], flags=re.IGNORECASE)
            if words := " ".join(re.split(r"[_\W]+", word)).strip():
                return words
        return "item" if self.many else "row"

    def as_option(self) -> dict[str, Any]:
        """The table as the scoring package gets it."""
        option = {name: value for name, value in vars(self).items() if name not in ("check", "trail")}
        option["fields"] = list(self.fields.values())
        option["unit"] = self.unit_word
        for name in ("file", "gold", "gold_keys"):
            file = option[name]
            if file is not None:
                option[name] = {"name": file.name, "format": file.format}
                option[name].update({key: getattr(file, key) for key in FILE_OPTIONS if getattr(file, key)})
        if self.gold_keys:
            option["gold_keys"]["names"] = self.gold_keys.names
        return option


def submitted_table(submitted: SubmittedTable) -> DeclaredTable:
    """What participants hand in, with nothing of the gold; of a scoring package as far as it says the same."""
    return _table(ONLY_TABLE, (), submitted.model_dump(exclude_none=True), (), None, [])


def read_tables(data: dict[str, Any], found: Found) -> dict[str, DeclaredTable]:
    """The tables of `submission` and their `reference`, by id; what is wrong is appended to `found`."""
    submission = data.get("submission")
    if not isinstance(submission, dict):
        return {}  # the model reports it
    several = submission.get("tables")
    if several is None:
        only = _table(ONLY_TABLE, ("submission",), submission, ("reference",), data.get("reference"), found)
        return {ONLY_TABLE: only}
    if not isinstance(several, dict) or not several:
        found.append((("submission", "tables"), "expected a mapping of names and tables."))
        return {}
    tables = {}
    for name, table in several.items():
        trail: Trail = ("submission", "tables", name)
        if not isinstance(table, dict):
            found.append((trail, f"expected a mapping with {', '.join(TABLE_KEYS)}."))
            continue
        tables[name] = _table(name, trail, table, (*trail, "reference"), table.get("reference"), found)
    submission.setdefault("file", ", ".join(dict.fromkeys(table.file.name for table in tables.values())))
    rows = []  # of the format table of all, each after its file's name
    for table in several.values():
        for row in listed(table, "fields"):
            if isinstance(row, dict):
                rows.append({**row, "field": f"{table.get('file')}: {row.get('field')}"})
            else:
                rows.append(row)
    submission.setdefault("fields", rows)
    return tables


def _table(name: str, trail: Trail, data: dict[str, Any], gold_trail: Trail, gold: Any, found: Found) -> DeclaredTable:
    table = DeclaredTable(name, trail=trail)
    found += unknown_keys(data, (*TABLE_KEYS, "tables", "kind", *CODE_KEYS), trail)
    table.file = _file(data, "file", trail, found)
    table.many = choice_of(data, "rows", ("one", "many"), "one", trail, found) == "many"
    default = "empty" if table.many else "reject"
    table.reject_missing = choice_of(data, "missing", ("reject", "empty"), default, trail, found) == "reject"
    table.check = _text(data, "check", "a function beside bundle.yaml: metrics.py:check", trail, found)
    table.key = names_of(data.get("key"), (*trail, "key"), found)
    places = {item.get("field"): item for _, item in mappings(data, "fields", trail)}
    table.by_line = table.key == [LINE] and LINE not in places
    table.fields = dict(read_fields(data, table.key, trail, found))
    table.file = _placed(table, table.file, data, list(table.fields), places, trail, found)
    if isinstance(gold, dict):
        _read_reference(table, gold, places, gold_trail, found)
    else:
        found.append((gold_trail, "is missing. Expected: {file: gold.csv}, the gold in each phase's folder."))
    if table.file.has_lines and table.gold.has_lines and not table.key:
        table.key, table.by_line = [LINE], True
    found += _shape(table, data, gold_trail)
    return table


def _read_reference(
    table: DeclaredTable, data: dict[str, Any], places: Mapping[Any, dict[str, Any]], trail: Trail, found: Found
) -> None:
    found += unknown_keys(data, REFERENCE_KEYS, trail)
    table.gold = _file(data, "file", trail, found)
    table.skips_empty = choice_of(data, "empty", ("error", "skip"), "error", trail, found) == "skip"
    columns = names_of(data.get("columns"), (*trail, "columns"), found)
    if columns and data.get("header") != "none":
        found.append(((*trail, "columns"), "is for files without a header line. Expected header: none beside it."))
    renamed = _renamed(data.get("fields"), table, (*trail, "fields"), found)
    named = columns or list(table.fields)
    table.gold = _placed(table, table.gold, data, named, {**places, **renamed}, trail, found)
    if data.get("keys") is not None:
        keys = _file({"file": data["keys"], "quoting": data.get("quoting")}, "file", trail, found, "keys")
        table.gold_keys = replace(keys, names=table.gold.names)
        if not table.many:
            found.append(((*trail, "keys"), "is only for rows: many; the gold of rows: one holds every key."))
    table.cluster = _text(data, "cluster", "the name of a gold column", trail, found)
    table.unit = _text(data, "unit", "what a unit of resampling is called, in the singular: review", trail, found)
    table.public = names_of(data.get("public"), (*trail, "public"), found)


def _renamed(value: Any, table: DeclaredTable, trail: Trail, found: Found) -> dict[str, dict[str, Any]]:
    """`reference.fields`: where the gold has a field."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        found.append((trail, "expected a mapping of fields, each with column or at, such as {label: {column: gold}}."))
        return {}
    for name, one in value.items():
        if name not in table.fields:
            found.append(((*trail, str(name)), f"no field {name!r}. {nearest(str(name), list(table.fields))}"))
        found += unknown_keys(one, PLACE_KEYS, (*trail, str(name)))
        _check_place(one, (*trail, str(name)), found)
    return value


def _placed(
    table: DeclaredTable,
    file: File,
    data: dict[str, Any],
    columns: list[str],
    places: Mapping[Any, dict[str, Any]],
    trail: Trail,
    found: Found,
) -> File:
    """The file with where it has each field: by its place without a header, else by a column's name or a path."""
    if data.get("header") == "none":
        return replace(file, columns=_placed_columns(table, file, columns, trail, found))
    names: dict[str, str] = {}
    paths: dict[str, str] = {}
    for name, one in places.items():
        if one.get("at") is not None and file.format in ("json", "jsonl"):
            paths[name] = str(one["at"])
        elif one.get("column"):
            names[name] = one["column"]
    return replace(file, names=names, paths=paths)


def _placed_columns(table: DeclaredTable, file: File, columns: list[str], trail: Trail, found: Found) -> list[str]:
    """The columns of a file without a header line: a field that is spread takes as many places."""
    expanded: list[str] = []
    for name in columns:
        if name != file.named_by:
            expanded += table.fields.get(name, {}).get("columns") or [name]
    for name in table.key:
        if table.by_line or name in (*expanded, file.named_by):
            continue
        if file is table.file:
            found.append(((*trail, "key"), f"no field {name!r}, which has a place in the file's rows."))
        else:
            found.append(((*trail, "columns"), f"the key {name} is missing. Expected a place for it."))
    if len(set(expanded)) < len(expanded):
        found.append(((*trail, "columns"), "names a column twice. Expected each once."))
    return expanded


def _shape(table: DeclaredTable, data: dict[str, Any], gold_trail: Trail) -> Iterator[Broken]:
    """What the file's format asks of key and fields."""
    is_line, is_gold_line = table.file.has_lines, table.gold.has_lines
    if is_gold_line and not (is_line or table.by_line or table.key == [table.gold.named_by]):
        yield table.trail, f"a gold file of lines ({table.gold.name}) has no keys. Expected a submission of lines, too."
    if table.many and is_line:
        yield (*table.trail, "rows"), "a .txt file has one line for each row of the gold. Expected rows: one."
    elif table.many and table.by_line:
        yield (*table.trail, "rows"), "key: line asks for one row for each row of the gold. Expected rows: one."
    if (is_line or is_gold_line) and len(table.answers) != 1:
        yield (*table.trail, "fields"), "a .txt file holds one field, the line. Expected one field that is not the key."
    yield from _key_faults(table, is_given=data.get("key") is not None)
    yield from _pattern_faults(table, table.file, (*table.trail, "file"))
    yield from _pattern_faults(table, table.gold, (*gold_trail, "file"))


def _key_faults(table: DeclaredTable, *, is_given: bool) -> Iterator[Broken]:
    if not table.answers and table.fields and not table.many:
        yield (*table.trail, "fields"), "every field is a key. Expected a field that participants answer."
    if not table.key and not is_given:
        yield (*table.trail, "key"), "is missing. Expected the field, or fields, by which rows are matched."
    for name in table.key:
        kind = table.fields.get(name, {}).get("type", "string")
        if kind not in KEY_TYPES:
            yield (*table.trail, "key"), f"{name!r} is of type {kind}. Expected a key of type string."


def _pattern_faults(table: DeclaredTable, file: File, trail: Trail) -> Iterator[Broken]:
    part = file.named_by
    if "{" in file.name and table.by_line:
        yield trail, f"key: line goes with a single file. Expected a name without {{{part}}}."
    elif "{" in file.name and part not in table.key:
        yield trail, f"{{{part}}} is no field of the key. {nearest(part, table.key)}"


def _file(data: dict[str, Any], key: str, trail: Trail, found: Found, named: str = "") -> File:
    """A file and how it is read; `named` is the key in bundle.yaml where it is another."""
    here = (*trail, named or key)
    ends = f"a file name that ends with {', '.join(SUFFIXES)}"
    name = data.get(key)
    if not isinstance(name, str):
        found.append((here, f"is missing. Expected {ends}."))
        return File("", "")
    file_format = name.rpartition(".")[2].lower()
    if "/" in name:
        found.append((here, f"{name!r}: expected a file name without a folder."))
    if data.get("format") is not None:
        file_format = choice_of(data, "format", FORMATS, "csv", trail, found)
    elif not name.endswith(SUFFIXES):
        found.append((here, f"{name!r}: expected {ends}."))
        file_format = ""
    if "*" in name[1:] or name == "*":
        found.append((here, f"{name!r}: expected a * at the beginning alone, as in *.csv."))
    if name.count("{") > 1 or ("{" in name and "*" in name):
        found.append((here, f"{name!r}: expected one placeholder, as in {{doc}}.csv."))
    return _with_dialect(data, File(name, file_format), trail, found)


OF_FORMATS = (
    ("header", ("cells",), "is for tables of cells (.csv, .tsv); {!r} has none."),
    ("delimiter", ("cells",), "is for tables of cells (.csv, .tsv); {!r} has none."),
    ("skip", ("cells", "txt", "jsonl"), "is for files of lines; {!r} is read as a whole."),
    ("at", ("json",), "is the place of the records in a .json file; {!r} is none."),
)
"""Key of a file → the formats that it is for, and what is said of others."""


def _with_dialect(data: dict[str, Any], file: File, trail: Trail, found: Found) -> File:
    """The file with how its cells or lines are read, and where its records are."""
    quoting = choice_of(data, "quoting", ("rfc4180", "none"), "rfc4180", trail, found)
    if data.get("header") not in (None, "none"):
        found.append(((*trail, "header"), f"unknown value {data['header']!r}. Expected none, or no such key."))
    delimiter = _delimiter(data.get("delimiter"), (*trail, "delimiter"), found)
    skip = _lines(data.get("skip"), (*trail, "skip"), found)
    at = ""
    if _check_place(data, trail, found) and data.get("at") is not None:
        at = str(data["at"])
    file = replace(file, quoting=quoting, delimiter=delimiter, skip=skip, at=at)
    for here, item in mappings(data, "fields", trail):
        _check_place(item, here, found)
    kind = file.format
    if file.has_cells:
        kind = "cells"
    for key, kinds, what in OF_FORMATS:
        if data.get(key) and file.format and kind not in kinds:
            found.append(((*trail, key), what.format(file.name)))
    return file


def _delimiter(value: Any, trail: Trail, found: Found) -> str | None:
    if value is None or (isinstance(value, str) and len(value) == 1 and value not in '"\r\n'):
        return value
    found.append((trail, f"expected one character, such as ';' (found {value!r})."))
    return None


def _lines(value: Any, trail: Trail, found: Found) -> int:
    if type(value) is int and value >= 0:
        return value
    if value is False or value not in (None, 0):
        found.append((trail, f"expected a number of lines (found {value!r})."))
    return 0


def _check_place(data: dict[str, Any], trail: Trail, found: Found) -> bool:
    """Whether `at` and `column` are what they must be."""
    at, column = data.get("at"), data.get("column")
    if at is not None and (isinstance(at, bool) or not isinstance(at, str | int)):
        found.append(((*trail, "at"), "expected names by dots and places by numbers, such as answer.text or 0."))
        return False
    if column is not None and not (isinstance(column, str) and column):
        found.append(((*trail, "column"), f"expected the name of a column (found {column!r})."))
        return False
    return True


def _text(data: dict[str, Any], key: str, expected: str, trail: Trail, found: Found) -> str | None:
    value = data.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    found.append(((*trail, key), f"expected {expected}."))
    return None
