"""Declarations written from the contract alone: each builds without force, and scores what was computed independently.

Shapes, formats, types, keys, missing rows, tables, groups and own functions are mixed. Expected values come from
scikit-learn and SciPy called directly, or from a few lines of Python.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from scoring_kit import frame
from tests.generator.after.report.declared_task import declared_task
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "forked_python")]

IDS = [f"x{i:03}" for i in range(48)]
LANGUAGES = ["swa", "yor", "amh"]
Files = Mapping[str, str]
Rows = Sequence[Sequence[Any]]


@dataclass
class Case:
    """A competition with one phase, a submission to it, and the scores that it must get."""

    submission: dict[str, Any]
    columns: Sequence[dict[str, Any]]
    gold: Files
    answers: Files
    expected: Mapping[str, float]
    reference: dict[str, Any] | None = None
    code: str = ""
    public: Files = field(default_factory=dict)
    layout: str = "joint"
    tasks: list[dict[str, Any]] | None = None


CASES: dict[str, Callable[[random.Random], Case]] = {}


def case(make: Callable[[random.Random], Case]) -> Callable[[random.Random], Case]:
    CASES[make.__name__] = make
    return make


def table_text(header: str, rows: Rows, delimiter: str = ",") -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerows([header.split(","), *rows])
    return buffer.getvalue()


def lines(header: str, rows: Rows) -> str:
    return "".join(json.dumps(dict(zip(header.split(","), row, strict=True))) + "\n" for row in rows)


def string(*names: str) -> list[dict[str, Any]]:
    return [{"field": name, "type": "string", "required": True, "meaning": "An id."} for name in names]


def answer(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"field": name, "type": kind, "required": True, "meaning": "The answer.", **more}


def columns(**metrics: Any) -> list[dict[str, Any]]:
    return [{"key": key, "metric": metric} for key, metric in metrics.items()]


def texts_of(rng: random.Random) -> str:
    words = ["river", "stone", "cloud", "paper", "green", "quick", "night", "sugar", "metal", "north"]
    return table_text("id,text", [[one, " ".join(rng.choices(words, k=8))] for one in IDS])


def labels_of(rng: random.Random, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    gold = [*values, *rng.choices(values, k=len(IDS) - len(values))]
    rng.shuffle(gold)
    return gold, [value if rng.random() < 0.6 else rng.choice(values) for value in gold]


def shuffled(rng: random.Random, *columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    return rng.sample(list(zip(*columns, strict=True)), len(columns[0]))


@case
def labels_in_csv(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["neg", "neu", "pos"])
    return Case(
        {
            "file": "p.csv",
            "key": "id",
            "fields": [*string("id"), answer("label", "label", values=["neg", "neu", "pos"])],
        },
        columns(f1="f1", acc="accuracy", mcc="mcc", weighted={"name": "f1", "average": "weighted"}),
        {"gold.csv": table_text("id,label", list(zip(IDS, gold, strict=True)))},
        {"p.csv": table_text("id,label", shuffled(rng, IDS, sent))},
        {
            "f1": sk.f1_score(gold, sent, average="macro"),
            "acc": sk.accuracy_score(gold, sent),
            "mcc": sk.matthews_corrcoef(gold, sent),
            "weighted": sk.f1_score(gold, sent, average="weighted"),
        },
        public={"inputs.csv": texts_of(rng)},
    )


@case
def groups_of_labels_in_json_lines(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["a", "b"])
    groups = [LANGUAGES[i % 3] for i in range(len(IDS))]
    of = {}
    for language in LANGUAGES:
        at = [i for i, one in enumerate(groups) if one == language]
        of[language] = sk.f1_score([gold[i] for i in at], [sent[i] for i in at], average="macro")
    f1 = {"name": "f1", "field": "label"}
    return Case(
        {"file": "p.jsonl", "key": "id", "fields": [*string("id"), answer("label", "label")]},
        columns(mean={**f1, "by": "language"}, swa={**f1, "where": {"language": "swa"}}),
        {"gold.csv": table_text("id,label,language", list(zip(IDS, gold, groups, strict=True)))},
        {"p.jsonl": lines("label,id", shuffled(rng, sent, IDS))},
        {"mean": float(np.mean(list(of.values()))), "swa": of["swa"]},
        public={"test/inputs.csv": table_text("id,language", list(zip(IDS, groups, strict=True)))},
    )


@case
def raw_tweets_without_quotes(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["ironic", "sincere"])
    tweets = [f'he said "{rng.choice(["so", "no"])} #{i}' for i in range(len(IDS))]
    tab = "".join("\t".join(row) + "\n" for row in [("id", "tweet", "label"), *zip(IDS, tweets, gold, strict=True)])
    return Case(
        {"file": "p.tsv", "key": "id", "quoting": "none", "fields": [*string("id"), answer("label", "label")]},
        columns(binary={"name": "f1", "average": "binary", "positive": "ironic"}),
        {"gold.tsv": tab},
        {"p.tsv": table_text("id,label", shuffled(rng, IDS, sent), "\t")},
        {"binary": sk.f1_score(gold, sent, pos_label="ironic")},
        reference={"file": "gold.tsv", "quoting": "none", "public": ["tweet"]},
        public={
            "tweets.tsv": "".join("\t".join(row) + "\n" for row in [("id", "tweet"), *zip(IDS, tweets, strict=True)])
        },
    )


@case
def one_json_object_of_grades(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, [0, 1, 2, 3])
    return Case(
        {"file": "p.json", "key": "id", "fields": [*string("id"), answer("grade", "label", values=[0, 1, 2, 3])]},
        columns(
            qwk={"name": "kappa", "weights": "quadratic"},
            linear={"name": "kappa", "weights": "linear"},
            ba="balanced_accuracy",
        ),
        {"gold.json": json.dumps([{"id": one, "grade": value} for one, value in zip(IDS, gold, strict=True)])},
        {"p.json": json.dumps({one: {"grade": value} for one, value in shuffled(rng, IDS, sent)})},
        {
            "qwk": sk.cohen_kappa_score(gold, sent, weights="quadratic"),
            "linear": sk.cohen_kappa_score(gold, sent, weights="linear"),
            "ba": sk.balanced_accuracy_score(gold, sent),
        },
        reference={"file": "gold.json"},
    )


@case
def plain_lines_of_labels(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["yes", "no"])
    return Case(
        {"file": "p.txt", "key": "id", "fields": [*string("id"), answer("label", "label")]},
        columns(acc="accuracy"),
        {"gold.csv": table_text("id,label", list(zip(IDS, gold, strict=True)))},
        {"p.txt": "".join(f"{label}\n" for label in sent)},
        {"acc": sk.accuracy_score(gold, sent)},
    )


@case
def lines_of_text_without_keys(rng: random.Random) -> Case:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    words = ["the", "a", "cat", "dog", "sat", "on", "mat", "under", "tree", "sleeps", "runs", "quickly", "home"]
    gold = [" ".join(rng.choices(words, k=9)) for _ in range(30)]
    sent = [" ".join(word if rng.random() < 0.7 else rng.choice(words) for word in text.split()) for text in gold]
    return Case(
        {"file": "out.txt", "fields": [answer("text", "text")]},
        columns(bleu="bleu", chrf="chrf"),
        {"gold.txt": "".join(f"{text}\n" for text in gold)},
        {"out.txt": "\r\n".join(sent)},
        {"bleu": BLEU().corpus_score(sent, [gold]).score, "chrf": CHRF().corpus_score(sent, [gold]).score},
        reference={"file": "gold.txt"},
    )


def sets_of(rng: random.Random, values: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    gold = [[value for value in values if rng.random() < 0.4] for _ in IDS]
    return gold, [[value for value in values if (value in one) is (rng.random() < 0.75)] for one in gold]


def multi(gold: list[list[str]], sent: list[list[str]], values: list[str]) -> tuple[Any, Any]:
    binarizer = MultiLabelBinarizer(classes=values)
    return binarizer.fit_transform(gold), binarizer.transform(sent)


@case
def sets_of_labels_in_cells(rng: random.Random) -> Case:
    values = ["joy", "fear", "anger", "trust"]
    gold, sent = sets_of(rng, values)
    field = answer("emotions", "labels", values=values, separator=";")
    matrices = multi(gold, sent, values)
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), field]},
        columns(micro={"name": "f1", "average": "micro"}, jaccard="jaccard", exact="exact_match"),
        {
            "gold.csv": table_text(
                "id,emotions", [[one, ";".join(labels)] for one, labels in zip(IDS, gold, strict=True)]
            )
        },
        {"p.csv": table_text("id,emotions", [[one, ";".join(labels)] for one, labels in shuffled(rng, IDS, sent)])},
        {
            "micro": sk.f1_score(*matrices, average="micro", zero_division=0),
            "jaccard": float(
                np.mean(
                    [
                        len(set(g) & set(p)) / len(set(g) | set(p)) if g or p else 1
                        for g, p in zip(gold, sent, strict=True)
                    ]
                )
            ),
            "exact": float(np.mean([set(g) == set(p) for g, p in zip(gold, sent, strict=True)])),
        },
    )


@case
def sets_of_labels_in_json(rng: random.Random) -> Case:
    values = ["a", "b", "c"]
    gold, sent = sets_of(rng, values)
    matrices = multi(gold, sent, values)
    macro = {"name": "f1", "average": "macro", "labels": "declared"}
    return Case(
        {"file": "p.jsonl", "key": "id", "fields": [*string("id"), answer("topics", "labels", values=values)]},
        columns(macro=macro, recall={"name": "set_recall", "average": "micro"}),
        {"gold.jsonl": lines("id,topics", list(zip(IDS, gold, strict=True)))},
        {"p.jsonl": lines("id,topics", shuffled(rng, IDS, sent))},
        {
            "macro": sk.f1_score(*matrices, average="macro", zero_division=0),
            "recall": sk.recall_score(*matrices, average="micro", zero_division=0),
        },
        reference={"file": "gold.jsonl"},
    )


@case
def numbers_by_group(rng: random.Random) -> Case:
    gold = [round(rng.gauss(5, 2), 3) for _ in IDS]
    sent = [round(value + rng.gauss(0, 1), 3) for value in gold]
    groups = [LANGUAGES[i % 3] for i in range(len(IDS))]
    parts = [[i for i, one in enumerate(groups) if one == name] for name in LANGUAGES]
    correlations = [stats.pearsonr([gold[i] for i in part], [sent[i] for i in part]).statistic for part in parts]
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("x", "number")]},
        columns(rmse="rmse", r2="r2", rho="spearman", tau="kendall", mean={"name": "pearson", "by": "language"}),
        {"gold.tsv": table_text("id,x,language", list(zip(IDS, gold, groups, strict=True)), "\t")},
        {"p.csv": table_text("id,x", shuffled(rng, IDS, sent))},
        {
            "rmse": math.sqrt(sk.mean_squared_error(gold, sent)),
            "r2": sk.r2_score(gold, sent),
            "rho": stats.spearmanr(gold, sent).statistic,
            "tau": stats.kendalltau(gold, sent).statistic,
            "mean": float(np.mean(correlations)),
        },
        reference={"file": "gold.tsv", "cluster": "language"},
    )


@case
def forecasts_by_series_and_step(rng: random.Random) -> Case:
    keys = [(f"s{i}", str(step)) for i in range(8) for step in range(1, 7)]
    gold = [round(rng.uniform(10, 20), 2) for _ in keys]
    sent = [round(value * rng.uniform(0.8, 1.2), 3) for value in gold]
    early = [i for i, key in enumerate(keys) if int(key[1]) <= 3]
    fields = [*string("series", "step"), answer("value", "number", min=0)]
    return Case(
        {"file": "forecast.csv", "key": ["series", "step"], "fields": fields},
        columns(mae="mae", early={"name": "mae", "where": {"step": {"max": 3}}}, mse="mse"),
        {"gold.csv": table_text("series,step,value", [[*key, value] for key, value in zip(keys, gold, strict=True)])},
        {"forecast.csv": table_text("series,step,value", [[*key, value] for key, value in shuffled(rng, keys, sent)])},
        {
            "mae": sk.mean_absolute_error(gold, sent),
            "early": sk.mean_absolute_error([gold[i] for i in early], [sent[i] for i in early]),
            "mse": sk.mean_squared_error(gold, sent),
        },
        public={"test/skeleton.csv": table_text("series,step", keys)},
    )


@case
def probabilities_against_labels(rng: random.Random) -> Case:
    gold, _ = labels_of(rng, ["toxic", "fine"])
    sent = [round(min(1, max(0, (label == "toxic") * 0.4 + rng.random() * 0.6)), 3) for label in gold]
    truth = [label == "toxic" for label in gold]
    metrics = {
        name: {"name": name, "positive": "toxic", "gold": "label"}
        for name in ("roc_auc", "average_precision", "brier", "log_loss")
    }
    clipped = [min(max(value, np.finfo(float).eps), 1 - np.finfo(float).eps) for value in sent]
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("p", "number", min=0, max=1)]},
        columns(**metrics),
        {"gold.csv": table_text("id,label", list(zip(IDS, gold, strict=True)))},
        {"p.csv": table_text("id,p", shuffled(rng, IDS, sent))},
        {
            "roc_auc": sk.roc_auc_score(truth, sent),
            "average_precision": sk.average_precision_score(truth, sent),
            "brier": float(np.mean([(value - one) ** 2 for value, one in zip(sent, truth, strict=True)])),
            "log_loss": sk.log_loss(truth, clipped),
        },
    )


def tags_of(rng: random.Random) -> tuple[list[list[str]], list[set[tuple[int, int, str]]]]:
    rows, spans = [], []
    for _ in IDS:
        tags: list[str] = []
        own = set()
        while len(tags) < 8:
            kind, length = rng.choice(["PER", "LOC"]), rng.choice([1, 2])
            if rng.random() < 0.5 and len(tags) + length <= 8:
                own.add((len(tags), len(tags) + length, kind))
                tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
            else:
                tags.append("O")
        rows.append(tags)
        spans.append(own)
    return rows, spans


def ratios(gold: Sequence[Any], sent: Sequence[Any]) -> tuple[float, float, float]:
    """Precision, recall and F1 of sets, over all keys."""
    shared = sum(len(set(g) & set(p)) for g, p in zip(gold, sent, strict=True))
    given, there = sum(map(len, sent)), sum(map(len, gold))
    return shared / given, shared / there, 2 * shared / (given + there)


@case
def tags_of_tokens(rng: random.Random) -> Case:
    (gold, gold_spans), (sent, sent_spans) = tags_of(rng), tags_of(rng)
    for place in range(0, len(IDS), 2):
        sent[place], sent_spans[place] = gold[place], gold_spans[place]
    precision, recall, f1 = ratios(gold_spans, sent_spans)
    return Case(
        {"file": "p.jsonl", "key": "id", "fields": [*string("id"), answer("tags", "tags")]},
        columns(f1="span_f1", p="span_precision", r="span_recall"),
        {"gold.csv": table_text("id,tags", [[one, " ".join(tags)] for one, tags in zip(IDS, gold, strict=True)])},
        {"p.jsonl": lines("id,tags", shuffled(rng, IDS, sent))},
        {"f1": f1, "p": precision, "r": recall},
    )


def spans_of(rng: random.Random) -> list[list[list[Any]]]:
    made = []
    for _ in IDS:
        starts = sorted(rng.sample(range(0, 40, 4), 3))
        made.append([[start, start + rng.randint(1, 4), rng.choice("ab")] for start in starts])
    return made


@case
def spans_of_characters(rng: random.Random) -> Case:
    gold, sent = spans_of(rng), spans_of(rng)
    for place in range(0, len(IDS), 3):
        sent[place] = gold[place]
    exact = [[tuple(span) for span in spans] for spans in (*gold, *sent)]
    covered = [[(at, kind) for start, end, kind in spans for at in range(start, end)] for spans in (*gold, *sent)]
    half = len(IDS)
    macro = [2 * len({*g} & {*p}) / (len({*g}) + len({*p})) for g, p in zip(exact[:half], exact[half:], strict=True)]
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("spans", "spans")]},
        columns(
            f1="set_f1",
            macro={"name": "set_f1", "average": "macro"},
            chars={"name": "set_recall", "match": "characters"},
        ),
        {"gold.jsonl": lines("id,spans", list(zip(IDS, gold, strict=True)))},
        {"p.csv": table_text("id,spans", [[one, json.dumps(spans)] for one, spans in shuffled(rng, IDS, sent)])},
        {
            "f1": ratios(exact[:half], exact[half:])[2],
            "macro": float(np.mean(macro)),
            "chars": ratios(covered[:half], covered[half:])[1],
        },
        reference={"file": "gold.jsonl"},
    )


def relations_of(rng: random.Random) -> tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str]]]]:
    names = [f"e{i}" for i in range(9)]
    gold = {one: [(name, rng.choice("abc")) for name in rng.sample(names, rng.randint(1, 4))] for one in IDS[:20]}
    sent = {one: [row if rng.random() < 0.7 else (row[0], "c") for row in rows] for one, rows in gold.items()}
    return gold, sent


def flat(rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> list[list[Any]]:
    return [[key, *row] for key, own in rows.items() for row in own]


@case
def relations_with_a_table_of_all_documents(rng: random.Random) -> Case:
    gold, sent = relations_of(rng)
    del gold[IDS[3]], sent[IDS[5]]
    sets = [[set(side.get(one, ())) for one in IDS[:20]] for side in (gold, sent)]
    precision, _, f1 = ratios(*sets)
    fields = [*string("doc", "entity"), answer("kind", "label", values=["a", "b", "c"])]
    return Case(
        {"file": "p.tsv", "key": "doc", "rows": "many", "fields": fields},
        columns(f1="set_f1", p="set_precision", exact="exact_match"),
        {
            "gold.tsv": table_text("doc,entity,kind", flat(gold), "\t"),
            "docs.csv": table_text("doc", [[one] for one in IDS[:20]]),
        },
        {"p.tsv": table_text("doc,entity,kind", rng.sample(flat(sent), len(flat(sent))), "\t")},
        {"f1": f1, "p": precision, "exact": float(np.mean([g == p for g, p in zip(*sets, strict=True)]))},
        reference={"file": "gold.tsv", "keys": "docs.csv"},
        public={"test/docs.csv": table_text("doc,text", [[one, f"text {one}"] for one in IDS[:20]])},
    )


@case
def relations_of_which_every_document_has_some(rng: random.Random) -> Case:
    gold, sent = relations_of(rng)
    sets = [[set(side[one]) for one in IDS[:20]] for side in (gold, sent)]
    fields = [*string("doc", "entity"), answer("kind", "label")]
    rows = {key: [{"entity": entity, "kind": kind} for entity, kind in own] for key, own in sent.items()}
    return Case(
        {"file": "p.json", "key": "doc", "rows": "many", "missing": "reject", "fields": fields},
        columns(recall="set_recall", macro={"name": "set_f1", "average": "macro"}),
        {"gold.csv": table_text("doc,entity,kind", flat(gold))},
        {"p.json": json.dumps(rows)},
        {
            "recall": ratios(*sets)[1],
            "macro": float(np.mean([2 * len(g & p) / (len(g) + len(p)) for g, p in zip(*sets, strict=True)])),
        },
    )


def judged(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    items = [f"d{i}" for i in range(12)]
    gold = {
        f"q{i}": {"d0": 1, **{item: rng.choice([0, 0, 1, 2]) for item in rng.sample(items[1:], 6)}} for i in range(10)
    }
    return gold, {query: rng.sample(items, 8) for query in gold}


def ndcg(relevance: Mapping[str, int], ranked: Sequence[str]) -> float:
    gains = [relevance.get(item, 0) / math.log2(place + 2) for place, item in enumerate(ranked)]
    ideal = [value / math.log2(place + 2) for place, value in enumerate(sorted(relevance.values(), reverse=True))]
    return sum(gains) / sum(ideal)


def average_precision(relevance: Mapping[str, int], ranked: Sequence[str]) -> float:
    hits = [place for place, item in enumerate(ranked, start=1) if relevance.get(item, 0) > 0]
    return sum(number / place for number, place in enumerate(hits, start=1)) / sum(
        value > 0 for value in relevance.values()
    )


def mean_of(measure: Callable[[Mapping[str, int], Sequence[str]], float], gold: Any, sent: Any) -> float:
    return float(np.mean([measure(gold[query], sent[query]) for query in gold]))


def reciprocal(relevance: Mapping[str, int], ranked: Sequence[str]) -> float:
    return next((1 / place for place, item in enumerate(ranked, start=1) if relevance.get(item, 0) > 0), 0.0)


@case
def rankings_by_score(rng: random.Random) -> Case:
    gold, sent = judged(rng)
    rows = [[query, item, 10 - place] for query, items in sent.items() for place, item in enumerate(items)]
    return Case(
        {
            "file": "run.tsv",
            "key": "query",
            "rows": "many",
            "fields": [*string("query", "item"), answer("score", "number")],
        },
        columns(ndcg="ndcg", map="ap", mrr="rr"),
        {
            "qrels.csv": table_text(
                "query,item,relevance", [[q, *pair] for q, own in gold.items() for pair in own.items()]
            )
        },
        {"run.tsv": table_text("query,item,score", rng.sample(rows, len(rows)), "\t")},
        {
            "ndcg": mean_of(ndcg, gold, sent),
            "map": mean_of(average_precision, gold, sent),
            "mrr": mean_of(reciprocal, gold, sent),
        },
        reference={"file": "qrels.csv"},
    )


@case
def rankings_in_the_order_of_rows(rng: random.Random) -> Case:
    gold, sent = judged(rng)
    metrics = columns(
        p={"name": "precision_at", "cutoff": 3, "item": "doc", "relevance": "grade"},
        r={"name": "recall_at", "cutoff": 5, "item": "doc", "relevance": "grade"},
    )

    def hits(relevance: Mapping[str, int], ranked: Sequence[str]) -> int:
        return sum(relevance.get(item, 0) > 0 for item in ranked)

    precision = [hits(gold[q], sent[q][:3]) / 3 for q in gold]
    recall = [hits(gold[q], sent[q][:5]) / sum(value > 0 for value in gold[q].values()) for q in gold]
    return Case(
        {"file": "run.jsonl", "key": "topic", "rows": "many", "fields": string("topic", "doc")},
        metrics,
        {
            "qrels.tsv": table_text(
                "topic,doc,grade", [[q, *pair] for q, own in gold.items() for pair in own.items()], "\t"
            )
        },
        {"run.jsonl": lines("topic,doc", [[q, item] for q, items in sent.items() for item in items])},
        {"p": float(np.mean(precision)), "r": float(np.mean(recall))},
        reference={"file": "qrels.tsv"},
    )


def overlap(reference: str, text: str) -> float:
    shared = sum((Counter(reference.split()) & Counter(text.split())).values())
    return 2 * shared / (len(reference.split()) + len(text.split())) if shared else 0.0


@case
def answers_with_several_references(rng: random.Random) -> Case:
    words = ["alpha", "beta", "gamma", "delta", "epsilon"]
    gold = [[" ".join(rng.choices(words, k=rng.randint(1, 3))) for _ in range(2)] for _ in IDS]
    sent = [" ".join(rng.choices(words, k=2)) for _ in IDS]
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("reply", "text")]},
        columns(
            f1={"name": "token_f1", "normalise": "none"}, exact="exact_match", rouge={"name": "rouge", "type": "rouge1"}
        ),
        {"gold.jsonl": lines("id,reply", list(zip(IDS, gold, strict=True)))},
        {"p.csv": table_text("id,reply", shuffled(rng, IDS, sent))},
        {
            "f1": float(
                np.mean([max(overlap(one, text) for one in own) for own, text in zip(gold, sent, strict=True)])
            ),
            "exact": float(np.mean([text in own for own, text in zip(gold, sent, strict=True)])),
            "rouge": float(
                np.mean([max(overlap(one, text) for one in own) for own, text in zip(gold, sent, strict=True)])
            ),
        },
        reference={"file": "gold.jsonl"},
    )


def distance(one: Sequence[Any], two: Sequence[Any]) -> int:
    row = list(range(len(two) + 1))
    for i, left in enumerate(one, start=1):
        previous, row = row, [i]
        for j, right in enumerate(two, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (left != right)))
    return row[-1]


@case
def transcripts(rng: random.Random) -> Case:
    words = ["one", "two", "three", "four", "five", "six"]
    gold = [" ".join(rng.choices(words, k=6)) for _ in IDS]
    sent = [" ".join(word for word in text.split() if rng.random() < 0.8) + " one" for text in gold]
    pairs = list(zip(gold, sent, strict=True))
    return Case(
        {"file": "p.jsonl", "key": "id", "fields": [*string("id"), answer("said", "text")]},
        columns(wer="wer", cer="cer"),
        {"gold.tsv": table_text("id,said", list(zip(IDS, gold, strict=True)), "\t")},
        {"p.jsonl": lines("id,said", shuffled(rng, IDS, sent))},
        {
            "wer": sum(distance(g.split(), p.split()) for g, p in pairs) / sum(len(g.split()) for g, _ in pairs),
            "cer": sum(distance(g, p) for g, p in pairs) / sum(len(g) for g, _ in pairs),
        },
        reference={"file": "gold.tsv"},
    )


@case
def three_answers_together(rng: random.Random) -> Case:
    (a, a2), (b, b2), (c, c2) = labels_of(rng, ["x", "y"]), labels_of(rng, [0, 1]), labels_of(rng, ["m", "n"])
    fields = [*string("id"), answer("a", "label"), answer("b", "label"), answer("c", "string")]
    return Case(
        {"file": "p.csv", "key": "id", "fields": fields},
        columns(
            joint={"name": "exact_match", "fields": ["a", "b", "c"]},
            two={"name": "exact_match", "fields": ["a", "b"]},
            mean={"name": "accuracy", "fields": ["a", "b"]},
        ),
        {"gold.csv": table_text("id,a,b,c", list(zip(IDS, a, b, c, strict=True)))},
        {"p.csv": table_text("id,c,b,a", shuffled(rng, IDS, c2, b2, a2))},
        {
            "joint": float(
                np.mean([g == p for g, p in zip(zip(a, b, c, strict=True), zip(a2, b2, c2, strict=True), strict=True)])
            ),
            "two": float(
                np.mean([g == p for g, p in zip(zip(a, b, strict=True), zip(a2, b2, strict=True), strict=True)])
            ),
            "mean": (sk.accuracy_score(a, a2) + sk.accuracy_score(b, b2)) / 2,
        },
    )


def two_tables(rng: random.Random, layout: str) -> Case:
    gold, sent = labels_of(rng, ["a", "b", "c"])
    numbers = [round(rng.random(), 3) for _ in range(20)]
    guesses = [round(value + rng.gauss(0, 0.1), 3) for value in numbers]
    one = {
        "file": "labels.csv",
        "key": "id",
        "reference": {"file": "labels.csv"},
        "fields": [*string("id"), answer("label", "label")],
    }
    two = {
        "file": "scores.tsv",
        "key": "item",
        "reference": {"file": "scores.tsv"},
        "fields": [*string("item"), answer("x", "number")],
    }
    f1 = sk.f1_score(gold, sent, average="macro")
    pearson = stats.pearsonr(numbers, guesses).statistic
    tasks: list[dict[str, Any]] = [
        {"id": "sort", "name": "Sort", "columns": columns(f1={"name": "f1", "table": "labels"})},
        {"id": "rate", "name": "Rate", "columns": columns(pearson={"name": "pearson", "table": "scores"})},
    ]
    if layout == "joint":
        tasks[0]["columns"].append({"key": "mean", "computation": "avg", "of": ["f1", "pearson"]})
    items = [f"i{i}" for i in range(20)]
    files = {
        "labels.csv": table_text("id,label", list(zip(IDS, gold, strict=True))),
        "scores.tsv": table_text("item,x", list(zip(items, numbers, strict=True)), "\t"),
    }
    answers = {
        "labels.csv": table_text("id,label", shuffled(rng, IDS, sent)),
        "scores.tsv": table_text("item,x", shuffled(rng, items, guesses), "\t"),
    }
    return Case(
        {"tables": {"labels": one, "scores": two}},
        [],
        files,
        answers,
        {"f1": f1, "pearson": pearson},
        layout=layout,
        tasks=tasks,
    )


@case
def two_tables_together(rng: random.Random) -> Case:
    return two_tables(rng, "joint")


@case
def two_tables_in_tasks(rng: random.Random) -> Case:
    return two_tables(rng, "tasks")


@case
def two_tables_apart(rng: random.Random) -> Case:
    return two_tables(rng, "separate")


@case
def one_of_two_tasks_of_a_table(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["a", "b"])
    kinds, _ = labels_of(rng, ["k", "l"])
    fields = [*string("id"), answer("label", "label"), answer("kind", "label")]
    tasks = [
        {"id": "a", "name": "A", "columns": columns(acc={"name": "accuracy", "field": "label"})},
        {"id": "b", "name": "B", "columns": columns(both={"name": "exact_match", "fields": ["label", "kind"]})},
    ]
    return Case(
        {"file": "p.csv", "key": "id", "fields": fields},
        [],
        {"gold.csv": table_text("id,label,kind", list(zip(IDS, gold, kinds, strict=True)))},
        {"p.csv": table_text("id,label", shuffled(rng, IDS, sent))},
        {"acc": sk.accuracy_score(gold, sent), "both": 0},
        tasks=tasks,
    )


@case
def an_own_function_with_weights_of_the_gold(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["a", "b"])
    weights = [rng.randint(1, 5) for _ in IDS]
    groups = [LANGUAGES[i % 2] for i in range(len(IDS))]
    code = """
