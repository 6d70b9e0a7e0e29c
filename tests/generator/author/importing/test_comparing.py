"""Thirty submissions made of one, each another table of the same form, and where two scorers differ."""

from collections.abc import Mapping

import pytest

from gen_bundle.author.importing.comparing import Comparison, Outcome, ScoredTwice, mutants
from gen_bundle.author.importing.tables import FilePair, FoundTable, pairs_of, read_table
from tests.generator.author.importing.bundles import csv_text, guessed, plants

NO_NAMES: frozenset[str] = frozenset()
ROWS = plants("x", 40)
FILES = {"p.csv": csv_text("id,label", guessed(ROWS, 0.5)).encode(), "notes.txt": b"ours"}


def table(name: str, data: bytes) -> FoundTable:
    found = read_table(name, data, NO_NAMES)
    assert found is not None
    return found


@pytest.fixture
def pair() -> FilePair:
    (found,) = pairs_of([table("p.csv", FILES["p.csv"])], [table("g.csv", csv_text("id,label", ROWS).encode())])
    return found


def made(pair: FilePair, seed: str = "a") -> dict[str, Mapping[str, bytes]]:
    return mutants(FILES, [pair], seed)


def test_there_are_thirty_and_a_seed_gives_the_same(pair: FilePair) -> None:
    first, same, other = made(pair), made(pair), made(pair, "b")
    assert len(first) == 30
    assert first == same
    assert first != other


def test_other_files_stay(pair: FilePair) -> None:
    assert {files["notes.txt"] for files in made(pair).values()} == {b"ours"}


def test_what_is_right_is_the_gold_and_what_is_shuffled_has_the_same_rows(pair: FilePair) -> None:
    found = made(pair)
    right = table("p.csv", found["15-all-right"]["p.csv"])
    assert list(right.rows) == ROWS
    shuffled = table("p.csv", found["17-shuffled-rows"]["p.csv"])
    assert shuffled.rows != pair.answer.rows
    assert sorted(shuffled.rows) == sorted(pair.answer.rows)


def test_malformed_ones_are_what_they_are_called(pair: FilePair) -> None:
    found = made(pair)
    sizes = {"21-without-last-row": 39, "22-first-half": 20, "23-a-row-twice": 41, "24-row-of-an-unknown-id": 41}
    for name, size in sizes.items():
        assert len(table("p.csv", found[name]["p.csv"]).rows) == size
    assert b"no-such-answer" in found["25-unknown-answer"]["p.csv"]
    assert found["27-another-header"]["p.csv"].startswith(b"id,my_label\n")
    assert found["28-no-rows"]["p.csv"] == b"id,label\n"
    assert found["29-empty-file"]["p.csv"] == b""
    assert "p.csv" not in found["30-no-file"]


REFUSED = Outcome(None, "no")
DIFFERENT = {
    "a value": (Outcome({"f1": 0.5, "acc": 1.0}), Outcome({"f1": 0.5, "acc": 0.9}), ["acc"]),
    "no value": (Outcome({"f1": 0.5}), Outcome({"f1": 0.5, "acc": 0.9}), ["acc"]),
    "a value in the tenth place": (Outcome({"f1": 0.5, "acc": 0.9}), Outcome({"f1": 0.5, "acc": 0.9 + 1e-10}), []),
    "only the original refuses": (REFUSED, Outcome({"f1": 0.5, "acc": 0.9}), ["f1"]),
    "only the declaration refuses": (Outcome({"acc": 0.9}), REFUSED, ["acc"]),
    "only the declaration refuses what has no scores": (Outcome({}), REFUSED, ["f1"]),
    "both refuse": (REFUSED, Outcome(None, "for another reason"), []),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs(name: str) -> None:
    original, declared, columns = DIFFERENT[name]
    run = ScoredTwice("Main", "one", original, declared)
    assert Comparison(["f1", "acc"], [run]).differing() == [(run, column) for column in columns]
