"""The same answers in every file that may hold them give the same scores; what is wrong is named by its place."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from declared import organiser
from scoring_kit.errors import OrganiserError, SubmissionError
from tests.scoring_programs.declared.declaring import (
    Files,
    Scored,
    cell,
    csv_of,
    jsonl_of,
    one_table,
    one_task,
    options_of,
    read_gold,
    refused,
    request_of,
    score,
    template_of,
)
from tests.scoring_programs.framed import write_files
from tests.scoring_programs.read_secrets import read_secrets

FIELDS: list[dict[str, Any]] = [
    {"field": "id", "type": "string"},
    {"field": "label", "type": "label", "values": ["a", "b", "c"]},
    {"field": "x", "type": "number"},
]
METRICS: dict[str, Any] = {
    "acc": {"name": "accuracy", "field": "label"},
    "mae": {"name": "mae", "field": "x"},
    "same": {"name": "exact_match", "fields": ["label", "x"]},
}
Row = tuple[str, str, float]


def declared(submission: dict[str, Any], reference: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """Options of a competition of one table; `metrics` are its columns."""
    given = {"file": "p.csv", **submission}
    fields = given.pop("fields", FIELDS)
    gold = {"file": "gold.csv", **(reference or {})}
    return one_table(fields, keys.pop("metrics", METRICS), reference=gold, **given)


def values(found: Scored, options: dict[str, Any]) -> dict[str, float]:
    return {key: found.value(key) for key in options["metrics"]["t"]}


def cells(rows: list[Any], between: str = ",") -> str:
    return "".join(between.join(map(str, row)) + "\n" for row in rows)


def objects(rows: list[Row]) -> list[dict[str, Any]]:
    return [{"id": one, "label": label, "x": x} for one, label, x in rows]


def with_column(name: str) -> list[dict[str, Any]]:
    return [FIELDS[0], {**FIELDS[1], "column": name}, FIELDS[2]]


def with_at(**paths: str) -> list[dict[str, Any]]:
    return [{**field, "at": paths[field["field"]]} if field["field"] in paths else field for field in FIELDS]


def shapes(rows: list[Row]) -> dict[str, tuple[dict[str, Any], Files]]:
    """Name → what a declaration says of the shape, and the rows in it."""
    bare = [row[1:] for row in rows]
    below = {one: {"label": label, "x": x} for one, label, x in rows}
    deep = {"meta": 1, "out": {"records": [{"id": i, "a": {"b": [0, label]}, "x": x} for i, label, x in rows]}}
    header = [("id", "label", "x")]
    by_line = {"key": "line", "fields": FIELDS[1:]}
    return {
        "csv": ({}, {"p.csv": cells([*header, *rows])}),
        "no header": ({"header": "none"}, {"p.csv": cells(rows)}),
        "semicolons": ({"delimiter": ";"}, {"p.csv": cells([*header, *rows], ";")}),
        "any name": ({"file": "*.csv"}, {"my best run.csv": cells([*header, *rows])}),
        "format": ({"file": "run.out", "format": "tsv"}, {"run.out": cells([*header, *rows], "\t")}),
        "no suffix": ({"file": "answers", "format": "jsonl"}, {"answers": jsonl_of(objects(rows))}),
        "other column": ({"fields": with_column("Gold label")}, {"p.csv": cells([("id", "Gold label", "x"), *rows])}),
        "json list": ({"file": "p.json"}, {"p.json": json.dumps(objects(rows))}),
        "json object": ({"file": "p.json"}, {"p.json": json.dumps(below)}),
        "json path": (
            {"file": "p.json", "at": "out.records", "fields": with_at(label="a.b.1")},
            {"p.json": json.dumps(deep)},
        ),
        "json lists": (
            {"file": "p.json", "fields": with_at(id="0", label="1", x="2")},
            {"p.json": json.dumps([list(row) for row in rows])},
        ),
        "json name": (
            {"file": "p.jsonl", "fields": with_column("the label")},
            {"p.jsonl": jsonl_of([{"id": i, "the label": label, "x": x} for i, label, x in rows])},
        ),
        "by line, csv": (by_line, {"p.csv": cells([("label", "x"), *bare])}),
        "by line, no header": ({**by_line, "header": "none", "skip": 1}, {"p.csv": "# mine\n" + cells(bare)}),
        "by line, jsonl": (
            {**by_line, "file": "p.jsonl"},
            {"p.jsonl": jsonl_of([{"label": label, "x": x} for label, x in bare])},
        ),
        "jsonl below what is skipped": (
            {"file": "p.jsonl", "skip": 1},
            {"p.jsonl": "some words\n" + jsonl_of(objects(rows))},
        ),
        "by line, json": (
            {**by_line, "file": "p.json"},
            {"p.json": json.dumps([{"label": label, "x": x} for label, x in bare])},
        ),
        "a file each": (
            {"file": "{id}.csv"},
            {f"{one}.csv": cells([("label", "x"), (label, x)]) for one, label, x in rows},
        ),
        "a file each, no header": (
            {"file": "run_{id}.tsv", "header": "none"},
            {f"run_{one}.tsv": cells([(label, x)], "\t") for one, label, x in rows},
        ),
        "a json file each": (
            {"file": "{id}.json"},
            {f"{one}.json": json.dumps({"label": label, "x": x}) for one, label, x in rows},
        ),
    }


def said_of_gold(says: dict[str, Any]) -> dict[str, Any]:
    """What a declaration says of gold in the same shape."""
    keys = ("file", "format", "header", "delimiter", "skip", "at")
    return {"file": "p.csv", **{key: says[key] for key in keys if key in says}}


ROWS: list[Row] = [("d1", "a", 1.5), ("d2", "b", -2), ("d3", "c", 0), ("d4", "a", 7)]
GOLD: list[Row] = [("d1", "a", 1), ("d2", "a", -2), ("d3", "c", 3), ("d4", "a", 7)]
SCORES = {"acc": 0.75, "mae": 0.875, "same": 0.25}


@pytest.mark.parametrize("sent", list(shapes(ROWS)))
@pytest.mark.parametrize("gold_too", [False, True])
def test_the_same_answers_in_every_shape_have_the_same_scores(sent: str, gold_too: bool, tmp_path: Path) -> None:
    says, files = shapes(ROWS)[sent]
    gold_says: dict[str, Any] = {}
    gold = {"gold.csv": cells([("id", *("Gold label" if "column" in sent else "label", "x")), *GOLD])}
    if sent == "json name":
        gold = {"gold.csv": cells([("id", "the label", "x"), *GOLD])}
    if gold_too:
        gold = shapes(GOLD)[sent][1]
        gold_says = said_of_gold(says)
    elif says.get("key") == "line":
        gold = {"gold.csv": cells([("label", "x"), *(row[1:] for row in GOLD)])}
    options = json.loads(json.dumps(declared({"key": "id", **says}, gold_says)))
    found = score(options, gold, files, tmp_path)
    assert values(found, options) == pytest.approx(SCORES)
    assert found.warnings == []
    template = template_of(options, tmp_path)
    if "skip" not in says:  # what is not read is the participant's own
        assert score(options, gold, template, tmp_path / "again").value("acc") == 0.75


@pytest.mark.parametrize("name", list(shapes(GOLD)))
def test_the_secrets_of_gold_in_every_shape_are_known_by_their_ids(name: str, tmp_path: Path) -> None:
    says, gold = shapes(GOLD)[name]
    options = declared({"key": "id", **says}, said_of_gold(says))
    source, out = tmp_path / "source", tmp_path / "out"
    out.mkdir()
    write_files(source, gold)
    organiser.prepare(request_of(options, source=source, out=out, phases=[str(source)]))
    found = read_secrets(out, organiser.secrets(request_of(options, reference=out)))
    assert set(gold) <= set(found.files)
    assert set(found.texts) == {"a", "c", "1", "-2", "3", "7"}
    if says.get("key") != "line":
        assert {("d2", "label", "a"), ("d4", "x", "7")} <= set(found.labels)


LABEL = [FIELDS[1]]
KEYED = {"key": "id", "fields": FIELDS[:2]}
ACCURACY = {"acc": "accuracy"}
G3 = {"gold.csv": "id,label\nd1,a\nd2,b\nd3,c\n"}
L3 = {"gold.csv": "label\na\nb\nc\n"}
EACH = {**KEYED, "file": "{id}.csv"}
BARE_ROWS = {**KEYED, "header": "none"}
OBJECT = {**KEYED, "file": "p.json"}
WRONG: dict[str, tuple[dict[str, Any], Files, list[str]]] = {
    "too few lines": (
        {"key": "line", "fields": LABEL},
        {"p.csv": "label\na\nb\n"},
        ["p.csv: has 2 lines. Expected: 3, one for each row of the data, in its order."],
    ),
    "a blank line counts": (
        {"key": "line", "fields": LABEL, "header": "none"},
        {"p.csv": "a\n\nc\n"},
        ["p.csv:2: label is empty"],
    ),
    "a blank JSON line counts": (
        {"key": "line", "fields": LABEL, "file": "p.jsonl"},
        {"p.jsonl": '"a"\n\n"c"\n'},
        ["p.jsonl:2:1: not valid JSON"],
    ),
    "a blank line among rows of two": (
        {
            "key": "line",
            "fields": FIELDS[1:],
            "header": "none",
            "metrics": METRICS,
            "gold": {"gold.csv": "label,x\na,1\nb,2\n"},
        },
        {"p.csv": "a,1\n\nb,2\n\n"},
        ["p.csv:2: is blank. Expected: 2, without a header line: label, x."],
    ),
    "a row of another width, by line": (
        {"key": "line", "fields": LABEL, "header": "none"},
        {"p.csv": "a\nb,b\nc\n"},
        ["p.csv:2: has 2 cells. Expected: 1, without a header line: label."],
    ),
    "two files for *.csv": (
        {**KEYED, "file": "*.csv"},
        {"a.csv": "id,label\n", "b.csv": "id,label\n"},
        ['"a.csv", "b.csv": 2 files that end with .csv. Expected: one of them alone.', "no row for 3 of 3"],
    ),
    "no file for *.csv": (
        {**KEYED, "file": "*.csv"},
        {"a.tsv": "id\tlabel\n"},
        ['submission: holds no file with predictions; found "a.tsv". Expected: *.csv.'],
    ),
    "a file is missing, one is unknown": (
        EACH,
        {"d1.csv": "label\na\n", "d2.csv": "label\na\n", "d9.csv": "label\na\n"},
        [
            "d9.csv: is of an unknown id. Expected: a file for each id of this phase's data.",
            "d3.csv: is missing. Expected: a file {id}.csv for each id.",
        ],
    ),
    "two rows in a file": (
        EACH,
        {"d1.csv": "label\na\nb\n", "d2.csv": "label\na\n", "d3.csv": "label\na\n"},
        ['d1.csv:3: a second row for "d1", after d1.csv:2. Expected: one row for each key.'],
    ),
    "a file without its column": (
        EACH,
        {"d1.csv": "lable\na\n", "d2.csv": "label\na\n", "d3.csv": "label\na\n"},
        ["d1.csv:1: the column label is missing; there is lable."],
    ),
    "no header line": (
        KEYED,
        {"p.csv": "d1,a\nd2,b\nd3,c\n"},
        [
            'p.csv:1: the header line is missing, or names no column of those expected: "d1", "a". '
            "Expected: a first line with the names id, label."
        ],
    ),
    "a quotation mark that nothing closes": (
        KEYED,
        {"p.csv": 'id,label\nd1,a\nd2,"b\nd3,c\n'},
        ["p.csv:3: a quotation mark opens a cell here, and none closes it. Expected: each quoted cell closed."],
    ),
    "two files of one id": (
        {**EACH, "fields": [{**FIELDS[0], "case": "ignore"}, FIELDS[1]]},
        {"d1.csv": "label\na\n", "D1.csv": "label\na\n", "d2.csv": "label\na\n", "d3.csv": "label\na\n"},
        ["d1.csv: a second file for the same answer, after D1.csv. Expected: one file for each."],
    ),
    "nothing at the path": (
        {**KEYED, "file": "p.json", "at": "rows.0"},
        {"p.json": '{"rows": []}'},
        ["p.json: has nothing at rows.0. Expected: the records there.", "no row for 3 of 3"],
    ),
    "a field is not at its path": (
        {"key": "id", "file": "p.json", "fields": [FIELDS[0], {**FIELDS[1], "at": "answer.label"}]},
        {"p.json": '[{"id": "d1", "answer": {"label": "a"}}, {"id": "d2", "answer": "b"}, {"id": "d3"}]'},
        ["p.json[1]: label is missing. Expected: one of a, b, c. The same in 1 more line: 2."],
    ),
    "no rows under missing: empty": (
        {**KEYED, "missing": "empty"},
        {"p.csv": "id,label\n"},
        ["p.csv: has no rows. Expected: a row for each key that is answered."],
    ),
    "a header line after what is skipped, where there is none": (
        {**BARE_ROWS, "skip": 3},
        {"p.csv": "first, line\n" * 3 + "id,label\nd1,a\nd2,b\nd3,c\n"},
        ["p.csv:4: is a header line. Expected: rows alone, from the first line on."],
    ),
    "a row of another width, without a header": (
        BARE_ROWS,
        {"p.csv": "d1,a\nd2\nd3,c\n"},
        ["p.csv:2: has 1 cell. Expected: 2, without a header line: id, label.", 'no row for 1 of 3 keys: "d2".'],
    ),
    "an unknown id after what is skipped": (
        {**BARE_ROWS, "skip": 3},
        {"p.csv": "first, line\n" * 3 + "d1,a\nd2,b\nd9,a\n"},
        ['p.csv:6: unknown id "d9".', 'p.csv: no row for 1 of 3 keys: "d3".'],
    ),
    "semicolons without a header": (
        BARE_ROWS,
        {"p.csv": "d1;a\n"},
        ["p.csv:1: has 1 cell. Expected: 2", 'no row for 3 of 3 keys: "d1"; "d2"; "d3".'],
    ),
    "an unknown label without a header": (
        BARE_ROWS,
        {"p.csv": "d1,a\nd2,z\nd3,c\n"},
        ['p.csv:2: label has an unknown label: "z".'],
    ),
    "a number below an id": (
        OBJECT,
        {"p.json": '{"d1": "a", "d2": 3, "d3": "c"}'},
        ['p.json "d2": label has an unknown label: "3"'],
    ),
    "null below an id": (OBJECT, {"p.json": '{"d1": "a", "d2": null, "d3": "c"}'}, ['p.json "d2": label is null']),
    "a list below an id": (OBJECT, {"p.json": '{"d1": "a", "d2": ["b"], "d3": "c"}'}, ['p.json "d2": label is a list']),
    "labels without ids": (OBJECT, {"p.json": '["a", "b"]'}, ["p.json[0]: is not a JSON object", "no row for 3 of 3"]),
    "one of several answers below an id": (
        {**OBJECT, "fields": FIELDS, "metrics": METRICS, "gold": {"gold.csv": "id,label,x\nd1,a,1\n"}},
        {"p.json": '{"d1": "a"}'},
        ['p.json "d1": is not a JSON object', "no row for 1 of 1"],
    ),
    "no rows of many": (
        {**KEYED, "rows": "many", "metrics": {"acc": "set_f1"}},
        {"p.csv": "id,label\n"},
        ["p.csv: has no rows. Expected: a row for each key that is answered."],
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_what_is_wrong_is_named_by_its_place(name: str, tmp_path: Path) -> None:
    says, files, expected = WRONG[name]
    submission = dict(says)
    gold = submission.pop("gold", L3 if says["key"] == "line" else G3)
    options = declared(submission, metrics=submission.pop("metrics", ACCURACY))
    messages = refused(options, gold, files, tmp_path)
    assert len(messages) == len(expected)
    for part in expected:
        assert any(part in message for message in messages), messages


def test_blank_lines_at_the_end_do_not_count(tmp_path: Path) -> None:
    options = declared({"key": "line", "fields": LABEL}, metrics=ACCURACY)
    assert score(options, L3, {"p.csv": "label\na\nb\nb\n\n\n"}, tmp_path).value("acc") == pytest.approx(2 / 3)
    options = declared({"key": "line", "fields": LABEL, "file": "p.txt"}, metrics=ACCURACY)
    assert score(options, L3, {"p.txt": "a\nb\nb\n\n\n"}, tmp_path / "txt").value("acc") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "says",
    [{"file": "p.txt"}, {"file": "p.csv", "header": "none"}, {"file": "p.tsv", "header": "none", "quoting": "none"}],
)
def test_an_empty_last_line_may_be_an_answer(says: dict[str, Any], tmp_path: Path) -> None:
    text = [{"field": "text", "type": "text"}]
    options = declared({"key": "line", "fields": text, **says}, metrics={"m": "exact_match"})
    gold = 'text\none\n""\n""\nfour\n'
    assert score(options, gold, {says["file"]: "one\n\n\n\n"}, tmp_path).value("m") == 0.75
    assert score(options, gold, {says["file"]: "one\n\n\nfour\n\n\n"}, tmp_path / "more").value("m") == 1
    assert score(options, gold, template_of(options, tmp_path), tmp_path / "template_sent").value("m") == 0.5


def test_a_json_list_of_plain_values_answers_row_by_row(tmp_path: Path) -> None:
    options = declared({"key": "line", "fields": LABEL, "file": "p.json"}, {"file": "gold.json"}, metrics=ACCURACY)
    gold = {"gold.json": '["a", "b", "c"]'}
    assert score(options, gold, {"p.json": '["a", "b", "b"]'}, tmp_path).value("acc") == pytest.approx(2 / 3)


def test_a_file_without_rows_is_an_answer_without_rows(tmp_path: Path) -> None:
    says = {**EACH, "rows": "many", "missing": "reject"}
    options = declared(says, {"file": "{id}.csv"}, metrics={"f1": {"name": "set_f1", "average": "macro"}})
    gold = {"d1.csv": "label\na\nb\n", "d2.csv": "label\n", "d3.csv": "label\nc\n"}
    sent = {**gold, "d3.csv": "label\n", "notes.txt": "mine"}
    found = score(options, gold, sent, tmp_path)
    assert found.value("f1") == pytest.approx(2 / 3)
    assert found.warnings == ['"notes.txt": not read.']
    with pytest.raises(SubmissionError, match=r"d2\.csv: is missing\. Expected: a file \{id\}\.csv for each id\."):
        score(options, gold, {name: text for name, text in sent.items() if name != "d2.csv"}, tmp_path / "two")


@pytest.mark.parametrize(("file", "others"), [("*.csv", []), ("{id}.csv", ["d2", "d3"])])
def test_a_file_that_cannot_be_read_is_one_problem(file: str, others: list[str], tmp_path: Path) -> None:
    sent = {"d1.csv": "label\na\n".encode("utf-16"), **{f"{other}.csv": b"label\na\n" for other in others}}
    (message,) = refused(declared({**KEYED, "file": file}, metrics=ACCURACY), G3, sent, tmp_path)
    assert message.startswith("d1.csv: is encoded as UTF-16.")


def test_a_part_of_the_key_may_be_the_files_name(tmp_path: Path) -> None:
    fields = [{"field": "doc"}, {"field": "n"}, FIELDS[1]]
    options = declared({"key": ["doc", "n"], "file": "{doc}.csv", "fields": fields}, metrics=ACCURACY)
    gold = "doc,n,label\nx,1,a\nx,2,b\ny,1,c\n"
    sent = {"x.csv": "n,label\n2,b\n1,b\n", "y.csv": "n,label\n1,c\n"}
    assert score(options, gold, sent, tmp_path).value("acc") == pytest.approx(2 / 3)
    with pytest.raises(SubmissionError, match=r'y\.csv:2: unknown doc, n "y", "2"'):
        score(options, gold, {**sent, "y.csv": "n,label\n2,c\n"}, tmp_path / "wrong")


@pytest.mark.parametrize("sent", ["Doc", "DOC", "report"])
def test_a_text_file_for_each_key(sent: str, tmp_path: Path) -> None:
    doc = {"field": "doc", "case": "ignore", "aliases": {"report": "Doc"}}
    submission = {"key": "doc", "file": "{doc}.txt", "fields": [doc, {"field": "text", "type": "text"}]}
    options = declared(submission, {"file": "{doc}.txt"}, metrics={"m": "exact_match"})
    gold = {"Doc.txt": "one\n", "y.txt": "two\n"}
    assert score(options, gold, {f"{sent}.txt": "one", "y.txt": "2"}, tmp_path).value("m") == 0.5


@pytest.mark.parametrize("name", ["a/b", "a\\b", "a:b", ".a"])
def test_keys_that_no_file_can_have_are_the_organisers_mistake(name: str, tmp_path: Path) -> None:
    options = declared(EACH, metrics=ACCURACY)
    with pytest.raises(OrganiserError, match="cannot be a file's name"):
        score(options, csv_of("id,label", [[name, "a"]]), {"p.csv": ""}, tmp_path)


def test_two_tables_may_be_in_one_file_and_two_fields_in_one_column(tmp_path: Path) -> None:
    labels = [FIELDS[0], FIELDS[1], {**FIELDS[1], "field": "coarse", "column": "label", "aliases": {"b": "a"}}]
    tables = {
        "labels": {"file": "p.csv", "key": "id", "fields": labels, "reference": {"file": "gold.csv"}},
        "numbers": {"file": "p.csv", "key": "id", "fields": [FIELDS[0], FIELDS[2]], "reference": {"file": "gold.csv"}},
    }
    columns = [
        {"key": "fine", "metric": {"name": "accuracy", "table": "labels", "field": "label"}},
        {"key": "coarse", "metric": {"name": "accuracy", "table": "labels", "field": "coarse"}},
        {"key": "mae", "metric": {"name": "mae", "table": "numbers"}},
    ]
    options = options_of(one_task({"tables": tables}, columns))
    gold = "id,label,x\n1,a,1\n2,b,2\n"
    found = score(options, gold, {"p.csv": "id,label,x\n1,b,1\n2,b,1\n"}, tmp_path)
    assert {key: found.value(key) for key in ("fine", "coarse", "mae")} == {"fine": 0.5, "coarse": 1, "mae": 0.5}
    assert found.warnings == []
    assert template_of(options, tmp_path) == {"p.csv": "id,label,x\n1,a,0\n2,a,0\n"}
    with pytest.raises(SubmissionError) as caught:
        score(options, gold, {"p.tsv": "id\tlabel\tx\n"}, tmp_path / "none")
    assert caught.value.messages == ['submission: holds no file with predictions; found "p.tsv". Expected: p.csv.']
    assert not any("not read" in warning for warning in caught.value.warnings)


def test_the_gold_may_have_a_field_elsewhere(tmp_path: Path) -> None:
    fields = [FIELDS[0], {**FIELDS[1], "column": "Prediction"}]
    gold_json = json.dumps({"d1": {"truth": {"label": "a"}, "lang": "en"}, "d2": {"truth": {"label": "b"}}})
    for reference, gold in (
        ({"fields": {"label": {"column": "Truth"}}}, {"gold.csv": "id,Truth,lang\nd1,a,en\nd2,b,de\n"}),
        ({"file": "gold.json", "fields": {"label": {"at": "truth.label"}}}, {"gold.json": gold_json}),
        ({"file": "gold.json", "fields": {"label": {"at": ""}}}, {"gold.json": '{"d1": "a", "d2": "b"}'}),
        ({"header": "none", "columns": ["lang", "label", "id"]}, {"gold.csv": "en,a,d1\nde,b,d2\n"}),
    ):
        options = declared({"key": "id", "fields": fields}, reference, metrics=ACCURACY)
        assert score(options, gold, {"p.csv": "id,Prediction\nd1,a\nd2,a\n"}, tmp_path).value("acc") == 0.5


@pytest.mark.parametrize("places", [("left", "right"), ("0", "1"), ("here.a", "here.b.1")])
@pytest.mark.parametrize("whole_records", [True, False])
def test_tables_at_different_places_of_a_file_have_one_template(
    places: tuple[str, str], whole_records: bool, tmp_path: Path
) -> None:
    tables = {}
    for name, at in zip(("one", "two"), places, strict=True):
        label = {"field": "label", "type": "label", "values": ["a", "b"]}
        fields = [{"field": "id", "type": "string"}, {**label, "at": ""} if whole_records else label]
        reference = {"file": f"{name}.csv", "fields": {"label": {"column": "label"}}}
        tables[name] = {"file": "p.json", "at": at, "key": "id", "fields": fields, "reference": reference}
    metrics = {name: {"name": "accuracy", "table": name} for name in tables}
    columns = [{"key": key, "metric": metric} for key, metric in metrics.items()]
    options = options_of(one_task({"tables": tables}, columns))
    gold = {"one.csv": "id,label\n1,a\n2,b\n", "two.csv": "id,label\n1,b\n2,b\n3,a\n"}
    read_gold(options, gold, tmp_path)
    template = template_of(options, tmp_path)
    assert set(template) == {"p.json"}
    found = score(options, gold, template, tmp_path / "sent")
    assert [found.value("one"), found.value("two")] == pytest.approx([1 / 2, 1 / 3])


IGNORES: dict[str, tuple[dict[str, Any], Files, float | None, str]] = {
    "rows": (
        {},
        {"p.csv": "id,label\n1,a\nx,zzz\n2,a\nx,zzz\ny,\n"},
        0.5,
        '3 rows of unknown id left out: "x", "x", "y"',
    ),
    "some keys without rows": (
        {"missing": "empty"},
        {"p.csv": "id,label\nx,b\n2,b\n"},
        0.5,
        "1 row of unknown id left out",
    ),
    "a blank id": ({}, {"p.csv": "id,label\n1,a\n2,a\n ,a\n"}, None, "id is empty"),
    "a missing id": ({}, {"p.csv": "id,label\n1,a\n9,a\n"}, None, 'no row for 1 of 2 keys: "2"'),
    "no known id": ({"missing": "empty"}, {"p.csv": "id,label\n8,a\n9,a\n"}, None, "has no rows of known ids"),
    "values of an object": (
        {"file": "p.json"},
        {"p.json": '{"1": "a", "9": [{}], "2": "b"}'},
        1,
        '1 row of unknown id left out: "9"',
    ),
    "files": (
        {"file": "{id}.csv"},
        {"1.csv": "label\na\n", "2.csv": "label\na\n", "9.csv": "\0"},
        0.5,
        '1 file of unknown id left out: "9.csv"',
    ),
}


@pytest.mark.parametrize("name", IGNORES)
def test_what_nobody_asked_for_is_left_out_unlooked_at(name: str, tmp_path: Path) -> None:
    submission, files, value, said = IGNORES[name]
    keys = {"key": "id", "fields": FIELDS[:2], "unknown": "ignore"}
    options = declared({**keys, **submission}, metrics={"acc": "accuracy"})
    gold = "id,label\n1,a\n2,b\n"
    if value is None:
        with pytest.raises(SubmissionError, match=said):
            score(options, gold, files, tmp_path)
        return
    found = score(options, gold, files, tmp_path)
    assert found.value("acc") == value
    assert any(said in text for text in found.warnings)


def test_many_rows_of_unknown_keys_are_left_out_of_an_object(tmp_path: Path) -> None:
    submission = {"key": "id", "rows": "many", "fields": FIELDS[:2], "unknown": "ignore", "file": "p.json"}
    options = declared(submission, {"file": "gold.json"}, metrics={"f1": "set_f1"})
    sent = {"1": [{"label": "a"}], "8": "no list", "9": []}
    files = {"gold.json": json.dumps({"1": [{"label": "a"}]})}, {"p.json": json.dumps(sent)}
    found = score(options, *files, tmp_path)
    assert found.value("f1") == 1
    assert found.warnings == ['p.json: 2 rows of unknown id left out: "8", "9".']


@pytest.mark.parametrize("name", ["gold.txt", "gold.csv"])
def test_cells_between_blanks(name: str, tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "id"},
        {"field": "x", "type": "number"},
        {"field": "note", "required": False},
    ]
    ways = {"delimiter": "blanks", "file": name.replace("gold", "p")}
    options = declared(
        {"key": "id", "fields": fields, **ways}, {**ways, "file": name}, metrics={"m": {"name": "mae", "field": "x"}}
    )
    gold = {name: '\t id  x\tnote\n\n1 2   "a\n \t \n  2\t5 b" \n'}
    found = score(options, gold, {ways["file"]: "id x note\n1   1 z\n2 5 z\n"}, tmp_path)
    assert found.value("m") == 0.5
    (text,) = template_of(options, tmp_path).values()
    assert text == "id x note\n1 0 -\n2 0 -\n"
    with pytest.raises(SubmissionError, match=r"p.*:2: has 2 cells\. Expected: 3, as many as the header has columns"):
        score(options, gold, {ways["file"]: "id x note\n1   1 \n2 5 z\n"}, tmp_path)


HOURS: list[dict[str, Any]] = [
    {"field": "patient", "type": "string"},
    {"field": "x", "type": "number", "required": False, "default": 0},
]
NUMBERED: dict[str, tuple[dict[str, Any], dict[str, Any], Files, Files]] = {
    "files": (
        {"file": "{patient}.psv", "format": "csv", "delimiter": "|"},
        {"file": "{patient}.csv"},
        {"a.csv": "line,x\n7,1\n8,2\n", "b.csv": "line,x\n9,3\n"},
        {"b.psv": "x|line\n3|1\n", "a.psv": "x|line\n1|1\n5|1\n\n"},
    ),
    "a column": (
        {"file": "p.csv"},
        {},
        {"gold.csv": "patient,x\na,1\na,2\nb,3\n"},
        {"p.csv": "patient,x\na,1\na,5\nb,3\n"},
    ),
    "JSON lines": (
        {"file": "{patient}.jsonl"},
        {"file": "{patient}.jsonl"},
        {"a.jsonl": '{"x": 1}\n{"x": 2}\n', "b.jsonl": '{"x": 3}\n'},
        {"a.jsonl": "1\n5\n", "b.jsonl": '{"x": 3}\n'},
    ),
    "lines": (
        {"file": "{patient}.txt"},
        {"file": "{patient}.txt"},
        {"a.txt": "1\n2", "b.txt": "3\n"},
        {"a.txt": "1\n5\n", "b.txt": "3"},
    ),
}


@pytest.mark.parametrize(("name", "order"), [*((name, 1) for name in NUMBERED), ("files", -1)])
def test_the_number_of_a_row_may_be_part_of_its_key(name: str, order: int, tmp_path: Path) -> None:
    submission, reference, gold, sent = NUMBERED[name]
    keys = {"key": ["patient", "line"][::order], "fields": HOURS}
    options = declared(
        {**keys, **submission}, reference, metrics={"mae": "mae", "by": {"name": "mae", "by": "patient"}}
    )
    found = score(options, gold, sent, tmp_path)
    assert values(found, options) == {"mae": 1, "by": 0.75}
    template = template_of(options, tmp_path)
    assert score(options, gold, template, tmp_path / "t").value("mae") == 2
    assert not any("line" in text for text in template.values())
    name, text = next(iter(sent.items()))
    with pytest.raises(
        SubmissionError,
        match=r'unknown (patient, line|line, patient) ("b", "2"|"2", "b"|"a", "3"|"3", "a"|"b", "4"|"4", "b")',
    ):
        score(
            options,
            gold,
            {**sent, name: text.rstrip("\n") + "\n" + text.rstrip("\n").rpartition("\n")[2] + "\n"},
            tmp_path / "more",
        )
    less = {**sent, name: text.rstrip("\n").rpartition("\n")[0] + "\n"}
    with pytest.raises(SubmissionError, match="no row for 1 of 3 keys"):
        score(options, gold, less, tmp_path / "less")


def test_a_row_that_cannot_be_counted_is_named_alone(tmp_path: Path) -> None:
    named = {"file": "{patient}.csv"}
    options = declared({"key": ["patient", "line"], "fields": HOURS, **named}, named, metrics={"mae": "mae"})
    gold = {"a.csv": "x\n1\n2\n"}
    (message,) = refused(options, gold, {"a.csv": "x\n1,2\n5\n"}, tmp_path)
    assert message.startswith("a.csv:2: has 2 cells")


DIALECT_FIELDS: list[dict[str, Any]] = [{"field": "label", "type": "label"}, {"field": "text", "type": "text"}]
DIALECT_GOLD = [["1", "a", "x;y", "en"], ["2", "b", "so,so", "de"], ["3", "a", "z\tz", "en"]]
DIALECT_SENT = [["3", "b", "z\tz"], ["1", "a", "x;y"], ["2", "b", "no"]]
DIALECT_METRICS = {"acc": {"name": "accuracy", "field": "label"}, "same": {"name": "exact_match", "fields": ["text"]}}
DIALECT_METRICS["en"] = {"name": "accuracy", "field": "label", "where": {"language": "en"}}
DIALECT_VALUES = {"acc": 2 / 3, "same": 2 / 3, "en": 0.5}


def written(rows: list[list[str]], names: list[str] | None, delimiter: str, skip: int) -> str:
    lines = [*([names] if names else []), *rows]
    cells = [delimiter.join(f'"{cell}"' if delimiter in cell else cell for cell in line) for line in lines]
    return "".join(f"{line}\n" for line in [*["# a remark, or two; three"] * skip, *cells])


DIALECTS = list(itertools.product(["csv", "tsv", "txt"], [None, "none"], [None, ";"], [0, 2]))


@pytest.mark.parametrize(
    ("suffix", "header", "delimiter", "skip", "gold_too"),
    [
        *((*d, True) for d in DIALECTS if d[0] != "txt" or d[2]),
        ("csv", None, ";", 2, False),
        ("tsv", "none", None, 0, False),
    ],
)
def test_every_dialect_is_read(
    suffix: str, header: str | None, delimiter: str | None, skip: int, gold_too: bool, tmp_path: Path
) -> None:
    given = {"header": header, "delimiter": delimiter, "skip": skip or None}
    keys = {key: value for key, value in given.items() if value is not None}
    between = delimiter or ("\t" if suffix == "tsv" else ",")
    names = ["id", "label", "text"]
    answers = written(DIALECT_SENT, None if header else names, between, skip)
    reference: dict[str, Any] = {"file": "gold.csv"}
    gold = written(DIALECT_GOLD, [*names, "language"], ",", 0)
    if gold_too:
        reference = {"file": f"gold.{suffix}", **keys}
        reference |= {"columns": [*names, "language"]} if header else {}
        gold = written(DIALECT_GOLD, None if header else [*names, "language"], between, skip)
    options = one_table(DIALECT_FIELDS, DIALECT_METRICS, file=f"p.{suffix}", reference=reference, **keys)
    options = json.loads(json.dumps(options))
    found = score(options, {reference["file"]: gold}, {f"p.{suffix}": answers}, tmp_path)
    assert {key: found.value(key) for key in DIALECT_VALUES} == pytest.approx(DIALECT_VALUES)
    assert found.warnings == []
    template = template_of(options, tmp_path)[f"p.{suffix}"]
    assert template.splitlines()[skip] == between.join(["1", "a", ""] if header else names)
    of_template = score(options, {reference["file"]: gold}, {f"p.{suffix}": template}, tmp_path)
    assert of_template.value("acc") == pytest.approx(2 / 3)


def test_gold_of_lines_begins_after_those_that_are_skipped(tmp_path: Path) -> None:
    label = [{"field": "label", "type": "label"}]
    gold = {"file": "gold.txt", "skip": 2}
    options = one_table(label, {"acc": "accuracy"}, file="p.txt", key="line", reference=gold)
    read = read_gold(options, {"gold.txt": "one\ntwo\na\nb\n"}, tmp_path)["table"]
    assert read.keys == [("1",), ("2",)]
    assert score(options, {"gold.txt": "one\ntwo\na\nb\n"}, {"p.txt": "a\na\n"}, tmp_path).value("acc") == 0.5


BARE: dict[str, tuple[str, list[Any]]] = {
    "label": ("accuracy", ["a", "b", "a"]),
    "string": ("exact_match", ["a", "b", "a"]),
    "number": ("r2", [1, 2.5, -3]),
    "labels": ("set_f1", [["a"], [], ["a", "b"]]),
    "text": ("token_f1", ["one two", "three", "four"]),
    "tags": ("span_f1", [["B-x", "O"], ["O"], ["B-y"]]),
    "spans": ("set_f1", [[[0, 2]], [], [[1, 4, "x"]]]),
}


@pytest.mark.parametrize("gold_too", [False, True])
@pytest.mark.parametrize("kind", BARE)
def test_answers_below_their_ids(kind: str, gold_too: bool, tmp_path: Path) -> None:
    metric, values = BARE[kind]
    bare = json.dumps({f"k{i}": value for i, value in enumerate(values)})
    gold = {"gold.csv": csv_of("id,x", [[f"k{i}", cell(value, kind)] for i, value in enumerate(values)])}
    if gold_too:
        gold = {"gold.json": bare}
    reference = {"file": next(iter(gold))}
    options = one_table([{"field": "x", "type": kind}], {"m": metric}, file="p.json", reference=reference)
    assert score(options, gold, {"p.json": bare}, tmp_path).value("m") == pytest.approx(1)
    whole = json.dumps({f"k{i}": {"x": value} for i, value in enumerate(values)})
    assert score(options, gold, {"p.json": whole}, tmp_path).value("m") == pytest.approx(1)
