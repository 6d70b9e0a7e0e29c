"""A proposal in the words of bundle.yaml and of the organiser: the values that the template places."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gen_bundle.author.new.columns import GoldColumn, names_of
from gen_bundle.author.new.data import (
    ENTRY,
    GOLD,
    PREDICTIONS,
    Drawn,
    baseline_answers,
    baseline_name,
    gives_inputs,
    has_candidates,
)
from gen_bundle.author.new.key_and_answers import is_alike
from gen_bundle.author.new.propose import Proposal
from gen_bundle.ground.plain_text import listed

SHORT = 5
"""Answers of so many words on average are short: they are right or wrong rather than well or badly written."""
LONGEST_KEY = 36
MOST_NAMED = 8
TITLES = {"f1": "Span F1", "f1_characters": "Character F1"}
"""Titles of columns of spans, whose metric is the same but for an option."""
WORST = {"rmse": ("asc", 1e9), "mae": ("asc", 1e9), "pearson": ("desc", -1), "kappa": ("desc", -1)}
"""Metric → sort and worst value of an expression of it, where these are not `desc` and 0."""
CHOICES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "label": [("macro_f1", {"name": "f1", "average": "macro"}), ("accuracy", {"name": "accuracy"})],
    "grades": [("kappa", {"name": "kappa", "weights": "quadratic"})],
    "ordinal": [
        ("kappa", {"name": "kappa", "weights": "quadratic"}),
        ("mae", {"name": "mae"}),
        ("accuracy", {"name": "accuracy"}),
    ],
    "offsets": [("f1", {"name": "set_f1", "average": "macro"}), ("iou", {"name": "span_iou"})],
    "labels": [
        ("micro_f1", {"name": "f1", "average": "micro"}),
        ("macro_f1", {"name": "f1", "average": "macro"}),
        ("jaccard", {"name": "jaccard"}),
    ],
    "number": [("rmse", {"name": "rmse"}), ("mae", {"name": "mae"}), ("pearson", {"name": "pearson"})],
    "numbers": [("rmse", {"name": "rmse"}), ("mae", {"name": "mae"})],
    "probability": [
        ("roc_auc", {"name": "roc_auc"}),
        ("average_precision", {"name": "average_precision"}),
        ("brier", {"name": "brier"}),
    ],
    "spans": [("f1", {"name": "set_f1"}), ("f1_characters", {"name": "set_f1", "match": "characters"})],
    "tags": [
        ("f1", {"name": "span_f1"}),
        ("precision", {"name": "span_precision"}),
        ("recall", {"name": "span_recall"}),
    ],
    "short text": [("exact_match", {"name": "exact_match"}), ("token_f1", {"name": "token_f1"})],
    "text": [("chrf", {"name": "chrf"}), ("bleu", {"name": "bleu"})],
    "rows": [("f1", {"name": "set_f1"}), ("precision", {"name": "set_precision"}), ("recall", {"name": "set_recall"})],
    "ranking": [("ndcg", {"name": "ndcg", "cutoff": 10}), ("map", {"name": "ap"}), ("mrr", {"name": "rr"})],
}
"""Kind of answer → the leaderboard's columns, the first of which ranks."""


def board_of(proposal: Proposal) -> list[dict[str, Any]]:
    """The leaderboard's columns as bundle.yaml lists them; the first one ranks."""
    if proposal.item is None and not proposal.many:
        return answer_columns(proposal.answers)
    kind, options = "rows", {}
    if proposal.item is not None:
        item, score = names_of(proposal.answers)
        named = {"item": item, "score": score, "relevance": str(proposal.relevance)}
        kind, options = "ranking", {option: name for option, name in named.items() if option != name}
    return [{"key": key, "metric": {**metric, **options}} for key, metric in CHOICES[kind]]


def answer_columns(answers: Sequence[GoldColumn]) -> list[dict[str, Any]]:
    """The leaderboard's columns for answers with one row a key.

    Answers of one kind, such as an emotion each, are ranked by the mean over them.
    """
    found: list[dict[str, Any]] = []
    if len(answers) == 1:
        (column,) = answers
        if column.annotators:
            return _annotators_columns(column)
        for key, metric in choices_of(column):
            entry = {"key": key, "metric": metric}
            if column.type == "spans":
                entry = {"key": key, "title": TITLES[key], "metric": metric}
            found.append(entry)
        return found
    if all(is_alike(column, answers[0]) for column in answers):
        fields = {"fields": names_of(answers)}
        for key, metric in choices_of(answers[0]):
            found.append({"key": f"mean_{key}", "metric": _with(metric, fields)})
    for column in answers:
        name = identifier(column.name, "answer")[:20].rstrip("_")
        for key, metric in choices_of(column):
            own = _with(metric, {"field": column.name})
            found.append({"key": _unused(f"{name}_{key}", found), "metric": own})
    return found


