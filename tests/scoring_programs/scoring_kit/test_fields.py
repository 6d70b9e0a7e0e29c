"""Types of fields: what a cell and a JSON value mean, and why they mean nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from scoring_kit.base.field_types import ABSENT, FILE_TYPES, TYPES, Field, FieldError, ordered
from scoring_kit.base.row_files import File, write_rows

ABC = ordered(["a", "b", "c"])
OK = {"values": ordered(["OK", "no"]), "case": "ignore", "aliases": {"fine": "OK", "Nope": "no"}}
SHARES = {"values": ABC, "columns": ["p_a", "p_b", "p_c"]}
JOY = {"values": ordered(["joy", "anger"]), "columns": ["is_joy", "is_anger"]}

CELLS: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("ordinal", {"values": ABC}, "b", "b"),
    ("ordinal", {"values": ABC}, "d", "x has an unknown label"),
    ("label", OK, "ok", "OK"),
    ("label", OK, "FINE", "OK"),
    ("label", OK, "nope", "no"),
    ("label", OK, "so-so", "x has an unknown label"),
    ("label", {"case": "ignore"}, "STRASSE", "strasse"),
    ("label", {"case": "ignore"}, "Straße", "strasse"),
    ("label", {"aliases": {"yes": "true"}}, "yes", "true"),
    ("label", {"aliases": {"yes": "true", "true": "yes"}}, "yes", "true"),
    ("label", OK, " ok", "x has blanks around it"),
    ("labels", OK, "Fine|NO", frozenset(["OK", "no"])),
    ("string", {"case": "ignore", "aliases": {"UK": "GB"}}, "uk", "gb"),
    ("string", {}, "UK", "UK"),
    ("numbers", {}, "1 2.5 -3e1", [1.0, 2.5, -30.0]),
    ("numbers", {}, "[1, 2.5]", [1.0, 2.5]),
    ("numbers", {"length": 2}, "1  2", [1.0, 2.0]),
    ("numbers", {"length": 2}, "1 2 3", "x has 3 numbers"),
    ("numbers", {}, "1;2", "x is not a number"),
    ("numbers", {}, "1e999", "x is not finite"),
    ("numbers", {}, "", "x is empty"),
    ("offsets", {}, "[3, 1, 3]", frozenset([1, 3])),
    ("offsets", {}, "[]", frozenset()),
    ("offsets", {}, "", frozenset()),
    ("offsets", {}, "[-1]", "x has a negative number"),
    ("offsets", {}, "[1.5]", "x is not a list of whole numbers"),
    ("offsets", {}, "3 4", "x is not a JSON list"),
    ("offsets", {}, "[10000000000]", "x has a number that is far out of range"),
    ("probabilities", SHARES, ("0.2", "0.3", "0.5"), (0.2, 0.3, 0.5)),
    ("probabilities", SHARES, (".333", ".333", ".333"), (0.333, 0.333, 0.333)),
    ("probabilities", SHARES, ("0.334", "0.334", "0.333"), (0.334, 0.334, 0.333)),
    ("probabilities", SHARES, ("0.2", "0.3", "0.4"), "x adds up to 0.9"),
    ("probabilities", SHARES, ("0.2", "0.3", "0.502"), "x adds up to 1.002"),
    ("probabilities", SHARES, ("-0.2", "0.7", "0.5"), "x is out of range"),
    ("probabilities", SHARES, ("0.2", "", "0.5"), "x is not a number"),
    ("probabilities", SHARES, ("", "", ""), "x is empty"),
    ("probabilities", {**SHARES, "normalise": True}, ("1", "3", "0"), (0.25, 0.75, 0.0)),
    ("probabilities", {**SHARES, "normalise": True}, ("0", "0", "0"), "x is 0 for every label"),
    ("probabilities", SHARES, ("1e308", "1e308", "0"), "x is far out of range"),
    ("probabilities", {**SHARES, "normalise": True}, ("1e308", "1e308", "0"), "x is far out of range"),
    ("probabilities", SHARES, ("1e999", "-1e999", "0"), "x is not finite"),
    ("labels", JOY, ("1", "0"), frozenset(["joy"])),
    ("labels", JOY, ("0", "0"), frozenset()),
    ("labels", JOY, ("1", "yes"), "is_anger is neither 1 nor 0"),
    ("labels", JOY, ("1", ""), "is_anger is neither 1 nor 0"),
    ("labels", JOY, ("", ""), "x is empty"),
    ("labels", {**JOY, "positive": "yes", "negative": "no", "case": "ignore"}, ("YES", "No"), frozenset(["joy"])),
    ("labels", {**JOY, "aliases": {"True": "1", "False": "0"}}, ("True", "False"), frozenset(["joy"])),
    ("labels", {"columns": ["joy", "anger"]}, ("0", "1"), frozenset(["anger"])),
]
OF_ROWS = [kind for kind in TYPES if kind not in FILE_TYPES]


def check(read: Callable[[Any], Any], given: Any, value: Any) -> None:
    """What is read is this value, or refused for this reason."""
    if isinstance(value, str) and value[:2] in ("x ", "is"):
        with pytest.raises(FieldError) as caught:
            read(given)
        assert caught.value.rule == value
    else:
        assert read(given) == (pytest.approx(value) if isinstance(value, tuple) else value)


@pytest.mark.parametrize(("kind", "keys", "cell", "value"), CELLS)
def test_what_a_cell_means(kind: str, keys: dict[str, Any], cell: Any, value: Any) -> None:
    field = Field("x", kind, **keys)
    check(field.of_cell, cell, value)
    check(lambda cells: field.of_cells(cells)[1], [cell, cell], value)


JSON: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("label", {"values": ordered(["1", "true"])}, 1, "1"),
    ("label", {"values": ordered(["1", "true"])}, True, "true"),
    ("label", {"values": ABC}, ABSENT, "x is missing"),
    ("label", {"values": ABC}, None, "x is null"),
    ("label", {"values": ABC, "required": False}, None, None),
    ("label", {"values": ABC, "required": False, "default": "b"}, None, "b"),
    ("numbers", {"length": 2}, [1, 2.5], [1.0, 2.5]),
    ("numbers", {}, [1, "2"], "x is a string, not a number"),
    ("numbers", {}, [True], "x is a boolean, not a number"),
    ("numbers", {}, 1, "x is a number, not a list"),
    ("numbers", {}, [10**400], "x is not finite"),
    ("offsets", {}, [3, 4], frozenset([3, 4])),
    ("offsets", {}, [True], "x is not a list of whole numbers"),
    ("offsets", {}, "[3]", "x is a string, not a list"),
    ("probabilities", SHARES, {"c": 0.5, "a": 0.25, "b": 0.25}, (0.25, 0.25, 0.5)),
    ("probabilities", SHARES, {"a": 0.5, "b": 0.5}, "x has no probability of c"),
    ("probabilities", SHARES, {"a": 0.5, "b": 0.5, "d": 0}, "x has an unknown label, d"),
    ("probabilities", SHARES, [0.5, 0.5, 0], "x is a list, not an object"),
    ("probabilities", SHARES, (0.5, 0.5, 0), (0.5, 0.5, 0.0)),
    ("labels", JOY, ["joy"], frozenset(["joy"])),
    ("labels", JOY, ["fear"], "x has an unknown label"),
    ("labels", JOY, (1, 0), frozenset(["joy"])),
    ("labels", {**JOY, "positive": "true", "negative": "false"}, (False, True), frozenset(["anger"])),
    ("labels", JOY, (1, None), "is_anger is neither 1 nor 0"),
]


@pytest.mark.parametrize(("kind", "keys", "raw", "value"), JSON)
def test_what_a_json_value_means(kind: str, keys: dict[str, Any], raw: Any, value: Any) -> None:
    check(Field("x", kind, **keys).of_json, raw, value)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", "2", "5"], {"1": 1, "2": 2, "5": 5}),
        (["-0.5", "1e1"], {"-0.5": -0.5, "1e1": 10}),
        (["low", "high"], {"low": 0, "high": 1}),
        (["1", "2", "3+"], {"1": 0, "2": 1, "3+": 2}),
    ],
)
def test_the_numbers_of_an_ordinal(values: list[str], numbers: dict[str, float]) -> None:
    assert Field("x", "ordinal", values=ordered(values)).numbers == numbers


DEFAULTS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "string": ({}, "?", "?"),
    "label": ({"values": ABC}, "c", "c"),
    "ordinal": ({"values": ABC}, "a", "a"),
    "labels": ({"values": ABC}, ["a"], frozenset(["a"])),
    "number": ({"min": 0}, 2, 2.0),
    "numbers": ({"length": 1}, [0], [0.0]),
    "probabilities": (SHARES, {"a": 1, "b": 0, "c": 0}, (1.0, 0.0, 0.0)),
    "text": ({}, "none", "none"),
    "texts": ({}, ["none"], ["none"]),
    "tags": ({}, "O", ["O"]),
    "spans": ({}, [[0, 1]], [(0, 1)]),
    "offsets": ({}, [7], frozenset([7])),
}


@pytest.mark.parametrize("kind", OF_ROWS)
def test_what_an_empty_answer_counts_as(kind: str) -> None:
    keys, default, value = DEFAULTS[kind]
    field = Field("x", kind, required=False, default=default, **keys)
    assert field.empty == field.of_json(None) == field.of_json(ABSENT) == field.of_cell("") == value
    if field.columns:
        assert field.of_cell(("", "", "")) == value


@pytest.mark.parametrize("kind", OF_ROWS)
@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.json", "p.jsonl"])
def test_what_a_type_writes_it_reads(kind: str, name: str) -> None:
    field = Field("x", kind, **DEFAULTS[kind][0])
    key = Field("id", "string")
    for value in (*field.kind.some(field), field.kind.emptiest(field, 2), field.kind.made_up(field, 1)):
        text = write_rows(File(name), [key, field], [["1", value]], ["id"])[name]
        if name.endswith(("json", "jsonl")):
            (record,) = [json.loads(text)] if name.endswith("l") else json.loads(text)
            assert field.of_json(record["x"]) == field.of_json(value)
            continue
        cells = text.splitlines()[1].split("\t")[1:] if name.endswith("tsv") else None
        if cells is None or '"' in text:
            continue
        assert field.of_cell(tuple(cells) if field.columns else cells[0]) == field.of_json(value)
