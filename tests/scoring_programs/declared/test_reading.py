"""Files of every format: rows are matched by key, and everything wrong with them is said at once, with its place."""

import contextlib
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from declared import organiser
from declared.answers import Answers
from declared.organiser import template_files
from declared.reference import GoldTable, most_megabytes
from declared.tables import tables_of
from scoring_kit.errors import OrganiserError, SubmissionError
from scoring_kit.results import BarChart
from tests.scoring_programs.declared import declaring
from tests.scoring_programs.declared.declaring import (
    Given,
    csv_of,
    declared_options,
    jsonl_of,
    one_table,
    read_gold,
    request_of,
    score,
)

LABEL = {"field": "label", "type": "label", "values": ["a", "b"]}
NUMBER = {"field": "x", "type": "number", "min": 0, "max": 1}
GOLD = csv_of("id,label,x", [["1", "a", 0], ["2", "b", 1], ["3", "a", 0.5]])
RIGHT = [{"id": str(i), "label": label, "x": x} for i, label, x in ((2, "b", 1), (3, "a", 0.5), (1, "a", 0))]


def both(file: str, **keys: Any) -> dict[str, Any]:
    return one_table(
        [LABEL, NUMBER],
        {"acc": {"name": "accuracy", "field": "label"}, "mse": {"name": "mse", "field": "x"}},
        file=file,
        **keys,
    )


def delimited(rows: list[dict[str, Any]], delimiter: str) -> str:
    lines = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    return "".join(delimiter.join(line) + "\n" for line in lines)


FORMATS = {
    "p.csv": delimited(RIGHT, ","),
    "p.tsv": delimited(RIGHT, "\t"),
    "p.jsonl": jsonl_of(RIGHT),
    "p.json": json.dumps(RIGHT),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "changed", [lambda t: t, lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), lambda t: t + "\n\n"]
)
def test_every_format_is_matched_by_key(name: str, changed: Any, tmp_path: Path) -> None:
    text = changed(FORMATS[name])
    result = score(both(name), GOLD, {name: text}, tmp_path)
    assert (result.value("acc"), result.value("mse")) == (1.0, 0.0)


