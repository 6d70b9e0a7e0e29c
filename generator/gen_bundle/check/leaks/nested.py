"""Reading JSON, XML, and tables with JSON in their cells: records of what belongs together, however deep it lies."""

import csv
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from gen_bundle.check.leaks.records import cells, json_line, json_value, lines, read_xml
from gen_bundle.zips.tree import Node

# What holds more belongs to several items.
MOST_VALUES = 200


class NestedRecord(NamedTuple):
    """The values of one object or element, and of all that is in it.

    Attributes:
        single: its own values, and those of the objects in it.
        listed: the elements of its lists, as JSON where they hold several values.
    """

    single: list[str]
    listed: list[str]


def nested_records(node: Node) -> Iterator[NestedRecord]:
    """The objects of JSON and of JSON lines, the elements of XML, and lines with a list in JSON.

    What holds too much for one item is left out. A text within JSON may be a table itself, as notebooks keep what they
    printed: its lines are records, too.
    """
    value, elements = json_value(node), read_xml(node, _Elements())
    if value is not None:
        yield from _objects(value)
    elif elements is not None:
        yield from elements
    else:
        for line in lines(node):
            value = json_line(line)
            yield from _objects(value) if value is not None else filter(None, [_with_list(line)])


def _objects(value: Any) -> Iterator[NestedRecord]:
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        key, part = waiting.pop()
        if isinstance(part, dict):
            found = _object(key, part)
            if found is not None:
                yield found
            waiting += [(str(name), one) for name, one in part.items()]
        elif isinstance(part, list):
            if key:  # {"label": ["id", …]}, {"id": ["label", …]}
                yield from (NestedRecord([key, _text(one)], []) for one in part)
            waiting += [("", one) for one in part]
        elif isinstance(part, str):
            yield from (NestedRecord(_cells(line), []) for line in part.splitlines())


def _object(key: str, value: dict[str, Any]) -> NestedRecord | None:
    """An object with its key; None where it holds too much."""
    found = NestedRecord([key] if key else [], [])
    waiting: list[Any] = [value]
    while waiting and len(found.single) + len(found.listed) <= MOST_VALUES:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            found.listed.extend(_text(one) for one in islice(part, MOST_VALUES + 1))
        else:
            found.single.append(_text(part))
    return found if len(found.single) + len(found.listed) <= MOST_VALUES else None


def _with_list(line: str) -> NestedRecord | None:
    """A line with a list in JSON, in quotation marks as in CSV or without; None for any other line."""
    start, end = line.find("["), line.rfind("]") + 1
    if not 0 <= start < end:
        return None
    for text in (line[start:end], line[start:end].replace('""', '"')):
        try:
            parts = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return NestedRecord(_cells(line[:start] + line[end:]), [_text(one) for one in parts])
    return None


class _Elements:
    """Makes a record of each XML element: its attributes, its text, and those of all elements in it."""

    def __init__(self) -> None:
        self._records: list[NestedRecord] = []
        self._open: list[list[str]] = [[]]
        self._text = ""

    def start(self, _: str, attributes: Mapping[str, str]) -> None:
        self._end_text()
        self._open.append([*attributes.values()])

    def data(self, text: str) -> None:
        self._text += text

    def end(self, _: str) -> None:
        self._end_text()
        own = self._open.pop()
        if 1 < len(own) <= MOST_VALUES:
            self._records.append(NestedRecord(own, []))
        if len(self._open[-1]) <= MOST_VALUES:
            self._open[-1] += own

    def close(self) -> list[NestedRecord]:
        return self._records

    def _end_text(self) -> None:
        if self._text and not self._text.isspace():
            self._open[-1].append(self._text.strip())
        self._text = ""


def _cells(line: str) -> list[str]:
    """The cells of a line; none where csv cannot read it, as with a very long cell."""
    try:
        return cells(line)
    except csv.Error:
        return []


def _text(value: Any) -> str:
    """A value as text; empty where it is nested too deeply to be written."""
    try:
        return json.dumps(value) if isinstance(value, (dict, list)) else str(value).strip()
    except RecursionError:
        return ""
