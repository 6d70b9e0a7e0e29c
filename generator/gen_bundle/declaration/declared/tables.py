"""The tables of a declared competition: files, keys, rows and fields, with what is wrong with them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gen_bundle.declaration.model import CODE_KEYS
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, mappings, text_of

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".txt")
TYPES = ("string", "label", "labels", "number", "text", "texts", "tags", "spans")
ONLY_TABLE = "table"
LINE = "line"
DIALECT_KEYS = ("quoting", "header", "delimiter", "skip")
TABLE_KEYS = ("file", "key", "rows", "missing", *DIALECT_KEYS, "fields", "reference")
REFERENCE_KEYS = ("file", *DIALECT_KEYS, "columns", "keys", "cluster", "unit", "public")
FIELD_KEYS = ("field", "type", "values", "separator", "min", "max", "required", "meaning")


@dataclass
class DeclaredTable:
    """A table as bundle.yaml declares it, defaults put in.

    Attributes:
        id: its name; `table` where there is a single one.
        trail: its place in bundle.yaml.
        fields: name → the field as the scoring package gets it.
        public: gold columns that participants may know.
    """

    id: str
    trail: Trail
    file: str = ""
    dialect: dict[str, Any] = field(default_factory=dict)
    key: list[str] = field(default_factory=list)
    many: bool = False
    reject_missing: bool = True
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    gold: str = ""
    gold_dialect: dict[str, Any] = field(default_factory=dict)
    gold_keys: str | None = None
    cluster: str | None = None
    unit: str | None = None
    public: list[str] = field(default_factory=list)
    distinct: str | None = None

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
        keys = {"name": self.gold_keys, "quoting": self.gold_dialect["quoting"]} if self.gold_keys else None
        return {
            "id": self.id,
            "file": {"name": self.file, **self.dialect},
            "key": self.key,
            "many": self.many,
            "reject_missing": self.reject_missing,
            "fields": list(self.fields.values()),
            "gold": {"name": self.gold, **self.gold_dialect},
            "gold_keys": keys,
            "cluster": self.cluster,
            "unit": self.unit or self._unit,
            "distinct": self.distinct,
            "public": self.public,
        }


def read_tables(data: dict[str, Any], found: list[Broken]) -> dict[str, DeclaredTable]:
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
    submission.setdefault("file", ", ".join(table.file for table in tables.values()))
    submission.setdefault("fields", [field for table in several.values() for field in _rows_of_format(table)])
    files = [table.file for table in tables.values()]
    twice = [table for table in tables.values() if table.file and files.count(table.file) > 1]
    found += [
        ((*table.trail, "file"), f"{table.file!r} is the file of two tables. Expected one each.") for table in twice
    ]
    return tables


def _rows_of_format(table: Any) -> Iterator[Any]:
    """A table's fields for the format table of all, each after its file's name."""
    fields = table.get("fields") if isinstance(table, dict) else None
    for row in fields if isinstance(fields, list) else []:
        yield {**row, "field": f"{table.get('file')}: {row.get('field')}"} if isinstance(row, dict) else row


def _table(
    name: str, trail: Trail, data: dict[str, Any], gold_trail: Trail, gold: Any, found: list[Broken]
) -> DeclaredTable:
    table = DeclaredTable(name, trail)
    found += _unknown_keys(data, (*TABLE_KEYS, "tables", "kind", *CODE_KEYS), trail)
    table.file = _file(data, "file", trail, found)
    table.dialect = _dialect(data, table.file, trail, found)
    table.many = _choice(data, "rows", ("one", "many"), "one", trail, found) == "many"
    default = "empty" if table.many else "reject"
    table.reject_missing = _choice(data, "missing", ("reject", "empty"), default, trail, found) == "reject"
    table.key = names_of(data.get("key"), (*trail, "key"), found)
    table.fields = dict(_fields(data, table.key, trail, found))
    if data.get("header") == "none":
        table.dialect["columns"] = list(table.fields)
        lacking = [name for name in table.key if name not in table.fields]
        found += [((*trail, "key"), f"no field {name!r}, which has a place in the file's rows.") for name in lacking]
    _read_reference(table, gold, gold_trail, found)
    found += _shape(table, data)
    return table


def _read_reference(table: DeclaredTable, gold: Any, trail: Trail, found: list[Broken]) -> None:
    if not isinstance(gold, dict):
        found.append((trail, "is missing. Expected: {file: gold.csv}, the gold in each phase's folder."))
        return
    found += _unknown_keys(gold, REFERENCE_KEYS, trail)
    table.gold = _file(gold, "file", trail, found)
    table.gold_dialect = _dialect(gold, table.gold, trail, found)
    columns = names_of(gold.get("columns"), (*trail, "columns"), found) or list(table.fields)
    if gold.get("header") == "none":
        table.gold_dialect["columns"] = columns
        lacking = [name for name in table.key if name not in columns]
        found += [((*trail, "columns"), f"the key {name} is missing. Expected a place for it.") for name in lacking]
    elif gold.get("columns") is not None:
        found.append(((*trail, "columns"), "is for files without a header line. Expected header: none beside it."))
    if len(set(columns)) < len(columns):
        found.append(((*trail, "columns"), "names a column twice. Expected each once."))
    if gold.get("keys") is not None:
        table.gold_keys = _file(gold, "keys", trail, found)
        if not table.many:
            found.append(((*trail, "keys"), "is only for rows: many; the gold of rows: one holds every key."))
    cluster = gold.get("cluster")
    if cluster is not None and not isinstance(cluster, str):
        found.append(((*trail, "cluster"), "expected the name of a gold column."))
    table.cluster = cluster if isinstance(cluster, str) else None
    unit = gold.get("unit")
    if unit is not None and not (isinstance(unit, str) and unit.strip()):
        found.append(((*trail, "unit"), "expected what a unit of resampling is called, in the singular: review."))
    table.unit = unit if isinstance(unit, str) else None
    table.public = names_of(gold.get("public"), (*trail, "public"), found)


def _shape(table: DeclaredTable, data: dict[str, Any]) -> Iterator[Broken]:
    """What the file's format asks of key and fields."""
    lines = table.file.endswith(".txt") and "delimiter" not in table.dialect
    gold_lines = table.gold.endswith(".txt") and "delimiter" not in table.gold_dialect
    if gold_lines and not lines:
        yield table.trail, f"a gold file of lines ({table.gold}) has no keys. Expected a submission of lines, too."
    if lines and table.many:
        yield (*table.trail, "rows"), "a .txt file has one line for each row of the gold. Expected rows: one."
    if lines and len(table.answers) != 1:
        yield (*table.trail, "fields"), "a .txt file holds one field, the line. Expected one field that is not the key."
    if lines and gold_lines and not table.key:
        table.key = [LINE]
    elif not table.key and data.get("key") is None:
        yield (*table.trail, "key"), "is missing. Expected the field, or fields, by which rows are matched."
    for name in table.key:
        kind = table.fields.get(name, {}).get("type", "string")
        if kind not in ("string", "label", "number", "text"):
            yield (*table.trail, "key"), f"{name!r} is of type {kind}. Expected a key of type string."
    if not table.answers and table.fields and not table.many:
        yield (*table.trail, "fields"), "every field is a key. Expected a field that participants answer."


