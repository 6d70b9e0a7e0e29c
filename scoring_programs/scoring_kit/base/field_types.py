"""The fields of tables, and their types: how a value is read and written, and what is said of it to participants.

A type is one class; a further type is one more. Files hold values as cells of CSV and TSV, or as JSON. A field that is
spread over several columns has a tuple of cells (or of JSON values) instead of a single one. Runs on Python 3.9 with
the standard library alone, because participants run it at home.
"""

import json
import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Tuple

from scoring_kit.base.texts import counted

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
TAG = re.compile(r"O|[BI]-.+")
SHOWN_VALUES = 12
LARGEST = 1e50
"""Numbers are no larger, so that squares and products of a million of them stay finite; float32 ends at 3e38."""
LAST_END = 10**9
"""No span ends later, so that sums of characters are exact."""
SUM_TOLERANCE = 0.001
"""Probabilities may add up to as much more or less than 1, since they are written with few digits."""
ROUNDING = 1e-9
NATURAL_POSITIVE = ({"0", "1"}, {"false", "true"})
"""Labels of which the second is the positive one without being named."""


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

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@dataclass(frozen=True)
class Field:
    """One field of a table, as `submission.fields` of bundle.yaml declares it.

    Attributes:
        name: the field's name.
        type: one of `TYPES`.
        values: the labels there are, in their declared order; None where any text will do.
        separator: between the labels of a cell.
        min: the smallest number; None: no bound.
        max: the largest number; None: no bound.
        required: whether every row must answer it.
        columns: of a field that is spread over columns: their names; of probabilities in the order of `values`.
        positive: with `columns` of type labels: the cell that says that the element is in the set.
        negative: likewise, that it is not.
        normalise: whether probabilities may have any sum.
        length: how many numbers there must be; None: any number.
        case: `ignore` where texts differ in case alone count as the same.
        aliases: other spelling → the one that counts.
        default: what a missing row or an empty answer counts as, as JSON writes it; None: as nothing.
        open: whether any text is a label, so that the gold's are told to nobody.
        scheme: `none` where tags are labels; None where they are O, B-x and I-x.
        shape: of arrays: `gold` where it is that of the key's gold, else `any`.

    >>> Field("stance", "label", values=("for", "against")).of_cell("for")
    'for'
    """

    name: str
    type: str
    values: Optional[Mapping[str, int]] = None
    separator: str = "|"
    min: Optional[float] = None
    max: Optional[float] = None
    required: bool = True
    columns: Sequence[str] = ()
    positive: str = "1"
    negative: str = "0"
    normalise: bool = False
    length: Optional[int] = None
    case: str = "exact"
    aliases: Mapping[str, str] = field(default_factory=dict)
    default: Any = None
    open: bool = False
    scheme: Optional[str] = None
    shape: str = "gold"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Field":
        """Make a field of its JSON object; `values` as a list."""
        return cls(**{**data, "values": ordered(data.get("values"))})

    @property
    def kind(self) -> "FieldType":
        """The field's type, or what becomes of it with an open vocabulary, or without a scheme of tags."""
        if self.open:
            return OPEN_TYPES[self.type]
        return PLACES if self.scheme == "none" else TYPES[self.type]

    @cached_property
    def empty(self) -> Any:
        """The empty answer: the default, or what the type has for it; None where it has none."""
        if self.default is None:
            return self.kind.empty
        return self.kind.of_default(self, self.default)

    def of_cell(self, cell: Any) -> Any:
        """Return the value of a cell, or of several of a field that is spread; `empty` for an empty, optional one.

        Raises FieldError: the cell does not hold a value of the type.
        """
        if any(cell):  # of a text, whether it has a letter; of a tuple, whether a cell of it has
            return self.kind.of_cell(self, cell)
        if not self.required:
            return self.empty
        if isinstance(cell, tuple) or self.kind.blank is None:
            raise FieldError(f"{self.name} is empty", self.expected)
        return self.kind.blank

    def of_cells(self, cells: Sequence[Any]) -> List[Any]:
        """`of_cell` of each of some cells, of which each different one is read once."""
        values = {cell: self.of_cell(cell) for cell in set(cells)}
        return [values[cell] for cell in cells]

    def of_json(self, value: Any) -> Any:
        """Return the value of a JSON value, `ABSENT` where the name is missing; `empty` where that is allowed.

        Raises FieldError: it is not a value of the type.
        """
        if value is ABSENT or value is None:
            if self.required:
                raise FieldError(f"{self.name} is {'missing' if value is ABSENT else 'null'}", self.expected_in_json)
            return self.empty
        try:
            return self.kind.of_json(self, value)
        except FieldError as error:
            raise FieldError(error.rule, error.expected.replace(self.expected, self.expected_in_json)) from None

    @property
    def expected(self) -> str:
        """Return what a value of a cell must be, in words."""
        return self.kind.expected(self)

    @property
    def expected_in_json(self) -> str:
        """Return what a value of a JSON file must be, in words."""
        return self.kind.expected_in_json(self)

    @property
    def listed(self) -> str:
        """The declared labels, as far as they are named in a message."""
        named = list(self.values or ())
        more = f" … ({len(named)} in all)" if len(named) > SHOWN_VALUES else ""
        return ", ".join(named[:SHOWN_VALUES]) + more

    @property
    def elements(self) -> Sequence[str]:
        """Return what the columns of a field that is spread stand for."""
        return list(self.values or self.columns)

    @cached_property
    def numbers(self) -> Mapping[str, float]:
        """Of type ordinal: the number of each label, or, where not every label is one, its place from 0."""
        values = list(self.values or ())
        if all(NUMBER.fullmatch(value) for value in values):
            return {value: float(value) for value in values}
        return {value: float(place) for place, value in enumerate(values)}

    def folded(self, text: str) -> str:
        """Return a text as it is compared: without case where that does not count."""
        return text.casefold() if self.case == "ignore" else text

    @cached_property
    def _aliases(self) -> Dict[str, str]:
        return {self.folded(alias): text for alias, text in self.aliases.items()}

    @cached_property
    def _values(self) -> Dict[str, str]:
        return {self.folded(value): value for value in self.values or ()}

    def unaliased(self, text: str) -> str:
        """Return the spelling that counts; looked up once."""
        return self._aliases.get(self.folded(text), text)

    def canonical(self, text: str) -> str:
        """Return a label or text after aliases and case; one that the field does not have stays as it is."""
        if not self.aliases and self.case == "exact":
            return text
        found = self.unaliased(text)
        folded = self.folded(found)
        return folded if self.values is None else self._values.get(folded, found)


