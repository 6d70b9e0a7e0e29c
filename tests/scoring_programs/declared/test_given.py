"""Inputs that participants get against the gold's keys: what is refused, what is remarked upon, and what is let be."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from declared import organiser
from scoring_kit.errors import OrganiserError
from tests.scoring_programs.declared.declaring import csv_of, declared_options, jsonl_of, one_table, request_of
from tests.scoring_programs.framed import write_files

LABEL = {"field": "label", "type": "label"}
DEV, TEST = [f"d{i}" for i in range(10)], [f"t{i}" for i in range(20)]
NUMBERS = [str(i) for i in range(20)]
Files = Mapping[str, str]


def csv_ids(ids: Iterable[str], header: str = "id,text") -> str:
    return csv_of(header, [[one, *(["x"] * header.count(","))] for one in ids])


WRITERS: dict[str, Callable[[Iterable[str]], str]] = {
    "inputs.csv": csv_ids,
    "inputs.tsv": lambda ids: csv_ids(ids).replace(",", "\t"),
    "inputs.jsonl": lambda ids: jsonl_of({"text": "x", "id": one} for one in ids),
    "inputs.json": lambda ids: json.dumps([{"id": one, "text": "x"} for one in ids]),
    "object.json": lambda ids: json.dumps({one: {"text": "x"} for one in ids}),
}


def judged(
    folder: Path, own: Files, common: Files | None = None, *, gold: list[str] = TEST, **keys: Any
) -> tuple[list[str], list[str]]:
    """(errors, remarks) of the test phase, beside which there is a phase `dev`."""
    options = one_table(keys.pop("fields", [LABEL]), {"m": keys.pop("metric", "exact_match")}, **keys)
    for phase, ids in (("dev", DEV), ("test", gold)):
        write_files(folder / phase, {"gold.csv": csv_of("id,label", [[one, "a"] for one in ids])})
    given: dict[str, dict[str, str]] = {}
    for which, files, place in (("given", own, "public/test/"), ("given_to_all", common or {}, "public/")):
        written = write_files(folder / place, files)
        given[which] = {place + name: str(written / name) for name in files}
    phases = [str(folder / "dev"), str(folder / "test")]
    try:
        asked = request_of(options, reference=folder / "test", phases=phases, **given)
        return [], list(organiser.check_reference(asked)["warnings"])
    except OrganiserError as error:
        return error.messages, []


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (TEST[:7], '13 of the 20 in gold.csv are in no table that participants get: "t10"; "t11"; '),
        ([*TEST, "new1", "new2"], '2 of its 22 id are not in gold.csv: "new1"; "new2". Expected'),
        ([*TEST[1:], "new1"], '1 of its 20 id are not in gold.csv: "new1"; 1 of the 20 in gold.csv are in no table'),
        (["T0", *TEST[1:]], '1 of its 20 id are not in gold.csv: "T0"; 1 of the 20'),
    ],
    ids=["lacking", "further", "both", "case"],
)
def test_other_ids_than_the_golds_are_refused(name: str, ids: list[str], expected: str, tmp_path: Path) -> None:
    ((error,), remarks) = judged(tmp_path, {name: WRITERS[name](ids)})
    assert error.startswith(f"public/test/{name}: ")
    assert expected in error
    assert remarks == []


ALL = csv_ids(TEST)
INNOCENT: dict[str, tuple[Files, Files]] = {
    "the very ids": ({"inputs.csv": ALL}, {}),
    "another order": ({"inputs.csv": csv_ids(TEST[::-1])}, {}),
    "nothing": ({}, {}),
    "no key column": ({"lexicon.csv": csv_ids(TEST[:3], "word,weight")}, {}),
    "training data of other ids": ({"inputs.csv": ALL, "train.csv": csv_ids(["a1", "a2"], "id,label")}, {}),
    "training data with numbers of its own": ({"train.csv": csv_ids(TEST[:9], "id,text,label")}, {}),
    "labelled data of the same ids beside": ({"inputs.csv": ALL, "old.csv": csv_ids([*TEST, "x"], "id,label")}, {}),
    "a file for each language": ({"en.csv": csv_ids(TEST[:8]), "sw.csv": csv_ids(TEST[8:])}, {}),
    "overlapping files": ({"en.csv": csv_ids(TEST[:12]), "sw.csv": csv_ids(TEST[8:])}, {}),
    "dev and test in one": ({}, {"all.csv": csv_ids([*DEV, *TEST])}),
    "dev and test in one, in the phase": ({"all.csv": csv_ids([*DEV, *TEST])}, {}),
    "dev, test and train in one": ({}, {"all.csv": csv_ids([*DEV, *TEST, "x1", "x2"])}),
    "a few examples beside": ({"inputs.csv": ALL, "few.csv": csv_ids(TEST[:2])}, {}),
    "more context beside": ({"inputs.csv": ALL, "context.csv": csv_ids([*TEST, *"abc"])}, {}),
    "the ids as files' names": ({f"{one}.txt": "A text." for one in TEST} | {"about.csv": csv_ids(TEST[:4])}, {}),
    "the ids in a text": ({"corpus.xml": "".join(f'<p id="{one}"/>' for one in TEST), "m.csv": csv_ids(TEST[:4])}, {}),
    "inputs of dev for all": ({"inputs.csv": ALL}, {"dev.csv": csv_ids(DEV)}),
    "json objects": ({"inputs.json": WRITERS["object.json"](TEST)}, {}),
    "semicolons": ({"inputs.csv": ALL.replace(",", ";")}, {}),
    "no table at all": ({"inputs.csv": "\x00\x01", "a.json": "{", "b.jsonl": "[1]\n", "c.csv": ""}, {}),
    "blanks around": ({"inputs.csv": csv_ids([f" {one} " for one in TEST])}, {}),
}


@pytest.mark.parametrize("case", INNOCENT)
def test_what_may_well_be_meant_is_let_be(case: str, tmp_path: Path) -> None:
    own, common = INNOCENT[case]
    assert judged(tmp_path, own, common) == ([], [])


@pytest.mark.parametrize(
    ("own", "common", "expected"),
    [
        ({"wide.csv": csv_ids([*TEST, *(f"x{i}" for i in range(21))])}, {}, "21 of its 41 id are not in gold.csv"),
        ({"part.csv": csv_ids(TEST[:3]), "all.xlsx": "PK"}, {}, "17 of the 20 in gold.csv"),
        ({}, {"part.csv": csv_ids(TEST[:3])}, "17 of the 20 in gold.csv"),
        ({"inputs.csv": csv_ids(["a", "b"])}, {}, "none of its 2 id is in gold.csv"),
    ],
)
def test_what_is_odd_is_remarked_upon(own: Files, common: Files, expected: str, tmp_path: Path) -> None:
    errors, (remark,) = judged(tmp_path, own, common)
    assert errors == []
    assert expected in remark


@pytest.mark.parametrize("numbers", [("train.csv", "id,text,label"), ("lexicon.csv", "id,word")])
def test_numbers_that_begin_anew_are_other_data_beside_the_inputs(numbers: tuple[str, str], tmp_path: Path) -> None:
    name, header = numbers
    own = {"inputs.csv": csv_ids(NUMBERS), name: csv_ids([str(i) for i in range(500)], header)}
    assert judged(tmp_path, own, gold=NUMBERS) == ([], [])


def test_keys_of_two_parts_are_compared_as_pairs(tmp_path: Path) -> None:
    options = one_table([{"field": "part"}, LABEL], {"m": "exact_match"}, key=["id", "part"])
    gold = "id,part,label\na,1,x\na,2,x\nb,1,y\n"
    test = write_files(tmp_path / "test", {"gold.csv": gold})
    given = {"public/test/inputs.csv": str(tmp_path / "inputs.csv")}
    request = request_of(options, reference=test, phases=[str(test)], given=given)
    write_files(tmp_path, {"inputs.csv": gold.replace("label", "text")})
    assert organiser.check_reference(request)["warnings"] == []
    write_files(tmp_path, {"inputs.csv": gold.replace("label", "text").replace("b,1", "b,2")})
    with pytest.raises(OrganiserError, match=r'1 of its 3 id, part are not in gold\.csv: "b", "2"'):
        organiser.check_reference(request)


def test_inputs_of_another_table_are_not_this_ones(tmp_path: Path) -> None:
    options = declared_options("""
        submission:
          tables:
            one: {file: 1.csv, key: id, reference: {file: g1.csv}, fields: [{field: id}, {field: a, type: label}]}
            two: {file: 2.csv, key: id, reference: {file: g2.csv}, fields: [{field: id}, {field: b, type: label}]}
        tasks:
          - id: t
            columns:
              - {key: a, metric: {name: accuracy, table: one}}
              - {key: b, metric: {name: accuracy, table: two}}
    """)
    gold = {"g1.csv": csv_ids(NUMBERS, "id,a"), "g2.csv": csv_ids(NUMBERS[:12], "id,b")}
    write_files(tmp_path, {**gold, "in1.csv": csv_ids(NUMBERS), "in2.csv": csv_ids(NUMBERS[:13])})
    given = {"public/test/in1.csv": str(tmp_path / "in1.csv")}
    request = request_of(options, reference=tmp_path, phases=[str(tmp_path)], given=given)
    assert organiser.check_reference(request)["warnings"] == []
    given["public/test/in2.csv"] = str(tmp_path / "in2.csv")
    with pytest.raises(OrganiserError, match=r'in2.csv: 1 of its 13 id are not in g2\.csv: "12"'):
        organiser.check_reference(request)
