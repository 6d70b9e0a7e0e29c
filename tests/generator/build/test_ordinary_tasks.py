"""What holds of any ordinary task: it builds, its gold is its best answer, no copy passes, mistakes have places."""

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.check.report import LEAK
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import zipped
from tests.broken_tasks import broken_task
from tests.ordinary_tasks import Task, ordinary_task
from tests.sweeps import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "forked_python")]
NUMBERS, FIRST = range(300), range(0, 300, 86)


@pytest.mark.parametrize("number", sweep(NUMBERS, FIRST))
def test_an_ordinary_task_is_sound_and_no_copy_of_its_gold_passes(number: int, tmp_path: Path) -> None:
    task = ordinary_task(number, tmp_path / "task")
    for one in build(BuildRequest(str(task.folder), folder=tmp_path)):  # in layout `separate` one for each of its tasks
        found = check_path(one.path).findings
        assert [one for one in found if one.grave or one.id in ("leak-suspected", "not-looked-into")] == []
        for place, (phase, scored_task) in enumerate(runs_of(one.path)):
            scores, best = scored(one.path, scored_task, task.answers[phase], tmp_path / one.path.stem / f"job{place}")
            assert scores == pytest.approx(best)
        for places, members in with_copies(one.path, task):
            (tmp_path / "copied.zip").write_bytes(zipped(members))
            told = [one.what for one in check_path(tmp_path / "copied.zip").findings if one.id == LEAK]
            assert [place for place in places if not any(place in what for what in told)] == [], told
    phase = next(iter(task.gold))
    gold = task.folder / "data" / phase / task.gold[phase][0]
    (task.folder / "data/public" / phase / "copy.txt").write_bytes(gold.read_bytes())
    with pytest.raises(UserError, match=r"copy\.txt (is the reference file|has the array|shows|holds|lists)"):
        build(BuildRequest(str(task.folder), folder=tmp_path))


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
    r"bundle\.yaml:\d+:\d+: |/task(/data/(dev|test))?\b|public/(dev|test)/|logo\.png|metrics\.py|own_package/|"
    r"(\S*gold\S*|d\d\.\w+|\{doc\}\.\w+)\.\w+(\.gz)?(\[\d+\])?(:\d+)*: "
)
"""A line of bundle.yaml, or a file or folder of the task."""


def runs_of(bundle: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The phases of a bundle, each with every task that it runs."""
    competition = yaml.safe_load(members_of(bundle.read_bytes())["competition.yaml"])
    for phase in competition["phases"]:
        for index in phase["tasks"]:
            yield {"Development": "dev", "Test": "test"}[phase["name"]], competition["tasks"][index]


def scored(
    bundle: Path, task: Mapping[str, Any], answers: Mapping[str, bytes], job: Path
) -> tuple[dict[str, float], dict[str, float]]:
    """What the packed program says of answers, and the best value of each of its columns."""
    members = members_of(bundle.read_bytes())
    for part, into in (("scoring_program", "program"), ("reference_data", "input/ref")):
        with zipfile.ZipFile(io.BytesIO(members[task[part]])) as packed:
            packed.extractall(job / into)
    for name, content in answers.items():
        path = job / "input/res" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    command = [sys.executable, str(job / "program/score.py"), str(job / "input"), str(job / "output")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    scores: dict[str, float] = json.loads((job / "output/scores.json").read_text(encoding="utf-8"))
    return scores, best_of(json.loads((job / "program/program.json").read_text(encoding="utf-8")))


def best_of(program: Mapping[str, Any]) -> dict[str, float]:
    """The best value of each column; the worst of those of tasks that the program does not score."""
    best: dict[str, float] = {}
    for column in program["columns"]:
        metric = program["options"].get("metrics", {}).get(column["task"], {}).get(column["key"])
        best[column["key"]] = float(column["sort"] == "desc")
        if column["task"] not in program["tasks"]:
            best[column["key"]] = column["worst"]
        elif metric and not metric["file"] and metric["metric"] in TABLE:
            best[column["key"]] = TABLE[metric["metric"]]["best"]
    return best


TABLE = json.loads((resource("scoring_programs") / "declared/metrics/table.json").read_text(encoding="utf-8"))


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_copies(bundle: Path, task: Task) -> Iterator[tuple[list[str], dict[str, bytes]]]:
    """The bundle's files with copies of a gold file where participants could read it, and the places that have one.

    A baseline has all of a phase's, as a folder that was copied.
    """
    members = members_of(bundle.read_bytes())
    competition = yaml.safe_load(members["competition.yaml"])
    held = set[str]().union(*(members_of(members[one["reference_data"]]) for one in competition["tasks"]))
    for at, (phase, names) in enumerate(task.gold.items()):
        folder = task.folder / "data" / phase
        gold = {name: (folder / name).read_bytes() for name in names if name in held}
        (page,) = competition["pages"]
        there, solution = competition["phases"][-at], competition["solutions"][at]
        for name, data in gold.items():
            places, copied = [], dict(members)
            for place in ("public_data", "starting_kit"):
                copied[there[place]] = zipped({**members_of(members[there[place]]), f"more/{name}": data})
                places.append(f"{there[place]}/more/{name}")
            if b"\0" not in data:
                copied[page["file"]] = b"# Page\n```\n" + data + b"\n```\n"
                places.append(page["file"])
            yield places, copied
        copied = {**members, solution["path"]: zipped({f"answers/{name}": data for name, data in gold.items()})}
        yield [f"{solution['path']}/answers/"], copied