def ordered(values: Optional[Iterable[str]]) -> Optional[Dict[str, int]]:
    """Labels with their position, to be looked up."""
    return None if values is None else {value: position for position, value in enumerate(values)}


def json_text(value: Any) -> Any:
    """Return the text of a whole number or a boolean of JSON, as labels and ids compare; anything else as it is."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return value


def type_name(value: object) -> str:
    """Return what JSON calls the value's type.

    >>> type_name(True), type_name({})
    ('a boolean', 'an object')
    """
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")


class FieldType:
    """A type; those below differ from it in what they say.

    Attributes:
        keys: what bundle.yaml may say of a field of the type, beside the keys of all fields.
        empty: the empty answer; None where there is none.
        blank: the value of an empty cell; None where it is no value.
        in_cell: for pages, how a value is written in a cell; what a field declares is put in: `{values}`, `{range}` …
        in_columns: likewise of a field that is spread over columns.
        in_json: likewise in JSON.
        expects: for messages, what a cell must hold, where that depends on no field; as `in_cell` where it is empty.
        expects_in_json: likewise of a JSON value; as `expects` where it is empty.
        asks: what is asked of participants; `{row}`, `{field}` and `{values}` are put in.
        examples: some valid answers, as JSON writes them.
    """

    keys: ClassVar[Tuple[str, ...]] = ("case", "aliases")
    empty: ClassVar[Any] = None
    blank: ClassVar[Any] = None
    in_cell = "a text"
    in_columns = ""
    in_json = "a text"
    expects = expects_in_json = ""
    asks = "Give {field} for each {row}."
    examples: ClassVar[Sequence[Any]] = ("", "a text", "1")

    def expected(self, field: Field) -> str:
        """Return what a cell must hold."""
        return self.expects or self.in_cell

    def expected_in_json(self, field: Field) -> str:
        """Return what a JSON value must be."""
        return self.expects_in_json or self.expected(field)

    def of_cell(self, field: Field, cell: Any) -> Any:
        """Return the value of a cell that is not empty; raises FieldError."""
        return field.canonical(cell)

    def of_json(self, field: Field, value: Any) -> Any:
        """Return the value of a JSON value that is not null; raises FieldError."""
        return field.canonical(json_string(field, json_text(value)))

    def of_default(self, field: Field, value: Any) -> Any:
        """Return the value of a declared default; raises FieldError."""
        return self.of_json(field, value)

    def to_cell(self, field: Field, value: Any) -> Any:
        """Return a value, as JSON writes it, or None, in a cell; a list of cells for a field that is spread."""
        if value is None:
            return [""] * len(field.columns) or ""
        return value if isinstance(value, str) else self.written(field, value)

    def written(self, field: Field, value: Any) -> Any:
        """Return a value that is there in a cell, or in cells."""
        return str(value)

    def emptiest(self, field: Field, length: int) -> Any:
        """Return the emptiest valid answer, as JSON writes it; `length` is how many tags there must be."""
        return ""

    def some(self, field: Field) -> List[Any]:
        """Some valid answers, as JSON writes them."""
        return list(self.examples)

    def made_up(self, field: Field, at: int) -> Any:
        """Return an answer in row `at` of an example, as JSON writes it."""
        return f"{field.name}-{at + 1}"


def json_string(field: Field, value: Any) -> str:
    """Return a JSON value that must be a text; raises FieldError."""
    if not isinstance(value, str):
        raise FieldError(f"{field.name} is {type_name(value)}, not a text", field.expected)
    return value


def json_list(field: Field, value: Any, element: type = object) -> List[Any]:
    """Return a JSON value that must be a list of elements of one Python type; raises FieldError."""
    if not isinstance(value, list):
        raise FieldError(f"{field.name} is {type_name(value)}, not a list", field.expected)
    if not all(isinstance(one, element) for one in value):
        raise FieldError(f"{field.name} is not a list of {field.type}", field.expected)
    return value


class StringType(FieldType):
    """Any text, compared as it stands."""

    empty = blank = ""


class TextType(StringType):
    """Any text, compared by metrics of texts."""

    keys = ()
    asks = "Write a text, {field}, for each {row}."

    def of_cell(self, field: Field, cell: Any) -> Any:
        return cell

    def of_json(self, field: Field, value: Any) -> Any:
        return json_string(field, value)

    def made_up(self, field: Field, at: int) -> Any:
        return "An example answer"


class LabelType(FieldType):
    """One of some labels, or of the gold's."""

    keys = ("values", "case", "aliases")
    in_cell = in_json = "one of {values}"
    asks = "Give each {row} one label in {field}{values}."

    def expected(self, field: Field) -> str:
        return f"one of {field.listed}" if field.listed else "a label"

    def of_cell(self, field: Field, cell: Any) -> Any:
        text = field.canonical(cell)
        if field.values is not None and text in field.values:
            return text
        if cell != cell.strip() or not cell:
            what = "has blanks around it" if cell.strip() else "is blank"
            raise FieldError(f"{field.name} {what}", f"{field.expected}, without blanks around it")
        if field.values is not None:
            raise FieldError(f"{field.name} has an unknown label", field.expected)
        return text

    def of_json(self, field: Field, value: Any) -> Any:
        return self.of_cell(field, json_string(field, json_text(value)))

    def emptiest(self, field: Field, length: int) -> Any:
        return next(iter(field.values or ["-"])) if field.required else None

    def some(self, field: Field) -> List[Any]:
        return list(field.values or ()) or ["a", "b"]

    def made_up(self, field: Field, at: int) -> Any:
        values = list(field.values or ()) or ["one", "another"]
        return values[at % len(values)]


