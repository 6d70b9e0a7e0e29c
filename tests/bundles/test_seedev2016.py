"""The declaration, synthetic data and baselines of SeeDev, and the whole way through the built zip."""

import re
from collections import Counter
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from scoring_kit.organiser import Request
from seedev2016 import organiser
from seedev2016.schema import EVENT_TYPES
from tests.bundles.replayed import columns_of, files_of, pages
from tests.scoring_programs.framed import score

NAME = "seedev2016"
FOLDER = resource("bundles") / NAME
LAYOUTS = ["joint", "tasks", "separate"]


def test_the_columns_are_the_tasks_measures() -> None:
    assert list(columns_of(NAME).items()) == [
        ("binary_f1", ("desc", 0)),
        ("binary_recall", ("desc", 0)),
        ("binary_precision", ("desc", 0)),
        ("full_f1", ("desc", 0)),
        ("full_recall", ("desc", 0)),
        ("full_precision", ("desc", 0)),
        ("full_ser", ("asc", 1000)),
    ]


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_the_data_are_sound_and_hold_every_event_type(phase: str) -> None:
    folder = FOLDER / "data" / phase
    both = ["binary", "full"]
    request = Request(reference=str(folder), tasks=both, all_tasks=both, layout="joint", options={})
    assert organiser.check_reference(request) == {"warnings": []}
    for task, types in EVENT_TYPES.items():
        lines = [
            line for path in (folder / task).glob("*.a2") for line in path.read_text(encoding="utf-8").splitlines()
        ]
        events = [line.split("\t")[1].split() for line in lines if line.startswith("E")]
        assert {words[0] for words in events} == set(types)
        assert any("Prerequisite_Event" in word for words in events for word in words) == (task == "full")
        assert any(line.startswith("M") for line in lines) == (task == "full")


@pytest.mark.parametrize("phase", ["dev", "test"])
@pytest.mark.parametrize("task", ["binary", "full"])
def test_events_have_discontinuous_and_repeated_entities_as_arguments(phase: str, task: str) -> None:
    """As in the real data, where some fragments are apart and some entities have two ids."""
    discontinuous = repeated = 0
    for path in (FOLDER / "data" / phase / task).glob("*.a1"):
        annotations = [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").splitlines()]
        copies = Counter(annotation for _, annotation in annotations)
        fillers = set(re.findall(r":(T\d+)", path.with_suffix(".a2").read_text(encoding="utf-8")))
        discontinuous += sum(";" in annotation for key, annotation in annotations if key in fillers)
        repeated += sum(copies[annotation] == 2 for key, annotation in annotations if key in fillers)
    assert discontinuous >= 5
    assert repeated >= 4


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_an_oracle_is_perfect(tmp_path: Path, phase: str) -> None:
    gold = files_of(FOLDER / "data" / phase)
    outcome = score(tmp_path, NAME, gold, {name: text for name, text in gold.items() if name.endswith(".a2")})
    ratios = dict.fromkeys(columns_of(NAME), 1.0)
    assert outcome.scores == {**ratios, "full_ser": 0.0}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pages(layout: str) -> None:
    rendered = {page: " ".join(text.split()) for page, text in pages(NAME, layout).items()}
    data = rendered["pages/data.md"]
    for kind in (name for types in EVENT_TYPES.values() for name in types):
        assert kind in data
    assert "| LitWay | 0.432 | 0.448 | 0.417 |" in rendered["pages/results.md"]
    assert "| DUTIR | hidden | hidden | hidden |" in rendered["pages/results.md"]
    assert rendered["pages/evaluation.md"].count("**Choice:**") == 9


def test_the_data_page_tells_the_roles_of_the_schema() -> None:
    table = [line.split(" | ") for line in pages(NAME)["pages/data.md"].splitlines() if line.startswith("| ")]
    told = {cells[0].removeprefix("| ").split(",")[0].split(" ")[0]: " ".join(cells[1:]) for cells in table}
    for name, kind in EVENT_TYPES["binary"].items():
        assert all(f"{role} (" in told[name] for role in kind.roles)
