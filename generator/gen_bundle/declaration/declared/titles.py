"""What a column is called and what it shows, where the declaration gives no title and no meaning."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from gen_bundle.declaration.declared.columns import ColumnMetric
from gen_bundle.declaration.declared.metrics import Metric

MAX_TITLE = 36
AVERAGES = {"macro": "Macro", "micro": "Micro", "weighted": "Weighted", "samples": "Samples", "binary": "Binary"}
SHOWN_AVERAGE = ("f1", "fbeta", "precision", "recall")
"""Metrics whose average is always shown, because none goes without saying."""
IN_TITLE = ("average", "beta", "cutoff", "item", "matrix", "quantile", "relevance", "score")
"""Options that the title itself shows, and names of columns."""
OF_TITLE = {"rouge": ("type",), "bertscore": ("part", "model", "revision", "rescale")}
"""Further ones of a metric."""

Words = Callable[[ColumnMetric], str]


def meaning_of(metric: ColumnMetric, known: Metric) -> str:
    """One line that says what a column shows."""
    several = len(metric.table.answers) > 1 and not known.is_ranking
    parts = [
        _title(metric),
        f" of {' and '.join(metric.fields)}" if metric.fields and several else "",
        f", {_options(metric)}" if _options(metric) else "",
        f", against {' and '.join(metric.gold)}" if _other_gold(metric) else "",
        f", {_rows(metric)} only" if metric.where else "",
        f", in each {' and '.join(metric.by)}, then the mean" if metric.by else "",
    ]
    return f"{''.join(parts)}. {known.definition}"


def name_columns(columns: Sequence[tuple[dict[str, Any], ColumnMetric]]) -> None:
    """Give columns without a title one that differs from all others, as short as can be; else the key."""
    taken = {column["title"] for column, _ in columns if isinstance(column.get("title"), str)}
    untitled = [(column, metric) for column, metric in columns if column.get("title") is None]
    for words in ((), (_fields,), (_options,), (_other_gold,), (_fields, _options, _other_gold)):
        # counted over all of them: what sets a column apart must be in its own title or in the others'
        titles = [_titled(one, words) for _, one in untitled]
        often = Counter(titles)
        for (column, _), title in zip(untitled, titles, strict=True):
            if column.get("title") is None and often[title] == 1 and title not in taken and len(title) <= MAX_TITLE:
                column["title"] = title
                taken.add(title)
    for column, _ in untitled:
        if column.get("title") is None and isinstance(column.get("key"), str):
            column["title"] = column["key"]


def _titled(metric: ColumnMetric, words: Sequence[Words]) -> str:
    """The metric's title with some words; which rows count, and by which groups, is never left out."""
    parts = [_title(metric), *(say(metric) for say in words), _rows(metric), _groups(metric)]
    return ", ".join(filter(None, parts))


def _fields(metric: ColumnMetric) -> str:
    return " and ".join(metric.fields)


def _groups(metric: ColumnMetric) -> str:
    return f"by {' and '.join(metric.by)}" if metric.by else ""


def _other_gold(metric: ColumnMetric) -> str:
    """The gold's columns, where they are not called like the fields."""
    is_other = metric.metric is not None and not metric.metric.is_ranking and list(metric.gold) != list(metric.fields)
    return " and ".join(metric.gold) if is_other else ""


def _options(metric: ColumnMetric) -> str:
    """The options that are not as they are by default."""
    if metric.metric is None:
        return ""
    texts = []
    for name, option in metric.metric.options.items():
        value = metric.options[name]
        if name in (*IN_TITLE, *OF_TITLE.get(metric.function, ())) or value == option.default:
            continue
        texts.append(_said(name, value, is_choice=bool(option.choices) or name == "positive"))
    return ", ".join(texts)


def _said(name: str, value: Any, *, is_choice: bool) -> str:
    """An option in a title."""
    if name == "case":
        return "without case"
    if isinstance(value, list):
        return " and ".join(value)
    if isinstance(value, dict):
        return " ".join(f"{key} {one!r}" for key, one in value.items())
    if value is True:
        return name
    return str(value) if is_choice else f"{name} {value}"


def _rows(metric: ColumnMetric) -> str:
    """Which keys count."""
    texts = []
    for column, wanted in metric.where.items():
        if isinstance(wanted, dict):
            low = f"from {wanted['min']:g}" if "min" in wanted else ""
            high = f"up to {wanted['max']:g}" if "max" in wanted else ""
            texts.append(f"{column} {' '.join(filter(None, [low, high]))}")
        else:
            texts.append(f"{column} {' or '.join(wanted)}")
    return ", ".join(texts)


def _title(metric: ColumnMetric) -> str:
    if metric.metric is None:
        return metric.function
    title, options = metric.metric.title, metric.options
    if metric.metric.name == "rouge":
        title = f"ROUGE-{options['type'].removeprefix('rouge')}"
    if metric.metric.name == "bertscore" and options["part"] != "f1":
        title = f"BERTScore {options['part']}"
    if metric.metric.name == "fbeta":
        title = f"F{options['beta'] or 0:g}"
    if metric.metric.name == "pinball":
        title = f"{title} of quantile {options['quantile'] or 0:g}"
    if options.get("cutoff") is not None:
        title = f"{title}@{options['cutoff']}"
    average = options.get("average")
    if average is not None and (
        metric.metric.name in SHOWN_AVERAGE or average != metric.metric.options["average"].default
    ):
        title = f"{AVERAGES[average]} {title if title.isupper() or title == 'F1' else title[:1].lower() + title[1:]}"
    return title