class OrdinalType(LabelType):
    """A label whose values are in order, the lowest first."""

    asks = "Give each {row} one value in {field}, from the lowest to the highest{values}."


class LabelsType(FieldType):
    """A set of labels: in one cell, or spread over columns."""

    keys = ("values", "separator", "columns", "positive", "negative", "case", "aliases")
    empty = blank = frozenset()
    in_cell = "any of {values}, separated by `{separator}`; empty for none"
    in_columns = "{positive} or {negative} in each of the columns {columns}"
    in_json = "a list of any of {values}; `[]` for none"
    asks = "Give each {row} all labels that fit in {field}; there may be none{values}."

    def expected(self, field: Field) -> str:
        if field.columns:
            return f"{field.positive} or {field.negative} in each of its columns"
        return f"{f'any of {field.listed}' if field.listed else 'labels'}, separated by {field.separator}"

    def expected_in_json(self, field: Field) -> str:
        return f"a JSON list of {field.listed or 'labels'}"

    def of_cell(self, field: Field, cell: Any) -> Any:
        if isinstance(cell, tuple):
            return self._of_columns(field, cell)
        return frozenset([LABEL.of_cell(field, part) for part in cell.split(field.separator)])

    def of_json(self, field: Field, value: Any) -> Any:
        if isinstance(value, tuple):
            return self._of_columns(field, value)
        return frozenset([LABEL.of_json(field, one) for one in json_list(field, value)])

    def _of_columns(self, field: Field, cells: Sequence[Any]) -> FrozenSet[str]:
        found = []
        for at, element in enumerate(field.elements):
            cell = json_text(cells[at])
            text = field.folded(field.unaliased(cell)) if isinstance(cell, str) else None
            if text == field.folded(field.positive):
                found.append(element)
            elif text != field.folded(field.negative):
                rule = f"{field.columns[at]} is neither {field.positive} nor {field.negative}"
                raise FieldError(rule, f"{field.positive} or {field.negative} in each of the field's columns")
        return frozenset(found)

    def written(self, field: Field, value: Any) -> Any:
        if not field.columns:
            return field.separator.join(value)
        return [field.positive if element in value else field.negative for element in field.elements]

    def emptiest(self, field: Field, length: int) -> Any:
        return []

    def some(self, field: Field) -> List[Any]:
        values = field.elements or ["a", "b"]
        return [[], list(values), *([value] for value in values)]

    def made_up(self, field: Field, at: int) -> Any:
        values = list(field.elements) or ["one", "another"]
        return values[:1] + values[at % len(values) :][:1] * bool(at % len(values))


