"""A column's metric: what bundle.yaml says of it, checked against the table of metrics, with defaults put in."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.declaration.declared.metrics import MetricOption, MetricRow, default_worst, metrics
from gen_bundle.declaration.declared.tables import DeclaredTable, names_of
from gen_bundle.declaration.overrides import nearest
from gen_bundle.declaration.source import Broken, Trail, text_of

OWN = re.compile(r"(?P<file>[^/:]+\.py):(?P<function>[A-Za-z_]\w*)")
PLACES = ("name", "table", "field", "fields", "gold", "where", "by", "undefined", "weight")
OF_OWN = ("name", "where", "by", "undefined", "tables")
"""What an own function is not given as an option."""
GOLD_COLUMNS = "a gold column or a list of them"
NATURAL_POSITIVE = ({"0", "1"}, {"false", "true"})
"""Labels of which the second is the positive one without being named."""
WITHOUT_EMPTY = ("number", "numbers", "tags", "probabilities")
"""Types without an empty answer."""
Fault = tuple[str, str]
"""The option at fault, or nothing, and what is wrong."""


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
        weight: the gold column that says how much each key counts; None: all the same.
        tables: all tables that an own function reads at once; none: the one.
    """

    metric: MetricRow | None
    function: str
    file: str | None
    table: DeclaredTable
    fields: Sequence[str] = ()
    gold: Sequence[str] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    by: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    undefined: float | None = None
    weight: str | None = None
    tables: Sequence[str] = ()

    @property
    def types(self) -> list[str]:
        """Of its fields."""
        return [self.table.fields[name]["type"] for name in self.fields]

    @property
    def worst(self) -> float:
        """The default of the column's worst score; an own function has none."""
        return 0 if self.metric is None else default_worst(self.metric, self.types)

    def as_option(self, sort: str, worst: float) -> dict[str, Any]:
        """The metric as the scoring package gets it."""
        return {
            "metric": self.function,
            "file": self.file,
            "table": self.table.id,
            "tables": list(self.tables),
            "fields": list(self.fields),
            "gold": list(self.gold),
            "where": dict(self.where),
            "by": list(self.by),
            "weight": self.weight,
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
) -> ColumnMetric | None:
    """An own function, whose options are whatever the declaration gives."""
    several = names_of(data.get("tables"), (*trail, "tables"), found)
    if several:
        found += _several_tables(several, data, trail, tables)
    table = tables.get(several[0]) if several else _table(data, trail, tables, found)
    if table is None:
        return None
    column = ColumnMetric(None, own["function"], own["file"], table, tables=several)
    _choose_rows(column, data, trail, found)
    column.options = {key: option for key, option in data.items() if key not in OF_OWN}
    return column


def _several_tables(
    named: Sequence[str], data: Mapping[str, Any], trail: Trail, tables: Mapping[str, DeclaredTable]
) -> Iterator[Broken]:
    for name in named:
        if name not in tables:
            yield (*trail, "tables"), f"no table {name!r}. {nearest(name, list(tables))}"
    for key in ("where", "by", "table"):
        if data.get(key) is not None:
            yield (*trail, key), "cannot be given together with tables: a row is of one table."


def _known_metric(
    data: Mapping[str, Any], metric: MetricRow, table: DeclaredTable, trail: Trail, found: list[Broken]
) -> ColumnMetric:
    """A metric of the table."""
    found += _unknown_options(data, metric, trail)
    column = ColumnMetric(metric, metric.name, None, table)
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
    for option, text in list(_of_types(column, metric)) or _of_rules(column, metric):
        found.append(((*trail, option) if option else trail, text))
    return column


