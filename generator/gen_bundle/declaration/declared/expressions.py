"""Columns that are an expression of others: `{key: final, expression: "0.6 * f1 + 0.4 * acc", sort: …, worst: …}`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, columns_of, mappings
from scoring_kit.base.expressions import Expression, ExpressionError, read_expression

ALONE = ("metric", "computation", "measured", "of")
"""Keys of a column that say otherwise where its score comes from."""


def settle_expressions(data: dict[str, Any], found: list[Broken]) -> dict[str, dict[str, Any]]:
    """Complete the columns with expressions in place; gives those of each task as the scoring package reads them.

    What is wrong is appended to `found`. Each stands after the expressions that it is made of.
    """
    read: dict[str, Expression] = {}
    columns: dict[str, tuple[str, dict[str, Any]]] = {}
    for place, task in mappings(data, "tasks"):
        for trail, column in mappings(task, "columns", place):
            expression = None if column.get("expression") is None else _read(column, trail, found)
            if expression is not None and isinstance(column.get("key"), str):
                read[column["key"]] = expression
                columns[column["key"]] = str(task.get("id")), column
    found += _operands(data, read)
    ordered = list(_in_order(read))
    found += _circles(data, set(read) - set(ordered))
    settled: dict[str, dict[str, Any]] = {}
    for key in ordered:
        task_id, column = columns[key]
        better = "lower" if column["sort"] == "asc" else "higher"
        one = {"text": read[key].text, "worst": column["worst"], "better": better}
        settled.setdefault(task_id, {})[key] = one
    return settled


def _read(column: dict[str, Any], trail: Trail, found: list[Broken]) -> Expression | None:
    """A column's expression, with what else the column needs."""
    beside = [key for key in ALONE if column.get(key) is not None]
    found += [((*trail, key), "cannot be given together with expression. Expected one of the two.") for key in beside]
    for key, example in (("sort", "desc"), ("worst", 0)):
        if column.get(key) is None:
            found.append((trail, f"{key} is missing. An expression needs it, such as {key}: {example}."))
            column[key] = example
    column.setdefault("title", column.get("key"))
    column.setdefault("precision", 4)
    text = column["expression"]
    column.setdefault("meaning", f"{text}, of the unrounded scores.")
    if not isinstance(text, str | int | float) or isinstance(text, bool):
        found.append(((*trail, "expression"), f"expected a text such as 0.6 * f1 + 0.4 * accuracy (found {text!r})."))
        return None
    column["expression"] = str(text)
    try:
        return read_expression(str(text))
    except ExpressionError as error:
        found.append(((*trail, "expression"), f"{error}"))
        return None


def _operands(data: dict[str, Any], read: Mapping[str, Expression]) -> Iterator[Broken]:
    """What an expression names must be a written column of its task, or in layout joint of any."""
    for place, task in mappings(data, "tasks"):
        own = dict(mappings(task, "columns", place))
        usable = _written(own.values())
        elsewhere = _written([column for _, column in columns_of(data)])
        if data.get("layout", "joint") == "joint":
            usable = elsewhere
        for trail, column in own.items():
            expression = read.get(str(column.get("key")))
            if expression is None or column.get("expression") is None:
                continue
            for key, at in expression.columns:
                if key in usable:
                    continue
                fault = f"at character {at}: no metric or expression {key!r}. {nearest(key, usable)}"
                if key in elsewhere:
                    what = f"at character {at}: {key!r} is a column of another task, which is scored by itself"
                    fault = f"{what} in layout {data.get('layout')}. Expected columns of this task, or layout joint."
                yield (*trail, "expression"), fault


def _written(columns: Iterable[dict[str, Any]]) -> list[str]:
    """The keys of the columns that an expression may be made of: metrics, and other expressions."""
    keys = []
    for column in columns:
        is_written = column.get("computation") is None and column.get("measured") is None
        if is_written and isinstance(column.get("key"), str):
            keys.append(column["key"])
    return keys


def _in_order(read: Mapping[str, Expression]) -> Iterator[str]:
    """The expressions, each after those that it is made of; those in a circle, or made of one, are left out."""
    waiting = dict(read)
    done: set[str] = set()
    while True:
        ready = [key for key, one in waiting.items() if not set(one.keys) & (set(read) - done)]
        if not ready:
            return
        yield from ready
        done.update(ready)
        for key in ready:
            del waiting[key]


def _circles(data: dict[str, Any], keys: set[str]) -> Iterator[Broken]:
    for trail, column in columns_of(data):
        if column.get("key") in keys:
            others = ", ".join(sorted(keys))
            yield (*trail, "expression"), f"is made of itself, through {others}. Expected no circle."