def _annotators_columns(column: GoldColumn) -> list[dict[str, Any]]:
    """The mean over annotators, and the metric by each of them."""
    found: list[dict[str, Any]] = []
    for key, metric in choices_of(column):
        each: list[dict[str, Any]] = []
        for annotator in column.annotators:
            own_key = _unused(f"{key}_{identifier(annotator, 'annotator')}"[:LONGEST_KEY], [*found, *each])
            each.append({"key": own_key, "metric": _with(metric, {"gold": annotator})})
        mean = f"mean({', '.join(one['key'] for one in each)})"
        sort, worst = WORST.get(metric["name"], ("desc", 0))
        found += [{"key": key, "expression": mean, "sort": sort, "worst": worst}, *each]
    return found


def choices_of(column: GoldColumn) -> list[tuple[str, dict[str, Any]]]:
    """The keys and metrics that fit an answer."""
    choices = []
    for kind in kinds_of(column):
        for key, metric in CHOICES[kind]:
            chosen = dict(metric)
            if kind == "probability":
                chosen["positive"] = column.values[-1]
            choices.append((key, chosen))
    return choices


def kinds_of(column: GoldColumn) -> list[str]:
    """The kinds of an answer."""
    if column.type == "label":
        return ["label", "grades"] if column.grades else ["label"]
    if column.type in ("text", "texts", "string"):
        return ["short text" if column.words <= SHORT else "text"]
    return [column.type]


