"""The gold of a declared competition: each table's keys, the columns that metrics read, and those that group rows."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from declared.answers import Answers, NamedText, joined, key_of, named_key, near, read_answers, read_files
from declared.gold_digest import digest_of_rows
from declared.plan import Plan, as_gold, compared_with, open_fields, plans_of
from declared.records import Rows
from declared.rows import column_names
from declared.tables import Key, Table, tables_of
from scoring_kit.base.field_types import ABSENT, FILE_TYPES, Field, FieldError, json_text, ordered
from scoring_kit.base.row_files import File
from scoring_kit.base.submissions import is_junk
from scoring_kit.errors import IDS_SHOWN, Fault, OrganiserError, Problems, first_of, shown
from scoring_kit.json_reading import read_utf8

NO_FILE_NAME = ("/", "\\", ":")
MAY_BE_EMPTY = ("text", "texts", "labels")
"""Types of which an empty value is one; where empty gold is skipped it is none."""
LEAST_MEGABYTES, MOST_MEGABYTES = 20.0, 500.0
NO_VALUE = ("", "-", "?", "n/a", "na", "nan", "none", "null")
"""Cells that seem to say that there is no gold."""
LABELS_FILE = "labels.json"
"""Beside the gold: the labels of all phases, for fields of labels without declared values."""


@dataclass(frozen=True)
class Loaded:
    """The rows of a file of gold, or of several as one, in columns.

    Attributes:
        columns: name → the raw value in each row: of the key, of the answers by the fields' names, of further columns.
        numbers: of the rows.
        rows: what is known of them besides.
        size: of the files, in bytes.
    """

    columns: Mapping[str, Sequence[Any]]
    numbers: Sequence[int]
    rows: Rows
    size: int

    def values(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Return the values of each row in these columns."""
        if not names:
            return repeat((), len(self.numbers))
        return zip(*(self.columns[name] for name in names), strict=True)


@dataclass(frozen=True)
class GoldTable:
    """One table's gold.

    Attributes:
        table: as declared.
        fields: column's key → the typed columns of the gold that its metric reads.
        keys: all keys, in the order of the gold.
        answers: the values of all of them.
        tagged: field of tags, or of numbers of any length → the gold column, and its type, that it is as long as.
        labels: field of labels without declared values → the labels that may be answered; of tags or spans → the types
            that there are.
        groups: column → its text for each key, for `where`, `by` and `cluster`; "" for a key without.
        further: column → its text for each value of `answers`, for own functions.
        skipped: (column, type) → the positions of keys whose gold is empty there, so that metrics leave them out.
        digest: of what scoring reads of it.
        size: of its file, in bytes.
    """

    table: Table
    fields: Mapping[str, Sequence[Field]]
    keys: Sequence[Key]
    answers: Answers
    tagged: Mapping[str, tuple[str, str]]
    labels: Mapping[str, Sequence[str]]
    groups: Mapping[str, Sequence[str]]
    further: Mapping[str, Sequence[str]]
    skipped: Mapping[tuple[str, str], frozenset[int]]
    digest: str = ""
    size: int = 0


Reference = Mapping[str, GoldTable]
"""The gold of a phase, by table id."""


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Reference:
    """Read the gold that the metrics of `tasks` need; raises OrganiserError with everything that is wrong."""
    problems = Problems()
    labels: Mapping[str, Mapping[str, Sequence[str]]] = {}  # table id → field → those of all phases
    if (folder / LABELS_FILE).is_file():
        try:
            labels = json.loads((folder / LABELS_FILE).read_text(encoding="utf-8"))
        except ValueError as error:
            raise OrganiserError(f"{LABELS_FILE}: damaged. Build the bundle again.") from error
    tables = {}
    for table in tables_of(options).values():
        wanted = reading(table, plans_of(tasks, options))
        gold = read_gold(folder, table, wanted, labels.get(table.id, {}), problems) if wanted else None
        if gold is not None:
            tables[table.id] = gold
    problems.stop_organisers_if_any()
    return tables


def reading(table: Table, wanted: Sequence[Plan]) -> list[Plan]:
    """Return those of the plans that read a table."""
    return [plan for plan in wanted if table.id in plan.all_tables]


