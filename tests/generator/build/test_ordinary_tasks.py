"""What holds of any ordinary task: it builds, its gold is its best answer, no copy passes, mistakes have places."""

import contextlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import zipped
from scoring_kit import frame
from tests.broken_tasks import broken_task
from tests.ordinary_tasks import Task, ordinary_task
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "forked_python")]
NUMBERS, FIRST = range(300), range(0, 300, 43)


@pytest.fixture(params=sweep(NUMBERS, FIRST))
def built(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Task, Path]:
    """A task, and its bundle."""
    task, out = ordinary_task(request.param, tmp_path / "task"), tmp_path / "bundle.zip"
    build(BuildRequest(str(task.folder), out))
    return task, out


def test_an_ordinary_task_is_sound(built: tuple[Task, Path], tmp_path: Path) -> None:
    task, bundle = built
    found = [one for one in check_path(bundle).findings if one.grave or one.id in ("leak-suspected", "not-looked-into")]
    assert found == []
    scores, best = scored(bundle, task.answers, tmp_path / "job")
    assert scores == pytest.approx(best)


def test_no_copy_of_its_gold_passes(built: tuple[Task, Path], tmp_path: Path) -> None:
    task, bundle = built
    missed = []
    gold = {name: (task.folder / "data/test" / name).read_bytes() for name in task.gold}
    for place, members in with_copies(bundle, gold):
        (tmp_path / "copied.zip").write_bytes(zipped(members))
        if not check_path(tmp_path / "copied.zip").leaks:
            missed.append(place)
    assert missed == []
    (task.folder / "data/public/test/copy.txt").write_bytes(gold[task.gold[0]])
    with pytest.raises(UserError, match=r"copy\.txt (is the reference file|shows|holds|lists)"):
        build(BuildRequest(str(task.folder), bundle))


@pytest.mark.parametrize("number", sweep(NUMBERS, FIRST))
def test_a_broken_task_is_answered_with_a_place(number: int, tmp_path: Path) -> None:
    what, may_be_sound = broken_task(number, tmp_path / "task")
    done = CliRunner().invoke(root, [str(tmp_path / "task"), "--out", str(tmp_path / "bundle.zip")])
    if done.exit_code == 0 and may_be_sound:
        return
    assert done.exit_code == 2, (what, done.output, done.exception)
    said = [line for line in done.output.splitlines() if line.startswith("error: ")]
    assert said, what
    assert all(PLACE.search(line) for line in said), (what, said)


PLACE = re.compile(
    r"bundle\.yaml:\d+:\d+: |/task(/data/test)?\b|public/test/|logo\.png|metrics\.py|"
    r"(gold-\w+|d\d\.\w+|\{doc\}\.\w+)\.\w+(:\d+)*: "
)
"""A line of bundle.yaml, or a file or folder of the task."""


def scored(bundle: Path, answers: Mapping[str, str], job: Path) -> tuple[dict[str, float], dict[str, float]]:
    """What the packed program says of answers, and the best value of each of its columns."""
    members = members_of(bundle.read_bytes())
    (task,) = yaml.safe_load(members["competition.yaml"])["tasks"]
    for part, into in (("scoring_program", "program"), ("reference_data", "input/ref")):
        with zipfile.ZipFile(io.BytesIO(members[task[part]])) as packed:
            packed.extractall(job / into)
    (job / "input/res").mkdir()
    for name, text in answers.items():
        (job / "input/res" / name).write_text(text, encoding="utf-8", newline="")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        assert frame.main(job / "program", [str(job / "input"), str(job / "output")]) == 0, said.getvalue()
    scores: dict[str, float] = json.loads((job / "output/scores.json").read_text(encoding="utf-8"))
    program = json.loads((job / "program/program.json").read_text(encoding="utf-8"))
    best = {}
    for column, metric in program["options"]["metrics"]["t"].items():
        row = TABLE.get(metric["metric"], {"best": 1}) if not metric["file"] else {"best": 1}
        best[column] = row["best"]
    return scores, best


TABLE = json.loads((resource("scoring_programs") / "declared/metrics/table.json").read_text(encoding="utf-8"))


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_copies(bundle: Path, gold: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The bundle's files with a copy of a gold file in each place where participants could read it.

    A baseline has all of them, as a folder that was copied.
    """
    members = members_of(bundle.read_bytes())
    competition = yaml.safe_load(members["competition.yaml"])
    (phase,), (page,), (solution,) = competition["phases"], competition["pages"], competition["solutions"]
    for name, data in gold.items():
        for place in ("public_data", "starting_kit"):
            inside = {**members_of(members[phase[place]]), f"more/{name}": data}
            yield f"{name} in {place}", {**members, phase[place]: zipped(inside)}
        yield f"{name} on a page", {**members, page["file"]: b"# Page\n```\n" + data + b"```\n"}
    yield "baseline", {**members, solution["path"]: zipped({f"answers/{name}": data for name, data in gold.items()})}
