"""Puts what the metrics say into a declaration: defaults of its columns, and its form for the scoring package.

The engine of BERTScore is what a column, `options.bertscore` and the options of all models say of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.declaration.declared.columns import OWN, ColumnMetric, read_metric
from gen_bundle.declaration.declared.expressions import settle_expressions
from gen_bundle.declaration.declared.remarks import bound
from gen_bundle.declaration.declared.tables import DeclaredTable, read_tables
from gen_bundle.declaration.declared.titles import meaning_of, name_columns
from gen_bundle.declaration.model import DeclaredPhase
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, columns_of, mappings

DEFAULT = {
    "model": "microsoft/deberta-xlarge-mnli",
    "revision": "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c",
    "rescale": True,
}
"""What holds where nothing else is declared."""
TYPES: Mapping[str, tuple[type[Any], str]] = {
    "model": (str, "a model's name on the hub, or a folder"),
    "revision": (str, "a commit of the model"),
    "num_layers": (int, "a whole number from 1"),
    "baseline": (str, "a file of baselines beside bundle.yaml"),
    "rescale": (bool, "true or false"),
}
OF_ALL_MODELS = ("device", "precision", "batch_tokens", "cache")
PLACE: Trail = ("options", "bertscore")


def engine_of(options: Any, found: list[Broken]) -> dict[str, Any]:
    """The engine that a declaration's `options` describe; what is wrong is appended to `found`."""
    options = options if isinstance(options, dict) else {}
    group = options.get("bertscore")
    if group is not None and not isinstance(group, dict):
        found.append((PLACE, f"expected a mapping with some of {', '.join(TYPES)}."))
    given = group if isinstance(group, dict) else {}
    found += _faults(given)
    of_all = {name: options[name] for name in OF_ALL_MODELS if options.get(name) is not None}
    return {**of_all, **with_options(DEFAULT, given)}