def refused(options: dict[str, Any], gold: Given, answers: Given, folder: Path) -> str:
    return "\n".join(declaring.refused(options, gold, answers, folder))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1,a,0", "2,c,1", "3,a,0"], 'p.csv:3: label has an unknown label: "c". Expected: one of a, b.'),
        (["1,a,0", "2, b,1", "3,a,0"], "p.csv:3: label has blanks around it"),
        (["1,,0", "2,b,1", "3,a,0"], "p.csv:2: label is empty"),
        (["1,a,2", "2,b,1", "3,a,0"], 'p.csv:2: x is out of range: "2". Expected: a finite number from 0 to 1'),
        (["1,a,nan", "2,b,1", "3,a,0"], 'p.csv:2: x is not a number: "nan"'),
        (['1,a,"0,5"', "2,b,1", "3,a,0"], "p.csv:2: x is not a number"),
        (["1,a,1e400", "2,b,1", "3,a,0"], "p.csv:2: x is not finite"),
        (["1,a,0", "1,b,1", "3,a,0"], 'p.csv:3: a second row for "1", after p.csv:2'),
        (["1,a,0", "2,b,1"], 'p.csv: no row for 1 of 3 keys: "3"'),
        (["1,a,0", "2,b,1", "4,a,0"], 'p.csv:4: unknown id "4". Expected: ids of this phase\'s data alone.'),
        (
            ["1,a,0", "8,b,1", "9,a,0"],
            'p.csv:3: 2 rows have an unknown id: "8", "9". Expected: ids of this phase\'s data alone.',
        ),
        (
            [f"{n},a,0" for n in range(10, 20)],
            'p.csv:2: 10 rows have an unknown id: "10", "11", "12", "13", "14" and 5 more. Expected: ids of this '
            "phase's data alone; no row has one, so this may be the file of another phase.",
        ),
        (["1,a,0", "2,b,1", " 3,a,0"], 'p.csv:4: id has blanks around it: " 3"'),
        (["1,a,0", "2,b,1", ",a,0"], "p.csv:4: id is empty"),
        (["1,a,0", "2,b", "3,a,0"], "p.csv:3: has 2 cells. Expected: 3, as many as the header"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(rows: list[str], message: str, tmp_path: Path) -> None:
    assert message in refused(both("p.csv"), GOLD, {"p.csv": "\n".join(["id,label,x", *rows])}, tmp_path)


@pytest.mark.parametrize(
    ("start", "quote", "quoting"),
    [("", "", "none"), ("", '"', "rfc4180"), ("\ufeff", "", "rfc4180"), ("\ufeff", '"', "none")],
)
@pytest.mark.parametrize(
    ("name", "separator", "found", "expected"),
    [
        ("p.csv", ";", "semicolons", "commas"),
        ("p.csv", "\t", "tabs", "commas"),
        ("p.tsv", ",", "commas", "tabs"),
        ("p.tsv", ";", "semicolons", "tabs"),
    ],
)
def test_another_separator_is_named_and_nothing_else(
    name: str, separator: str, found: str, expected: str, start: str, quote: str, quoting: str, tmp_path: Path
) -> None:
    text = start + delimited([{f"{quote}{key}{quote}": row[key] for key in row} for row in RIGHT], separator)
    with pytest.raises(SubmissionError) as caught:
        score(both(name, quoting=quoting), GOLD, {name: text}, tmp_path)
    wanted = f"{expected}; save the file again with {expected}."
    assert caught.value.messages[0] == f"{name}:1: fields are separated by {found}. Expected: {wanted}"
    assert (caught.value.found, caught.value.warnings) == (1, [])


def test_gold_of_another_separator(tmp_path: Path) -> None:
    gold = GOLD.replace(",", ";")
    with pytest.raises(OrganiserError, match=r"gold\.csv:1: fields are separated by semicolons"):
        score(both("p.csv"), gold, {"p.csv": FORMATS["p.csv"]}, tmp_path)


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    text = csv_of("id,label,x", [["1", "c", 2], ["9", "a", 0], ["2", "b", "?"]])
    messages = refused(both("p.csv"), GOLD, {"p.csv": text}, tmp_path)
    for part in ("unknown label", "out of range", 'unknown id "9"', "not a number", "no row for"):
        assert part in messages
    assert messages.count("\n") == 4


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"label": "a", "x": True}, 'x is a boolean, not a number: "true"'),
        ({"label": "a", "x": "0.5"}, 'x is a string, not a number: "0.5"'),
        ({"label": "a", "x": None}, "x is null"),
        ({"label": "a"}, "x is missing"),
        ({"label": ["a"], "x": 0}, "label is a list, not a text"),
        ({"label": "a", "x": 10**400}, "x is not finite"),
    ],
)
def test_json_values_of_other_types(value: dict[str, Any], message: str, tmp_path: Path) -> None:
    lines = [{"id": "1", **value}, *(row for row in RIGHT if row["id"] != "1")]
    found = refused(both("p.jsonl"), GOLD, {"p.jsonl": jsonl_of(lines)}, tmp_path)
    assert f"p.jsonl:1: {message}" in found


