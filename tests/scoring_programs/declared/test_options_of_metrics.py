"""Weights, thresholds, probabilities, ordinals, ranks: equal to scikit-learn and ir-measures, or to a plain formula."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from sklearn import metrics as sk

from tests.scoring_programs.declared.declaring import columns_of, csv_of, gold_faults, one_table, options_of, score
from tests.scoring_programs.declared.resampled import score_and_resample

Value = pytest.approx
LABELS = ["a", "b", "c"]
KEYS = 14


def values_of(
    metrics: Mapping[str, Any],
    fields: list[dict[str, Any]],
    gold: Mapping[str, Sequence[Any]],
    answers: Mapping[str, Sequence[Any]],
    folder: Path,
) -> dict[str, float]:
    """The metrics of columns of cells, whose per-unit results agree with them."""
    options = one_table(fields, dict(metrics))
    sides = []
    for columns in (gold, answers):
        rows = [[f"k{i}", *cells] for i, cells in enumerate(zip(*columns.values(), strict=True))]
        sides.append(csv_of(",".join(["id", *columns]), rows))
    found = score_and_resample(options, {"gold.csv": sides[0]}, {"predictions.csv": sides[1]}, folder)
    return {name: found.value(name) for name in metrics}


def weights_of(rng: random.Random) -> list[float]:
    return [rng.choice([0, 0.25, 1, 1, 2.5, 7]) for _ in range(KEYS - 1)] + [1.5]


@pytest.mark.parametrize("seed", range(6))
def test_labels_weigh_as_in_scikit_learn(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    weight = weights_of(rng)
    gold, answer = (rng.choices(LABELS, k=KEYS) for _ in "ga")
    gold[:3] = LABELS
    metrics: dict[str, Any] = {
        "accuracy": {"name": "accuracy"},
        "balanced": {"name": "balanced_accuracy"},
        "mcc": {"name": "mcc"},
        "kappa": {"name": "kappa", "weights": "quadratic"},
        "plain": {"name": "kappa"},
        "binary": {"name": "f1", "average": "binary", "positive": "b"},
    }
    weighted: dict[str, Any] = {"sample_weight": weight}
    expected = {
        "accuracy": sk.accuracy_score(gold, answer, **weighted),
        "mcc": sk.matthews_corrcoef(gold, answer, **weighted),
        "kappa": sk.cohen_kappa_score(gold, answer, labels=LABELS, weights="quadratic", **weighted),
        "plain": sk.cohen_kappa_score(gold, answer, labels=LABELS, **weighted),
        "binary": sk.f1_score(gold, answer, average="binary", pos_label="b", **weighted)
        if set(gold) | set(answer) <= {"a", "b"}
        else sk.f1_score([g == "b" for g in gold], [a == "b" for a in answer], **weighted),
    }
    there = [label for label in LABELS if any(w for w, g in zip(weight, gold, strict=True) if g == label)]
    expected["balanced"] = sk.recall_score(gold, answer, labels=there, average="macro", zero_division=0, **weighted)
    for average in ("macro", "micro", "weighted"):
        metrics[average] = {"name": "f1", "average": average}
        expected[average] = sk.f1_score(gold, answer, average=average, zero_division=0, **weighted)
        metrics[f"b_{average}"] = {"name": "fbeta", "beta": 2, "average": average, "zero_division": 1}
        expected[f"b_{average}"] = sk.fbeta_score(gold, answer, beta=2, average=average, zero_division=1, **weighted)
    for metric in metrics.values():
        metric["weight"] = "w"
    fields = [{"field": "label", "type": "label", "values": LABELS}]
    found = values_of(metrics, fields, {"label": gold, "w": weight}, {"label": answer}, tmp_path)
    assert found == Value(expected)


@pytest.mark.parametrize("seed", range(4))
def test_sets_weigh_as_in_scikit_learn(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    weight = weights_of(rng)
    gold, answer = ([rng.sample(LABELS, rng.randint(0, 3)) for _ in range(KEYS)] for _ in "ga")
    gold[0] = answer[0] = list(LABELS)
    matrices = [np.array([[label in own for label in LABELS] for own in side]).astype(int) for side in (gold, answer)]
    metrics: dict[str, Any] = {}
    expected = {}
    for average in ("macro", "micro", "weighted", "samples"):
        options: dict[str, Any] = {"average": average, "sample_weight": weight}
        metrics[f"f1_{average}"] = {"name": "f1", "average": average, "weight": "w"}
        expected[f"f1_{average}"] = sk.f1_score(*matrices, zero_division=0, **options)
        metrics[f"jaccard_{average}"] = {"name": "jaccard", "average": average, "weight": "w"}
        expected[f"jaccard_{average}"] = sk.jaccard_score(*matrices, zero_division=1, **options)
    of_keys = []
    for truth, given in zip(gold, answer, strict=True):
        sizes = len(truth) + len(given)
        of_keys.append(2 * len(set(truth) & set(given)) / sizes if sizes else 1.0)
    metrics["set"] = {"name": "set_f1", "average": "macro", "weight": "w"}
    expected["set"] = np.average(of_keys, weights=weight)
    metrics["exact"] = {"name": "exact_match", "weight": "w"}
    expected["exact"] = np.average([set(g) == set(a) for g, a in zip(gold, answer, strict=True)], weights=weight)
    fields = [{"field": "x", "type": "labels", "values": LABELS}]
    sides = [["|".join(own) for own in side] for side in (gold, answer)]
    found = values_of(metrics, fields, {"x": sides[0], "w": weight}, {"x": sides[1]}, tmp_path)
    assert found == Value(expected)


NUMBERS = {
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "r2": sk.r2_score,
    "mape": sk.mean_absolute_percentage_error,
    "rmsle": sk.root_mean_squared_log_error,
    "medae": sk.median_absolute_error,
}


@pytest.mark.parametrize("small", [1, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_numbers_weigh_as_in_scikit_learn(seed: int, small: float, tmp_path: Path) -> None:
    rng = random.Random(seed)
    weight = [one * small for one in weights_of(rng)]
    gold, answer = ([rng.randint(1, 9) / 2 for _ in range(KEYS)] for _ in "ga")
    metrics: dict[str, Any] = {name: {"name": name, "weight": "w"} for name in (*NUMBERS, "smape")}
    metrics["pinball"] = {"name": "pinball", "quantile": 0.8, "weight": "w"}
    metrics["mase"] = {"name": "mase", "scale": "naive", "weight": "w"}
    scale = [rng.randint(1, 4) for _ in range(KEYS)]
    errors = np.abs(np.array(gold) - np.array(answer))
    expected = {name: float(score(gold, answer, sample_weight=weight)) for name, score in NUMBERS.items()}
    expected["smape"] = float(np.average(200 * errors / (np.array(gold) + np.array(answer)), weights=weight))
    expected["pinball"] = sk.mean_pinball_loss(gold, answer, sample_weight=weight, alpha=0.8)
    expected["mase"] = float(np.average(errors / np.array(scale), weights=weight))
    fields = [{"field": "x", "type": "number", "min": 0}]
    columns: dict[str, Any] = {"x": gold, "w": weight, "naive": scale}
    assert values_of(metrics, fields, columns, {"x": answer}, tmp_path) == Value(expected)


@pytest.mark.parametrize(("scale", "value"), [(1, 2.5), (2, 1.25), (10, 0.25)])
def test_mase_is_relative_to_the_scale_of_each_key(scale: float, value: float, tmp_path: Path) -> None:
    metrics = {"m": {"name": "mase", "scale": "s"}}
    gold: dict[str, Any] = {"x": [1, 2], "s": [scale, scale]}
    assert values_of(metrics, [{"field": "x", "type": "number"}], gold, {"x": [3, 5]}, tmp_path) == {"m": Value(value)}


def probabilities_of(rng: random.Random, ties: bool) -> list[list[float]]:
    rows = []
    for _ in range(KEYS):
        shares = [rng.choice([1, 2, 5]) if ties else rng.random() + 0.01 for _ in LABELS]
        rows.append([share / sum(shares) for share in shares])
    return rows


def ece_of(gold: Sequence[str], rows: Sequence[Sequence[float]], bins: int) -> float:
    found = 0.0
    for number in range(bins):
        own = [i for i, row in enumerate(rows) if number / bins < max(row) <= (number + 1) / bins]
        if own:
            right = np.mean([LABELS[int(np.argmax(rows[i]))] == gold[i] for i in own])
            found += len(own) / len(rows) * abs(float(right) - float(np.mean([max(rows[i]) for i in own])))
    return found


SPREAD: dict[str, Any] = {"field": "p", "type": "probabilities", "values": LABELS, "columns": ["p_a", "p_b", "p_c"]}


@pytest.mark.parametrize("weighs", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_judged_as_by_scikit_learn(seed: int, ties: bool, weighs: bool, tmp_path: Path) -> None:
    rng = random.Random(seed)
    gold = [*LABELS, *LABELS, *rng.choices(LABELS, k=KEYS - 6)]
    rows = probabilities_of(rng, ties)
    weight = [rng.choice([0.5, 1, 3]) for _ in range(KEYS)] if weighs else None
    top = [LABELS[int(np.argmax(row))] for row in rows]
    metrics: dict[str, Any] = {
        "log_loss": {"name": "log_loss"},
        "brier": {"name": "brier"},
        "top_1": {"name": "top_k_accuracy", "k": 1},
        "top_2": {"name": "top_k_accuracy", "k": 2},
        "accuracy": {"name": "accuracy"},
        "f1": {"name": "f1"},
    }
    table = np.array(rows)
    own = {"sample_weight": weight}
    one_hot = np.array([[label == one for label in LABELS] for one in gold], dtype=float)
    expected = {
        "log_loss": sk.log_loss(gold, table, labels=LABELS, **own),
        "brier": np.average(((table - one_hot) ** 2).sum(axis=1), weights=weight),
        "top_1": sk.top_k_accuracy_score(gold, table, k=1, labels=LABELS, **own),
        "top_2": sk.top_k_accuracy_score(gold, table, k=2, labels=LABELS, **own),
        "accuracy": sk.accuracy_score(gold, top, **own),
        "f1": sk.f1_score(gold, top, average="macro", **own),
    }
    for average in ("macro", "weighted"):
        metrics[f"auc_{average}"] = {"name": "roc_auc", "average": average}
        expected[f"auc_{average}"] = sk.roc_auc_score(one_hot, table, average=average, **own)
        metrics[f"ap_{average}"] = {"name": "average_precision", "average": average}
        expected[f"ap_{average}"] = sk.average_precision_score(one_hot, table, average=average, **own)
    for metric in metrics.values():
        metric |= {"gold": "label", "weight": "w"} if weighs else {"gold": "label"}
    if not weighs:
        metrics["ece"] = {"name": "ece", "gold": "label"}
        metrics["ece_4"] = {"name": "ece", "gold": "label", "bins": 4}
        expected |= {"ece": ece_of(gold, rows, 10), "ece_4": ece_of(gold, rows, 4)}
    columns: dict[str, Any] = {"label": gold, "w": weight or [1] * KEYS}
    answers = dict(zip(["p_a", "p_b", "p_c"], zip(*rows, strict=True), strict=True))
    assert values_of(metrics, [SPREAD], columns, answers, tmp_path) == Value(expected, abs=1e-9)


def test_brier_of_all_labels_has_another_worst_score() -> None:
    fields = [SPREAD, {"field": "q", "type": "number"}]
    metrics = {
        "all": {"name": "brier", "field": "p", "gold": "label"},
        "one": {"name": "brier", "field": "q", "gold": "label", "positive": "a"},
    }
    columns = one_table(fields, metrics)["metrics"]["t"]
    assert (columns["all"]["worst"], columns["one"]["worst"]) == (2, 1)


THRESHOLDS = [
    (0.5, [1, 1, 0, 0]),  # at least
    ({"above": 0.5}, [1, 0, 0, 0]),
    (0, [1, 1, 1, 1]),
    ({"above": 0.9}, [0, 0, 0, 0]),
]


def test_a_label_whose_keys_weigh_nothing_has_no_recall(tmp_path: Path) -> None:
    gold, answer, weight = ["a", "a", "b", "b", "c"], ["a", "b", "b", "b", "c"], [1, 1, 1, 1, 0]
    fields = [{"field": "l", "type": "label", "values": ["a", "b", "c"]}]
    metrics = {"balanced": {"name": "balanced_accuracy", "weight": "w"}}
    with pytest.warns(UserWarning, match="classes not in y_true"):  # scikit-learn knows c no longer
        expected = sk.balanced_accuracy_score(gold, answer, sample_weight=weight)
    assert expected == 0.75
    found = values_of(metrics, fields, {"l": gold, "w": weight}, {"l": answer}, tmp_path)
    assert found == Value({"balanced": expected})


def test_probabilities_are_not_divided_by_their_sum(tmp_path: Path) -> None:
    gold = ["neg", "neu", "neg", "pos"]
    answers = [[0.3333, 0.3333, 0.333], [0.3334, 0.3333, 0.3333], [0.333, 0.333, 0.333], [0.332, 0.334, 0.334]]
    columns = ["neg", "neu", "pos"]
    fields = [{"field": "p", "type": "probabilities", "values": columns, "columns": columns}]
    metrics = {name: {"name": name, "gold": "label"} for name in ("roc_auc", "log_loss")}
    places = list(map(columns.index, gold))
    of_labels = [sk.roc_auc_score(np.equal(places, at), np.array(answers)[:, at]) for at in range(3)]
    logs = [math.log(own[at]) for own, at in zip(answers, places, strict=True)]
    expected = {"roc_auc": np.mean(of_labels), "log_loss": -np.mean(logs)}
    answered = {name: [own[at] for own in answers] for at, name in enumerate(columns)}
    assert values_of(metrics, fields, {"label": gold}, answered, tmp_path) == Value(expected)


@pytest.mark.parametrize(("threshold", "taken"), THRESHOLDS)
def test_a_probability_counts_as_a_label(threshold: Any, taken: list[int], tmp_path: Path) -> None:
    gold, answer = ["yes", "no", "yes", "maybe"], [0.9, 0.5, 0.25, 0]
    truth = [int(label == "yes") for label in gold]
    common = {"threshold": threshold, "positive": "yes", "gold": "label"}
    metrics = {name: {"name": name, **common} for name in ("accuracy", "mcc", "kappa", "balanced_accuracy")}
    metrics |= {name: {"name": name, **common} for name in ("f1", "precision", "recall")}
    metrics["macro"] = {"name": "f1", "average": "macro", **common}
    expected = {
        "accuracy": sk.accuracy_score(truth, taken),
        "balanced_accuracy": sk.balanced_accuracy_score(truth, taken),
        "mcc": sk.matthews_corrcoef(truth, taken),
        "kappa": sk.cohen_kappa_score(truth, taken),
        "f1": sk.f1_score(truth, taken, zero_division=0),
        "precision": sk.precision_score(truth, taken, zero_division=0),
        "recall": sk.recall_score(truth, taken, zero_division=0),
        "macro": sk.f1_score(truth, taken, average="macro", zero_division=0),
    }
    fields = [{"field": "p", "type": "number"}]
    assert values_of(metrics, fields, {"label": gold}, {"p": answer}, tmp_path) == Value(expected)


@pytest.mark.parametrize(
    ("answers", "value"),
    [
        ([0.9, 0.1, 0.8, 0.2], 1.0),
        ([0.5, 0.5, 0.5, 0.5], 0.0),  # nothing answered, nothing right
        ([0.9, 0.5, 0.8, 0.2], (3 + 1 * 3 / 4) / 4),
        ([0.1, 0.5, 0.8, 0.5], (1 + 2 * 1 / 4) / 4),
        ([0.1, 0.9, 0.2, 0.8], 0.0),
    ],
)
def test_c_at_1_gives_credit_for_what_is_not_answered(answers: list[float], value: float, tmp_path: Path) -> None:
    metrics = {"c": {"name": "c_at_1", "gold": "same"}}
    gold = {"same": ["true", "false", "true", "false"]}
    assert values_of(metrics, [{"field": "p", "type": "number"}], gold, {"p": answers}, tmp_path)["c"] == Value(value)


@pytest.mark.parametrize(("names", "fits"), [("01", True), (("false", "true"), True), (("no", "yes"), False)])
def test_labels_that_tell_the_positive_one(names: Sequence[str], fits: bool, tmp_path: Path) -> None:
    metrics = {"auc": {"name": "roc_auc", "gold": "y"}, "brier": {"name": "brier", "gold": "y"}}
    options = one_table([{"field": "p", "type": "number"}], metrics)
    gold = csv_of("id,y", [["k1", names[0]], ["k2", names[1]]])
    found = gold_faults(options, {"gold.csv": gold}, tmp_path)
    assert ([] if fits else ["gold.csv (auc): positive is missing, and the gold has the labels no, yes"]) == found[:1]
    if fits:
        answers = csv_of("id,p", [["k1", 0.2], ["k2", 0.7]])
        scored = score(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path)
        assert [scored.value("auc"), scored.value("brier")] == Value([1, (0.04 + 0.09) / 2])


def test_an_area_under_a_curve_is_of_any_number(tmp_path: Path) -> None:
    metrics = {"auc": {"name": "roc_auc", "gold": "y"}, "ap": {"name": "average_precision", "gold": "y"}}
    gold, answer = [0, 1, 1, 0, 1], [-7.5, 3, 120, 3, -1]
    expected = {"auc": sk.roc_auc_score(gold, answer), "ap": sk.average_precision_score(gold, answer)}
    fields = [{"field": "p", "type": "number"}]
    assert values_of(metrics, fields, {"y": gold}, {"p": answer}, tmp_path) == Value(expected)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [(["1", "2", "5"], {"1": 1, "2": 2, "5": 5}), (["low", "mid", "high"], {"low": 0, "mid": 1, "high": 2})],
)
def test_an_ordinal_is_a_label_and_a_number(values: list[str], numbers: dict[str, float], tmp_path: Path) -> None:
    rng = random.Random(1)
    gold, answer = ([*values, *rng.choices(values, k=9)] for _ in "ga")
    metrics = {name: {"name": name} for name in ("mae", "rmse", "spearman", "accuracy", "ccc")}
    metrics["kappa"] = {"name": "kappa", "weights": "quadratic"}
    truth, given = ([numbers[value] for value in side] for side in (gold, answer))
    places = [[values.index(value) for value in side] for side in (gold, answer)]
    found = values_of(
        metrics, [{"field": "x", "type": "ordinal", "values": values}], {"x": gold}, {"x": answer}, tmp_path
    )
    assert found["mae"] == Value(sk.mean_absolute_error(truth, given))
    assert found["rmse"] == Value(sk.root_mean_squared_error(truth, given))
    assert found["accuracy"] == Value(sk.accuracy_score(gold, answer))
    assert found["kappa"] == Value(sk.cohen_kappa_score(*places, weights="quadratic"))


OFFSETS: list[tuple[list[list[int]], list[list[int]], dict[str, float]]] = [
    ([[1, 2, 3]], [[2, 3, 4, 4]], {"iou": 2 / 4, "micro": 2 / 3, "macro": 2 / 3, "exact": 0}),
    ([[], [5]], [[], [5]], {"iou": 1, "micro": 1, "macro": 1, "exact": 1}),
    ([[], [5]], [[1], []], {"iou": 0, "micro": 0, "macro": 0, "exact": 0}),
]


@pytest.mark.parametrize(("gold", "answer", "expected"), OFFSETS)
def test_each_offset_is_an_element(
    gold: list[list[int]], answer: list[list[int]], expected: dict[str, float], tmp_path: Path
) -> None:
    metrics: dict[str, Any] = {"iou": "span_iou", "micro": "set_f1", "exact": "exact_match"}
    metrics["macro"] = {"name": "set_f1", "average": "macro"}
    sides = [[json.dumps(own) for own in side] for side in (gold, answer)]
    fields = [{"field": "x", "type": "offsets"}]
    assert values_of(metrics, fields, {"x": sides[0]}, {"x": sides[1]}, tmp_path) == Value(expected)


def ranked(gold: str, rows: list[list[Any]], last: str, options: dict[str, Any], folder: Path) -> dict[str, float]:
    fields = [{"field": "item", "type": "string"}, {"field": last, "type": "number"}]
    metrics = {name: {"name": name, **options} for name in ("ap", "rr", "ndcg")}
    table = _ranking(fields, metrics)
    answers = csv_of(f"q,item,{last}", rows)
    scored = score(table, {"gold.csv": gold}, {"predictions.csv": answers}, folder)
    return {name: scored.value(name) for name in metrics}


def _ranking(fields: list[dict[str, Any]], metrics: dict[str, Any]) -> dict[str, Any]:
    every = [{"field": "q", "type": "string"}, *fields]
    declaration = {
        "submission": {"file": "predictions.csv", "key": "q", "rows": "many", "fields": every},
        "reference": {"file": "gold.csv"},
        "tasks": [{"id": "t", "columns": columns_of(**metrics)}],
    }
    return options_of(declaration)


def expected_of(relevance: Mapping[str, int], order: Sequence[str]) -> dict[str, float]:
    judged = [ir_measures.Qrel("q", item, level) for item, level in relevance.items()]
    run = [ir_measures.ScoredDoc("q", item, -place) for place, item in enumerate(order)]
    measures = {"ap": ir_measures.AP, "rr": ir_measures.RR, "ndcg": ir_measures.nDCG}
    found = ir_measures.calc_aggregate(list(measures.values()), judged, run)
    return {name: found[measure] for name, measure in measures.items()}


RELEVANCE = {"d1": 2, "d2": 0, "d3": 1, "d4": 0}
GOLD = csv_of("q,item,relevance", [["q", item, level] for item, level in RELEVANCE.items()])
TIED = [["q", "d2", 1], ["q", "d1", 2], ["q", "d4", 2], ["q", "d3", 3]]


@pytest.mark.parametrize(
    ("last", "options", "order"),
    [
        ("rank", {"rank": "rank"}, ["d2", "d4", "d1", "d3"]),
        ("rank", {"rank": "rank", "ties": "order"}, ["d2", "d1", "d4", "d3"]),
        ("score", {}, ["d3", "d4", "d1", "d2"]),
        ("score", {"ties": "order"}, ["d3", "d1", "d4", "d2"]),
    ],
)
def test_ranks_and_ties(last: str, options: dict[str, Any], order: list[str], tmp_path: Path) -> None:
    assert ranked(GOLD, TIED, last, options, tmp_path) == Value(expected_of(RELEVANCE, order))


def test_gold_without_relevance_holds_relevant_items_alone(tmp_path: Path) -> None:
    gold = csv_of("q,item", [["q", "d1"], ["q", "d3"]])
    found = ranked(gold, TIED, "rank", {"rank": "rank"}, tmp_path)
    assert found == Value(expected_of({"d1": 1, "d3": 1}, ["d2", "d4", "d1", "d3"]))


@pytest.mark.parametrize(
    ("metric", "cells", "fault"),
    [
        ({"name": "mae", "weight": "w"}, [["k", 1, -1]], "w, the weight, is not everywhere a number from 0"),
        ({"name": "mae", "weight": "w"}, [["k", 1, "much"]], "w, the weight, is not everywhere a number from 0"),
        ({"name": "mae", "weight": "w"}, [["k", 1, 0]], "w is 0 for every key"),
        ({"name": "mase", "scale": "w"}, [["k", 1, 2], ["l", 1, 0]], "w, which errors are divided by, is 0 for a key"),
        ({"name": "mape"}, [["k", 0, 2]], "a gold value is 0, to which no error is relative"),
    ],
)
def test_weights_and_scales_that_are_none(metric: Any, cells: list[Any], fault: str, tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "number"}], {"c": metric})
    found = gold_faults(options, {"gold.csv": csv_of("id,x,w", cells)}, tmp_path)
    assert found == [f"gold.csv (c): {fault}"]


def test_a_weight_of_0_in_one_group_is_a_fault(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "number"}], {"c": {"name": "mae", "weight": "w", "by": "l"}})
    gold = csv_of("id,x,w,l", [["a", 1, 0, "en"], ["b", 1, 1, "de"]])
    assert gold_faults(options, {"gold.csv": gold}, tmp_path) == ["gold.csv (c): w is 0 for every key in the group en"]


def test_clusters_of_labels_have_any_names(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "label"}], {"ari": "ari", "v": "v_measure"})
    gold = csv_of("id,x", [["a", "one"], ["b", "one"], ["c", "two"]])
    answers = csv_of("id,x", [["a", "p"], ["b", "p"], ["c", "q"]])
    scored = score(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path)
    assert (scored.value("ari"), scored.value("v")) == (1, 1)
