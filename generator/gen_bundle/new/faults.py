"""What is wrong with the columns of gold that participants answer, each fault with its line."""

import json
from typing import Any

from gen_bundle.new.gold import Gold
from gen_bundle.new.look import SEPARATORS, Column, fits, json_list, span_of, text_of

FORMS = {
    "label": "a text without blanks around it",
    "labels": f"a list of labels without blanks around them (in a cell separated by one of {' '.join(SEPARATORS)})",
    "number": "a finite number, such as 0.25",
    "text": "a text",
    "texts": "a JSON list of texts",
    "tags": "a list of O, B-x or I-x (in a cell separated by spaces)",
    "spans": "a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end",
    "string": "a text",
}
"""Type of an answer → the form of its values."""
TYPES = tuple(FORMS)
PLACES_SHOWN = 10
BLANK_CELLS = ("labels", "text", "string", "tags")
"""Types whose empty cell is an answer, as in scored submissions."""


def gaps(gold: Gold, column: Column) -> list[str]:
    """Gold without a value."""
    values = gold.column(column.name)
    if len(column.blank) == len(values):
        return [f"{gold.file}: the column {column.name} is empty. Expected what participants answer."]
    if column.type == "other":
        return _unread(gold, column)
    blank = [
        at
        for at in column.blank
        if values[at] is None
        or (values[at] == "" and (column.type not in (("text", "string") if gold.is_json else BLANK_CELLS)))
    ]
    numbers = len(values) - len(column.blank) - len(column.not_numbers)
    return [
        f"{gold.place(at)}: {column.name} is empty. Expected a value of type {column.type} in each row of the gold."
        for at in blank
    ] + [
        f"{gold.place(at)}: {column.name} is {values[at]!r}, but a number in {numbers} rows. Expected a number in each "
        f"row of the gold; if {values[at]!r} is a label, give --answer {column.name}=label."
        for at in column.not_numbers
    ]


def _unread(gold: Gold, column: Column) -> list[str]:
    """A column of no type; objects that mean spans are spans in a form that is not read."""
    if any(_spans_meant(gold, value) for value in gold.column(column.name)):
        return misfits(gold, column, "spans")
    forms = "; ".join(f"{kind}: {form}" for kind, form in FORMS.items())
    return [
        f"{gold.file}: the column {column.name} holds values of several kinds, or none that can be answered. "
        f"Expected values of one type ({forms}); or another column for --answer."
    ]


def _spans_meant(gold: Gold, value: Any) -> str:
    """A value whose objects mean spans, in the form that is read; empty for any other."""
    listed = value if gold.is_json else json_list(value)
    spans = [span_of(element) for element in listed] if isinstance(listed, list) else []
    return json.dumps(spans, ensure_ascii=False) if spans and None not in spans else ""


def misfits(gold: Gold, column: Column, kind: str) -> list[str]:
    """Values that are not of the type that was named for their column: the first one, and where the others are."""
    separator = None if gold.is_json else column.separator
    values = gold.column(column.name)
    wrong = [
        at
        for at, value in enumerate(values)
        if value not in (None, "", []) and not fits(value, kind, separator=separator)
    ]
    if not wrong:
        return []
    first, *rest = map(gold.place, wrong)
    meant = _spans_meant(gold, values[wrong[0]]) if kind == "spans" else ""
    expected = FORMS[kind] + (f": here {meant}" if meant else "")
    more = f" and {len(rest) - PLACES_SHOWN} more" if len(rest) > PLACES_SHOWN else ""
    others = f" The same in {', '.join(rest[:PLACES_SHOWN])}{more}." if rest else ""
    return [
        f"{first}: {column.name} does not hold a value of type {kind}. Expected {expected}; "
        f"or another type or column for --answer.{others}"
    ]


def constant(gold: Gold, column: Column) -> list[str]:
    """Labels and numbers that are the same everywhere: there is nothing to predict, and a constant is the gold."""
    if column.type not in ("label", "number") or len({text_of(v) or str(v) for v in gold.column(column.name)}) > 1:
        return []
    return [f"{gold.file}: the column {column.name} has one value in all rows. Expected at least two to tell apart."]
