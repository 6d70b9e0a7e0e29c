"""The tables of a declared competition: files, keys, rows and fields, with what is wrong with them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gen_bundle.declaration.model import CODE_KEYS
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, mappings, text_of
from scoring_kit.base.fields import TYPES, Field, FieldError

FORMATS = ("csv", "tsv", "jsonl", "json", "txt")
SUFFIXES = tuple(f".{name}" for name in FORMATS)
ONLY_TABLE = "table"
LINE = "line"
"""As a key: rows are matched by their number."""
FILE_KEYS = ("file", "format", "quoting", "header", "delimiter", "skip", "at")
TABLE_KEYS = ("key", "rows", "missing", *FILE_KEYS, "fields", "reference", "check")
REFERENCE_KEYS = (*FILE_KEYS, "columns", "fields", "keys", "empty", "cluster", "unit", "public")
PLACE_KEYS = ("column", "at")
FIELD_KEYS = ("field", "type", "required", "meaning", "default", *PLACE_KEYS)
VALUES_OF = {"ordinal": "in their order, the lowest first", "probabilities": "that have a probability"}
"""Types that need `values`, and which these are."""
KEY_TYPES = ("string", "label", "number", "text")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
Found = list[Broken]


@dataclass
class DeclaredFile:
    """A file of rows as bundle.yaml declares it.

    Attributes:
        name: its name, or a pattern: `*.csv`, or `{doc}.csv` with a file for each value of the key field `doc`.
        format: one of `FORMATS`.
        has_header: whether a table of cells names its columns.
        reading: how it is read, beside name and format, as `declared.tables.File` names it.
    """

    name: str = ""
    format: str = ""
    has_header: bool = True
    reading: dict[str, Any] = field(default_factory=dict)

    @property
    def has_cells(self) -> bool:
        """Whether it is a table of cells."""
        return self.format in ("csv", "tsv") or (self.format == "txt" and "delimiter" in self.reading)

    @property
    def has_lines(self) -> bool:
        """Whether each of its lines is one text."""
        return self.format == "txt" and not self.has_cells

    @property
    def named_by(self) -> str | None:
        """The field whose value is in the file's name."""
        match = PLACEHOLDER.search(self.name)
        return match[1] if match else None

    def as_option(self) -> dict[str, Any]:
        """The file as the scoring package gets it."""
        return {"name": self.name, "format": self.format, **self.reading}


@dataclass
class DeclaredTable:
    """A table as bundle.yaml declares it, defaults put in.

    Attributes:
        id: its name; `table` where there is a single one.
        trail: its place in bundle.yaml.
        by_line: whether row n answers row n of the gold.
        fields: name → the field as the scoring package gets it.
        public: gold columns that participants may know.
        skips_empty: whether a gold cell may be empty.
    """

    id: str
    trail: Trail
    sent: DeclaredFile = field(default_factory=DeclaredFile)
    key: list[str] = field(default_factory=list)
    by_line: bool = False
    many: bool = False
    reject_missing: bool = True
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    gold: DeclaredFile = field(default_factory=DeclaredFile)
    gold_keys: DeclaredFile | None = None
    skips_empty: bool = False
    cluster: str | None = None
    unit: str | None = None
    public: list[str] = field(default_factory=list)
    distinct: str | None = None
    all_items: bool = False
    check: str | None = None

    @property
    def answers(self) -> list[str]:
        """The names of the fields that are not part of the key."""
        return [name for name in self.fields if name not in self.key]

    @property
    def _unit(self) -> str:
        """What a unit of resampling is called where the declaration does not say it: `review` for `review_id`."""
        names = [self.cluster] if self.cluster else self.key
        word = re.sub(r"(^|[_\W])(ids?|keys?|index)$", "", names[0], flags=re.IGNORECASE) if len(names) == 1 else ""
        return " ".join(re.split(r"[_\W]+", word)).strip() or ("item" if self.many else "row")

    def as_option(self) -> dict[str, Any]:
        """The table as the scoring package gets it."""
        return {
            "id": self.id,
            "file": self.sent.as_option(),
            "key": self.key,
            "by_line": self.by_line,
            "many": self.many,
            "reject_missing": self.reject_missing,
            "fields": list(self.fields.values()),
            "gold": self.gold.as_option(),
            "gold_keys": self.gold_keys.as_option() if self.gold_keys else None,
            "skips_empty": self.skips_empty,
            "cluster": self.cluster,
            "unit": self.unit or self._unit,
            "distinct": self.distinct,
            "all_items": self.all_items,
            "public": self.public,
        }


