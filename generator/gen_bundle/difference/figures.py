"""How exact a printed figure is."""

from decimal import Decimal


def allowance(number: str) -> float:
    """How far a printed figure may be off: half a unit of its last digit.

    Raises:
        decimal.InvalidOperation: it is not a number.
    """
    return 0.5 * 10.0 ** int(Decimal(number).as_tuple().exponent) + 1e-9
