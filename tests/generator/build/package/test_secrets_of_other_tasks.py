"""A bundle of a single task shows the gold of none."""

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
