"""Sweeps over many cases of one kind: a few are part of `make test`, the others of `make test-thorough`."""

from collections.abc import Collection, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def sweep(cases: Iterable[T], first: Collection[T]) -> list[object]:
    """The cases as parameters, of which `make test` leaves out all but the `first`."""
    parameters: list[object] = []
    missing = list(first)
    for case in cases:
        if case in first:
            missing.remove(case)
            parameters.append(case)
        else:
            parameters.append(pytest.param(case, marks=pytest.mark.thorough))
    assert missing == []
    return parameters
