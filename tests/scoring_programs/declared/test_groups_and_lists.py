"""Means of means, weighted groups, lists of numbers and labels, open vocabularies: computed anew by libraries."""

from __future__ import annotations

import json
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
from scoring_kit.organiser import Request
from scoring_kit.results import ConfusionMatrix
from tests.scoring_programs.declared.declaring import csv_of, gold_faults, one_table, options_of, score
from tests.scoring_programs.declared.resampled import score_and_resample, units_of
from tests.scoring_programs.declared.test_files import template_of


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
@pytest.mark.parametrize("seed", [1, 2])
def test_gold_and_answers_are_averaged_before_the_metric(name: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
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
    found = score_and_resample(options, {"gold.csv": gold}, {"predictions.csv": csv_of("id,x", answers)}, tmp_path)

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


def test_means_over_one_group_are_a_mistake_of_the_gold(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "number"}], {"m": {"name": "mae", "mean_by": "s", "by": "g"}})
    faults = gold_faults(options, {"gold.csv": "id,x,s,g\n1,1,a,u\n2,2,b,u\n3,3,a,v\n"}, tmp_path)
    assert faults == ["gold.csv (m): s has fewer than two groups in the group v, of whose means nothing is defined"]


@pytest.mark.parametrize("seed", [3, 4])
def test_groups_weigh_as_many_keys_as_are_scored(seed: int, tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text(
        "def some(gold, predicted):\n    return None if gold['x'] == 'c' else float(gold['x'] == predicted['x'])\n"
    )
    rng = random.Random(seed)
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
    table = {"file": "p.csv", "key": "id", "fields": [{"field": "id", "type": "string"}, *fields]}
    columns = [{"key": key, "metric": metric, "sort": "desc", "worst": 0} for key, metric in metrics.items()]
    reference = {"file": "gold.csv", "empty": "skip"}
    declaration = {"submission": table, "reference": reference, "tasks": [{"id": "t", "columns": columns}]}
    options = options_of(declaration, tmp_path)
    gold = csv_of("id,x,y,g,h", rows)
    found = score_and_resample(options, {"gold.csv": gold}, {"p.csv": csv_of("id,x,y", answers)}, tmp_path)

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


@pytest.mark.parametrize("form", ["cells", "columns", "json", "gold columns", "no header"])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_lists_of_numbers(form: str, weighted: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    spread = form in ("columns", "no header")
    sizes = [3] * 12 if spread or form == "gold columns" else rng.integers(1, 5, 12).tolist()
    gold, answers = ([rng.normal(size=size).round(3) for size in sizes] for _ in range(2))
    weight = rng.integers(1, 4, 12).tolist() if weighted else [1] * 12
    metrics = {
        f"{name}_{average}": {"name": name, "average": average, **({"weight": "w"} if weighted else {})}
        for name in ("mse", "mae", "rmse")
        for average in ("key", "pooled")
    }
    field: dict[str, Any] = {"field": "x", "type": "numbers", **({"columns": ["a", "b", "c"]} if spread else {})}

    def cells(values: Any, as_columns: bool) -> list[Any]:
        return [float(one) for one in values] if as_columns else [" ".join(map(str, values))]

    keys: dict[str, Any] = {}
    reference: dict[str, Any] = {"file": "gold.csv"}
    in_columns = spread or form == "gold columns"
    header = "id,a,b,c,w" if spread else "id,u,v,z,w" if in_columns else "id,x,w"
    if form == "gold columns":
        reference["fields"] = {"x": {"columns": ["u", "v", "z"]}}
    text = csv_of(header, [[f"k{i}", *cells(gold[i], in_columns), weight[i]] for i in range(12)])
    sent = csv_of("id,a,b,c" if spread else "id,x", [[f"k{i}", *cells(answers[i], spread)] for i in range(12)])
    if form == "no header":
        keys, sent = {"header": "none"}, sent.split("\n", 1)[1]
        reference |= {"header": "none", "columns": ["id", "x", "w"]}
        text = text.split("\n", 1)[1]
    files = {"predictions.csv": sent}
    if form == "json":
        keys = {"file": "p.jsonl"}
        lists = [{"id": f"k{i}", "x": list(map(float, answers[i]))} for i in range(12)]
        files = {"p.jsonl": "".join(json.dumps(one) + "\n" for one in lists)}
    options = one_table([field], metrics, reference=reference, **keys)
    if form in ("json", "no header"):
        found = score(options, {"gold.csv": text}, files, tmp_path)
    else:
        found = score_and_resample(options, {"gold.csv": text}, files, tmp_path)
    every_gold, every_answer = np.concatenate(gold), np.concatenate(answers)
    repeated = np.repeat(weight, sizes)
    for name, function in (
        ("mse", sk.mean_squared_error),
        ("mae", sk.mean_absolute_error),
        ("rmse", sk.root_mean_squared_error),
    ):
        of_keys = [function(one, two) for one, two in zip(gold, answers, strict=True)]
        assert found.value(f"{name}_key") == pytest.approx(np.average(of_keys, weights=weight))
        pooled = function(every_gold, every_answer, sample_weight=repeated)
        assert found.value(f"{name}_pooled") == pytest.approx(pooled)
    if form == "cells":
        (template,) = template_of(options, tmp_path).values()
        assert score(options, {"gold.csv": text}, {"predictions.csv": template}, tmp_path / "t").value("mae_key") > 0


def test_lists_are_as_long_as_the_gold_and_within_bounds(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "numbers", "min": 0, "max": 1}], {"m": "mse"})
    gold = {"gold.csv": "id,x\n1,0 1\n2,0.5\n"}
    with pytest.raises(SubmissionError) as refused:
        score(options, gold, {"predictions.csv": "id,x\n1,0 1 1\n2,0.5\n"}, tmp_path)
    assert "x has 3 numbers. Expected: 2, as many as the data." in str(refused.value)
    with pytest.raises(SubmissionError, match="x is out of range"):
        score(options, gold, {"predictions.csv": "id,x\n1,0 1.5\n2,0.5\n"}, tmp_path / "b")


