"""gen-bundle rank --report, made twice in processes of its own: the same report, its steps, and what it replaces."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from gen_bundle import RankRequest
from gen_bundle.after.ranking import rank as ranked
from gen_bundle.build.package.client import VerbProgress
from tests.generator.after.report.shared_task import rank, shared_task, submissions

pytestmark = pytest.mark.slow  # whichever test is the first makes the reports


@dataclass(frozen=True)
class MadeTwice:
    """The same report of two tasks and two teams, by the command line and by a call with its steps."""

    competition: Path
    teams: Path
    by_command: Path
    by_call: Path
    steps: list[VerbProgress]


@pytest.fixture(scope="module")
def made_twice(tmp_path_factory: pytest.TempPathFactory) -> MadeTwice:
    work = tmp_path_factory.mktemp("twice")
    competition = shared_task(work, 60, tasks=2)
    teams = submissions(competition, {"A": 0.9, "B": 0.5})
    done = rank(competition, teams, "--report", work / "one", "--resamples", 100)
    assert done.exit_code == 0, done.output
    steps: list[VerbProgress] = []
    data = competition / "data"
    ranked(
        RankRequest(str(competition), submissions=teams, data=data, phase="test", report=work / "two", resamples=100),
        steps.append,
    )
    return MadeTwice(competition, teams, work / "one", work / "two", steps)


def test_the_same_seed_makes_the_same_report(made_twice: MadeTwice) -> None:
    folders = [made_twice.by_command, made_twice.by_call]
    one, two = ({p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()} for folder in folders)
    page = [text.pop("report.html").decode().replace("/one", "/two") for text in (one, two)]
    assert page[0] == page[1]
    del one["classification.npz"], two["classification.npz"], one["again.npz"], two["again.npz"]  # zips hold times
    assert one == two


def test_how_far_the_work_is(made_twice: MadeTwice) -> None:
    steps = [(one["step"], one["done"], one["total"]) for one in made_twice.steps]
    assert [done for step, done, _ in steps if step == "scoring submissions"] == [0, 1]
    resampling = [(done, total) for step, done, total in steps if step == "resampling"]
    assert resampling[-1] == (2 * 100 * (1 + 2),) * 2
    assert resampling == sorted(resampling)


@pytest.mark.usefixtures("unwritten_figures")
def test_what_lies_in_the_place_of_a_report(made_twice: MadeTwice, tmp_path: Path) -> None:
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.tex").write_text("mine")
    done = rank(made_twice.competition, made_twice.teams, "--report", other)
    assert done.exit_code == 2
    assert "exists and is not a report" in done.stderr
    assert (other / "chapter.tex").read_text() == "mine"
    shutil.rmtree(other)
    shutil.copytree(made_twice.by_command, other)
    done = rank(shared_task(tmp_path, 60), made_twice.teams, "--report", other, "--resamples", 100)
    assert done.exit_code == 0, done.output
    assert list(json.loads((other / "report.json").read_text())["tasks"]) == ["classification"]
    assert not (other / "units" / "again.npz").exists(), "nothing is left of the earlier report"
