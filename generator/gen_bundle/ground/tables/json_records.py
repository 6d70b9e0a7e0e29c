"""Reads table in JSON: records, one a line or in a list, below keys, within each other, or by columns."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.tables import doccano, label_studio, prodigy
from gen_bundle.ground.tables.forms import is_answer, start_and_end
from gen_bundle.ground.tables.table import LINE_END, NUMBERED, FileTable
from gen_bundle.ground.tables.text_file import TextFile

ANSWER = "answer"
Read = Callable[[str, str, Sequence[Any], Sequence[int]], FileTable]
TOOLS: Sequence[tuple[Callable[[Mapping[str, Any]], bool], Read]] = (
    (label_studio.is_export, label_studio.read_records),
    (prodigy.is_export, prodigy.read_records),
    (doccano.is_export, doccano.read_records),
)
MOST_GROUPS = 5
DEEPEST = 4
MOST_NAMES = 50
"""Objects with more names are no fields."""


def _is_json(file: TextFile) -> bool:
    if file.suffix in (".json", ".jsonl"):
        return True
    begins = file.text.lstrip()[0] in "[{"
    return begins and (_is_valid(file.text) or all(_is_valid(line) for line in file.beginning))


def _is_valid(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _has_lines(file: TextFile) -> bool:
    """Whether each line is a value, and not all of them together are one."""
    first = file.beginning[0]
    if not _is_valid(first):
        return file.suffix == ".jsonl" and first.strip() not in ("[", "{")
    return len(file.beginning) > 1 or (file.suffix == ".jsonl" and first.lstrip()[0] == "{")


def read_json(file: TextFile) -> FileTable | None:
    """The rows of JSON: a list or an object, or one of either a line; None for what is none.

    Raises:
        UserError: everything that is wrong with it.
    """
    if not _is_json(file):
        return None
    notes: list[str] = []
    suffix, values, numbers = _values(file, notes)
    if exported := _export(file.name, suffix, values, numbers):
        return exported
    table = FileTable(file.name, suffix, {}, numbers)
    table, records = _records(values, table, notes)
    problems = []
    for at, record in enumerate(records):
        if not _is_unicode(record):
            what = "holds half of a surrogate pair (\\ud800 to \\udfff)"
            problems.append(f"{table.place(at)}: {what}. Expected whole characters.")
    names = dict.fromkeys(itertools.chain.from_iterable(records))
    columns = {}
    what = "is empty, or has blanks around it or a line break in it"
    for name in names:
        columns[name] = [record.get(name) for record in records]
        if not name or name != name.strip() or LINE_END.search(name):
            problems.append(f"{file.name}: the name {name!r} {what}. Expected a plain name.")
    raise_all(problems)
    return replace(table, columns=columns, notes=tuple(notes))


def _values(file: TextFile, notes: list[str]) -> tuple[str, list[Any], list[int]]:
    """Return the format, the items, and the line or place of each."""
    problems: list[str] = []
    numbers: list[int] = []
    values: list[Any] = []
    if not _has_lines(file):
        value = _parsed(file.text, file.name, problems)
        raise_all(problems)
        values = _items(_below(value, file), file, notes)
        return ".json", values, list(range(len(values)))
    for number, line in enumerate(file.text.split("\n"), 1):
        if line.strip():
            numbers.append(number)
            values.append(_parsed(line, f"{file.name}:{number}", problems))
    raise_all(problems)
    return ".jsonl", values, numbers


def _export(name: str, suffix: str, values: Sequence[Any], numbers: Sequence[int]) -> FileTable | None:
    """Return the table of what an annotation tool exported; None for any other records."""
    if not values or not all(isinstance(value, dict) for value in values):
        return None
    for is_export, read_records in TOOLS:
        if is_export(values[0]):
            try:
                return read_records(name, suffix, values, numbers)
            except (LookupError, TypeError, ValueError, AttributeError):
                return None  # records that only look so are read as any others
    return None


def _below(value: Any, file: TextFile) -> Any:
    """Return what `at` leads to."""
    for step in file.at.split("."):
        if not step:
            continue
        names = list(value) if isinstance(value, dict) else []
        if step not in names:
            raise UserError(
                f"--at {file.at}: {file.name} has no {step!r} there. Expected one of {', '.join(names[:MOST_NAMES])}."
            )
        value = value[step]
    return value


def _items(value: Any, file: TextFile, notes: list[str]) -> list[Any]:
    """The items of a list or object; `notes` gets what is to be said of it."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise UserError(f"{file.name}: is neither a list nor an object. Expected a list of objects, one for each row.")
    if by_place := _by_columns(value):
        notes.append(f"{file.name}: holds columns; each place of them is a row")
        return by_place
    lists = [name for name, item in value.items() if _has_records(item)]
    objects = sum(isinstance(item, dict) for item in value.values())
    if len(lists) == 1 and not objects:
        notes.append(f"{file.name}: the records are those of {lists[0]!r}")
        return list(value[lists[0]])
    _refuse_several(value, lists, file)
    if 0 < objects < len(value):
        expected = "objects alone, or plain answers alone; --at NAME leads to one of them"
        raise UserError(
            f"{file.name}: is an object of which some values are objects, and others not. Expected {expected}."
        )
    return list(_keyed(value))


