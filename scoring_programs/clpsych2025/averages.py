"""Averages over whatever there is to average."""

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean, whatever the order of the values; None of nothing."""
    return math.fsum(values) / len(values) if values else None
