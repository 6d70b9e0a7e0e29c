"""Puts what the metrics say into a declaration: defaults of its columns; and gives how it is scored.

The engine of BERTScore is what a column, `options.bertscore` and the options of all models say of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.codabench.worker import MODULES, STANDARD_LIBRARY
from gen_bundle.declaration.model import BETTER, DeclaredPhase
from gen_bundle.declaration.scoring.columns import OWN, DeclaredMetric, read_metric
from gen_bundle.declaration.scoring.metrics import MetricRow, default_worst
from gen_bundle.declaration.scoring.tables import ONLY_TABLE, DeclaredTable, read_tables
from gen_bundle.declaration.scoring.titles import meaning_of, name_columns
from gen_bundle.declaration.source import Section, columns_of, nearest
from scoring_kit.base.expressions import Expression, ExpressionError, read_expression

DEFAULT = {
    "model": "microsoft/deberta-xlarge-mnli",
    "revision": "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c",
    "rescale": True,
}
"""Defaults."""
TYPES: Mapping[str, tuple[type[Any], str]] = {
    "model": (str, "a model's name on the hub, or a folder"),
    "revision": (str, "a commit of the model"),
    "num_layers": (int, "a whole number from 1"),
    "baseline": (str, "a file of baselines beside bundle.yaml"),
    "rescale": (bool, "true or false"),
}
OF_ALL_MODELS = ("device", "precision", "batch_tokens", "cache")


def engine_of(declared: Section) -> dict[str, Any]:
    """Return the engine that a declaration's `options` describe."""
    options = declared.mapping("options")
    group, engine = options.get("bertscore"), options.mapping("bertscore")
    if group is not None and not isinstance(group, dict):
        engine.fault(f"expected a mapping with some of {', '.join(TYPES)}.")
    for name, value in engine.data.items():
        if name not in TYPES:
            engine.fault(f"unknown option. {nearest(str(name), list(TYPES))}", str(name))
            continue
        kind, expected = TYPES[name]
        is_layer = name == "num_layers"
        if value is not None and (type(value) is not kind or value == "" or (is_layer and value < 1)):
            engine.fault(f"expected {expected} (found {value!r}).", name)
    of_all = {name: options.get(name) for name in OF_ALL_MODELS if options.get(name) is not None}
    return {**of_all, **with_options(DEFAULT, engine.data)}


def with_options(engine: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the engine's options with others in place; another model has another revision, layer and baseline."""
    chosen = {name: value for name, value in given.items() if value is not None}
    kept = dict(engine)
    if chosen.get("model", engine["model"]) != engine["model"]:
        kept["revision"] = None
        for name in ("num_layers", "baseline"):
            kept.pop(name, None)
    return {**kept, **chosen}


def _check_folder(engine: Mapping[str, Any], folder: Path, column: Section) -> None:
    """Require what bert-score's tables cannot say of a model that is a folder."""
    model = engine["model"]
    if not isinstance(model, str) or not (model.startswith(("/", ".", "~")) or (folder / model).is_dir()):
        return
    if engine.get("num_layers") is None:
        what = f"bert-score knows no layer for the folder {model}."
        column.fault(f"{what} Expected options.bertscore.num_layers.", "metric")
    if engine["rescale"] and engine.get("baseline") is None:
        what = f"bert-score knows no baseline for the folder {model}."
        column.fault(f"{what} Expected options.bertscore.baseline, or rescale: false.", "metric")


DECLARED = "declared"
TAKEN_MODULES = STANDARD_LIBRARY | MODULES | {"declared", "scoring_kit"}
COMPUTED = {"avg": "Mean", "sum": "Sum", "min": "Minimum", "max": "Maximum", "avg_rank": "Mean rank"}
PRECISION = 4
PRECISIONS: Mapping[float, int] = {100: 2}
"""Of metrics whose best value is this one."""
DEFAULT_LIMIT: int = DeclaredPhase.model_fields["execution_time_limit"].default
RANK_PRECISION = 2
MEASURED = "Wall-clock seconds that the code ran."
ALONE = ("metric", "computation", "measured", "of")
"""Keys of a column that say otherwise where its score comes from."""


@dataclass(frozen=True)
class DeclaredScoring:
    """How a declared competition is scored; empty of one with a scoring package.

    Attributes:
        tables: by id.
        metrics: task → column's key → its metric.
        expressions: task → column's key → the expression, as the scoring package gets it.
        checks: table → file and function of the organisers' own check.
    """

    tables: Mapping[str, DeclaredTable] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, DeclaredMetric]] = field(default_factory=dict)
    expressions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def metrics_of(self, tasks: Iterable[str]) -> list[DeclaredMetric]:
        """Return the metrics of some tasks, in the columns' order."""
        return [metric for task in tasks for metric in self.metrics.get(task, {}).values()]

    def as_options(self) -> dict[str, Any]:
        """Return what the scoring package `declared` gets as its options; nothing for another."""
        if not self.tables:
            return {}
        options: dict[str, Any] = {"tables": [table.as_option() for table in self.tables.values()], "metrics": {}}
        for task, columns in self.metrics.items():
            options["metrics"][task] = {key: metric.as_option() for key, metric in columns.items()}
        if self.expressions:
            options["expressions"] = self.expressions
        if self.checks:
            options["checks"] = self.checks
        return options

    def remarks(self) -> Iterator[str]:
        """Yield what is not wrong, but worth knowing: bounded scores, fields that nothing reads."""
        for task, columns in self.metrics.items():
            for key, metric in columns.items():
                if metric.known is not None:
                    yield from _bounded(f"tasks.{task}.columns.{key}", metric, metric.known)
        for table in self.tables.values():
            yield from _unread(table, self.metrics_of(self.metrics))


