"""What N submissions of a phase find out about its gold: README.md says it, and this holds it true."""

import json
from pathlib import Path

import pytest

from research.disclosure.attacks import ATTACKS, MODEL_ATTACKS
from research.disclosure.golds import golds
from research.disclosure.table import (
    BOUNDS,
    FIGURES,
    MEMORIES,
    NO_MEMORY,
    attacked,
    bound_table,
    documented,
    figure_table,
    found_alone,
    row,
)
from tests.punkt import punkt as punkt

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_finds_what_the_document_says(tmp_path: Path, name: str) -> None:
    sizes = json.loads(MEMORIES.read_text(encoding="utf-8"))[name]
    found = row(ATTACKS[name], sizes, tmp_path)
    assert attacked()[name] == [found[0].of, *(one.items for one in found)]


@pytest.mark.models
@pytest.mark.usefixtures("punkt")
@pytest.mark.parametrize("name", MODEL_ATTACKS)
def test_an_attack_with_the_public_models_finds_what_the_document_says(tmp_path: Path, name: str) -> None:
    found = row(MODEL_ATTACKS[name], NO_MEMORY, tmp_path)
    assert attacked()[name] == [found[0].of, *(one.items for one in found)]


def test_every_attack_is_documented() -> None:
    assert list(attacked()) == [*MODEL_ATTACKS, *ATTACKS]


def test_what_any_decoder_decides_at_most_is_what_the_document_says(tmp_path: Path) -> None:
    items = {name: numbers[0] for name, numbers in attacked().items()}
    sizes = json.loads(MEMORIES.read_text(encoding="utf-8"))
    assert documented(BOUNDS) == bound_table(items)
    assert documented(FIGURES) == figure_table(items, found_alone(attacked(), sizes, tmp_path))


def test_every_task_of_the_five_competitions_has_a_bound() -> None:
    items = {name: numbers[0] for name, numbers in attacked().items()}
    tasks = {gold.task for gold in golds(items)}
    assert tasks == {
        *("CLPsych A.1", "CLPsych A.2", "CLPsych B", "CLPsych C", "CLARITY task 1", "CLARITY task 2"),
        *("PROCESS task 1", "PROCESS task 2", "SeeDev-binary", "SeeDev-full"),
        *(f"ARE task {number}" for number in range(1, 5)),
    }


def test_no_attack_finds_more_than_any_decoder_can() -> None:
    most = {name: cells for name, _, _, *cells in documented(BOUNDS)[1:]}
    for name, (_, *found) in attacked().items():
        task = next(gold for gold in most if gold.partition(",")[0] == name.partition(",")[0])
        for number, bound in zip(found, most[task], strict=True):
            assert bound == "no bound" or number <= int(bound), name
    for figure, decided, bound, *_ in documented(FIGURES)[1:]:
        assert "–" in (decided, bound) or bound == "no bound" or int(decided) <= int(bound), figure
