"""A column's metric: what bundle.yaml says of it, checked against the table of metrics, with defaults put in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gen_bundle.declaration.declared.fields import names_of
from gen_bundle.declaration.declared.metrics import MetricRow, UnfitError, is_number, metrics, of_types
from gen_bundle.declaration.declared.tables import DeclaredTable
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, items_of, mapping_of, text_of
from scoring_kit.base.fields import NATURAL_POSITIVE

OWN = re.compile(r"(?P<file>[^/:]+\.py):(?P<function>[A-Za-z_]\w*)")
PLACES = ("name", "table", "field", "fields", "gold", "where", "by", "undefined", "weight")
OF_OWN = ("name", "where", "by", "undefined", "tables")
"""What an own function is not given as an option."""
GOLD_COLUMNS = "a gold column or a list of them"
WITHOUT_EMPTY = ("number", "numbers", "tags", "probabilities")
"""Types without an empty answer."""
Fault = tuple[str, str]
"""The option at fault, or nothing, and what is wrong."""


@dataclass
class DeclaredMetric:
    """A column's metric, defaults put in, as the scoring package gets it: `declared.plan.Plan` says what is what."""

    metric: str
    file: str | None
    table: DeclaredTable
    tables: Sequence[str] = field(default_factory=list)
    fields: Sequence[str] = field(default_factory=list)
    gold: Sequence[str] = field(default_factory=list)
    where: Mapping[str, Any] = field(default_factory=dict)
    by: Sequence[str] = field(default_factory=list)
    weight: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    worst: float = 0
    undefined: float | None = None
    better: Literal["higher", "lower"] = "higher"

    @property
    def known(self) -> MetricRow | None:
        """The row of the table of metrics; None for an own function."""
        return metrics()[self.metric] if self.file is None else None

    @property
    def types(self) -> list[str]:
        """Of its fields."""
        return [self.table.fields[name]["type"] for name in self.fields]

    @property
    def read_tables(self) -> Sequence[str]:
        return self.tables or [self.table.id]

    def as_option(self) -> dict[str, Any]:
        """The metric as the scoring package gets it."""
        return {**vars(self), "table": self.table.id}


def read_metric(
    value: Any, trail: Trail, tables: Mapping[str, DeclaredTable], folder: Path, found: list[Broken]
) -> DeclaredMetric | None:
    """The metric that a column declares; what is wrong is appended to `found`, None where it cannot be read."""
    data, at = value, (*trail, "name")
    if isinstance(value, str):
        data, at = {"name": value}, trail
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        found.append((trail, "expected the name of a metric, or a mapping with a name, such as {name: f1}."))
        return None
    own = OWN.fullmatch(data["name"])
    if own is not None:
        if not (folder / own["file"]).is_file():
            found.append((at, f"no file {own['file']!r} beside bundle.yaml."))
        return _own_metric(data, own, trail, tables, found)
    metric = metrics().get(data["name"])
    if metric is None:
        advice = nearest(data["name"], list(metrics()))
        found.append((at, f"no metric {data['name']!r}. {advice} One of your own is written metrics.py:name."))
        return None
    table = _table(data, trail, tables, found)
    return None if table is None else _known_metric(data, metric, table, trail, found)


def _own_metric(
    data: Mapping[str, Any],
    own: re.Match[str],
    trail: Trail,
    tables: Mapping[str, DeclaredTable],
    found: list[Broken],
) -> DeclaredMetric | None:
    """An own function, whose options are whatever the declaration gives."""
    several = names_of(data.get("tables"), (*trail, "tables"), found)
    if several:
        for name in several:
            if name not in tables:
                found.append(((*trail, "tables"), f"no table {name!r}. {nearest(name, list(tables))}"))
        for key in ("where", "by", "table"):
            if data.get(key) is not None:
                found.append(((*trail, key), "cannot be given together with tables: a row is of one table."))
        table = tables.get(several[0])
    else:
        table = _table(data, trail, tables, found)
    if table is None:
        return None
    column = DeclaredMetric(own["function"], own["file"], table, several)
    _choose_rows(column, data, trail, found)
    column.options = {key: option for key, option in data.items() if key not in OF_OWN}
    return column


