"""gen-bundle rank --report: how reports are made, of what, and where that is refused."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.after.report.figures import _pairs
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import ProgramPart, resolve
from gen_bundle.cli import root
from gen_bundle.ground.resources import install_command, resource
from tests.generator.after.report.shared_task import rank, shared_task, submissions

# nearly each test makes a report
pytestmark = pytest.mark.usefixtures("kept_organisers", "unwritten_figures")

MEANS = {"classification": ("mean", ["macro_f1", "again_f1"]), "again": ("again_mean", ["again_f1", "again_accuracy"])}
"""Task → its computed column, and of which written ones: of another task with the same units, and of its own."""


def task(folder: Path, name: str = "classification") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())["tasks"][name]
    return found


@pytest.mark.slow
def test_settings_of_the_folder_are_not_obeyed(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_bytes(b"text.usetex: True\n# \xff\n")
    names = {"A": 1.0, "B": 0.2}
    (tmp_path / "task").mkdir()
    competition = shared_task(tmp_path / "task", 12)
    options = ["--submissions", submissions(competition, names), "--data", competition / "data", "--phase", "test"]
    command = ["-m", "gen_bundle", "rank", competition, *options, "--report", "report", "--resamples", "200"]
    ended = subprocess.run([sys.executable, *map(str, command)], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "matplotlibrc" not in ended.stderr


@pytest.mark.slow
def test_a_table_of_scores_makes_a_report_without_intervals(tmp_path: Path) -> None:
    (tmp_path / "best.csv").write_text("team,f1,rmse\nA,0.75,2.5\nB,0.25,\nC,,3\n", encoding="utf-8")
    arguments = ["rank", "process2025", "--scores", str(tmp_path / "best.csv"), "--report", str(tmp_path / "report")]
    done = CliRunner().invoke(root, arguments)
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "report" / "report.json").read_text())["tasks"]
    assert [(t["team"], t["score"], t["rank"]) for t in report["classification"]["teams"]] == [
        ("A", 0.75, 1),
        ("B", 0.25, 2),
    ]
    assert (report["regression"]["unit"], report["regression"]["units"], report["regression"]["pairs"]) == (None, 0, [])
    page = (tmp_path / "report" / "report.html").read_text()
    assert "A table of scores was ranked" in page
    assert "invited" in page
    assert "Combined" in page


@pytest.mark.slow
def test_too_few_resamples_for_the_pairs_are_noted(tmp_path: Path) -> None:
    """The smallest p is 1/101; six times that is above 0.05."""
    competition = shared_task(tmp_path, 40)
    teams = submissions(competition, {"A": 0.99, "B": 0.7, "C": 0.4, "D": 0.1})
    done = rank(competition, teams, "--report", tmp_path / "report", "--resamples", 100)
    assert done.exit_code == 0, done.output
    assert "Expected --resamples 120 or more." in done.stderr
    assert "Expected --resamples 120 or more." in (tmp_path / "report" / "report.html").read_text()
    assert {team["group"] for team in task(tmp_path / "report")["teams"]} == {1}
    done = rank(competition, teams, "--report", tmp_path / "report", "--resamples", 120)
    assert "--resamples" not in done.stderr
    assert {team["group"] for team in task(tmp_path / "report")["teams"]} != {1}


@pytest.mark.slow
def test_many_pairs_get_more_resamples_where_none_are_asked_for(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 20)
    teams = submissions(competition, {f"T{number}": 0.5 for number in range(34)})
    done = rank(competition, teams, "--report", tmp_path / "report")
    assert done.exit_code == 0, done.output
    assert task(tmp_path / "report")["resamples"] == 34 * 33 // 2 * 20
    assert "--resamples" not in done.stderr


def test_packages_that_are_not_installed_are_named_before_anything_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "matplotlib" else found(name, *rest)
    )
    done = rank(Path("process2025"), tmp_path, "--report", tmp_path / "report")
    assert done.exit_code == 2
    assert f"matplotlib is not installed. Expected the extra `report`: {install_command('report')}." in done.stderr


def test_a_scorer_whose_units_do_not_give_the_score_is_refused(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 20)
    scorer = competition / "my_task" / "classification.py"
    scorer.write_text(scorer.read_text().replace("Additive(sums, _macro_f1)", "Additive(sums * 2 + 1, _macro_f1)"))
    done = rank(competition, submissions(competition, {"A": 0.9}), "--report", tmp_path / "report")
    assert done.exit_code == 2
    assert "macro_f1 of A: the score is" in done.stderr
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(
    ("sort", "difference", "better"), [("desc", 1, 0), ("asc", -1, 0), ("desc", -1, 1), ("asc", 1, 1)]
)
def test_the_row_of_a_pair_is_the_better_team(sort: str, difference: float, better: int) -> None:
    axes = Mock()
    pair = {"a": "ann", "b": "ben", "difference": difference / 10, "p_holm": 0.01}
    _pairs(axes, ["ann", "ben"], {"sort": sort, "pairs": [pair]})
    (column, row, _), _ = axes.plot.call_args
    assert (column, row) == (1 - better, better)


def test_no_scoring_program_holds_the_statistics() -> None:
    competition = resolve(resource("bundles") / "process2025")
    members = program_members(competition, ProgramPart("all", "", competition.tasks))
    assert "scoring_kit/units.py" in members
    assert not [name for name in members if "resampling" in name or name.endswith("organiser.py")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "unit"), [("clarity2026", "interview question"), ("process2025", "speaker")])
def test_a_competition_that_comes_with_the_tool(tmp_path: Path, name: str, unit: str) -> None:
    data = resource("bundles") / name / "data"
    options = ["--submissions", data / "baselines" / "test", "--data", data, "--phase", "test", "--resamples", 200]
    done = CliRunner().invoke(root, ["rank", name, *map(str, options), "--report", str(tmp_path / "report")])
    assert done.exit_code == 0, done.output
    tasks = json.loads((tmp_path / "report" / "report.json").read_text())["tasks"]
    assert len(tasks) == 2
    assert "No intervals: " in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    for one in tasks.values():
        assert one["unit"] == unit
        assert one["units"] >= 10
        for team in one["teams"]:
            assert team["low"] is None or team["low"] <= team["score"] <= team["high"]
        assert 0 < one["pairs"][0]["p"] <= 1
        assert one["teams"][0]["group"] == 1


@pytest.mark.slow
def test_tasks_that_are_ranked_by_a_computed_column(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 80, tasks=2)
    again = competition / "my_task" / "again.py"
    again.write_text(again.read_text().replace('"accuracy"', '"again_accuracy"'))
    declaration = yaml.safe_load((competition / "bundle.yaml").read_text())
    columns = [one["columns"] for one in declaration["tasks"]]
    accuracy = next(column for column in columns[0] if column["key"] == "accuracy")
    columns[1].append(accuracy | {"key": "again_accuracy"})
    for (key, of), own in zip(MEANS.values(), columns, strict=True):
        mean = {"key": key, "title": "Mean", "sort": "desc", "computation": "avg", "of": of}
        own.insert(0, mean | {"meaning": "The mean of two columns."})
    (competition / "bundle.yaml").write_text(yaml.safe_dump(declaration, sort_keys=False))
    teams = submissions(competition, {"A": 0.9, "B": 0.4})
    done = rank(competition, teams, "--report", tmp_path / "report", "--resamples", 200, "--json")
    assert done.exit_code == 0, done.output
    records = {record["team"]: record for record in json.loads(done.stdout)["teams"]}
    for name, (key, of) in MEANS.items():
        one = task(tmp_path / "report", name)
        assert one["column"] == key, name
        for team in one["teams"]:
            record = records[team["team"]]
            assert team["score"] == pytest.approx(sum(record[column] for column in of) / 2), name
            assert team["low"] < team["score"] < team["high"], name
        assert one["pairs"][0]["p"] == pytest.approx(1 / 201), name