def weighted(gold, predicted, power=1, **_):
    pairs = [(g["label"] == p["label"], float(g["weight"]) ** power) for g, p in zip(gold, predicted)]
    return sum(right * weight for right, weight in pairs) / sum(weight for _, weight in pairs)
"""

    def expected(at: Sequence[int], power: int) -> float:
        right = sum(weights[i] ** power for i in at if gold[i] == sent[i])
        return float(right / sum(weights[i] ** power for i in at))

    every = range(len(IDS))
    parts = [[i for i in every if groups[i] == name] for name in LANGUAGES[:2]]
    own = {"sort": "desc", "worst": 0}
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("label", "label")]},
        [
            {"key": "w", "metric": "metrics.py:weighted", **own},
            {"key": "w2", "metric": {"name": "metrics.py:weighted", "power": 2, "by": "language"}, **own},
        ],
        {"gold.csv": table_text("id,label,weight,language", list(zip(IDS, gold, weights, groups, strict=True)))},
        {"p.csv": table_text("id,label", shuffled(rng, IDS, sent))},
        {"w": expected(every, 1), "w2": float(np.mean([expected(part, 2) for part in parts]))},
        code=code,
    )


@case
def an_own_function_of_many_rows(rng: random.Random) -> Case:
    gold, sent = relations_of(rng)
    del sent[IDS[2]]
    code = """
