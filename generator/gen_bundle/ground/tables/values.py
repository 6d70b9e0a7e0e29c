"""Values and texts as they are compared, whatever program wrote them."""

import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")
WORD = re.compile(r"\w+")
DECIMAL = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+([.,]|(?<=[0-9])e[+-]?[0-9]{1,2})?")
JSON_STARTS = ("{", "[")
NO_WORDS = frozenset("+-.,0123456789[{")  # with what numbers and JSON begin
LARGEST = 1e100  # of which squares can be added up
NESTED = frozenset([dict, list])
COMPARED = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def parsed(text: str | bytes) -> Any:
    """Return the value of a JSON text; None for any other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=200_000)
def plain(cell: str) -> str:
    """A cell as it is compared: in lower case; 28.0, 28,50, 2.85e1 and .5 as 28, 28.5, 28.5, 0.5; JSON without blanks.

    That is how other programs, and those of other countries, write them.
    """
    cell = cell.strip().lower()
    if cell.isdigit():
        return cell
    if cell.startswith(JSON_STARTS):
        value = parsed(cell)
        return cell if value is None else of_value(value)
    if not DECIMAL.fullmatch(cell):
        return cell
    cell = cell.replace(",", ".")
    if "e" in cell:
        cell = f"{Decimal(cell):f}"
    cell = cell.removeprefix("+")
    if cell.startswith((".", "-.")):
        cell = cell.replace(".", "0.", 1)
    if "." in cell:
        cell = cell.rstrip("0").rstrip(".") or "0"
    return cell


def of_value(value: Any) -> str:
    """A value of JSON as it is compared; a list of one value is that value."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if type(value) not in NESTED:
        return "" if value is None else plain(str(value))
    try:
        return COMPARED.encode(value).lower()
    except RecursionError:
        return ""


def of_values(values: Sequence[Any]) -> list[str]:
    """Many values of JSON as they are compared."""
    if all(type(value) is str for value in values):
        return plain_cells(values)
    return [of_value(value) for value in values]


def plain_cells(cells: Iterable[str]) -> list[str]:
    """Many cells as they are compared: most need no more than lower case."""
    lower = [cell.strip().lower() for cell in cells]
    return [plain(cell) if cell[:1] in NO_WORDS else cell for cell in lower]


def number(cell: str) -> float | None:
    """The number that a cell holds, as it is compared."""
    return float(cell) if DECIMAL.fullmatch(cell) else None


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in lower case."""
    return tuple(WORD.findall(text.lower()))


def first_word(text: str) -> str:
    """The first of the words of a text; empty where it has none."""
    found = WORD.search(text.lower())
    return found[0] if found else ""


def texts_in(cell: str) -> list[str]:
    """The texts of a cell, which may be several references."""
    value = parsed(cell) if cell.startswith("[") else None
    return value if isinstance(value, list) and {str}.issuperset(map(type, value)) else [cell]


def picked(column: Sequence[T], rows: Iterable[int]) -> list[T]:
    """Some rows' values of a column."""
    return [column[row] for row in rows]


def as_numbers(column: Iterable[str]) -> dict[str, float]:
    """The numbers of a column, by how they are written; nothing where something else is among them."""
    found: dict[str, float] = {}
    for cell in column:
        value = number(cell)
        if value is None or abs(value) > LARGEST:
            return {}
        found[cell] = value
    return found
