"""What is wrong with the columns of gold that participants answer, each fault with its line."""

import json

from gen_bundle.new.gold import Gold
from gen_bundle.new.look import Column, fits, json_list, span_of, text_of

TYPES = ("label", "labels", "number", "text", "texts", "tags", "spans", "string")
BLANK_CELLS = ("labels", "text", "string", "tags")
"""Types whose empty cell is an answer, as in scored submissions."""


def gaps(gold: Gold, column: Column) -> list[str]:
    """Gold without a value."""
    values = gold.column(column.name)
    if len(column.blank) == len(values):
        return [f"{gold.file}: the column {column.name} is empty. Expected what participants answer."]
    if column.type == "other":
        return [_unread(gold, column)]
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


def _unread(gold: Gold, column: Column) -> str:
    """A column of no type: for objects that mean spans, the form that is read, by the first row that has any."""
    for at, value in enumerate(gold.column(column.name)):
        listed = value if gold.is_json else json_list(value)
        spans = [span_of(element) for element in listed] if isinstance(listed, list) else []
        if spans and None not in spans:
            return (
                f"{gold.place(at)}: {column.name} holds spans as objects. "
                f"Expected each as [start, end] or [start, end, type]: here {json.dumps(spans, ensure_ascii=False)}; "
                "or other columns that participants answer, with --answer."
            )
    return (
        f"{gold.file}: the column {column.name} holds values of several kinds, or none that can be answered. "
        f"Expected values of one type: {', '.join(TYPES)}; or other columns that participants answer, with --answer."
    )


def misfits(gold: Gold, column: Column, kind: str) -> list[str]:
    """Values that are not of the type that was named for their column."""
    separator = None if gold.is_json else column.separator
    expected = f"Expected another type for --answer {column.name}"
    return [
        f"{gold.place(at)}: {column.name} does not hold a value of type {kind}, without blanks around it. {expected}."
        for at, value in enumerate(gold.column(column.name))
        if value not in (None, "", []) and not fits(value, kind, separator=separator)
    ]


def constant(gold: Gold, column: Column) -> list[str]:
    """Labels and numbers that are the same everywhere: there is nothing to predict, and a constant is the gold."""
    if column.type not in ("label", "number") or len({text_of(v) or str(v) for v in gold.column(column.name)}) > 1:
        return []
    return [f"{gold.file}: the column {column.name} has one value in all rows. Expected at least two to tell apart."]