def _of_rules(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """What is wrong with options and fields of the right types."""
    for rule in (_ranking,) if metric.is_ranking else RULES:
        yield from rule(column, metric)


def _choose_rows(column: ColumnMetric, data: Mapping[str, Any], trail: Trail, found: list[Broken]) -> None:
    """Which rows count, in which groups, and what counts where there is no value."""
    column.where = _where(data.get("where"), (*trail, "where"), found)
    column.by = names_of(data.get("by"), (*trail, "by"), found, GOLD_COLUMNS)
    undefined = data.get("undefined")
    if undefined is None or _is_number(undefined):
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
    several = data.get("fields")
    names = several if isinstance(several, list) else [data.get("field")]
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
    fits = isinstance(named, list) and bool(named)
    for name in named if isinstance(named, list) else []:
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


def _where(value: Any, trail: Trail, found: list[Broken]) -> dict[str, Any]:
    """Gold column → the texts that count, or the bounds of a number."""
    wanted: dict[str, Any] = {}
    if value is None:
        return wanted
    if not isinstance(value, dict) or not value:
        found.append((trail, "expected a mapping of gold columns and values, such as {language: swa}."))
        return wanted
    for column, one in value.items():
        wanted[str(column)] = _wanted(one, (*trail, str(column)), found)
    return wanted


def _wanted(one: Any, trail: Trail, found: list[Broken]) -> Any:
    """The texts of a column that count, or bounds of its number."""
    if isinstance(one, dict):
        if not one or not set(one) <= {"min", "max"} or not all(map(_is_number, one.values())):
            found.append((trail, "expected {min: number} or {max: number}, or both."))
        return one
    listed = one if isinstance(one, list) else [one]
    texts = [text_of(value) for value in listed]
    if not texts or None in texts:
        found.append((trail, "expected a value, a list of values, {min: …} or {max: …}."))
    return [text for text in texts if text is not None]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _unknown_options(data: Mapping[str, Any], metric: MetricRow, trail: Trail) -> Iterator[Broken]:
    known = [*PLACES, *metric.options]
    for key in data:
        if key not in known:
            yield (*trail, str(key)), f"{metric.name} has no option {str(key)!r}. {nearest(str(key), known)}"


class UnfitError(ValueError):
    """A value that an option does not take; its text says what was expected."""


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
        of_types = [option.defaults[kind] for kind in types if kind in option.defaults]
        default = of_types[0] if of_types else option.default
        if value is None:
            if option.required:
                found.append((trail, f"{name} is missing. {metric.name} needs it."))
            yield name, default
            continue
        try:
            yield name, READERS[option.type](option, value)
        except UnfitError as unfit:
            found.append(((*trail, name), f"{unfit} (found {value!r})."))
            yield name, default


def _choice(option: MetricOption, value: Any) -> Any:
    if value not in option.choices:
        raise UnfitError(f"expected {'one of ' if option.choices[1:] else ''}{', '.join(option.choices)}")
    return value


def _boolean(option: MetricOption, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnfitError("expected true or false")
    return value


def _integer(option: MetricOption, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UnfitError("expected a whole number")
    if value < option.min:
        raise UnfitError(f"expected a whole number of at least {option.min:g}")
    if option.max is not None and value > option.max:
        raise UnfitError(f"expected a whole number up to {option.max:g}")
    return value


def _number(option: MetricOption, value: Any) -> float:
    largest = math.inf if option.max is None else option.max
    if not _is_number(value) or not option.min <= value <= largest:
        raise UnfitError("expected a number from 0" + ("" if option.max is None else f" to {option.max:g}"))
    return value  # type: ignore[no-any-return]


def _text(option: MetricOption, value: Any) -> str:
    text = text_of(value)
    if text is None:
        raise UnfitError("expected a text")
    return text


def _labels(option: MetricOption, value: Any) -> Any:
    """One of the choices, or a list of labels."""
    if not isinstance(value, list):
        return _choice(option, value)
    labels = [text_of(label) for label in value]
    if not labels or None in labels or len(set(labels)) < len(labels):
        raise UnfitError("expected a list of different labels")
    return labels


def _unit(option: MetricOption, value: Any) -> Any:
    """One of the choices, or {separator: text}."""
    if not isinstance(value, dict):
        return _choice(option, value)
    separator = value.get("separator")
    if list(value) != ["separator"] or not isinstance(separator, str) or not separator:
        raise UnfitError("expected {separator: text}")
    return value


def _matrix(option: MetricOption, value: Any) -> dict[str, dict[str, float]]:
    """Points by gold label and answer, with labels as texts."""
    expected = "expected points for each gold label and answer, such as {pro: {pro: 1, con: -0.5}}"
    points: dict[str, dict[str, float]] = {}
    for gold, row in value.items() if isinstance(value, dict) else ():
        if not isinstance(row, dict) or not all(map(_is_number, row.values())):
            raise UnfitError(expected)
        points[str(text_of(gold))] = {str(text_of(label)): number for label, number in row.items()}
    if not points:
        raise UnfitError(expected)
    return points


def _threshold(option: MetricOption, value: Any) -> Any:
    """A number, or {above: number}."""
    number = value["above"] if isinstance(value, dict) and list(value) == ["above"] else value
    if not _is_number(number) or not 0 <= number <= 1:
        raise UnfitError("expected a number from 0 to 1, which counts as positive, or {above: number}")
    return value


READERS: Mapping[str, Callable[[MetricOption, Any], Any]] = {
    "choice": _choice,
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "label": _text,
    "text": _text,
    "field": _text,
    "column": _text,
    "labels": _labels,
    "unit": _unit,
    "matrix": _matrix,
    "threshold": _threshold,
}
"""By the type of an option: what makes a value of bundle.yaml the option's; raises UnfitError."""


def _of_types(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """Whether table and fields are of the kind that the metric takes."""
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


def _without_answer(column: ColumnMetric, metric: MetricRow, name: str) -> Iterator[Fault]:
    """A field without a value, of a type in which nothing is no value."""
    declared, table = column.table.fields[name], column.table
    is_number = declared["type"] == "ordinal" and metric.module == "numbers"
    if (declared["type"] not in WITHOUT_EMPTY and not is_number) or declared.get("default") is not None:
        return
    if not table.reject_missing:
        what = f"missing: empty would leave {name!r} without a value that {metric.name} can score."
        yield "", f"{what} Expected missing: reject, or a `default` of the field."
    elif not declared["required"]:
        what = f"{name!r} may be left out (required: false), which {metric.name} cannot score."
        yield "", f"{what} Expected required: true, or a `default` of the field."


def _ranking(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """Of rankings: the fields that they are made of."""
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


def _average(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """An average, and what goes with it."""
    options, average = column.options, column.options.get("average")
    for name, kind in zip(column.fields, column.types, strict=True):
        if average == "samples" and kind != "labels":
            yield "average", f"samples is for fields of type labels; {name!r} is of type {kind}."
        if average == "binary" and kind == "labels":
            yield "average", f"binary is for fields of type label; {name!r} is of type labels."
    if average == "binary" and isinstance(options.get("labels"), list):
        yield "labels", "a list of labels is for averages over labels; average: binary is about `positive`."


def _positive(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """The one label that a metric of labels is about; of numbers the gold's labels may tell it."""
    if "number" in column.types or "positive" not in column.options:
        return
    is_binary, positive = column.options.get("average") == "binary", column.options["positive"]
    if positive is not None and not is_binary:
        yield "positive", "is for average: binary alone."
    for name in column.fields if is_binary and positive is None else ():
        values = set(column.table.fields[name].get("values") or ())
        if values and values not in NATURAL_POSITIVE:
            yield "", "positive is missing. Expected the label that average: binary is about."


def _known_labels(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """Labels that options name are among those of the field."""
    named = dict.fromkeys(_named_labels(column.options))
    for name, kind in zip(column.fields, column.types, strict=True):
        declared: list[str] = column.table.fields[name].get("values") or []
        for option, label in named if declared and kind != "number" else ():
            if label not in declared:
                yield option, f"no label {label!r}. {nearest(label, declared)}"


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


def _needs_values(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """Options that are about declared labels, or their order."""
    for name in column.fields:
        if column.table.fields[name].get("values"):
            continue
        if column.options.get("labels") == "declared":
            yield "labels", f"the field {name!r} declares no values. Expected values, or labels: gold."
        if column.options.get("weights", "none") != "none":
            yield "weights", f"the field {name!r} declares no values. Expected values in their order."


def _match(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """What `match` compares is of spans."""
    match = column.options.get("match", "exact")
    if match != "exact" and (set(column.types) != {"spans"} or column.table.many):
        yield "match", f"{match} is for fields of type spans, with rows: one."


def _ranges(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
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


def _of_one_label(column: ColumnMetric, metric: MetricRow) -> Iterator[Fault]:
    """Clusters have any names, so that labels of a declared list are not what the metric compares."""
    if metric.module != "clusters":
        return
    for name in column.fields:
        if column.table.fields[name].get("values"):
            yield "", f"{metric.name} takes any names of clusters; {name!r} has `values`. Expected none."


RULES = (_average, _positive, _known_labels, _needs_values, _match, _ranges, _of_one_label)
"""What options and fields must be so that they go with each other; each yields what is not so."""


def _weight(column: ColumnMetric, metric: MetricRow, trail: Trail) -> Iterator[Broken]:
    if not metric.weighted:
        weighted = ", ".join(row.name for row in metrics().values() if row.weighted)
        yield (*trail, "weight"), f"{metric.name} weighs no keys. These do: {weighted}."
    elif metric.weighted == "macro" and column.options["average"] != "macro":
        yield (*trail, "weight"), f"{metric.name} weighs keys with average: macro alone."
