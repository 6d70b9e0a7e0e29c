"""Means of means, weighted groups, lists of numbers and labels, open vocabularies: computed anew by libraries."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk
from scipy import stats

from declared import organiser
from scoring_kit.errors import OrganiserError, SubmissionError
from scoring_kit.results import ConfusionMatrix
from tests.scoring_programs.declared.declaring import (
    by_id,
    columns_of,
    csv_of,
    faults_of,
    one_table,
    one_task,
    refused,
    request_of,
    score,
    template_of,
)
from tests.scoring_programs.declared.resampled import score_and_resample, units_of
from tests.scoring_programs.framed import write_files


def ccc(gold: Any, predicted: Any) -> float:
    x, y = np.array(gold), np.array(predicted)
    return float(2 * ((x - x.mean()) * (y - y.mean())).mean() / (x.var() + y.var() + (x.mean() - y.mean()) ** 2))


OF_MEANS: dict[str, Any] = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
    "ccc": ccc,
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "r2": sk.r2_score,
}


@pytest.mark.parametrize("name", OF_MEANS)
def test_gold_and_answers_are_averaged_before_the_metric(name: str, tmp_path: Path) -> None:
    rng = random.Random(1)
    rows: list[list[Any]] = [
        [f"k{i}", rng.gauss(0, 2) if i % 9 else "", f"s{rng.randrange(6)}", "ab"[i % 2]] for i in range(60)
    ]
    answers = [[row[0], (row[1] or 0) + rng.gauss(0, 1)] for row in rows]
    columns = {
        "all": {"name": name, "mean_by": "system"},
        "by": {"name": name, "mean_by": "system", "by": "lang"},
        "some": {"name": name, "mean_by": "system", "where": {"lang": "a"}},
    }
    options = one_table([{"field": "x", "type": "number"}], columns, reference={"file": "gold.csv", "empty": "skip"})
    gold = csv_of("id,x,system,lang", rows)
    found = score_and_resample(options, gold, csv_of("id,x", answers), tmp_path)

    def expected(langs: str) -> float:
        of_system: dict[str, list[tuple[float, float]]] = {}
        for (_, x, system, lang), (_, y) in zip(rows, answers, strict=True):
            if lang in langs and x != "":
                of_system.setdefault(system, []).append((x, y))
        means = [np.mean(pairs, axis=0) for pairs in of_system.values()]
        return float(OF_MEANS[name](*np.transpose(means)))

    assert found.value("all") == pytest.approx(expected("ab"))
    assert found.value("some") == pytest.approx(expected("a"))
    assert found.value("by") == pytest.approx((expected("a") + expected("b")) / 2)
    statistic = units_of(found).statistics["all"]
    joined = statistic.to_exchange().joined(statistic.to_exchange())
    (value,) = joined.over(np.concatenate([np.ones(60), np.zeros(60)])[np.newaxis])
    assert value == pytest.approx(found.value("all"))


def test_groups_weigh_as_many_keys_as_are_scored(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [
        [f"k{i}", rng.choice(["a", "b", "c", ""]), rng.choice("ab"), "pqqrrr"[i % 6], rng.choice("uv")]
        for i in range(60)
    ]
    answers = [[row[0], *(rng.choice("abc") for _ in range(2))] for row in rows]
    weighted = {"by": "g", "by_weight": True}
    metrics: dict[str, Any] = {
        "f1": {"name": "f1", "field": "x", **weighted},
        "both": {"name": "accuracy", "fields": ["x", "y"], **weighted},
        "where": {"name": "accuracy", "field": "x", "where": {"h": "u"}, **weighted},
        "own": {"name": "metrics.py:some", "per": "key", **weighted},
    }
    fields = [{"field": name, "type": "label", "values": ["a", "b", "c"]} for name in "xy"]
    code = "def some(gold, predicted):\n    return None if gold['x'] == 'c' else float(gold['x'] == predicted['x'])\n"
    skip = {"file": "gold.csv", "empty": "skip"}
    options = one_table(fields, metrics, reference=skip, folder=tmp_path, code=code, file="p.csv")
    gold = csv_of("id,x,y,g,h", rows)
    found = score_and_resample(options, gold, {"p.csv": csv_of("id,x,y", answers)}, tmp_path)

    def mean(metric: Any, at: int, keep: Any) -> float:
        values, sizes = [], []
        for group in "pqr":
            own = [i for i, row in enumerate(rows) if row[3] == group and row[at] and keep(row)]
            if own:
                values.append(metric([rows[i][at] for i in own], [answers[i][at] for i in own]))
                sizes.append(len(own))
        return float(np.average(values, weights=sizes))

    f1 = mean(lambda g, p: sk.f1_score(g, p, average="macro", zero_division=0), 1, lambda row: True)
    assert found.value("f1") == pytest.approx(f1)
    accuracies = [mean(sk.accuracy_score, at, lambda row: True) for at in (1, 2)]
    assert found.value("both") == pytest.approx(sum(accuracies) / 2)
    assert found.value("where") == pytest.approx(mean(sk.accuracy_score, 1, lambda row: row[4] == "u"))
    counted = [
        (row[1], answer[1]) for row, answer in zip(rows, answers, strict=True) if row[1] != "c"
    ]  # weighted means of means are the mean over all
    assert found.value("own") == pytest.approx(sum(a == b for a, b in counted) / len(counted))


WRITTEN: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "cells": ({}, {}, "id,x\n1,0 1\n2,2 2\n", "id,x\n1,0 2\n2,2 5\n"),
    "columns": ({"columns": ["a", "b"]}, {}, "id,a,b\n1,0,1\n2,2,2\n", "id,b,a\n1,2,0\n2,5,2\n"),
    "gold columns": ({}, {"fields": {"x": {"columns": ["u", "v"]}}}, "id,u,v\n1,0,1\n2,2,2\n", "id,x\n1,0 2\n2,2 5\n"),
    "no header": (
        {"columns": ["a", "b"]},
        {"header": "none", "columns": ["x", "id"]},
        "0,1,1\n2,2,2\n",
        "1,0,2\n2,2,5\n",
    ),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_lists_of_numbers_in_every_form(form: str, tmp_path: Path) -> None:
    field, reference, gold, sent = WRITTEN[form]
    keys = {"header": "none"} if form == "no header" else {}
    metrics: dict[str, Any] = {"key": "mae", "pooled": {"name": "rmse", "average": "pooled"}}
    reference = {"file": "gold.csv", **reference}
    options = one_table([{"field": "x", "type": "numbers", **field}], metrics, reference=reference, **keys)
    found = score(options, gold, sent, tmp_path)
    assert found.value("key") == (1 / 2 + 3 / 2) / 2
    assert found.value("pooled") == math.sqrt((1 + 9) / 4)
    (template,) = template_of(options, tmp_path).values()
    assert score(options, gold, template, tmp_path / "t").value("key") > 0


def test_lists_are_as_long_as_the_gold_and_within_bounds(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "numbers", "min": 0, "max": 1}], {"m": "mse"})
    gold = "id,x\n1,0 1\n2,0.5\n"
    for sent, said in (("0 1 1", "x has 3 numbers. Expected: 2, as many as the data."), ("0 1.5", "x is out of range")):
        (message,) = refused(options, gold, f"id,x\n1,{sent}\n2,0.5\n", tmp_path / sent)
        assert said in message


def test_lists_of_labels_are_as_long_as_the_gold_and_of_its_labels(tmp_path: Path) -> None:
    field = {"field": "x", "type": "tags", "scheme": "none", "values": ["0", "1"]}
    options = one_table([field], {"m": "accuracy"})
    gold = "id,x\nk0,1 0 1\nk1,0\n"
    found = score(options, gold, "id,x\nk0,1 1 1\nk1,0\n", tmp_path)
    assert found.value("m") == 3 / 4
    (matrix,) = (figure for figure in found.results["t"].figures if isinstance(figure, ConfusionMatrix))
    assert sum(map(sum, matrix.counts)) == 4
    (template,) = template_of(options, tmp_path).values()
    assert template.splitlines()[1] == "k0,0 0 0"
    for wrong, said in (("B-x 1 1", "x has an unknown label"), ("1 1 1 1", "one for each token")):
        (message,) = refused(options, gold, f"id,x\nk0,{wrong}\nk1,0\n", tmp_path / wrong)
        assert said in message


def prepared(options: dict[str, Any], gold: str, folder: Path) -> None:
    """Prepare gold as a build does."""
    (folder / "out").mkdir(parents=True)
    write_files(folder / "data", {"gold.csv": gold})
    organiser.prepare(request_of(options, source=folder / "data", out=folder / "out"))


def test_what_is_secret_of_numbers_over_columns_and_of_groups(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "x", "type": "numbers", "columns": ["a", "b"]},
        {"field": "y", "type": "number"},
    ]
    metrics = {"m": {"name": "mse", "field": "x", "by": "g"}, "n": {"name": "mae", "field": "y", "mean_by": "s"}}
    options = one_table(fields, metrics)
    prepared(options, "id,a,b,y,g,s\n1,1.5,2.5,3.5,p,q\n", tmp_path)
    files = organiser.secrets(request_of(options, reference=tmp_path / "out"))["files"]
    assert [(one["name"], one.get("columns")) for one in files] == [("gold.csv", None), ("table.columns", ["x", "y"])]


@pytest.mark.parametrize("kind", ["label", "labels"])
def test_any_text_is_an_answer_of_an_open_vocabulary(kind: str, tmp_path: Path) -> None:
    many = "".join(f"k{i},label {i}\n" for i in range(101))
    metric = "set_f1" if kind == "labels" else "accuracy"
    closed = one_table([{"field": "x", "type": kind}], {"m": metric})
    with pytest.raises(OrganiserError, match=r"x has 101 labels in the gold .* `values: any`.*`values` with those"):
        prepared(closed, f"id,x\n{many}", tmp_path)
    if kind == "label":
        prepared(one_table([{"field": "x", "type": kind}], {"m": "ari"}), f"id,x\n{many}", tmp_path / "clusters")
    options = one_table([{"field": "x", "type": kind, "values": "any"}], {"m": metric})
    prepared(options, f"id,x\n{many}", tmp_path / "open")
    assert not (tmp_path / "open/out/labels.json").exists()
    gold = "id,x\n1,a b\n2,c\n"
    found = score(options, gold, "id,x\n1,a b\n2,of my own\n", tmp_path)
    assert found.value("m") == 0.5
    assert list(found.results["t"].figures) == []
    (template,) = template_of(options, tmp_path).values()
    score(options, gold, template, tmp_path / "template-scored")
    with pytest.raises(SubmissionError, match="blanks around it"):
        score(options, gold, "id,x\n1, a b\n2,c\n", tmp_path / "blank")


def test_the_empty_text_is_an_element_of_an_open_set_in_json(tmp_path: Path) -> None:
    field = {"field": "x", "type": "labels", "values": "any"}
    options = one_table([field], {"m": "set_f1"}, file="p.jsonl", reference={"file": "gold.jsonl"})
    gold = {"gold.jsonl": '{"id": "1", "x": [""]}\n{"id": "2", "x": ["a", ""]}\n'}
    assert score(options, gold, {"p.jsonl": gold["gold.jsonl"]}, tmp_path).value("m") == 1
    with pytest.raises(SubmissionError, match="x is blank"):
        score(options, gold, {"p.jsonl": gold["gold.jsonl"].replace('[""]', '[" "]')}, tmp_path / "blank")


def test_a_label_that_no_metric_reads_has_a_template(tmp_path: Path) -> None:
    label: dict[str, Any] = {"field": "label", "type": "label", "values": ["a", "b"]}
    fields = [label, {"field": "mood", "type": "label"}]
    options = one_table(fields, {"m": {"name": "accuracy", "field": "label"}})
    gold = "id,label,mood\n1,a,x\n2,b,y\n"
    score(options, gold, "id,label,mood\n1,a,any\n2,b,thing\n", tmp_path)
    (template,) = template_of(options, tmp_path).values()
    assert score(options, gold, template, tmp_path / "scored").value("m") == 0.5


X = {"field": "x", "type": "number"}
TAGS = {"field": "x", "type": "tags"}
PAIR = {"name": "metrics.py:pair"}
FAULTS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (X, {**PAIR, "per": "row"}, "per: unknown value 'row'. Expected one of key."),
    (X, {"name": "mae", "per": "key"}, "per: is for functions of your own, metrics.py:name. Expected no per"),
    (X, {**PAIR, "gold": "x"}, "gold: is for metrics of the table: a function of your own gets every"),
    (X, {**PAIR, "weight": "w"}, "weight: is a gold column of functions with per: key"),
    (X, {**PAIR, "per": "key", "weight": 2}, "weight: expected the name of a gold column."),
    (X, {**PAIR, "per": "key", "tables": ["table"]}, "per: key is for functions of one table."),
    (X, {"name": "mae", "by_weight": True}, "by_weight: is for metrics with by, whose groups it weighs."),
    (X, {"name": "mae", "by": "g", "by_weight": "yes"}, "by_weight: expected true or false (found 'yes')."),
    (X, {"name": "mape", "mean_by": "g"}, "mean_by: mape compares no means. These do: pearson"),
    (X, {"name": "mae", "mean_by": "g", "weight": "w"}, "weight: cannot be given together with mean_by"),
    (X, {"name": "mae", "mean_by": 3}, "mean_by: expected the name of a gold column."),
    (X, {"name": "mae", "average": "pooled"}, "average: is for fields of type numbers."),
    ({"field": "x", "type": "numbers"}, {"name": "mae", "mean_by": "g"}, "mean_by: is for fields of type number"),
    (TAGS, {"name": "accuracy"}, "metric: accuracy compares labels; 'x' has tags O, B-x and I-x. Expected span_f1"),
    ({**TAGS, "scheme": "none", "values": ["a"]}, {"name": "span_f1"}, "metric: span_f1 reads O, B-x and I-x; 'x' has"),
    ({**TAGS, "scheme": "none"}, {"name": "accuracy"}, "type: a list of labels has `scheme: none` and `values`."),
    ({**TAGS, "values": ["a"]}, {"name": "span_f1"}, "type: a list of labels has `scheme: none` and `values`."),
    ({"field": "x", "type": "ordinal", "values": "any"}, {"name": "mae"}, "values: expected a list of labels, or any."),
    (
        {"field": "x", "type": "label", "values": "any"},
        {"name": "f1", "labels": "declared"},
        "labels: the field 'x' declares no values.",
    ),
]


@pytest.mark.parametrize(("field", "metric", "fault"), FAULTS, ids=[fault for _, _, fault in FAULTS])
def test_what_does_not_go_together_is_named(
    field: dict[str, Any], metric: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    (tmp_path / "metrics.py").write_text("def pair(gold, predicted):\n    return 1, 2\n", encoding="utf-8")
    found = faults_of(one_task(by_id(field), columns_of(m=metric)), tmp_path)
    assert any(f".{one}".partition(f".{fault}")[1] for one in found), found


def test_nothing_is_computed_of_an_empty_list(tmp_path: Path) -> None:
    options = one_table(
        [{"field": "x", "type": "numbers"}], {"m": "mse"}, file="p.jsonl", reference={"file": "g.jsonl"}
    )
    gold = {"g.jsonl": '{"id": "1", "x": []}\n{"id": "2", "x": [2]}\n'}
    sent = {"p.jsonl": '{"id": "1", "x": []}\n{"id": "2", "x": [4]}\n'}
    assert score(options, gold, sent, tmp_path).value("m") == 2
