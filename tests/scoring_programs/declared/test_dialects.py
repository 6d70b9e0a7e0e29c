"""Files as they come: without a header line, with other delimiters, with lines before the table."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.scoring_programs.declared.declaring import (
    cell,
    csv_of,
    jsonl_of,
    one_table,
    read_gold,
    refused,
    score,
    template_of,
)

FIELDS: list[dict[str, Any]] = [{"field": "label", "type": "label"}, {"field": "text", "type": "text"}]
GOLD = [["1", "a", "x;y", "en"], ["2", "b", "so,so", "de"], ["3", "a", "z\tz", "en"]]
SENT = [["3", "b", "z\tz"], ["1", "a", "x;y"], ["2", "b", "no"]]
METRICS = {"acc": {"name": "accuracy", "field": "label"}, "same": {"name": "exact_match", "fields": ["text"]}}
METRICS["en"] = {"name": "accuracy", "field": "label", "where": {"language": "en"}}
VALUES = {"acc": 2 / 3, "same": 2 / 3, "en": 0.5}


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
    answers = written(SENT, None if header else names, between, skip)
    reference: dict[str, Any] = {"file": "gold.csv"}
    gold = written(GOLD, [*names, "language"], ",", 0)
    if gold_too:
        reference = {"file": f"gold.{suffix}", **keys}
        reference |= {"columns": [*names, "language"]} if header else {}
        gold = written(GOLD, None if header else [*names, "language"], between, skip)
    options = one_table(FIELDS, METRICS, file=f"p.{suffix}", reference=reference, **keys)
    options = json.loads(json.dumps(options))
    found = score(options, {reference["file"]: gold}, {f"p.{suffix}": answers}, tmp_path)
    assert {key: found.value(key) for key in VALUES} == pytest.approx(VALUES)
    assert found.warnings == []
    template = template_of(options, tmp_path)[f"p.{suffix}"]
    assert template.splitlines()[skip] == between.join(["1", "a", ""] if header else names)
    of_template = score(options, {reference["file"]: gold}, {f"p.{suffix}": template}, tmp_path)
    assert of_template.value("acc") == pytest.approx(2 / 3)


@pytest.mark.parametrize("header", ["id,label,text,label", "id,label,text,label,label", "id,id,label,text"])
def test_a_column_that_is_there_twice_is_refused(header: str, tmp_path: Path) -> None:
    """Which of the two is meant cannot be known: the first one must not be scored silently."""
    options = one_table(FIELDS, {"acc": METRICS["acc"]})
    sent = csv_of(header, [["1"] * len(header.split(","))])
    gold = csv_of("id,label,text", [["1", "a", "x"]])
    column = "id" if header.startswith("id,id") else "label"
    expected = f'predictions.csv:1: the column "{column}" is there more than once. Expected: each column once.'
    assert expected in refused(options, gold, sent, tmp_path)


@pytest.mark.parametrize("skip", [0, 3])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "id,label,text\n1,a,x\n2,b,x\n3,a,x\n",
            ["p.csv:1: is a header line. Expected: rows alone, from the first line on."],
        ),
        (
            "1,a,x\n2,b\n3,a,x\n",
            [
                "p.csv:2: has 2 cells. Expected: 3, without a header line: id, label, text.",
                'no row for 1 of 3 keys: "2".',
            ],
        ),
        ("1,a,x\n2,b,x\n9,a,x\n", ['p.csv:3: unknown id "9".', 'p.csv: no row for 1 of 3 keys: "3".']),
        ("1;a;x\n", ["p.csv:1: has 1 cell. Expected: 3", 'no row for 3 of 3 keys: "1"; "2"; "3".']),
        ("1,a,x\n2,c,x\n3,a,x\n", ['p.csv:2: label has an unknown label: "c".']),
    ],
    ids=["header", "narrow", "unknown", "semicolons", "label"],
)
def test_what_is_wrong_without_a_header_is_named_by_its_line(
    text: str, expected: list[str], skip: int, tmp_path: Path
) -> None:
    more = {"skip": skip} if skip else {}
    options = one_table(FIELDS, {"acc": METRICS["acc"]}, file="p.csv", header="none", **more)
    gold = written([row[:3] for row in GOLD], ["id", "label", "text"], ",", 0)
    messages = refused(options, gold, {"p.csv": "first, line\n" * skip + text}, tmp_path)
    for message, part in zip(messages, expected, strict=True):
        number = part.split(":")[1] if part.startswith("p.csv:") else ""
        wanted = part.replace(f"p.csv:{number}:", f"p.csv:{int(number) + skip}:") if number.strip().isdigit() else part
        assert wanted in message


@pytest.mark.parametrize("suffix", ["jsonl", "txt"])
def test_lines_before_rows_are_skipped(suffix: str, tmp_path: Path) -> None:
    label = [{"field": "label", "type": "label"}]
    options = one_table(label, {"acc": "accuracy"}, file=f"p.{suffix}", skip=1)
    rows = [{"id": str(i), "label": "a"} for i in (1, 2)]
    text = jsonl_of(rows) if suffix == "jsonl" else "a\na\n"
    gold = "id,label\n1,a\n2,b\n"
    assert score(options, gold, {f"p.{suffix}": f"some words\n{text}"}, tmp_path).value("acc") == 0.5


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


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"k0": "a", "k1": 3}, 'p.json "k1": x has an unknown label: "3"'),
        ({"k0": "a", "k1": None}, 'p.json "k1": x is null'),
        ({"k0": "a", "k1": ["b"]}, 'p.json "k1": x is a list'),
        (["a", "b"], "p.json[0]: is not a JSON object"),
    ],
)
def test_what_is_wrong_below_an_id(sent: Any, expected: str, tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "label"}], {"m": "accuracy"}, file="p.json")
    messages = refused(options, "id,x\nk0,a\nk1,b\n", {"p.json": json.dumps(sent)}, tmp_path)
    assert expected in messages[0]


def test_rows_of_one_field_below_their_ids(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "label"}], {"m": "set_f1"}, file="p.json", rows="many")
    gold = "id,x\nk0,a\nk0,b\nk1,b\n"
    assert score(options, gold, {"p.json": '{"k0": ["a", "b"], "k1": ["a"]}'}, tmp_path).value("m") == pytest.approx(
        2 / 3
    )


def test_of_several_answers_each_is_named(tmp_path: Path) -> None:
    options = one_table(FIELDS, {"acc": METRICS["acc"]}, file="p.json")
    gold = written([row[:3] for row in GOLD], ["id", "label", "text"], ",", 0)
    messages = refused(options, gold, {"p.json": '{"1": "a", "2": "b", "3": "a"}'}, tmp_path)
    assert "is not a JSON object" in messages[0]
