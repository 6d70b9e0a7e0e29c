"""Thirty submissions made of one: the same for a seed, each another table of the same form."""

import pytest

from gen_bundle.importing.declare.mutants import Mutant, mutants
from gen_bundle.importing.declare.pairs import FilePair, pairs_of
from gen_bundle.importing.declare.tables import FoundTable, read_table
from tests.generator.importing.bundles import csv_text, guessed, plants

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


def made(pair: FilePair, seed: str = "a") -> dict[str, Mutant]:
    return {mutant.name: mutant for mutant in mutants(FILES, [pair], seed)}


def test_there_are_thirty_and_a_seed_gives_the_same(pair: FilePair) -> None:
    first, same, other = made(pair), made(pair), made(pair, "b")
    assert len(first) == 30
    assert first == same
    assert first != other


def test_other_files_stay(pair: FilePair) -> None:
    assert {mutant.files["notes.txt"] for mutant in made(pair).values()} == {b"ours"}


def test_what_is_right_is_the_gold_and_what_is_shuffled_has_the_same_rows(pair: FilePair) -> None:
    found = made(pair)
    right = table("p.csv", found["15-all-right"].files["p.csv"])
    assert list(right.rows) == ROWS
    shuffled = table("p.csv", found["17-shuffled-rows"].files["p.csv"])
    assert shuffled.rows != pair.answer.rows
    assert sorted(shuffled.rows) == sorted(pair.answer.rows)


def test_malformed_ones_are_what_they_are_called(pair: FilePair) -> None:
    found = made(pair)
    sizes = {"21-without-last-row": 39, "22-first-half": 20, "23-a-row-twice": 41, "24-row-of-an-unknown-id": 41}
    for name, size in sizes.items():
        assert len(table("p.csv", found[name].files["p.csv"]).rows) == size
    assert b"no-such-answer" in found["25-unknown-answer"].files["p.csv"]
    assert found["27-another-header"].files["p.csv"].startswith(b"id,my_label\n")
    assert found["28-no-rows"].files["p.csv"] == b"id,label\n"
    assert found["29-empty-file"].files["p.csv"] == b""
    assert "p.csv" not in found["30-no-file"].files
