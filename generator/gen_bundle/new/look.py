"""What a column of gold holds: its type as a declaration names it, and what goes with that type."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gen_bundle.new.gold import LINE_END, Gold

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]+")
NO_NUMBER = re.compile(r"(?i)[+-]?(nan|inf|infinity)|null|none|nil|n\.?a\.?|#?n/a|-+|\?+|\.")
"""What stands for a value that is missing, or not finite, among numbers."""
LIST = re.compile(r"(?s)\[\s*([\[{('\"\d].*)?\]")
"""A list in a cell, of JSON or Python, and no label in brackets."""
TAG = re.compile(r"O|[BI]-.+")
SEPARATORS = ("|", ";", ",")
MOST_LABELS = 50
MOST_GRADES = 10
LONGEST_LABEL = 60
LABEL_NAME = re.compile(r"(?i)(.*[_ -])?(labels?|class|categor(y|ies)|sentiment|stance|emotions?|polarity|intent)")
FEWEST_REPEATS = 1.5
"""Texts that occur so often on average are labels."""


@dataclass(frozen=True)
class Column:
    """A column of gold.

    Attributes:
        name: its name.
        type: label, labels, number, text, texts, tags or spans; `string` for short texts that differ nearly everywhere,
            `other` for JSON that no field can hold.
        values: the labels there are, in the order to declare them; for tags and spans the types.
        separator: between the labels of a cell.
        grades: whether the labels are whole numbers without a gap, so that they have an order.
        within_one: whether all numbers lie from 0 to 1.
        words: mean number of words of a text.
        blank: the rows whose value is absent or empty.
        not_numbers: the rows of numbers that say NaN, inf, null or the like instead.
    """

    name: str
    type: str
    values: tuple[str, ...] = ()
    separator: str = "|"
    grades: bool = False
    within_one: bool = False
    words: float = 0
    blank: tuple[int, ...] = ()
    not_numbers: tuple[int, ...] = ()


def look_at(gold: Gold, name: str) -> Column:
    """What a column holds."""
    values = gold.column(name)
    blank = tuple(at for at, value in enumerate(values) if value is None or value in ("", []))
    given = {at: value for at, value in enumerate(values) if value is not None and value not in ("", [])}
    not_numbers = _not_numbers(given, separator=None if gold.is_json else SEPARATORS[0])
    for at in not_numbers:
        del given[at]
    look = _json_column if gold.is_json else _cell_column
    return replace(look(name, list(given.values())), blank=blank, not_numbers=not_numbers)


def as_type(gold: Gold, column: Column, kind: str) -> Column:
    """The column, of another type than the one that was found; its labels where it has any."""
    elements = [one for value in gold.column(column.name) for one in (value if isinstance(value, list) else [value])]
    texts = [text for element in elements if (text := text_of(element))]
    values: tuple[str, ...] = ()
    if kind == "label":
        values = _in_order(set(texts))
    elif kind == "labels":
        values = _in_order({part for text in texts for part in text.split(column.separator)})
    listed = values if len(values) <= MOST_LABELS else ()
    return Column(column.name, kind, listed, column.separator, words=_mean_words(texts), blank=column.blank)


def fits(value: Any, kind: str, *, separator: str | None) -> bool:
    """Whether a value that is not empty can be of a type; `separator` of the labels of a cell, None for JSON."""
    is_json = separator is None
    if kind == "labels":
        parts = value if is_json else value.split(separator)
        return isinstance(parts, list) and all(fits(part, "label", separator=separator) for part in parts)
    if kind in ("spans", "texts", "tags"):
        if kind == "tags" and not is_json:
            return _is_tagged(value.split(" "))
        elements = value if is_json else json_list(value)
        element = {"spans": _is_span, "tags": lambda tag: isinstance(tag, str) and TAG.fullmatch(tag) is not None}
        return isinstance(elements, list) and all(map(element.get(kind, lambda one: isinstance(one, str)), elements))
    if kind == "number" and is_json:
        return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
    if kind == "number":
        return NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
    text = value if kind == "text" else text_of(value)
    return isinstance(text, str) and (kind != "label" or (text == text.strip() and bool(text)))


def text_of(value: Any) -> str | None:
    """A value as a string or label compares; None for what is neither."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else None


def _not_numbers(given: Mapping[int, Any], separator: str | None) -> tuple[int, ...]:
    """The rows that say NaN or the like, where most rows, and all others, are numbers."""
    others = tuple(at for at, value in given.items() if not fits(value, "number", separator=separator))
    gaps = 2 * len(others) < len(given) and all(NO_NUMBER.fullmatch(str(given[at]).strip()) for at in others)
    return others if gaps else ()


