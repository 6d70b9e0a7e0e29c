"""Columns that are computed from others: the value of an expression of their unrounded scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from declared.plan import Plan, plans
from scoring_kit.base.expressions import Expression, Step, read_expression
from scoring_kit.units import Array


@dataclass(frozen=True)
class ExpressionPlan:
    """A column that is an expression of others.

    Attributes:
        key: the column's key.
        expression: what to compute.
        worst: of the column; the value where the expression is undefined.
        better: which way is better.
    """

    key: str
    expression: Expression
    worst: float
    better: Literal["higher", "lower"]

    def shown(self, values: Array) -> Array:
        """Values as the board has them: where they are undefined (NaN), or worse than `worst`, that."""
        return bounded(np.where(np.isnan(values), self.worst, values), self)


def bounded(values: Array, column: Plan | ExpressionPlan) -> Array:
    """Values that are not worse than a column's worst; NaN stays."""
    limit = np.maximum if column.better == "higher" else np.minimum
    within: Array = limit(values, column.worst)
    return within


def expressions(options: Mapping[str, Any]) -> dict[str, list[ExpressionPlan]]:
    """The expressions of every task."""
    found: dict[str, list[ExpressionPlan]] = {}
    for task, own in options.get("expressions", {}).items():
        for key, one in own.items():
            plan = ExpressionPlan(key, read_expression(one["text"]), one["worst"], one["better"])
            found.setdefault(task, []).append(plan)
    return found


@dataclass
class ColumnSources:
    """What a task's columns are computed from.

    Attributes:
        keys: of the task's own columns.
        own: its metrics.
        made: its expressions, and those of other tasks that they are made of, each after its parts.
        beside: the metrics of other tasks that they are made of.
        absent: key → worst score of columns of tasks that the submission does not enter.
    """

    keys: list[str]
    own: list[Plan]
    made: list[ExpressionPlan] = field(default_factory=list)
    beside: list[Plan] = field(default_factory=list)
    absent: dict[str, float] = field(default_factory=dict)


def columns_of_task(task: str, options: Mapping[str, Any], entered: Collection[str]) -> ColumnSources:
    """The columns of a task, and of other tasks those that its expressions are made of."""
    by_key: dict[str, tuple[str, Plan | ExpressionPlan]] = {}
    for group in (plans(options), expressions(options)):
        for owner, columns in group.items():
            by_key.update({column.key: (owner, column) for column in columns})
    own = plans(options)[task]
    found = ColumnSources([column.key for owner, column in by_key.values() if owner == task], own)

    def take(key: str) -> None:
        owner, column = by_key[key]
        if owner != task and owner not in entered:
            found.absent[key] = column.worst
        elif isinstance(column, ExpressionPlan):
            for other in column.expression.keys:
                take(other)
            if column not in found.made:
                found.made.append(column)
        elif owner != task and column not in found.beside:
            found.beside.append(column)

    for one in expressions(options).get(task, []):
        take(one.key)
    return found


def computed(expression: Expression, values: Mapping[str, Array], number: int) -> Array:
    """The expression of columns' values, each of shape [number]; NaN where it is undefined, or beyond all numbers."""
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
"""What a call makes of its values, shape [values, n] → [n]; NaN, which stays NaN, where it is undefined."""