def shares(gold, predicted, **_):
    values = []
    for own, answered in zip(gold, predicted):
        right = {row["entity"] for row in own} & {row["entity"] for row in answered}
        values.append(len(right) / len(own))
    return sum(values) / len(values)
"""
    shares = [
        len({row[0] for row in own} & {row[0] for row in sent.get(key, ())}) / len(own) for key, own in gold.items()
    ]
    fields = [*string("doc", "entity"), answer("kind", "label")]
    return Case(
        {"file": "p.csv", "key": "doc", "rows": "many", "fields": fields},
        [{"key": "share", "metric": "metrics.py:shares", "sort": "desc", "worst": 0}],
        {"gold.csv": table_text("doc,entity,kind", flat(gold))},
        {"p.csv": table_text("doc,entity,kind", flat(sent))},
        {"share": float(np.mean(shares))},
        code=code,
    )


@case
def an_own_error_on_hard_rows_only(rng: random.Random) -> Case:
    gold = [round(rng.uniform(1, 9), 2) for _ in IDS]
    sent = [round(value + rng.gauss(0, 1), 2) for value in gold]
    hard = [rng.random() < 0.4 for _ in IDS]
    code = """
def worst_error(gold, predicted, field="x", **_):
    return max(abs(g[field] - p[field]) for g, p in zip(gold, predicted))
