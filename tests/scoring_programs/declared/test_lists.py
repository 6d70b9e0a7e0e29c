"""Records of JSON that hold the rows of a key in a list, or in an object whose names and values are fields."""

import json
from pathlib import Path
from typing import Any

import pytest

from scoring_kit.errors import OrganiserError, SubmissionError
from tests.scoring_programs.declared.declaring import (
    Files,
    columns_of,
    faults_of,
    jsonl_of,
    one_table,
    one_task,
    score,
    template_of,
)
from tests.scoring_programs.declared.resampled import units_of

ID: dict[str, Any] = {"field": "id", "type": "string"}
KIND: dict[str, Any] = {"field": "kind", "type": "label", "values": ["x", "y"]}
DOC: dict[str, Any] = {"field": "doc", "type": "string"}
SENTENCES: dict[str, Any] = {"field": "sentences", "type": "offsets"}
SCORE: dict[str, Any] = {"field": "score", "type": "number"}


def declared(fields: list[Any], metrics: dict[str, Any], file: str, gold: str, **keys: Any) -> dict[str, Any]:
    """Options of a table with rows within records; `reference` is of the gold."""
    reference = {"file": gold, **keys.pop("reference", {})}
    return one_table([ID, *fields], metrics, reference=reference, file=file, rows="many", **keys)


PAIRS: list[dict[str, Any]] = [
    {"id": 1, "lang": "en", "found": [{"doc": "a", "kind": "x"}, {"doc": "b", "kind": "y"}]},
    {"id": 2, "lang": "de", "found": []},
    {"id": 3, "lang": "de", "found": [{"doc": "a", "kind": "x"}]},
]
SENT: list[dict[str, Any]] = [
    {"id": 1, "found": [{"doc": "a", "kind": "x"}]},
    {"id": 2, "found": []},
    {"id": 3, "found": [{"doc": "c", "kind": "x"}]},
]
BY_NAME: list[Any] = [{"id": one["id"], "found": {row["doc"]: row["kind"] for row in one["found"]}} for one in SENT]
BY_RECORD: list[Any] = [
    {"id": one["id"], "found": {row["doc"]: {"kind": row["kind"]} for row in one["found"]}} for one in SENT
]
FORMS: dict[str, tuple[dict[str, Any], Files]] = {
    "a list of records": ({"file": "p.json", "list": "found"}, {"p.json": json.dumps(SENT)}),
    "records on lines": ({"file": "p.jsonl", "list": "found"}, {"p.jsonl": jsonl_of(SENT)}),
    "an object of names and values": ({"file": "p.jsonl", "list": "found"}, {"p.jsonl": jsonl_of(BY_NAME)}),
    "an object of names and records": ({"file": "p.jsonl", "list": "found"}, {"p.jsonl": jsonl_of(BY_RECORD)}),
    "records below their keys": (
        {"file": "p.json", "list": "found"},
        {"p.json": json.dumps({str(one["id"]): {"found": one["found"]} for one in SENT})},
    ),
    "lists below their keys": (
        {"file": "p.json", "list": ""},
        {"p.json": json.dumps({str(one["id"]): one["found"] for one in SENT})},
    ),
    "objects below their keys": (
        {"file": "p.json", "list": ""},
        {"p.json": json.dumps({str(one["id"]): one["found"] for one in BY_NAME})},
    ),
    "deeper": (
        {"file": "p.json", "list": "a.0.b", "at": "top"},
        {"p.json": json.dumps({"top": [{"id": one["id"], "a": [{"b": one["found"]}]} for one in SENT]})},
    ),
    "a file for each key": (
        {"file": "{id}.json", "list": "found"},
        {f"{one['id']}.json": json.dumps({"found": one["found"]}) for one in SENT},
    ),
    "a list in a file for each key": (
        {"file": "{id}.json", "list": ""},
        {f"{one['id']}.json": json.dumps(one["found"]) for one in SENT},
    ),
}


@pytest.mark.parametrize(
    ("name", "missing"), [*((name, "reject") for name in FORMS), ("records on lines", "empty"), ("deeper", "empty")]
)
def test_a_record_holds_the_rows_of_its_key(name: str, missing: str, tmp_path: Path) -> None:
    keys, files = FORMS[name]
    metrics = {
        "f1": "set_f1",
        "by": {"name": "set_f1", "by": "lang"},
        "en": {"name": "set_f1", "where": {"lang": "en"}},
        "macro": {"name": "set_f1", "average": "macro"},
    }
    options = declared(
        [DOC, KIND], metrics, gold="gold.jsonl", missing=missing, reference={"list": "found", "cluster": "lang"}, **keys
    )
    found = score(options, {"gold.jsonl": jsonl_of(PAIRS)}, files, tmp_path)
    assert found.value("f1") == pytest.approx(2 / 5)
    assert found.value("en") == pytest.approx(2 / 3)
    assert found.value("by") == pytest.approx(1 / 3)
    assert found.value("macro") == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert units_of(found).names == ["en", "de"]
    assert found.warnings == []
    template = template_of(options, tmp_path)
    score(options, {"gold.jsonl": jsonl_of(PAIRS)}, template, tmp_path / "template-scored")