@pytest.mark.parametrize("number", ["1.1e50", "-1e155", "1e308"])
@pytest.mark.parametrize("text", ["id,x\n1,{}\n2,0\n", '{{"id": 1, "x": {}}}\n{{"id": 2, "x": 0}}\n'])
def test_a_number_too_large_to_be_squared_is_the_participants(number: str, text: str, tmp_path: Path) -> None:
    file = "p.csv" if text.startswith("id") else "p.jsonl"
    options = one_table([{"field": "x", "type": "number"}], {"mse": "mse"}, file=file)
    found = refused(options, "id,x\n1,0\n2,1\n", {file: text.format(number)}, tmp_path)
    assert ": x is far out of range: " in found
    assert "Expected: a finite number, such as 0.25, at most 1e+50 in size." in found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('[[16, 22, "LOC"]]', "spans is a string, not a list: "),
        ([[0, 4.0, "PER"]], "spans has a span whose start or end is not a whole number: "),
        ([[0, None]], 'spans has a span whose start or end is not a whole number: "[[0, null]]"'),
        ([[4, 4]], "spans has a span whose start is negative, or not before its end: "),
        ([[-1, 4]], "spans has a span whose start is negative, or not before its end: "),
        ([[0, 10**12]], "spans has a span that is far out of range: "),
        ([[0, 4, 7]], "spans has a span whose type is not a text: "),
        ([[0]], "spans has a span of another form: "),
    ],
)
def test_spans_of_other_forms(value: object, message: str, tmp_path: Path) -> None:
    options = one_table([{"field": "spans", "type": "spans"}], {"f1": "set_f1"}, file="p.jsonl")
    gold = csv_of("id,spans", [["1", '[[16, 22, "LOC"]]']])
    answer = json.dumps({"id": "1", "spans": value}) + "\n"
    found = refused(options, gold, {"p.jsonl": answer}, tmp_path)
    assert f"p.jsonl:1: {message}" in found
    assert "Expected: a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end" in found


def test_a_json_name_that_occurs_twice(tmp_path: Path) -> None:
    text = '{"id": "1", "label": "a", "label": "b", "x": 0}\n'
    found = refused(both("p.jsonl"), GOLD, {"p.jsonl": text}, tmp_path)
    assert "p.jsonl:1" in found
    assert '"label"' in found


def test_whole_numbers_and_booleans_of_json_are_their_text(tmp_path: Path) -> None:
    fields = [{"field": "label", "type": "label", "values": [1, True]}]
    options = one_table(fields, {"acc": "accuracy"}, file="p.jsonl")
    gold = csv_of("id,label", [["1", "1"], ["2", "true"]])
    text = '{"id": 2, "label": true}\n{"id": 1, "label": 1}\n'
    assert score(options, gold, {"p.jsonl": text}, tmp_path).value("acc") == 1


def test_a_wrong_spelling_of_a_column_is_named_once(tmp_path: Path) -> None:
    text = csv_of("id,Label,x", [["1", "a", 0]])
    messages = refused(both("p.csv"), GOLD, {"p.csv": text}, tmp_path)
    assert messages == 'p.csv:1: unknown column "Label". Expected: the spelling label.'


@pytest.mark.parametrize(("header", "column"), [("id,label,x,label", "label"), ("id,id,label,x", "id")])
def test_a_column_that_is_there_twice_is_refused(header: str, column: str, tmp_path: Path) -> None:
    """Which of the two is meant cannot be known: the first one must not be scored silently."""
    expected = f'p.csv:1: the column "{column}" is there more than once. Expected: each column once.'
    assert expected in refused(both("p.csv"), GOLD, {"p.csv": csv_of(header, [["1", "1", "1", "1"]])}, tmp_path)


def test_further_columns_are_ignored_with_a_warning(tmp_path: Path) -> None:
    text = csv_of("id,label,x,note", [[*row.values(), "hm"] for row in RIGHT])
    result = score(both("p.csv"), GOLD, {"p.csv": text}, tmp_path)
    assert result.warnings == ['p.csv:1: further column is not read: "note".']


def test_another_name_of_the_only_file_is_taken_with_a_warning(tmp_path: Path) -> None:
    result = score(both("p.csv"), GOLD, {"mine.csv": FORMATS["p.csv"]}, tmp_path)
    assert result.warnings == ["mine.csv: read as p.csv, since it is the only .csv file."]
    files = {"mine.csv": FORMATS["p.csv"], "other.csv": FORMATS["p.csv"]}
    assert "2 .csv files" in refused(both("p.csv"), GOLD, files, tmp_path / "two")


