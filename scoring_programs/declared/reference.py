"""The gold of a declared competition: each table's keys, the columns that metrics read, and those that group rows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from declared.answers import Answers, are_keys, key_of, named_key, read_answers
from declared.gold_fields import as_gold, fields_read, open_fields, tagged
from declared.plan import Plan, plans
from declared.rows import NamedText, Rows, column_names, joined, picker, read_files
from declared.tables import Key, Table, tables_of
from scoring_kit.base.fields import ABSENT, Field, FieldError, json_text
from scoring_kit.base.row_files import File
from scoring_kit.errors import Fault, OrganiserError, Problems, shown
from scoring_kit.json_reading import read_utf8

NO_FILE_NAME = ("/", "\\", ":")
EMPTY_IS_A_VALUE = ("text", "texts", "labels")
LEAST_MEGABYTES, MOST_MEGABYTES = 20.0, 500.0
LABELS_FILE = "labels.json"
"""Beside the gold: the labels of all phases, for fields of labels without declared values."""
Loaded = tuple[list[str], Rows, list[tuple[int, tuple[Any, ...]]]]
"""A file's column names, its rows as `read_rows` gives them, and these rows in a list."""


@dataclass(frozen=True)
class GoldTable:
    """One table's gold.

    Attributes:
        table: as declared.
        fields: the gold's typed columns.
        keys: all keys, in the order of the gold.
        answers: the values of `fields`.
        tagged: field of tags → the gold column whose tags it has as many as.
        labels: field of labels without declared values → the labels that may be answered; of tags or spans → the types
            that there are.
        groups: column → its text for each key, for `where`, `by` and `cluster`; "" for a key without.
        further: column → its text for each value of `answers`, for own functions.
        skipped: (column, type) → the positions of keys whose gold is empty there, so that metrics leave them out.
        size: of its file, in bytes.
    """

    table: Table
    fields: Sequence[Field]
    keys: Sequence[Key]
    answers: Answers
    tagged: Mapping[str, str]
    labels: Mapping[str, Sequence[str]]
    groups: Mapping[str, Sequence[str]]
    further: Mapping[str, Sequence[str]]
    skipped: Mapping[tuple[str, str], frozenset[int]]
    size: int = 0

    def field(self, column: str, kind: str) -> Field:
        """The typed column of a name; `kind` is the submission's type of field, of which gold `text` may be `texts`."""
        kinds = ("text", "texts") if kind == "text" else (kind,)
        return next(field for field in self.fields if field.name == column and field.type in kinds)


@dataclass(frozen=True)
class Reference:
    """The gold of a phase, by table id."""

    tables: Mapping[str, GoldTable]


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Reference:
    """Read the gold that the metrics of `tasks` need; raises OrganiserError with everything that is wrong."""
    problems = Problems()
    wanted = [plan for task in tasks for plan in plans(options)[task]]
    labels = _labels(folder)
    tables = {}
    for table in tables_of(options).values():
        own = [plan for plan in wanted if table.id in plan.all_tables]
        gold = read_gold(folder, table, own, labels.get(table.id, {}), problems) if own else None
        if gold is not None:
            tables[table.id] = gold
    problems.stop_organisers_if_any()
    return Reference(tables)


def manifest(reference: Reference, tasks: Sequence[str]) -> dict[str, Any]:
    """What participants know of each table: keys, the labels of fields without declared values, numbers of tags."""
    return {"tables": {name: expected(gold) for name, gold in reference.tables.items()}}


def expected(gold: GoldTable) -> dict[str, Any]:
    """What participants know of one table; of many rows for a key nobody knows which has as many tags as which."""
    tagged = {} if gold.table.many else gold.tagged
    items = {"items": _items(gold)} if gold.table.all_items else {}
    lengths = {}
    for field, column in tagged.items():
        lengths[field] = [None if tags is None else len(tags) for tags in gold.answers.columns[column, "tags"]]
    return {
        "keys": gold.keys,
        "values": {field: list(labels) for field, labels in gold.labels.items()},
        "lengths": lengths,
        "megabytes": most_megabytes(gold),
        **items,
    }


def _items(gold: GoldTable) -> list[list[str]]:
    """The items that the gold judges for each key, in an order that says nothing of them."""
    found: list[list[str]] = [[] for _ in gold.keys]
    items = gold.answers.columns[str(gold.table.distinct), "string"]
    for owner, item in zip(gold.answers.owners, items, strict=True):
        found[owner].append(item)
    return list(map(sorted, found))


def most_megabytes(gold: GoldTable) -> float:
    """How large a submitted file may be: far more than any sound one needs, and no more than is soon read.

    That is 50 times the gold, or what each key may take: 10 kB, and a ranking of a thousand rows 200 kB.
    """
    of_keys = len(gold.keys) * (0.2 if gold.table.many else 0.01)
    return round(min(MOST_MEGABYTES, max(LEAST_MEGABYTES, 50 * gold.size / 1e6, of_keys)), 1)


