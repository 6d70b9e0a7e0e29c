"""Attacks on numbers through squared errors: predictions chosen so that each gold is a digit of what is shown."""

import math
from collections.abc import Sequence


def places(step: float, base: int, error: float) -> int:
    """How many digits can be read: the first weighs `step`, each further one `base` times less, up to `error`."""
    return max(0, 1 + math.floor(math.log(step / (2 * error), base))) if 2 * error < step else 0


def digits(total: float, weights: Sequence[float], highest: int) -> list[int]:
    """The digits d (0 to `highest`) with `total` = sum of weights times d, each above the later ones together."""
    found = []
    for i, weight in enumerate(weights):
        rest = highest * sum(weights[i + 1 :])
        digit = min(max(math.floor((total + weights[-1] / 2) / weight), 0), highest) if rest < weight else 0
        found.append(digit)
        total -= digit * weight
    return found
