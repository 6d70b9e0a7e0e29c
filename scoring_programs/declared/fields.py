"""The types of fields: the value of a CSV cell or of a JSON value, or why it has none.

Runs on Python 3.9 with the standard library alone, because participants run it at home.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple, Union

from scoring_kit.json_reading import type_name

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
TAG = re.compile(r"O|[BI]-.+")
SHOWN_VALUES = 12
LARGEST = 1e50
"""Numbers are no larger, so that squares and products of a million of them stay finite; float32 ends at 3e38."""
LAST_END = 10**9
"""No span ends later, so that sums of characters are exact."""

Span = Union[Tuple[int, int], Tuple[int, int, str]]
Labels = FrozenSet[str]


class FieldError(ValueError):
    """A value that its field cannot hold.

    Attributes:
        rule: what is wrong, without the value, so that it can be said of gold.
        expected: what was expected.
    """

    def __init__(self, rule: str, expected: str) -> None:
        super().__init__(rule)
        self.rule = rule
        self.expected = expected


class Absent:
    """The one value of a column or name that a row does not have."""


ABSENT = Absent()


@dataclass(frozen=True)
class Field:
    """One field of a table, as `submission.fields` of bundle.yaml declares it.

    Attributes:
        name: the column or name.
        type: string, label, labels, number, text, texts, tags or spans.
        values: the labels there are, in their declared order; None where any text will do.
        separator: between the labels of a cell.
        min: the smallest number; None: no bound.
        max: the largest number; None: no bound.
        required: whether every row must answer it.
    """

    name: str
    type: str
    values: Optional[Mapping[str, int]] = None
    separator: str = "|"
    min: Optional[float] = None
    max: Optional[float] = None
    required: bool = True

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Field":
        """Make a field of its JSON object; `values` as a list."""
        return cls(**{**data, "values": ordered(data.get("values"))})

    @property
    def empty(self) -> Any:
        """The empty answer; None where the type has none (label, number, tags)."""
        return EMPTY[self.type]

    def of_cell(self, cell: str) -> Any:
        """The value of a CSV or TSV cell; `empty` for an empty cell of a field that is not required.

        Raises:
            FieldError: the cell does not hold a value of the type.
        """
        if cell:
            return _OF_CELL[self.type](self, cell)
        if self.required and self.type not in EMPTY_CELLS:
            raise FieldError(f"{self.name} is empty", self.expected)
        return [] if self.required and self.type == "tags" else self.empty

    def of_json(self, value: Any) -> Any:
        """The value of a JSON value, `ABSENT` where the name is missing; `empty` where that is allowed.

        Raises:
            FieldError: it is not a value of the type.
        """
        if value is ABSENT or value is None:
            if self.required:
                raise FieldError(f"{self.name} is {'missing' if value is ABSENT else 'null'}", self.expected_in_json)
            return self.empty
        try:
            return _OF_JSON[self.type](self, value)
        except FieldError as error:
            raise FieldError(error.rule, error.expected.replace(self.expected, self.expected_in_json)) from None

    @property
    def expected_in_json(self) -> str:
        """What a value of a JSON file must be, in words."""
        if self.type == "tags":
            return 'a JSON list of tags O, B-x or I-x, such as ["O", "B-x"]'
        if self.type == "labels":
            return f"a JSON list of {self._listed or 'labels'}"
        return self.expected

    @property
    def expected(self) -> str:
        """What a value of a cell must be, in words."""
        if self.type == "labels":
            return f"{f'any of {self._listed}' if self._listed else 'labels'}, separated by {self.separator}"
        if self.type == "label" and self._listed:
            return f"one of {self._listed}"
        if self.type == "number":
            low = "" if self.min is None else f" from {self.min:g}"
            high = "" if self.max is None else f" {'up ' if self.min is None else ''}to {self.max:g}"
            return f"a finite number{low}{high}, such as 0.25"
        return EXPECTED[self.type]

    @property
    def _listed(self) -> str:
        """The declared labels, as far as they are named in a message."""
        named = list(self.values or ())
        more = f" … ({len(named)} in all)" if len(named) > SHOWN_VALUES else ""
        return ", ".join(named[:SHOWN_VALUES]) + more


def ordered(values: Optional[Iterable[str]]) -> Optional[Dict[str, int]]:
    """Labels with their position, to be looked up."""
    return None if values is None else {value: position for position, value in enumerate(values)}


EMPTY: Dict[str, Any] = {
    "string": "",
    "label": None,
    "labels": frozenset(),
    "number": None,
    "text": "",
    "texts": [],
    "tags": None,
    "spans": [],
}
EMPTY_CELLS = ("labels", "text", "string", "tags")
"""Types whose empty cell is a value."""
EXPECTED = {
    "string": "a text",
    "label": "a label",
    "text": "a text",
    "texts": 'a JSON list of texts, such as ["one", "two"]',
    "tags": "tags O, B-x or I-x, separated by spaces",
    "spans": "a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end",
}


def _number(field: Field, cell: str) -> float:
    if not NUMBER.fullmatch(cell):
        blanks = cell != cell.strip() and NUMBER.fullmatch(cell.strip())
        hint = "; take away the blanks around it" if blanks else ""
        raise FieldError(f"{field.name} is not a number", field.expected + hint)
    return _bounded(field, float(cell))


def _bounded(field: Field, value: float) -> float:
    if not math.isfinite(value):
        raise FieldError(f"{field.name} is not finite", field.expected)
    if (field.min is not None and value < field.min) or (field.max is not None and value > field.max):
        raise FieldError(f"{field.name} is out of range", field.expected)
    if abs(value) > LARGEST:
        raise FieldError(f"{field.name} is far out of range", f"{field.expected}, at most {LARGEST:g} in size")
    return value


def _label(field: Field, text: str) -> str:
    values = field.values
    if values is not None and text in values:
        return text
    if text != text.strip() or not text:
        what = "has blanks around it" if text.strip() else "is blank"
        raise FieldError(f"{field.name} {what}", f"{field.expected}, without blanks around it")
    if values is not None:
        raise FieldError(f"{field.name} has an unknown label", field.expected)
    return text


def _labels(field: Field, cell: str) -> Labels:
    return frozenset([_label(field, part) for part in cell.split(field.separator)])


def _json_list(field: Field, cell: str) -> Any:
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise FieldError(f"{field.name} is not a JSON list", field.expected)
    return value


def _list(field: Field, value: Any, element: type = object) -> List[Any]:
    """A JSON list of elements of one Python type."""
    if not isinstance(value, list):
        raise FieldError(f"{field.name} is {type_name(value)}, not a list", field.expected)
    if not all(isinstance(one, element) for one in value):
        raise FieldError(f"{field.name} is not a list of {field.type}", field.expected)
    return value


def _texts(field: Field, value: Any) -> List[str]:
    return _list(field, value, str)


def _tags(field: Field, value: Any) -> List[str]:
    if not all(map(TAG.fullmatch, _list(field, value, str))):
        raise FieldError(f"{field.name} has a tag of another form", field.expected)
    return value  # type: ignore[no-any-return]


def _spans(field: Field, value: Any) -> List[Span]:
    return [_span(field, span) for span in _list(field, value)]


def _span(field: Field, span: Any) -> Span:
    if not isinstance(span, list) or len(span) not in (2, 3):
        raise FieldError(f"{field.name} has a span of another form", field.expected)
    start, end = span[:2]
    if type(start) is not int or type(end) is not int:
        raise FieldError(f"{field.name} has a span whose start or end is not a whole number", field.expected)
    if not 0 <= start < end:
        raise FieldError(f"{field.name} has a span whose start is negative, or not before its end", field.expected)
    if end > LAST_END:
        raise FieldError(f"{field.name} has a span that is far out of range", f"{field.expected} ≤ {LAST_END:,}")
    if len(span) == 3 and not isinstance(span[2], str):
        raise FieldError(f"{field.name} has a span whose type is not a text", field.expected)
    return (start, end, span[2]) if len(span) == 3 else (start, end)


def json_text(value: Any) -> Any:
    """The text of a whole number or a boolean of JSON, as labels and ids compare; anything else as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else value