def _known_metric(
    data: Mapping[str, Any], metric: MetricRow, table: DeclaredTable, trail: Trail, found: list[Broken]
) -> DeclaredMetric:
    found += _unknown_options(data, metric, trail)
    column = DeclaredMetric(metric.name, None, table)
    _choose_rows(column, data, trail, found)
    if metric.is_ranking:
        column.options = dict(_options(data, metric, (), trail, found))
        named = [column.options["item"], column.options["rank"] or column.options["score"]]
        column.fields = [name for name in named if name in table.fields]
        column.gold = [column.options["item"], column.options["relevance"]]
    else:
        column.fields = _fields(data, table, trail, found, joint=metric.joint)
        column.gold = _gold(data, column.fields, trail, found)
        column.options = dict(_options(data, metric, column.types, trail, found))
    if data.get("weight") is not None:
        column.weight = text_of(data["weight"])
        found += _weight(column, metric, trail)
    faults = list(_of_types(column, metric))
    if not faults and metric.is_ranking:
        faults = list(_ranking(column, metric))
    elif not faults:
        for rule in RULES:
            faults += rule(column, metric)
    for option, text in faults:
        found.append(((*trail, *filter(None, [option])), text))
    return column


def _choose_rows(column: DeclaredMetric, data: Mapping[str, Any], trail: Trail, found: list[Broken]) -> None:
    """Which rows count, in which groups, and what counts where there is no value."""
    where, at = data.get("where"), (*trail, "where")
    if where is not None and not mapping_of(where):
        found.append((at, "expected a mapping of gold columns and values, such as {language: swa}."))
    column.where = {str(name): _wanted(one, (*at, str(name)), found) for name, one in mapping_of(where).items()}
    column.by = names_of(data.get("by"), (*trail, "by"), found, GOLD_COLUMNS)
    undefined = data.get("undefined")
    if undefined is None or is_number(undefined):
        column.undefined = undefined
    else:
        found.append(((*trail, "undefined"), f"expected a number (found {undefined!r})."))


def _table(
    data: Mapping[str, Any], trail: Trail, tables: Mapping[str, DeclaredTable], found: list[Broken]
) -> DeclaredTable | None:
    """The table that a metric names, the only one, or the only one with its fields."""
    named = data.get("table")
    if named is not None:
        if str(named) not in tables:
            found.append(((*trail, "table"), f"no table {named!r}. {nearest(str(named), list(tables))}"))
        return tables.get(str(named))
    names = items_of(data.get("fields")) or [data.get("field")]
    fields = {str(name) for name in names if name is not None}
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
    key, named = "fields", data.get("fields")
    if "field" in data:
        key, named = "field", [data["field"]]
        if "fields" in data:
            found.append(((*trail, "fields"), "cannot be given together with field. Expected one of the two."))
    if named is None:
        return _field_left_out(table, trail, found, joint=joint)
    known = []
    fits = bool(items_of(named))
    for name in items_of(named):
        if not isinstance(name, str):
            fits = False
        elif name in table.fields:
            known.append(name)
        else:
            found.append(((*trail, key), f"no field {name!r}. {nearest(name, table.answers)}"))
    if not fits:
        found.append(((*trail, key), f"expected the name of a field (found {data[key]!r})."))
    return known


def _field_left_out(table: DeclaredTable, trail: Trail, found: list[Broken], *, joint: bool) -> list[str]:
    """The only field, or all of them where they are taken together."""
    if len(table.answers) == 1 or (joint and table.answers):
        return table.answers
    # a key that no field is called like makes the field that is meant look like one more answer
    fault = (trail, f"field is missing. Expected one of {', '.join(table.answers)}.")
    for name in table.key:
        if name not in table.fields:
            fault = ((*table.trail, "key"), f"no field {name!r}. {nearest(name, list(table.fields))}")
            break
    if fault not in found:
        found.append(fault)
    return []


