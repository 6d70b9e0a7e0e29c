"""A project with programs of others, from its upload to the ranking: nothing but its programs ever scores."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from tests.generator.foreign_project import FILES, foreign_project
from tests.generator.live.conftest import Verb
from tests.live_server import Site, packed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("kept_organisers", "quick_confirm")]

GOLD = {name: FILES[f"data/{place}/gold.txt"].split() for name, place in (("Development", "dev"), ("Test", "test"))}
Change = Callable[[dict[str, Any]], object]
ANSWERS = {"owl": b"no no no no no", "eagle": b"yes no no no maybe", "hawk": b"no no no no maybe"}


def score(content: bytes, task: str) -> dict[str, Any]:
    """What the project's scorer makes of a submission on the site."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        told = archive.read("answers.txt").split()
    right = sum(gold == answer for gold, answer in zip(GOLD[task], told, strict=True)) / len(told)
    return {"scores": [{"index": 0, "column_key": "set1-acc", "score": f"{right:.10f}"}]}


def open_now(declared: dict[str, Any]) -> None:
    declared["phases"][0] |= {"start": "2020-01-01", "end": "2099-01-01"}
    declared["phases"][1] |= {"start": "2099-01-02", "max_submissions": 30}


def both_tasks(declared: dict[str, Any]) -> None:
    open_now(declared)
    declared["submission_rule"] = "Force_Latest_Multiple"
    declared["phases"] = [{**declared["phases"][0], "tasks": ["dev", "test"]}]
    declared["solutions"][0]["tasks"] = ["dev", "test"]


def send(site: Site, owner: str, answers: bytes) -> None:
    """Let a participant hand in to the first phase; what is scored for several tasks has a part for each."""
    (competition,) = site.competitions.values()
    phase = competition["phases"][0]
    content = packed({"answers.txt": answers})
    parts = [{"task": task, "on_leaderboard": True, **score(content, task["name"])} for task in phase["tasks"]]
    if len(parts) == 1:
        site.add_submission(phase["id"], owner, content, **parts[0])
        return
    whole = site.add_submission(phase["id"], owner, content, scores=[], has_children=True, task=None)
    for part in parts:
        child = site.add_submission(phase["id"], owner, content, parent=whole["id"], **part)
        whole["children"].append(child["id"])


def ranked(folder: Path, downloads: Path) -> list[tuple[str, int, float]]:
    """Each team of the first phase, by its name, with its rank and score."""
    submissions = downloads / "0-development" / "submissions"
    done = CliRunner().invoke(root, ["rank", str(folder), "--submissions", str(submissions), "--json"])
    assert done.exit_code == 0, done.output
    teams = [(one["team"], one["leaderboard_rank"], one["set1-acc"]) for one in json.loads(done.stdout)["teams"]]
    return sorted(teams)


@pytest.mark.parametrize(
    ("change", "cells", "ranking"),
    [
        (open_now, 2, [("eagle", 1, 0.8), ("hawk", 2, 0.6), ("owl", 3, 0.4)]),
        (both_tasks, 4, [("eagle", 1, 1.0), ("hawk", 1, 1.0), ("owl", 3, 0.8)]),
    ],
    ids=["a task", "two tasks"],
)
def test_from_its_upload_to_the_ranking(
    site: Site, verb: Verb, tmp_path: Path, change: Change, cells: int, ranking: list[tuple[str, int, float]]
) -> None:
    def went_well(*arguments: object) -> str:
        done = verb(*arguments)
        assert done.exit_code == 0, done.output
        return done.output

    folder = foreign_project(tmp_path / "task", change)
    (bundle,) = build(BuildRequest(str(folder), tmp_path / "bundle.zip"))
    went_well("upload", bundle.path)
    (number,) = site.competitions
    site.score = score
    confirmed = went_well("confirm", number, "--bundle", bundle.path, "--engine", "process", "--trust")
    assert f"all {cells} cells are equal" in confirmed
    assert site.submissions == []
    assert went_well("update", number, bundle.path).endswith("The same.\n")
    for owner, answers in ANSWERS.items():
        send(site, owner, answers)
    assert "phase Development: " in went_well("status", number)
    went_well("fetch", number, "--out", tmp_path / "downloads")
    assert ranked(folder, tmp_path / "downloads") == ranking


def test_a_column_that_shows_a_time_is_not_judged(site: Site, verb: Verb, tmp_path: Path) -> None:
    def change(declared: dict[str, Any]) -> None:
        open_now(declared)
        seconds = {"key": "seconds", "title": "Seconds", "sort": "asc", "measured": "seconds"}
        declared["leaderboard"]["columns"].append(seconds)

    folder = foreign_project(tmp_path / "task", change)
    scorer = folder / "programs" / "score" / "score.py"
    scorer.write_text(scorer.read_text().replace('"set1-acc": right', '"set1-acc": right, "seconds": 0.25'))
    (bundle,) = build(BuildRequest(str(folder), tmp_path / "bundle.zip"))
    verb("upload", bundle.path)
    (number,) = site.competitions

    def timed(content: bytes, task: str) -> dict[str, Any]:
        seconds = {"index": 1, "column_key": "seconds", "score": "7.5000000000"}
        return {"scores": [*score(content, task)["scores"], seconds]}

    site.score = timed
    done = verb("confirm", number, "--bundle", bundle.path, "--engine", "process", "--trust")
    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.stdout.splitlines() if "seconds" in line]
    assert [cell.strip() for cell in line.strip("│").split("│")][4:] == ["0.25", "7.5", "measured, not judged"]
    import_bundle(bundle.path, tmp_path / "imported")
    assert "measured: seconds" in (tmp_path / "imported" / "bundle.yaml").read_text(encoding="utf-8")
