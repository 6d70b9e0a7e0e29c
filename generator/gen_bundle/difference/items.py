"""How many items of a data file came, went or changed; never which, and nothing of what they hold."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.check.leaks.records import json_value, lines, rows
from gen_bundle.zips.tree import Node

Key = tuple[str, ...]
"""Names of columns or fields."""


@dataclass(frozen=True)
class Count:
    """Numbers of items.

    Attributes:
        old, new: how many there are.
        changed: those with the same key and other content; None where items have no key.
        reordered: items without a key come in another order.
    """

    old: int
    new: int
    added: int
    removed: int
    changed: int | None
    reordered: bool = False

    @property
    def same(self) -> bool:
        """Nothing came, went, changed, or moved where the place may say which item it is."""
        return not (self.added or self.removed or self.changed or self.reordered)

    def __str__(self) -> str:
        counts = [f"{self.added} added", f"{self.removed} removed"]
        counts += [] if self.changed is None else [f"{self.changed} changed"]
        return ", ".join([*counts, *(["in another order"] if self.reordered else [])])


def count_changes(old: Node, new: Node, declared: Iterable[Key] = ()) -> Count:
    """Compare two versions of a file: by a declared key, or else a column or field, that is unique; else as bags."""
    before, after = _items(old), _items(new)
    keys = [*declared, *((name,) for name in (before[0] if before else {}) if name)]
    key = next((key for key in keys if _identifies(key, before) and _identifies(key, after)), None)
    if key is not None:
        one, other = ({_values(key, item): item for item in items} for items in (before, after))
        common = one.keys() & other.keys()
        changed = sum(_frozen(one[values]) != _frozen(other[values]) for values in common)
        return Count(len(one), len(other), len(other.keys() - one.keys()), len(one.keys() - other.keys()), changed)
    bag, other_bag = (Counter(map(_frozen, items)) for items in (before, after))
    added, removed = other_bag - bag, bag - other_bag
    reordered = bag == other_bag and list(map(_frozen, before)) != list(map(_frozen, after))
    return Count(len(before), len(after), added.total(), removed.total(), None, reordered)


def _items(node: Node) -> Sequence[Mapping[str, Any]]:
    """The items of a file: rows by column title, objects of JSON, lines of anything else; every one a mapping."""
    value = json_value(node)
    if isinstance(value, list):
        return [one if isinstance(one, dict) else {"": one} for one in value]
    if isinstance(value, dict):
        return [{"key": key, "": one} for key, one in value.items()]
    table = [row for row in rows(node) if row]
    if len(table) > 1 and all(len(row) == len(table[0]) for row in table):
        return [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    found = [line for line in lines(node) if line.strip()]
    try:
        objects = [json.loads(line) for line in found]
    except (ValueError, RecursionError):
        objects = []
    if objects and all(isinstance(one, dict) for one in objects):
        return objects
    return [{"": line} for line in found]


def _identifies(key: Key, items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every item has the fields of a key, and no two items share their values."""
    having = [_values(key, item) for item in items if item.keys() >= {*key}]
    return len({*having}) == len(items) > 0


def _values(key: Key, item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(item[name]) for name in key)


def _frozen(item: Any) -> str:
    return json.dumps(item, sort_keys=True, ensure_ascii=False, default=str)