def read_tables(data: dict[str, Any], found: Found) -> dict[str, DeclaredTable]:
    """The tables of `submission` and their `reference`, by id; what is wrong is appended to `found`."""
    submission = data.get("submission")
    if not isinstance(submission, dict):
        return {}  # the model reports it
    several = submission.get("tables")
    if several is None:
        table = _table(ONLY_TABLE, ("submission",), submission, ("reference",), data.get("reference"), found)
        return {ONLY_TABLE: table}
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
    submission.setdefault("file", ", ".join(dict.fromkeys(table.sent.name for table in tables.values())))
    submission.setdefault("fields", [field for table in several.values() for field in _rows_of_format(table)])
    return tables


def _rows_of_format(table: Any) -> Iterator[Any]:
    """A table's fields for the format table of all, each after its file's name."""
    fields = table.get("fields") if isinstance(table, dict) else None
    for row in fields if isinstance(fields, list) else []:
        yield {**row, "field": f"{table.get('file')}: {row.get('field')}"} if isinstance(row, dict) else row


def _table(name: str, trail: Trail, data: dict[str, Any], gold_trail: Trail, gold: Any, found: Found) -> DeclaredTable:
    table = DeclaredTable(name, trail)
    found += _unknown_keys(data, (*TABLE_KEYS, "tables", "kind", *CODE_KEYS), trail)
    table.sent = _file(data, "file", trail, found)
    table.many = _choice(data, "rows", ("one", "many"), "one", trail, found) == "many"
    default = "empty" if table.many else "reject"
    table.reject_missing = _choice(data, "missing", ("reject", "empty"), default, trail, found) == "reject"
    table.check = _text(data, "check", "a function beside bundle.yaml: metrics.py:check", trail, found)
    table.key = names_of(data.get("key"), (*trail, "key"), found)
    places = {item.get("field"): item for _, item in mappings(data, "fields", trail)}
    table.by_line = table.key == [LINE] and LINE not in places
    table.fields = dict(_fields(data, table.key, trail, found))
    _place_fields(table, table.sent, list(table.fields), places, trail, found)
    if isinstance(gold, dict):
        _read_reference(table, gold, places, gold_trail, found)
    else:
        found.append((gold_trail, "is missing. Expected: {file: gold.csv}, the gold in each phase's folder."))
    if table.sent.has_lines and table.gold.has_lines and not table.key:
        table.key, table.by_line = [LINE], True
    found += _shape(table, data, gold_trail)
    return table


def _read_reference(
    table: DeclaredTable, data: dict[str, Any], places: Mapping[Any, dict[str, Any]], trail: Trail, found: Found
) -> None:
    found += _unknown_keys(data, REFERENCE_KEYS, trail)
    table.gold = _file(data, "file", trail, found)
    table.skips_empty = _choice(data, "empty", ("error", "skip"), "error", trail, found) == "skip"
    columns = names_of(data.get("columns"), (*trail, "columns"), found)
    if columns and data.get("header") != "none":
        found.append(((*trail, "columns"), "is for files without a header line. Expected header: none beside it."))
    renamed = _renamed(data.get("fields"), table, (*trail, "fields"), found)
    _place_fields(table, table.gold, columns or list(table.fields), {**places, **renamed}, trail, found)
    if data.get("keys") is not None:
        table.gold_keys = _file({"file": data["keys"], "quoting": data.get("quoting")}, "file", trail, found, "keys")
        table.gold_keys.reading["names"] = table.gold.reading.get("names", {})
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
        found += _unknown_keys(one, PLACE_KEYS, (*trail, str(name)))
        _check_place(one, table.gold, (*trail, str(name)), found)
    return value


def _place_fields(
    table: DeclaredTable,
    file: DeclaredFile,
    columns: list[str],
    places: Mapping[Any, dict[str, Any]],
    trail: Trail,
    found: Found,
) -> None:
    """Note where a file has each field: by its place without a header, else by a column's name or a path in JSON."""
    if not file.has_header:
        _place_columns(table, file, columns, trail, found)
        return
    names: dict[str, str] = {}
    paths: dict[str, str] = {}
    for name, one in places.items():
        if one.get("at") is not None and file.format in ("json", "jsonl"):
            paths[name] = str(one["at"])
        elif one.get("column"):
            names[name] = one["column"]
    if names:
        file.reading["names"] = names
    if paths:
        file.reading["paths"] = paths