class OpenLabelType(LabelType):
    """Any text, compared as a label."""

    in_cell = in_json = "any text, without blanks around it"
    asks = "Give each {row} one label in {field}, of your own words."

    def expected(self, field: Field) -> str:
        return "any text"


class OpenLabelsType(LabelsType):
    """A set of any texts."""

    in_cell = "any texts, without blanks around them, separated by `{separator}`; empty for none"
    in_json = "a list of any texts; `[]` for none"
    asks = "Give each {row} all labels that fit in {field}, of your own words; there may be none."

    def of_json(self, field: Field, value: Any) -> Any:
        if isinstance(value, tuple) or "" not in json_list(field, value):
            return super().of_json(field, value)
        others = [one for one in value if one != ""]
        return frozenset(["", *super().of_json(field, others)])


class NumberType(FieldType):
    """A finite number."""

    keys = ("min", "max")
    in_cell = in_json = "a number{range}"
    asks = "Predict a number, {field}, for each {row}."

    def expected(self, field: Field) -> str:
        return f"a finite number{bounds_text(field.min, field.max)}, such as 0.25"

    def of_cell(self, field: Field, cell: Any) -> Any:
        return self.bounded(field, number_of_cell(field, cell))

    def of_json(self, field: Field, value: Any) -> Any:
        return self.bounded(field, number_of_json(field, value))

    def bounded(self, field: Field, value: float) -> float:
        """Return the number, which must lie within its bounds."""
        if (field.min is not None and value < field.min) or (field.max is not None and value > field.max):
            raise FieldError(f"{field.name} is out of range", field.expected)
        return of_size(field, value)

    def written(self, field: Field, value: Any) -> Any:
        return number_text(value)

    def emptiest(self, field: Field, length: int) -> Any:
        if not field.required:
            return None
        least = max(0.0, field.min or 0.0)
        return least if field.max is None else min(least, field.max)

    def some(self, field: Field) -> List[Any]:
        bounds = [bound for bound in (field.min, field.max) if bound is not None]
        low, high = field.min or 0.0, field.max if field.max is not None else (field.min or 0.0) + 1
        return list(dict.fromkeys([*bounds, min(max(0.0, low), high), min(max(1.0, low), high)]))

    def made_up(self, field: Field, at: int) -> Any:
        low = field.min or 0
        return low + at + 0.5 if field.max is None else round(low + (field.max - low) * (at + 1) / 4, 2)


