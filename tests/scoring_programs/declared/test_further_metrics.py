"""Metrics that no library has in this form: tables of values worked out by hand, and plain definitions."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scoring_programs.declared.declaring import csv_of, one_table
from tests.scoring_programs.declared.resampled import score_and_resample, units_of

Value = pytest.approx


def values_of(
    metrics: Sequence[Any], field: dict[str, Any], gold: Sequence[str], answers: Sequence[str], folder: Path
) -> list[float]:
    """The metrics of cells, whose per-unit results agree with them."""
    columns = {f"c{number}": metric for number, metric in enumerate(metrics)}
    options = one_table([{"field": "x", **field}], columns)
    sides = [csv_of("id,x", [[f"k{i}", cell] for i, cell in enumerate(side)]) for side in (gold, answers)]
    found = score_and_resample(options, {"gold.csv": sides[0]}, {"predictions.csv": sides[1]}, folder)
    return [found.value(column) for column in columns]


SPANS: list[dict[str, Any]] = [
    {"name": "span_iou"},
    *({"name": f"set_{part}", "match": "overlap"} for part in ("precision", "recall", "f1")),
    *({"name": f"set_{part}", "match": "overlap", "average": "macro"} for part in ("precision", "recall", "f1")),
]


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ([[0, 4]], [[2, 6]], [2 / 6, 1, 1, 1, 1, 1, 1]),
        ([[0, 4]], [[4, 6]], [0, 0, 0, 0, 0, 0, 0]),  # the end is excluded
        ([[0, 4, "x"]], [[0, 4, "y"]], [0, 0, 0, 0, 0, 0, 0]),
        ([], [], [1, 0, 0, 0, 1, 1, 1]),
        ([[0, 4]], [], [0, 0, 0, 0, 0, 0, 0]),
        ([], [[0, 4]], [0, 0, 0, 0, 0, 0, 0]),
        # two answers in one gold span, and one gold span that is not found
        ([[0, 10], [20, 30]], [[0, 2], [4, 6]], [4 / 20, 1, 1 / 2, 2 / 3, 1, 1 / 2, 2 / 3]),
        ([[0, 2], [0, 2]], [[0, 2], [0, 2]], [1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_spans(gold: list[Any], answer: list[Any], expected: list[float], tmp_path: Path) -> None:
    found = values_of(SPANS, {"type": "spans"}, [json.dumps(gold)], [json.dumps(answer)], tmp_path)
    assert found == Value(expected)


def test_overlaps_of_several_keys_are_added_up(tmp_path: Path) -> None:
    gold, answers = [[[0, 4]], [[0, 4], [6, 8]]], [[[0, 1], [9, 10]], []]
    cells = [[json.dumps(spans) for spans in side] for side in (gold, answers)]
    found = values_of(SPANS, {"type": "spans"}, cells[0], cells[1], tmp_path)
    assert found == Value([(1 / 5 + 0) / 2, 1 / 2, 1 / 3, 0.4, 0.25, 0.5, (2 / 3) / 2])


def levenshtein(one: Sequence[str], other: Sequence[str]) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


CUTS: list[tuple[Any, Any]] = [
    ("character", list),
    ("word", str.split),
    ({"separator": " @@"}, lambda text: text.split(" @@") if text else []),
]


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "cut"), CUTS)
@pytest.mark.parametrize("seed", range(3))
def test_edits_and_common_subsequences(unit: Any, cut: Any, seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    sides = [[" @@".join(rng.choices(["ab", "b", "a c"], k=rng.randint(0, 5))) for _ in range(12)] for _ in "ga"]
    sides[1][0] = sides[0][0] = ""
    pieces = list(zip(*([cut(text) for text in side] for side in sides), strict=True))
    edits = [levenshtein(gold, answer) for gold, answer in pieces]
    counts = np.array([(longest_common(g, a), len(a), len(g)) for g, a in pieces], dtype=float)

    def shares(common: float, given: float, there: float) -> list[float]:
        if not given and not there:
            return [1.0, 1.0, 1.0]
        return [common / given if given else 0.0, common / there if there else 0.0, 2 * common / (given + there)]

    names = ["lcs_precision", "lcs_recall", "lcs_f1"]
    metrics = [{"name": name, "unit": unit, "average": average} for average in ("macro", "micro") for name in names]
    metrics += [{"name": "edit_distance", "unit": unit, "average": average} for average in ("macro", "micro")]
    expected = [*np.mean([shares(*row) for row in counts], axis=0), *shares(*counts.sum(axis=0))]
    expected += [float(np.mean(edits)), float(sum(edits))]
    found = values_of(metrics, {"type": "text"}, sides[0], sides[1], tmp_path)
    assert found == Value(expected)


@pytest.mark.parametrize(
    ("options", "gold", "answer", "match", "shared"),
    [
        ({}, "The Cat", "the cat", 0, 0),
        ({"case": "ignore"}, "The Cat", "the cat ", 1, 1),
        ({"case": "ignore"}, "STRASSE", "straße", 1, 1),
        ({"case": "ignore"}, "The Cat.", "the cat", 0, 0.5),
        ({"normalise": "squad"}, "The Cat.", "a  cat", 1, 1),
        ({"normalise": "squad"}, "the", "", 1, 1),
    ],
)
def test_texts_are_compared_as_asked(
    options: dict[str, str], gold: str, answer: str, match: float, shared: float, tmp_path: Path
) -> None:
    metrics = [{"name": "exact_match", **options}, {"name": "token_f1", "normalise": "none", **options}]
    assert values_of(metrics, {"type": "text"}, [gold], [answer], tmp_path) == Value([match, shared])


def test_points(tmp_path: Path) -> None:
    """As in FNC-1: a quarter for what is related, a full point for the right kind of it."""
    related = {"agree": 1, "disagree": 0.25}
    matrix = {"agree": related, "disagree": {"agree": 0.25, "disagree": 1}, "unrelated": {"unrelated": 0.25}}
    field = {"type": "label", "values": ["agree", "disagree", "unrelated"]}
    gold = ["agree", "disagree", "unrelated", "unrelated"]
    answers = ["agree", "agree", "unrelated", "agree"]
    found = values_of([{"name": "points", "matrix": matrix}], field, gold, answers, tmp_path)
    assert found == Value([(1 + 0.25 + 0.25) / 2.5])


def test_rankings(tmp_path: Path) -> None:
    metrics = {"r": "r_precision", "e": {"name": "ndcg", "gain": "exponential"}, "n": "ndcg"}
    fields = [{"field": "item", "type": "string"}, {"field": "score", "type": "number"}]
    options = one_table(fields, metrics, rows="many")
    gold = csv_of("id,item,relevance", [["q", "a", 3], ["q", "b", 1], ["q", "c", 0], ["p", "a", 1]])
    answers = csv_of("id,item,score", [["q", "b", 3], ["q", "c", 2], ["q", "a", 1], ["p", "a", 1]])
    found = score_and_resample(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path)

    def ndcg(gains: Any) -> float:
        discounts = 1 / np.log2(np.arange(2, 2 + len(gains)))
        return float(gains @ discounts / (np.sort(gains)[::-1] @ discounts))

    assert found.value("r") == Value((1 / 2 + 1) / 2)
    assert found.value("n") == Value((ndcg(np.array([1, 0, 3])) + 1) / 2)
    assert found.value("e") == Value((ndcg(np.array([1, 0, 7])) + 1) / 2)


def test_clusters_are_in_no_report(tmp_path: Path) -> None:
    """Names of clusters cannot be exchanged between systems, and a key that is drawn twice is with itself."""
    options = one_table([{"field": "x", "type": "string"}], {"ari": "ari", "em": "exact_match"})
    gold, answers = (csv_of("id,x", list(enumerate(side))) for side in ("aabb", "1122"))
    found = score_and_resample(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path)
    assert (found.value("ari"), found.value("em")) == (1, 0)
    assert set(units_of(found).statistics) == {"em"}