def _cell_column(name: str, cells: Sequence[str]) -> Column:
    if not cells:
        return Column(name, "string")
    if all(map(LIST.fullmatch, cells)):
        lists = [json_list(cell) for cell in cells]
        found = _list_column(name, lists) if all(isinstance(value, list) for value in lists) else None
        return found if found and found.type in ("spans", "texts") else Column(name, "other")
    if all(_is_tagged(cell.split(" ")) for cell in cells) and any("B-" in cell for cell in cells):
        return _tags(name, [cell.split(" ") for cell in cells])
    if all(map(NUMBER.fullmatch, cells)) and all(math.isfinite(float(cell)) for cell in cells):
        if all(map(WHOLE.fullmatch, cells)) and len(set(cells)) <= MOST_GRADES and _are_labels(name, Counter(cells)):
            return _label(name, set(cells))
        return Column(name, "number", within_one=all(0 <= float(cell) <= 1 for cell in cells))
    for separator in SEPARATORS:
        parts = Counter(part for cell in cells for part in cell.split(separator))
        if any(separator in cell for cell in cells) and _are_labels(name, parts) and len(parts) <= MOST_LABELS:
            return Column(name, "labels", _in_order(parts), separator)
    return _text_column(name, cells)


def _json_column(name: str, values: Sequence[Any]) -> Column:
    if all(isinstance(value, list) for value in values) and values:
        return _list_column(name, values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values) and values:
        if not all(map(_is_finite, values)):
            return Column(name, "other")
        whole = Counter(str(value) for value in values if isinstance(value, int))
        if whole.total() == len(values) and len(whole) <= MOST_GRADES and _are_labels(name, whole):
            return _label(name, set(whole))
        return Column(name, "number", within_one=all(0 <= value <= 1 for value in values))
    texts = [text for value in values if (text := text_of(value)) is not None]
    if len(texts) < len(values):
        return Column(name, "other")
    return _text_column(name, texts)


def _list_column(name: str, lists: Sequence[Any]) -> Column:
    elements = [element for one in lists for element in one]
    if elements and all(map(_is_span, elements)):
        return Column(name, "spans", _in_order({span[2] for span in elements if len(span) == 3}))
    if not all(isinstance(element, str) for element in elements):
        return Column(name, "other")
    if all(map(_is_tagged, lists)) and any(element.startswith("B-") for element in elements):
        return _tags(name, lists)
    different = Counter(elements)
    if _are_labels(name, different) and len(different) <= MOST_LABELS:
        return Column(name, "labels", _in_order(different))
    return Column(name, "texts", words=_mean_words(elements))


def _text_column(name: str, texts: Sequence[str]) -> Column:
    different = Counter(texts)
    if _are_labels(name, different):
        return _label(name, set(different))
    kind = "string" if not any(" " in text.strip() for text in texts) else "text"
    return Column(name, kind, words=_mean_words(texts))


def _label(name: str, values: set[str]) -> Column:
    """A column of labels, which are declared where there are few of them."""
    listed = _in_order(values) if len(values) <= MOST_LABELS else ()
    numbers = [int(value) for value in listed if WHOLE.fullmatch(value)]
    grades = len(numbers) == len(listed) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return Column(name, "label", listed, grades=grades)


def _tags(name: str, lists: Sequence[Sequence[str]]) -> Column:
    return Column(name, "tags", _in_order({tag[2:] for tags in lists for tag in tags if tag != "O"}))


def _are_labels(name: str, texts: Counter[str]) -> bool:
    """Whether texts repeat as labels do: short, without blanks around them; in a column named so also if few repeat."""
    if not texts or any(not text.strip() or text != text.strip() or len(text) > LONGEST_LABEL for text in texts):
        return False
    if any(map(LINE_END.search, texts)):
        return False
    named = LABEL_NAME.fullmatch(name) is not None and not any(" " in text for text in texts)
    return texts.total() >= FEWEST_REPEATS * len(texts) or (named and len(texts) <= MOST_GRADES)


def _in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Numbers by size, other labels by the alphabet: never by how often they occur, which would reveal some gold."""
    listed = sorted(values)
    return tuple(sorted(listed, key=int)) if all(map(WHOLE.fullmatch, listed)) else tuple(listed)


def json_list(cell: str) -> Any:
    """The list in a cell; None where the cell is not JSON."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def span_of(value: Any) -> list[Any] | None:
    """The span that an object with `start` and `end` means, as fields of type spans have it."""
    if not isinstance(value, dict) or not {"start", "end"} <= value.keys():
        return None
    kind = next((value[name] for name in ("label", "type") if isinstance(value.get(name), str)), None)
    return [value["start"], value["end"], *([] if kind is None else [kind])]


def _is_tagged(tags: Sequence[str]) -> bool:
    return all(map(TAG.fullmatch, tags))


def _is_span(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 3):
        return False
    start, end = value[:2]
    whole = type(start) is int and type(end) is int
    return whole and 0 <= start < end and (len(value) == 2 or isinstance(value[2], str))


def _mean_words(texts: Sequence[str]) -> float:
    return sum(len(text.split()) for text in texts) / max(1, len(texts))