def test_gold_in_an_object_of_judgements(tmp_path: Path) -> None:
    """`{query: {item: relevance}}` is scored by `{query: {item: score}}`."""
    fields = [{"field": "item", "type": "string"}, SCORE]
    metrics = {"rr": {"name": "rr", "relevance": "score"}, "ndcg": {"name": "ndcg", "relevance": "score"}}
    options = declared(fields, metrics, "run.json", "qrels.json", list="", reference={"list": ""})
    gold = {"qrels.json": json.dumps({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}})}
    run = {"run.json": json.dumps({"q1": {"b": 0.9, "a": 0.5}, "q2": {"c": 1.5}})}
    found = score(options, gold, run, tmp_path)
    assert found.value("rr") == pytest.approx((1 / 2 + 1) / 2)


def test_plain_values_and_sets_of_sets(tmp_path: Path) -> None:
    options = declared([KIND], {"f1": "set_f1"}, "p.jsonl", "gold.jsonl", list="kinds", reference={"list": "kinds"})
    gold = {"gold.jsonl": jsonl_of([{"id": 1, "kinds": ["x", "y"]}])}
    found = score(options, gold, {"p.jsonl": jsonl_of([{"id": 1, "kinds": ["y"]}])}, tmp_path)
    assert found.value("f1") == pytest.approx(2 / 3)
    options = declared(
        [DOC, SENTENCES], {"f1": "set_f1"}, "p.jsonl", "gold.jsonl", list="evidence", reference={"list": "evidence"}
    )
    gold = {"gold.jsonl": jsonl_of([{"id": 1, "evidence": {"d1": {"sentences": [1, 2]}, "d2": {"sentences": [3]}}}])}
    sent = {"p.jsonl": jsonl_of([{"id": 1, "evidence": {"d1": [2, 1], "d2": [4]}}])}
    assert score(options, gold, sent, tmp_path / "sets").value("f1") == 0.5


def test_own_functions_get_what_the_record_says_besides(tmp_path: Path) -> None:
    code = "def mine(gold, predicted):\n    return float(all(row['lang'] == 'en' for row in gold)), len(predicted)\n"
    own = {"m": {"name": "metrics.py:mine", "per": "key"}}
    there = {"list": "found", "reference": {"list": "found"}}
    options = declared([DOC, KIND], own, "p.jsonl", "gold.jsonl", folder=tmp_path, code=code, **there)
    found = score(options, {"gold.jsonl": jsonl_of(PAIRS[:1])}, {"p.jsonl": jsonl_of(SENT[:1])}, tmp_path)
    assert found.value("m") == 1


WRONG: dict[str, tuple[Any, str]] = {
    "an absent list": ([{"id": 1}], r"p\.jsonl:1: has no list at found"),
    "null": ([{"id": 1, "found": None}], r"p\.jsonl:1: has no list at found"),
    "two records": ([*SENT, SENT[0]], r"p\.jsonl:4: a second record for its key, after p\.jsonl:1"),
    "an unknown key": ([*SENT, {"id": 9, "found": []}], 'unknown id "9"'),
    "an unknown key with rows": ([*SENT, {"id": 9, "found": [{"doc": "a", "kind": "x"}]}], 'unknown id "9"'),
    "no id": ([*SENT, {"found": []}], r"p\.jsonl:4: has no id"),
    "an element that is none": ([{"id": 1, "found": [3]}, *SENT[1:]], r"p\.jsonl:1\[0\]: is not a JSON object"),
    "an unknown label": (
        [{"id": 1, "found": {"a": "z"}}, *SENT[1:]],
        r'p\.jsonl:1 "a": kind has an unknown label: "z"',
    ),
    "a missing key": (SENT[:2], 'no row for 1 of 3 keys: "3"'),
}


FOUND = declared(
    [DOC, KIND], {"f1": "set_f1"}, "p.jsonl", "gold.jsonl", list="found", missing="reject", reference={"list": "found"}
)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_by_record_and_row(name: str, tmp_path: Path) -> None:
    sent, message = WRONG[name]
    with pytest.raises(SubmissionError, match=message):
        score(FOUND, {"gold.jsonl": jsonl_of(PAIRS)}, {"p.jsonl": jsonl_of(sent)}, tmp_path)


def test_every_record_may_be_without_rows(tmp_path: Path) -> None:
    nothing = jsonl_of([{"id": one["id"], "found": []} for one in SENT])
    assert score(FOUND, {"gold.jsonl": jsonl_of(PAIRS)}, {"p.jsonl": nothing}, tmp_path).value("f1") == 0


def test_gold_without_its_list_is_the_organisers_mistake(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"gold\.jsonl:2: has no list at found"):
        score(FOUND, {"gold.jsonl": jsonl_of([PAIRS[0], {"id": 2}])}, {"p.jsonl": jsonl_of(SENT)}, tmp_path)


def test_a_list_is_of_many_rows() -> None:
    submission = {"file": "p.json", "list": "a", "key": "id", "rows": "one", "fields": [ID, KIND]}
    (fault,) = faults_of(one_task(submission, columns_of(m="exact_match")))
    assert fault == "submission.list: is for rows: many: each record holds the rows of its key."
