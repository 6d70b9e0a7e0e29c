"""What a column is called and what it shows, where the declaration gives no title and no meaning."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gen_bundle.declaration.declared.columns import ColumnMetric
from gen_bundle.declaration.declared.metrics import MetricRow

MAX_TITLE = 36
AVERAGES = {"macro": "Macro", "micro": "Micro", "weighted": "Weighted", "samples": "Samples", "binary": "Binary"}
SHOWN_AVERAGE = ("f1", "fbeta", "precision", "recall")
"""Metrics whose average is always shown, because none goes without saying."""
IN_TITLE = ("average", "beta", "cutoff", "item", "k", "matrix", "quantile", "rank", "relevance", "score")
"""Options that the title itself shows, and names of columns."""
OF_TITLE = {"rouge": ("type",), "bertscore": ("part", "model", "revision", "rescale")}
"""Further ones of a metric."""
AS_THEY_ARE = ("positive", "threshold")
"""Options whose value is said without their name, or with words of its own."""

Words = Callable[[ColumnMetric], str]


def meaning_of(metric: ColumnMetric, known: MetricRow) -> str:
    """One line that says what a column shows."""
    several = len(metric.table.answers) > 1 and not known.is_ranking
    parts = [_title(metric)]
    if metric.fields and several:
        parts.append(f" of {' and '.join(metric.fields)}")
    further = (_options(metric), _against(metric), _rows(metric) and f"{_rows(metric)} only")
    parts += [f", {text}" for text in further if text]
    if metric.by:
        parts.append(f", in each {' and '.join(metric.by)}, then the mean")
    if metric.weight:
        parts.append(f", each key weighing its {metric.weight}")
    return f"{''.join(parts)}. {known.definition}"


def name_columns(columns: Sequence[tuple[dict[str, Any], ColumnMetric]]) -> None:
    """Give columns without a title one that differs from all others, as short as can be; else the key."""
    taken, untitled = set(), []
    for column, metric in columns:
        if column.get("title") is None:
            column.pop("title", None)
            untitled.append((column, metric))
        else:
            taken.add(str(column["title"]))
    for words in ((), (_fields,), (_options,), (_other_gold,), (_fields, _options, _other_gold)):
        # counted over all of them: what sets a column apart must be in its own title or in the others'
        titles = [_titled(one, words) for _, one in untitled]
        often = Counter(titles)
        for (column, _), title in zip(untitled, titles, strict=True):
            is_free = often[title] == 1 and title not in taken and len(title) <= MAX_TITLE
            if is_free and "title" not in column:
                column["title"] = title
                taken.add(title)
    for column, _ in untitled:
        column.setdefault("title", str(column.get("key", "?")))


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


def _against(metric: ColumnMetric) -> str:
    """The same in a sentence."""
    return f"against {_other_gold(metric)}" if _other_gold(metric) else ""


def _options(metric: ColumnMetric) -> str:
    """The options that are not as they are by default."""
    if metric.metric is None:
        return ""
    texts = []
    for name, option in metric.metric.options.items():
        value = metric.options[name]
        if name not in (*IN_TITLE, *OF_TITLE.get(metric.function, ())) and value != option.default:
            texts.append(_said(name, value, is_choice=bool(option.choices) or name in AS_THEY_ARE))
    return ", ".join(texts)


def _said(name: str, value: Any, *, is_choice: bool) -> str:
    """An option in a title."""
    if name == "case":
        return "without case"
    if name == "items":
        return "all items"
    if name == "threshold":
        return f"above {value['above']:g}" if isinstance(value, dict) else f"from {value:g}"
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
            bounds = [f"{words} {wanted[end]:g}" for end, words in (("min", "from"), ("max", "up to")) if end in wanted]
            texts.append(f"{column} {' '.join(bounds)}")
        else:
            texts.append(f"{column} {' or '.join(wanted)}")
    return ", ".join(texts)


def _title(metric: ColumnMetric) -> str:
    if metric.metric is None:
        return metric.function
    options = metric.options
    title = OWN_TITLES.get(metric.function, "{title}").format(title=metric.metric.title, **_numbered(options))
    if metric.function == "rouge":
        title = title.replace("-rouge", "-")
    if metric.function == "bertscore" and options["part"] != "f1":
        title = f"BERTScore {options['part']}"
    if options.get("cutoff") is not None:
        title = f"{title}@{options['cutoff']}"
    return _with_average(metric, metric.metric, title)


def _numbered(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, with 0 for those that are missing though they must be given, of which a message tells."""
    return {name: 0 if value is None else value for name, value in options.items()}


OWN_TITLES = {
    "rouge": "ROUGE-{type}",
    "fbeta": "F{beta:g}",
    "pinball": "{title} of quantile {quantile:g}",
    "top_k_accuracy": "Top-{k} accuracy",
}
"""Titles with an option in them."""


def _with_average(metric: ColumnMetric, known: MetricRow, title: str) -> str:
    average = metric.options.get("average")
    usual = known.options["average"].default if average else None
    if average is None or (known.name not in SHOWN_AVERAGE and average == usual):
        return title
    inside = title if title.isupper() or title == "F1" else title[:1].lower() + title[1:]
    return f"{AVERAGES[average]} {inside}"
