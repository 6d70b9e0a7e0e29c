"""Reads gold in JSON: records, one a line or in a list, below keys, within each other, or by columns."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gen_bundle.declaration.overrides import nearest
from gen_bundle.errors import UserError
from gen_bundle.new.gold import LINE_END, NUMBERED, GoldFile, GoldRows, NoHeaderError, by_columns, place_in, raise_all
from gen_bundle.new.other_forms import is_answer, is_span

ANSWER = "answer"
MOST_GROUPS = 5
Numbered = tuple[int, Any]
"""The number of a line or item, and its value."""
DEEPEST = 4
MOST_NAMES = 50
"""Objects with more names are no fields."""


def is_json(file: GoldFile) -> bool:
    """Whether it is JSON: a list or an object, or one of either a line."""
    begin = file.text.lstrip()[0]
    if file.suffix in (".json", ".jsonl"):
        return True
    return begin in "[{" and (_is_valid(file.text) or all(map(_is_valid, file.beginning)))


def _is_valid(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _has_lines(file: GoldFile) -> bool:
    """Whether each line is a value, and not all of them together are one."""
    first = file.beginning[0]
    if not _is_valid(first):
        return file.suffix == ".jsonl" and first.strip() not in ("[", "{")
    return len(file.beginning) > 1 or (file.suffix == ".jsonl" and first.lstrip()[0] == "{")


def read_json(file: GoldFile) -> GoldRows:
    """The rows of JSON; raises UserError for everything that is wrong with it."""
    problems: list[str] = []
    notes: list[str] = []
    if _has_lines(file):
        suffix = ".jsonl"
        numbered = list(_lines(file, problems))
    else:
        suffix = ".json"
        value = _parsed(file.text, file.name, problems)
        raise_all(problems)
        numbered, notes = _items(_below(value, file), file)
    raise_all(problems)
    numbered, more = _records(numbered, file, suffix)
    for number, record in numbered:
        if not _is_unicode(record):
            where = place_in(file.name, suffix, number)
            problems.append(f"{where}: holds half of a surrogate pair (\\ud800 to \\udfff). Expected whole characters.")
    names: dict[str, None] = {}
    for _, record in numbered:
        names |= dict.fromkeys(record)
    what = "is empty, or has blanks around it or a line break in it"
    for name in names:
        if not name or name != name.strip() or LINE_END.search(name):
            problems.append(f"{file.name}: the name {name!r} {what}. Expected a plain name.")
    raise_all(problems)
    columns = by_columns(list(names), [list(map(record.get, names)) for _, record in numbered])
    places = [number for number, _ in numbered]
    return GoldRows(file.name, suffix, columns, places, notes=(*notes, *more))


def _lines(file: GoldFile, problems: list[str]) -> Iterator[Numbered]:
    for number, line in enumerate(file.text.split("\n"), 1):
        if line.strip():
            yield number, _parsed(line, f"{file.name}:{number}", problems)


def _below(value: Any, file: GoldFile) -> Any:
    """What `at` leads to."""
    for step in filter(None, file.at.split(".")):
        if not isinstance(value, dict) or step not in value:
            names = list(value) if isinstance(value, dict) else []
            raise UserError(f"--at {file.at}: {file.name} has no {step!r} there. {nearest(step, names)}")
        value = value[step]
    return value


def _items(value: Any, file: GoldFile) -> tuple[list[Numbered], list[str]]:
    """The items of a list or object, and what is to be said of it."""
    if isinstance(value, list):
        return list(enumerate(value)), []
    if not isinstance(value, dict):
        raise UserError(f"{file.name}: is neither a list nor an object. Expected a list of objects, one for each row.")
    return _items_of_object(value, file)


def _items_of_object(value: dict[str, Any], file: GoldFile) -> tuple[list[Numbered], list[str]]:
    if columns := _by_columns(value):
        return list(enumerate(columns)), [f"{file.name}: holds columns; each place of them is a row"]
    lists = [name for name, item in value.items() if _has_records(item)]
    are_objects = {isinstance(item, dict) for item in value.values()}
    if len(lists) == 1 and are_objects == {False}:
        note = f"{file.name}: the records are those of {lists[0]!r}"
        return list(enumerate(value[lists[0]])), [note]
    groups = lists if len(lists) == len(value) > 1 else _groups(value)
    if groups:
        above = f"{file.at}." if file.at else ""
        options = ", ".join(f"--at {above}{name}" for name in groups[:MOST_GROUPS])
        raise UserError(f"{file.name}: holds {len(groups)} tables. Expected one of them: {options}.")
    if len(are_objects) > 1:
        expected = "objects alone, or plain answers alone; --at NAME leads to one of them"
        raise UserError(
            f"{file.name}: is an object of which some values are objects, and others not. Expected {expected}."
        )
    return list(enumerate(_keyed(value))), []


def _has_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _groups(value: dict[str, Any]) -> list[str]:
    """The names of objects that have no name in common, and only plain values: tables of answers by their keys."""
    seen: Counter[str] = Counter()
    for item in value.values():
        if not isinstance(item, dict) or any(isinstance(one, dict | list) for one in item.values()):
            return []
        seen.update(list(item))
    return list(value) if seen and max(seen.values()) == 1 and seen.total() > len(value) else []


def _by_columns(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of an object of columns, each a list of as many plain values, or numbered from 0 as by pandas."""
    columns: dict[str, list[Any]] = {}
    for name, item in value.items():
        if isinstance(item, dict) and list(item) == list(map(str, range(len(item)))):
            item = list(item.values())
        if not isinstance(item, list) or any(isinstance(one, dict) for one in item):
            return []
        columns[name] = item
    lengths = set(map(len, columns.values()))
    if len(lengths) != 1 or min(lengths) <= len(columns) or len(columns) < 2:
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _keyed(value: dict[str, Any]) -> Iterator[Any]:
    """The record behind each key, with it."""
    for key, item in value.items():
        yield {NUMBERED: key, **item} if isinstance(item, dict) else {NUMBERED: key, ANSWER: item}