def bounds_text(low: Optional[float], high: Optional[float]) -> str:
    """` from 0 to 1`, ` up to 1`, or nothing."""
    start = "" if low is None else f" from {low:g}"
    if high is None:
        return start
    return f"{start} to {high:g}" if start else f" up to {high:g}"


def number_text(value: Any) -> str:
    """Return a number in a cell."""
    return str(value).removesuffix(".0")


def number_of_cell(field: Field, cell: str) -> float:
    """Return the finite number of a cell; raises FieldError."""
    if not NUMBER.fullmatch(cell):
        hint = ""
        if cell != cell.strip() and NUMBER.fullmatch(cell.strip()):
            hint = "; take away the blanks around it"
        elif cell.count(",") == 1 and NUMBER.fullmatch(cell.replace(",", ".")):
            hint = "; write a point in place of the comma"
        raise FieldError(f"{field.name} is not a number", field.expected + hint)
    return finite(field, float(cell))


def number_of_json(field: Field, value: Any) -> float:
    """Return the finite number of a JSON value; raises FieldError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldError(f"{field.name} is {type_name(value)}, not a number", field.expected)
    try:
        return finite(field, float(value))
    except OverflowError:
        raise FieldError(f"{field.name} is not finite", field.expected) from None


def finite(field: Field, value: float) -> float:
    """Return the number, which must be finite."""
    if not math.isfinite(value):
        raise FieldError(f"{field.name} is not finite", field.expected)
    return value


def of_size(field: Field, value: float) -> float:
    """Return the number, which must not be huge."""
    if abs(value) > LARGEST:
        raise FieldError(f"{field.name} is far out of range", f"{field.expected}, at most {LARGEST:g} in size")
    return value


class ProbabilitiesType(FieldType):
    """A probability of each label: spread over columns, in JSON an object; as a tuple in the order of `values`."""

    keys = ("values", "columns", "normalise")
    in_columns = "a number from 0 to 1 in each of the columns {columns}{sum}"
    in_json = "an object of a number from 0 to 1 for each of {values}{sum}"
    asks = "Give each {row} the probability of every label in {field}{values}."

    def expected(self, field: Field) -> str:
        return "a number from 0 in each column" if field.normalise else "numbers from 0 to 1 that add up to 1"

    def expected_in_json(self, field: Field) -> str:
        return f"an object of {self.expected(field)}, for {field.listed}"

    def of_cell(self, field: Field, cell: Any) -> Any:
        return self._shares(field, [number_of_cell(field, one) for one in cell])

    def of_json(self, field: Field, value: Any) -> Any:
        if isinstance(value, tuple):
            return self._shares(field, [number_of_json(field, one) for one in value])
        if not isinstance(value, dict):
            raise FieldError(f"{field.name} is {type_name(value)}, not an object", field.expected)
        labels = list(field.values or ())
        for label in value:
            if label not in labels:
                raise FieldError(f"{field.name} has an unknown label, {label}", field.expected)
        for label in labels:
            if label not in value:
                raise FieldError(f"{field.name} has no probability of {label}", field.expected)
        return self._shares(field, [number_of_json(field, value[label]) for label in labels])

    def _shares(self, field: Field, numbers: List[float]) -> Tuple[float, ...]:
        """The numbers; each one's share of their sum where that is asked for."""
        highest = max(numbers)
        if highest > LARGEST:  # huge ones cannot even be added up
            of_size(field, finite(field, highest))
        if min(numbers) < 0 or (highest > 1 and not field.normalise):
            raise FieldError(f"{field.name} is out of range", field.expected)
        total = math.fsum(numbers)
        if not field.normalise:
            if abs(total - 1) > SUM_TOLERANCE + ROUNDING:
                raise FieldError(f"{field.name} adds up to {total:g}", f"{field.expected}, or differ from it by 0.001")
            return tuple(numbers)
        if not total > 0:
            raise FieldError(f"{field.name} is 0 for every label", field.expected)
        return tuple([number / total for number in numbers])

    def written(self, field: Field, value: Any) -> Any:
        return [number_text(value[label]) for label in field.values or ()]

    def emptiest(self, field: Field, length: int) -> Any:
        return self._certain(field, 0) if field.required else None

    def some(self, field: Field) -> List[Any]:
        labels = list(field.values or ())
        alike = {label: 1 / len(labels) for label in labels}
        return [alike, *(self._certain(field, place) for place in range(len(labels)))]

    def made_up(self, field: Field, at: int) -> Any:
        return self._certain(field, at % len(field.values or "1"))

    def _certain(self, field: Field, place: int) -> Dict[str, float]:
        return {label: float(at == place) for at, label in enumerate(field.values or ())}


