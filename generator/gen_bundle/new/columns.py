"""What a column of gold holds: its type as a declaration names it, what goes with that type, and what does not fit."""

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gen_bundle.new.table import FEWEST_REPEATS, LINE_END, LIST, NUMBER, TAG, GoldRows, text_of

WHOLE = re.compile(r"[+-]?[0-9]+")
NO_NUMBER = re.compile(r"(?i)[+-]?(nan|inf|infinity)|null|none|nil|n\.?a\.?|#?n/a|-+|\?+|\.")
"""What stands for a value that is missing, or not finite, among numbers."""
SEPARATORS = ("|", ";", ",")
MOST_LABELS = 50
MOST_GRADES = 10
LONGEST_LABEL = 60
LABEL_NAME = re.compile(r"(?i)(.*[_ -])?(labels?|class|categor(y|ies)|sentiment|stance|emotions?|polarity|intent)")

FORMS = {
    "label": "a text without blanks around it",
    "labels": f"a list of labels without blanks around them (in a cell separated by one of {' '.join(SEPARATORS)})",
    "number": "a finite number, such as 0.25",
    "probability": "one of two labels, such as 0 and 1; participants give the probability of the second",
    "text": "a text",
    "texts": "a JSON list of texts",
    "tags": "a list of O, B-x or I-x (in a cell separated by spaces)",
    "spans": "a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end",
    "string": "a text",
}
"""Type of an answer → the form of its values."""
TYPES = tuple(FORMS)
PLACES_SHOWN = 10
EMPTY: tuple[Any, ...] = (None, "", [])
BLANK_CELLS = ("labels", "text", "string", "tags")
"""Types whose empty cell is an answer, as in scored submissions."""


