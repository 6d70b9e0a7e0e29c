"""Per-unit results: which units a task has, and what a resample of them gives."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scoring_programs.declared.declaring import (
    by_id,
    csv_of,
    declared_options,
    one_table,
    one_task,
    options_of,
    score,
)
from tests.scoring_programs.declared.resampled import score_and_resample, units_of

FIELDS: list[dict[str, Any]] = [
    {"field": "label", "type": "label", "values": ["a", "b", "c"], "required": False},
    {"field": "topics", "type": "labels", "values": ["x", "y", "z"]},
    {"field": "n", "type": "number"},
    {"field": "m", "type": "number"},
    {"field": "text", "type": "text"},
]
METRICS: dict[str, Any] = {
    "f1": {"name": "f1", "field": "label"},
    "f1_by": {"name": "f1", "field": "label", "by": "lang"},
    "f1_where": {"name": "f1", "field": "label", "where": {"lang": ["l1", "l2"]}, "labels": "gold"},
    "listed": {"name": "f1", "field": "label", "labels": ["c", "a"], "zero_division": 1},
    "kappa": {"name": "kappa", "field": "label", "weights": "linear"},
    "mcc": {"name": "mcc", "field": "label"},
    "samples": {"name": "f1", "field": "topics", "average": "samples", "labels": "gold"},
    "two": {"name": "mae", "fields": ["n", "m"], "by": ["lang"]},
    "pearson": {"name": "pearson", "fields": ["n", "m"]},
    "spearman": {"name": "spearman", "field": "n"},
    "bleu": {"name": "bleu", "field": "text"},
    "own": {"name": "metrics.py:twice", "factor": 2},
    "match": {"name": "exact_match", "fields": ["label", "topics"]},
}
OWN = """
def twice(gold, predicted, factor):
    right = [factor * (g["n"] > 1) * (p["label"] == g["label"]) for g, p in zip(gold, predicted)]
    return sum(right) / (1 + sum(g["lang"] == "l1" for g in gold))