def list_of_cell(field: Field, cell: str) -> List[Any]:
    """Return the JSON list of a cell; raises FieldError."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise FieldError(f"{field.name} is not a JSON list", field.expected)
    return value


class JsonListedType(FieldType):
    """A type whose cell holds a JSON list."""

    keys = ()
    empty: ClassVar[Any] = []

    def of_cell(self, field: Field, cell: Any) -> Any:
        return self.of_json(field, list_of_cell(field, cell))

    def written(self, field: Field, value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False)

    def emptiest(self, field: Field, length: int) -> Any:
        return []


class TextsType(JsonListedType):
    """A list of texts."""

    in_cell = "a JSON list of texts"
    in_json = "a list of texts"
    expects = 'a JSON list of texts, such as ["one", "two"]'
    asks = "Write a list of texts, {field}, for each {row}."
    examples = ([], ["a text"])

    def of_json(self, field: Field, value: Any) -> Any:
        return json_list(field, value, str)

    def made_up(self, field: Field, at: int) -> Any:
        return ["An example answer", "another one"]


class SpansType(JsonListedType):
    """A list of spans: (start, end) or (start, end, type)."""

    in_cell = "a JSON list of `[start, end]` or `[start, end, type]`"
    in_json = "a list of `[start, end]` or `[start, end, type]`"
    expects = "a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end"
    asks = "Mark the spans of each {row} in {field}; the end of a span is the first position after it."
    examples = ([], [[0, 1]], [[0, 1, "x"]])

    def of_json(self, field: Field, value: Any) -> Any:
        return [self._span(field, span) for span in json_list(field, value)]

    def _span(self, field: Field, span: Any) -> Tuple[Any, ...]:
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
        return tuple(span)

    def made_up(self, field: Field, at: int) -> Any:
        return [[at, at + 4]]


class OffsetsType(JsonListedType):
    """A set of whole numbers, such as the positions of characters."""

    empty = blank = frozenset()
    in_cell = "a JSON list of whole numbers from 0; empty for none"
    in_json = "a list of whole numbers from 0; `[]` for none"
    expects = "a JSON list of whole numbers from 0, such as [4, 5, 6]"
    asks = "List the positions that count in each {row} in {field}, from 0 on."
    examples = ([], [0], [0, 1, 2])

    def of_json(self, field: Field, value: Any) -> Any:
        numbers = json_list(field, value)
        if not all(type(number) is int for number in numbers):
            raise FieldError(f"{field.name} is not a list of whole numbers", field.expected)
        if numbers and min(numbers) < 0:
            raise FieldError(f"{field.name} has a negative number", field.expected)
        if numbers and max(numbers) > LAST_END:
            raise FieldError(f"{field.name} has a number that is far out of range", f"{field.expected} ≤ {LAST_END:,}")
        return frozenset(numbers)

    def made_up(self, field: Field, at: int) -> Any:
        return [at, at + 1, at + 2]


class NumbersType(FieldType):
    """A list of finite numbers: in one cell, or one in each of several columns."""

    keys = ("length", "min", "max", "columns")
    in_cell = "{length}numbers{range}, separated by blanks, or as a JSON list"
    in_columns = "a number{range} in each of the columns {columns}"
    in_json = "a list of {length}numbers{range}"
    asks = "Predict {length}numbers, {field}, for each {row}."

    def expected(self, field: Field) -> str:
        if field.columns:
            return f"a finite number{bounds_text(field.min, field.max)} in each of its columns"
        return f"{self._what(field)}, separated by blanks or as a JSON list"

    def expected_in_json(self, field: Field) -> str:
        return f"a JSON list of {self._what(field)}"

    def _what(self, field: Field) -> str:
        return f"{field.length or ''} finite numbers{bounds_text(field.min, field.max)}".lstrip()

    def of_cell(self, field: Field, cell: Any) -> Any:
        if not isinstance(cell, tuple) and cell.startswith("["):
            return self.of_json(field, list_of_cell(field, cell))
        parts = cell if isinstance(cell, tuple) else cell.split()
        return self._counted(field, [NUMBER_TYPE.of_cell(field, part) for part in parts])

    def of_json(self, field: Field, value: Any) -> Any:
        listed = value if isinstance(value, tuple) else json_list(field, value)
        return self._counted(field, [NUMBER_TYPE.of_json(field, one) for one in listed])

    def _counted(self, field: Field, numbers: List[float]) -> List[float]:
        length = field.length or len(field.columns)
        if length and len(numbers) != length:
            raise FieldError(f"{field.name} has {counted(len(numbers), 'number')}", field.expected)
        return numbers

    def written(self, field: Field, value: Any) -> Any:
        texts = [number_text(one) for one in value]
        return texts if field.columns else " ".join(texts)

    def emptiest(self, field: Field, length: int) -> Any:
        number = NUMBER_TYPE.emptiest(field, 0)
        return None if number is None else [number] * (field.length or len(field.columns) or length or 1)

    def some(self, field: Field) -> List[Any]:
        size = field.length or len(field.columns) or 1
        return [[number] * size for number in NUMBER_TYPE.some(field)]

    def made_up(self, field: Field, at: int) -> Any:
        size = field.length or len(field.columns) or 3
        if field.max is not None:
            return [NUMBER_TYPE.made_up(field, at)] * size
        return [round((field.min or 0) + 0.25 * (at + place), 2) for place in range(size)]


class TagsType(FieldType):
    """A tag for each token; as a default, a single one for all."""

    keys = ("scheme", "values")
    blank: ClassVar[Any] = []
    in_cell = "`O`, `B-x` or `I-x` for each token, separated by spaces"
    in_json = "a list of `O`, `B-x` or `I-x`, one for each token"
    expects = "tags O, B-x or I-x, separated by spaces"
    expects_in_json = 'a JSON list of tags O, B-x or I-x, such as ["O", "B-x"]'
    asks = "Tag every token of each {row} in {field}."
    examples = (["O"], ["B-x"], [])

    def of_cell(self, field: Field, cell: Any) -> Any:
        return self.of_json(field, cell.split(" "))

    def of_json(self, field: Field, value: Any) -> Any:
        if not all(TAG.fullmatch(one) for one in json_list(field, value, str)):
            raise FieldError(f"{field.name} has a tag of another form", field.expected)
        return value

    def of_default(self, field: Field, value: Any) -> Any:
        tags = value if isinstance(value, list) else [value]
        if len(tags) != 1:
            raise FieldError(f"{field.name} has {len(tags)} tags", "one tag, which counts for every token: O")
        return self.of_json(field, tags)

    def written(self, field: Field, value: Any) -> Any:
        return " ".join(value)

    def emptiest(self, field: Field, length: int) -> Any:
        return ["O"] * length

    def made_up(self, field: Field, at: int) -> Any:
        return ["O", "B-X", "I-X"]


class PlacesType(TagsType):
    """A label for each place; as a default, a single one for all."""

    in_cell = "one of {values} for each place, separated by spaces"
    in_json = "a list of {values}, one for each place"
    expects = expects_in_json = ""
    asks = "Give every place of each {row} one label in {field}{values}."

    def expected(self, field: Field) -> str:
        return f"labels of {field.listed}, separated by spaces"

    def expected_in_json(self, field: Field) -> str:
        return f"a JSON list of labels, each one of {field.listed}"

    def of_json(self, field: Field, value: Any) -> Any:
        return [LABEL.of_json(field, one) for one in json_list(field, value)]

    def emptiest(self, field: Field, length: int) -> Any:
        return list(field.values or ())[:1] * length

    def some(self, field: Field) -> List[Any]:
        return [[value] for value in field.values or ()]

    def made_up(self, field: Field, at: int) -> Any:
        return [LABEL.made_up(field, at + place) for place in range(3)]


class WholeFileType(FieldType):
    """A file of its own for each key: its path."""

    keys: ClassVar[Tuple[str, ...]] = ()
    in_cell = in_json = "any file"
    asks = "Hand in a file, {field}, for each {row}."

    def of_json(self, field: Field, value: Any) -> Any:
        return value  # it is judged where it lies


class ArrayType(WholeFileType):
    """Numbers in a file of an array: where they are, of what shape."""

    keys = ("values", "shape")
    in_cell = in_json = "an array of numbers"
    asks = "Give an array, {field}, for each {row}{values}."


LABEL = LabelType()
NUMBER_TYPE = NumberType()
PLACES = PlacesType()
FILE_TYPES = ("file", "array")
"""Types of which a value is a file."""
OPEN_TYPES: Dict[str, FieldType] = {"label": OpenLabelType(), "labels": OpenLabelsType()}
TYPES: Dict[str, FieldType] = {
    "string": StringType(),
    "label": LABEL,
    "ordinal": OrdinalType(),
    "labels": LabelsType(),
    "number": NUMBER_TYPE,
    "numbers": NumbersType(),
    "probabilities": ProbabilitiesType(),
    "text": TextType(),
    "texts": TextsType(),
    "tags": TagsType(),
    "spans": SpansType(),
    "offsets": OffsetsType(),
    "file": WholeFileType(),
    "array": ArrayType(),
}
"""In the order of the documentation."""
