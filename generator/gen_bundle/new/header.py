"""Tells whether the first line of a table is its header or a row."""

import re
from collections.abc import Sequence

from gen_bundle.errors import UserError
from gen_bundle.new.table import FEWEST_REPEATS, LIST, NUMBER

ROWS_LOOKED_AT = 20_000
"""So many rows tell whether the first line is one of them."""
Row = tuple[int, list[str]]
"""The number of its line, and its cells."""


class NoHeaderError(UserError):
    """The first line of a table looks like a row. `names` are those that its columns might have, `first` its cells."""

    def __init__(self, message: str, names: Sequence[str], first: Sequence[str]) -> None:
        super().__init__(message)
        self.names = names
        self.first = first


def check_header(where: str, first: Sequence[str], rows: Sequence[Row]) -> None:
    """Raise NoHeaderError where the first line looks like a row."""
    alike = [cells for _, cells in rows[:ROWS_LOOKED_AT] if len(cells) == len(first)]
    if evidence := _row_in_place_of_header(first, alike):
        raise _no_header(where, first, alike, evidence)


def _row_in_place_of_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What makes the first line look like a row: its cells are values of their columns. Empty where it does not."""
    values: list[str] = []
    doubts = 0
    for cell, column in zip(first, zip(*rows, strict=True), strict=False):
        given = [value for value in column if value.strip()]
        kind = _kind_of_cell(cell, given)
        if kind == "name":
            return ""
        if kind == "value":
            values.append(cell)
        doubts += kind == "no label"
    return values[-1] if len(values) > doubts else ""


def _kind_of_cell(cell: str, given: Sequence[str]) -> str:
    """`value` or `name` of its column, `no label` of it, or empty where nothing speaks for either."""
    if not cell or not given:
        return ""
    shapes = {_shape(value) for value in given}
    different = set(given)
    if all(map(NUMBER.fullmatch, given)):
        is_number = NUMBER.fullmatch(cell) is not None
        is_value, otherwise = is_number and _is_near(cell, given), "" if is_number else "name"
    elif len(shapes) == 1 and "0" in min(shapes):
        is_value, otherwise = _shape(cell) in shapes, "name"
    elif all(map(LIST.fullmatch, given)):
        is_value, otherwise = LIST.fullmatch(cell) is not None, "name"
    else:
        is_value = cell in different
        otherwise = "no label" if len(given) >= FEWEST_REPEATS * len(different) else ""
    return "value" if is_value else otherwise


def _shape(cell: str) -> str:
    """A text with its numbers made equal: those of ids differ in them alone."""
    return re.sub("[0-9]+", "0", cell) if len(cell) < 100 else ""


def _is_near(cell: str, given: Sequence[str]) -> bool:
    """Whether a number is no further from the others than these are from each other; 2019 is no value among prices."""
    numbers = [float(value) for value in given]
    low, high = min(numbers), max(numbers)
    return low - (high - low) <= float(cell) <= high + (high - low)


def _no_header(where: str, first: Sequence[str], rows: Sequence[Sequence[str]], evidence: str) -> NoHeaderError:
    columns = list(zip(*rows, strict=True))
    names: list[str] = []
    for at, cell in enumerate(first):
        name = _name_for(cell, columns[at], is_first="id" not in names)
        if name in names:
            name = f"{name}{at + 1}"
        names.append(name)
    for at in range(len(first) - 1, 0, -1):
        if _are_ends(columns[at - 1], columns[at]):
            names[at - 1 : at + 1] = ["start", "end"]
            break
    may_be = len(set(first)) == len(first) and not any("," in cell for cell in first)
    header = f" If this line is the header all the same: --columns {','.join(first)}." if may_be else ""
    return NoHeaderError(
        f"{where}: looks like a row and no header: {evidence!r} is a value of its own column. Expected the columns' "
        f"names: --columns {','.join(names)}.{header}",
        names,
        first,
    )


def _are_ends(starts: Sequence[str], ends: Sequence[str]) -> bool:
    """Whether whole numbers in one column are always above those in the other."""
    if not all(map(str.isdecimal, [*starts, *ends])):
        return False
    return all(int(start) < int(end) for start, end in zip(starts, ends, strict=True))


def _name_for(cell: str, given: Sequence[str], *, is_first: bool) -> str:
    """What a column without a name may be called."""
    if is_first and len({cell, *given}) == len(given) + 1 and not any(" " in value for value in given):
        return "id"
    if all(map(LIST.fullmatch, given)):
        return "spans"
    if {_shape(value) for value in given} == {_shape(cell)} and not NUMBER.fullmatch(cell) and "0" in _shape(cell):
        return "doc"
    if len(given) >= FEWEST_REPEATS * len(set(given)):
        return "label"
    return "score" if all(map(NUMBER.fullmatch, given)) else "text"
