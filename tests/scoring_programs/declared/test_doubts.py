"""What is said of odd gold and answers: wrong headers, unknown types and items, bounded and undefined scores."""

from pathlib import Path
from typing import Any

import pytest

from scoring_kit.errors import OrganiserError
from tests.scoring_programs.declared.declaring import cell, csv_of, jsonl_of, one_table, read_gold, score
from tests.scoring_programs.declared.resampled import score_and_resample
from tests.scoring_programs.declared.whole import run_declared

LABEL = {"field": "label", "type": "label"}
ROWS = [[f"i{i}", "ab"[i % 2], "en"] for i in range(30)]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize(
    ("column", "misspelt"),
    [("id", "idd"), ("label", "lable"), ("language", "langauge"), ("id", "name"), ("cluster", "x")],
)
def test_a_wrong_header_of_the_gold_is_one_mistake(suffix: str, column: str, misspelt: str, tmp_path: Path) -> None:
    keys = {"reference": {"file": f"gold.{suffix}", "cluster": "cluster"}}
    options = one_table([LABEL], {"m": {"name": "accuracy", "by": "language"}}, **keys)
    names = ["id", "label", "language", "cluster"]
    text = csv_of(",".join(misspelt if name == column else name for name in names), [[*row, "c"] for row in ROWS])
    with pytest.raises(OrganiserError) as caught:
        read_gold(options, {f"gold.{suffix}": text.replace(",", "\t") if suffix == "tsv" else text}, tmp_path)
    (message,) = caught.value.messages
    near = "" if misspelt in ("name", "x") else f"; there is {misspelt}"
    assert message.startswith(f"gold.{suffix}:1: the column {column} is missing{near}. Expected")


def answers_of(kind: str, names: list[str], suffix: str) -> str:
    values: list[Any] = [["O", f"B-{name}", f"I-{name}"] for name in names]
    if kind == "spans":
        values = [[[0, 2, name], [3, 5]] for name in names]
    if suffix == "jsonl":
        return jsonl_of({"id": str(i), "x": value} for i, value in enumerate(values))
    return csv_of("id,x", [[i, cell(value, kind)] for i, value in enumerate(values)])


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize(("kind", "metric"), [("tags", "span_f1"), ("spans", "set_f1")])
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["PER", "LOC", "PER"], []),
        (["PERS", "LOC", "PER"], ['x: the type is not among those of the data (LOC, PER): "PERS"']),
        (["A", "B", "LOC"], ['x: the types are not among those of the data (LOC, PER): "A", "B"']),
    ],
)
def test_types_that_the_gold_never_has_are_doubted(
    suffix: str, kind: str, metric: str, names: list[str], expected: list[str], tmp_path: Path
) -> None:
    options = one_table([{"field": "x", "type": kind}], {"m": metric}, file=f"p.{suffix}")
    gold = answers_of(kind, ["PER", "LOC", "LOC"], "csv")
    found = score(options, gold, {f"p.{suffix}": answers_of(kind, names, suffix)}, tmp_path)
    assert found.warnings == [f"p.{suffix}: {one}." for one in expected]


@pytest.mark.parametrize(
    ("items", "warned"),
    [
        ([["q0", "d1"], ["q1", "d2"]], False),
        ([["q0", "D1"], ["q1", "D2"]], True),
        ([["q0", "D1"], ["q1", "d2"]], False),
        ([["q0", "D1"]], False),
        ([["q0", "d9"], ["q1", "d1"], ["q2", "x"]], True),
    ],
)
def test_a_ranking_of_which_no_item_is_known_is_warned_of(items: list[list[str]], warned: bool, tmp_path: Path) -> None:
    """`d1` is judged for the first query alone."""
    fields = [{"field": "item"}]
    options = one_table(fields, {"map": "ap", "rr": "rr"}, rows="many")
    gold = csv_of("id,item,relevance", [["q0", "d1", 1], ["q1", "d2", 1], ["q2", "d3", 2]])
    found = score(options, gold, csv_of("id,item", items), tmp_path)
    said = [text for text in found.all_warnings if "are judged" in text]
    assert said == (
        [f"predictions.csv: 0 of {len(items)} ranked items are judged. Is item written as in the data?"] * warned
    )


NUMBER = {"field": "x", "type": "number"}
GOLD = csv_of("id,x", [["1", 1], ["2", 2], ["3", 4]])
REVERSED = csv_of("id,x", [["1", -1], ["2", -2], ["3", -4]])
CONSTANT = csv_of("id,x", [["1", 7], ["2", 7], ["3", 7]])


@pytest.mark.parametrize(
    ("metric", "worst", "answers", "written", "said"),
    [
        ({}, None, REVERSED, -1, ""),
        ({}, 0, REVERSED, 0, "t: m: 0 is written, since no score is less."),
        ({}, None, CONSTANT, -1, "-1 counts instead"),
        ({"undefined": 0}, None, CONSTANT, 0, "0 counts instead"),
        ({"undefined": 0.5}, -0.5, CONSTANT, 0.5, "0.5 counts instead"),
        ({"undefined": 0}, None, REVERSED, -1, ""),
        ({"name": "mae"}, 5, CONSTANT, 14 / 3, ""),
        ({"name": "mae"}, 4, CONSTANT, 4, "t: m: 4 is written, since no score is more."),
    ],
)
def test_what_is_written_beyond_worst_and_where_nothing_is_defined(
    metric: dict[str, Any], worst: float | None, answers: str, written: float, said: str, tmp_path: Path
) -> None:
    column = {"key": "m", "metric": {"name": "pearson", **metric}, **({} if worst is None else {"worst": worst})}
    tasks = {"tasks": [{"id": "t", "name": "T", "columns": [column]}]}
    outcome = run_declared(tmp_path, [NUMBER], {}, GOLD, answers, overrides=tasks)
    assert outcome.scores == pytest.approx({"m": written})
    assert outcome.details is not None
    assert outcome.page is not None
    assert [said in text for text in outcome.details["warnings"]] == [True] * bool(said)
    assert said in outcome.page


@pytest.mark.parametrize(("undefined", "counted"), [({"undefined": 0.25}, 0.25), ({}, -1)])
def test_an_undefined_value_in_one_group_is_what_the_metric_says(
    undefined: dict[str, float], counted: float, tmp_path: Path
) -> None:
    options = one_table([NUMBER], {"m": {"name": "pearson", "by": "g", **undefined}})
    gold = csv_of("id,x,g", [["1", 1, "a"], ["2", 2, "a"], ["3", 3, "b"], ["4", 5, "b"]])
    answers = csv_of("id,x", [["1", 1], ["2", 2], ["3", 9], ["4", 9]])
    result = score_and_resample(options, gold, answers, tmp_path).results["t"]
    assert result.metrics["m"].value == pytest.approx((1 + counted) / 2)
    assert ("undefined=0.25" in result.settings["m"]) is bool(undefined)
    assert any("undefined for b" in text for text in result.warnings)
