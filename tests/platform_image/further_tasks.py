"""Tasks with the metrics that none of the real tasks ranks by: a declaration, and gold with answers made at random."""

import json
import random
from collections.abc import Callable
from typing import Any

from tests.scoring_programs.declared.declaring import Files, csv_of

ROWS = 40
LABELS = ["low", "middle", "high"]
WORDS = ["the", "train", "was", "late", "again", "in", "spring", "rain"]

Maker = Callable[[random.Random], tuple[Files, Files, Any]]


def declaration(fields: list[dict[str, Any]], metrics: list[Any], **keys: Any) -> dict[str, Any]:
    """One table `answers.csv` with its gold in `gold.csv`, and a column for each metric."""
    columns = [{"key": f"column{number}", "metric": metric} for number, metric in enumerate(metrics)]
    return {
        "submission": {
            "file": "answers.csv",
            "key": "id",
            "fields": [{"field": "id", "type": "string"}, *fields],
            **keys,
        },
        "reference": {"file": "gold.csv"},
        "tasks": [{"id": "t", "name": "T", "columns": columns}],
    }


def table(header: str, gold: Callable[[random.Random], Any], answer: Callable[[random.Random], Any]) -> Maker:
    """Gold and answers of one field, each drawn for itself."""

    def make(rng: random.Random) -> tuple[Files, Files, Any]:
        right = [[f"r{number}", gold(rng)] for number in range(ROWS)]
        sent = [[f"r{number}", answer(rng)] for number in range(ROWS)]
        return {"gold.csv": csv_of(header, right)}, {"answers.csv": csv_of(header, sent)}, None

    return make


def label(rng: random.Random) -> str:
    return rng.choice(LABELS)


def several(rng: random.Random) -> str:
    return "|".join(sorted(rng.sample(LABELS, rng.randint(1, 3))))


def number(rng: random.Random) -> float:
    return round(rng.uniform(0.5, 9), 3)


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(3, 8)))


def tags(rng: random.Random) -> str:
    return " ".join(rng.choice(["O", "B-PER", "I-PER", "B-LOC"]) for _ in range(6))


def spans(rng: random.Random) -> str:
    starts = sorted(rng.sample(range(0, 60, 6), rng.randint(1, 4)))
    return json.dumps([[start, start + rng.randint(2, 6), rng.choice(["PER", "LOC"])] for start in starts])


def chances(rng: random.Random) -> tuple[Files, Files, Any]:
    right = [[f"r{number}", number % 2] for number in range(ROWS)]
    sent = [[f"r{number}", round(rng.random(), 3)] for number in range(ROWS)]
    return {"gold.csv": csv_of("id,toxic", right)}, {"answers.csv": csv_of("id,chance", sent)}, None


def shares(rng: random.Random) -> tuple[Files, Files, Any]:
    """A label, and the probability of each."""
    right = [[f"r{number}", label(rng)] for number in range(ROWS)]
    sent = []
    for number in range(ROWS):
        first, second = sorted(rng.sample(range(1, 100), 2))
        sent.append([f"r{number}", first / 100, (second - first) / 100, (100 - second) / 100])
    names = ",".join(f"p_{name}" for name in LABELS)
    return {"gold.csv": csv_of("id,level", right)}, {"answers.csv": csv_of(f"id,{names}", sent)}, None


def scaled(rng: random.Random) -> tuple[Files, Files, Any]:
    """Numbers, with a scale and a weight of each."""
    right = [[f"r{row}", number(rng), number(rng), rng.randint(0, 3)] for row in range(ROWS)]
    sent = [[f"r{row}", number(rng)] for row in range(ROWS)]
    return {"gold.csv": csv_of("id,value,scale,weight", right)}, {"answers.csv": csv_of("id,value", sent)}, None


def ranking(rng: random.Random) -> tuple[Files, Files, Any]:
    places = [(f"q{query}", f"d{document}") for query in range(8) for document in range(12)]
    right = [[*place, rng.randint(0, 2)] for place in places]
    sent = [[*place, round(rng.random(), 3)] for place in places]
    gold = csv_of("query,item,relevance", right)
    return {"gold.csv": gold}, {"answers.csv": csv_of("query,item,score", sent)}, None


