"""Titles and meanings of columns, where the declaration gives no title and no meaning."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from gen_bundle.declaration.scoring.columns import DeclaredMetric
from gen_bundle.declaration.scoring.metrics import MetricRow

MAX_TITLE = 36
AVERAGES = {
    "macro": "Macro",
    "micro": "Micro",
    "weighted": "Weighted",
    "samples": "Samples",
    "binary": "Binary",
    "pooled": "Pooled",
}
SHOWN_AVERAGE = ("f1", "fbeta", "precision", "recall")
"""Metrics whose average is always shown, because none goes without saying."""
IN_TITLE = ("average", "beta", "cutoff", "item", "k", "matrix", "quantile", "rank", "relevance", "score")
"""Options that the title itself shows, and names of columns."""
OF_TITLE = {"rouge": ("type",), "bertscore": ("part", "model", "revision", "rescale")}
"""Further ones of a metric."""
AS_THEY_ARE = ("positive", "threshold")
"""Options whose value is said without their name, or with words of its own."""

Words = Callable[[DeclaredMetric], str]


def meaning_of(metric: DeclaredMetric, known: MetricRow) -> str:
    """Return one line that says what a column shows."""
    text = _title(metric)
    if metric.fields and len(metric.table.answers) > 1 and not known.is_ranking:
        text += f" of {' and '.join(metric.fields)}"
    if options := _options(metric):
        text += f", {options}"
    if gold := _other_gold(metric):
        text += f", against {gold}"
    if rows := _rows(metric):
        text += f", {rows} only"
    if metric.by:
        text += f", in each {' and '.join(metric.by)}, then the mean"
        if metric.by_weight:
            text += ", each weighing its number of rows"
    if metric.mean_by:
        text += f", of the means of gold and answers over each {metric.mean_by}"
    if metric.weight:
        text += f", each key weighing its {metric.weight}"
    return f"{text}. {known.definition}"


def name_columns(columns: Sequence[tuple[dict[str, Any], DeclaredMetric]]) -> None:
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


def _titled(metric: DeclaredMetric, words: Sequence[Words]) -> str:
    """The metric's title with some words; which rows count, and by which groups, is never left out."""
    parts = [_title(metric), *(say(metric) for say in words), _rows(metric)]
    if metric.by:
        parts.append(f"by {' and '.join(metric.by)}{', weighted' if metric.by_weight else ''}")
    if metric.mean_by:
        parts.append(f"means by {metric.mean_by}")
    return ", ".join(filter(None, parts))


def _fields(metric: DeclaredMetric) -> str:
    return " and ".join(metric.fields)


def _other_gold(metric: DeclaredMetric) -> str:
    """The gold's columns, where they are not called like the fields."""
    if metric.known is None or metric.known.is_ranking or metric.gold == metric.fields:
        return ""
    return " and ".join(metric.gold)


def _options(metric: DeclaredMetric) -> str:
    """The options that are not as they are by default."""
    if metric.known is None:
        return ""
    texts = []
    for name, option in metric.known.options.items():
        value = metric.options[name]
        if name not in (*IN_TITLE, *OF_TITLE.get(metric.metric, ())) and value != option.default:
            texts.append(_said(name, value, is_choice=bool(option.choices) or name in AS_THEY_ARE))
    return ", ".join(texts)


def _said(name: str, value: Any, *, is_choice: bool) -> str:
    if name == "case":
        return "without case"
    if name == "items":
        return "all items"
    if isinstance(value, list):
        return " and ".join(value)
    if name == "threshold" and isinstance(value, dict):
        return f"above {value['above']:g}"
    if name == "threshold":
        return f"from {value:g}"
    if isinstance(value, dict):
        return " ".join(f"{key} {one!r}" for key, one in value.items())
    if value is True:
        return name
    if is_choice:
        return str(value)
    return f"{name} {value}"


def _rows(metric: DeclaredMetric) -> str:
    texts = []
    for column, wanted in metric.where.items():
        if not isinstance(wanted, dict):
            texts.append(f"{column} {' or '.join(wanted)}")
            continue
        for end, words in (("min", "from"), ("max", "up to")):
            if end in wanted:
                column += f" {words} {wanted[end]:g}"
        texts.append(column)
    return ", ".join(texts)


def _title(metric: DeclaredMetric) -> str:
    """A metric's title, with the options that belong to it."""
    known, options = metric.known, metric.options
    if known is None:
        return metric.metric
    # 0 for those that are missing though they must be given, of which a message tells
    numbered = {name: 0 if value is None else value for name, value in options.items()}
    title = OWN_TITLES.get(known.name, "{title}").format(title=known.title, **numbered)
    if known.name == "rouge":
        title = title.replace("-rouge", "-")
    if known.name == "bertscore" and options["part"] != "f1":
        title = f"BERTScore {options['part']}"
    if options.get("cutoff") is not None:
        title = f"{title}@{options['cutoff']}"
    return _with_average(metric, known, title)


def _with_average(metric: DeclaredMetric, known: MetricRow, title: str) -> str:
    average = metric.options.get("average")
    if average is None or (known.name not in SHOWN_AVERAGE and average == known.options["average"].default):
        return title
    if not (title.isupper() or title == "F1"):
        title = title[:1].lower() + title[1:]
    return f"{AVERAGES[average]} {title}"


OWN_TITLES = {
    "rouge": "ROUGE-{type}",
    "fbeta": "F{beta:g}",
    "pinball": "{title} of quantile {quantile:g}",
    "top_k_accuracy": "Top-{k} accuracy",
}
"""Titles with an option in them."""