def with_options(engine: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's options with others in their place; another model has another revision, layer and baseline."""
    chosen = {name: value for name, value in given.items() if value is not None}
    kept = engine
    if chosen.get("model", engine["model"]) != engine["model"]:
        kept = {name: value for name, value in engine.items() if name not in ("num_layers", "baseline")}
        kept["revision"] = None
    return {**kept, **chosen}


def folder_faults(engine: Mapping[str, Any], folder: Path, trail: Trail) -> Iterator[Broken]:
    """What bert-score's tables do not say of a model that is a folder, so that the declaration must."""
    model = engine["model"]
    if not isinstance(model, str) or not (model.startswith(("/", ".", "~")) or (folder / model).is_dir()):
        return
    if engine.get("num_layers") is None:
        yield trail, f"bert-score knows no layer for the folder {model}. Expected options.bertscore.num_layers."
    if engine["rescale"] and engine.get("baseline") is None:
        what = f"bert-score knows no baseline for the folder {model}."
        yield trail, f"{what} Expected options.bertscore.baseline, or rescale: false."


def _faults(given: Mapping[str, Any]) -> Iterator[Broken]:
    for name, value in given.items():
        if name not in TYPES:
            yield (*PLACE, str(name)), f"unknown option. {nearest(str(name), list(TYPES))}"
            continue
        kind, expected = TYPES[name]
        is_layer = name == "num_layers"
        if value is not None and (type(value) is not kind or value == "" or (is_layer and value < 1)):
            yield (*PLACE, name), f"expected {expected} (found {value!r})."


DECLARED = "declared"
DIRECTIONS = {"desc": "higher is better", "asc": "lower is better"}
COMPUTED = {"avg": "Mean", "sum": "Sum", "min": "Minimum", "max": "Maximum", "avg_rank": "Mean rank"}
PRECISION = 4
PRECISIONS: Mapping[float, int] = {100: 2}
"""Of metrics whose best value is this one."""
DEFAULT_LIMIT: int = DeclaredPhase.model_fields["execution_time_limit"].default
RANK_PRECISION = 2


@dataclass
class SettledColumn:
    """A column on its way: where it stands, what bundle.yaml says of it, and its metric if it has a sound one."""

    task: str
    trail: Trail
    data: dict[str, Any]
    metric: ColumnMetric | None = None


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
    columns = list(_columns(data))
    engine = engine_of(data.get("options"), found)
    for one in columns:
        one.metric = _metric(one, tables, folder, found)
        if one.metric is not None:
            found += _complete(one.data, one.metric, one.trail)
            found += _of_library(one.metric, engine, folder, one.trail)
    name_columns([(one.data, one.metric) for one in columns if one.metric is not None])
    found += _complete_others(data, columns)
    expressions = settle_expressions(data, found)
    checks = dict(_checks(tables, folder, found))
    options = data.setdefault("options", {})
    if isinstance(options, dict):
        options["tables"] = [table.as_option() for table in tables.values()]
        options["metrics"] = _plans(data, columns)
        options.update({name: own for name, own in (("expressions", expressions), ("checks", checks)) if own})
    return found


def _columns(data: dict[str, Any]) -> Iterator[SettledColumn]:
    for place, task in mappings(data, "tasks"):
        for trail, column in mappings(task, "columns", place):
            yield SettledColumn(str(task.get("id")), trail, column)


def _plans(data: dict[str, Any], columns: Sequence[SettledColumn]) -> dict[str, dict[str, Any]]:
    """Task → key → metric, as the scoring package gets them."""
    plans: dict[str, dict[str, Any]] = {str(task.get("id")): {} for _, task in mappings(data, "tasks")}
    for one in columns:
        if one.metric is not None and isinstance(one.data.get("key"), str):
            plans[one.task][one.data["key"]] = one.metric.as_option(one.data["sort"], one.data["worst"])
    return plans


def _checks(
    tables: Mapping[str, DeclaredTable], folder: Path, found: list[Broken]
) -> Iterator[tuple[str, dict[str, str]]]:
    """The organisers' own checks, by table."""
    for name, table in tables.items():
        own = OWN.fullmatch(table.check or "")
        if own is not None and (folder / own["file"]).is_file():
            yield name, {"file": own["file"], "function": own["function"]}
        elif own is not None:
            found.append(((*table.trail, "check"), f"no file {own['file']!r} beside bundle.yaml."))
        elif table.check is not None:
            found.append(((*table.trail, "check"), f"expected FILE.py:FUNCTION (found {table.check!r})."))


def _metric(
    column: SettledColumn, tables: dict[str, DeclaredTable], folder: Path, found: list[Broken]
) -> ColumnMetric | None:
    data, trail = column.data, column.trail
    if data.get("computation") is not None:
        if data.get("metric") is not None:
            found.append(((*trail, "metric"), "cannot be given together with computation. Expected one of the two."))
        return None
    if data.get("measured") is not None or data.get("expression") is not None:
        return None
    if data.get("metric") is None:
        what = "metric is missing. Expected the name of a metric, such as f1, an expression or a computation."
        found.append((trail, what))
        return None
    return read_metric(data["metric"], (*trail, "metric"), tables, folder, found)


def _of_library(metric: ColumnMetric, engine: dict[str, Any], folder: Path, trail: Trail) -> Iterator[Broken]:
    """What a metric needs besides its own options: BERTScore its engine, a ranking the field of its items."""
    if metric.metric is None:
        return
    if metric.function == "bertscore":
        metric.options = with_options(engine, metric.options)
        yield from folder_faults(metric.options, folder, (*trail, "metric"))
    if metric.metric.is_ranking:
        metric.table.distinct = metric.options["item"]
        metric.table.all_items |= metric.options["items"] == "all"


def _complete(column: dict[str, Any], metric: ColumnMetric, trail: Trail) -> Iterator[Broken]:
    known = metric.metric
    if known is None:
        for key in ("sort", "worst"):
            if column.get(key) is None:
                yield trail, f"{key} is missing. A metric of your own needs it."
                column[key] = "desc" if key == "sort" else 0
        column.setdefault("meaning", f"{metric.function}, the organisers' own metric.")
        column.setdefault("precision", PRECISION)
    else:
        if column.get("sort") in DIRECTIONS and column["sort"] != known.sort:
            what = f"{column['sort']} contradicts {known.name}, where {DIRECTIONS[known.sort]}."
            yield (*trail, "sort"), f"{what} Expected {known.sort}, or no sort."
        column.setdefault("sort", known.sort)
        if column.get("worst") is None:
            column["worst"] = metric.worst
        column.setdefault("meaning", meaning_of(metric, known))
        said = bound(known, metric.worst, column["worst"])
        column["meaning"] = " ".join(filter(None, [column["meaning"], said]))
        column.setdefault("precision", PRECISIONS.get(known.best, PRECISION))
    if metric.undefined is not None:
        yield from _undefined(metric.undefined, column, trail)


def _undefined(undefined: float, column: dict[str, Any], trail: Trail) -> Iterator[Broken]:
    """A value for what is undefined that could not be written."""
    worst = column["worst"]
    if not isinstance(worst, int | float):
        return
    if (undefined < worst) if column["sort"] == "desc" else (undefined > worst):
        what = f"{undefined:g} is beyond the column's worst, {worst:g}, which is written instead."
        yield (*trail, "metric", "undefined"), f"{what} Expected a value that is no worse, or another worst."


def _complete_others(data: dict[str, Any], columns: Sequence[SettledColumn]) -> Iterator[Broken]:
    """Complete the columns without a metric, but for expressions, which take nothing from other columns."""
    for one in columns:
        if one.data.get("measured") is not None:
            _complete_measured(one.data, data)
        elif one.metric is None and one.data.get("computation") is None and one.data.get("expression") is None:
            _complete_unread(one.data)
    by_key = {one.data.get("key"): one.data for one in columns}
    for one in columns:
        if one.data.get("computation") is not None:
            yield from _complete_computed(one.data, by_key, one.trail)


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
    names = column["of"] if isinstance(column.get("of"), list) else []
    parts = [by_key[name] for name in names if isinstance(name, str) and name in by_key]
    computation = str(column.get("computation"))
    if computation == "avg_rank":
        column.setdefault("precision", RANK_PRECISION)
        sorts: set[Any] = {"asc"}
    else:
        column.setdefault("precision", max((part.get("precision", PRECISION) for part in parts), default=PRECISION))
        sorts = {part.get("sort") for part in parts}
    if column.get("sort") is None:
        if len(sorts) > 1:
            yield trail, "sort is missing. The columns that it is computed from are sorted both ways."
        column["sort"] = sorts.pop() if len(sorts) == 1 else "desc"
    named = COMPUTED.get(computation, "Value")
    column.setdefault("title", named)
    titles = " and ".join(str(part.get("title")) for part in parts)
    column.setdefault("meaning", f"{named} of {titles}.")