def _gold(data: Mapping[str, Any], fields: Sequence[str], trail: Trail, found: list[Broken]) -> list[str]:
    """The gold's columns: those of the fields' names, or others."""
    if data.get("gold") is None:
        return list(fields)
    columns = names_of(data["gold"], (*trail, "gold"), found, GOLD_COLUMNS)
    if len(columns) != len(fields):
        found.append(((*trail, "gold"), f"names {len(columns)} columns for {len(fields)} fields. Expected one each."))
        return list(fields)
    return columns


def _wanted(one: Any, trail: Trail, found: list[Broken]) -> Any:
    """The texts of a column that count, or bounds of its number."""
    if isinstance(one, dict):
        if not one or not set(one) <= {"min", "max"} or not all(map(is_number, one.values())):
            found.append((trail, "expected {min: number} or {max: number}, or both."))
        return one
    texts = [text_of(one)]
    if isinstance(one, list):
        texts = list(map(text_of, one))
    if not texts or None in texts:
        found.append((trail, "expected a value, a list of values, {min: …} or {max: …}."))
    return [text for text in texts if text is not None]


def _unknown_options(data: Mapping[str, Any], metric: MetricRow, trail: Trail) -> Iterator[Broken]:
    known = [*PLACES, *metric.options]
    for key in data:
        if key not in known:
            yield (*trail, str(key)), f"{metric.name} has no option {str(key)!r}. {nearest(str(key), known)}"


def _options(
    data: Mapping[str, Any], metric: MetricRow, types: Sequence[str], trail: Trail, found: list[Broken]
) -> Iterator[tuple[str, Any]]:
    """Every option with its value, or its default for fields of these types."""
    for name, option in metric.options.items():
        value = data.get(name)
        if option.for_types and types and not set(types) & set(option.for_types):
            if value is not None:
                found.append(((*trail, name), f"is for fields of type {' or '.join(option.for_types)}."))
            yield name, None
            continue
        default = of_types(option.defaults, types, option.default)
        if value is None:
            if option.required:
                found.append((trail, f"{name} is missing. {metric.name} needs it."))
            yield name, default
            continue
        try:
            yield name, option.read(value)
        except UnfitError as unfit:
            found.append(((*trail, name), f"{unfit} (found {value!r})."))
            yield name, default


