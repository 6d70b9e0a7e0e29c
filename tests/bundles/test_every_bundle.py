"""What holds of each bundled competition: its data are what its scripts write, its board shows the direct scores."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.bundles.replayed import check_board, files_of
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]
BUNDLES = resource("bundles")
NAMES = ["are2007", "clarity2026", "process2025", "seedev2016"]


def run_scripts(copy: Path, *scripts: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(resource("scoring_programs"))}
    for script in scripts:
        subprocess.run([sys.executable, str(copy / script)], check=True, env=environment)


@pytest.mark.parametrize("name", [*NAMES, "clpsych2025"])
def test_committed_data_are_what_the_scripts_write(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    shutil.copytree(BUNDLES / name, copy, ignore=shutil.ignore_patterns("data"))
    run_scripts(copy, "make_data.py", "baselines/make_baselines.py")
    assert files_of(copy / "data") == files_of(BUNDLES / name / "data")


@pytest.mark.parametrize("name", NAMES)
def test_baselines_are_made_without_the_gold(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    shutil.copytree(BUNDLES / name / "baselines", copy / "baselines")
    shutil.copytree(BUNDLES / name / "data" / "public", copy / "data" / "public")
    run_scripts(copy, "baselines/make_baselines.py")
    assert files_of(copy / "data" / "baselines") == files_of(BUNDLES / name / "data" / "baselines")


@pytest.mark.parametrize("layout", sweep(["joint", "tasks", "separate"], ["joint"]))
@pytest.mark.parametrize("name", NAMES)
def test_the_board_of_the_built_bundle_shows_the_direct_scores(name: str, layout: str, tmp_path: Path) -> None:
    check_board(tmp_path, name, layout, ["good", "weak"])
