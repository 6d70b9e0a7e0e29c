"""Records of JSON that hold others: a row for each of the innermost, and one level of names."""

from collections.abc import Mapping, Sequence
from typing import Any

from gen_bundle.new.other_forms import is_answer, is_span

DEEPEST = 4
MOST_NAMES = 50
"""Objects with more names are no fields."""
Numbered = tuple[int, Any]


def within_one_list(items: Sequence[Numbered], file: str) -> tuple[list[Numbered], list[str]]:
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
    others = {key: value for key, value in record.items() if key != name}
    rows = []
    for inner in record.get(name) or ():
        own = {(f"{name}.{key}" if key in others else key): value for key, value in inner.items()}
        rows.append({**others, **own})
    return rows


def flat(items: Sequence[Numbered]) -> list[Numbered]:
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
    return flat(found)