def manifest(reference: Reference, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what participants know of each table: keys, labels of fields without declared values, numbers of tags."""
    return {"tables": {name: expected(gold) for name, gold in reference.items()}}


def digest(reference: Reference) -> str:
    """Return the digest of what scoring reads of a phase's gold, for the signature."""
    return "".join([f"{name}\0{gold.digest}\n" for name, gold in reference.items()])


def expected(gold: GoldTable) -> dict[str, Any]:
    """Return what participants know of one table; of many rows for a key nobody knows which has how many tags."""
    found: dict[str, Any] = {"keys": gold.keys, "values": {}, "lengths": {}, "megabytes": most_megabytes(gold)}
    for name, labels in gold.labels.items():
        found["values"][name] = list(labels)
    if gold.table.all_items:
        items = gold.answers.by_key(gold.answers.columns[str(gold.table.distinct), "string"], len(gold.keys))
        found["items"] = [sorted(item) for item in items]  # an order that says nothing of them
    if gold.table.holds_files:
        from declared.gold_of_files import shapes_of

        found["shapes"] = shapes_of(gold.table, gold.answers)
    if not gold.table.many:
        for name, column in gold.tagged.items():
            lists = gold.answers.columns[column]
            found["lengths"][name] = [None if own is None else len(own) for own in lists]
    return found


def most_megabytes(gold: GoldTable) -> float:
    """Return how large a submitted file may be: far more than any sound one needs, and no more than is soon read.

    That is 50 times the gold, or what each key may take: 10 kB, and a ranking of a thousand rows 200 kB.
    """
    of_keys = len(gold.keys) * 0.01
    if gold.table.many:
        of_keys *= 20
    return round(min(MOST_MEGABYTES, max(LEAST_MEGABYTES, 50 * gold.size / 1e6, of_keys)), 1)


def read_gold(
    folder: Path, table: Table, wanted: Sequence[Plan], labels: Mapping[str, Sequence[str]], problems: Problems
) -> GoldTable | None:
    """Read one table's gold; what is wrong is recorded by file, line and column, never with a value."""
    before = problems.found
    loaded = _load(folder, table.gold, table, problems)
    listed = _load_keys(folder, table, problems)
    if loaded is None or (problems.found > before and not (loaded.rows.names or loaded.numbers)):
        return None  # what is said of a file that has no header, or cannot be read, says it all
    naming = listed or loaded
    _check_columns(table, wanted, loaded.columns, naming.columns, problems)
    if problems.found > before:  # a wrong header would make every row wrong
        return None
    listed_keys = by_row = _row_keys(table, naming, problems.gold_fault)
    keys = _distinct_keys(table, naming.rows.keys, listed_keys)
    if problems.found > before:
        return None
    _check_file_names(table, keys, problems)
    fields, tagged = _typed_fields(table, wanted, loaded, labels)
    typed = {(field.name, field.type): field for field in chain.from_iterable(fields.values())}
    names = [name for name, _ in typed]
    columns = [*table.key, *names]
    if table.skips_empty:
        loaded = _without_blanks(loaded, typed.values())
    rows = replace(loaded.rows, rows=zip(loaded.numbers, loaded.values(columns), strict=True))
    positions = table.positions(keys)
    answers = read_answers(rows, table, positions, list(typed.values()), problems, _gold_faults(problems, table, names))
    if not keys:
        problems.error(table.gold.name, "has no rows", "a row for each item")
    if listed:
        by_row = _row_keys(table, loaded, lambda *_: None)  # `read_answers` has reported what is wrong
    groups = {}
    for column in _grouping(table, wanted):
        if column in naming.columns:
            groups[column] = _group(column, table, keys, naming, listed_keys, problems)
        else:
            groups[column] = _group(column, table, keys, loaded, by_row, problems)
    found = _known_labels(open_fields(table, wanted, loaded.columns), answers, labels)
    further = _further(wanted, loaded, answers)
    skipped = _skipped(typed, loaded, by_row, table, positions)
    digests = [digest_of_rows(table, wanted, one.columns) for one in (loaded, listed) if one]
    parts = ascii([digests, sorted(naming.rows.keys), sorted(labels.items())])
    return GoldTable(table, fields, keys, answers, tagged, found, groups, further, skipped, parts, loaded.size)


def _load_keys(folder: Path, table: Table, problems: Problems) -> Loaded | None:
    """Load what says which keys there are, if not the gold's rows: a table of them, or the records that hold rows."""
    if table.gold.files:
        return None  # its rows have the columns of that table
    if table.gold_keys is not None:
        return _load(folder, table.gold_keys, table, problems)
    if table.gold.within is None:
        return None
    return _load(folder, table.gold, replace(table, many=False, fields=tuple(table.key_fields)), Problems())


def _gold_faults(problems: Problems, table: Table, names: Sequence[str]) -> Fault:
    """Return what takes faults of gold; the organisers are told which field it is, and what stands for no gold."""

    def report(where: str, rule: str, value: str, expected: str) -> None:
        named = [name for name in names if rule.startswith(f"{name} ")]
        expected += f" (field {max(named, key=len)})" if named else ""
        if value.strip().lower() in NO_VALUE:
            skip = "" if table.skips_empty else " and write `reference: {empty: skip}`"
            expected += f"; where there is no gold, leave the cell empty{skip}"
        problems.gold_fault(where, rule, value, expected)

    return report


def _typed_fields(
    table: Table, wanted: Sequence[Plan], loaded: Loaded, labels: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[Field]], dict[str, tuple[str, str]]]:
    """The typed columns that each metric reads, as the gold has them, and those that lists are as long as."""
    fields: dict[str, list[Field]] = {}
    tagged: dict[str, tuple[str, str]] = {}
    for plan in wanted:
        own = fields[plan.key] = []
        for name, field in compared_with(plan, table, loaded.columns):
            if field.type == "text" and _several(loaded, field.name, table.skips_empty):
                field = replace(field, type="texts")
            if field.type in ("label", "labels") and field.values is None and name in labels:
                field = replace(field, values=ordered(labels[name]))
            is_list = field.type == "numbers" and plan.module == "numbers" and not (field.length or field.columns)
            if field.type == "tags" or is_list:
                tagged[name] = field.name, field.type
            own.append(replace(field, required=field.required and not table.skips_empty))
    return fields, tagged