def _place_columns(table: DeclaredTable, file: DeclaredFile, columns: list[str], trail: Trail, found: Found) -> None:
    """The columns of a file without a header line: a field that is spread takes as many places."""
    expanded: list[str] = []
    for name in columns:
        if name != file.named_by:
            expanded += table.fields.get(name, {}).get("columns") or [name]
    file.reading["columns"] = expanded
    lacking = [] if table.by_line else [name for name in table.key if name not in (*expanded, file.named_by)]
    for name in lacking:
        if file is table.sent:
            found.append(((*trail, "key"), f"no field {name!r}, which has a place in the file's rows."))
        else:
            found.append(((*trail, "columns"), f"the key {name} is missing. Expected a place for it."))
    if len(set(expanded)) < len(expanded):
        found.append(((*trail, "columns"), "names a column twice. Expected each once."))


def _shape(table: DeclaredTable, data: dict[str, Any], gold_trail: Trail) -> Iterator[Broken]:
    """What the file's format asks of key and fields."""
    sent, gold = table.sent, table.gold
    if gold.has_lines and not (sent.has_lines or table.by_line or table.key == [gold.named_by]):
        yield table.trail, f"a gold file of lines ({gold.name}) has no keys. Expected a submission of lines, too."
    if table.many and (sent.has_lines or table.by_line):
        what = "a .txt file has one line" if sent.has_lines else "key: line asks for one row"
        yield (*table.trail, "rows"), f"{what} for each row of the gold. Expected rows: one."
    if (sent.has_lines or gold.has_lines) and len(table.answers) != 1:
        yield (*table.trail, "fields"), "a .txt file holds one field, the line. Expected one field that is not the key."
    yield from _key_faults(table, is_given=data.get("key") is not None)
    yield from _pattern_faults(table, sent, (*table.trail, "file"))
    yield from _pattern_faults(table, gold, (*gold_trail, "file"))


def _key_faults(table: DeclaredTable, *, is_given: bool) -> Iterator[Broken]:
    if not table.answers and table.fields and not table.many:
        yield (*table.trail, "fields"), "every field is a key. Expected a field that participants answer."
    if not table.key and not is_given:
        yield (*table.trail, "key"), "is missing. Expected the field, or fields, by which rows are matched."
    for name in table.key:
        kind = table.fields.get(name, {}).get("type", "string")
        if kind not in KEY_TYPES:
            yield (*table.trail, "key"), f"{name!r} is of type {kind}. Expected a key of type string."


def _pattern_faults(table: DeclaredTable, file: DeclaredFile, trail: Trail) -> Iterator[Broken]:
    part = file.named_by
    if part is not None and table.by_line:
        yield trail, f"key: line goes with a single file. Expected a name without {{{part}}}."
    elif part is not None and part not in table.key:
        yield trail, f"{{{part}}} is no field of the key. {nearest(part, table.key)}"


