"""What a column's score is: metric, table, fields, rows and groups, as bundle.yaml declares it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from declared.metrics import Definition, definitions
from scoring_kit.base.expressions import Expression, read_expression


@dataclass(frozen=True)
class Plan:
    """One column's metric.

    Attributes:
        key: the column's key.
        metric: name of the metric, or of an own function.
        table: id of the table that it reads.
        fields: the submission's fields, in order.
        gold: the gold's column for each of them.
        where: gold column → the texts that count, or `min` and `max` of a number; only such keys are scored.
        by: gold columns; the metric in each of their groups, then the mean.
        options: the metric's own, every one of them given.
        worst: of the column; the value where an own function fails.
        undefined: the value in place of an undefined one; `worst` where the declaration gives none.
        better: which way is better.
        weight: the gold column that says how much each key counts; None: all the same.
        tables: all tables that an own function reads at once; none: the one.
        file: where an own function is; None for a metric of the table.
    """

    key: str
    metric: str
    table: str
    fields: tuple[str, ...]
    gold: tuple[str, ...]
    where: Mapping[str, Any]
    by: tuple[str, ...]
    options: Mapping[str, Any]
    worst: float
    undefined: float
    better: Literal["higher", "lower"]
    weight: str | None = None
    tables: tuple[str, ...] = ()
    file: Path | None = None

    @classmethod
    def from_dict(cls, key: str, data: Mapping[str, Any]) -> "Plan":
        lists = {name: tuple(data.get(name, ())) for name in ("fields", "gold", "by", "tables")}
        file, undefined = data.get("file"), data.get("undefined")
        given = {"file": Path(file) if file else None, "undefined": data["worst"] if undefined is None else undefined}
        return cls(key=key, **{**data, **lists, **given})

    @property
    def definition(self) -> Definition | None:
        """The metric's row of the table; None for an own function."""
        return None if self.file else definitions()[self.metric]

    @property
    def all_tables(self) -> tuple[str, ...]:
        """The tables that it reads."""
        return self.tables or (self.table,)

    @property
    def module(self) -> str:
        """The module of `declared.metrics` that computes it."""
        return "own" if self.definition is None else self.definition.module

    @property
    def resampled(self) -> bool:
        """Whether final reports have intervals and tests of it."""
        return self.definition is None or self.definition.resampled

    @property
    def gold_needed(self) -> tuple[str, ...]:
        """The gold columns that must be there; without relevance every row of a ranking's gold is relevant."""
        return self.gold[:1] if self.module == "rankings" else self.gold

    @property
    def numbers(self) -> dict[str, str]:
        """What a key's numbers mean to the metric → the gold column that holds them."""
        named = {"weight": self.weight, "scale": self.options.get("scale")}
        return {name: column for name, column in named.items() if column is not None and self.file is None}

    @property
    def grouping(self) -> list[str]:
        """The gold columns of which a key has one value: those that choose, group or weigh keys."""
        return [*self.where, *self.by, *self.numbers.values()]


def plans(options: Mapping[str, Any]) -> dict[str, list[Plan]]:
    """The plans of every task's columns that a scorer fills, in their order."""
    found = {}
    for task, columns in options["metrics"].items():
        found[task] = [Plan.from_dict(key, data) for key, data in columns.items()]
    return found


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
