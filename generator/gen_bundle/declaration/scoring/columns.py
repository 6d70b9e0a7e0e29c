"""A column's metric: what bundle.yaml says of it, checked against the table of metrics, with defaults put in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gen_bundle.declaration.scoring.metrics import MetricRow, UnfitError, is_number, metrics, of_types
from gen_bundle.declaration.scoring.tables import LINE, DeclaredTable
from gen_bundle.declaration.scoring.usual_names import not_built_in, usual_metric
from gen_bundle.declaration.source import Section, items_of, mapping_of, nearest, text_of
from scoring_kit.base.field_types import NATURAL_POSITIVE, NUMBER, Field

OWN = re.compile(r"(?P<file>[^/:]+\.py):(?P<function>[A-Za-z_]\w*)")
PLACES = ("name", "table", "field", "fields", "gold", "where", "by", "by_weight", "mean_by", "undefined", "weight")
OF_OWN = ("name", "where", "by", "by_weight", "undefined", "tables", "per", "weight")
"""Keys of a metric that are no options of an own function."""
GOLD_COLUMNS = "a gold column or a list of them"
OF_MEANS = ("pearson", "spearman", "kendall", "ccc", "mse", "rmse", "mae", "r2")
"""Metrics that may compare means over groups of keys."""
IN_PLACES = ("accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "fbeta", "precision", "recall", "exact_match")
"""Metrics of tags without a scheme, which are labels."""
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
    by_weight: bool = False
    mean_by: str | None = None
    per: str | None = None
    beside: Sequence[str] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)
    worst: float = 0
    undefined: float | None = None
    better: Literal["higher", "lower"] = "higher"

    @property
    def known(self) -> MetricRow | None:
        """The row of the table of metrics; None for an own function."""
        return metrics()[self.metric] if self.file is None else None

    @property
    def read_fields(self) -> list[Field]:
        """Its fields as scoring reads them."""
        return [self.table.field_of(name) for name in self.fields]

    @property
    def types(self) -> list[str]:
        """Of its fields."""
        return [self.table.fields[name]["type"] for name in self.fields]

    @property
    def read_tables(self) -> Sequence[str]:
        return self.tables or [self.table.id]

    def as_option(self) -> dict[str, Any]:
        """Return the metric as the scoring package gets it."""
        return {**vars(self), "table": self.table.id}


def read_metric(column: Section, tables: Mapping[str, DeclaredTable], folder: Path) -> DeclaredMetric | None:
    """Return the metric that a column declares; None where it cannot be read."""
    data, at = column.get("metric"), ["name"]
    if isinstance(data, str):
        data, at = {"name": data}, []
    said = column.below(data, "metric")
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        said.fault("expected the name of a metric, or a mapping with a name, such as {name: f1}.")
        return None
    own = OWN.fullmatch(data["name"])
    if own is not None:
        if not (folder / own["file"]).is_file():
            said.fault(f"no file {own['file']!r} beside bundle.yaml.", *at)
        return _own_metric(said, own, tables)
    metric = metrics().get(data["name"])
    if metric is None:
        said.fault(f"no metric {data['name']!r}. {_instead_of(data['name'])}", *at)
        return None
    table = _table(said, tables)
    return None if table is None else _known_metric(said, metric, table)


def _instead_of(name: str) -> str:
    """Return what to write instead of the name of a metric that is not known."""
    if meant := usual_metric(name, metrics()):
        return f"Write {meant}."
    return not_built_in(name) or f"{nearest(name, list(metrics()))} One of your own is written metrics.py:name."


def _own_metric(said: Section, own: re.Match[str], tables: Mapping[str, DeclaredTable]) -> DeclaredMetric | None:
    """An own function, whose options are whatever the declaration gives."""
    several = said.names("tables")
    if several:
        for name in several:
            if name not in tables:
                said.fault(f"no table {name!r}. {nearest(name, list(tables))}", "tables")
        for key in ("where", "by", "table"):
            if said.get(key) is not None:
                said.fault("cannot be given together with tables: a row is of one table.", key)
        table = tables.get(several[0])
    else:
        table = _table(said, tables)
    if table is None:
        return None
    column = DeclaredMetric(own["function"], own["file"], table, several)
    _choose_rows(column, said)
    if said.choice("per", ("key",), "") == "key":
        column.per = "key"
        column.weight = said.text("weight", "the name of a gold column")
        if several:
            said.fault("key is for functions of one table. Expected no tables, or no per.", "per")
    elif said.get("weight") is not None:
        what = "is a gold column of functions with per: key, and this one gets all keys at once."
        said.fault(f"{what} Expected per: key, or another name for an option of the function.", "weight")
    if said.get("gold") is not None:
        what = "is for metrics of the table: a function of your own gets every column of the gold's rows."
        said.fault(f"{what} Expected no gold, or an option of another name.", "gold")
    column.options = {key: option for key, option in said.data.items() if key not in OF_OWN}
    _check_files(said, column)
    return column


def _known_metric(said: Section, metric: MetricRow, table: DeclaredTable) -> DeclaredMetric:
    _check_names(said, metric)
    column = DeclaredMetric(metric.name, None, table)
    _choose_rows(column, said)
    if metric.is_ranking:
        column.options = dict(_options(said, metric, ()))
        named = [column.options["item"], column.options["rank"] or column.options["score"]]
        column.fields = [name for name in named if name in table.fields]
        column.gold = [column.options["item"], column.options["relevance"]]
    else:
        column.fields = _fields(said, table, joint=metric.joint)
        column.gold = _gold(said, column.fields)
        column.options = dict(_options(said, metric, column.types))
    column.mean_by = said.text("mean_by", "the name of a gold column")
    if column.mean_by and metric.name not in OF_MEANS:
        said.fault(f"{metric.name} compares no means. These do: {', '.join(OF_MEANS)}.", "mean_by")
    if said.get("weight") is not None:
        column.weight = text_of(said.get("weight"))
        _check_weight(said, column, metric)
        if column.mean_by:
            said.fault("cannot be given together with mean_by: means weigh no keys.", "weight")
    faults = list(_of_types(column, metric))
    if not faults and metric.is_ranking:
        faults = list(_ranking(column, metric))
    elif not faults:
        for rule in RULES:
            faults += rule(column, metric)
    for option, text in faults:
        at = [option] if option else []
        said.fault(text, *at)
    _check_files(said, column)
    return column


def _check_names(said: Section, metric: MetricRow) -> None:
    known = [*PLACES, *metric.options]
    for key in said.data:
        if key == "per":
            said.fault(
                f"is for functions of your own, metrics.py:name. Expected no per: {metric.name} needs none.", "per"
            )
        elif key not in known:
            said.fault(f"{metric.name} has no option {str(key)!r}. {nearest(str(key), known)}", str(key))


def _choose_rows(column: DeclaredMetric, said: Section) -> None:
    """Which rows count, in which groups, and what counts where there is no value."""
    where = said.get("where")
    if where is not None and not mapping_of(where):
        said.fault("expected a mapping of gold columns and values, such as {language: swa}.", "where")
    column.where = {str(name): _wanted(said, str(name), one) for name, one in mapping_of(where).items()}
    column.by = said.names("by", GOLD_COLUMNS)
    column.by_weight = said.get("by_weight") is True
    if said.get("by_weight") not in (None, True, False):
        said.fault(f"expected true or false (found {said.get('by_weight')!r}).", "by_weight")
    elif column.by_weight and not column.by:
        said.fault("is for metrics with by, whose groups it weighs. Expected by beside it.", "by_weight")
    undefined = said.get("undefined")
    if undefined is None or is_number(undefined):
        column.undefined = undefined
    else:
        said.fault(f"expected a number (found {undefined!r}).", "undefined")


def _table(said: Section, tables: Mapping[str, DeclaredTable]) -> DeclaredTable | None:
    """The table that a metric names, the only one, or the only one with its fields."""
    named = said.get("table")
    if named is not None:
        if str(named) not in tables:
            said.fault(f"no table {named!r}. {nearest(str(named), list(tables))}", "table")
        return tables.get(str(named))
    names = items_of(said.get("fields")) or [said.get("field")]
    fields = {str(name) for name in names if name is not None}
    fitting = [table for table in tables.values() if fields <= set(table.fields)]
    if len(tables) == 1:
        return next(iter(tables.values()))
    if len(fitting) == 1:
        return fitting[0]
    if tables:
        said.fault(f"table is missing. Expected one of {', '.join(tables)}.")
    return None


def _fields(said: Section, table: DeclaredTable, *, joint: bool) -> list[str]:
    """The fields that a metric reads: those it names, the only one, or, taken together, all."""
    key, named = "fields", said.get("fields")
    if "field" in said.data:
        key, named = "field", [said.get("field")]
        if "fields" in said.data:
            said.fault("cannot be given together with field. Expected one of the two.", "fields")
    if named is None:
        return _field_left_out(said, table, joint=joint)
    known = []
    fits = bool(items_of(named))
    for name in items_of(named):
        if not isinstance(name, str):
            fits = False
        elif name in table.fields:
            known.append(name)
        else:
            said.fault(f"no field {name!r}. {nearest(name, table.answers)}", key)
    if not fits:
        said.fault(f"expected the name of a field (found {said.get(key)!r}).", key)
    return known


def _field_left_out(said: Section, table: DeclaredTable, *, joint: bool) -> list[str]:
    """The only field, or all of them where they are taken together."""
    if len(table.answers) == 1 or (joint and table.answers):
        return table.answers
    # a key that no field is called like makes the field that is meant look like one more answer
    example = f"{{name: {said.get('name')}, field: {next(iter(table.answers), 'NAME')}}}"
    fault = (said.trail, f"field is missing. Expected one of {', '.join(table.answers)}, as in {example}.")
    for name in table.key:
        if name not in table.fields and not (name == LINE and table.numbers_rows):
            fault = ((*table.said.trail, "key"), f"no field {name!r}. {nearest(name, list(table.fields))}")
            break
    if fault not in said.found:
        said.found.append(fault)
    return []


def _gold(said: Section, fields: Sequence[str]) -> list[str]:
    """The gold's columns: those of the fields' names, or others."""
    if said.get("gold") is None:
        return list(fields)
    columns = said.names("gold", GOLD_COLUMNS)
    if len(columns) != len(fields):
        said.fault(f"names {len(columns)} columns for {len(fields)} fields. Expected one each.", "gold")
        return list(fields)
    return columns


def _wanted(said: Section, name: str, one: Any) -> Any:
    """The texts of a column that count, or bounds of its number."""
    if isinstance(one, dict):
        if not one or not set(one) <= {"min", "max"} or not all(map(is_number, one.values())):
            said.fault("expected {min: number} or {max: number}, or both.", "where", name)
        return one
    texts = [text_of(one)]
    if isinstance(one, list):
        texts = list(map(text_of, one))
    if not texts or None in texts:
        said.fault("expected a value, a list of values, {min: …} or {max: …}.", "where", name)
    return [text for text in texts if text is not None]


def _options(said: Section, metric: MetricRow, types: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Every option with its value, or its default for fields of these types."""
    for name, option in metric.options.items():
        value = said.get(name)
        if option.for_types and types and not set(types) & set(option.for_types):
            if value is not None:
                said.fault(f"is for fields of type {' or '.join(option.for_types)}.", name)
            yield name, None
            continue
        default = of_types(option.defaults, types, option.default)
        if value is None:
            if option.required:
                said.fault(f"{name} is missing. {metric.name} needs it.")
            yield name, default
            continue
        try:
            yield name, option.read(value)
        except UnfitError as unfit:
            said.fault(f"{unfit} (found {value!r}).", name)
            yield name, default