PLACES = ["accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "precision", "recall"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [5, 6])
def test_lists_of_labels_are_compared_place_by_place(seed: int, weighted: bool, tmp_path: Path) -> None:
    rng = random.Random(seed)
    labels = ["0", "1", "x"]
    gold = [[rng.choice(labels) for _ in range(rng.randint(1, 6))] for _ in range(20)]
    answers = [[one if rng.random() < 0.5 else rng.choice(labels) for one in own] for own in gold]
    weight = [rng.randint(1, 3) if weighted else 1 for _ in gold]
    more = {"weight": "w"} if weighted else {}
    metrics: dict[str, Any] = {name: {"name": name, **more} for name in PLACES}
    metrics["fbeta"] = {"name": "fbeta", "beta": 2, "average": "micro", **more}
    metrics["binary"] = {"name": "f1", "average": "binary", "positive": "1", **more}
    metrics["same"] = {"name": "exact_match", **more}
    field = {"field": "x", "type": "tags", "scheme": "none", "values": labels}
    options = one_table([field], metrics)
    text = csv_of("id,x,w", [[f"k{i}", " ".join(own), weight[i]] for i, own in enumerate(gold)])
    sent = csv_of("id,x", [[f"k{i}", " ".join(own)] for i, own in enumerate(answers)])
    found = score_and_resample(options, {"gold.csv": text}, {"predictions.csv": sent}, tmp_path)
    true, given = [one for own in gold for one in own], [one for own in answers for one in own]
    weights = [weight[i] for i, own in enumerate(gold) for _ in own]
    expected = {
        "accuracy": sk.accuracy_score(true, given, sample_weight=weights),
        "balanced_accuracy": sk.balanced_accuracy_score(true, given, sample_weight=weights),
        "mcc": sk.matthews_corrcoef(true, given, sample_weight=weights),
        "kappa": sk.cohen_kappa_score(true, given, sample_weight=weights),
        "f1": sk.f1_score(true, given, average="macro", sample_weight=weights),
        "precision": sk.precision_score(true, given, average="macro", sample_weight=weights),
        "recall": sk.recall_score(true, given, average="macro", sample_weight=weights),
        "fbeta": sk.fbeta_score(true, given, beta=2, average="micro", sample_weight=weights),
        "binary": sk.f1_score(true, given, average=None, labels=["1"], sample_weight=weights)[0],
        "same": np.average([a == b for a, b in zip(gold, answers, strict=True)], weights=weight),
    }
    assert {key: found.value(key) for key in metrics} == pytest.approx(expected)
    (result,) = found.results.values()
    assert [sum(map(sum, figure.counts)) for figure in result.figures if isinstance(figure, ConfusionMatrix)][:1] == [
        len(true)
    ]
    (template,) = template_of(options, tmp_path).values()
    assert template.splitlines()[1] == f"k0,{' '.join('0' * len(gold[0]))}"
    with pytest.raises(SubmissionError, match="x has an unknown label"):
        score(options, {"gold.csv": text}, {"predictions.csv": sent.replace("k0,", "k0,B-x ")}, tmp_path / "x")
    with pytest.raises(SubmissionError, match="one for each token"):
        score(options, {"gold.csv": text}, {"predictions.csv": sent.replace("k0,", "k0,0 ")}, tmp_path / "y")


def prepared(options: dict[str, Any], gold: str, folder: Path) -> None:
    """Prepare gold as a build does."""
    (folder / "data").mkdir()
    (folder / "out").mkdir()
    (folder / "data/gold.csv").write_text(gold, encoding="utf-8")
    request: Request = {"tasks": ["t"], "all_tasks": ["t"], "layout": "joint", "options": options}
    organiser.prepare({**request, "source": str(folder / "data"), "out": str(folder / "out")})


def test_what_is_secret_of_numbers_over_columns_and_of_groups(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "x", "type": "numbers", "columns": ["a", "b"]},
        {"field": "y", "type": "number"},
    ]
    metrics = {"m": {"name": "mse", "field": "x", "by": "g"}, "n": {"name": "mae", "field": "y", "mean_by": "s"}}
    options = one_table(fields, metrics)
    prepared(options, "id,a,b,y,g,s\n1,1.5,2.5,3.5,p,q\n", tmp_path)
    request: Request = {"tasks": ["t"], "all_tasks": ["t"], "layout": "joint", "options": options}
    files = organiser.secrets({**request, "reference": str(tmp_path / "out")})["files"]
    assert [(one["name"], one.get("columns")) for one in files] == [("gold.csv", None), ("table.columns", ["x", "y"])]