def _several(loaded: Loaded, column: str, skips_empty: bool) -> bool:
    """Whether a gold column of texts holds lists of references."""
    raw = loaded.columns[column]
    if skips_empty:
        raw = [one for one in raw if not _is_blank(one)]
    if loaded.rows.is_json:
        return list in map(type, raw)
    return bool(raw) and all(map(_is_list_of_texts, raw))


def _is_list_of_texts(cell: str) -> bool:
    if not cell.startswith("["):
        return False
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _distinct_keys(table: Table, named: Sequence[str], keyed: Sequence[Key | None]) -> list[Key]:
    """Every key once, in the spelling and the order in which they first occur."""
    first: dict[Key, Key] = {}
    for key in chain(zip(named), keyed):
        if key is not None:
            first.setdefault(table.canonical(key), key)
    return list(first.values())


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
    """Return the names of a gold file, or of all that fit its pattern, with `/` between folders.

    Raises:
        OrganiserError: a folder is called so.
    """
    found = folder.rglob("*") if any("/" in part.name for part in (file, *file.parts)) else folder.iterdir()
    named = {}
    for path in sorted(found):
        name = path.relative_to(folder).as_posix()
        if path.name != LABELS_FILE and not is_junk(name):
            named[name] = path
    names = file.matching(named)
    for name in names:
        if not named[name].is_file():
            raise OrganiserError(f"{name}: is a folder. Expected a file of gold, or no such folder.")
    return names


def _load(folder: Path, file: File, table: Table, problems: Problems) -> Loaded | None:
    if file.files:
        return _load_files(folder, file, table, problems)
    found = _sources(folder, file, problems)
    if found is None:
        return None
    size = sum((folder / source.name).stat().st_size for source in found)
    return _read(found, size, file, table, problems)