def _fields(data: Any, keys: list[str], trail: Trail, found: list[Broken]) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for here, item in mappings(data, "fields", trail):
        if not isinstance(item.get("field"), str):
            continue  # the model reports it
        found += _unknown_keys(item, FIELD_KEYS, here)
        name = item["field"]
        if name in seen:
            found.append(((*here, "field"), f"{name!r} occurs twice. Expected each field once."))
        seen.add(name)
        item.setdefault("type", "string")
        item.setdefault("required", True)
        item.setdefault("meaning", "What the row is about." if name in keys else "Your answer.")
        kind = _choice(item, "type", TYPES, "string", here, found)
        declared: dict[str, Any] = {"name": name, "type": kind, "required": item.get("required", True) is not False}
        for key, kinds in (
            ("values", ("label", "labels")),
            ("separator", ("labels",)),
            ("min", NUMBER),
            ("max", NUMBER),
        ):
            if item.get(key) is None:
                continue
            if kind not in kinds:
                found.append(((*here, key), f"is for fields of type {' or '.join(kinds)}; {name!r} is of type {kind}."))
            elif key == "values":
                declared[key] = _values(item[key], (*here, key), found)
            else:
                declared[key] = _bound(item[key], key, (*here, key), found)
        yield name, declared


NUMBER = ("number",)