def test_lines_end_where_a_line_feed_is_alone(tmp_path: Path) -> None:
    options = declared_options("""
        submission: {file: p.txt, fields: [{field: text, type: text}]}
        reference: {file: gold.txt}
        tasks: [{id: t, columns: [{key: em, metric: exact_match}]}]
    """)
    gold = {"gold.txt": "one\ntwo\u2028and\x0bmore\nthree"}
    sent = {"p.txt": "one\r\ntwo\u2028and\x0bmore\r\n3\r\n"}
    assert score(options, gold, sent, tmp_path).value("em") == pytest.approx(2 / 3)


def test_unquoted_cells_stand_as_they_are(tmp_path: Path) -> None:
    fields = [{"field": "text", "type": "text"}]
    options = one_table(
        fields, {"em": "exact_match"}, file="p.tsv", quoting="none", reference={"file": "gold.tsv", "quoting": "none"}
    )
    text = 'id\ttext\n1\t"so\n2\tshe said "no"\n'
    assert score(options, {"gold.tsv": text}, {"p.tsv": text}, tmp_path).value("em") == 1


def test_missing_rows_may_be_empty_answers(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        LABEL,
        {"field": "tags", "type": "labels", "values": ["p", "q"]},
        {"field": "text", "type": "text"},
    ]
    metrics = {
        "acc": {"name": "accuracy", "field": "label"},
        "jaccard": {"name": "jaccard", "field": "tags"},
        "em": {"name": "exact_match", "field": "text"},
    }
    options = one_table(fields, metrics, missing="empty")
    gold = csv_of("id,label,tags,text", [["1", "a", "p", "t"], ["2", "b", "", ""], ["3", "b", "", ""]])
    answers = csv_of("id,label,tags,text", [["1", "a", "p", "t"], ["3", "b", "p", ""]])
    result = score(options, gold, answers, tmp_path)
    assert result.value("acc") == pytest.approx(2 / 3)
    assert result.value("jaccard") == pytest.approx((1 + 1 + 0) / 3)
    assert result.value("em") == 1
    assert any("no row for 1 of 3 keys" in text for text in result.warnings)


def test_rows_are_chosen_and_grouped_by_columns_of_the_gold(tmp_path: Path) -> None:
    metrics = {
        "a": {"name": "accuracy", "where": {"lang": ["x", "y"]}},
        "b": {"name": "accuracy", "by": "lang"},
        "c": {"name": "accuracy", "where": {"sure": {"min": 0.5}}},
        "d": {"name": "accuracy", "where": {"sure": {"max": 0.5}}, "by": ["lang"]},
        "e": {"name": "accuracy", "where": {"sure": [1, 0.9]}},
    }
    options = one_table([LABEL], metrics)
    rows = [["1", "a", "x", 0.1], ["2", "b", "y", 0.5], ["3", "a", "z", 0.9], ["4", "a", "z", 1]]
    gold = csv_of("id,label,lang,sure", rows)
    answers = csv_of("id,label", [["4", "b"], ["3", "a"], ["2", "b"], ["1", "b"]])
    result = score(options, gold, answers, tmp_path)
    values = [result.value(key) for key in "abcde"]
    assert values == pytest.approx([1 / 2, (0 + 1 + 1 / 2) / 3, 2 / 3, (0 + 1) / 2, 1 / 2])


def test_groups_of_two_columns_are_told_apart_by_each_of_them(tmp_path: Path) -> None:
    options = one_table([LABEL], {"m": {"name": "accuracy", "by": ["city", "topic"]}})
    places = [("a, b", "c")] * 8 + [("a", "b, c")] * 2
    gold = csv_of("id,label,city,topic", [[i, "a", *place] for i, place in enumerate(places)])
    answers = csv_of("id,label", [[i, "a" if i < 8 else "b"] for i in range(10)])
    found = score(options, gold, answers, tmp_path)
    assert found.value("m") == (8 / 8 + 0 / 2) / 2
    (chart,) = (figure for figure in found.results["t"].figures if isinstance(figure, BarChart))
    assert [(bar.value, bar.items) for bar in chart.bars] == [(0.0, 2), (1.0, 8)]


