"""Gold of another task is a secret in the bundle of one; gold that an earlier phase has is told."""

import shutil
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.generator.build.looking import built, refused

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]  # nearly each test builds a bundle


def copied(name: str, folder: Path) -> Path:
    """A competition that comes with the tool, to be changed."""
    return Path(shutil.copytree(resource("bundles") / name, folder / name))


@pytest.mark.parametrize(
    ("name", "task", "gold"),
    [
        ("seedev2016", "binary", "full/Synthetic-full-test-1.a2"),
        ("are2007", "task1", "task3/test-task3-news-1-key.xml"),
    ],
)
def test_gold_of_another_task_is_as_secret_as_its_own(name: str, task: str, gold: str, tmp_path: Path) -> None:
    competition = copied(name, tmp_path)
    shutil.copy(competition / "data" / "test" / gold, competition / "data" / "public")
    assert any(Path(gold).name in message for message in refused(competition, layout="separate", task=task))


def test_gold_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    competition = copied("seedev2016", tmp_path)
    for phase in ("dev", "test"):
        shutil.rmtree(competition / "data" / phase / "full")
    said = "dev, test: full: its gold could not be read, so what participants get was not searched for it."
    assert said in built(competition, layout="separate", task="binary").notes


GIVEN = "test: the reference data{} are those of the phase dev, file for file: every score of dev reveals gold."


def told(competition: Path, layout: str) -> list[str]:
    notes = built(competition, layout=layout).notes
    return [note.partition(" Right only")[0] for note in notes if "file for file" in note]


@pytest.mark.parametrize(
    ("name", "layout", "gold", "expected"),
    [
        ("process2025", "joint", "gold.csv", [GIVEN.format("")]),
        ("process2025", "tasks", "gold.csv", [GIVEN.format(f" of {one}") for one in ("classification", "regression")]),
        ("seedev2016", "joint", "full", [GIVEN.format(" of full")]),
    ],
)
def test_gold_that_an_earlier_phase_has_is_told(
    name: str, layout: str, gold: str, expected: list[str], tmp_path: Path
) -> None:
    competition = copied(name, tmp_path)
    data = competition / "data"
    shutil.rmtree(data / "public" / "test")
    shutil.rmtree(data / "baselines" / "test")
    if (data / "dev" / gold).is_dir():
        shutil.rmtree(data / "test" / gold)
        shutil.copytree(data / "dev" / gold, data / "test" / gold)
    else:
        shutil.copy(data / "dev" / gold, data / "test" / gold)
    assert told(competition, layout) == expected


@pytest.mark.parametrize(("link", "target"), [("test", "dev"), ("dev", "test")])
def test_a_link_to_the_other_phases_data_is_meant_so(link: str, target: str, tmp_path: Path) -> None:
    competition = copied("process2025", tmp_path)
    data = competition / "data"
    for folder in (data / link, data / "public" / link, data / "baselines" / link):
        shutil.rmtree(folder)
    (data / link).symlink_to(data / target, target_is_directory=True)
    assert told(competition, "joint") == []
