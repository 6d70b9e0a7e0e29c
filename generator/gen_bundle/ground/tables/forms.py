"""Values in another form than a field's: spans as objects or as text, answers with their places, decimal commas.

Gold is written again by `new`, so that a form which means a type is read as that type, and said.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.table import FEWEST_REPEATS, LIST, FileTable, all_match

STARTS = ("start", "begin", "start_char", "start_offset", "startOffset", "char_start", "start_index", "from")
ENDS = ("end", "stop", "end_char", "end_offset", "endOffset", "char_end", "end_index", "to")
KINDS = ("label", "type", "entity_type", "entity_group", "entity", "category", "tag", "class", "technique", "labels")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)?")
MAY_BE_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
PERCENT = re.compile(r"[+-]?[0-9]+(\.[0-9]+)? ?%")
NO_FORM: Any = object()
EMPTY: tuple[Any, ...] = ([], "[]")
MOST_CODES = 10
MOST_LABELS = 50


def start_and_end(value: Any) -> list[Any] | None:
    """Return where a span starts and ends that is an object; None for any other value."""
    if not isinstance(value, Mapping):
        return None
    start, end = _first(value, STARTS), _first(value, ENDS)
    return None if start is None or end is None else [start, end]


def is_answer(value: Any) -> bool:
    """Whether an object is an answer as SQuAD has them: its text, and where that starts."""
    return isinstance(value, Mapping) and "text" in value and "answer_start" in value


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return what an object has under the first of some names."""
    for name in names:
        if name in value:
            return value[name]
    return None


def as_they_are_meant(gold: FileTable) -> FileTable:
    """The gold with every column whose values all are of another form in the form of its field.

    Raises:
        UserError: numbers that can be read in two ways.
    """
    columns: dict[str, Sequence[Any]] = {}
    notes = [*gold.notes]
    for name, values in gold.columns.items():
        for form, meaning in (JSON_FORMS if gold.is_json else CELL_FORMS).items():
            meant = _all_meant(values, meaning)
            if meant is not None:
                notes.append(f"{gold.file}: {name} is read as {form}")
                values = meant
        found = None if gold.is_json else _numbers(gold, name, values) or _listed_labels(values)
        if found is not None:
            values, form = found
            notes.append(f"{gold.file}: {name} is read as {form}")
        columns[name] = values
    return replace(gold, columns=columns, notes=tuple(notes))


def _all_meant(values: Sequence[Any], meaning: Callable[[Any], Any]) -> list[Any] | None:
    """Return what values mean; None where one of them has not this form, or none means anything else than it says."""
    found = []
    is_other = False
    for value in values:
        meant = value if value in (None, "") else meaning(value)
        if meant is NO_FORM:
            return None
        is_other = is_other or (meant != value and value not in EMPTY)
        found.append(meant)
    return found if is_other else None


def _listed_labels(cells: Sequence[str]) -> tuple[list[str], str] | None:
    """The cells of labels that are lists of JSON, with bars between the labels; None for any other."""
    if not cells or not cells[0].startswith("["):
        return None
    seen: Counter[str] = Counter()
    found = []
    for cell in cells:
        value = json_list(cell)
        if not isinstance(value, list) or not all(isinstance(one, str) and "|" not in one for one in value):
            return None
        seen.update(value)
        found.append("|".join(value))
    if len(seen) > MOST_LABELS or seen.total() < FEWEST_REPEATS * len(seen):
        return None
    return found, "labels, which are written with bars between them"


def _numbers(gold: FileTable, name: str, cells: Sequence[str]) -> tuple[list[str], str] | None:
    """The cells of numbers without their commas or percent signs, and the words for it; None for any other."""
    if all_match(PERCENT, cells):
        return [cell.rstrip("%").rstrip() for cell in cells], "numbers, without their percent signs"
    with_commas = [cell for cell in cells if "," in cell]
    if not with_commas or not all_match(DECIMAL_COMMA, cells) or _are_codes(cells):
        return None
    if all_match(MAY_BE_THOUSANDS, with_commas):
        first = with_commas[0]
        meant = f"{first.replace(',', '.')} or {first.replace(',', '')}"
        raise UserError(f"{gold.file}: {name} holds numbers such as {first}. Expected {meant}, whichever is meant.")
    return [cell.replace(",", ".") for cell in cells], "numbers, whose commas are written as points"


def _spans(value: Any) -> Any:
    """Return the spans that objects are which say where they start and end."""
    if not isinstance(value, list):
        return NO_FORM
    found = []
    for span in value:
        meant = start_and_end(span)
        if meant is None:
            return NO_FORM
        kind = _first(span, KINDS)
        if isinstance(kind, list) and len(kind) == 1:
            (kind,) = kind
        if isinstance(kind, str):
            meant.append(kind)
        found.append(meant)
    return found


def _answers(value: Any) -> Any:
    """Return the texts of answers with their places; none is the empty answer, as SQuAD scores it."""
    texts: list[Any] = []
    if is_answer(value) and isinstance(value["text"], list):
        texts = value["text"]
    elif isinstance(value, list):
        for answer in value:
            if not is_answer(answer):
                return NO_FORM
            texts.append(answer["text"])
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
        if not "".join(parts).isdecimal() or parts != sorted({*parts}, key=int):
            return False
        seen.update(parts)
        if len(seen) > MOST_CODES:
            return False
    return seen.total() >= FEWEST_REPEATS * len(seen)


JSON_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "spans": _spans,
    "texts, without their places": _answers,
}
CELL_FORMS: Mapping[str, Callable[[str], Any]] = {
    "lists of JSON": _python_list,
    "spans": _in_cell(_spans),
    "texts, without their places": _in_cell(_answers),
}
"""How a column is said to be read → what a value of it means, or `NO_FORM`."""
