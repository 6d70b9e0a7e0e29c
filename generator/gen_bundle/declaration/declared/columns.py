"""A column's metric: what bundle.yaml says of it, checked against the table of metrics, with defaults put in."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_bundle.declaration.declared.metrics import Metric, Option, metrics
from gen_bundle.declaration.declared.tables import DeclaredTable, names_of
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, text_of

OWN = re.compile(r"(?P<file>[^/:]+\.py):(?P<function>[A-Za-z_]\w*)")
PLACES = ("name", "table", "field", "fields", "gold", "where", "by", "undefined")
GOLD_COLUMNS = "a gold column or a list of them"


@dataclass
class ColumnMetric:
    """A column's metric, resolved.

    Attributes:
        metric: the row of the table; None for an own function.
        function: the metric's name, or that of the own function.
        file: the own function's file.
        table: what it reads.
        fields: of the submission.
        gold: the gold's column for each of them.
        where: gold column → texts that count, or bounds of a number.
        by: gold columns whose groups are averaged.
        options: the metric's own.
        undefined: what counts where it is undefined; None: the column's worst.
    """

    metric: Metric | None
    function: str
    file: str | None
    table: DeclaredTable
    fields: Sequence[str]
    gold: Sequence[str]
    where: Mapping[str, Any]
    by: Sequence[str]
    options: Mapping[str, Any]
    undefined: float | None = None

    def as_option(self, sort: str, worst: float) -> dict[str, Any]:
        """The metric as the scoring package gets it."""
        return {
            "metric": self.function,
            "file": self.file,
            "table": self.table.id,
            "fields": list(self.fields),
            "gold": list(self.gold),
            "where": dict(self.where),
            "by": list(self.by),
            "options": dict(self.options),
            "worst": worst,
            "undefined": self.undefined,
            "better": "higher" if sort == "desc" else "lower",
        }


def read_metric(
    value: Any, trail: Trail, tables: Mapping[str, DeclaredTable], folder: Path, found: list[Broken]
) -> ColumnMetric | None:
    """The metric that a column declares; what is wrong is appended to `found`, None where it cannot be read."""
    data = {"name": value} if isinstance(value, str) else value
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        found.append((trail, "expected the name of a metric, or a mapping with a name, such as {name: f1}."))
        return None
    at = (*trail, "name") if isinstance(value, dict) else trail
    own = OWN.fullmatch(data["name"])
    metric = metrics().get(data["name"])
    if own is None and metric is None:
        found.append((at, f"no metric {data['name']!r}. {nearest(data['name'], list(metrics()))}"))
        return None
    if own is not None and not (folder / own["file"]).is_file():
        found.append((at, f"no file {own['file']!r} beside bundle.yaml."))
    table = _table(data, trail, tables, found)
    if table is None:
        return None
    where = _where(data.get("where"), (*trail, "where"), found)
    by = names_of(data.get("by"), (*trail, "by"), found, GOLD_COLUMNS)
    undefined = _undefined(data.get("undefined"), trail, found)
    if own is not None or metric is None:
        rest = {key: option for key, option in data.items() if key not in ("name", "where", "by", "undefined")}
        file, _, function = data["name"].partition(":")
        return ColumnMetric(None, function, file, table, (), (), where, by, rest, undefined)
    found += _unknown_options(data, metric, trail)
    options = dict(_options(data, metric, trail, found))
    if metric.is_ranking:
        fields = [name for name in (options["item"], options["score"]) if name in table.fields]
        gold = [options["item"], options["relevance"]]
    else:
        fields = _fields(data, table, trail, found, joint=metric.joint)
        gold = _gold(data, fields, trail, found)
    column = ColumnMetric(metric, metric.name, None, table, fields, gold, where, by, options, undefined)
    found += [*_types(column, metric, trail), *_combinations(column, metric, trail)]
    return column


def _table(
    data: Mapping[str, Any], trail: Trail, tables: Mapping[str, DeclaredTable], found: list[Broken]
) -> DeclaredTable | None:
    """The table that a metric names, the only one, or the only one with its fields."""
    named = data.get("table")
    if named is not None:
        if str(named) not in tables:
            found.append(((*trail, "table"), f"no table {named!r}. {nearest(str(named), list(tables))}"))
        return tables.get(str(named))
    several = data.get("fields")
    fields = {str(name) for name in (several if isinstance(several, list) else [data.get("field")]) if name is not None}
    fitting = [table for table in tables.values() if fields <= set(table.fields)]
    if len(tables) == 1:
        return next(iter(tables.values()))
    if len(fitting) == 1:
        return fitting[0]
    if tables:
        found.append((trail, f"table is missing. Expected one of {', '.join(tables)}."))
    return None


def _fields(
    data: Mapping[str, Any], table: DeclaredTable, trail: Trail, found: list[Broken], *, joint: bool
) -> list[str]:
    """The fields that a metric reads: those it names, the only one, or, taken together, all."""
    if "field" in data and "fields" in data:
        found.append(((*trail, "fields"), "cannot be given together with field. Expected one of the two."))
    named = [data["field"]] if "field" in data else data.get("fields")
    key = "field" if "field" in data else "fields"
    if named is None:
        if len(table.answers) == 1 or (joint and table.answers):
            return table.answers
        fault = _key_without_field(table) or (trail, f"field is missing. Expected one of {', '.join(table.answers)}.")
        found += [] if fault in found else [fault]
        return []
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if not names or len(names) < len(named):
        found.append(((*trail, key), f"expected the name of a field (found {data[key]!r})."))
    unknown = [name for name in names if name not in table.fields]
    found += [((*trail, key), f"no field {name!r}. {nearest(name, table.answers)}") for name in unknown]
    return [name for name in names if name in table.fields]


def _key_without_field(table: DeclaredTable) -> Broken | None:
    """A key that no field is called like: the field that is meant then looks like one more answer."""
    for name in table.key:
        if name not in table.fields:
            return (*table.trail, "key"), f"no field {name!r}. {nearest(name, list(table.fields))}"
    return None


def _gold(data: Mapping[str, Any], fields: list[str], trail: Trail, found: list[Broken]) -> list[str]:
    """The gold's columns: those of the fields' names, or others."""
    if data.get("gold") is None:
        return list(fields)
    columns = names_of(data["gold"], (*trail, "gold"), found, GOLD_COLUMNS)
    if len(columns) != len(fields):
        found.append(((*trail, "gold"), f"names {len(columns)} columns for {len(fields)} fields. Expected one each."))
        return list(fields)
    return columns


def _where(value: Any, trail: Trail, found: list[Broken]) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if value is None:
        return wanted
    if not isinstance(value, dict) or not value:
        found.append((trail, "expected a mapping of gold columns and values, such as {language: swa}."))
        return wanted
    for column, one in value.items():
        here = (*trail, str(column))
        if isinstance(one, dict):
            numbers = all(isinstance(bound, int | float) and not isinstance(bound, bool) for bound in one.values())
            if not one or not set(one) <= {"min", "max"} or not numbers:
                found.append((here, "expected {min: number} or {max: number}, or both."))
            wanted[str(column)] = one
            continue
        texts = [text_of(item) for item in (one if isinstance(one, list) else [one])]
        if not texts or None in texts:
            found.append((here, "expected a value, a list of values, {min: …} or {max: …}."))
        wanted[str(column)] = [text for text in texts if text is not None]
    return wanted


def _undefined(value: Any, trail: Trail, found: list[Broken]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        found.append(((*trail, "undefined"), f"expected a number (found {value!r})."))
        return None
    return value


def _unknown_options(data: Mapping[str, Any], metric: Metric, trail: Trail) -> Iterator[Broken]:
    known = [*PLACES, *metric.options]
    for key in data:
        if key not in known:
            yield (*trail, str(key)), f"{metric.name} has no option {str(key)!r}. {nearest(str(key), known)}"


def _options(data: Mapping[str, Any], metric: Metric, trail: Trail, found: list[Broken]) -> Iterator[tuple[str, Any]]:
    for name, option in metric.options.items():
        value = data.get(name)
        if value is None:
            if option.required:
                found.append((trail, f"{name} is missing. {metric.name} needs it."))
            yield name, option.default
            continue
        if option.type in ("label", "text", "field", "column"):
            value = text_of(value)
        if option.type == "labels" and isinstance(value, list):
            value = [text_of(label) for label in value]
        if fault := _option_fault(option, value):
            found.append(((*trail, name), f"{fault} (found {data[name]!r})."))
            value = option.default
        yield name, _points(value) if option.type == "matrix" else value


def _option_fault(option: Option, value: Any) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if option.type == "unit" and isinstance(value, dict):
        separator = value.get("separator")
        fits = list(value) == ["separator"] and isinstance(separator, str) and separator
        return None if fits else "expected {separator: text}"
    if option.type == "labels" and isinstance(value, list):
        differ = None not in value and len(set(value)) == len(value) > 0
        return None if differ else "expected a list of different labels"
    if option.choices and value not in option.choices:
        return f"expected {'one of ' if option.choices[1:] else ''}{', '.join(option.choices)}"
    if option.type == "boolean" and not isinstance(value, bool):
        return "expected true or false"
    if option.type == "integer" and (not is_number or not isinstance(value, int) or value < 0):
        return "expected a whole number"
    if option.type == "integer" and value > (option.max or math.inf):
        return f"expected a whole number up to {option.max:g}"
    if option.type == "number" and (not is_number or not 0 <= value <= (option.max or math.inf)):
        return "expected a number from 0" + (f" to {option.max:g}" if option.max else "")
    if option.type == "matrix" and _points(value) is None:
        return "expected points for each gold label and answer, such as {pro: {pro: 1, con: -0.5}}"
    return "expected a text" if option.type in ("label", "text", "field", "column") and value is None else None


def _points(value: Any) -> dict[str, dict[str, float]] | None:
    """A matrix of points by gold label and answer, with labels as texts; None where it is none."""
    if not isinstance(value, dict) or not value or not all(isinstance(row, dict) for row in value.values()):
        return None
    points = {str(text_of(gold)): {str(text_of(label)): n for label, n in row.items()} for gold, row in value.items()}
    numbers = [number for row in points.values() for number in row.values()]
    fit = all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in numbers)
    return points if fit else None


def _types(column: ColumnMetric, metric: Metric, trail: Trail) -> Iterator[Broken]:
    """Whether table and fields are of the kind that the metric takes."""
    table = column.table
    if table.many and metric.many == "never":
        yield trail, f"{metric.name} compares one row for each key. Expected a table with rows: one."
        return
    if metric.is_ranking:
        if not table.many:
            yield (
                trail,
                f"{metric.name} scores several rows per key. Expected a table with `rows: many`, keyed by query.",
            )
        if column.options["item"] not in table.fields:
            yield trail, f"no field {column.options['item']!r}. Expected the field of the ranked items (item: …)."
        score = table.fields.get(column.options["score"])
        if score is not None and score["type"] != "number":
            yield trail, f"the field {column.options['score']!r} is of type {score['type']}. Expected number."
        return
    if table.many:
        return  # rows are compared as wholes
    for name in column.fields:
        kind = table.fields[name]["type"]
        if kind in metric.types and "default" in table.fields[name]:
            continue  # what a missing row counts as
        if kind not in metric.types:
            yield trail, f"{metric.name} takes fields of type {' or '.join(metric.types)}; {name!r} is of type {kind}."
        elif kind in ("number", "tags") and not table.reject_missing:
            what = f"missing: empty would leave {name!r} without a value that {metric.name} can score."
            yield trail, f"{what} Expected missing: reject."
        elif kind in ("number", "tags") and not table.fields[name]["required"]:
            what = f"{name!r} may be left out (required: false), which {metric.name} cannot score."
            yield trail, f"{what} Expected required: true."


def _labels_of(matrix: Mapping[str, Mapping[str, float]]) -> set[str]:
    return {*matrix, *(label for row in matrix.values() for label in row)}


def _combinations(column: ColumnMetric, metric: Metric, trail: Trail) -> Iterator[Broken]:
    """Options that do not go with each other or with the fields."""
    options, table = column.options, column.table
    fields = [table.fields[name] for name in column.fields if name in table.fields]
    average = options.get("average")
    if average == "binary" and options.get("positive") is None:
        yield trail, "positive is missing. Expected the label that average: binary is about."
    if options.get("positive") is not None and average not in (None, "binary"):
        yield (*trail, "positive"), "is for average: binary alone."
    if average == "binary" and isinstance(options.get("labels"), list):
        yield (*trail, "labels"), "a list of labels is for averages over labels; average: binary is about `positive`."
    for field in fields:
        named = field["name"]
        if average == "samples" and field["type"] == "label":
            yield (*trail, "average"), f"samples is for fields of type labels; {named!r} is of type label."
        if average == "binary" and field["type"] == "labels":
            yield (*trail, "average"), f"binary is for fields of type label; {named!r} is of type labels."
        declared = field.get("values")
        positive = options.get("positive")
        if positive is not None and declared and positive not in declared and metric.gold is None:
            yield (*trail, "positive"), f"no label {positive!r}. {nearest(positive, declared)}"
        listed = options["labels"] if isinstance(options.get("labels"), list) else []
        for label in listed:
            if declared and label not in declared:
                yield (*trail, "labels"), f"no label {label!r}. {nearest(label, declared)}"
        if options.get("labels") == "declared" and not declared:
            yield (*trail, "labels"), f"the field {named!r} declares no values. Expected values, or labels: gold."
        if options.get("weights", "none") != "none" and not declared:
            yield (*trail, "weights"), f"the field {named!r} declares no values. Expected values in their order."
        match = options.get("match", "exact")
        if match != "exact" and (field["type"] != "spans" or table.many):
            yield (*trail, "match"), f"{match} is for fields of type spans, with rows: one."
        for label in sorted(_labels_of(options.get("matrix") or {})):
            if declared and label not in declared:
                yield (*trail, "matrix"), f"no label {label!r}. {nearest(label, declared)}"
        if metric.name == "rmsle" and field.get("min", -1) < 0:
            yield trail, f"rmsle takes numbers from 0; {named!r} may be negative. Expected min: 0."
        if metric.probability:
            if field.get("min", 0) < 0 or field.get("max", 1) > 1:
                what = f"{metric.name} takes a probability; {named!r} may lie outside 0 to 1."
                yield trail, f"{what} Expected min: 0, max: 1."
            field.setdefault("min", 0)
            field.setdefault("max", 1)
    if "cutoff" in options and options["cutoff"] == 0:
        yield (*trail, "cutoff"), "expected a whole number of at least 1."
