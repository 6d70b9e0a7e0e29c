"""Puts what the metrics say into a declaration: defaults of its columns, and its form for the scoring package."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gen_bundle.declaration.declared.columns import ColumnMetric, read_metric
from gen_bundle.declaration.declared.engine import engine_of, folder_faults, with_options
from gen_bundle.declaration.declared.remarks import bound
from gen_bundle.declaration.declared.tables import DeclaredTable, read_tables
from gen_bundle.declaration.declared.titles import meaning_of, name_columns
from gen_bundle.declaration.model import DeclaredPhase
from gen_bundle.declaration.source import Broken, Trail, columns_of, mappings

DECLARED = "declared"
DIRECTIONS = {"desc": "higher is better", "asc": "lower is better"}
COMPUTED = {"avg": "Mean", "sum": "Sum", "min": "Minimum", "max": "Maximum", "avg_rank": "Mean rank"}
PRECISION = 4
DEFAULT_LIMIT: int = DeclaredPhase.model_fields["execution_time_limit"].default
RANK_PRECISION = 2


def settle(data: dict[str, Any], folder: Path) -> list[Broken]:
    """Complete the raw declaration `data` in place; returns what is wrong, as (where, what and what was expected).

    Each column gets `sort`, `worst`, `title`, `meaning` and `precision` from its metric where it gives none, and
    `options` the tables and metrics as the scoring package `declared` reads them. Wrong shapes are left to the model.
    """
    found: list[Broken] = []
    tables = read_tables(data, found)
    if any(trail[-1] == "key" for trail, _ in found):  # metrics would blame the fields of a table whose key is wrong
        for _, column in columns_of(data):
            _complete_unread(column)
        return found
    columns = [
        (str(task.get("id")), trail, column, _metric(column, trail, tables, folder, found))
        for place, task in mappings(data, "tasks")
        for trail, column in mappings(task, "columns", place)
    ]
    engine = engine_of(data.get("options"), found)
    for _, trail, column, metric in columns:
        if metric is not None:
            if metric.function == "bertscore" and metric.metric is not None:
                metric.options = with_options(engine, metric.options)
                found += folder_faults(metric.options, folder, (*trail, "metric"))
            found += _complete(column, metric, trail)
            if metric.metric is not None and metric.metric.is_ranking:
                metric.table.distinct = metric.options["item"]
    name_columns([(column, metric) for _, _, column, metric in columns if metric is not None])
    for _, _, column, metric in columns:
        if column.get("measured") is not None:
            _complete_measured(column, data)
        elif metric is None and column.get("computation") is None:
            _complete_unread(column)
    by_key = {column.get("key"): column for _, _, column, _ in columns}
    for _, trail, column, _ in columns:
        if column.get("computation") is not None:
            found += _complete_computed(column, by_key, trail)
    options = data.setdefault("options", {})
    if isinstance(options, dict):
        plans: dict[str, dict[str, Any]] = {str(task.get("id")): {} for _, task in mappings(data, "tasks")}
        for task, _, column, metric in columns:
            if metric is not None and isinstance(column.get("key"), str):
                plans[task][column["key"]] = metric.as_option(column["sort"], column["worst"])
        options["tables"] = [table.as_option() for table in tables.values()]
        options["metrics"] = plans
    return found


def _metric(
    column: dict[str, Any], trail: Trail, tables: dict[str, DeclaredTable], folder: Path, found: list[Broken]
) -> ColumnMetric | None:
    if column.get("computation") is not None:
        if column.get("metric") is not None:
            found.append(((*trail, "metric"), "cannot be given together with computation. Expected one of the two."))
        return None
    if column.get("measured") is not None:
        return None
    if column.get("metric") is None:
        found.append((trail, "metric is missing. Expected the name of a metric, such as f1, or a computation."))
        return None
    return read_metric(column["metric"], (*trail, "metric"), tables, folder, found)


def _complete(column: dict[str, Any], metric: ColumnMetric, trail: Trail) -> Iterator[Broken]:
    known = metric.metric
    if known is None:
        for key in ("sort", "worst"):
            if column.get(key) is None:
                yield trail, f"{key} is missing. A metric of your own needs it."
                column[key] = "desc" if key == "sort" else 0
        column.setdefault("meaning", f"{metric.function}, the organisers' own metric.")
    else:
        if column.get("sort") in DIRECTIONS and column["sort"] != known.sort:
            right = DIRECTIONS[known.sort]
            what = f"{column['sort']} contradicts {known.name}, where {right}."
            yield (*trail, "sort"), f"{what} Expected {known.sort}, or no sort."
        column.setdefault("sort", known.sort)
        if column.get("worst") is None:
            column["worst"] = known.worst
        column.setdefault("meaning", meaning_of(metric, known))
        column["meaning"] = " ".join(filter(None, [column["meaning"], bound(known, column["worst"])]))
    column.setdefault("precision", 2 if known and known.best == 100 else PRECISION)
    if metric.undefined is not None and isinstance(column["worst"], int | float):
        better = metric.undefined - column["worst"]
        if (better if column["sort"] == "desc" else -better) < 0:
            what = f"{metric.undefined:g} is beyond the column's worst, {column['worst']:g}, which is written instead."
            yield (*trail, "metric", "undefined"), f"{what} Expected a value that is no worse, or another worst."


def _complete_unread(column: dict[str, Any]) -> None:
    """A column whose metric is at fault: what the metric would have said is not missed, too."""
    for key, value in (("sort", "desc"), ("worst", 0), ("title", "?"), ("meaning", "?")):
        if column.get(key) is None:
            column[key] = value


def _complete_measured(column: dict[str, Any], data: dict[str, Any]) -> None:
    """A column of seconds; no run takes longer than its phase allows."""
    limits = [phase.get("execution_time_limit", DEFAULT_LIMIT) for _, phase in mappings(data, "phases")]
    defaults = {
        "title": "Seconds",
        "sort": "asc",
        "worst": max((limit for limit in limits if isinstance(limit, int)), default=DEFAULT_LIMIT),
        "precision": 1,
        "meaning": "Wall-clock seconds that the code ran.",
    }
    for key, value in defaults.items():
        column.setdefault(key, value)


def _complete_computed(column: dict[str, Any], by_key: dict[Any, dict[str, Any]], trail: Trail) -> Iterator[Broken]:
    """A computed column is sorted as those it is made of, and shown as precisely."""
    names = column.get("of")
    parts = [
        by_key[name] for name in (names if isinstance(names, list) else []) if isinstance(name, str) and name in by_key
    ]
    ranks = column.get("computation") == "avg_rank"
    sorts = {"asc"} if ranks else {part.get("sort") for part in parts}
    if column.get("sort") is None:
        if len(sorts) > 1:
            yield trail, "sort is missing. The columns that it is computed from are sorted both ways."
        column["sort"] = next(iter(sorts)) if len(sorts) == 1 else "desc"
    named = COMPUTED.get(str(column.get("computation")), "Value")
    column.setdefault("title", named)
    titles = " and ".join(str(part.get("title")) for part in parts)
    column.setdefault("meaning", f"{named} of {titles}.")
    if ranks:
        column.setdefault("precision", RANK_PRECISION)
    column.setdefault("precision", max((part.get("precision", PRECISION) for part in parts), default=PRECISION))
