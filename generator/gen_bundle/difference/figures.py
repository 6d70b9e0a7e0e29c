"""When two figures are the same."""

from __future__ import annotations

from decimal import Decimal

TOLERANCE = 1e-6
"""Between two runs of the same models on different machines."""


def allowance(number: str) -> float:
    """How far a printed figure may be off: half a unit of its last digit.

    Raises:
        decimal.InvalidOperation: it is not a number.
    """
    return 0.5 * 10.0 ** int(Decimal(number).as_tuple().exponent) + 1e-9
