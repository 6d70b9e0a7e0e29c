"""Holm's correction of p values for many comparisons. Source: Holm, Scandinavian Journal of Statistics 6, 1979."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def holm(p: Mapping[Name, float]) -> dict[Name, float]:
    """Each p, corrected for the number of tests: the i-th smallest of m times m + 1 - i, never falling, at most 1."""
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p, key=lambda name: p[name])):
        highest = max(highest, min(1.0, p[name] * (len(p) - place)))
        adjusted[name] = highest
    return adjusted
