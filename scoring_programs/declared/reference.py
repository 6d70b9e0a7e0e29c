"""The gold of a declared competition: each table's keys, the columns that metrics read, and those that group rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from declared.answers import Answers, key_of, named_key, read_answers
from declared.fields import ABSENT, Field, FieldError, json_text
from declared.gold_fields import fields_read, open_fields, tagged
from declared.plan import Plan, plans
from declared.rows import Rows, column_names, picker, read_rows, text_lines
from declared.tables import File, Key, Table, tables_of
from scoring_kit.errors import Fault, OrganiserError, Problems
from scoring_kit.json_reading import read_utf8

LEAST_MEGABYTES, MOST_MEGABYTES = 20.0, 500.0
LABELS_FILE = "labels.json"
"""Beside the gold: the labels of all phases, for fields of labels without declared values."""


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
        own = [plan for plan in wanted if plan.table == table.id]
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
    return {
        "keys": gold.keys,
        "values": {field: list(labels) for field, labels in gold.labels.items()},
        "lengths": {
            field: [len(tags) for tags in gold.answers.columns[column, "tags"]] for field, column in tagged.items()
        },
        "megabytes": most_megabytes(gold),
    }


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
    _check_columns(table, wanted, names, listed[0] if listed else (), problems)
    if problems.found > before:  # a wrong header would make every row wrong
        return None
    naming = listed or loaded
    keyed = _row_keys(table, naming, report)
    keys = list(dict.fromkeys([*((name,) for name in naming[1].keys), *filter(None, keyed)]))
    if problems.found > before:
        return None
    fields = fields_read(table, wanted, names, rows, values, labels)
    pick = picker([names.index(name) for name in [*table.key, *(field.name for field in fields)]])
    typed = replace(rows, rows=((number, pick(row)) for number, row in values))
    positions = {key: position for position, key in enumerate(keys)}
    answers = read_answers(typed, table, positions, fields, problems, report)
    if not keys:
        problems.error(table.gold.name, "has no rows", "a row for each item")
    grouping = dict.fromkeys(
        [*(c for plan in wanted for c in plan.grouping), *([table.cluster] if table.cluster else [])]
    )
    groups = {}
    for column in grouping:
        with_keys = (naming, keyed) if column in naming[0] else (loaded, _row_keys(table, loaded, lambda *_: None))
        groups[column] = _group(column, table, keys, *with_keys, problems)
    own = any(plan.file for plan in wanted)
    further = _further(names, values, answers) if own else {}
    found = {
        name: labels[name]
        if name in labels
        else sorted(frozenset().union(*(_labels_in(answers.columns[column], column[1]) for column in columns)))
        for name, columns in open_fields(table, wanted, names).items()
    }
    size = (folder / table.gold.name).stat().st_size
    return GoldTable(table, fields, keys, answers, tagged(table, wanted, names), found, groups, further, size)


Loaded = tuple[list[str], Rows, list[tuple[int, tuple[Any, ...]]]]
"""A file's column names, its rows as `read_rows` gives them, and these rows in a list."""


def _load(folder: Path, file: File, table: Table, problems: Problems) -> Loaded | None:
    path = folder / file.name
    if not path.is_file():
        problems.error(file.name, "is missing", "the gold in a file of this name in the phase's folder")
        return None
    text = read_utf8(path, file.name, float("inf"), problems)
    if text is None:
        return None
    if file.suffix == ".txt":
        (field,) = table.answers
        names = [*table.key, field.name]
        numbered = enumerate(text_lines(text)[file.skip :], start=1)
        lines = [(n + file.skip, (str(n), line)) for n, line in numbered]
        return names, Rows(names, False, iter(()), lambda number: f"{file.name}:{number}"), lines
    found = column_names(text, file, table.only_answer)
    names = [*table.key, *(name for name in found if name not in table.key)]
    lacking = [name for name in table.key if found and name not in found and file.suffix in (".csv", ".tsv")]
    for name in lacking:
        problems.error(f"{file.name}:1", f"the column {name} is missing{_near(name, found)}", "the columns of the key")
    if lacking:
        return names, Rows(names, False, iter(()), lambda number: f"{file.name}:{number}"), []
    rows = read_rows(text, file.name, file, names, table, problems)
    return names, rows, list(rows.rows)


def _row_keys(table: Table, loaded: Loaded, report: Fault) -> list[Key | None]:
    """The key of each row; None for one that is reported."""
    _, rows, values = loaded
    width = len(table.key)
    return [
        row[:width]
        if all(isinstance(part, str) and part and part == part.strip() for part in row[:width])
        else key_of(row, table, rows, number, report)
        for number, row in values
    ]


def _check_columns(
    table: Table, wanted: Sequence[Plan], names: Sequence[str], listed: Sequence[str], problems: Problems
) -> None:
    """Record the columns that metrics name and no file has."""
    needed = {column: plan.key for plan in wanted for column in plan.gold}
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
    found = {}
    for name, columns in open_fields(table, wanted, names).items():
        raw = [(Field(column, kind, separator=table.field(name).separator), column) for column, kind in columns]
        found[name] = frozenset().union(
            *(
                _labels_in([_read_label(field, row[names.index(column)], rows) for _, row in values], field.type)
                for field, column in raw
                if column in names
            )
        )
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
    found: dict[Key, str] = {}
    for (number, row), key in zip(values, row_keys, strict=True):
        if key is None:
            continue
        text = _plain(row[at])
        if found.setdefault(key, text) != text:
            problems.error(
                rows.place(number), f"{column} differs between the rows of {named_key(key)}", "one value a key"
            )
    missing = [key for key in keys if key not in found]
    if missing:
        what = f"{column} is not known for {named_key(missing[0])}" + (
            f" and {len(missing) - 1} more" if missing[1:] else ""
        )
        problems.error(table.gold.name, what, "reference.keys with this column, since these keys have no gold row")
    return [found.get(key, "") for key in keys]


def _plain(value: Any) -> str:
    """A gold value as text, as `where` compares it."""
    text = "" if value is ABSENT or value is None else json_text(value)
    return text if isinstance(text, str) else json.dumps(value)


def _further(
    names: Sequence[str], values: Sequence[tuple[int, tuple[Any, ...]]], answers: Answers
) -> dict[str, list[str]]:
    """All columns as text, in the order of the answers' values."""
    row_of = dict(values)
    return {
        name: [_plain(row_of[number][at]) if number >= 0 else "" for number in answers.numbers]
        for at, name in enumerate(names)
    }


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


def cells(folder: Path, table: Table) -> Iterator[tuple[Key, str, str]]:
    """(key, column, text) of every cell of the gold beside the keys; a list or set as its elements."""
    loaded = _load(folder, table.gold, table, Problems())
    if loaded is None:
        return
    names, _, values = loaded
    width = len(table.key)
    for _, row in values:
        key = tuple(map(_plain, row[:width]))
        for name, value in zip(names[width:], row[width:], strict=True):
            for one in value if isinstance(value, list) else [value]:
                yield key, name, _plain(one)