def _load_files(folder: Path, file: File, table: Table, problems: Problems) -> Loaded | None:
    """Load gold that is files, as rows with the columns of the table of all keys, where there is one."""
    before, listed = problems.found, None
    if table.gold_keys is not None:
        listed = _load(folder, table.gold_keys, table, problems)
        if listed is None or problems.found > before:
            return None
    from declared.gold_of_files import columns_of_files

    names = gold_files(folder, file)
    of_keys = listed.columns if listed else None
    columns = columns_of_files(folder, names, file, table, of_keys, problems)
    if not columns:
        return None
    size = sum((folder / name).stat().st_size for name in names)
    if listed:
        return Loaded(columns, listed.numbers, Rows((), True, iter(()), listed.rows.place), size)
    number = len(next(iter(columns.values())))
    return Loaded(columns, range(number), Rows((), True, iter(()), lambda _: file.name), size)


def _sources(folder: Path, file: File, problems: Problems) -> list[NamedText] | None:
    """Return the texts of a gold file, or of all that fit its pattern; None where one of them cannot be read."""
    found = gold_files(folder, file)
    if not found:
        problems.error(file.name, "is missing", "the gold in a file of this name in the phase's folder")
        return None
    if file.name.startswith("*") and len(found) > 1:
        problems.error(file.name, f"{len(found)} files end so", "one of them alone in the phase's folder")
        return None
    sources = []
    for name in found:
        text = read_utf8(folder / name, name, float("inf"), problems)
        if text is not None and file.has_cells and text.lstrip().startswith(("[{", '{"')):
            problems.error(
                name, "holds JSON, not a table", "a first line of column names, or a file that ends with .json"
            )
        elif text is not None:
            sources.append(NamedText(name, text, file.value_in(name) or ""))
    return sources if len(sources) == len(found) else None


def _read(sources: Sequence[NamedText], size: int, file: File, table: Table, problems: Problems) -> Loaded:
    fields = _fields_there(sources, file, table, problems)
    rows = joined(read_files(sources, file, fields, table, problems))
    if table.key == (file.named_by,):  # also those of files without rows
        rows = replace(rows, keys=[source.named for source in sources])
    numbers: list[int] = []
    values: list[tuple[Any, ...]] = []
    for number, row in rows.rows:
        numbers.append(number)
        values.append(row)
    names = [*table.key, *(field.name for field in fields)]
    by_column = list(zip(*values, strict=True)) or [()] * len(names)
    columns: dict[str, Sequence[Any]] = dict(zip(names, by_column, strict=True))
    for name in names[len(table.key) :]:
        if rows.is_json and values and columns[name].count(ABSENT) == len(values):
            del columns[name]  # what a path of JSON leads to in no record is not there
    return Loaded(columns, numbers, rows, size)


def _fields_there(sources: Sequence[NamedText], file: File, table: Table, problems: Problems) -> list[Field]:
    """The answers that the files have, and their further columns as strings."""
    if file.has_lines:
        return list(table.answers)
    columns: dict[str, None] = {}
    for source in sources:
        columns.update(dict.fromkeys(column_names(source.text, file, table)))
    is_table = file.has_cells
    if is_table:
        _check_key_columns(sources[0].name, columns, file, table, problems)
    fields = []
    for answer in table.answers:
        field = as_gold(answer)
        place = file.place(field)
        if not is_table or columns.keys() >= set(place.cells):
            fields.append(field)
        elif place.name in columns:  # of its own, instead of those that it is spread over in submissions
            fields.append(replace(field, columns=()))
    for column in columns:
        if column not in table.by_name and column not in table.key:
            fields.append(Field(column, "string"))
    return fields


def _check_key_columns(name: str, columns: Collection[str], file: File, table: Table, problems: Problems) -> None:
    for field in table.key_in(file):
        column = file.place(field).name
        if columns and column not in columns:
            first_line = f"; the first line holds {first_of(list(columns), IDS_SHOWN, shown)}"  # gold, without a header
            what = f"the column {column} is missing{near(column, columns) or problems.to_organisers(first_line)}"
            problems.error(f"{name}:1", what, f"the columns of the key{problems.to_organisers(f' (key {field.name})')}")


