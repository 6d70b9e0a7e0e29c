"""One score as the server keeps, computes and shows it.

Each rule names its place in Codabench's public source of 1.25, below `src/apps/`.
"""

import decimal
from dataclasses import dataclass
from decimal import Decimal

from gen_bundle.codabench.leaderboard import Column

# leaderboards/models.py, SubmissionScore.score: DecimalField(max_digits=20, decimal_places=10).
DIGITS = 20
DECIMALS = 10
SMALLEST = Decimal(1).scaleb(-DECIMALS)
TOO_LARGE = Decimal("1e10")
_FLOAT = decimal.Context(prec=DIGITS)
_WIDE = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_UP)


class RefusedError(Exception):
    """The server answers the upload of scores with an error; what was stored before stays."""


@dataclass
class Score:
    """One stored score: ten decimals."""

    column: Column
    value: Decimal


def stored_value(key: str, value: object) -> Decimal:
    """A score as the database keeps it: ten decimals, ten digits before them.

    Source: Django's `DecimalField.to_python` (a float through a context of 20 digits) and PostgreSQL's numeric(20,
    10), which rounds halves away from zero. True and false count as 1 and 0; texts are read by Python's Decimal.

    Raises:
        RefusedError: No number, not finite, or too large.
    """
    try:
        if isinstance(value, float):
            number = _FLOAT.create_decimal_from_float(value)
        elif isinstance(value, int | str):
            number = Decimal(value)
        else:
            raise RefusedError(f"{key!r} is {kind_of(value)}, expected a number")
    except decimal.InvalidOperation as error:
        raise RefusedError(f"{key!r} is {value!r}, expected a number") from error
    if not number.is_finite():
        raise RefusedError(f"{key!r} is {value!r}, expected a finite number")
    if number.copy_abs() >= TOO_LARGE or abs(stored := rounded(number)) >= TOO_LARGE:
        raise RefusedError(f"{key!r} is {value!r}: ten digits before the point are stored")
    return stored


def shown_text(value: Decimal, precision: int) -> str:
    """A score as the board shows it; zeros are not padded.

    Source: leaderboards/models.py, `SubmissionScore`: `round(float(score), precision)`.
    """
    return str(round(float(value), precision))


def rounded(number: Decimal) -> Decimal:
    """A number with ten decimals."""
    # The sum has no negative zero, and neither has PostgreSQL.
    return _WIDE.add(number.quantize(SMALLEST, context=_WIDE), Decimal())


def combined(computation: str, values: list[Decimal]) -> Decimal:
    """What `avg`, `sum`, `min` or `max` makes of scores. Source: leaderboards/models.py, `Column.compute`."""
    with decimal.localcontext(_WIDE):
        if computation == "sum":
            return sum(values, Decimal())
        if computation == "avg":
            return sum(values, Decimal()) / len(values)
    return min(values) if computation == "min" else max(values)


def kind_of(value: object) -> str:
    """What a value is, in words."""
    names = {type(None): "null", bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")
