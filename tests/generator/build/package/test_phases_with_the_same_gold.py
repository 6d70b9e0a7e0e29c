"""A test phase with the development phase's gold is told; one that is a link to it is meant so."""

import shutil
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.generator.build.looking import built

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]  # nearly each test builds a bundle

GIVEN = "test: the reference data{} are those of the phase dev, file for file: every score of dev reveals gold."


def told(competition: Path, layout: str) -> list[str]:
    notes = built(competition, layout=layout).notes
    return [note.partition(" Right only")[0] for note in notes if "file for file" in note]


@pytest.mark.parametrize(
    ("name", "layout", "copied", "expected"),
    [
        ("process2025", "joint", "gold.csv", [GIVEN.format("")]),
        ("process2025", "tasks", "gold.csv", [GIVEN.format(f" of {one}") for one in ("classification", "regression")]),
        ("seedev2016", "joint", "full", [GIVEN.format(" of full")]),
    ],
)
def test_gold_that_an_earlier_phase_has_is_told(
    name: str, layout: str, copied: str, expected: list[str], tmp_path: Path
) -> None:
    competition = Path(shutil.copytree(resource("bundles") / name, tmp_path / name))
    data = competition / "data"
    shutil.rmtree(data / "public" / "test")
    shutil.rmtree(data / "baselines" / "test")
    if (data / "dev" / copied).is_dir():
        shutil.rmtree(data / "test" / copied)
        shutil.copytree(data / "dev" / copied, data / "test" / copied)
    else:
        shutil.copy(data / "dev" / copied, data / "test" / copied)
    assert told(competition, layout) == expected


@pytest.mark.parametrize(("link", "target"), [("test", "dev"), ("dev", "test")])
def test_a_link_to_the_other_phases_data_is_meant_so(link: str, target: str, tmp_path: Path) -> None:
    competition = Path(shutil.copytree(resource("bundles") / "process2025", tmp_path / "process2025"))
    data = competition / "data"
    for folder in (data / link, data / "public" / link, data / "baselines" / link):
        shutil.rmtree(folder)
    (data / link).symlink_to(data / target, target_is_directory=True)
    assert told(competition, "joint") == []
