"""Columns that are an expression of others: what may be written, what it gives, and in resamples."""

import math
import statistics
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declared.expressions import computed
from declared.metrics import definitions
from scoring_kit.base.expressions import DEEPEST, ExpressionError, read_expression
from tests.scoring_programs.declared.declaring import columns_of, csv_of, one_task, options_of, score
from tests.scoring_programs.declared.resampled import score_and_resample

Value = pytest.approx


def value_of(text: str, **columns: float) -> float:
    """NaN where it is undefined."""
    values = {key: np.array([value]) for key, value in columns.items()}
    return float(computed(read_expression(text), values, 1)[0])


VALUES: list[tuple[str, float]] = [
    ("0.6 * f1 + 0.4 * (1 - brier)", 0.6 * 0.5 + 0.4 * 0.8),
    ("f1 - brier - 0.1", 0.2),
    ("f1 / brier / 2", 1.25),
    ("2 - -f1", 2.5),
    ("--f1", 0.5),
    ("-f1 * 2", -1),
    ("+f1", 0.5),
    ("1e-1 + .5 + 2.", 2.6),
    ("[f1]", 0.5),
    ("min", 7),
    ("[min] + min(1, 2)", 8),
    ("min(f1, brier, 3)", 0.2),
    ("max(f1, brier)", 0.5),
    ("mean(f1, brier, 0)", 0.7 / 3),
    ("hmean(f1, brier)", statistics.harmonic_mean([0.5, 0.2])),
    ("gmean(f1, brier)", statistics.geometric_mean([0.5, 0.2])),
    ("hmean(f1, 0)", 0),
    ("gmean(0, f1)", 0),
    ("sqrt(f1)", math.sqrt(0.5)),
    ("abs(brier - f1)", 0.3),
    ("100", 100),
    ("f1 / 0", math.nan),
    ("0 / 0", math.nan),
    ("min(1 / 0, f1)", math.nan),
    ("0 * (1 / 0)", math.nan),
    ("sqrt(brier - f1)", math.nan),
    ("hmean(f1, -1)", math.nan),
    ("gmean(-1, 0)", math.nan),
    ("1e300 * 1e300", math.nan),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text: str, value: float) -> None:
    assert value_of(text, f1=0.5, brier=0.2, min=7) == Value(value, nan_ok=True)


