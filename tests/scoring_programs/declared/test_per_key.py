"""Functions of the organisers' own that are called once a key: numbers, pairs, and keys that do not count."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from declared.organiser import failing
from declared.plan import plans
from scoring_kit.resampling.draws import bootstrap_counts
from tests.scoring_programs.declared.declaring import csv_of, one_table, read_gold, score
from tests.scoring_programs.declared.resampled import score_and_resample, units_of

CODE = """
CALLS = []
def number(gold, predicted, **options):
    CALLS.append((gold["id"], sorted(options)))
    return -abs(float(gold["x"]) - predicted["x"])
def pair(gold, predicted):
    return abs(gold["x"] - predicted["x"]), gold["x"]
def some(gold, predicted):
    return None if gold["x"] < 3 else float(predicted["x"] == gold["x"])
def gaps(gold, predicted):
    return float("nan") if predicted["x"] > 6 else 1.0
def pair_gaps(gold, predicted):
    return (float("nan") if predicted["x"] > 6 else 1, gold["x"])
def mixed(gold, predicted):
    return (1, 2) if gold["id"] == "k2" else 1
def nothing(gold, predicted):
    return None
def of_nothing(gold, predicted):
    return predicted["x"] - gold["x"], 0
def wrong(gold, predicted):
    return [1, 2]
def fails(gold, predicted):
    return 1 / (gold["x"] == predicted["x"])
def many(gold, predicted):
    return len({row["x"] for row in gold} & {row["x"] for row in predicted}), len(gold)