def test_keys_of_two_parts_are_units_of_their_own(tmp_path: Path) -> None:
    options = declared_options("""
        submission: {file: p.csv, key: [doc, s], fields: [{field: label, type: label}]}
        reference: {file: gold.csv}
        tasks: [{id: t, columns: [{key: acc, metric: accuracy}]}]
    """)
    gold = csv_of("doc,s,label", [["a, b", "c", "x"], ["a", "b, c", "y"], ["a", "c", "y"]])
    answers = gold.replace("c,x", "c,y")
    result = score(options, gold, {"p.csv": answers}, tmp_path).results["t"]
    assert result.units is not None
    right = result.units().statistics["acc"].over(np.eye(3))  # each key alone
    assert right.tolist() == [0, 1, 1]


def test_an_own_function_gets_rows_in_the_order_of_the_keys(tmp_path: Path) -> None:
    code = (
        "def mine(gold, predicted, *, factor):\n"
        "    assert [row['id'] for row in gold] == [row['id'] for row in predicted]\n"
        "    assert gold[0]['tags'] == frozenset({'p', 'q'}) and predicted[1]['label'] is None\n"
        "    assert gold[0]['note'] == 'hm' and 'note' not in predicted[0]\n"
        "    return factor * sum(g['label'] == p['label'] for g, p in zip(gold, predicted))\n"
    )
    fields: list[dict[str, Any]] = [{**LABEL, "required": False}, {"field": "tags", "type": "labels"}]
    own = {"own": {"name": "metrics.py:mine", "factor": 10}}
    options = one_table(fields, own, folder=tmp_path, code=code, file="p.csv")
    gold = csv_of("id,label,tags,note", [["1", "a", "p|q", "hm"], ["2", "b", "", ""]])
    answers = csv_of("id,label,tags", [["2", "", ""], ["1", "a", "p"]])
    assert score(options, gold, {"p.csv": answers}, tmp_path).value("own") == 10


def warnings_of_the_build(options: dict[str, Any], gold: str, folder: Path) -> list[str]:
    (folder / "gold.csv").write_text(gold, encoding="utf-8")
    return list(organiser.check_reference(request_of(options, reference=folder))["warnings"])


@pytest.mark.parametrize(
    ("metric", "of_right", "of_wrong"),
    [
        ({"name": "span_f1", "field": "tags"}, 0, 0),
        ({"name": "span_recall", "field": "tags", "average": "macro"}, 0, 0),
        ({"name": "f1", "field": "topics"}, 0, 0),
        ({"name": "precision", "field": "topics", "average": "micro", "labels": "declared"}, 0, 0),
        ({"name": "f1", "field": "topics", "average": "samples"}, 0, 0),
        ({"name": "recall", "field": "label", "average": "binary", "positive": "b"}, 0, 0),
        ({"name": "set_f1", "field": "topics"}, 0, 0),
        ({"name": "set_f1", "fields": ["topics", "spans"], "match": "exact"}, 0, 0),
        ({"name": "set_f1", "field": "spans", "average": "macro"}, 1, 0),
        ({"name": "jaccard", "field": "topics"}, 1, 0),
        ({"name": "jaccard", "field": "topics", "average": "macro"}, 1, 0.5),
        ({"name": "exact_match", "field": "topics"}, 1, 0),
        ({"name": "f1", "field": "label"}, 1, 0),
    ],
    ids=json.dumps,
)
def test_a_build_warns_of_groups_in_which_a_right_answer_scores_0(
    metric: dict[str, Any], of_right: float, of_wrong: float, tmp_path: Path
) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "tags", "type": "tags"},
        {"field": "topics", "type": "labels", "values": ["p", "q"]},
        {"field": "spans", "type": "spans"},
        LABEL,
    ]
    options = one_table(fields, {"c": {**metric, "by": "g"}})
    found, nothing, wrong = ["B-x O", "p", "[[0, 2]]", "b"], ["O O", "", "[]", "a"], ["B-x O", "p", "[[0, 2]]", "b"]

    def table(of_y: list[str]) -> str:
        rows = [*([i, *found, "x"] for i in range(3)), *([i, *of_y, "y"] for i in range(3, 6))]
        return csv_of("id,tags,topics,spans,label,g", rows)

    gold, folders = table(nothing), [tmp_path / side for side in ("right", "wrong")]
    values = [
        score(options, gold, answers, folder).value("c")
        for answers, folder in zip((gold, table(wrong)), folders, strict=True)
    ]
    assert values == [(1 + of_right) / 2, (1 + of_wrong) / 2]  # of the groups x and y
    warned = warnings_of_the_build(options, gold, tmp_path)
    assert [text.startswith("c: the gold has nothing to find in the group y, so") for text in warned] == [True] * (
        of_right == 0
    )