def _bound(value: Any, key: str, trail: Trail, found: list[Broken]) -> Any:
    """A separator or a bound of a number."""
    if key == "separator":
        if not isinstance(value, str) or not value:
            found.append((trail, "expected a character that no label holds, such as '|' or ';'."))
    elif isinstance(value, bool) or not isinstance(value, int | float):
        found.append((trail, f"expected a number (found {value!r})."))
    return value


def _values(value: Any, trail: Trail, found: list[Broken]) -> list[str]:
    texts = [text_of(item) for item in value] if isinstance(value, list) else []
    if not texts or None in texts:
        found.append((trail, "expected a list of labels."))
    blank = [text for text in texts if text is not None and (text != text.strip() or not text)]
    found += [(trail, f"the label {text!r} is blank or has blanks around it.") for text in blank]
    if len(set(texts)) < len(texts):
        found.append((trail, "names a label twice. Expected each label once."))
    return [text for text in texts if text is not None]


def names_of(value: Any, trail: Trail, found: list[Broken], expected: str = "a name or a list of names") -> list[str]:
    """A name, or a list of names; what is wrong is appended to `found`."""
    if value is None:
        return []
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        found.append((trail, f"expected {expected} (found {value!r})."))
    return [name for name in names if isinstance(name, str)]


def _file(data: dict[str, Any], key: str, trail: Trail, found: list[Broken]) -> str:
    name = data.get(key)
    if not isinstance(name, str):
        found.append(((*trail, key), f"is missing. Expected a file name that ends with {', '.join(SUFFIXES)}."))
        return ""
    if "/" in name:
        found.append(((*trail, key), f"{name!r}: expected a file name without a folder."))
    if not name.endswith(SUFFIXES):
        found.append(((*trail, key), f"{name!r}: expected a file name that ends with {', '.join(SUFFIXES)}."))
    return name


def _dialect(data: dict[str, Any], file: str, trail: Trail, found: list[Broken]) -> dict[str, Any]:
    """How a file of cells or lines is read."""
    dialect: dict[str, Any] = {"quoting": _choice(data, "quoting", ("rfc4180", "none"), "rfc4180", trail, found)}
    delimiter, skip, header = data.get("delimiter"), data.get("skip"), data.get("header")
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
        found.append(((*trail, "delimiter"), f"expected one character, such as ';' (found {delimiter!r})."))
    elif delimiter is not None:
        dialect["delimiter"] = delimiter
    if skip is not None and (isinstance(skip, bool) or not isinstance(skip, int) or skip < 0):
        found.append(((*trail, "skip"), f"expected a number of lines (found {skip!r})."))
    elif skip:
        dialect["skip"] = skip
    if header not in (None, "none"):
        found.append(((*trail, "header"), f"unknown value {header!r}. Expected none, or no such key."))
    cells = file.endswith((".csv", ".tsv")) or (file.endswith(".txt") and delimiter is not None)
    given = [key for key in ("header", "delimiter") if data.get(key) is not None and file and not cells]
    found += [((*trail, key), f"is for tables of cells (.csv, .tsv); {file!r} has none.") for key in given]
    if skip and file.endswith(".json"):
        found.append(((*trail, "skip"), f"is for files of lines; {file!r} is read as a whole."))
    return dialect


def _choice(
    data: dict[str, Any], key: str, choices: tuple[str, ...], default: str, trail: Trail, found: list[Broken]
) -> str:
    value = data.get(key, default)
    if value in choices:
        return str(value)
    found.append(((*trail, key), f"unknown value {value!r}. {nearest(str(value), list(choices))}"))
    return default


def _unknown_keys(data: dict[str, Any], known: tuple[str, ...], trail: Trail) -> list[Broken]:
    return [((*trail, str(key)), f"unknown key. {nearest(str(key), list(known))}") for key in data if key not in known]