def _refuse_several(value: dict[str, Any], lists: list[str], file: TextFile) -> None:
    """Raise UserError where there are several tables: lists of records, or objects with no name in common."""
    if not 1 < len(lists) == len(value):
        lists = _groups(value)
    if lists:
        above = file.at and f"{file.at}."
        options = ", ".join(f"--at {above}{name}" for name in lists[:MOST_GROUPS])
        raise UserError(f"{file.name}: holds {len(lists)} tables. Expected one of them: {options}.")


def _has_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _groups(value: dict[str, Any]) -> list[str]:
    """The names of objects that have no name in common, and only plain values: tables of answers by their keys."""
    seen: Counter[str] = Counter()
    for item in value.values():
        if not isinstance(item, dict) or any(type(one) in (dict, list) for one in item.values()):
            return []
        seen.update(list(item))
    if not seen or max(seen.values()) > 1 or seen.total() <= len(value):
        return []
    return list(value)


def _by_columns(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of an object of columns, each a list of as many plain values, or numbered from 0 as by pandas."""
    columns: dict[str, list[Any]] = {}
    for name, item in value.items():
        if isinstance(item, dict) and list(item) == [str(at) for at in range(len(item))]:
            item = list(item.values())
        if not isinstance(item, list) or _has_records(item):
            return []
        columns[name] = item
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or min(lengths) <= len(columns) or len(columns) < 2:
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _keyed(value: dict[str, Any]) -> Iterator[Any]:
    """The record behind each key, with it."""
    for key, item in value.items():
        if not isinstance(item, dict):
            item = {ANSWER: item}
        yield {NUMBERED: key, **item}


def _records(values: list[Any], table: FileTable, notes: list[str]) -> tuple[FileTable, list[Any]]:
    """Return the items as flat objects, each with its number; raises UserError for those that are none."""
    kinds = {type(value) for value in values}
    if kinds and dict not in kinds and list not in kinds:
        notes.append(f"{table.file}: holds plain values, which are numbered from 1")
        return table, [{NUMBERED: str(number), ANSWER: value} for number, value in enumerate(values, start=1)]
    problems = []
    for at, value in enumerate(values):
        if not isinstance(value, dict):
            problems.append(f"{table.place(at)}: is not an object. Expected {{name: value, …}}.")
    raise_all(problems)
    together: dict[str, Any] = {}
    for value in values:
        together |= value
    # such as {"t1": "positive"}, each with a key of its own
    if len(values) > 1 and len(together) == len(values) and all(len(value) == 1 for value in values):
        return table, list(_keyed(together))
    table, records = _within_one_list(values, table, notes)
    return table, _flat(records)


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _parsed(text: str, where: str, problems: list[str]) -> Any:
    """The value of a JSON text; None, with the problem noted, where there is none."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        if "\n" in text:
            where = f"{where}:{error.lineno}"
        problems.append(f"{where}:{error.colno}: not valid JSON ({error.msg}). Expected valid JSON.")
    except RecursionError:
        problems.append(f"{where}: is nested too deeply. Expected the fields of a row.")
    except ValueError as error:
        problems.append(f"{where}: {error}.")
    return None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} is there more than once. Expected each name once")
        found[name] = value
    return found


def _no_constant(name: str) -> Callable[[], None]:
    raise ValueError(f"{name} is not a JSON value. Expected a finite number, or null")


def _within_one_list(records: list[Any], table: FileTable, notes: list[str]) -> tuple[FileTable, list[Any]]:
    """The records of the list that each record holds, with what else that has; as often as there is just one such list.

    Lists of spans and of answers stay values.
    """
    for _ in range(DEEPEST):
        lists = _lists(records)
        if len(lists) != 1:
            break
        (name,) = lists
        found: list[Any] = []
        numbers: list[int] = []
        for number, record in zip(table.numbers, records, strict=True):
            others = dict(record)
            for inner in others.pop(name, None) or ():
                row = dict(others)
                for key, value in inner.items():
                    row[f"{name}.{key}" if key in others else key] = value
                found.append(row)
                numbers.append(number)
        table, records = replace(table, numbers=numbers), found
        notes.append(f"{table.file}: each record of {name!r} is a row, with what else its own record holds")
    return table, records


def _lists(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """The names of lists of records."""
    found: set[str] = set()
    for record in records:
        for name, value in record.items():
            if isinstance(value, list) and any(_is_row(one) for one in value):
                found.add(name)
    return found


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and start_and_end(value) is None and not is_answer(value)


def _flat(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records with the values of objects, where each has one, under names with a dot, such as `gold.label`."""
    inner: dict[str, set[str]] = {}
    plain: set[str] = set()
    for record in records:
        for name, value in record.items():
            if _is_row(value):
                inner.setdefault(name, set()).update(value)
            else:
                plain.add(name)
    wide = {name for name, names in inner.items() if name not in plain and len(names) <= MOST_NAMES}
    if not wide:
        return records
    found: list[dict[str, Any]] = []
    for record in records:
        own: dict[str, Any] = {}
        for name, value in record.items():
            if name not in wide:
                own[name] = value
                continue
            for one in value:
                own[f"{name}.{one}"] = value[one]
        found.append(own)
    return _flat(found)
