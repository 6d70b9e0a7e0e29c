"""Values in another form than a field's: spans as objects, answers with their places, lists of Python, decimal commas.

Gold is written again by `new`, so that a form which means a type is read as that type, and said.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gen_bundle.new.table import FEWEST_REPEATS, LIST, GoldRows

STARTS = ("start", "begin", "start_char", "start_offset", "startOffset", "char_start", "start_index", "from")
ENDS = ("end", "stop", "end_char", "end_offset", "endOffset", "char_end", "end_index", "to")
KINDS = ("label", "type", "entity_type", "entity_group", "entity", "category", "tag", "class", "technique", "labels")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+|[+-]?[0-9]+")
NO_FORM: Any = object()
EMPTY: tuple[Any, ...] = ([], "[]")
MOST_CODES = 10


def is_span(value: Any) -> bool:
    """Whether an object says where a span starts and ends."""
    return isinstance(value, Mapping) and _first(value, STARTS) is not None and _first(value, ENDS) is not None


def is_answer(value: Any) -> bool:
    """Whether an object is an answer as SQuAD has them: its text, and where that starts."""
    return isinstance(value, Mapping) and "text" in value and "answer_start" in value


def _first(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in value), None)


def as_they_are_meant(gold: GoldRows) -> GoldRows:
    """The gold with every column whose values all are of another form in the form of its field."""
    columns: list[Sequence[Any]] = []
    notes = [*gold.notes]
    forms = JSON_FORMS if gold.is_json else CELL_FORMS
    for name in gold.names:
        values = gold.column(name)
        for form, meaning in forms.items():
            if meaning is _decimal_point and _are_codes(values):
                continue
            meant = _all_meant(values, meaning)
            if meant is not None:
                notes.append(f"{gold.file}: {name} is read as {form}")
                values = meant
        columns.append(values)
    if len(notes) == len(gold.notes):
        return gold
    return replace(gold, rows=list(zip(*columns, strict=True)), notes=tuple(notes))


def _all_meant(values: Sequence[Any], meaning: Callable[[Any], Any]) -> list[Any] | None:
    """What values mean; None where one of them has not this form, or none means anything else than it says."""
    found = []
    is_other = False
    for value in values:
        meant = value if value in (None, "") else meaning(value)
        if meant is NO_FORM:
            return None
        is_other = is_other or (meant != value and value not in EMPTY)
        found.append(meant)
    return found if is_other else None


def _spans(value: Any) -> Any:
    """Objects that say where spans start and end."""
    if not isinstance(value, list) or not all(map(is_span, value)):
        return NO_FORM
    found = []
    for span in value:
        meant = [span[_first(span, STARTS)], span[_first(span, ENDS)]]
        kind = span.get(_first(span, KINDS))
        if isinstance(kind, list) and len(kind) == 1:
            (kind,) = kind
        if isinstance(kind, str):
            meant.append(kind)
        found.append(meant)
    return found


def _answers(value: Any) -> Any:
    """Answers with their places; none is the empty answer, as SQuAD scores it."""
    if is_answer(value) and isinstance(value["text"], list):
        texts = value["text"]
    elif isinstance(value, list) and all(map(is_answer, value)):
        texts = [answer["text"] for answer in value]
    else:
        return NO_FORM
    return list(dict.fromkeys(texts)) or [""]


def json_list(cell: str) -> Any:
    """The list in a cell; None where the cell is not JSON."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _python_list(cell: str) -> Any:
    if not LIST.fullmatch(cell):
        return NO_FORM
    if json_list(cell) is not None:
        return cell
    try:
        return json.dumps(ast.literal_eval(cell), ensure_ascii=False)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return NO_FORM


def _in_cell(meaning: Callable[[Any], Any]) -> Callable[[str], Any]:
    """The same for a cell that holds a JSON list."""

    def of_cell(cell: str) -> Any:
        if not cell.startswith("["):
            return NO_FORM
        meant = meaning(json_list(cell))
        return NO_FORM if meant is NO_FORM else json.dumps(meant, ensure_ascii=False)

    return of_cell


def _are_codes(cells: Sequence[str]) -> bool:
    """Whether cells such as `1,3` are sets of a few codes, in order, and no numbers with decimal commas."""
    seen: Counter[str] = Counter()
    for cell in cells:
        parts = cell.split(",")
        if not all(map(str.isdecimal, parts)) or list(map(int, parts)) != sorted(set(map(int, parts))):
            return False
        seen.update(parts)
        if len(seen) > MOST_CODES:
            return False
    return seen.total() >= FEWEST_REPEATS * len(seen)


def _decimal_point(cell: str) -> Any:
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else NO_FORM


JSON_FORMS: Mapping[str, Callable[[Any], Any]] = {"spans": _spans, "texts, without their places": _answers}
CELL_FORMS: Mapping[str, Callable[[str], Any]] = {
    "lists of JSON": _python_list,
    "spans": _in_cell(_spans),
    "texts, without their places": _in_cell(_answers),
    "numbers, whose commas are written as points": _decimal_point,
}
"""How a column is said to be read → what a value of it means, or `NO_FORM`."""