def _json_text(field: Field, value: Any) -> str:
    if not isinstance(value, str):
        raise FieldError(f"{field.name} is {type_name(value)}, not a text", field.expected)
    return value


def _json_label(field: Field, value: Any) -> str:
    return _label(field, _json_text(field, json_text(value)))


def _json_number(field: Field, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldError(f"{field.name} is {type_name(value)}, not a number", field.expected)
    try:
        return _bounded(field, float(value))
    except OverflowError:
        raise FieldError(f"{field.name} is not finite", field.expected) from None


_OF_CELL: Dict[str, Callable[[Field, str], Any]] = {
    "string": lambda field, cell: cell,
    "label": _label,
    "labels": _labels,
    "number": _number,
    "text": lambda field, cell: cell,
    "texts": lambda field, cell: _texts(field, _json_list(field, cell)),
    "tags": lambda field, cell: _tags(field, cell.split(" ")),
    "spans": lambda field, cell: _spans(field, _json_list(field, cell)),
}
_OF_JSON: Dict[str, Callable[[Field, Any], Any]] = {
    "string": lambda field, value: _json_text(field, json_text(value)),
    "label": _json_label,
    "labels": lambda field, value: frozenset([_json_label(field, label) for label in _list(field, value)]),
    "number": _json_number,
    "text": _json_text,
    "texts": _texts,
    "tags": _tags,
    "spans": _spans,
}