def read_gold(
    folder: Path, table: Table, wanted: Sequence[Plan], labels: Mapping[str, Sequence[str]], problems: Problems
) -> GoldTable | None:
    """Read one table's gold; what is wrong is recorded by file, line and column, never with a value."""
    report = problems.gold_fault
    before = problems.found
    loaded = _load(folder, table.gold, table, problems)
    listed = _load(folder, table.gold_keys, table, problems) if table.gold_keys else None
    if loaded is None:
        return None
    names, rows, values = loaded
    naming = listed or loaded
    _check_columns(table, wanted, names, naming[0], problems)
    if problems.found > before:  # a wrong header would make every row wrong
        return None
    keyed = _row_keys(table, naming, report)
    keys = _distinct_keys(table, [(name,) for name in naming[1].keys], keyed)
    if problems.found > before:
        return None
    _check_file_names(table, keys, problems)
    fields = fields_read(table, wanted, names, rows, values, labels)
    columns = [*table.key, *(field.name for field in fields)]
    pick = picker([names.index(name) for name in columns])
    typed = replace(rows, rows=((number, pick(row)) for number, row in values))
    positions = table.positions(keys)
    answers = read_answers(typed, table, positions, fields, problems, report)
    skipped = _skipped(loaded, table, fields, positions)
    if not keys:
        problems.error(table.gold.name, "has no rows", "a row for each item")
    groups = _groups(table, wanted, keys, naming, keyed, loaded, problems)
    further = _further(wanted, names, values, answers)
    found = _known_labels(open_fields(table, wanted, names), answers, labels)
    size = sum((folder / name).stat().st_size for name in gold_files(folder, table.gold))
    tags = tagged(table, wanted, names)
    return GoldTable(table, fields, keys, answers, tags, found, groups, further, skipped, size)


def _distinct_keys(table: Table, named: Sequence[Key], keyed: Sequence[Key | None]) -> list[Key]:
    """Every key once, in the spelling and the order in which they first occur."""
    written = dict.fromkeys(key for key in (*named, *keyed) if key is not None)
    if not table.folds_keys:
        return list(written)
    first: dict[Key, Key] = {}
    for key in written:
        first.setdefault(table.canonical(key), key)
    return list(first.values())


def _groups(
    table: Table,
    wanted: Sequence[Plan],
    keys: Sequence[Key],
    naming: Loaded,
    keyed: Sequence[Key | None],
    loaded: Loaded,
    problems: Problems,
) -> dict[str, list[str]]:
    """Each column that chooses, groups or clusters keys, as text, from the file with all keys or else the gold's."""
    columns = dict.fromkeys(column for plan in wanted for column in plan.grouping)
    if table.cluster:
        columns[table.cluster] = None
    groups = {}
    for column in columns:
        with_keys = (naming, keyed) if column in naming[0] else (loaded, _row_keys(table, loaded, lambda *_: None))
        groups[column] = _group(column, table, keys, *with_keys, problems)
    return groups