def test_many_rows_of_a_key_may_be_none_at_all(tmp_path: Path) -> None:
    metric = {"name": "set_f1", "by": "g"}
    reference = {"file": "gold.csv", "keys": "docs.csv"}
    options = one_table([LABEL], {"c": metric, "m": {**metric, "average": "macro"}}, rows="many", reference=reference)
    (tmp_path / "docs.csv").write_text("id,g\n1,x\n2,y\n3,z\n")
    (warning,) = warnings_of_the_build(options, csv_of("id,label", [["1", "a"]]), tmp_path)
    assert warning.startswith("c: the gold has nothing to find in the group y and 1 more, so that no answer")
    assert warnings_of_the_build(options, csv_of("id,label", [["1", "a"], ["2", "b"], ["3", "b"]]), tmp_path) == []


def test_a_build_warns_of_texts_without_a_token_for_rouge_in_all_fields(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [{"field": "x", "type": "text"}, {"field": "y", "type": "text"}]
    options = one_table(fields, {"c": {"name": "rouge", "fields": ["x", "y"]}})
    (warning,) = warnings_of_the_build(options, csv_of("id,x,y", [["1", "щи", "каша"], ["2", "tea", "чай"]]), tmp_path)
    assert warning.startswith("c: rouge-score sees no token in 3 of 4 gold texts")
    assert warnings_of_the_build(options, csv_of("id,x,y", [["1", "щи", "soup"], ["2", "tea", "чай"]]), tmp_path) == []


@pytest.mark.parametrize("metric", ["set_f1", "exact_match"])
def test_rows_of_a_key_have_no_references_to_choose_from(metric: str, tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "text"}], {"c": metric}, rows="many")
    plain = csv_of("id,x", [["1", "one"], ["1", '["two"]']])
    assert score(options, plain, plain, tmp_path).value("c") == 1


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([["1", "a", 0], ["1", "b", 0]], "gold.csv:3: a second row"),
        ([["1", "a", 0], ["", "b", 0]], "gold.csv:3: id is empty"),
        ([["1", "zz", 0]], "gold.csv:2: label has an unknown label"),
        ([["1", "a", "much"]], "gold.csv:2: x is not a number"),
        ([], "gold.csv: has no rows"),
    ],
)
def test_faults_of_the_gold_name_its_line_and_no_value(gold: list[list[Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as caught:
        read_gold(both("p.csv"), csv_of("id,label,x", gold), tmp_path)
    text = "\n".join(caught.value.messages)
    assert message in text
    assert "zz" not in text
    assert "much" not in text


def test_columns_that_metrics_need_are_looked_for_in_the_gold(tmp_path: Path) -> None:
    options = one_table([LABEL], {"acc": {"name": "accuracy", "by": "lang"}})
    with pytest.raises(OrganiserError) as caught:
        read_gold(options, "id\n1\n", tmp_path)
    assert caught.value.messages == [
        "gold.csv:1: the column label is missing. Expected: the gold of the column acc.",
        "gold.csv:1: the column lang is missing. Expected: the groups of acc.",
    ]


@pytest.mark.parametrize("name", ["p.tsv", "p.json"])
@pytest.mark.parametrize(
    ("field", "metric", "gold", "value"),
    [
        ({"type": "label", "values": ["a", "b"], "required": False}, "accuracy", "a", 0),
        ({"type": "label", "values": ["b", "a"]}, "accuracy", "b", 1),
        ({"type": "number", "required": False}, None, 7, None),
        ({"type": "number"}, "mae", 7, 7),
        ({"type": "number", "min": 5}, "mae", 7, 2),
        ({"type": "number", "max": -1.2345612}, "mae", -2, 0.7654388),
        ({"type": "number", "min": -1, "max": 1}, "mae", -1, 1),
    ],
)
def test_the_template_is_a_valid_answer(
    name: str, field: dict[str, Any], metric: str | None, gold: Any, value: float | None, tmp_path: Path
) -> None:
    metrics = {
        "acc": {"name": "accuracy", "field": "label"},
        **({"y": {"name": metric, "field": "y"}} if metric else {}),
    }
    options = one_table([LABEL, {"field": "y", **field}], metrics, file=name)
    files = csv_of("id,label,y", [["1", "b", gold], ["2", "a", gold]])
    (table,) = read_gold(options, files, tmp_path).values()
    template = template_files([table], [table.table.answers])[name]
    result = score(options, files, {name: template}, tmp_path)
    assert result.value("acc") == 0.5
    assert metric is None or result.value("y") == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", FORMATS)
def test_tags_are_as_many_as_those_of_the_gold_column_that_they_are_compared_with(name: str, tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [{"field": "tags", "type": "tags"}, {"field": "spare", "type": "tags"}]
    options = one_table(fields, {"f": {"name": "span_f1", "field": "tags", "gold": "first"}}, file=name)
    files = csv_of("id,first", [["1", "B-x O O"], ["2", "O"]])
    (table,) = read_gold(options, files, tmp_path).values()
    template = template_files([table], [table.table.answers])[name]
    assert template.count("O") == 4
    assert score(options, files, {name: template}, tmp_path).value("f") == 0
    short = template.replace("O O O", "O O").replace('"O", "O", "O"', '"O", "O"')
    assert "tags has 2 tags. Expected: 3, one for each token" in refused(options, files, {name: short}, tmp_path)


ANYTHING = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    [
        "id,label,x\n1,a,0\n2,b,1\n3,a,0\n",
        "[]",
        "{}",
        '{"1": {}}',
        '[{"id": 1}]',
        "id,label,x\n1,a",
        '"',
        "\r",
        "\x00",
        "[" * 3000,
    ]
)


BOTH = {name: both(name) for name in FORMATS}


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANYTHING, name=st.sampled_from([*FORMATS]))
def test_no_file_ends_in_a_traceback(text: str, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with contextlib.suppress(SubmissionError):
        score(BOTH[name], GOLD, {name: text}, tmp_path_factory.mktemp("any"))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12), min_size=1, max_size=5
    ),
    name=st.sampled_from([*FORMATS]),
)
def test_any_text_survives_any_format(texts: list[str], name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A text is read as it was written, so that the gold equals itself, whatever lines and quotes it holds."""
    rows = [{"id": f"k{i}", "text": text} for i, text in enumerate(texts)]
    shuffled = random.Random(0).sample(rows, len(rows))
    if name.endswith("sv"):
        quoted = [{key: '"' + value.replace('"', '""') + '"' for key, value in row.items()} for row in shuffled]
        text = delimited(quoted, "\t" if name == "p.tsv" else ",")
    else:
        text = json.dumps(shuffled) if name == "p.json" else jsonl_of(shuffled)
    folder = tmp_path_factory.mktemp("text")
    code = "def same(gold, predicted):\n    return float(gold == predicted)\n"
    keys = {"reference": {"file": "gold.jsonl"}, "folder": folder, "code": code, "file": name}
    options = one_table([{"field": "text", "type": "text"}], {"c": "metrics.py:same"}, **keys)
    gold = {"gold.jsonl": jsonl_of(rows)}
    assert score(options, gold, {name: text}, folder).value("c") == 1


@pytest.mark.parametrize("rows", ["one", "many"])
@pytest.mark.parametrize("value", [{"label": "a"}, []])
def test_an_unknown_id_of_json_is_one_problem(rows: str, value: Any, tmp_path: Path) -> None:
    options = one_table([LABEL], {"m": "exact_match"}, file="answers.json", rows=rows)
    gold = csv_of("id,label", [["1", "a"], ["2", "b"]])
    known = {"1": {"label": "a"}, "2": {"label": "b"}}
    right = {key: [one] if rows == "many" else one for key, one in known.items()}
    sent = {**right, "zz": [value] if rows == "many" and value else value}
    (message,) = declaring.refused(options, gold, {"answers.json": json.dumps(sent)}, tmp_path)
    assert (rows == "one" and not value) or 'unknown id "zz"' in message


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ({"type": "tags"}, "O O", 'a JSON list of tags O, B-x or I-x, such as ["O", "B-x"]'),
        ({"type": "tags"}, ["O", "X"], 'a JSON list of tags O, B-x or I-x, such as ["O", "B-x"]'),
        ({"type": "labels", "values": ["a", "b"]}, "a|b", "a JSON list of a, b"),
        ({"type": "labels", "values": ["a", "b"]}, ["c"], "a JSON list of a, b"),
        ({"type": "labels", "values": ["a", "b"]}, None, "a JSON list of a, b"),
        ({"type": "texts"}, "a", 'a JSON list of texts, such as ["one", "two"]'),
        ({"type": "label", "values": ["a", "b"]}, ["a"], "one of a, b"),
    ],
)
def test_lists_are_asked_for_as_json_in_json(field: dict[str, Any], value: Any, expected: str, tmp_path: Path) -> None:
    options = one_table([{"field": "x", **field}], {"m": "exact_match"}, file="p.json")
    cell = {"tags": "O O", "texts": "[]"}.get(field["type"], "a")
    sent = {"p.json": json.dumps([{"id": "1", "x": value}])}
    found = refused(options, csv_of("id,x", [["1", cell]]), sent, tmp_path)
    assert f"Expected: {expected}" in found
    assert "separated by" not in found


@pytest.mark.parametrize(
    ("keys", "size", "many", "megabytes"),
    [
        (3, 40, False, 20.0),
        (500, 2_000_000, False, 100.0),
        (50_000, 900_000, False, 500.0),  # 10 kB a key
        (1_000, 20_000, True, 200.0),  # rankings of a thousand rows a key
        (1_000_000, 20_000_000, False, 500.0),
    ],
)
def test_the_largest_file_follows_from_the_gold(keys: int, size: int, many: bool, megabytes: float) -> None:
    (declared,) = tables_of(one_table([{"field": "x", "type": "string"}], {"m": "exact_match"})).values()
    table = replace(declared, many=many)
    gold = GoldTable(table, {}, [("k",)] * keys, Answers({}, [], []), {}, {}, {}, {}, {}, size=size)
    assert most_megabytes(gold) == megabytes


def test_a_file_that_no_answer_needs_is_refused_unread(tmp_path: Path) -> None:
    gold = "id,x\n1,a\n2,b\n"
    answers = "id,x\n" + "1,a\n" * 5_500_000
    told = refused(one_table([{"field": "x", "type": "string"}], {"m": "exact_match"}), gold, answers, tmp_path)
    assert "is 22.0 MB in size. Expected: at most 20 MB" in told