def _check_file_names(table: Table, keys: Sequence[Key], problems: Problems) -> None:
    """Where a key is a file's name, it must be one."""
    if not table.file.named_by:
        return
    at = table.key.index(table.file.named_by)
    for name in dict.fromkeys(key[at] for key in keys):
        if name.startswith(".") or not set(NO_FILE_NAME).isdisjoint(name):
            what = f"the {table.file.named_by} {shown(name)} cannot be a file's name"
            problems.error(table.gold.name, what, f"ids without {' '.join(NO_FILE_NAME)} and without a dot in front")


def _skipped(
    typed: Mapping[tuple[str, str], Field],
    loaded: Loaded,
    by_row: Sequence[Key | None],
    table: Table,
    positions: Mapping[Key, int],
) -> dict[tuple[str, str], frozenset[int]]:
    """(column, type) → the positions of the keys that have an empty gold value there; nothing where none may be."""
    found = {}
    for field in typed.values() if table.skips_empty else ():
        empty = set()
        for raw, key in zip(loaded.columns[field.name], by_row, strict=True):
            # of one that is spread no cell has anything
            is_empty = raw is ABSENT or raw in (None, "") or (isinstance(raw, tuple) and not any(raw))
            if is_empty and key is not None and table.canonical(key) in positions:
                empty.add(positions[table.canonical(key)])
        found[field.name, field.type] = frozenset(empty)
    return found


def _without_blanks(loaded: Loaded, fields: Iterable[Field]) -> Loaded:
    """The gold with nothing in place of texts and sets that are blank or have no element."""
    columns, nothing = dict(loaded.columns), None if loaded.rows.is_json else ""
    for field in fields:
        if field.type in MAY_BE_EMPTY:
            has_lists = field.type == "texts"
            columns[field.name] = [nothing if _is_blank(raw, has_lists) else raw for raw in columns[field.name]]
    return replace(loaded, columns=columns)


def _is_blank(raw: Any, has_lists: bool = True) -> bool:
    """Whether a value is blank, or a list of nothing, which in a cell is written so where it `has_lists`."""
    return raw == [] or (isinstance(raw, str) and (not raw.strip() or (has_lists and raw.strip() == "[]")))


def _row_keys(table: Table, loaded: Loaded, report: Fault) -> list[Key | None]:
    pairs = zip(loaded.values(table.key), loaded.numbers, strict=True)
    return [key_of(key, table, loaded.rows, number, report) for key, number in pairs]


def _grouping(table: Table, wanted: Sequence[Plan]) -> dict[str, str]:
    """Each column that chooses, groups or clusters keys → the leaderboard's column that asks for it, or `cluster`."""
    found: dict[str, str] = {}
    for plan in wanted:
        found.update(dict.fromkeys(plan.grouping, plan.key))
    if table.cluster:
        found.setdefault(table.cluster, "cluster")
    return found


def _check_columns(
    table: Table, wanted: Sequence[Plan], names: Collection[str], listed: Collection[str], problems: Problems
) -> None:
    needed: dict[str, str] = {}
    for plan in wanted:
        needed.update(dict.fromkeys(plan.gold_needed, plan.key))
    everywhere = [*names, *listed]
    for what, asked, there in (
        ("gold of the column", needed, names),
        ("groups of", _grouping(table, wanted), everywhere),
    ):
        for column, key in asked.items():
            if column not in there:
                missing = f"the column {column} is missing{near(column, there)}"
                place = problems.to_organisers(f" (column {key})")
                file = table.listing if table.gold.files else table.gold
                problems.error(f"{file.name}:1", missing, f"the {what} {key}{place}")


def _labels_in(values: Iterable[Any], kind: str) -> set[str]:
    """The labels of a column of labels, or of sets of them, or the types of its tags or spans."""
    if kind == "label":
        return set(values) - {None, ""}
    found: set[str] = set()
    for value in values:
        for element in value or ():
            if kind == "spans":
                found.update(element[2:])
            elif kind == "labels":
                found.add(element)
            elif element != "O":
                found.add(element[2:])
    return found