"""


def some_rows(seed: int, number: int = 24) -> list[list[Any]]:
    rng = random.Random(seed)
    return [
        [
            f"k{i}",
            rng.choice("abc"),
            "|".join(rng.sample("xyz", rng.randint(0, 3))),
            rng.randint(0, 5),
            round(rng.gauss(0, 3), 2),
            " ".join(rng.choice(["the", "cat", "sat", "here", "now"]) for _ in range(rng.randint(1, 7))),
            f"l{i % 3}",
            f"d{i % 7}",
        ]
        for i in range(number)
    ]


GOLD_HEADER = "id,label,topics,n,m,text,lang,doc"
HEADER = "id,label,topics,n,m,text"


def mixed_table(folder: Path, **reference: Any) -> dict[str, Any]:
    return one_table(FIELDS, METRICS, reference={"file": "gold.csv", **reference}, folder=folder, code=OWN)


def answers_of(seed: int, gold: list[list[Any]]) -> list[list[Any]]:
    """Half of the cells are the gold's; some have no label."""
    rng = random.Random(seed)
    other = some_rows(seed + 1000)
    rows = [
        [row[0], *(rng.choice(pair) for pair in zip(row[1:6], one[1:6], strict=True))]
        for row, one in zip(gold, other, strict=True)
    ]
    return [[key, "" if rng.random() < 0.1 else label, *rest] for key, label, *rest in rows]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_resample_scores_the_keys_that_are_drawn(seed: int, tmp_path: Path) -> None:
    gold = some_rows(seed)
    options = mixed_table(tmp_path)
    files = csv_of(HEADER, answers_of(seed, gold))
    outcome = score_and_resample(options, csv_of(GOLD_HEADER, gold), files, tmp_path)
    units = units_of(outcome)
    assert (units.unit, list(units.names)) == ("row", [row[0] for row in gold])
    assert set(units.statistics) == set(METRICS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_rows_of_a_cluster_stay_together(seed: int, tmp_path: Path) -> None:
    gold = some_rows(seed)
    answers = answers_of(seed, gold)
    options = mixed_table(tmp_path, cluster="doc")

    def scored(counts: list[int]) -> Any:
        def drawn(rows: list[list[Any]]) -> list[list[Any]]:
            clusters = zip(rows, gold, strict=True)
            return [[f"{row[0]}-{c}", *row[1:]] for row, one in clusters for c in range(counts[int(one[-1][1:])])]

        files = csv_of(GOLD_HEADER, drawn(gold)), csv_of(HEADER, drawn(answers))
        return score(options, files[0], files[1], tmp_path)

    units = units_of(scored([1] * 7))
    assert (units.unit, list(units.names)) == ("doc", [f"d{i}" for i in range(7)])
    counts = [3, 1, 0, 2, 1, 0, 1]
    repeated = scored(counts)
    for key, statistic in units.statistics.items():
        (value,) = statistic.over(np.array([counts], dtype=float))
        assert value == pytest.approx(repeated.value(key), abs=1e-12), key


@pytest.mark.parametrize("seed", range(2))
def test_two_systems_exchange_units(seed: int, tmp_path: Path) -> None:
    """As in a randomisation test: for each key the answers of one of two systems, where their scale matters."""
    gold = some_rows(seed)
    sides = [answers_of(seed + 7, gold), answers_of(seed + 8, gold)]
    options = mixed_table(tmp_path)
    rng = random.Random(seed)
    first = [rng.random() < 0.5 for _ in gold]

    def scored(rows: list[list[Any]]) -> Any:
        return score(options, csv_of(GOLD_HEADER, gold), csv_of(HEADER, rows), tmp_path)

    one, two = (units_of(scored(rows)) for rows in sides)
    mixed = scored([pair[0] if own else pair[1] for own, *pair in zip(first, *sides, strict=True)])
    counts = np.concatenate([first, np.logical_not(first)]).astype(float)[None]
    for key in one.statistics.keys() - {"pearson", "spearman"}:
        own, other = (units.statistics[key].to_exchange() for units in (one, two))
        (value,) = own.joined(other).over(counts)
        assert value == pytest.approx(mixed.value(key), abs=1e-12), key


@pytest.mark.parametrize("metric", [{"name": "f1", "average": "micro"}, {"name": "set_f1"}, {"name": "jaccard"}])
@pytest.mark.parametrize("split", [{"by": "lang"}, {"where": {"lang": "b"}}])
def test_what_is_not_drawn_at_all_has_no_value(metric: dict[str, Any], split: dict[str, Any], tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "labels", "values": ["p", "q"]}], {"c": {**metric, **split}})
    gold = csv_of("id,x,lang", [["1", "p", "a"], ["2", "q", "a"], ["3", "p", "b"], ["4", "q", "b"]])
    answers = csv_of("id,x", [["1", "p"], ["2", "q"], ["3", "q"], ["4", "q"]])
    units = units_of(score(options, gold, answers, tmp_path))
    statistic, counts = units.statistics["c"], np.array([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=float)
    sums = statistic.as_sums()
    assert sums is not None
    for without_b, without_a in (statistic.over(counts), sums.over(counts)):
        assert without_a == pytest.approx(0.5)
        assert without_b == 1 if "by" in split else np.isnan(without_b)


def test_types_of_spans_may_differ_between_systems(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "tags"}], {"c": {"name": "span_f1", "average": "macro"}})
    gold = csv_of("id,x", [["1", "B-p I-p O"], ["2", "O B-q O"]])

    def units(*cells: str) -> Any:
        answers = csv_of("id,x", [[str(i), cell] for i, cell in enumerate(cells, start=1)])
        return units_of(score(options, gold, answers, tmp_path)).statistics["c"]

    joined = units("B-p I-p O", "B-r O O").joined(units("B-s O O", "O B-q O"))
    best, worst = joined.over(np.array([[1, 0, 0, 1], [0, 1, 1, 0]], dtype=float))
    assert (best, worst) == (1, 0)
    assert joined.over(np.array([[1, 1, 0, 0]], dtype=float)) == pytest.approx([1 / 3])