def _fields(data: Any, keys: list[str], trail: Trail, found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for here, item in mappings(data, "fields", trail):
        name = item.get("field")
        if not isinstance(name, str):
            continue  # the model reports it
        if name in seen:
            found.append(((*here, "field"), f"{name!r} occurs twice. Expected each field once."))
        seen.add(name)
        item.setdefault("type", "string")
        item.setdefault("required", True)
        meaning = "What the row is about." if name in keys else "Your answer."
        item.setdefault("meaning", meaning)
        kind = _choice(item, "type", tuple(TYPES), "string", here, found)
        declared: dict[str, Any] = {"name": name, "type": kind, "required": item.get("required", True) is not False}
        found += _unknown_keys(item, (*FIELD_KEYS, *OF_TYPE), here)
        for key, read in OF_TYPE.items():
            if item.get(key) is None:
                continue
            if key in TYPES[kind].keys:
                declared[key] = read(item[key], (*here, key), found)
            else:
                kinds = ", ".join(one for one in TYPES if key in TYPES[one].keys)
                kinds = " or ".join(kinds.rsplit(", ", 1))
                found.append(((*here, key), f"is for fields of type {kinds}; {name!r} is of type {kind}."))
        if item.get("default") is not None:
            declared["default"] = item["default"]
        for key, text in list(_field_faults(declared, name in keys)):
            found.append(((*here, key), text))
            declared.pop("default", None)  # it may be what is wrong
        yield name, declared


def _field_faults(declared: dict[str, Any], is_key: bool) -> Iterator[tuple[str, str]]:
    """(key, what is wrong) of a field as a whole."""
    kind, values, columns = declared["type"], declared.get("values") or [], declared.get("columns")
    if kind in VALUES_OF and not values:
        yield "type", f"values is missing. Expected the labels, {VALUES_OF[kind]}."
        return
    if kind == "probabilities":
        columns = declared.setdefault("columns", values)
    if kind == "labels" and columns:
        values = declared.setdefault("values", columns)
    if columns and len(columns) != len(values):
        what = f"names {len(columns)} columns for {len(values)} values. Expected one each, in their order."
        yield "columns", what
        return
    yield from _spelling_faults(Field.from_dict({**declared, "default": None}))
    if "default" not in declared:
        return
    if is_key:
        yield "default", "is for answers; a key has none."
        return
    field = Field.from_dict(declared)
    try:
        _ = field.empty
    except FieldError as error:
        yield "default", f"{error.rule}. Expected {error.expected.replace(field.expected, field.expected_in_json)}."


def _spelling_faults(field: Field) -> Iterator[tuple[str, str]]:
    """What is wrong with labels that count as the same, and with what aliases stand for."""
    values = list(field.values or ())
    folded = set(map(field.folded, values))
    if len(folded) < len(values):
        yield "values", "names a label twice, but for its case. Expected each label once."
    if not values or (field.type == "labels" and field.columns):
        return  # then aliases are of cells
    for alias, text in field.aliases.items():
        if field.folded(text) not in folded:
            yield "aliases", f"{alias!r} stands for {text!r}, which is none of the values. {nearest(text, values)}"


def _number(value: Any, trail: Trail, found: Found) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        found.append((trail, f"expected a number (found {value!r})."))
        return None
    return value


def _separator(value: Any, trail: Trail, found: Found) -> str:
    if isinstance(value, str) and value:
        return value
    found.append((trail, "expected a character that no label holds, such as '|' or ';'."))
    return "|"


def _values(value: Any, trail: Trail, found: Found) -> list[str]:
    texts = [text_of(item) for item in value] if isinstance(value, list) else []
    if not texts or None in texts:
        found.append((trail, "expected a list of labels."))
    labels = [text for text in texts if text is not None]
    for text in labels:
        if text != text.strip() or not text:
            found.append((trail, f"the label {text!r} is blank or has blanks around it."))
    if len(set(labels)) < len(labels):
        found.append((trail, "names a label twice. Expected each label once."))
    return list(dict.fromkeys(labels))


def _columns(value: Any, trail: Trail, found: Found) -> list[str]:
    names = names_of(value, trail, found, "a list of columns")
    if len(set(names)) < len(names):
        found.append((trail, "names a column twice. Expected each once."))
    return names


def _cell(value: Any, trail: Trail, found: Found) -> str:
    text = text_of(value)
    if text is None:
        found.append((trail, f"expected the text of a cell (found {value!r})."))
    return text or ""


def _truth(value: Any, trail: Trail, found: Found) -> bool:
    if not isinstance(value, bool):
        found.append((trail, f"expected true or false (found {value!r})."))
    return value is True


def _length(value: Any, trail: Trail, found: Found) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        found.append((trail, f"expected a whole number from 1 (found {value!r})."))
        return None
    return value


def _case(value: Any, trail: Trail, found: Found) -> str:
    if value != "ignore":
        found.append((trail, f"unknown value {value!r}. Expected ignore, or no such key."))
    return "ignore" if value == "ignore" else "exact"


def _aliases(value: Any, trail: Trail, found: Found) -> dict[str, str]:
    items = list(value.items()) if isinstance(value, dict) else []
    texts = {text_of(alias): text_of(text) for alias, text in items}
    if not items or None in texts or None in texts.values():
        found.append((trail, "expected a mapping of spellings to values, such as {ok: OK}."))
    return {alias: text for alias, text in texts.items() if alias is not None and text is not None}


OF_TYPE: Mapping[str, Callable[[Any, Trail, Found], Any]] = {
    "values": _values,
    "separator": _separator,
    "min": _number,
    "max": _number,
    "columns": _columns,
    "positive": _cell,
    "negative": _cell,
    "normalise": _truth,
    "length": _length,
    "case": _case,
    "aliases": _aliases,
}
"""Key of a field of some types → what reads its value; a type says which keys it takes (`FieldType.keys`)."""


def names_of(value: Any, trail: Trail, found: Found, expected: str = "a name or a list of names") -> list[str]:
    """A name, or a list of names; what is wrong is appended to `found`."""
    if value is None:
        return []
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        found.append((trail, f"expected {expected} (found {value!r})."))
    return [name for name in names if isinstance(name, str)]


def _file(data: dict[str, Any], key: str, trail: Trail, found: Found, named: str = "") -> DeclaredFile:
    """A file and how it is read; `named` is the key in bundle.yaml where it is another."""
    here = (*trail, named or key)
    file = DeclaredFile()
    ends = f"a file name that ends with {', '.join(SUFFIXES)}"
    name = data.get(key)
    if not isinstance(name, str):
        found.append((here, f"is missing. Expected {ends}."))
        return file
    file.name = name
    file.format = name.rpartition(".")[2].lower()
    if "/" in name:
        found.append((here, f"{name!r}: expected a file name without a folder."))
    if data.get("format") is not None:
        file.format = _choice(data, "format", FORMATS, "csv", trail, found)
    elif not name.endswith(SUFFIXES):
        found.append((here, f"{name!r}: expected {ends}."))
        file.format = ""
    if "*" in name[1:] or name == "*":
        found.append((here, f"{name!r}: expected a * at the beginning alone, as in *.csv."))
    if len(PLACEHOLDER.findall(name)) > 1 or ("{" in name and "*" in name):
        found.append((here, f"{name!r}: expected one placeholder, as in {{doc}}.csv."))
    _read_dialect(data, file, trail, found)
    return file


OF_FORMATS = (
    ("header", ("cells",), "is for tables of cells (.csv, .tsv); {!r} has none."),
    ("delimiter", ("cells",), "is for tables of cells (.csv, .tsv); {!r} has none."),
    ("skip", ("cells", "txt", "jsonl"), "is for files of lines; {!r} is read as a whole."),
    ("at", ("json",), "is the place of the records in a .json file; {!r} is none."),
)
"""Key of a file → the formats that it is for, and what is said of others."""


def _read_dialect(data: dict[str, Any], file: DeclaredFile, trail: Trail, found: Found) -> None:
    """How a file of cells or lines is read, and where its records are."""
    quoting = _choice(data, "quoting", ("rfc4180", "none"), "rfc4180", trail, found)
    file.has_header = data.get("header") != "none"
    if data.get("header") not in (None, "none"):
        found.append(((*trail, "header"), f"unknown value {data['header']!r}. Expected none, or no such key."))
    delimiter = _delimiter(data.get("delimiter"), (*trail, "delimiter"), found)
    skip = _lines(data.get("skip"), (*trail, "skip"), found)
    reading = {"quoting": quoting, "delimiter": delimiter, "skip": skip}
    file.reading = {key: value for key, value in reading.items() if value}
    if _check_place(data, file, trail, found) and data.get("at") is not None:
        file.reading["at"] = str(data["at"])
    for here, item in mappings(data, "fields", trail):
        _check_place(item, file, here, found)
    kind = "cells" if file.has_cells else file.format
    for key, kinds, what in OF_FORMATS:
        if data.get(key) and kind and kind not in kinds:
            found.append(((*trail, key), what.format(file.name)))


def _delimiter(value: Any, trail: Trail, found: Found) -> str | None:
    if value is None or (isinstance(value, str) and len(value) == 1 and value not in '"\r\n'):
        return value
    found.append((trail, f"expected one character, such as ';' (found {value!r})."))
    return None


def _lines(value: Any, trail: Trail, found: Found) -> int:
    """How many lines at the beginning are not read."""
    if type(value) is int and value >= 0:
        return value
    if value is False or value not in (None, 0):
        found.append((trail, f"expected a number of lines (found {value!r})."))
    return 0


def _check_place(data: dict[str, Any], file: DeclaredFile, trail: Trail, found: Found) -> bool:
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


def _choice(data: dict[str, Any], key: str, choices: tuple[str, ...], default: str, trail: Trail, found: Found) -> str:
    value = data.get(key)
    if value is None:
        return default
    if value in choices:
        return str(value)
    found.append(((*trail, key), f"unknown value {value!r}. {nearest(str(value), list(choices))}"))
    return default


def _unknown_keys(data: dict[str, Any], known: tuple[str, ...], trail: Trail) -> list[Broken]:
    return [((*trail, str(key)), f"unknown key. {nearest(str(key), list(known))}") for key in data if key not in known]