def _known_labels(
    fields: Mapping[str, Sequence[Field]], answers: Answers, labels: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Field without declared values → the labels, or types, of all phases, or else of this one."""
    found: dict[str, Sequence[str]] = {}
    for name, columns in fields.items():
        there: set[str] = set()
        for field in columns:
            there |= _labels_in(answers.columns[field.name, field.type], field.type)
        found[name] = labels.get(name) or sorted(there)
    return found


def gold_files(folder: Path, file: File) -> list[str]:
    """The names of a gold file, or of all that fit its pattern."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != LABELS_FILE)
    return file.matching(names)


def _load(folder: Path, file: File, table: Table, problems: Problems) -> Loaded | None:
    found = gold_files(folder, file)
    if not found:
        problems.error(file.name, "is missing", "the gold in a file of this name in the phase's folder")
        return None
    if file.name.startswith("*") and len(found) > 1:
        problems.error(file.name, f"{len(found)} files end so", "one of them alone in the phase's folder")
        return None
    texts = [read_utf8(folder / name, name, float("inf"), problems) for name in found]
    sources = [
        NamedText(name, text, file.value_in(name) or "")
        for name, text in zip(found, texts, strict=True)
        if text is not None
    ]
    return _read(sources, file, table, problems) if len(sources) == len(found) else None


def _read(sources: Sequence[NamedText], file: File, table: Table, problems: Problems) -> Loaded:
    """The rows with every field that the files have, by the fields' names, and every further column by its own."""
    fields = _fields_there(sources, file, table, problems)
    rows = joined(read_files(sources, file, fields, table, problems))
    if table.key == (file.named_by,):  # also those of files without rows
        rows = replace(rows, keys=[source.named for source in sources])
    values = list(rows.rows)
    names = [*table.key, *(field.name for field in fields)]
    return _without_absent(names, rows, values, len(table.key)) if rows.is_json and values else (names, rows, values)


def _fields_there(sources: Sequence[NamedText], file: File, table: Table, problems: Problems) -> list[Field]:
    """The answers that the files have, and their further columns as strings."""
    if file.suffix == ".txt":
        return list(table.answers)
    columns = list(dict.fromkeys(name for source in sources for name in column_names(source.text, file, table)))
    if file.suffix in (".csv", ".tsv"):
        _check_key_columns(sources[0].name, columns, file, table, problems)
    fields = [own for field in table.answers if (own := _in_columns(as_gold(field), columns, file)) is not None]
    taken = {field.name for field in table.fields}.union(table.key)
    return fields + [Field(column, "string") for column in columns if column not in taken]


def _without_absent(names: list[str], rows: Rows, values: list[tuple[int, tuple[Any, ...]]], keys: int) -> Loaded:
    """The columns that some record has: what a path of JSON leads to in none is not there."""
    kept = list(range(keys))
    for at in range(keys, len(names)):
        if any(row[at] is not ABSENT for _, row in values):
            kept.append(at)
    pick = picker(kept)
    return [names[at] for at in kept], rows, [(number, pick(row)) for number, row in values]


def _check_key_columns(name: str, columns: Sequence[str], file: File, table: Table, problems: Problems) -> None:
    for field in table.key_in(file):
        column = file.place(field).name
        if columns and column not in columns:
            what = f"the column {column} is missing{_near(column, columns)}"
            problems.error(f"{name}:1", what, "the columns of the key")


def _in_columns(field: Field, columns: Sequence[str], file: File) -> Field | None:
    """The field as a gold file has it: spread over columns, or in one; None where a table of cells has none of it."""
    place = file.place(field)
    if file.suffix not in (".csv", ".tsv") or all(column in columns for column in place.cells):
        return field
    return replace(field, columns=()) if place.name in columns else None


def _check_file_names(table: Table, keys: Sequence[Key], problems: Problems) -> None:
    """Where a key is a file's name, it must be one."""
    if not table.file.named_by:
        return
    at = table.key.index(table.file.named_by)
    for name in dict.fromkeys(key[at] for key in keys):
        if name.startswith(".") or any(mark in name for mark in NO_FILE_NAME):
            what = f"the {table.file.named_by} {shown(name)} cannot be a file's name"
            problems.error(table.gold.name, what, f"ids without {' '.join(NO_FILE_NAME)} and without a dot in front")


def _skipped(
    loaded: Loaded, table: Table, fields: Sequence[Field], positions: Mapping[Key, int]
) -> dict[tuple[str, str], frozenset[int]]:
    """(column, type) → the positions of the keys that have an empty gold value there; nothing where none may be."""
    if not table.skips_empty:
        return {}
    names, _, values = loaded
    width = len(table.key)
    found = {}
    for field in fields:
        at = names.index(field.name)
        empty: set[int] = set()
        for _, row in values:
            if _is_empty(row[at], field):
                position = positions.get(table.canonical(tuple(map(as_text, row[:width]))))
                if position is not None:  # an unknown key is reported elsewhere
                    empty.add(position)
        found[field.name, field.type] = frozenset(empty)
    return found


def _is_empty(raw: Any, field: Field) -> bool:
    """Whether a gold value is empty; of texts and sets an empty one is a value."""
    if raw is ABSENT or raw is None:
        return True
    if field.type in EMPTY_IS_A_VALUE:
        return False
    return not any(raw) if isinstance(raw, tuple) else raw == ""


def _row_keys(table: Table, loaded: Loaded, report: Fault) -> list[Key | None]:
    """The key of each row; None for one that is reported."""
    _, rows, values = loaded
    width = len(table.key)
    keys = [row[:width] for _, row in values]
    if are_keys(keys):
        return list(keys)
    return [key_of(row, table, rows, number, report) for number, row in values]


def _check_columns(
    table: Table, wanted: Sequence[Plan], names: Sequence[str], listed: Sequence[str], problems: Problems
) -> None:
    """Record the columns that metrics name and no file has."""
    needed = {column: plan.key for plan in wanted for column in plan.gold_needed}
    for column, key in needed.items():
        if column not in names:
            what = f"the column {column} is missing{_near(column, names)}"
            problems.error(f"{table.gold.name}:1", what, f"the gold of the column {key}")
    grouping = {column: plan.key for plan in wanted for column in plan.grouping}
    if table.cluster:
        grouping.setdefault(table.cluster, "cluster")
    for column, key in grouping.items():
        if column not in names and column not in listed:
            what = f"the column {column} is missing{_near(column, [*names, *listed])}"
            problems.error(f"{table.gold.name}:1", what, f"the groups of {key}")


def _near(column: str, names: Sequence[str]) -> str:
    """The column that may be meant, in words."""
    near = get_close_matches(column, names, n=1)
    return f"; there is {near[0]}" if near else ""


def _labels_in(values: Sequence[Any], kind: str) -> frozenset[str]:
    """The labels of a column of labels, or of sets of them, or the types of its tags or spans."""
    if kind == "label":
        return frozenset(filter(None, values))
    elements = [element for value in values for element in value or ()]
    if kind == "tags":
        return frozenset(tag[2:] for tag in elements if tag != "O")
    return frozenset(kind for span in elements for kind in span[2:]) if kind == "spans" else frozenset(elements)


def labels_of_gold(folder: Path, table: Table, wanted: Sequence[Plan]) -> dict[str, frozenset[str]]:
    """The labels, or types of spans, in a phase's gold, by field without declared values.

    What is wrong there its own phase reports.
    """
    if not open_fields(table, wanted, [field.name for field in table.answers]):
        return {}
    loaded = _load(folder, table.gold, table, Problems())
    names, rows, values = loaded or ([], None, [])
    found: dict[str, frozenset[str]] = {}
    for name, fields in open_fields(table, wanted, names).items():
        labels: set[str] = set()
        for field in fields:
            at = names.index(field.name)
            column = [_read_label(field, row[at], rows) for _, row in values]
            labels |= _labels_in(column, field.type)
        found[name] = frozenset(labels)
    return found


def _read_label(field: Field, value: Any, rows: Rows | None) -> Any:
    try:
        return field.of_json(value) if rows is not None and rows.is_json else field.of_cell(value)
    except FieldError:
        return None


def _group(
    column: str, table: Table, keys: Sequence[Key], loaded: Loaded, row_keys: Sequence[Key | None], problems: Problems
) -> list[str]:
    """The column's text for each key: the same in all rows of a key."""
    names, rows, values = loaded
    at = names.index(column)
    field = table.find(column)
    found: dict[Key, str] = {}
    for (number, row), key in zip(values, row_keys, strict=True):
        if key is None:
            continue
        text = as_text(row[at])
        if field is not None:
            text = field.canonical(text)
        if found.setdefault(table.canonical(key), text) != text:
            problems.error(
                rows.place(number), f"{column} differs between the rows of {named_key(key)}", "one value a key"
            )
    wanted = [table.canonical(key) for key in keys]
    missing = [key for key in wanted if key not in found]
    if missing:
        what = f"{column} is not known for {named_key(missing[0])}" + (
            f" and {len(missing) - 1} more" if missing[1:] else ""
        )
        problems.error(table.gold.name, what, "reference.keys with this column, since these keys have no gold row")
    return [found.get(key, "") for key in wanted]


def as_text(value: Any) -> str:
    """A gold value as text, as `where` compares it; of one that is spread over columns all its cells."""
    if isinstance(value, str):
        return value
    text = "" if value is ABSENT or value is None else json_text(value)
    return text if isinstance(text, str) else json.dumps(value)


def _further(
    wanted: Sequence[Plan], names: Sequence[str], values: Sequence[tuple[int, tuple[Any, ...]]], answers: Answers
) -> dict[str, list[str]]:
    """All columns as text, in the order of the answers' values; none where no metric is an own function."""
    columns: dict[str, list[str]] = {}
    if not any(plan.file for plan in wanted):
        return columns
    row_of = dict(values)
    for at, name in enumerate(names):
        columns[name] = [as_text(row_of[number][at]) if number >= 0 else "" for number in answers.numbers]
    return columns


def _labels(folder: Path) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """The labels of all phases: table id → column → labels; empty where the gold of one phase alone is known."""
    path = folder / LABELS_FILE
    if not path.is_file():
        return {}
    try:
        found: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise OrganiserError(f"{LABELS_FILE}: damaged. Build the bundle again.") from error
    return found


def gold_keys(folder: Path, table: Table) -> list[Key]:
    """The keys of a phase's gold; what is wrong there its own phase reports."""
    loaded = _load(folder, table.gold_keys or table.gold, table, Problems())
    return list(filter(None, _row_keys(table, loaded, lambda *_: None))) if loaded else []


def read_columns(folder: Path, table: Table) -> dict[str, list[Any]]:
    """Every column of a table's gold as it is in the files; what is wrong there its own phase reports."""
    loaded = _load(folder, table.gold, table, Problems())
    names, _, values = loaded or ([], None, [])
    columns = {}
    for at, name in enumerate(names):
        columns[name] = [row[at] for _, row in values]
    return columns