"""
    metric = {"name": "metrics.py:worst_error", "field": "x", "where": {"hard": True}}
    return Case(
        {"file": "p.jsonl", "key": "id", "fields": [*string("id"), answer("x", "number")]},
        [{"key": "max", "metric": metric, "sort": "asc", "worst": 1000}, {"key": "mae", "metric": "mae"}],
        {"gold.jsonl": lines("id,x,hard", list(zip(IDS, gold, hard, strict=True)))},
        {"p.jsonl": lines("id,x", shuffled(rng, IDS, sent))},
        {
            "max": max(abs(g - p) for g, p, one in zip(gold, sent, hard, strict=True) if one),
            "mae": sk.mean_absolute_error(gold, sent),
        },
        reference={"file": "gold.jsonl"},
        code=code,
    )


@case
def labels_of_which_some_are_missing(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["a", "b"])
    given = [one for one in shuffled(rng, IDS, sent) if rng.random() < 0.7]
    known = dict(given)
    filled = [known.get(one, "") for one in IDS]
    return Case(
        {"file": "p.csv", "key": "id", "missing": "empty", "fields": [*string("id"), answer("label", "label")]},
        columns(acc="accuracy", f1={"name": "f1", "labels": "gold"}),
        {"gold.csv": table_text("id,label", list(zip(IDS, gold, strict=True)))},
        {"p.csv": table_text("id,label", given)},
        {"acc": sk.accuracy_score(gold, filled), "f1": sk.f1_score(gold, filled, average="macro", labels=["a", "b"])},
    )


@case
def texts_that_may_be_left_out(rng: random.Random) -> Case:
    gold = [rng.choice(["red", "blue", "green"]) for _ in IDS]
    sent = [rng.choice([value, "", "black"]) for value in gold]
    kinds, guesses = labels_of(rng, ["k", "l"])
    fields = [*string("id"), answer("colour", "text", required=False), answer("kind", "label", required=False)]
    return Case(
        {"file": "p.csv", "key": "id", "fields": fields},
        columns(colour={"name": "exact_match", "fields": ["colour"]}, kind={"name": "accuracy", "field": "kind"}),
        {"gold.csv": table_text("id,colour,kind", list(zip(IDS, gold, kinds, strict=True)))},
        {"p.csv": table_text("id,colour,kind", shuffled(rng, IDS, sent, guesses))},
        {
            "colour": float(np.mean([g == p for g, p in zip(gold, sent, strict=True)])),
            "kind": sk.accuracy_score(kinds, guesses),
        },
    )


@case
def three_annotators_of_one_label(rng: random.Random) -> Case:
    values = ["a", "b", "c"]
    annotators = [labels_of(rng, values)[0] for _ in range(3)]
    _, sent = labels_of(rng, values)
    metrics = columns(**{f"acc{i}": {"name": "accuracy", "field": "label", "gold": f"ann{i}"} for i in range(3)})
    metrics.append({"key": "mean", "computation": "avg", "of": ["acc0", "acc1", "acc2"]})
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("label", "label")]},
        metrics,
        {"gold.csv": table_text("id,ann0,ann1,ann2", list(zip(IDS, *annotators, strict=True)))},
        {"p.csv": table_text("id,label", shuffled(rng, IDS, sent))},
        {f"acc{i}": sk.accuracy_score(own, sent) for i, own in enumerate(annotators)},
    )


@case
def booleans_by_three_keys(rng: random.Random) -> Case:
    keys = [(f"doc{i // 8}", i // 4 % 2, i % 4) for i in range(len(IDS))]
    gold, sent = labels_of(rng, [True, False])
    fields = [*string("doc", "part", "sentence"), answer("claim", "label", values=[True, False])]
    rows = [[*key, value] for key, value in shuffled(rng, keys, sent)]
    return Case(
        {"file": "p.jsonl", "key": ["doc", "part", "sentence"], "fields": fields},
        columns(
            f1={"name": "f1", "average": "binary", "positive": True}, rest={"name": "accuracy", "where": {"part": [0]}}
        ),
        {
            "gold.jsonl": lines(
                "doc,part,sentence,claim", [[*key, value] for key, value in zip(keys, gold, strict=True)]
            )
        },
        {"p.jsonl": lines("doc,part,sentence,claim", rows)},
        {
            "f1": sk.f1_score(gold, sent),
            "rest": float(np.mean([g == p for g, p, key in zip(gold, sent, keys, strict=True) if key[1] == 0])),
        },
        reference={"file": "gold.jsonl", "cluster": "doc"},
    )


@case
def a_constant_where_nothing_is_defined(rng: random.Random) -> Case:
    gold = [rng.uniform(0, 1) for _ in IDS]
    groups = [LANGUAGES[i % 2] for i in range(len(IDS))]
    sent = [0.5 if name == LANGUAGES[0] else value for name, value in zip(groups, gold, strict=True)]
    metric = {"name": "pearson", "by": "language", "undefined": 0}
    return Case(
        {"file": "p.csv", "key": "id", "fields": [*string("id"), answer("x", "number", min=0, max=1)]},
        columns(r=metric),
        {"gold.csv": table_text("id,x,language", list(zip(IDS, gold, groups, strict=True)))},
        {"p.csv": table_text("id,x", shuffled(rng, IDS, sent))},
        {"r": 0.5},
    )


@case
def rows_without_a_header_line(rng: random.Random) -> Case:
    gold, sent = labels_of(rng, ["positive", "negative", "neutral"])
    languages = [LANGUAGES[i % 2] for i in range(len(IDS))]
    rows = list(zip(IDS, gold, ["a tweet"] * len(IDS), languages, strict=True))
    lines_of = ["# the organisers' remark", *("\t".join(row) for row in rows)]
    even = [i for i, name in enumerate(languages) if name == "swa"]
    recall = {"name": "recall", "field": "label"}
    reference = {"file": "gold.txt", "delimiter": "\t", "quoting": "none", "header": "none", "skip": 1}
    reference |= {"columns": ["id", "label", "tweet", "language"], "public": ["tweet"]}
    answers = "".join(f"{one};{label}\n" for one, label in shuffled(rng, IDS, sent))
    dialect = {"header": "none", "delimiter": ";"}
    return Case(
        {"file": "p.csv", "key": "id", **dialect, "fields": [*string("id"), answer("label", "label")]},
        columns(recall=recall, swa={**recall, "where": {"language": "swa"}}),
        {"gold.txt": "\n".join(lines_of)},
        {"p.csv": answers},
        {
            "recall": sk.recall_score(gold, sent, average="macro"),
            "swa": sk.recall_score([gold[i] for i in even], [sent[i] for i in even], average="macro", zero_division=0),
        },
        reference=reference,
        public={"test/tweets.csv": table_text("id,tweet", [[one, "a tweet"] for one in IDS])},
    )


def project(made: Case, folder: Path) -> Path:
    more: dict[str, Any] = {} if "tables" in made.submission else {"reference": made.reference or {"file": "gold.csv"}}
    if made.tasks:
        more["tasks"] = made.tasks
    place = declared_task(folder / "competition", made.submission, list(made.columns), **more)
    files = {f"data/test/{name}": text for name, text in made.gold.items()}
    files |= {f"data/public/{name}": text for name, text in made.public.items()}
    files |= {"metrics.py": made.code} if made.code else {}
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8", newline="")
    return place


FIRST = (
    "an_own_function_of_many_rows",
    "lines_of_text_without_keys",
    "probabilities_against_labels",
    "rankings_by_score",
    "sets_of_labels_in_json",
    "spans_of_characters",
    "two_tables_together",
)


@pytest.mark.parametrize("name", sweep(CASES, FIRST))
def test_it_builds_and_scores_as_computed_independently(name: str, tmp_path: Path) -> None:
    made = CASES[name](random.Random(name))
    assert scored(made, tmp_path) == pytest.approx(dict(made.expected), abs=1e-9)


def scored(made: Case, folder: Path) -> dict[str, float]:
    """What the programs of the built bundles write of the submission, each in the columns of its own tasks."""
    out = folder / ("bundles" if made.layout == "separate" else "bundle.zip")
    built = build(BuildRequest(str(project(made, folder)), out, layout=made.layout))
    assert not any(bundle.errors for bundle in built)
    found: dict[str, float] = {}
    for bundle in built:
        assert not [finding for finding in check_path(bundle.path).findings if finding.grave]
        with zipfile.ZipFile(bundle.path) as archive:
            for task in yaml.safe_load(archive.read("competition.yaml"))["tasks"]:
                place = folder / f"{bundle.path.stem}-{task['index']}"
                for part, into in (("scoring_program", "program"), ("reference_data", "input/ref")):
                    with zipfile.ZipFile(io.BytesIO(archive.read(task[part]))) as packed:
                        packed.extractall(place / into)
                found |= own_scores(place, made.answers)
    return found


def own_scores(place: Path, answers: Files) -> dict[str, float]:
    """The scores of the columns of a program's own tasks."""
    (place / "input/res").mkdir()
    for name, text in answers.items():
        (place / "input/res" / name).write_text(text, encoding="utf-8", newline="")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        assert frame.main(place / "program", [str(place / "input"), str(place / "output")]) == 0, said.getvalue()
    scores: dict[str, float] = json.loads((place / "output/scores.json").read_text(encoding="utf-8"))
    program = json.loads((place / "program/program.json").read_text(encoding="utf-8"))
    own = {column["key"] for column in program["columns"] if column["task"] in program["tasks"]}
    return {key: value for key, value in scores.items() if key in own}


def test_there_are_thirty() -> None:
    assert len(CASES) >= 30