@pytest.mark.parametrize("kind", ["label", "labels"])
def test_any_text_is_an_answer_of_an_open_vocabulary(kind: str, tmp_path: Path) -> None:
    many = "".join(f"k{i},label {i}\n" for i in range(101))
    metric = "set_f1" if kind == "labels" else "accuracy"
    closed = one_table([{"field": "x", "type": kind}], {"m": metric})
    with pytest.raises(OrganiserError, match=r"x has 101 labels in the gold .* `values: any`.*`values` with those"):
        prepared(closed, f"id,x\n{many}", tmp_path)
    if kind == "label":
        prepared(one_table([{"field": "x", "type": kind}], {"m": "ari"}), f"id,x\n{many}", _made(tmp_path / "clusters"))
    options = one_table([{"field": "x", "type": kind, "values": "any"}], {"m": metric})
    prepared(options, f"id,x\n{many}", _made(tmp_path / "open"))
    assert not (tmp_path / "open/out/labels.json").exists()
    gold = {"gold.csv": "id,x\n1,a b\n2,c\n"}
    found = score(options, gold, {"predictions.csv": "id,x\n1,a b\n2,of my own\n"}, tmp_path)
    assert found.value("m") == 0.5
    assert list(found.results["t"].figures) == []
    (template,) = template_of(options, tmp_path).values()
    score(options, gold, {"predictions.csv": template}, tmp_path / "template-scored")
    with pytest.raises(SubmissionError, match="blanks around it"):
        score(options, gold, {"predictions.csv": "id,x\n1, a b\n2,c\n"}, tmp_path / "blank")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


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
    gold = {"gold.csv": "id,label,mood\n1,a,x\n2,b,y\n"}
    score(options, gold, {"predictions.csv": "id,label,mood\n1,a,any\n2,b,thing\n"}, tmp_path)
    (template,) = template_of(options, tmp_path).values()
    assert score(options, gold, {"predictions.csv": template}, tmp_path / "scored").value("m") == 0.5


X = {"field": "x", "type": "number"}
TAGS = {"field": "x", "type": "tags"}
FAULTS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
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
    ({**TAGS, "scheme": "BIO", "values": ["a"]}, {"name": "accuracy"}, "scheme: unknown value 'BIO'."),
    ({"field": "x", "type": "ordinal", "values": "any"}, {"name": "mae"}, "values: expected a list of labels, or any."),
    (
        {"field": "x", "type": "label", "values": "any"},
        {"name": "f1", "labels": "declared"},
        "labels: the field 'x' declares no values.",
    ),
]


@pytest.mark.parametrize(("field", "metric", "fault"), FAULTS, ids=[fault for _, _, fault in FAULTS])
def test_what_does_not_go_together_is_named(field: dict[str, Any], metric: dict[str, Any], fault: str) -> None:
    from gen_bundle.declaration.scoring import settle
    from gen_bundle.declaration.source import Section

    section = Section(
        {
            "submission": {"file": "p.csv", "key": "id", "fields": [{"field": "id", "type": "string"}, dict(field)]},
            "reference": {"file": "gold.csv"},
            "tasks": [{"id": "t", "columns": [{"key": "m", "metric": dict(metric)}]}],
        }
    )
    settle(section, Path())
    found = [f"{trail[-1]}: {text}" for trail, text in section.found]
    assert any(one.startswith(fault) for one in found), found


def test_nothing_is_computed_of_an_empty_list(tmp_path: Path) -> None:
    options = one_table(
        [{"field": "x", "type": "numbers"}], {"m": "mse"}, file="p.jsonl", reference={"file": "g.jsonl"}
    )
    gold = {"g.jsonl": '{"id": "1", "x": []}\n{"id": "2", "x": [2]}\n'}
    sent = {"p.jsonl": '{"id": "1", "x": []}\n{"id": "2", "x": [4]}\n'}
    value = score(options, gold, sent, tmp_path).value("m")
    assert value == 2
    assert not math.isnan(value)