@dataclass(frozen=True)
class GoldColumn:
    """A column of gold.

    Attributes:
        name: its name.
        type: one of TYPES; `string` for short texts that differ nearly everywhere, `other` for JSON that no field can
            hold.
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


def look_at(gold: GoldRows, name: str) -> GoldColumn:
    """What a column holds."""
    values = gold.column(name)
    blank = tuple(at for at, value in enumerate(values) if value in EMPTY)
    given = {at: value for at, value in enumerate(values) if value not in EMPTY}
    separator = None if gold.is_json else SEPARATORS[0]
    not_numbers = _not_numbers(given, separator)
    for at in not_numbers:
        del given[at]
    look = _json_column if gold.is_json else _cell_column
    return replace(look(name, list(given.values())), blank=blank, not_numbers=not_numbers)


def as_type(gold: GoldRows, column: GoldColumn, kind: str) -> GoldColumn:
    """The column, of another type than the one that was found; its labels where it has any."""
    texts: list[str] = []
    for value in gold.column(column.name):
        elements = value if isinstance(value, list) else [value]
        texts += filter(None, map(text_of, elements))
    values: tuple[str, ...] = ()
    if kind in ("label", "probability"):
        values = _in_order(set(texts))
    elif kind == "labels":
        values = _in_order(set(column.separator.join(texts).split(column.separator)) if texts else ())
    listed = values if len(values) <= MOST_LABELS else ()
    return GoldColumn(column.name, kind, listed, column.separator, words=_mean_words(texts), blank=column.blank)


def fits(value: Any, kind: str, *, separator: str | None) -> bool:
    """Whether a value that is not empty can be of a type; `separator` of the labels of a cell, None for JSON."""
    if kind == "number":
        return _is_json_number(value) if separator is None else _is_number(value)
    if kind in ELEMENTS:
        parts = value if separator is None else _parts(value, kind, separator)
        return isinstance(parts, list) and all(map(ELEMENTS[kind], parts))
    if kind in ("label", "probability"):
        return _is_label(value)
    text = value if kind == "text" else text_of(value)
    return isinstance(text, str)


def _parts(cell: str, kind: str, separator: str) -> Any:
    """The elements that a cell lists."""
    if kind in ("labels", "tags"):
        return cell.split(separator if kind == "labels" else " ")
    return json_list(cell)


def _not_numbers(given: Mapping[int, Any], separator: str | None) -> tuple[int, ...]:
    """The rows that say NaN or the like, where most rows, and all others, are numbers."""
    others = tuple(at for at, value in given.items() if not fits(value, "number", separator=separator))
    if 2 * len(others) >= len(given):
        return ()
    say_none = all(NO_NUMBER.fullmatch(str(given[at]).strip()) for at in others)
    return others if say_none else ()


def _cell_column(name: str, cells: Sequence[str]) -> GoldColumn:
    for look in (_cell_lists, _cell_tags, _cell_numbers, _cell_labels):
        if cells and (found := look(name, cells)):
            return found
    return _text_column(name, cells) if cells else GoldColumn(name, "string")


def _cell_lists(name: str, cells: Sequence[str]) -> GoldColumn | None:
    if not all(map(LIST.fullmatch, cells)):
        return None
    lists = [json_list(cell) for cell in cells]
    found = _list_column(name, lists) if all(isinstance(value, list) for value in lists) else None
    return found if found and found.type in ("spans", "texts") else GoldColumn(name, "other")


def _cell_tags(name: str, cells: Sequence[str]) -> GoldColumn | None:
    lists = [cell.split(" ") for cell in cells]
    return _tags(name, lists) if all(map(_is_tagged, lists)) and any("B-" in cell for cell in cells) else None


def _cell_numbers(name: str, cells: Sequence[str]) -> GoldColumn | None:
    if not all(map(_is_number, cells)):
        return None
    return _numbers(name, list(map(float, cells)), Counter(filter(WHOLE.fullmatch, cells)))


def _cell_labels(name: str, cells: Sequence[str]) -> GoldColumn | None:
    for separator in SEPARATORS:
        parts = Counter(separator.join(cells).split(separator))
        is_used = any(separator in cell for cell in cells)
        if is_used and _are_labels(name, parts) and len(parts) <= MOST_LABELS:
            return GoldColumn(name, "labels", _in_order(parts), separator)
    return None


def _numbers(name: str, numbers: Sequence[float], whole: Counter[str]) -> GoldColumn:
    """A column of numbers: labels where all are whole, few and repeated."""
    if whole.total() == len(numbers) and len(whole) <= MOST_GRADES and _are_labels(name, whole):
        return _label(name, set(whole))
    return GoldColumn(name, "number", within_one=all(0 <= number <= 1 for number in numbers))


def _json_column(name: str, values: Sequence[Any]) -> GoldColumn:
    if values and all(isinstance(value, list) for value in values):
        return _list_column(name, values)
    if values and all(map(_is_json_number, values)):
        whole = Counter(str(value) for value in values if isinstance(value, int))
        return _numbers(name, list(map(float, values)), whole)
    texts = list(map(text_of, values))
    if None in texts:
        return GoldColumn(name, "other")
    return _text_column(name, [text for text in texts if text is not None])


def _list_column(name: str, lists: Sequence[Any]) -> GoldColumn:
    elements = list(itertools.chain.from_iterable(lists))
    if elements and all(map(_is_span, elements)):
        return GoldColumn(name, "spans", _in_order({span[2] for span in elements if len(span) == 3}))
    if not all(map(_is_text, elements)):
        return GoldColumn(name, "other")
    if any(element.startswith("B-") for element in elements) and all(map(_is_tagged, lists)):
        return _tags(name, lists)
    different = Counter(elements)
    if _are_labels(name, different) and len(different) <= MOST_LABELS:
        return GoldColumn(name, "labels", _in_order(different))
    return GoldColumn(name, "texts", words=_mean_words(elements))


def _text_column(name: str, texts: Sequence[str]) -> GoldColumn:
    different = Counter(texts)
    if _are_labels(name, different):
        return _label(name, set(different))
    kind = "string" if not any(" " in text.strip() for text in texts) else "text"
    return GoldColumn(name, kind, words=_mean_words(texts))


def _label(name: str, values: set[str]) -> GoldColumn:
    """A column of labels, which are declared where there are few of them."""
    listed = _in_order(values) if len(values) <= MOST_LABELS else ()
    numbers = [int(value) for value in listed if WHOLE.fullmatch(value)]
    grades = len(numbers) == len(listed) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return GoldColumn(name, "label", listed, grades=grades)


def _tags(name: str, lists: Sequence[Sequence[str]]) -> GoldColumn:
    different = set(itertools.chain.from_iterable(lists))
    return GoldColumn(name, "tags", _in_order({tag[2:] for tag in different - {"O"}}))


def _are_labels(name: str, texts: Counter[str]) -> bool:
    """Whether texts repeat as labels do: short, without blanks around them; in a column named so also if few repeat."""
    if not texts or not all(map(_is_short, texts)):
        return False
    named = LABEL_NAME.fullmatch(name) is not None and not any(" " in text for text in texts)
    return texts.total() >= FEWEST_REPEATS * len(texts) or (named and len(texts) <= MOST_GRADES)


def _is_short(text: str) -> bool:
    return _is_label(text) and len(text) <= LONGEST_LABEL and LINE_END.search(text) is None


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


def _is_json_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_label(value: Any) -> bool:
    text = text_of(value)
    return bool(text) and text == (text or "").strip()


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None and _is_finite(cell)


def _is_finite(number: float | str) -> bool:
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


def _is_tag(value: Any) -> bool:
    return isinstance(value, str) and TAG.fullmatch(value) is not None


def _is_span(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 3):
        return False
    start, end = value[:2]
    whole = type(start) is int and type(end) is int
    return whole and 0 <= start < end and (len(value) == 2 or isinstance(value[2], str))


ELEMENTS: Mapping[str, Callable[[Any], bool]] = {
    "labels": _is_label,
    "tags": _is_tag,
    "spans": _is_span,
    "texts": _is_text,
}
"""Type of a list → what its elements are."""


def _mean_words(texts: Sequence[str]) -> float:
    return sum(len(text.split()) for text in texts) / max(1, len(texts))


def gaps(gold: GoldRows, column: GoldColumn) -> Iterator[str]:
    """Gold without a value."""
    values = gold.column(column.name)
    if len(column.blank) == len(values):
        yield f"{gold.file}: the column {column.name} is empty. Expected what participants answer."
        return
    if column.type == "other":
        yield from _unread(gold, column)
        return
    empty_text_is_answer = column.type in (("text", "string") if gold.is_json else BLANK_CELLS)
    for at in column.blank:
        if values[at] is None or (values[at] == "" and not empty_text_is_answer):
            expected = f"a value of type {column.type} in each row of the gold"
            yield f"{gold.place(at)}: {column.name} is empty. Expected {expected}."
    numbers = len(values) - len(column.blank) - len(column.not_numbers)
    for at in column.not_numbers:
        yield (
            f"{gold.place(at)}: {column.name} is {values[at]!r}, but a number in {numbers} rows. Expected a number in "
            f"each row of the gold; if {values[at]!r} is a label, give --answer {column.name}=label."
        )


def _unread(gold: GoldRows, column: GoldColumn) -> list[str]:
    """A column of no type; objects that mean spans are spans in a form that is not read."""
    if any(_spans_meant(gold, value) for value in gold.column(column.name)):
        return misfits(gold, column, "spans")
    forms = "; ".join(f"{kind}: {form}" for kind, form in FORMS.items())
    return [
        f"{gold.file}: the column {column.name} holds values of several kinds, or none that can be answered. "
        f"Expected values of one type ({forms}); or another column for --answer."
    ]


def _spans_meant(gold: GoldRows, value: Any) -> str:
    """A value whose objects mean spans, in the form that is read; empty for any other."""
    listed = value if gold.is_json else json_list(value)
    spans = [span_of(element) for element in listed] if isinstance(listed, list) else []
    return json.dumps(spans, ensure_ascii=False) if spans and None not in spans else ""


def misfits(gold: GoldRows, column: GoldColumn, kind: str) -> list[str]:
    """Values that are not of the type that was named for their column: the first one, and where the others are."""
    separator = None if gold.is_json else column.separator
    values = gold.column(column.name)
    given = [at for at, value in enumerate(values) if value not in EMPTY]
    wrong = [at for at in given if not fits(values[at], kind, separator=separator)]
    if not wrong:
        return _not_two(gold, column) if kind == "probability" else []
    first, *rest = map(gold.place, wrong)
    expected = FORMS[kind]
    if kind == "spans" and (meant := _spans_meant(gold, values[wrong[0]])):
        expected += f": here {meant}"
    others = ""
    if rest:
        more = f" and {len(rest) - PLACES_SHOWN} more" if len(rest) > PLACES_SHOWN else ""
        others = f" The same in {', '.join(rest[:PLACES_SHOWN])}{more}."
    return [
        f"{first}: {column.name} does not hold a value of type {kind}. Expected {expected}; "
        f"or another type or column for --answer.{others}"
    ]


def _not_two(gold: GoldRows, column: GoldColumn) -> list[str]:
    labels = sorted(set(gold.texts(column.name)))
    if len(labels) == 2:
        return []
    shown = ", ".join(labels[:PLACES_SHOWN])
    return [f"{gold.file}: {column.name} has {len(labels)} labels ({shown}). Expected two for type probability."]


def constant(gold: GoldRows, column: GoldColumn) -> list[str]:
    """Labels and numbers that are the same everywhere: there is nothing to predict, and a constant is the gold."""
    different = {text_of(value) or str(value) for value in gold.column(column.name)}
    if column.type not in ("label", "number", "probability") or len(different) > 1:
        return []
    return [f"{gold.file}: the column {column.name} has one value in all rows. Expected at least two to tell apart."]