def labels_of_gold(folder: Path, table: Table, wanted: Sequence[Plan]) -> dict[str, set[str]]:
    """Return the labels, or types of spans, in a phase's gold, by field without declared values.

    What is wrong there its own phase reports.
    """
    found: dict[str, set[str]] = {}
    if not open_fields(table, wanted, table.by_name):
        return found
    loaded = _load(folder, table.gold, table, Problems())
    if loaded is None:
        return found
    for name, fields in open_fields(table, wanted, loaded.columns).items():
        found[name] = set()
        for field in fields:
            values = [_read_label(field, raw, is_json=loaded.rows.is_json) for raw in loaded.columns[field.name]]
            found[name] |= _labels_in(values, field.type)
    return found


def _read_label(field: Field, value: Any, *, is_json: bool) -> Any:
    try:
        return field.of_json(value) if is_json else field.of_cell(value)
    except FieldError:
        return None


def _group(
    column: str, table: Table, keys: Sequence[Key], loaded: Loaded, by_row: Sequence[Key | None], problems: Problems
) -> list[str]:
    """The column's text for each key: the same in all rows of a key."""
    field = table.by_name.get(column)
    found: dict[Key, str] = {}
    for number, value, key in zip(loaded.numbers, loaded.columns[column], by_row, strict=True):
        if key is None:
            continue
        text = as_text(value)
        if field is not None:
            text = field.canonical(text)
        if found.setdefault(table.canonical(key), text) != text:
            what = f"{column} differs between the rows of {named_key(key)}"
            problems.error(loaded.rows.place(number), what, "one value a key")
    texts, unknown = [], []
    for key in table.compared(keys):
        texts.append(found.get(key, ""))
        if key not in found:
            unknown.append(key)
    if unknown:
        what = f"{column} is not known for {first_of(unknown, 1, named_key)}"
        problems.error(table.gold.name, what, "reference.keys with this column, since these keys have no gold row")
    return texts


def as_text(value: Any) -> str:
    """Return a gold value as text, as `where` compares it; of one that is spread over columns all its cells."""
    if isinstance(value, str):
        return value
    if value is ABSENT or value is None:
        return ""
    text = json_text(value)
    return text if isinstance(text, str) else json.dumps(value)


def _further(wanted: Sequence[Plan], loaded: Loaded, answers: Answers) -> dict[str, list[str]]:
    """All columns as text, in the order of the answers' values; none where no metric is an own function."""
    columns: dict[str, list[str]] = {}
    if any(plan.file for plan in wanted):
        files = {name for name, kind in answers.columns if kind in FILE_TYPES}
        for name, column in loaded.columns.items():
            if name in files:
                continue
            value_of = dict(zip(loaded.numbers, column, strict=True))
            columns[name] = [as_text(value_of.get(number)) for number in answers.numbers]
    return columns


def gold_keys(folder: Path, table: Table) -> list[Key]:
    """Return the keys of a phase's gold; what is wrong there its own phase reports."""
    loaded = _load_keys(folder, table, Problems()) or _load(folder, table.gold, table, Problems())
    if loaded is None:
        return []
    return [key for key in _row_keys(table, loaded, lambda *_: None) if key is not None]


def gold_columns(folder: Path, table: Table) -> list[str]:
    """Return the names of a gold's columns but the key's, also of those that nothing reads; empty where it is wrong.

    A field that stands elsewhere, or is spread, has its own name alone.
    """
    file, problems = table.gold, Problems()
    if file.files:
        return [name for name in read_columns(folder, table) if name not in table.key]
    elsewhere: set[str] = set()
    for field in (*table.key_fields, *table.answers):
        place = file.place(field)
        elsewhere.update(place.cells)
        elsewhere.update((place.path or ())[:1])
    sources = _sources(folder, file, problems)
    fields = _fields_there(sources, file, table, problems) if sources else []
    return [field.name for field in fields if field.name in table.by_name or field.name not in elsewhere]


def read_columns(folder: Path, table: Table) -> Mapping[str, Sequence[Any]]:
    """Return every column of a table's gold as it is in the files; what is wrong there its own phase reports."""
    loaded = _load(folder, table.gold, table, Problems())
    return loaded.columns if loaded else {}