def _with(metric: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """A metric with the fields that it reads, after its name."""
    name, *options = metric.items()
    return dict([name, *fields.items(), *options])


def identifier(text: str, otherwise: str) -> str:
    """A text as the name of a column or task may be."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return plain if re.match("[a-z]", plain) else f"{otherwise}_{plain}".rstrip("_")


def _unused(key: str, columns: Sequence[dict[str, Any]]) -> str:
    taken = {column["key"] for column in columns}
    name = key
    number = 1
    while name in taken:
        number += 1
        name = f"{key[: LONGEST_KEY - 4]}_{number}"
    return name


MEANINGS = {
    "label": "Your label.",
    "ordinal": "Your label; lowest first.",
    "offsets": "The positions of the characters.",
    "labels": "Your labels; none where none fits.",
    "number": "Your value.",
    "numbers": "Your values.",
    "probability": "The probability of {}.",
    "text": "Your text.",
    "texts": "Your text.",
    "string": "Part of your answer.",
    "tags": "Your tags, one for each token.",
    "spans": "Your spans; the end is the first position after it.",
}
TYPES_OF_ANSWERS = {"texts": "text", "probability": "number"}
"""Type of a gold column → that of the field, where it is another: gold may list several references for a text."""
TASK_NAMES = {
    "classification": "Classification",
    "multilabel": "Multi-label classification",
    "regression": "Regression",
    "spans": "Span detection",
    "tagging": "Tagging",
    "ranking": "Ranking",
    "generation": "Generation",
    "extraction": "Extraction",
}


def task_of(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The values that templates know as `cookiecutter.task`; plain data, so that any template can use them."""
    columns = board_of(proposal)
    first = next(column for column in columns if "metric" in column)
    groups = []  # the first column's metric in each group, as suggestions
    for group in proposal.groups:
        key = f"{first['key']}_by_{identifier(group.name, 'group')}"[:LONGEST_KEY]
        groups.append({"key": key, "metric": {**first["metric"], "by": group.name}})
    for column in columns:
        if len(column.get("metric", {})) == 1:  # without options its name says all
            column["metric"] = column["metric"]["name"]
    reference: dict[str, Any] = {"file": f"{GOLD}{proposal.gold.suffix}"}
    if proposal.gold.quoting == "none":
        reference["quoting"] = "none"
    if proposal.cluster is not None:
        reference["cluster"] = proposal.cluster
    if proposal.public:
        reference["public"] = list(proposal.public)
    return {
        "kind": proposal.kind,
        "name": TASK_NAMES[proposal.kind],
        "submission": _submission(proposal),
        "fields": fields(proposal),
        "reference": reference,
        "columns": columns,
        "groups": groups,
        "phases": list(phases),
        "inputs": gives_inputs(proposal),
        "candidates": has_candidates(proposal),
        "many": proposal.many,
        "code": ENTRY if proposal.code else None,
    }


def fields(proposal: Proposal) -> list[dict[str, Any]]:
    """The submission's fields as bundle.yaml lists them."""
    found: list[dict[str, Any]] = []
    if not proposal.of_lines:
        meaning = "Which row it is, each once."
        if proposal.item is not None:
            meaning = "The query."
        elif proposal.many or len(proposal.key) > 1:
            meaning = "Which row it is."
        for name in proposal.key:
            found.append({"field": name, "type": "string", "required": True, "meaning": meaning})
    found += [_answer_field(column, is_json=proposal.gold.is_json) for column in proposal.answers]
    if proposal.item is not None:
        found[-2]["meaning"] = "An item; each once for a query."
        found[-1]["meaning"] = "Higher ranks first."
    return found


def _answer_field(column: GoldColumn, *, is_json: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"field": column.name, "type": TYPES_OF_ANSWERS.get(column.type, column.type)}
    if column.columns:
        entry["columns"] = list(column.columns)
        if column.binary != ("0", "1"):
            negative, positive = column.binary
            entry |= {"positive": positive, "negative": negative}
    elif column.type in ("label", "labels", "ordinal") and column.values:
        entry["values"] = list(column.values)
    if column.type == "labels" and column.separator != "|" and not is_json:
        entry["separator"] = column.separator
    if column.type == "probability" or (column.type == "number" and column.within_one):
        entry |= {"min": 0, "max": 1}
    return {**entry, "required": True, "meaning": _meaning(column)}


def _meaning(column: GoldColumn) -> str:
    """Return what a field holds, with the types of its spans or tags."""
    types = ", ".join(column.values)
    if column.type == "spans" and types:
        return f"Your spans, each with its type ({types}); the end is the first position after it."
    if column.type == "tags" and types:
        return f"Your tags, one for each token; the types are {types}."
    return MEANINGS[column.type].format(*column.values[-1:])


def _submission(proposal: Proposal) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if proposal.code:
        found = {"kind": "code", "entry": ENTRY}
    found["file"] = f"{PREDICTIONS}{proposal.gold.suffix}"
    if not proposal.of_lines:
        found["key"] = list(proposal.key)
        if len(proposal.key) == 1:
            (found["key"],) = proposal.key
    if proposal.many:
        found["rows"] = "many"
    if proposal.gold.quoting == "none":
        found["quoting"] = "none"
    return found


def summary(proposal: Proposal, phases: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return what was understood, for the organiser: a heading and its text each."""
    gold = proposal.gold
    counts = []
    for phase, rows in phases.items():
        number = len(set(gold.picked(rows).keys(proposal.key))) if proposal.many else len(rows)
        counts.append(f"{phase} {number}")
    lines = {
        "rows": f"{len(gold)} in {gold.file}",
        "key": "the line" if proposal.of_lines else ", ".join(proposal.key),
        "answers": "; ".join(_shown(one) for one in proposal.answers),
        "given": ", ".join(proposal.public) or "the keys",
        "secret": ", ".join(proposal.secret),
        "cluster": f"{proposal.cluster} (its rows stay together; --cluster - for none)",
        "metrics": ", ".join(one["key"] for one in board_of(proposal)),
        "phases": ", ".join(counts),
        "baseline": baseline_name(proposal) + _shown_answers(baseline_answers(proposal, phases)),
    }
    if gold.quoting == "none":
        lines["rows"] += ", quoting: none"
    if proposal.many:
        lines["key"] += ", many rows"
    if has_candidates(proposal):
        lines["given"] += f", {proposal.item}"
    if proposal.secret:
        lines["secret"] += " (--public COLUMN gives one to participants)"
    if proposal.cluster is None:
        del lines["cluster"]
    return {name: text for name, text in lines.items() if text}


def _shown_answers(answers: Mapping[str, Any]) -> str:
    """Return what the baseline answers; empty answers go without saying."""
    shown = []
    for name, value in answers.items():
        if isinstance(value, Drawn):
            shown.append(f"{name} around {value.mean:g}")
        elif value not in ("", [], "[]"):
            shown.append(f"{name} {value!r}")
    return f" ({listed(shown, MOST_NAMED)})" if shown else ""


def _shown(column: GoldColumn) -> str:
    labels = ""
    if column.values:
        labels = f" ({listed(column.values, MOST_NAMED)})"
    elif column.columns:
        labels = f" ({listed(column.columns, MOST_NAMED)}: {len(column.columns)})"
    return f"{column.name}: {column.type}{labels}"
