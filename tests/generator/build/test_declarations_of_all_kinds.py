"""Declarations written from the contract alone: each builds without force, and scores what was computed independently.

Every kind of answers with all its metrics (`oracles`), and shapes of files: expected values come from the libraries
called directly, or from a few lines of Python.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sklearn import metrics as sk

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from scoring_kit import frame
from tests.generator.after.report.declared_task import declared_task
from tests.scoring_programs.declared.oracles import KINDS
from tests.scoring_programs.declared.test_oracles import drawn
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


def relations_of(rng: random.Random) -> tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str]]]]:
    names = [f"e{i}" for i in range(9)]
    gold = {one: [(name, rng.choice("abc")) for name in rng.sample(names, rng.randint(1, 4))] for one in IDS[:20]}
    sent = {one: [row if rng.random() < 0.7 else (row[0], "c") for row in rows] for one, rows in gold.items()}
    return gold, sent


def flat(rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> list[list[Any]]:
    return [[key, *row] for key, own in rows.items() for row in own]


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


FIRST = ("an_own_function_of_many_rows", "lines_of_text_without_keys", "raw_tweets_without_quotes")


@pytest.mark.parametrize("name", sweep(CASES, FIRST))
def test_it_builds_and_scores_as_computed_independently(name: str, tmp_path: Path) -> None:
    made = CASES[name](random.Random(name))
    assert scored(made, tmp_path) == pytest.approx(dict(made.expected), abs=1e-9)


@pytest.mark.parametrize("name", sweep(KINDS, ("open_labels", "probability", "rankings_by_score", "spans")))
def test_all_metrics_of_a_kind_are_packed(name: str, tmp_path: Path) -> None:
    made = drawn(KINDS[name], 2, 40, ["alone"])
    submission = {**made.submission, "fields": [{"meaning": "A field.", **one} for one in made.submission["fields"]]}
    case = Case(submission, columns(**made.metrics), made.gold, made.answers, {}, made.reference)
    found = scored(case, tmp_path)
    assert found == pytest.approx({key: value() for key, value in made.expected.items()}, abs=1e-9)


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