MISTAKES: list[tuple[str, int, str]] = [
    ("", 1, "found the end"),
    ("f1 +", 5, "found the end"),
    ("f1 f2", 4, "'f2' is too much"),
    ("f1)", 3, "')' is too much"),
    ("(f1", 4, "found the end. Expected ) to close a bracket."),
    ("f1 ^ 2", 4, "'^' is no part of an expression"),
    ("f1 + log(f1)", 6, "there is no function 'log'. Expected one of min, max, mean, hmean, gmean, sqrt, abs."),
    ("min()", 5, "found )"),
    ("min(1,)", 7, "found )"),
    ("sqrt(1, 2)", 1, "sqrt is of one value (found 2)"),
    ("f1 + [f-1", 6, "'[' is no part of an expression"),
    ("__import__('os')", 12, '"\'" is no part'),
    ("(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1), DEEPEST + 2, "is nested too deeply"),
]


@pytest.mark.parametrize(("text", "place", "words"), MISTAKES, ids=[text[:20] for text, _, _ in MISTAKES])
def test_mistakes_are_named_at_their_character(text: str, place: int, words: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        read_expression(text)
    assert raised.value.place == place
    assert str(raised.value).startswith(f"at character {place}: {words}")


def trees(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(leaves, st.sampled_from("+-*/"), leaves).map(lambda parts: f"({' '.join(parts)})")
    return st.one_of(pair, leaves.map(lambda text: f"-{text}"))


@given(st.recursive(st.sampled_from(["1", "2.5", "x", "y", "0"]), trees, max_leaves=12))
def test_signs_mean_what_they_mean_in_python(text: str) -> None:
    try:
        expected = eval(text, {"x": 0.5, "y": -3.0})
    except ZeroDivisionError:
        expected = math.nan
    assert value_of(text, x=0.5, y=-3.0) == Value(float(expected), nan_ok=True)


@given(st.text(alphabet="f1 +-*/(),.[]e9min", max_size=30))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    with suppress(ExpressionError):
        value_of(text, **dict.fromkeys(read_expression(text).keys, 0.5))


GOLD = csv_of("id,label,x", [["a", "p", 1], ["b", "q", 2], ["c", "q", 3.5], ["d", "p", 7]])
ANSWERS = csv_of("id,label,x", [["a", "p", 1.5], ["b", "p", 2], ["c", "q", 3], ["d", "p", 4]])
SUBMISSION = {
    "file": "predictions.csv",
    "key": "id",
    "fields": [
        {"field": "id", "type": "string"},
        {"field": "label", "type": "label", "values": ["p", "q"]},
        {"field": "x", "type": "number"},
    ],
}


def declared(*columns: dict[str, Any], **metrics: Any) -> dict[str, Any]:
    """Options of columns with metrics, and of further columns, the better the higher where nothing else is said."""
    own = metrics or {"f1": {"name": "f1", "field": "label"}, "r": {"name": "pearson", "field": "x"}}
    made = [one if "metric" in one else {"sort": "desc", "worst": 0, **one} for one in columns]
    return options_of(one_task(SUBMISSION, [*columns_of(**own), *made]))


def test_an_expression_is_of_unrounded_scores_and_resampled(tmp_path: Path) -> None:
    options = declared(
        {"key": "half", "expression": "final / 2"},
        {"key": "final", "expression": "0.6 * f1 + 0.4 * hmean(acc, [r])"},
        f1={"name": "f1", "field": "label"},
        acc={"name": "accuracy", "field": "label"},
        r={"name": "mae", "field": "x"},
    )
    found = score_and_resample(options, GOLD, ANSWERS, tmp_path)
    own = {key: found.value(key) for key in ("f1", "acc", "r")}
    assert found.value("final") == Value(0.6 * own["f1"] + 0.4 * 2 / (1 / own["acc"] + 1 / own["r"]))
    assert found.value("half") == Value(found.value("final") / 2)
    (result,) = found.results.values()
    assert result.settings["final"] == "expression=0.6%20%2A%20f1%20%2B%200.4%20%2A%20hmean%28acc%2C%20%5Br%5D%29"
    assert result.units is not None
    sums = result.units().statistics["half"].as_sums()
    assert sums is not None
    assert sums.over(np.ones((1, 4)))[0] == Value(found.value("half"))


def test_what_is_undefined_is_the_worst_score_with_a_warning(tmp_path: Path) -> None:
    options = declared({"key": "final", "expression": "f1 / (1 - f1 / f1)", "worst": -3})
    found = score(options, GOLD, ANSWERS, tmp_path)
    assert found.value("final") == -3
    expected = "final: f1 / (1 - f1 / f1) is undefined, as for a division by zero; -3 counts instead."
    assert found.all_warnings == [expected]


def test_an_undefined_metric_enters_as_it_stands_on_the_board(tmp_path: Path) -> None:
    metric = {"name": "pearson", "field": "x", "undefined": -0.25}
    options = declared({"key": "final", "expression": "r * 2", "worst": -9}, r=metric)
    answers = csv_of("id,label,x", [[key, "p", 2] for key in "abcd"])
    found = score(options, GOLD, answers, tmp_path)
    assert found.value("final") == -0.5
    assert len(found.all_warnings) == 1


def test_a_score_that_is_worse_than_its_column_enters_as_it_is_written(tmp_path: Path) -> None:
    error = {"key": "e", "metric": {"name": "mae", "field": "x"}, "worst": 0.5}
    options = declared(error, {"key": "final", "expression": "1 - e"})
    found = score(options, GOLD, ANSWERS, tmp_path)
    assert (found.value("e"), found.value("final")) == (1.0, 0.5)


TABLES = {
    "labels": {**SUBMISSION, "file": "labels.csv", "fields": SUBMISSION["fields"][:2], "reference": {"file": "l.csv"}},
    "numbers": {
        **SUBMISSION,
        "file": "numbers.csv",
        "fields": [SUBMISSION["fields"][0], SUBMISSION["fields"][2]],
        "reference": {"file": "n.csv"},
    },
}
PARTS = {"l.csv": "id,label\na,p\nb,q\n", "n.csv": "id,x\na,1\nb,4\n"}


@pytest.mark.parametrize("enters", [True, False])
def test_an_expression_of_several_tasks(enters: bool, tmp_path: Path) -> None:
    one = [
        {"key": "acc", "metric": {"name": "accuracy", "table": "labels"}},
        {"key": "final", "expression": "acc - e / 10 + twice", "sort": "desc", "worst": -1000},
    ]
    two = [
        {"key": "e", "metric": {"name": "mae", "table": "numbers"}, "worst": 50},
        {"key": "twice", "expression": "2 * e", "sort": "asc", "worst": 7},
    ]
    tasks = [{"id": "one", "columns": one}, {"id": "two", "columns": two}]
    declaration = {"submission": {"tables": TABLES}, "tasks": tasks}
    sent = {"labels.csv": "id,label\na,p\nb,p\n", "numbers.csv": "id,x\na,2\nb,4\n"}
    if not enters:
        del sent["numbers.csv"]
    found = score(options_of(declaration), PARTS, sent, tmp_path)
    assert found.value("final") == Value(0.5 - 0.05 + 1 if enters else 0.5 - 5 + 7)
    assert {task: set(own.metrics) for task, own in found.results.items()} == {
        "one": {"acc", "final"},
        **({"two": {"e", "twice"}} if enters else {}),
    }
    units = found.results["one"].units
    assert units is not None
    assert list(units().statistics) == ["acc", "final"]
    assert units().statistics["final"].over(np.ones((1, 2)))[0] == Value(found.value("final"))


def test_an_expression_of_clusters_has_no_units(tmp_path: Path) -> None:
    fields = [{"field": "id", "type": "string"}, {"field": "label", "type": "string"}]
    final = {"key": "final", "expression": "ari + exact", "sort": "desc", "worst": -1}
    columns = [*columns_of(ari="ari", exact="exact_match"), final]
    options = options_of(one_task({**SUBMISSION, "fields": fields}, columns))
    found = score(options, GOLD, ANSWERS, tmp_path)
    assert not definitions()["ari"].resampled
    (result,) = found.results.values()
    assert result.units is not None
    assert list(result.units().statistics) == ["exact"]