def _of_types(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    table = column.table
    if table.many and metric.many == "never":
        yield "", f"{metric.name} compares one row for each key. Expected a table with rows: one."
    if table.many or metric.is_ranking:
        return  # rows are compared as wholes
    for one in column.read_fields:
        if one.type not in metric.types:
            kinds = " or ".join(metric.types)
            yield "", f"{metric.name} takes fields of type {kinds}; {one.name!r} is of type {one.type}."
        elif one.type == "number" and column.options.get("threshold", 0) is None:
            expected = "`threshold: 0.5`, which makes it one, or a metric of numbers such as mae"
            yield "", f"{metric.name} compares labels; {one.name!r} is a number. Expected {expected}."
        else:
            yield from _without_answer(table, metric, one)


def _without_answer(table: DeclaredTable, metric: MetricRow, one: Field) -> Iterator[Fault]:
    """A field without a value, of a type in which nothing is no value."""
    is_number = one.type == "ordinal" and metric.module == "numbers"
    if (one.type not in WITHOUT_EMPTY and not is_number) or one.default is not None:
        return
    if not table.reject_missing:
        what = f"missing: empty would leave {one.name!r} without a value that {metric.name} can score."
        yield "", f"{what} Expected missing: reject, or a `default` of the field."
    elif not one.required:
        what = f"{one.name!r} may be left out (required: false), which {metric.name} cannot score."
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
    for one in column.read_fields:
        if average == "samples" and one.type != "labels":
            yield "average", f"samples is for fields of type labels; {one.name!r} is of type {one.type}."
        if average == "binary" and one.type == "labels":
            yield "average", f"binary is for fields of type label; {one.name!r} is of type labels."
    if average == "binary" and isinstance(options.get("labels"), list):
        yield "labels", "a list of labels is for averages over labels; average: binary is about `positive`."


def _positive(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """The one label that a metric of labels is about; of numbers the gold's labels may tell it."""
    if "number" in column.types or "positive" not in column.options:
        return
    is_binary, positive = column.options.get("average") == "binary", column.options["positive"]
    if positive is not None and not is_binary:
        yield "positive", "is for average: binary alone."
    for one in column.read_fields:
        if is_binary and positive is None and one.values and set(one.values) not in NATURAL_POSITIVE:
            yield "", "positive is missing. Expected the label that average: binary is about."


def _known_labels(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    named = dict.fromkeys(_named_labels(column.options))
    for one in column.read_fields:
        for option, label in named:
            if one.values and label not in one.values and one.type != "number":
                yield option, f"no label {label!r}. {nearest(label, list(one.values))}"


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
    for one in column.read_fields:
        if one.values:
            continue
        if column.options.get("labels") == "declared":
            yield "labels", f"the field {one.name!r} declares no values. Expected values, or labels: gold."
        if column.options.get("weights", "none") != "none":
            yield "weights", f"the field {one.name!r} declares no values. Expected values in their order."


def _match(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Refuse `match` for other fields than spans."""
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
    for one in column.read_fields:
        if one.values:
            yield "", f"{metric.name} takes any names of clusters; {one.name!r} has `values`. Expected none."


def _in_places(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Tags with a scheme mark spans; without one they are labels."""
    for one in column.read_fields:
        is_label = one.scheme == "none"
        if one.type == "tags" and is_label and metric.name not in IN_PLACES:
            what = f"{metric.name} reads O, B-x and I-x; {one.name!r} has scheme: none."
            yield "", f"{what} Expected one of {', '.join(IN_PLACES)}."
        elif one.type == "tags" and not is_label and metric.module == "labels" and not metric.name.startswith("span_"):
            what = f"{metric.name} compares labels; {one.name!r} has tags O, B-x and I-x."
            yield "", f"{what} Expected span_f1, or scheme: none."


def _of_components(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Means are of single numbers; a default stands for a list of any length where it is one number."""
    if column.mean_by and "numbers" in column.types:
        yield "mean_by", "is for fields of type number or ordinal."
    for one in column.read_fields:
        is_open = metric.module == "numbers" and one.type == "numbers" and not (one.length or one.columns)
        if is_open and one.default is not None and len(one.empty) != 1:
            yield "", f"the default of {one.name!r} must be as long as the gold. Expected one number, or length."


def _of_arrays(column: DeclaredMetric, metric: MetricRow) -> Iterator[Fault]:
    """Arrays are compared with the gold's, position by position."""
    if "array" not in column.types:
        return
    table, pooled = column.table, column.options.get("average") == "pooled"
    for one in column.read_fields:
        if one.shape != "gold" or not table.gold.files:
            yield "", f"{metric.name} compares with a gold array of the same shape, which {one.name!r} has not."
        if pooled and not (table.reject_missing and one.required):
            yield (
                "average",
                f"pooled needs every file, and {one.name!r} may be missing. Expected missing: reject, or key.",
            )
    if pooled and column.weight:
        yield "weight", "weighs keys, which average: pooled puts together. Expected no weight, or average: key."
    for label in column.options.get("labels") or ():
        if not NUMBER.fullmatch(label):
            yield "labels", f"expected numbers (found {label!r})."


def _check_files(said: Section, column: DeclaredMetric) -> None:
    """Note what a metric of files cannot have: arrays of all keys at once, or a choice of keys where there are none."""
    table = column.table
    if not table.file.files:
        return
    if not table.key:
        for name in ("where", "by", "by_weight", "weight"):
            if said.get(name) is not None:
                said.fault("chooses or weighs keys, and key: none has a single answer.", name)
        return
    used = [*column.where, *column.by]
    if column.weight:
        used.append(column.weight)
    for name in used:
        if table.gold.files and table.gold_keys is None and name not in table.key:
            expected = f"reference: {{keys: keys.csv}}, a table of every {table.key[0]} with {name}"
            said.fault(f"files have no column {name!r}. Expected {expected}.")
    if column.file is not None and column.per is None and "array" in [one["type"] for one in table.fields.values()]:
        said.fault("per is missing. A function that reads arrays gets one key at a time. Expected per: key.")


RULES = (
    _average,
    _positive,
    _known_labels,
    _needs_values,
    _match,
    _ranges,
    _of_one_label,
    _in_places,
    _of_components,
    _of_arrays,
)
"""Checks that options and fields go with each other; each yields where they do not."""


def _check_weight(said: Section, column: DeclaredMetric, metric: MetricRow) -> None:
    if not metric.weighted:
        weighted = ", ".join(row.name for row in metrics().values() if row.weighted)
        said.fault(f"{metric.name} weighs no keys. These do: {weighted}.", "weight")
    elif metric.weighted == "macro" and column.options["average"] != "macro":
        said.fault(f"{metric.name} weighs keys with average: macro alone.", "weight")
