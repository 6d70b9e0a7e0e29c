"""A column of gold: its type as a declaration names it, what goes with that type, and what does not fit."""

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gen_bundle.ground.plain_text import listed
from gen_bundle.ground.tables.forms import json_list
from gen_bundle.ground.tables.table import FEWEST_REPEATS, LIST, FileTable, all_match, text_of
from scoring_kit.base.field_types import NUMBER, TAG, Field, FieldError

WHOLE = re.compile(r"[+-]?[0-9]+")
NO_NUMBER = re.compile(r"(?i)[+-]?(nan|inf|infinity)|null|none|nil|n\.?a\.?|#?n/a|-+|\?+|\.")
"""Texts that stand for a missing value, or one that is not finite, among numbers."""
SEPARATORS = ("|", ";", ",")
TEXTS_LOOKED_AT = 20_000
MOST_LABELS = 50
MOST_GRADES = 10
SHORT_LABEL = re.compile(r"(?!\s)[^\r\n]{1,60}(?<!\s)")
SCALE_NAME = re.compile(
    r"(?i)(.*[_ -])?(scores?|ratings?|stars?|grades?|levels?|intensity|severity|difficulty|degree|likert|quality)"
)
NUMBERED_LABEL = re.compile(r"([0-9]+)(?:[:.)]| -| =)? \S.*")
"""A label that says its place on a scale, such as `0: none at all`."""
SCALES = (
    ("none", "low", "medium", "high"),
    ("low", "moderate", "high"),
    ("none", "mild", "moderate", "severe"),
    ("easy", "medium", "hard"),
    ("A1", "A2", "B1", "B2", "C1", "C2"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very negative", "negative", "neutral", "positive", "very positive"),
    ("never", "rarely", "sometimes", "often", "always"),
)
"""Words of scales, lowest first; a column may lack some of them, but not both ends."""
FEWEST_GRADES = 3
BINARY = ({"0", "1"}, {"false", "true"}, {"no", "yes"}, {"n", "y"}, {"0.0", "1.0"})
"""Pairs of labels, without case, that say whether something holds."""
LABEL_NAME = re.compile(r"(?i)(.*[_ -])?(labels?|class|categor(y|ies)|sentiment|stance|emotions?|polarity|intent)")

FORMS = {
    "label": "a text without blanks around it",
    "labels": f"a list of labels without blanks around them (in a cell separated by one of {' '.join(SEPARATORS)})",
    "number": "a finite number, such as 0.25",
    "probability": "one of two labels, such as 0 and 1; participants give the probability of the second",
    "text": "a text",
    "texts": "a JSON list of texts",
    "tags": "a list of O, B-x or I-x (in a cell separated by spaces)",
    "ordinal": "a label of a scale, such as 1 to 5: numbers, or labels that begin with one, lowest first",
    "offsets": "a JSON list of whole numbers, each once: the positions of characters",
    "spans": "a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end",
    "string": "a text",
}
"""Type of an answer → the form of its values."""
TYPES = tuple(FORMS)
PLACES_SHOWN = 10
LONGEST_SHOWN = 80
BLANK_TEXTS = ("text", "string")
BLANK_CELLS = (*BLANK_TEXTS, "labels", "tags")
"""Types whose empty text of JSON, or empty cell, is an answer, as in scored submissions."""


@dataclass(frozen=True)
class GoldColumn:
    """A column of gold.

    Attributes:
        name: its name.
        type: one of TYPES; `string` for short texts that differ nearly everywhere, `other` for JSON that no field can
            hold.
        values: the labels there are, in the order to declare them; for tags and spans the types.
        separator: between the labels of a cell.
        grades: whether the labels are whole numbers without a gap, so that they may have an order.
        columns: of labels that are spread over columns of 0 and 1, or of two such words, and of a list of numbers:
            these columns' names.
        binary: of such labels the words for what does not hold and for what does.
        annotators: of an answer that the gold has several times, the columns of it.
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
    columns: tuple[str, ...] = ()
    binary: tuple[str, str] = ("0", "1")
    annotators: tuple[str, ...] = ()
    within_one: bool = False
    words: float = 0
    blank: tuple[int, ...] = ()
    not_numbers: tuple[int, ...] = ()

    @property
    def in_gold(self) -> tuple[str, ...]:
        """The columns of the gold that hold it."""
        return self.columns or self.annotators or (self.name,)

    @property
    def in_answers(self) -> tuple[str, ...]:
        """The columns of a submission that hold it."""
        return self.columns or (self.name,)


def look_at(gold: FileTable, name: str) -> GoldColumn:
    """Return what a column holds."""
    values = gold.columns[name]
    if gold.is_json:
        given = [one for one in values if not _is_blank(one)]
        odd = _no_numbers(zip(given, itertools.repeat(1)), is_json=True)
        if odd:
            given = [value for value in given if str(value) not in odd]
        found = _json_column(name, given)
    else:
        cells = Counter(values)
        del cells[""]
        odd = _no_numbers(cells.items(), is_json=False)
        for cell in odd:
            del cells[cell]
        found = _cell_column(name, cells)
    blank: list[int] = []
    not_numbers: list[int] = []
    if odd or not all(values):
        for at, value in enumerate(values):
            if _is_blank(value):
                blank.append(at)
            elif str(value) in odd:
                not_numbers.append(at)
    return replace(found, blank=tuple(blank), not_numbers=tuple(not_numbers))


def _is_blank(value: Any) -> bool:
    return value is None or value in ("", [])


def as_type(gold: FileTable, column: GoldColumn, kind: str) -> GoldColumn:
    """The column, of another type than the one that was found; its labels where it has any."""
    texts: Counter[str] = Counter()
    for value in gold.columns[column.name]:
        elements = value if isinstance(value, list) else [value]
        for element in elements:
            if text := text_of(element):
                texts[text] += 1
    values: tuple[str, ...] = ()
    if kind in ("label", "ordinal", "probability"):
        values = labels_of(texts, kind)
    elif kind == "labels":
        values = _in_order(_parts(texts, column.separator))
    listed = values if len(values) <= MOST_LABELS else ()
    return GoldColumn(column.name, kind, listed, column.separator, words=_mean_words(texts), blank=column.blank)


def names_of(columns: Iterable[GoldColumn]) -> list[str]:
    """Return the names of columns."""
    return [column.name for column in columns]


def without_case(texts: Iterable[str]) -> dict[str, str]:
    """Return texts by how they are written without case."""
    return {text.casefold(): text for text in texts}


def labels_of(texts: Collection[str], kind: str) -> tuple[str, ...]:
    """The labels of a column of this type, in the order to declare them."""
    ordered = on_a_scale(texts) if kind == "ordinal" else ()
    return ordered or _in_order(texts)


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None and _is_finite(cell)


def _no_numbers(given: Iterable[tuple[Any, int]], *, is_json: bool) -> set[str]:
    """Values that say NaN or the like, where most rows, and all others, are numbers; `given` says in how many rows."""
    is_number = _is_json_number if is_json else _is_number
    odd: set[str] = set()
    others = numbers = 0
    for value, times in given:
        if is_number(value):
            numbers += times
        elif NO_NUMBER.fullmatch(str(value).strip()):
            odd.add(str(value))
            others += times
        else:
            return set()
    return odd if others < numbers else set()


def _cell_column(name: str, cells: Counter[str]) -> GoldColumn:
    """A column of these cells, which occur so often."""
    if not cells:
        return GoldColumn(name, "string")
    if all_match(LIST, cells):
        found = _list_column(name, [json_list(one) for one in cells.elements()])
        return found if found.type in ("spans", "texts", "offsets") else GoldColumn(name, "other")
    if tags := _tags(name, (cell.split(" ") for cell in cells)):
        return tags
    if all(_is_number(one) for one in cells):
        return _numbers(name, [float(one) for one in cells], cells)
    for separator in SEPARATORS:
        parts = _parts(cells, separator)
        if parts.keys() != cells.keys() and len(parts) <= MOST_LABELS and _are_labels(name, parts):
            return GoldColumn(name, "labels", _in_order(parts), separator)
    return _text_column(name, cells)


def _parts(cells: Counter[str], separator: str) -> Counter[str]:
    """The labels of cells, and how often they occur; of more than may be labels only some."""
    parts: Counter[str] = Counter()
    for cell, times in cells.items():
        for part in cell.split(separator):
            parts[part] += times
        if len(parts) > MOST_LABELS:
            break
    return parts


def _numbers(name: str, numbers: Sequence[float], written: Counter[str]) -> GoldColumn:
    """A column of numbers: labels where all are whole, few and repeated."""
    if all_match(WHOLE, written) and len(written) <= MOST_GRADES and _are_labels(name, written):
        return _label(name, written)
    return GoldColumn(name, "number", within_one=min(numbers) >= 0 and max(numbers) <= 1)


def _json_column(name: str, values: Sequence[Any]) -> GoldColumn:
    if not values:
        return GoldColumn(name, "string")
    if isinstance(values[0], list):
        return _list_column(name, values)
    if all(_is_json_number(one) for one in values):
        return _numbers(name, values, Counter(str(one) for one in values))
    texts: Counter[str] = Counter()
    for value in values:
        text = text_of(value)
        if text is None:
            return GoldColumn(name, "other")
        texts[text] += 1
    return _text_column(name, texts)


def _list_column(name: str, lists: Sequence[Any]) -> GoldColumn:
    if not are_all(list, lists):
        return GoldColumn(name, "other")
    elements = list(itertools.chain.from_iterable(lists))
    if elements and all(_is_span(one) for one in elements):
        return GoldColumn(name, "spans", _in_order({span[2] for span in elements if len(span) > 2}))
    if all(_are_offsets(one) for one in lists) and len({len(one) for one in lists}) > 1:
        return GoldColumn(name, "offsets")
    if not are_all(str, elements):
        return GoldColumn(name, "other")
    if tags := _tags(name, lists):
        return tags
    different = Counter(elements)
    if _are_labels(name, different) and len(different) <= MOST_LABELS:
        return GoldColumn(name, "labels", _in_order(different))
    return GoldColumn(name, "texts", words=_mean_words(different))


def _text_column(name: str, texts: Counter[str]) -> GoldColumn:
    if _are_labels(name, texts):
        return _label(name, texts)
    kind = "text" if any(" " in text.strip() for text in texts) else "string"
    return GoldColumn(name, kind, words=_mean_words(texts))


def _label(name: str, values: Collection[str]) -> GoldColumn:
    """A column of labels, which are declared where there are few of them."""
    if scale := on_a_scale(values):
        return GoldColumn(name, "ordinal", scale)
    listed = _in_order(values) if len(values) <= MOST_LABELS else ()
    grades = len(listed) >= FEWEST_GRADES and all_match(WHOLE, listed)
    grades = grades and [int(one) for one in listed] == list(range(int(listed[0]), int(listed[-1]) + 1))
    if grades and SCALE_NAME.fullmatch(name):
        return GoldColumn(name, "ordinal", listed)
    return GoldColumn(name, "label", listed, grades=grades)


def on_a_scale(values: Collection[str]) -> tuple[str, ...]:
    """The labels from the lowest to the highest, where they say their places themselves; else none."""
    if len(values) < FEWEST_GRADES or len(values) > MOST_GRADES:
        return ()
    places: dict[int, str] = {}
    for value in values:
        if found := NUMBERED_LABEL.fullmatch(value):
            places[int(found[1])] = value
    if len(places) == len(values):
        return tuple(places[place] for place in sorted(places))
    words = without_case(values)
    for scale in SCALES:
        known = list(without_case(scale))
        if len(words) == len(values) and words.keys() <= set(known) and (known[0] in words or known[-1] in words):
            return tuple(words[one] for one in known if one in words)
    return ()


def _tags(name: str, lists: Iterable[Sequence[Any]]) -> GoldColumn | None:
    """A column of tags; None where there are others, or none that begins anything."""
    types: set[str] = set()
    begins = False
    for tag in itertools.chain.from_iterable(lists):
        if not isinstance(tag, str) or not TAG.fullmatch(tag):
            return None
        begins = begins or tag.startswith("B-")
        if tag != "O":
            types.add(tag[2:])
    return GoldColumn(name, "tags", _in_order(types)) if begins else None


def _are_labels(name: str, texts: Counter[str]) -> bool:
    """Return whether texts repeat as labels do: short, no blanks around; in a column named so also if few repeat."""
    if not texts:
        return False
    may_be = texts.total() >= FEWEST_REPEATS * len(texts)
    if len(texts) > MOST_GRADES:
        may_be = may_be and 2 * list(texts.values()).count(1) <= len(texts)
    elif LABEL_NAME.fullmatch(name) and " " not in "".join(texts):
        may_be = True
    return may_be and all_match(SHORT_LABEL, texts)


def _in_order(values: Iterable[str]) -> tuple[str, ...]:
    """Numbers by size, other labels by the alphabet: never by how often they occur, which would reveal some gold."""
    listed = sorted(values)
    if all_match(WHOLE, listed):
        listed.sort(key=int)
    return tuple(listed)


def are_all(kind: type, values: Iterable[Any]) -> bool:
    """Return whether values are of one type, which is no subclass of it."""
    return all(type(one) is kind for one in values)


def _is_json_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)


def _are_offsets(value: Sequence[Any]) -> bool:
    """Return whether a list holds positions in their order, each once."""
    before = -1
    for one in value:
        if type(one) is not int or one <= before:
            return False
        before = one
    return True


def _is_finite(number: float | str) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _is_span(value: Any) -> bool:
    if not isinstance(value, list) or len(value) not in (2, 3):
        return False
    start, end, *kind = value
    are_whole = type(start) is int and type(end) is int
    return are_whole and 0 <= start < end and (not kind or isinstance(kind[0], str))


def _mean_words(texts: Counter[str]) -> float:
    """Return how many words a text has on average; of many texts, some of all parts tell it."""
    some = list(texts.items())[:: 1 + len(texts) // TEXTS_LOOKED_AT]
    words = rows = 0
    for text, times in some:
        words += len(text.split()) * times
        rows += times
    return words / max(1, rows)


def gaps(gold: FileTable, column: GoldColumn) -> list[str]:
    """Gold without a value."""
    values = gold.columns[column.name]
    if len(column.blank) == len(values):
        return [f"{gold.file}: the column {column.name} is empty. Expected what participants answer."]
    if column.type == "other":
        at, value = next((at, value) for at, value in enumerate(values) if not _is_blank(value))
        shown = json.dumps(value, ensure_ascii=False)
        if len(shown) > LONGEST_SHOWN:
            shown = f"{shown[:LONGEST_SHOWN]} …"
        return [
            f"{gold.place(at)}: {column.name} holds values of several kinds, or none that can be answered, such as "
            f"{shown}. Expected values of one type: {', '.join(FORMS)} (--answer {column.name}=TYPE says the form of "
            "each); another column, --answer COLUMN; or a scoring program of your own, gen-bundle new NAME --package."
        ]
    may_be_blank = BLANK_TEXTS if gold.is_json else BLANK_CELLS
    faults = []
    for at in column.blank:
        if values[at] is None or (values[at] == "" and column.type not in may_be_blank):
            faults.append(
                f"{gold.place(at)}: {column.name} is empty. Expected a value of type {column.type} in each row of the "
                "gold; leave rows without one out."
            )
    numbers = len(values) - len(column.blank) - len(column.not_numbers)
    for at in column.not_numbers:
        faults.append(
            f"{gold.place(at)}: {column.name} is {values[at]!r}, but a number in {numbers} rows. Expected a number in "
            f"each row of the gold; if {values[at]!r} is a label, give --answer {column.name}=label."
        )
    return faults


def misfits(gold: FileTable, column: GoldColumn, kind: str) -> list[str]:
    """Values that are not of the type that was named for their column: the first one, and where the others are."""
    field = Field(column.name, {"probability": "label"}.get(kind, kind), separator=column.separator)
    read = field.kind.of_json if gold.is_json else field.kind.of_cell
    wrong = []
    for at, value in enumerate(gold.columns[column.name]):
        if _is_blank(value):
            continue
        try:
            read(field, value)
        except FieldError:
            wrong.append(gold.place(at))
    if wrong:
        first, *rest = wrong
        others = f" The same in {listed(rest, PLACES_SHOWN)}." if rest else ""
        expected = f"Expected {FORMS[kind]}; or another type or column for --answer."
        return [f"{first}: {column.name} does not hold a value of type {kind}. {expected}{others}"]
    labels = sorted(set(gold.labels(column.name)))
    if kind != "probability" or len(labels) == 2:
        return []
    shown = listed(labels, PLACES_SHOWN)
    return [f"{gold.file}: {column.name} has {len(labels)} labels ({shown}). Expected two for type probability."]


def constant(gold: FileTable, columns: Sequence[GoldColumn]) -> list[str]:
    """Labels and numbers that are the same everywhere: there is nothing to predict, and a constant is the gold."""
    faults = []
    expected = "has one value in all rows. Expected at least two to tell apart."
    for column in columns:
        if column.type in ("label", "ordinal", "number", "probability") and len(set(gold.shown(column.name))) < 2:
            faults.append(f"{gold.file}: the column {column.name} {expected}")
    return faults
