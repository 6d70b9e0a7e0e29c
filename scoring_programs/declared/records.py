"""Records of JSON: what a path leads to, and the rows that they hold in a list.

Runs on Python 3.9 with the standard library alone.
"""

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from declared.tables import Key, Table
from scoring_kit.base.field_types import ABSENT, Absent, Field, json_text
from scoring_kit.base.row_files import FieldPlace, File, steps
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import JsonObject, report_duplicates

UNLOOKED = Absent()
"""In place of a record of a key that nobody asks for."""
NumberedRow = Tuple[int, Tuple[Any, ...]]
NumberedRows = Iterator[NumberedRow]
Records = Iterable[Tuple[str, Tuple[str, ...], Any]]
"""(words for its place, the key that its name is, record)."""


@dataclass(frozen=True)
class Rows:
    """The rows of a file.

    Attributes:
        names: the columns that the file has; none of JSON, whose names may differ from row to row.
        is_json: whether values are JSON values; else they are cells.
        rows: (number of the row's place, its values in the order of the fields asked for), `ABSENT` or an empty cell
            where it has none; can be gone through once, and what is wrong is recorded on the way.
        place: the words for a row's number: `file:line`, `file[index]`.
        keys: the names of a JSON object, each a key, also one without rows.
        empty_keys: of many rows, the keys without any, as far as the file holds them.
    """

    names: Sequence[str]
    is_json: bool
    rows: NumberedRows
    place: Callable[[int], str]
    keys: Sequence[str] = ()
    empty_keys: Sequence[Key] = ()


def below(value: Any, path: Sequence[str]) -> Any:
    """Return what a path of names and numbers leads to; ABSENT where it leads nowhere."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


def value_at(record: Any, place: FieldPlace) -> Any:
    """Return the value of a field; ABSENT where it has none. One that is spread is a tuple, unless its name has it."""
    if place.path is not None:
        return below(record, place.path)
    if not isinstance(record, dict):
        return ABSENT
    if place.columns and place.name not in record:
        values = tuple([record.get(column, ABSENT) for column in place.columns])
        return ABSENT if ABSENT in values else values
    return record.get(place.name, ABSENT)


def names_around_lists(records: Iterable[Any], file: File, table: Table) -> List[str]:
    """Return the names of records that hold lists, and, where rows are read, those of the rows."""
    names: Dict[str, None] = {}
    path = steps(file.within or "")
    for record in records:
        if isinstance(record, JsonObject) and path:
            names.update(dict.fromkeys(record))
            names.pop(path[0], None)
        if not table.many:
            continue
        found = below(record, path)
        rows: List[Any] = found if isinstance(found, list) else []
        if isinstance(found, JsonObject):  # its names are the first field, its values the second, or records
            rows = list(found.values())
            told = table.answers[: 1 if any(isinstance(one, (dict, list)) for one in rows) else 2]
            for field in told:
                names[file.place(field).name] = None
        for row in rows:
            if isinstance(row, JsonObject):
                names.update(dict.fromkeys(row))
            elif table.answers:
                names[file.place(table.answers[-1]).name] = None
    return list(names)


def rows_of_lists(
    records: Records, wanted: Sequence[Field], file: File, table: Table, problems: Problems, named_parts: int = 0
) -> Rows:
    """Return the rows in lists of records; so many `named_parts` of a key are said by a record's name."""
    held = table.key_in(file)[named_parts:]
    others = [field for field in wanted if field not in held]
    path, found, places = steps(file.within or ""), [], []
    first: Dict[Any, str] = {}
    empty: List[Key] = []
    for where, named, record in records:
        if record is UNLOOKED:
            found.append((*named, *[ABSENT] * len(wanted)))
            places.append(where)
            continue
        if isinstance(record, JsonObject):
            report_duplicates(record, where, problems)
        key = (*named, *[json_text(value_at(record, file.place(field))) for field in held])
        again = first.setdefault(json.dumps(key, default=str), where)
        if again != where:
            problems.error(where, f"a second record for its key, after {again}", "one record for each key")
        listed = below(record, path)
        if not isinstance(listed, (list, dict)):
            at = f" at {file.within}" if file.within else ""
            problems.error(where, f"has no list{at}", "the rows of the key in a list, which may be empty")
            continue
        if not listed and all(isinstance(part, str) and part for part in key):
            empty.append(key)
        elif not listed:
            names = ", ".join(field.name for field in held)
            problems.error(where, f"has no {names}", "the id of a row of the data")
        for step, told, row in _elements(listed, table):
            values = _values_of_row(told, row, record, others, file, table)
            if values is None:
                problems.error(f"{where}{step}", "is not a JSON object", "an object with the fields of a row")
            else:
                found.append((*key, *values))
                places.append(f"{where}{step}")
    return Rows((), True, enumerate(found), lambda number: places[number], (), empty)


def _elements(listed: Any, table: Table) -> Iterator[Tuple[str, Dict[str, Any], Any]]:
    """(where it stands, what its name and a plain value say, the record of the other fields) of each row of a key."""
    if isinstance(listed, list):
        for number, row in enumerate(listed):
            yield f"[{number}]", {}, row
        return
    named, *others = [field.name for field in table.answers]
    for name, row in listed.items():
        told = {named: name}
        if not isinstance(row, (dict, list)):
            told.update(dict.fromkeys(others[:1], row))
            row = {}
        yield f" {shown(name)}", told, row


def _values_of_row(
    told: Mapping[str, Any], row: Any, record: Any, wanted: Sequence[Field], file: File, table: Table
) -> Optional[Tuple[Any, ...]]:
    """The values of fields, of which some are told already; None of what is no record, nor the only field itself."""
    left = [field for field in table.answers if field.name not in told]
    is_value = len(left) == 1 and file.place(left[0]).path is None
    is_value = is_value and (left[0].type == "probabilities" or not isinstance(row, dict))
    by_path = all(file.place(field).path is not None for field in left)
    if not (isinstance(row, dict) or is_value or by_path):
        return None
    values = []
    for field in wanted:
        place = file.place(field)
        if field.name in told:
            values.append(told[field.name])
        elif is_value and field.name == left[0].name:
            values.append(row)
        else:
            value = value_at(row, place)
            if value is ABSENT and field.name not in table.by_name:
                value = value_at(record, place)
            values.append(value)
    return tuple(values)