def _of_types(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    table = column.table
    if table.many and metric.many == "never":
        yield "", f"{metric.name} compares one row for each key. Expected a table with rows: one."
    if table.many or metric.is_ranking:
        return  # rows are compared as wholes
    for name, kind in zip(column.fields, column.types, strict=True):
        if kind not in metric.types:
            yield "", f"{metric.name} takes fields of type {' or '.join(metric.types)}; {name!r} is of type {kind}."
        elif kind == "number" and column.options.get("threshold", 0) is None:
            expected = "`threshold: 0.5`, which makes it one, or a metric of numbers such as mae"
            yield "", f"{metric.name} compares labels; {name!r} is a number. Expected {expected}."
        else:
            yield from _without_answer(column, metric, name)


def _without_answer(column: DeclaredMetric, metric: MetricRow, name: str) -> Iterator[Fault]:
    """A field without a value, of a type in which nothing is no value."""
    table, one = column.table, column.table.field_of(name)
    is_number = one.type == "ordinal" and metric.module == "numbers"
    if (one.type not in WITHOUT_EMPTY and not is_number) or one.default is not None:
        return
    if not table.reject_missing:
        what = f"missing: empty would leave {name!r} without a value that {metric.name} can score."
        yield "", f"{what} Expected missing: reject, or a `default` of the field."
    elif not one.required:
        what = f"{name!r} may be left out (required: false), which {metric.name} cannot score."
        yield "", f"{what} Expected required: true, or a `default` of the field."


def _ranking(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    table, options = column.table, column.options
    if not table.many:
        yield "", f"{metric.name} scores several rows per key. Expected a table with `rows: many`, keyed by query."
    if options["item"] not in table.fields:
        yield "", f"no field {options['item']!r}. Expected the field of the ranked items (item: …)."
    if options["rank"] is not None and options["rank"] not in table.fields:
        yield "rank", f"no field {options['rank']!r}. {nearest(options['rank'], table.answers)}"
    if options["rank"] is not None and options["score"] in table.fields:
        yield "rank", f"cannot be given together with the field {options['score']!r}. Expected one of the two."
    name = options["rank"] or options["score"]
    kind = table.fields.get(name, {}).get("type", "number")
    if kind != "number":
        yield "", f"the field {name!r} is of type {kind}. Expected number."


def _average(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    options, average = column.options, column.options.get("average")
    for name, kind in zip(column.fields, column.types, strict=True):
        if average == "samples" and kind != "labels":
            yield "average", f"samples is for fields of type labels; {name!r} is of type {kind}."
        if average == "binary" and kind == "labels":
            yield "average", f"binary is for fields of type label; {name!r} is of type labels."
    if average == "binary" and isinstance(options.get("labels"), list):
        yield "labels", "a list of labels is for averages over labels; average: binary is about `positive`."


def _positive(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """The one label that a metric of labels is about; of numbers the gold's labels may tell it."""
    if "number" in column.types or "positive" not in column.options:
        return
    is_binary, positive = column.options.get("average") == "binary", column.options["positive"]
    if positive is not None and not is_binary:
        yield "positive", "is for average: binary alone."
    for name in column.fields:
        values = column.table.field_of(name).values
        if is_binary and positive is None and values and set(values) not in NATURAL_POSITIVE:
            yield "", "positive is missing. Expected the label that average: binary is about."


def _known_labels(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    named = dict.fromkeys(_named_labels(column.options))
    for name, kind in zip(column.fields, column.types, strict=True):
        values = list(column.table.field_of(name).values or ())
        for option, label in named:
            if values and label not in values and kind != "number":
                yield option, f"no label {label!r}. {nearest(label, values)}"


def _named_labels(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each option that names labels, with each label."""
    if options.get("positive") is not None:
        yield "positive", options["positive"]
    if isinstance(options.get("labels"), list):
        for label in options["labels"]:
            yield "labels", label
    for gold, row in (options.get("matrix") or {}).items():
        for label in (gold, *row):
            yield "matrix", label


def _needs_values(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Options that are about declared labels, or their order."""
    for name in column.fields:
        if column.table.field_of(name).values:
            continue
        if column.options.get("labels") == "declared":
            yield "labels", f"the field {name!r} declares no values. Expected values, or labels: gold."
        if column.options.get("weights", "none") != "none":
            yield "weights", f"the field {name!r} declares no values. Expected values in their order."


def _match(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """What `match` compares is of spans."""
    match = column.options.get("match", "exact")
    if match != "exact" and (set(column.types) != {"spans"} or column.table.many):
        yield "match", f"{match} is for fields of type spans, with rows: one."


def _ranges(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Numbers that a metric takes in a range alone; those of probabilities are put into the field."""
    for name, kind in zip(column.fields, column.types, strict=True):
        declared = column.table.fields[name]
        if metric.name == "rmsle" and kind == "number" and declared.get("min", -1) < 0:
            yield "", f"rmsle takes numbers from 0; {name!r} may be negative. Expected min: 0."
        if not metric.probability or kind != "number":
            continue
        if declared.get("min", 0) < 0 or declared.get("max", 1) > 1:
            what = f"{metric.name} takes a probability; {name!r} may lie outside 0 to 1."
            yield "", f"{what} Expected min: 0, max: 1."
        declared.setdefault("min", 0)
        declared.setdefault("max", 1)


def _of_one_label(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Clusters have any names, so that labels of a declared list are not what the metric compares."""
    if metric.module != "clusters":
        return
    for name in column.fields:
        if column.table.field_of(name).values:
            yield "", f"{metric.name} takes any names of clusters; {name!r} has `values`. Expected none."


RULES = (_average, _positive, _known_labels, _needs_values, _match, _ranges, _of_one_label)
"""What options and fields must be so that they go with each other; each yields what is not so."""


def _weight(column: DeclaredMetric, metric: MetricRow, trail: Trail) -> Iterator[Broken]:
    if not metric.weighted:
        weighted = ", ".join(row.name for row in metrics().values() if row.weighted)
        yield (*trail, "weight"), f"{metric.name} weighs no keys. These do: {weighted}."
    elif metric.weighted == "macro" and column.options["average"] != "macro":
        yield (*trail, "weight"), f"{metric.name} weighs keys with average: macro alone."