@dataclass
class SettledColumn:
    """A column on its way: what bundle.yaml says of it, and its metric if it has a sound one."""

    task: str
    said: Section
    metric: DeclaredMetric | None = None


def settle(declared: Section, folder: Path) -> DeclaredScoring:
    """Complete the raw declaration in place, and give how it is scored; `declared.found` takes what is wrong.

    Each column gets `sort`, `worst`, `title`, `meaning` and `precision` from its metric where it gives none. What the
    model refuses, `declared.wrong`, is as if it were not given.
    """
    tables = read_tables(declared)
    wrong = [trail for trail in declared.wrong if trail[0] == "submission"]
    if any(trail[-1] in ("key", "type", "field") for trail in (*wrong, *dict(declared.found))):
        # metrics would blame the fields of a table whose key is wrong, or a field of another type
        for column in columns_of(declared):
            _fill(column.data, UNREAD)
        return DeclaredScoring()
    columns: list[SettledColumn] = []
    metrics: dict[str, dict[str, DeclaredMetric]] = {}
    for task in declared.sections("tasks"):
        name = str(task.get("id"))
        metrics[name] = {}
        columns += [SettledColumn(name, column) for column in task.sections("columns")]
    engine = engine_of(declared)
    with_metric, own = [], []
    for one in columns:
        metric = one.metric = _metric(one.said, tables, folder)
        if metric is None:
            continue
        _complete(one.said, metric)
        _complete_metric(metric, engine, folder, one.said)
        if one.said.get("key"):
            metrics[one.task][one.said.get("key")] = metric
        with_metric.append((one.said.data, metric))
        if metric.file is not None:
            own.append(metric)
            if taken := _taken(Path(metric.file).name):
                one.said.fault(taken, "metric")
    beside = list(_scoring_files(declared, folder, are_read=bool(own)))
    for metric in own:
        metric.beside = beside
    for table in tables.values():
        _show_bounds(table)
        _check_public(table, [one for of_task in metrics.values() for one in of_task.values()])
    name_columns(with_metric)
    _complete_others(declared, columns)
    expressions = _expressions(columns, declared.data.get("layout", "joint"))
    return DeclaredScoring(tables, metrics, expressions, dict(_checks(tables, folder)))