def test_documents_without_rows_and_several_tables_share_their_units(tmp_path: Path) -> None:
    options = declared_options(
        """
        submission:
          tables:
            labels:
              file: labels.csv
              key: doc
              fields: [{field: doc, type: string}, {field: label, type: label, values: [a, b]}]
              reference: {file: gold.csv}
            rows:
              file: rows.csv
              key: doc
              rows: many
              fields: [{field: doc, type: string}, {field: item, type: string}]
              reference: {file: items.csv, keys: docs.csv}
        tasks:
          - id: t
            columns:
              - {key: acc, metric: {name: accuracy, table: labels}}
              - {key: set_f1, metric: {name: set_f1, table: rows, average: macro}}
        """
    )
    gold = {
        "gold.csv": "doc,label\np,a\nq,b\n",
        "items.csv": "doc,item\nr,1\nq,2\n",
        "docs.csv": "doc\nq\nr\ns\n",
    }
    answers = {"labels.csv": "doc,label\nq,b\np,b\n", "rows.csv": "doc,item\nr,1\ns,3\n"}
    units = units_of(score(options, gold, answers, tmp_path))
    assert (units.unit, list(units.names)) == ("doc", ["p", "q", "r", "s"])
    counts = np.array([[1, 1, 1, 1], [2, 1, 0, 1], [1, 0, 2, 1]], dtype=float)
    assert units.statistics["acc"].over(counts) == pytest.approx([1 / 2, 1 / 3, 0])
    assert units.statistics["set_f1"].over(counts) == pytest.approx([1 / 3, 0, 2 / 3])


def test_nothing_of_the_units_is_computed_for_a_participant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("declared.units.units_of", None)
    options = one_table([{"field": "x", "type": "number"}], {"c": "mse"})
    outcome = score(options, "id,x\n1,1\n", "id,x\n1,2\n", tmp_path)
    assert outcome.value("c") == 1


@pytest.mark.parametrize(
    ("metric", "values", "classes"),
    [
        ({"name": "f1"}, ["a", "b", "c"], [1, 2]),
        ({"name": "f1", "labels": "gold"}, ["a", "b", "c"], [1, 2]),
        ({"name": "f1", "labels": "declared"}, ["a", "b", "c"], [0, 1, 2]),
        ({"name": "f1", "labels": ["b", "d"]}, ["a", "b", "c", "d"], [0, 1]),
        ({"name": "f1", "labels": "declared", "by": "lang"}, ["a", "b", "c"], [0, 1, 1, 2, 2]),
        ({"name": "f1", "labels": "declared", "average": "micro"}, ["a", "b", "c"], []),
        ({"name": "accuracy"}, ["a", "b", "c"], []),
        ({"name": "roc_auc", "field": "p", "gold": "label", "positive": "b"}, ["a", "b"], [1, 1]),
    ],
)
def test_in_how_many_units_each_class_is(
    metric: dict[str, Any], values: list[str], classes: list[int], tmp_path: Path
) -> None:
    """A label of a fixed list that no gold has counts, too: it may be in another sample of the units."""
    fields: list[dict[str, Any]] = [{"field": "label", "type": "label", "values": values}]
    fields.append({"field": "p", "type": "number", "min": 0, "max": 1})
    options = one_table(fields, {"c": {"field": "label", **metric}})
    gold = csv_of("id,label,lang", [["k1", "a", "x"], ["k2", "a", "x"], ["k3", "b", "y"]])
    answers = csv_of("id,label,p", [["k1", "a", 0.5], ["k2", "a", 0.2], ["k3", "a", 0.3]])
    found = score(options, gold, answers, tmp_path)
    assert sorted(units_of(found).classes["c"]) == classes


def test_what_limits_the_intervals_of_columns(tmp_path: Path) -> None:
    columns = [{"key": name, "metric": {"name": name, "field": "n"}, "worst": 9} for name in ("mae", "rmse")]
    columns += [{"key": name, "metric": {"name": name, "field": "n"}} for name in ("r2", "pearson", "mse")]
    columns.append({"key": "both", "expression": "rmse / 2 + mae", "sort": "asc", "worst": 9})
    options = options_of(one_task(by_id({"field": "n", "type": "number"}), columns))
    rows = csv_of("id,n", [["k1", 1], ["k2", 2], ["k3", 4]])
    found = score(options, rows, rows, tmp_path)
    limits = {"mae": "error", "rmse": "root", "r2": "squared", "mse": "squared", "both": "root"}
    assert units_of(found).limits == limits