def _records(items: list[Numbered], file: GoldFile, suffix: str) -> tuple[list[Numbered], list[str]]:
    """The items as flat objects, and what is to be said of them; raises UserError for those that are none."""
    values = [value for _, value in items]
    kinds = set(map(type, values))
    if kinds == {list}:
        return _named_cells(items, file, suffix), []
    if kinds and dict not in kinds:
        plain: list[Numbered] = []
        for at, (number, value) in enumerate(items, 1):
            plain.append((number, {NUMBERED: str(at), ANSWER: value}))
        return plain, [f"{file.name}: holds plain values, which are numbered from 1"]
    problems = []
    for number, value in items:
        if not isinstance(value, dict):
            problems.append(f"{place_in(file.name, suffix, number)}: is not an object. Expected {{name: value, …}}.")
    raise_all(problems)
    if _are_pairs(values):
        return [(number, next(_keyed(value))) for number, value in items], []
    expanded, notes = _within_one_list(items, file.name)
    return _flat(expanded), notes


def _are_pairs(records: Sequence[dict[str, Any]]) -> bool:
    """Whether each record is a key and its answer, such as `{"t1": "positive"}`."""
    keys = set(itertools.chain.from_iterable(records))
    return len(records) > 1 and len(keys) == len(records) and set(map(len, records)) == {1}


def _named_cells(items: list[Numbered], file: GoldFile, suffix: str) -> list[Numbered]:
    """Lists as records, by the names of columns that were given."""
    first = list(map(str, items[0][1]))
    where = place_in(file.name, suffix, items[0][0])
    if not file.columns:
        names = [NUMBERED, *(f"column{at}" for at in range(2, len(first))), ANSWER][: len(first)]
        message = f"{where}: is a list. Expected the columns' names: --columns {','.join(names)}."
        raise NoHeaderError(message, names, first)
    problems = []
    for number, cells in items:
        if len(cells) != len(file.columns):
            expected = f"Expected {len(file.columns)}, as many as --columns."
            problems.append(f"{place_in(file.name, suffix, number)}: has {len(cells)} values. {expected}")
    raise_all(problems)
    rows = items if list(file.columns) != first else items[1:]
    return [(number, dict(zip(file.columns, cells, strict=True))) for number, cells in rows]


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
        at = f"{where}:{error.lineno}" if "\n" in text else where
        problems.append(f"{at}:{error.colno}: not valid JSON ({error.msg}). Expected valid JSON.")
    except RecursionError:
        problems.append(f"{where}: is nested too deeply. Expected the fields of a row.")
    except ValueError as error:
        problems.append(f"{where}: {error}.")
    return None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    times = Counter(name for name, _ in pairs)
    for name, number in times.items():
        if number > 1:
            raise ValueError(f"the name {name!r} is there more than once. Expected each name once")
    return dict(pairs)


def _no_constant(name: str) -> Callable[[], None]:
    raise ValueError(f"{name} is not a JSON value. Expected a finite number, or null")


def _within_one_list(items: Sequence[Numbered], file: str) -> tuple[list[Numbered], list[str]]:
    """The records of the list that each record holds, with what else that has; as often as there is just one such list.

    Lists of spans and of answers stay values.

    Returns:
        the records with their numbers, and what is to be said of them.
    """
    found = list(items)
    notes = []
    for _ in range(DEEPEST):
        lists = _lists(found)
        if len(lists) != 1:
            break
        (name,) = lists
        found = [(number, row) for number, record in found for row in _rows(record, name)]
        notes.append(f"{file}: each record of {name!r} is a row, with what else its own record holds")
    return found, notes


def _lists(items: Sequence[Numbered]) -> set[str]:
    """The names of lists of records."""
    found: set[str] = set()
    for _, record in items:
        for name, value in record.items():
            if isinstance(value, list) and any(map(_is_row, value)):
                found.add(name)
    return found


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and not is_span(value) and not is_answer(value)


def _rows(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The records of a list, each with the other values of the record that holds it; equal names are told apart."""
    others = dict(record)
    rows = []
    for inner in others.pop(name, None) or ():
        row = dict(others)
        for key, value in inner.items():
            row[f"{name}.{key}" if key in others else key] = value
        rows.append(row)
    return rows


def _flat(items: Sequence[Numbered]) -> list[Numbered]:
    """The records with the values of objects, where each has one, under names with a dot, such as `gold.label`."""
    kinds: dict[str, set[bool]] = {}
    inner: dict[str, set[str]] = {}
    for _, record in items:
        for name, value in record.items():
            kinds.setdefault(name, set()).add(_is_row(value))
            if isinstance(value, Mapping):
                inner.setdefault(name, set()).update(value)
    wide = {name for name, are_rows in kinds.items() if are_rows == {True} and len(inner[name]) <= MOST_NAMES}
    if not wide:
        return list(items)
    found: list[Numbered] = []
    for number, record in items:
        own: dict[str, Any] = {}
        for name, value in record.items():
            if name in wide:
                own.update((f"{name}.{one}", value[one]) for one in value)
            else:
                own[name] = value
        found.append((number, own))
    return _flat(found)
