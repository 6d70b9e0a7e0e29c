"""The plan of a column's score: metric, table, fields, rows and groups, as bundle.yaml declares it.

From these also follow the columns of the gold that metrics read, and their types.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from declared.metrics import Definition, definitions
from declared.tables import Table
from scoring_kit.base.expressions import Expression, read_expression
from scoring_kit.base.field_types import Field
from scoring_kit.base.scoring_keys import grouping

NAMING = ("label", "labels", "tags", "spans")
"""Types whose values name labels, or types of spans."""
LABEL_TYPES = {"label", "ordinal"}


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
        beside: names of the files that travel beside it.
        by_weight: whether the mean over groups is weighted by their numbers of keys.
        mean_by: the gold column in each of whose groups gold and answers are averaged before the metric.
        per: `key` where an own function is called with one key at a time; else it gets all at once.
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
    beside: tuple[str, ...] = ()
    by_weight: bool = False
    mean_by: str | None = None
    per: str | None = None

    @classmethod
    def from_dict(cls, key: str, data: Mapping[str, Any]) -> "Plan":
        given = {**data, "key": key}
        for name in ("fields", "gold", "by", "tables", "beside"):
            given[name] = tuple(data.get(name, ()))
        if data.get("file"):
            given["file"] = Path(data["file"])
        if data.get("undefined") is None:
            given["undefined"] = data["worst"]
        return cls(**given)

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
        """Return what a key's numbers mean to the metric → the gold column that holds them."""
        named = {}
        if self.weight is not None:
            named["weight"] = self.weight
        if self.file is None and self.options.get("scale") is not None:  # the options of an own function are its own
            named["scale"] = self.options["scale"]
        return named

    @property
    def grouping(self) -> list[str]:
        """The gold columns of which a key has one value: those that choose, group or weigh keys."""
        return grouping(vars(self))


def plans(options: Mapping[str, Any]) -> dict[str, list[Plan]]:
    """Return the plans of every task's columns that a scorer fills, in their order."""
    found: dict[str, list[Plan]] = {}
    for task, columns in options["metrics"].items():
        found[task] = [Plan.from_dict(key, data) for key, data in columns.items()]
    return found


def plans_of(tasks: Iterable[str], options: Mapping[str, Any]) -> list[Plan]:
    """Return the plans of these tasks' columns."""
    of_tasks = plans(options)
    return [plan for task in tasks for plan in of_tasks[task]]


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
    """Return the expressions of every task."""
    found: dict[str, list[ExpressionPlan]] = {}
    for task, own in options.get("expressions", {}).items():
        for key, one in own.items():
            plan = ExpressionPlan(key, read_expression(one["text"]), one["worst"], one["better"])
            found.setdefault(task, []).append(plan)
    return found


@dataclass
class ColumnSources:
    """The sources of a task's columns.

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

    @property
    def metrics(self) -> list[Plan]:
        """Return all that must be computed, also of other tasks."""
        return [*self.own, *self.beside]

    @property
    def tables(self) -> list[str]:
        """Return the tables that are read."""
        found: dict[str, None] = {}
        for plan in self.metrics:
            found.update(dict.fromkeys(plan.all_tables))
        return list(found)


def columns_of_task(task: str, options: Mapping[str, Any], entered: Collection[str]) -> ColumnSources:
    """Return the columns of a task, and of other tasks those that its expressions are made of."""
    of_tasks, made = plans(options), expressions(options)
    by_key: dict[str, tuple[str, Plan | ExpressionPlan]] = {}
    for group in (of_tasks, made):
        for owner, columns in group.items():
            for one in columns:
                by_key[one.key] = owner, one
    found = ColumnSources([key for key, (owner, _) in by_key.items() if owner == task], of_tasks[task])

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

    for expression in made.get(task, []):
        take(expression.key)
    return found


def compared_with(plan: Plan, table: Table, names: Collection[str]) -> Iterator[tuple[str, Field]]:
    """Yield each gold column that a metric reads, typed, after the submission's field that it is compared with.

    An own function reads every field that the gold has. The gold always has a value, also of fields that a submission
    may leave out; without the relevance of a ranking every row of the gold is relevant.
    """
    if plan.file:
        for own in table.answers:
            if own.name in names:
                yield own.name, as_gold(own)
    elif plan.module == "rankings":
        item, relevance = plan.gold
        if item in names:  # a text, spelt as the field spells it
            yield item, replace(as_gold(table.field(plan.fields[0])), name=item, type="string")
        if relevance in names:
            yield relevance, Field(relevance, "number")
    else:
        asked = definitions()[plan.metric].gold
        for name, column in zip(plan.fields, plan.gold, strict=True):
            own = table.field(name)
            yield name, _typed(column, as_gold(own), asked.get(own.type), table)


def as_gold(field: Field) -> Field:
    """Return a field as the gold has it: of probabilities the label."""
    if field.type == "probabilities":
        field = replace(field, type="label", columns=())
    return replace(field, required=True, default=None)


def _typed(column: str, compared: Field, asked: str | None, table: Table) -> Field:
    """A gold column, typed like the field that it is compared with, or as a metric asks; a field keeps its spelling."""
    own = table.by_name.get(column)
    kind = asked or compared.type
    if own is not None and own.name != compared.name and (own.type == kind or {own.type, kind} <= LABEL_TYPES):
        return replace(as_gold(own), type=kind)
    if compared.type != kind:
        return Field(column, kind)
    if column == compared.name:
        return compared
    return replace(compared, name=column, columns=())


def open_fields(table: Table, wanted: Sequence[Plan], names: Collection[str]) -> dict[str, list[Field]]:
    """Field of labels without declared values, or of typed spans → the gold's typed columns to compare with.

    These say which labels there are, or types of spans; in a field that metrics of clusters read they may be any text.
    """
    any_text: set[str] = set()
    for plan in wanted:
        if plan.module == "clusters":
            any_text.update(plan.fields)
    found: dict[str, list[Field]] = {}
    for plan in wanted:
        for name, compared in compared_with(plan, table, names):
            own = table.by_name.get(name)
            if own is None or own.type != compared.type or own.type not in NAMING or own.open:
                continue
            if own.values is None and name not in any_text:
                columns = found.setdefault(name, [])
                if compared not in columns and compared.name in names:
                    columns.append(compared)
    return found