"""


def options(folder: Path, metrics: dict[str, Any], **submission: Any) -> dict[str, Any]:
    own: dict[str, Any] = {}
    for key, one in metrics.items():
        further = {"name": one} if isinstance(one, str) else one
        own[key] = {**further, "name": f"metrics.py:{further['name']}", "per": "key"}
    fields = [{"field": "x", "type": "number"}]
    return one_table(fields, own, folder=folder, code=CODE, worst=-9, file="p.csv", **submission)


def files(seed: int, number: int = 20) -> tuple[list[list[Any]], list[list[Any]]]:
    """Gold and answers: id, x, and in the gold language and weight."""
    rng = random.Random(seed)
    gold = [[f"k{i}", rng.randint(1, 7), rng.choice("abc"), rng.randint(0, 3)] for i in range(number)]
    return gold, [[key, x if rng.random() < 0.5 else rng.randint(1, 7)] for key, x, *_ in gold]


def mean(values: list[float], weight: list[float]) -> float:
    return math.fsum(v * w for v, w in zip(values, weight, strict=True)) / math.fsum(weight)


@pytest.mark.parametrize("seed", range(2))
def test_numbers_are_means_and_pairs_are_quotients_of_sums(seed: int, tmp_path: Path) -> None:
    gold, answers = files(seed)
    metrics: dict[str, Any] = {name: name for name in ("number", "pair", "some", "gaps", "pair_gaps")}
    metrics |= {
        "weighed": {"name": "number", "weight": "w"},
        "pair_weighed": {"name": "pair", "weight": "w"},
        "by": {"name": "pair", "by": "lang"},
        "where": {"name": "some", "where": {"lang": ["a", "b"]}},
        "undefined": {"name": "gaps", "undefined": 0.5},
    }
    sent = {"gold.csv": csv_of("id,x,lang,w", gold)}, {"p.csv": csv_of("id,x", answers)}
    found = score_and_resample(options(tmp_path, metrics), *sent, tmp_path)
    x, y, w = [row[1] for row in gold], [row[1] for row in answers], [row[3] for row in gold]
    errors = [abs(one - two) for one, two in zip(x, y, strict=True)]
    once = [1.0] * len(x)
    in_groups = []
    for lang in "abc":
        at = [i for i, row in enumerate(gold) if row[2] == lang]
        in_groups.append(sum(errors[i] for i in at) / sum(x[i] for i in at))
    counted = [i for i in range(len(x)) if x[i] >= 3]
    where = [i for i in counted if gold[i][2] in "ab"]
    expected = {
        "number": -mean(errors, once),
        "weighed": -mean(errors, w),
        "pair": sum(errors) / sum(x),
        "pair_weighed": sum(e * v for e, v in zip(errors, w, strict=True))
        / sum(a * v for a, v in zip(x, w, strict=True)),
        "some": sum(errors[i] == 0 for i in counted) / len(counted),
        "by": sum(in_groups) / 3,
        "where": sum(errors[i] == 0 for i in where) / len(where),
        "gaps": mean([-9 if value > 6 else 1 for value in y], once),
        "undefined": mean([0.5 if value > 6 else 1 for value in y], once),
        "pair_gaps": sum(-9 * a if b > 6 else 1 for a, b in zip(x, y, strict=True)) / sum(x),
    }
    assert {key: found.value(key) for key in metrics} == pytest.approx(expected, abs=1e-12)
    (result,) = found.results.values()
    assert result.metrics["some"].rows == len(counted)
    assert list(units_of(found).groups["by"]) == ["a", "b", "c"]
    undefined = sum(value > 6 for value in y)
    warned = f"gaps: gaps is undefined for {undefined} of 20 keys; -9 counts instead." in found.all_warnings
    assert warned == (undefined > 0)


def test_it_is_called_once_a_key_and_gets_its_own_options_alone(tmp_path: Path) -> None:
    gold, answers = files(3)
    metric = {"name": "number", "field": "x", "table": "table", "scale": 2, "by": "lang", "weight": "w", "undefined": 0}
    declared = options(tmp_path, {"m": {**metric, "where": {"lang": ["a", "b", "c"]}}})
    found = score(declared, csv_of("id,x,lang,w", gold), {"p.csv": csv_of("id,x", answers)}, tmp_path)
    units = units_of(found)
    for counts in bootstrap_counts(20, 200, 1):
        units.statistics["m"].over(counts)
    from declared.metrics.own import own_function

    calls = own_function(tmp_path / "metrics.py", "number").__globals__["CALLS"]
    assert sorted(key for key, _ in calls) == sorted(row[0] for row in gold)
    assert {tuple(names) for _, names in calls} == {("field", "scale", "table")}
    assert units.statistics["m"].as_sums() is not None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mixed", -9, 'gives a number for "k0", and a pair for "k2"'),
        ("wrong", -9, "gives list, not a number, a tuple (numerator, denominator) or None"),
        ("fails", -9, "ZeroDivisionError"),
        ("nothing", -9, None),
        ("of_nothing", -9, None),
    ],
)
def test_what_gives_no_value_counts_the_worst(name: str, value: float, said: str | None, tmp_path: Path) -> None:
    gold = csv_of("id,x", [["k0", 1], ["k1", 2], ["k2", 5]])
    declared = options(tmp_path, {"m": name})
    found = score(declared, gold, {"p.csv": gold.replace("k1,2", "k1,3")}, tmp_path)
    (result,) = found.results.values()
    assert found.value("m") == value
    assert units_of(found).statistics["m"].over(np.ones((1, 3)))[0] == value
    if said is None:
        assert f"m: {name} is undefined" in found.all_warnings[-1]
        return
    assert said in result.failed["m"].words
    (message,) = failing(plans(declared)["t"][0], read_gold(declared, gold, tmp_path), {})
    assert "m could not be computed for" in message


def test_nothing_of_nothing_is_0(tmp_path: Path) -> None:
    gold = csv_of("id,x", [["k0", 1], ["k1", 2]])
    assert score(options(tmp_path, {"m": "of_nothing"}), gold, {"p.csv": gold}, tmp_path).value("m") == 0


def test_with_many_rows_a_key_has_lists(tmp_path: Path) -> None:
    declared = options(tmp_path, {"m": "many"}, rows="many")
    gold = "id,x\na,1\na,2\nb,3\n"
    assert score(declared, gold, {"p.csv": "id,x\na,2\na,4\n"}, tmp_path).value("m") == pytest.approx(1 / 3)
