"""How many items of a data file came, went or changed; never which, and nothing of what they hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gen_bundle.check.leaks.records import json_value, lines, rows
from gen_bundle.zips.tree import Node

Items = Mapping[Hashable, Any] | Counter[Hashable]


@dataclass(frozen=True)
class Count:
    """Numbers of items.

    Attributes:
        old, new: how many there are.
        changed: those with the same key and other content; None where items have no key.
    """

    old: int
    new: int
    added: int
    removed: int
    changed: int | None

    def __str__(self) -> str:
        counts = [f"{self.added} added", f"{self.removed} removed"]
        return ", ".join(counts + ([] if self.changed is None else [f"{self.changed} changed"]))


def count_changes(old: Node, new: Node) -> Count:
    """Compare two versions of a file: by key where a column or field is unique, else as bags of items."""
    before, after = _items(old), _items(new)
    place = next((key for key in _keys(before) if key in _keys(after)), None)
    if place is not None:
        one, other = ({str(item[place]): item for item in items} for items in (before, after))
        common = one.keys() & other.keys()
        changed = sum(_frozen(one[key]) != _frozen(other[key]) for key in common)
        return Count(len(one), len(other), len(other.keys() - one.keys()), len(one.keys() - other.keys()), changed)
    bag, other_bag = (Counter(map(_frozen, items)) for items in (before, after))
    added, removed = other_bag - bag, bag - other_bag
    return Count(len(before), len(after), added.total(), removed.total(), None)


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


def _keys(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """The fields that every item has and no two items share, in the order of the first item."""
    if not items:
        return []
    return [
        name for name in items[0] if name and len({str(item[name]) for item in items if name in item}) == len(items)
    ]


def _frozen(item: Any) -> str:
    return json.dumps(item, sort_keys=True, ensure_ascii=False, default=str)