def of_gold(metric: Any, gold: str, positive: str | None = None) -> dict[str, Any]:
    """The metric against a column of the gold."""
    named = {"name": metric} if isinstance(metric, str) else metric
    return {**named, "gold": gold, **({} if positive is None else {"positive": positive})}


PROBABILITY = [{"field": "chance", "type": "number", "min": 0, "max": 1}]
SHARES = [{"field": "shares", "type": "probabilities", "values": LABELS, "columns": [f"p_{name}" for name in LABELS]}]
ORDERED = [{"field": "level", "type": "label", "values": LABELS}]
RANKED = [
    {"field": "query", "type": "string"},
    {"field": "item", "type": "string"},
    {"field": "score", "type": "number"},
]
OF_LABELS = [
    *("balanced_accuracy", "mcc", "kappa", "accuracy", "f1", "precision", "recall"),
    {"name": "kappa", "weights": "quadratic"},
    {"name": "fbeta", "beta": 2},
    {"name": "points", "matrix": {"low": {"low": 1}, "middle": {"middle": 1, "high": 0.5}, "high": {"high": 2}}},
]
OF_NUMBERS = [
    *("ccc", "rmse", "mse", "mae", "r2", "mape", "smape", "rmsle", "medae", "max_error"),
    *("pearson", "spearman", "kendall"),
    {"name": "pinball", "quantile": 0.9},
]
OF_TEXTS = [
    *("token_f1", "wer", "cer", "edit_distance", "lcs_f1", "lcs_precision", "lcs_recall", "bleu", "chrf", "ter"),
    *({"name": "edit_distance", "unit": "word"}, "rouge"),
]
OF_CHANCES = [
    *("roc_auc", "average_precision", "log_loss", "brier", "c_at_1"),
    {"name": "f1", "threshold": 0.4},
]
OF_SHARES = [
    *("log_loss", "brier", "ece", "roc_auc", "average_precision", "accuracy"),
    {"name": "top_k_accuracy", "k": 2},
]
OF_SCALED = [{"name": "mase", "scale": "scale"}, {"name": "mae", "weight": "weight"}]
OF_RANKINGS = [
    *("ndcg", "ap", "rr", "r_precision"),
    *({"name": name, "cutoff": 3} for name in ("precision_at", "recall_at", "ndcg")),
]
FURTHER: dict[str, tuple[dict[str, Any], Maker]] = {
    "labels": (declaration(ORDERED, OF_LABELS), table("id,level", label, label)),
    "sets of labels": (
        declaration([{"field": "levels", "type": "labels", "values": LABELS}], ["jaccard", "f1", "set_f1"]),
        table("id,levels", several, several),
    ),
    "clusters": (
        declaration([{"field": "cluster", "type": "string"}], ["ari", "nmi", "v_measure"]),
        table("id,cluster", label, label),
    ),
    "numbers": (
        declaration([{"field": "value", "type": "number", "min": 0}], OF_NUMBERS),
        table("id,value", number, number),
    ),
    "probabilities": (declaration(PROBABILITY, [of_gold(metric, "toxic", "1") for metric in OF_CHANCES]), chances),
    "shares": (declaration(SHARES, [of_gold(metric, "level") for metric in OF_SHARES]), shares),
    "scaled numbers": (declaration([{"field": "value", "type": "number"}], OF_SCALED), scaled),
    "texts": (declaration([{"field": "text", "type": "text"}], OF_TEXTS), table("id,text", sentence, sentence)),
    "tags": (
        declaration([{"field": "tags", "type": "tags"}], ["span_f1", "span_precision", "span_recall"]),
        table("id,tags", tags, tags),
    ),
    "spans": (
        declaration([{"field": "spans", "type": "spans"}], ["set_f1", "span_iou"]),
        table("id,spans", spans, spans),
    ),
    "rankings": (
        {
            **declaration([], OF_RANKINGS, key="query", rows="many"),
            "submission": {"file": "answers.csv", "key": "query", "rows": "many", "fields": RANKED},
        },
        ranking,
    ),
}
