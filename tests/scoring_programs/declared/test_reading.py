"""Files of every format: rows are matched by key, and everything wrong with them is said at once, with its place."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring_kit.errors import OrganiserError, SubmissionError
from tests.scoring_programs.declared.declaring import (
    csv_of,
    declared_options,
    gold_faults,
    one_table,
    read_gold,
    score,
)

LABEL = {"field": "label", "type": "label", "values": ["a", "b"]}
NUMBER = {"field": "x", "type": "number", "min": 0, "max": 1}
GOLD = csv_of("id,label,x", [["1", "a", 0], ["2", "b", 1], ["3", "a", 0.5]])
RIGHT = [{"id": str(i), "label": label, "x": x} for i, label, x in ((2, "b", 1), (3, "a", 0.5), (1, "a", 0))]


def both(file: str, **keys: Any) -> dict[str, Any]:
    return one_table(
        [LABEL, NUMBER],
        {"acc": {"name": "accuracy", "field": "label"}, "mse": "mse"} | {"mse": {"name": "mse", "field": "x"}},
        file=file,
        **keys,
    )


def delimited(rows: list[dict[str, Any]], delimiter: str) -> str:
    lines = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    return "".join(delimiter.join(line) + "\n" for line in lines)


FORMATS = {
    "p.csv": delimited(RIGHT, ","),
    "p.tsv": delimited(RIGHT, "\t"),
    "p.jsonl": "".join(json.dumps(row) + "\n" for row in RIGHT),
    "p.json": json.dumps(RIGHT),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "changed", [lambda t: t, lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"), lambda t: t + "\n\n"]
)
def test_every_format_is_matched_by_key(name: str, changed: Any, tmp_path: Path) -> None:
    text = changed(FORMATS[name])
    result = score(both(name), {"gold.csv": GOLD}, {name: text}, tmp_path)
    assert (result.value("acc"), result.value("mse")) == (1.0, 0.0)


def test_an_object_whose_names_are_the_keys(tmp_path: Path) -> None:
    text = json.dumps({row["id"]: {"label": row["label"], "x": row["x"]} for row in RIGHT})
    assert score(both("p.json"), {"gold.csv": GOLD}, {"p.json": text}, tmp_path).value("acc") == 1


def refused(options: dict[str, Any], gold: dict[str, str], answers: dict[str, str], folder: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        score(options, gold, answers, folder)
    return "\n".join(caught.value.messages)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [["1", "a", 0], ["2", "c", 1], ["3", "a", 0]],
            'p.csv:3: label has an unknown label "c". Expected: one of a, b.',
        ),
        ([["1", "a", 0], ["2", " b", 1], ["3", "a", 0]], "p.csv:3: label has blanks around it"),
        ([["1", "", 0], ["2", "b", 1], ["3", "a", 0]], "p.csv:2: label is empty"),
        (
            [["1", "a", 2], ["2", "b", 1], ["3", "a", 0]],
            'p.csv:2: x is out of range "2". Expected: a finite number from 0 to 1',
        ),
        ([["1", "a", "nan"], ["2", "b", 1], ["3", "a", 0]], 'p.csv:2: x is not a number "nan"'),
        ([["1", "a", "0,5"], ["2", "b", 1], ["3", "a", 0]], "p.csv:2: x is not a number"),
        ([["1", "a", "1e400"], ["2", "b", 1], ["3", "a", 0]], "p.csv:2: x is not finite"),
        ([["1", "a", 0], ["1", "b", 1], ["3", "a", 0]], 'p.csv:3: a second row for "1", after p.csv:2'),
        ([["1", "a", 0], ["2", "b", 1]], 'p.csv: no row for 1 of 3 keys: "3"'),
        ([["1", "a", 0], ["2", "b", 1], ["4", "a", 0]], 'p.csv:4: unknown id "4"'),
        ([["1", "a", 0], ["2", "b", 1], [" 3", "a", 0]], 'p.csv:4: id has blanks around it: " 3"'),
        ([["1", "a", 0], ["2", "b", 1], ["", "a", 0]], "p.csv:4: id is empty"),
        ([["1", "a", 0], ["2", "b"], ["3", "a", 0]], "p.csv:3: has 2 cells. Expected: 3, as many as the header"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(rows: list[list[Any]], message: str, tmp_path: Path) -> None:
    assert message in refused(both("p.csv"), {"gold.csv": GOLD}, {"p.csv": csv_of("id,label,x", rows)}, tmp_path)


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("quoting", ["rfc4180", "none"])
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
        score(both(name, quoting=quoting), {"gold.csv": GOLD}, {name: text}, tmp_path)
    wanted = f"{expected}; save the file again with {expected}."
    assert caught.value.messages[0] == f"{name}:1: fields are separated by {found}. Expected: {wanted}"
    assert (caught.value.found, caught.value.warnings) == (1, [])


def test_gold_of_another_separator(tmp_path: Path) -> None:
    gold = GOLD.replace(",", ";")
    with pytest.raises(OrganiserError, match=r"gold\.csv:1: fields are separated by semicolons"):
        score(both("p.csv"), {"gold.csv": gold}, {"p.csv": FORMATS["p.csv"]}, tmp_path)


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    text = csv_of("id,label,x", [["1", "c", 2], ["9", "a", 0], ["2", "b", "?"]])
    messages = refused(both("p.csv"), {"gold.csv": GOLD}, {"p.csv": text}, tmp_path)
    assert [
        part in messages for part in ("unknown label", "out of range", 'unknown id "9"', "not a number", "no row for")
    ]
    assert messages.count("\n") == 4


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"label": "a", "x": True}, 'x is a boolean, not a number "true"'),
        ({"label": "a", "x": "0.5"}, 'x is a string, not a number "0.5"'),
        ({"label": "a", "x": None}, "x is null"),
        ({"label": "a"}, "x is missing"),
        ({"label": ["a"], "x": 0}, "label is a list, not a text"),
        ({"label": "a", "x": 10**400}, "x is not finite"),
    ],
)
def test_json_values_of_other_types(value: dict[str, Any], message: str, tmp_path: Path) -> None:
    lines = [{"id": "1", **value}, *(row for row in RIGHT if row["id"] != "1")]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    found = refused(both("p.jsonl"), {"gold.csv": GOLD}, {"p.jsonl": text}, tmp_path)
    assert f"p.jsonl:1: {message}" in found


@pytest.mark.parametrize("number", ["1.1e50", "-1e155", "1e308"])
@pytest.mark.parametrize("text", ["id,x\n1,{}\n2,0\n", '{{"id": 1, "x": {}}}\n{{"id": 2, "x": 0}}\n'])
def test_a_number_too_large_to_be_squared_is_the_participants(number: str, text: str, tmp_path: Path) -> None:
    file = "p.csv" if text.startswith("id") else "p.jsonl"
    options = one_table([{"field": "x", "type": "number"}], {"mse": "mse"}, file=file)
    found = refused(options, {"gold.csv": "id,x\n1,0\n2,1\n"}, {file: text.format(number)}, tmp_path)
    assert ": x is far out of range " in found
    assert "Expected: a finite number, such as 0.25, at most 1e+50 in size." in found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('[[16, 22, "LOC"]]', "spans is a string, not a list "),
        ([[0, 4.0, "PER"]], "spans has a span whose start or end is not a whole number "),
        ([[0, None]], 'spans has a span whose start or end is not a whole number "[[0, null]]"'),
        ([[4, 4]], "spans has a span whose start is negative, or not before its end "),
        ([[-1, 4]], "spans has a span whose start is negative, or not before its end "),
        ([[0, 4, 7]], "spans has a span whose type is not a text "),
        ([[0]], "spans has a span of another form "),
    ],
)
def test_spans_of_other_forms(value: object, message: str, tmp_path: Path) -> None:
    options = one_table([{"field": "spans", "type": "spans"}], {"f1": "set_f1"}, file="p.jsonl")
    gold = {"gold.csv": csv_of("id,spans", [["1", '[[16, 22, "LOC"]]']])}
    answer = json.dumps({"id": "1", "spans": value}) + "\n"
    found = refused(options, gold, {"p.jsonl": answer}, tmp_path)
    assert f"p.jsonl:1: {message}" in found
    assert "Expected: a JSON list of [start, end] or [start, end, type] with 0 ≤ start < end" in found


def test_a_json_name_that_occurs_twice(tmp_path: Path) -> None:
    text = '{"id": "1", "label": "a", "label": "b", "x": 0}\n'
    found = refused(both("p.jsonl"), {"gold.csv": GOLD}, {"p.jsonl": text}, tmp_path)
    assert "p.jsonl:1" in found
    assert '"label"' in found


def test_whole_numbers_and_booleans_of_json_are_their_text(tmp_path: Path) -> None:
    fields = [{"field": "label", "type": "label", "values": [1, True]}]
    options = one_table(fields, {"acc": "accuracy"}, file="p.jsonl")
    gold = csv_of("id,label", [["1", "1"], ["2", "true"]])
    text = '{"id": 2, "label": true}\n{"id": 1, "label": 1}\n'
    assert score(options, {"gold.csv": gold}, {"p.jsonl": text}, tmp_path).value("acc") == 1


def test_a_wrong_spelling_of_a_column_is_named_once(tmp_path: Path) -> None:
    text = csv_of("id,Label,x", [["1", "a", 0]])
    messages = refused(both("p.csv"), {"gold.csv": GOLD}, {"p.csv": text}, tmp_path)
    assert messages == 'p.csv:1: unknown column "Label". Expected: the spelling label.'


def test_further_columns_are_ignored_with_a_warning(tmp_path: Path) -> None:
    text = csv_of("id,label,x,note", [[*row.values(), "hm"] for row in RIGHT])
    result = score(both("p.csv"), {"gold.csv": GOLD}, {"p.csv": text}, tmp_path)
    assert result.warnings == ['p.csv:1: further column is not read: "note".']


def test_another_name_of_the_only_file_is_taken_with_a_warning(tmp_path: Path) -> None:
    result = score(both("p.csv"), {"gold.csv": GOLD}, {"mine.csv": FORMATS["p.csv"]}, tmp_path)
    assert result.warnings == ["mine.csv: read as p.csv, since it is the only .csv file."]
    files = {"mine.csv": FORMATS["p.csv"], "other.csv": FORMATS["p.csv"]}
    assert "2 .csv files" in refused(both("p.csv"), {"gold.csv": GOLD}, files, tmp_path / "two")


def test_lines_answer_the_rows_of_the_gold(tmp_path: Path) -> None:
    declaration = """
        submission: {file: p.txt, fields: [{field: text, type: text}]}
        reference: {file: gold.txt}
        tasks: [{id: t, columns: [{key: em, metric: exact_match}]}]
    """
    options = declared_options(declaration)
    gold = {"gold.txt": "one\ntwo\u2028and\x0bmore\nthree"}
    assert score(options, gold, {"p.txt": "one\r\ntwo\u2028and\x0bmore\r\nthree\r\n"}, tmp_path).value("em") == 1
    assert "p.txt: has 2 lines. Expected: 3" in refused(options, gold, {"p.txt": "one\ntwo\n"}, tmp_path / "c")
    assert score(options, gold, {"p.txt": "one\n\nthree\n"}, tmp_path / "d").value("em") == pytest.approx(2 / 3)


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
        "f1": {"name": "f1", "field": "label"},
        "micro": {"name": "f1", "field": "label", "average": "micro"},
        "jaccard": {"name": "jaccard", "field": "tags"},
        "em": {"name": "exact_match", "field": "text"},
    }
    options = one_table(fields, metrics, missing="empty")
    gold = csv_of("id,label,tags,text", [["1", "a", "p", "t"], ["2", "b", "", ""], ["3", "b", "", ""]])
    answers = csv_of("id,label,tags,text", [["1", "a", "p", "t"], ["3", "b", "p", ""]])
    result = score(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path)
    assert result.value("acc") == pytest.approx(2 / 3)
    assert result.value("f1") == pytest.approx((1 + 2 / 3) / 2)
    assert result.value("micro") == pytest.approx(2 * 2 / (2 + 3))  # a key without an answer is no false positive
    assert result.value("jaccard") == pytest.approx((1 + 1 + 0) / 3)
    assert result.value("em") == 1
    assert any("no row for 1 of 3 keys" in text for text in result.warnings)


def test_rows_are_chosen_and_grouped_by_columns_of_the_gold(tmp_path: Path) -> None:
    metrics = {
        "a": {"name": "accuracy", "where": {"lang": ["x", "y"]}},
        "b": {"name": "accuracy", "by": "lang"},
        "c": {"name": "accuracy", "where": {"sure": {"min": 0.5}}},
        "d": {"name": "accuracy", "where": {"sure": {"max": 0.5}}, "by": ["lang"]},
    }
    options = one_table([LABEL], metrics)
    rows = [["1", "a", "x", 0.1], ["2", "b", "y", 0.5], ["3", "a", "z", 0.9], ["4", "a", "z", 1]]
    gold = csv_of("id,label,lang,sure", rows)
    answers = csv_of("id,label", [["4", "b"], ["3", "a"], ["2", "b"], ["1", "b"]])
    result = score(options, {"gold.csv": gold}, {"predictions.csv": answers}, tmp_path)
    values = [result.value(key) for key in "abcd"]
    assert values == pytest.approx([1 / 2, (0 + 1 + 1 / 2) / 3, 2 / 3, (0 + 1) / 2])


def test_several_tables_enter_several_tasks(tmp_path: Path) -> None:
    declaration = """
        submission:
          tables:
            labels:
              {file: l.csv, key: id, reference: {file: gl.csv}, fields: [{field: id}, {field: label, type: label}]}
            numbers:
              {file: n.tsv, key: [doc, s], reference: {file: gn.tsv}, fields: [{field: x, type: number}]}
        tasks:
          - {id: one, columns: [{key: acc, metric: {name: accuracy, table: labels}}]}
          - {id: two, columns: [{key: mae, metric: {name: mae, field: x}}]}
    """
    options = declared_options(declaration)
    gold = {"gl.csv": csv_of("id,label", [["1", "a"], ["2", "b"]]), "gn.tsv": "doc\ts\tx\nd\t1\t2\nd\t2\t3\n"}
    sent = {"l.csv": csv_of("id,label", [["2", "b"], ["1", "b"]])}
    result = score(options, gold, sent, tmp_path)
    assert set(result.results) == {"one"}
    assert result.value("acc") == 0.5
    both_tables = {**sent, "n.tsv": "doc\ts\tx\nd\t2\t3.5\nd\t1\t2\n"}
    assert score(options, gold, both_tables, tmp_path / "both").value("mae") == 0.25


def test_an_own_function_gets_rows_in_the_order_of_the_keys(tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text(
        "def mine(gold, predicted, *, weight):\n"
        "    assert [row['id'] for row in gold] == [row['id'] for row in predicted]\n"
        "    assert gold[0]['tags'] == frozenset({'p', 'q'}) and predicted[1]['label'] is None\n"
        "    assert gold[0]['note'] == 'hm' and 'note' not in predicted[0]\n"
        "    return weight * sum(g['label'] == p['label'] for g, p in zip(gold, predicted))\n"
    )
    fields = [{**LABEL, "required": False}, {"field": "tags", "type": "labels"}]
    metric = {"name": "metrics.py:mine", "weight": 10}
    declaration = {
        "submission": {"file": "p.csv", "key": "id", "fields": [{"field": "id", "type": "string"}, *fields]},
        "reference": {"file": "gold.csv"},
        "tasks": [{"id": "t", "columns": [{"key": "own", "metric": metric, "sort": "desc", "worst": 0}]}],
    }
    options = declared_options(json.dumps(declaration), tmp_path)
    gold = csv_of("id,label,tags,note", [["1", "a", "p|q", "hm"], ["2", "b", "", ""]])
    answers = csv_of("id,label,tags", [["2", "", ""], ["1", "a", "p"]])
    assert score(options, {"gold.csv": gold}, {"p.csv": answers}, tmp_path).value("own") == 10


@pytest.mark.parametrize(
    ("metric", "field", "gold", "message"),
    [
        ("pearson", {"type": "number"}, [["1", 1], ["2", 1]], "all gold values are equal"),
        (
            {"name": "pearson", "by": "g"},
            {"type": "number"},
            [["1", 1, "u"], ["2", 2, "u"], ["3", 1, "v"]],
            "in the group v",
        ),
        ({"name": "accuracy", "where": {"g": "zz"}}, LABEL, [["1", "a", "u"]], "no key is scored"),
        ({"name": "roc_auc", "positive": "b", "gold": "label"}, NUMBER, [["1", "a"]], "no gold label is b"),
        ("wer", {"type": "text"}, [["1", '["x", "y"]']], "compares with one text"),
    ],
)
def test_what_is_undefined_whatever_is_submitted_is_found_in_the_gold(
    metric: Any, field: dict[str, Any], gold: list[list[Any]], message: str, tmp_path: Path
) -> None:
    options = one_table([{"field": "x", **field}], {"c": metric})
    header = {"roc_auc": "id,label"}.get(metric["name"] if isinstance(metric, dict) else metric, "id,x,g")
    name = field.get("field", "x")
    columns = header.replace("x", name) if name != "x" else header
    text = csv_of(",".join(columns.split(",")[: len(gold[0])]), gold)
    assert any(message in fault for fault in gold_faults(options, {"gold.csv": text}, tmp_path))


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ([["1", "a", 0], ["1", "b", 0]], "gold.csv:3: a second row"),
        ([["1", "zz", 0]], "gold.csv:2: label has an unknown label"),
        ([["1", "a", "much"]], "gold.csv:2: x is not a number"),
        ([], "gold.csv: has no rows"),
    ],
)
def test_faults_of_the_gold_name_its_line_and_no_value(gold: list[list[Any]], message: str, tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as caught:
        read_gold(both("p.csv"), {"gold.csv": csv_of("id,label,x", gold)}, tmp_path)
    text = "\n".join(caught.value.messages)
    assert message in text
    assert "zz" not in text
    assert "much" not in text


def test_columns_that_metrics_need_are_looked_for_in_the_gold(tmp_path: Path) -> None:
    options = one_table([LABEL], {"acc": {"name": "accuracy", "by": "lang"}})
    with pytest.raises(OrganiserError) as caught:
        read_gold(options, {"gold.csv": "id\n1\n"}, tmp_path)
    assert caught.value.messages == [
        "gold.csv:1: the column label is missing. Expected: the gold of the column acc.",
        "gold.csv:1: the column lang is missing. Expected: the groups of acc.",
    ]


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


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANYTHING, name=st.sampled_from([*FORMATS]))
def test_no_file_ends_in_a_traceback(text: str, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with contextlib.suppress(SubmissionError):
        score(both(name), {"gold.csv": GOLD}, {name: text}, tmp_path_factory.mktemp("any"))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12), min_size=1, max_size=5
    ),
    name=st.sampled_from(["p.csv", "p.tsv", "p.jsonl", "p.json"]),
)
def test_any_text_survives_any_format(texts: list[str], name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A text is read as it was written, so that the gold equals itself, whatever lines and quotes it holds."""
    import csv
    import io

    rows = [{"id": f"k{i}", "text": text} for i, text in enumerate(texts)]
    shuffled = random.Random(0).sample(rows, len(rows))
    if name.endswith("sv"):
        buffer = io.StringIO(newline="")
        writer = csv.writer(
            buffer, delimiter="\t" if name == "p.tsv" else ",", lineterminator="\n", quoting=csv.QUOTE_ALL
        )
        writer.writerows([["id", "text"], *([row["id"], row["text"]] for row in shuffled)])
        text = buffer.getvalue()
    else:
        text = json.dumps(shuffled) if name == "p.json" else "".join(json.dumps(row) + "\n" for row in shuffled)
    metric = {"name": "metrics.py:same"}
    folder = tmp_path_factory.mktemp("text")
    (folder / "metrics.py").write_text("def same(gold, predicted):\n    return float(gold == predicted)\n")
    declaration = {
        "submission": {
            "file": name,
            "key": "id",
            "fields": [{"field": "id", "type": "string"}, {"field": "text", "type": "text"}],
        },
        "reference": {"file": "gold.jsonl"},
        "tasks": [{"id": "t", "columns": [{"key": "c", "metric": metric, "sort": "desc", "worst": 0}]}],
    }
    options = declared_options(json.dumps(declaration), folder)
    gold = {"gold.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}
    assert score(options, gold, {name: text}, folder).value("c") == 1
