"""What holds of each bundled competition: its data are what its scripts write, its board shows the direct scores."""

import runpy
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.bundles.replayed import check_board, columns_of, direct_scores, files_of
from tests.scoring_programs.framed import run_without
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers")]
BUNDLES = resource("bundles")
BETTER = [("are2007", 1.5, 1), ("clarity2026", 2, 1), ("process2025", 1.5, 0.7), ("seedev2016", 1.5, 0.5)]
"""Competition, and how often a score of the weak baseline the good one has at least, and an error at most."""

NAMES = [name for name, *_ in BETTER]

HEAVY = ("torch", "transformers", "pandas", "sklearn", "nltk")
LIGHT = {
    **dict.fromkeys(["are2007", "seedev2016"], HEAVY),  # SciPy pairs spans and events
    **dict.fromkeys(["clarity2026", "process2025"], (*HEAVY, "numpy", "scipy")),
}
"""Competition → libraries that its scoring program does without."""


@pytest.mark.parametrize("name", [*NAMES, "clpsych2025", "helpdesk"])
def test_committed_data_are_what_the_script_writes(name: str, tmp_path: Path) -> None:
    copy, committed = tmp_path / name, files_of(BUNDLES / name / "data")
    shutil.copytree(BUNDLES / name, copy, ignore=shutil.ignore_patterns("data"))
    runpy.run_path(str(copy / "make_data.py"), run_name="__main__")
    baselines = {file: content for file, content in committed.items() if file.startswith("baselines/")}
    assert {**files_of(copy / "data"), **baselines} == committed


@pytest.mark.parametrize("name", [*NAMES, "clpsych2025"])
def test_baselines_are_made_without_the_gold(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    shutil.copytree(BUNDLES / name / "baselines", copy / "baselines")
    shutil.copytree(BUNDLES / name / "data" / "public", copy / "data" / "public")
    runpy.run_path(str(copy / "baselines" / "make_baselines.py"), run_name="__main__")
    assert files_of(copy / "data" / "baselines") == files_of(BUNDLES / name / "data" / "baselines")


@pytest.mark.parametrize("phase", ["dev", "test"])
@pytest.mark.parametrize(("name", "at_least", "at_most"), BETTER)
def test_the_good_baseline_beats_the_weak_one_everywhere(
    name: str, at_least: float, at_most: float, phase: str
) -> None:
    good, weak = (direct_scores(name, phase, baseline) for baseline in ("good", "weak"))
    for key, (sort, _) in columns_of(name).items():
        assert good[key] > at_least * weak[key] if sort == "desc" else good[key] < at_most * weak[key], key


@pytest.mark.parametrize(("name", "blocked"), LIGHT.items())
def test_a_job_without_a_model_waits_for_no_library(name: str, blocked: Sequence[str], tmp_path: Path) -> None:
    """Whose import would take longer than all the rest."""
    data = BUNDLES / name / "data"
    gold, answers = files_of(data / "dev"), files_of(data / "baselines" / "dev" / "good")
    outcome = run_without(tmp_path, blocked, name, gold, answers)
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.scores) == set(columns_of(name))
    assert set(outcome.details) == {"signature", "warnings", "tasks"}
    assert outcome.page is not None


JOINT = [(name, "joint") for name in NAMES]
OTHERS = [("are2007", "separate"), ("clarity2026", "separate"), ("process2025", "tasks"), ("seedev2016", "tasks")]
"""Each layout with folders of tasks, and with one file for both."""


@pytest.mark.parametrize("bundle", sweep([*JOINT, *OTHERS], JOINT), ids="-".join)
def test_the_board_of_the_built_bundle_shows_the_direct_scores(bundle: tuple[str, str], tmp_path: Path) -> None:
    check_board(tmp_path, *bundle)
