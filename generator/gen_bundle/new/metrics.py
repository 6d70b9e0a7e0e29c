"""The leaderboard's columns that fit what participants answer: the first is the one that ranks."""

import re
from collections.abc import Sequence
from typing import Any

from gen_bundle.new.columns import Column
from gen_bundle.new.propose import Proposal, is_alike

SHORT = 5
"""Answers of so many words on average are short: they are right or wrong rather than well or badly written."""
LONGEST_KEY = 36
TITLES = {"f1": "Span F1", "f1_characters": "Character F1"}
"""Titles of columns of spans, whose metric is the same but for an option."""
CHOICES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "label": [("macro_f1", {"name": "f1", "average": "macro"}), ("accuracy", {"name": "accuracy"})],
    "grades": [("kappa", {"name": "kappa", "weights": "quadratic"})],
    "labels": [
        ("micro_f1", {"name": "f1", "average": "micro"}),
        ("macro_f1", {"name": "f1", "average": "macro"}),
        ("jaccard", {"name": "jaccard"}),
    ],
    "number": [("rmse", {"name": "rmse"}), ("mae", {"name": "mae"}), ("pearson", {"name": "pearson"})],
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
    if proposal.item is not None:
        item, score = (column.name for column in proposal.answers)
        named = {"item": item, "score": score, "relevance": str(proposal.relevance)}
        options = {option: name for option, name in named.items() if option != name}
        return [{"key": key, "metric": {**metric, **options}} for key, metric in CHOICES["ranking"]]
    if proposal.many:
        return [{"key": key, "metric": dict(metric)} for key, metric in CHOICES["rows"]]
    return answer_columns(proposal.answers)


def answer_columns(answers: Sequence[Column]) -> list[dict[str, Any]]:
    """The leaderboard's columns for answers with one row a key.

    Answers of one kind, such as an emotion each, are ranked by the mean over them.
    """
    found: list[dict[str, Any]] = []
    alone = len(answers) == 1
    if not alone and all(is_alike(column, answers[0]) for column in answers):
        fields = {"fields": [column.name for column in answers]}
        found += [{"key": f"mean_{key}", "metric": _with(metric, fields)} for key, metric in choices_of(answers[0])]
    for column in answers:
        name = identifier(column.name, "answer")[:20].rstrip("_")
        for key, metric in choices_of(column):
            title = {"title": TITLES[key]} if column.type == "spans" and alone else {}
            named = metric if alone else _with(metric, {"field": column.name})
            found.append({"key": _unused(key if alone else f"{name}_{key}", found), **title, "metric": named})
    return found


def choices_of(column: Column) -> list[tuple[str, dict[str, Any]]]:
    """The keys and metrics that fit an answer."""
    choices = [choice for kind in kinds_of(column) for choice in CHOICES[kind]]
    if column.type == "probability":
        return [(key, {**metric, "positive": column.values[-1]}) for key, metric in choices]
    return choices


def kinds_of(column: Column) -> list[str]:
    """The kinds of an answer."""
    if column.type == "label":
        return ["label", "grades"] if column.grades and len(column.values) > 2 else ["label"]
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
    names = (key, *(f"{key[: LONGEST_KEY - 4]}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)