def _scoring_files(declared: Section, folder: Path, *, are_read: bool) -> Iterator[str]:
    """The files that travel beside the organisers' own metrics; `are_read` says that there are such metrics."""
    for at, name in enumerate(declared.items("scoring_files")):
        if Path(name).name != name or "\\" in name:
            declared.fault(f"expected a file name without a folder (found {name!r}).", "scoring_files", at)
        elif not (folder / name).is_file():
            declared.fault(f"no file {name!r} beside bundle.yaml.", "scoring_files", at)
        elif taken := _taken(name):
            declared.fault(taken, "scoring_files", at)
        elif not are_read:
            what = f"no metric of your own reads {name}."
            declared.fault(f"{what} Expected a column with metrics.py:name.", "scoring_files", at)
        else:
            yield name


def _taken(name: str) -> str:
    """Return that a module's name is another one's, which would import it instead; empty where it is not."""
    if not name.endswith(".py") or name.removesuffix(".py") not in TAKEN_MODULES:
        return ""
    return (
        f"{name} has the name of a module of Python, of the platform's image or of the scoring program, which would be "
        "mixed up. Expected another name."
    )


def _show_bounds(table: DeclaredTable) -> None:
    """Put the bounds of numbers that metrics of probabilities ask for where participants read of the fields."""
    for item in table.said.sections("fields"):
        field = table.fields.get(str(item.get("field")), {})
        item.data.update({end: field[end] for end in ("min", "max") if end in field})


def _check_public(table: DeclaredTable, metrics: Sequence[DeclaredMetric]) -> None:
    """See that participants may not have what their answers are compared with, but for the items of rankings."""
    for metric in metrics:
        if table.id not in metric.read_tables:
            continue
        compared = metric.gold
        if metric.file:  # a function gets whole rows: it compares the fields that it is declared for, or all
            named = metric.options.get("fields", metric.options.get("field"))
            compared = [named] if isinstance(named, str) else named or table.answers
        elif metric.known is not None and metric.known.is_ranking:
            compared = metric.gold[1:]
        for name in [name for name in table.public if name in compared]:
            what = f"answers are compared with {name} ({metric.metric}), so that participants must not have it."
            table.said_of_gold.fault(f"{what} Expected other columns of the gold.", "public")
            table.public.remove(name)


