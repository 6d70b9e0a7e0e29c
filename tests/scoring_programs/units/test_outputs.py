"""The competitions as they are declared: every column has per-unit results, and no run of a program makes any."""

import zipfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gen_bundle.build.package.phase_data import prepare_phases
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import write_zip
from scoring_kit import frame
from scoring_kit.program import Program
from scoring_kit.results import TaskResult
from scoring_kit.units import Units
from tests.scoring_programs.packed import TAKING_RESULTS
from tests.scoring_programs.units.test_units import without_models  # noqa: F401 a fixture for the whole module

pytestmark = pytest.mark.slow
# CLPsych's signature names the versions of the models' libraries.
COMPETITIONS = [
    pytest.param(name, marks=[pytest.mark.models] if name == "clpsych2025" else []) for name in TAKING_RESULTS
]

Results = dict[str, TaskResult]


@dataclass(frozen=True)
class Phase:
    """A competition's program and the input of a run: the synthetic gold of dev and its first baseline."""

    program: Path
    input: Path


@pytest.fixture(scope="module", params=COMPETITIONS)
def phase(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Phase:
    competition = resolve(resource("bundles") / request.param)
    work = tmp_path_factory.mktemp(request.param)
    data = prepare_phases(competition, work)[0]
    (part,) = competition.parts
    write_zip(work / "program.zip", program_members(competition, part))
    write_zip(work / "res.zip", next(iter(data.baselines.values())))
    for name, folder in (("program", work / "program"), ("res", work / "input" / "res")):
        with zipfile.ZipFile(work / f"{name}.zip") as archive:
            archive.extractall(folder)
    (work / "input" / "ref").symlink_to(data.gold.references[part.id])
    return Phase(work / "program", work / "input")


@pytest.fixture(autouse=True)
def at_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1760000000")


def run(phase: Phase, output: Path) -> tuple[dict[str, bytes], str]:
    """What a run of the program leaves: its files and its log, without the time that it took."""
    log = StringIO()
    with redirect_stdout(log), redirect_stderr(log):
        frame.run(phase.program, phase.input, output)
    lines = [line for line in log.getvalue().splitlines() if not line.startswith("scored in ")]
    return {path.name: path.read_bytes() for path in output.iterdir()}, "\n".join(lines)


@pytest.fixture
def results(phase: Phase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """The results of a run."""
    found: Results = {}

    def keeping(*arguments: Any) -> Results:
        found.update(frame_score(*arguments))
        return found

    frame_score = frame.score_tasks
    monkeypatch.setattr(frame, "score_tasks", keeping)
    run(phase, tmp_path / "kept")
    return found


def test_every_declared_column_is_computed_from_all_units(phase: Phase, results: Results) -> None:
    program = Program.read(phase.program / "program.json")
    units = {task: made() for task, made in ((task, result.units) for task, result in results.items()) if made}
    assert set(units) == set(program.tasks)
    for column in program.columns:
        own = units[column.task]
        (value,) = own.statistics[column.key].over(np.ones((1, len(own.names))))
        assert value == pytest.approx(results[column.task].metrics[column.key].value, rel=1e-12, abs=1e-12)


def test_no_output_of_a_run_depends_on_units(phase: Phase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> Units:
        raise AssertionError("a run made per-unit results")

    score_tasks = frame.score_tasks
    left = run(phase, tmp_path / "as it is")
    monkeypatch.setattr(
        frame,
        "score_tasks",
        lambda *arguments: {task: replace(one, units=never) for task, one in score_tasks(*arguments).items()},
    )
    assert run(phase, tmp_path / "never") == left
    assert {"scores.json", "details.json", "detailed_results.html"} <= left[0].keys()
