"""Columns that are computed from others: the value of an expression of their unrounded scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from declared.plan import ExpressionPlan, Plan
from scoring_kit.base.expressions import Expression, Step
from scoring_kit.units import Array


def shown(values: Array, column: ExpressionPlan) -> Array:
    """Values as the board has them: where they are undefined (NaN), or worse than the column's worst, that."""
    return bounded(np.where(np.isnan(values), column.worst, values), column)


def bounded(values: Array, column: Plan | ExpressionPlan) -> Array:
    """Values that are not worse than a column's worst; NaN stays."""
    limit = np.maximum if column.better == "higher" else np.minimum
    within: Array = limit(values, column.worst)
    return within


def computed(expression: Expression, values: Mapping[str, Array], number: int) -> Array:
    """Return the expression of columns' values, each of shape [number]; NaN where it is undefined or infinite."""
    stack: list[Array] = []
    with np.errstate(all="ignore"):
        for step in expression.steps:
            left = len(stack) - step[2]
            taken, stack = stack[left:], stack[:left]
            stack.append(_done(step, taken, values))
    found = np.broadcast_to(stack[0], (number,))
    defined: Array = np.where(np.isfinite(found), found, np.nan)
    return defined


def _done(step: Step, taken: Sequence[Array], values: Mapping[str, Array]) -> Array:
    kind, what, _ = step
    if kind == "number":
        return np.array([what], dtype=np.float64)
    if kind == "column":
        return values[str(what)]
    found: Array = OPERATIONS[str(what)](np.stack(np.broadcast_arrays(*taken)))
    return found


def _quotient(values: Array) -> Array:
    return np.where(values[1] == 0, np.nan, values[0] / values[1])


def _harmonic(values: Array) -> Array:
    """0 where a value is 0, undefined where one is negative."""
    mean = np.where((values == 0).any(axis=0), 0.0, len(values) / (1 / values).sum(axis=0))
    return np.where((values < 0).any(axis=0), np.nan, mean)


def _geometric(values: Array) -> Array:
    """Likewise."""
    mean = np.where((values == 0).any(axis=0), 0.0, np.exp(np.log(values).mean(axis=0)))
    return np.where((values < 0).any(axis=0), np.nan, mean)


OPERATIONS: Mapping[str, Any] = {
    "+": lambda values: values[0] + values[1],
    "-": lambda values: values[0] - values[1],
    "*": lambda values: values[0] * values[1],
    "/": _quotient,
    "negative": lambda values: -values[0],
    "abs": lambda values: np.abs(values[0]),
    "sqrt": lambda values: np.sqrt(values[0]),
    "min": lambda values: values.min(axis=0),
    "max": lambda values: values.max(axis=0),
    "mean": lambda values: values.mean(axis=0),
    "hmean": _harmonic,
    "gmean": _geometric,
}
"""The result of a call of values, shape [values, n] → [n]; NaN, which stays NaN, where it is undefined."""