def _checks(tables: Mapping[str, DeclaredTable], folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for name, table in tables.items():
        own = OWN.fullmatch(table.check or "")
        if own is not None and (folder / own["file"]).is_file():
            yield name, {"file": own["file"], "function": own["function"]}
        elif own is not None:
            table.said.fault(f"no file {own['file']!r} beside bundle.yaml.", "check")
        elif table.check is not None:
            table.said.fault(f"expected FILE.py:FUNCTION (found {table.check!r}).", "check")


def _metric(column: Section, tables: dict[str, DeclaredTable], folder: Path) -> DeclaredMetric | None:
    if column.get("computation") is not None and column.get("metric") is not None:
        column.fault("cannot be given together with computation. Expected one of the two.", "metric")
    if any(column.data.get(key) is not None for key in ("computation", "measured", "expression")):
        return None
    if column.get("metric") is None:
        column.fault("metric is missing. Expected the name of a metric, such as f1, an expression or a computation.")
        return None
    return read_metric(column, tables, folder)


def _complete_metric(metric: DeclaredMetric, engine: dict[str, Any], folder: Path, column: Section) -> None:
    """Add what a metric needs besides its own options: its column's, BERTScore's engine, a ranking's items."""
    metric.worst, metric.better = column.get("worst"), BETTER.get(str(column.get("sort")), "lower")
    if metric.known is None:
        return
    if metric.metric == "bertscore":
        metric.options = with_options(engine, metric.options)
        _check_folder(metric.options, folder, column)
    if metric.known.is_ranking:
        metric.table.distinct = metric.options["item"]
        metric.table.all_items |= metric.options["items"] == "all"


def _complete(said: Section, metric: DeclaredMetric) -> None:
    known, column = metric.known, said.data
    if known is None:
        missing = {key: value for key, value in (("sort", "desc"), ("worst", 0)) if column.get(key) is None}
        if missing:
            said.fault(f"no {' and no '.join(missing)}. A metric of your own needs both.")
            column.update(missing)
        column.setdefault("meaning", f"{metric.metric}, the organisers' own metric.")
        column.setdefault("precision", PRECISION)
    else:
        if str(column.get("sort")) in BETTER and column["sort"] != known.sort:
            what = f"{column['sort']} contradicts {known.name}, where {BETTER[known.sort]} is better."
            said.fault(f"{what} Expected {known.sort}, or no sort.", "sort")
        column.setdefault("sort", known.sort)
        default = default_worst(known, metric.types)
        if column.get("worst") is None:
            column["worst"] = default
        column.setdefault("meaning", meaning_of(metric, known))
        if bounded := bound(known, default, column["worst"]):
            column["meaning"] = f"{column['meaning']} {bounded}"
        column.setdefault("precision", PRECISIONS.get(known.best, PRECISION))
    undefined, worst = metric.undefined, column["worst"]
    if undefined is None or not isinstance(worst, int | float):
        return
    if _is_better(column["sort"] == "desc", worst, undefined):
        what = f"{undefined:g} is beyond the column's worst, {worst:g}, which is written instead."
        said.fault(f"{what} Expected a value that is no worse, or another worst.", "metric", "undefined")


def _complete_others(declared: Section, columns: Sequence[SettledColumn]) -> None:
    """Complete the columns without a metric, but for expressions, which take nothing from other columns."""
    for one in columns:
        said = one.said
        if said.get("measured") is not None:
            _complete_measured(said.data, declared)
        elif one.metric is None and said.get("computation") is None and said.get("expression") is None:
            _fill(said.data, UNREAD)
    by_key = {str(one.said.get("key")): one.said for one in columns}
    for one in columns:
        if one.said.get("computation") is not None:
            _complete_computed(one.said, by_key)


UNREAD = {"sort": "desc", "worst": 0, "title": "?", "meaning": "?"}
"""Of a column whose metric is at fault: what the metric would have said is not missed, too."""


def _fill(column: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, value in defaults.items():
        if column.get(key) is None:
            column[key] = value


def _complete_measured(column: dict[str, Any], declared: Section) -> None:
    """A column of seconds; no run takes longer than its phase allows."""
    limits = [phase.get("execution_time_limit") or DEFAULT_LIMIT for phase in declared.sections("phases")]
    worst = max(limits, default=DEFAULT_LIMIT)
    _fill(column, {"title": "Seconds", "sort": "asc", "worst": worst, "precision": 1, "meaning": MEASURED})


def _complete_computed(said: Section, by_key: Mapping[str, Section]) -> None:
    """A computed column is sorted as those it is made of, and shown as precisely."""
    column = said.data
    sorts: set[Any] = set()
    precisions, titles = [], []
    for name in said.items("of"):
        if (part := by_key.get(name)) is not None:
            precision = part.get("precision")
            if precision is None:
                precision = PRECISION
            precisions.append(precision)
            sorts.add(part.get("sort"))
            titles.append(str(part.get("title")))
    computation = str(column.get("computation"))
    if computation == "avg_rank":
        column.setdefault("precision", RANK_PRECISION)
        sorts = {"asc"}
    column.setdefault("precision", max(precisions, default=PRECISION))
    if column.get("sort") is None:
        if len(sorts) > 1:
            said.fault("sort is missing. The columns that it is computed from are sorted both ways.")
        column["sort"] = "asc" if sorts == {"asc"} else "desc"
    named = COMPUTED.get(computation, "Value")
    column.setdefault("title", named)
    column.setdefault("meaning", f"{named} of {' and '.join(titles)}.")


def _expressions(columns: Sequence[SettledColumn], layout: Any) -> dict[str, dict[str, Any]]:
    """Complete the columns with expressions in place; gives those of each task as the scoring package reads them.

    Each stands after the expressions that it is made of.
    """
    read: dict[str, Expression] = {}
    of_key: dict[str, SettledColumn] = {}
    for one in columns:
        if one.said.get("expression") is None:
            continue
        expression, key = _expression(one.said), one.said.get("key")
        if expression is not None and key:
            read[key], of_key[key] = expression, one
    _check_operands(columns, layout, read)
    ordered = list(_in_order(read))
    circle = sorted(set(read).difference(ordered))
    for one in columns:
        if one.said.get("key") in circle:
            one.said.fault(f"is made of itself, through {', '.join(circle)}. Expected no circle.", "expression")
    settled: dict[str, dict[str, Any]] = {}
    for key in ordered:
        column = of_key[key].said.data
        better = BETTER.get(str(column["sort"]), "higher")
        own = {"text": read[key].text, "worst": column["worst"], "better": better}
        settled.setdefault(of_key[key].task, {})[key] = own
    return settled


def _expression(said: Section) -> Expression | None:
    column = said.data
    for key in ALONE:
        if column.get(key) is not None:
            said.fault("cannot be given together with expression. Expected one of the two.", key)
    for key, example in (("sort", "desc"), ("worst", 0)):
        if column.get(key) is None:
            said.fault(f"{key} is missing. An expression needs it, such as {key}: {example}.")
            column[key] = example
    column.setdefault("title", column.get("key"))
    column.setdefault("precision", PRECISION)
    text = column["expression"]
    column.setdefault("meaning", f"{text}, of the unrounded scores.")
    try:
        return read_expression(text)
    except ExpressionError as error:
        said.fault(f"{error}", "expression")
        return None


def _check_operands(columns: Sequence[SettledColumn], layout: Any, read: Mapping[str, Expression]) -> None:
    """Require that an expression names written columns of its task, or in layout joint of any."""
    everywhere = _written(columns)
    for one in columns:
        expression = read.get(str(one.said.get("key")))
        if expression is None or one.said.get("expression") is None:
            continue
        usable = everywhere
        if layout != "joint":
            usable = _written([other for other in columns if other.task == one.task])
        for key, at in expression.columns:
            if key in usable:
                continue
            fault = f"at character {at}: no metric or expression {key!r}. {nearest(key, usable)}"
            if key in everywhere:
                what = f"at character {at}: {key!r} is a column of another task, which is scored by itself"
                fault = f"{what} in layout {layout}. Expected columns of this task, or layout joint."
            one.said.fault(fault, "expression")


def _written(columns: Sequence[SettledColumn]) -> list[str]:
    """The keys of the columns that an expression may be made of: metrics, and other expressions."""
    keys = []
    for one in columns:
        key, said = one.said.get("key"), one.said
        if said.get("computation") is None and said.get("measured") is None and key:
            keys.append(key)
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


def bound(metric: MetricRow, default: float, worst: Any) -> str:
    """Return what a page says of a metric that has values beyond a column's `worst`; empty where it has none."""
    if not isinstance(worst, int | float) or not _is_better(metric.sort == "desc", worst, default):
        return ""
    less = "less" if metric.sort == "desc" else "more"
    return f"No {less} than {worst:g}."


def _is_better(descending: bool, one: float, other: float) -> bool:
    return one > other if descending else one < other


def _bounded(place: str, metric: DeclaredMetric, known: MetricRow) -> Iterator[str]:
    """A metric of which some values are written as the column's worst."""
    worst, descending, worse = metric.worst, metric.better == "higher", "higher"
    meant_as_best = worst <= 0  # of which there is another remark
    if descending:
        worse, meant_as_best = "lower", worst >= 1
    if meant_as_best or not _is_better(descending, worst, default_worst(known, metric.types)):
        return
    yield (
        f"{place}.worst: {known.name} can be {worse} than {worst:g}, and every such score is written as {worst:g}. To "
        f"have {worst:g} only where it is undefined, leave `worst` out and say `undefined: {worst:g}` in the metric."
    )


def _unread(table: DeclaredTable, metrics: Sequence[DeclaredMetric]) -> Iterator[str]:
    """The answers in a table that no metric reads; own functions read them all."""
    unread = table.answers
    for metric in metrics:
        if table.id in metric.read_tables:
            if metric.file:
                return
            unread = [name for name in unread if name not in metric.fields]
    if not unread:
        return
    place = "submission.fields"
    if table.id != ONLY_TABLE:
        place = f"submission.tables.{table.id}.fields"
    yield f"{place}: no metric reads {', '.join(unread)}, so that answers there do not count."
