"""gen-bundle rank --report: what is in the folder, and that it says what the scores and the statistics say."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.generator.report.shared_task import rank, shared_task, submissions

pytestmark = pytest.mark.slow  # nearly each test makes a report

TEAMS = {"Ahead": 0.95, "=Formula": 0.85, "<b>Bold $x$ & 中文_队": 0.6, "Slow": 0.4, "Quiet": 0.7, "Gone": 0.75}
BASE = "Majority"
KEYS = {"column", "unit", "units", "resamples", "seed", "teams", "pairs", "stability"}
SHOWN = ["Ahead", "=Formula", "<b>Bold $x$ & 中文_队", "Slow"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of four teams, one with hidden figures, one hidden, a baseline and one that cannot be scored."""
    work = tmp_path_factory.mktemp("report")
    competition = shared_task(work, 80)
    teams = submissions(competition, {**TEAMS, BASE: 0.1})
    (teams / "Torn.zip").write_bytes(b"no zip")
    view = ("--baseline", BASE, "--hide-figures", "Quiet", "--hide", "Gone")
    done = rank(competition, teams, "--report", work / "report", "--resamples", 1000, "--seed", 5, *view)
    assert done.exit_code == 1, done.output
    assert "not scored: Torn" in done.stderr
    return work / "report"


def task(folder: Path) -> dict[str, Any]:
    tasks = json.loads((folder / "report.json").read_text())["tasks"]
    found: dict[str, Any] = tasks["classification"]
    return found


def test_the_files_of_a_report(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    kinds = [
        f"{task}-{kind}.{form}"
        for task in ("classification", "again")
        for kind in ("scores", "ranks", "pairs")
        for form in ("svg", "pdf")
    ]
    assert files == {
        *("report.html", "report.json", "report.tex", "ranking.csv", "pairwise.csv"),
        *("units/classification.npz", "units/again.npz"),
        *(f"figures/{name}" for name in kinds),
    }
    assert not list(folder.parent.glob(".report*")), "nothing is left of the writing"


def test_report_json_has_the_keys_of_its_contract(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    assert list(report) == ["tasks"]
    assert set(report["tasks"]) == {"classification", "again"}
    for one in report["tasks"].values():
        assert set(one) == KEYS
        assert all(
            set(t) == {"team", "score", "low", "high", "rank", "rank_low", "rank_high", "group"} for t in one["teams"]
        )
        assert all(set(p) == {"a", "b", "difference", "low", "high", "p", "p_holm"} for p in one["pairs"])
        assert set(one["stability"]) == {"tau_mean", "wins"}
    first = report["tasks"]["classification"]
    assert [first[key] for key in ("column", "unit", "units", "resamples", "seed")] == ["macro_f1", "text", 80, 1000, 5]


def test_the_figures_fit_each_other(folder: Path) -> None:
    one = task(folder)
    teams = {team["team"]: team for team in one["teams"]}
    assert list(teams) == [*SHOWN, BASE, "Quiet"]
    assert [teams[name]["rank"] for name in SHOWN] == [1, 2, 5, 6], "hidden teams hold their ranks"
    for name in SHOWN:
        team = teams[name]
        assert 0 <= team["low"] <= team["score"] <= team["high"] <= 1
        assert 1 <= team["rank_low"] <= team["rank"] <= team["rank_high"] <= 6
    assert teams[SHOWN[0]]["group"] == 1
    assert teams["Slow"]["group"] > 1
    assert len(one["pairs"]) == 10
    for pair in one["pairs"]:
        assert pair["difference"] == teams[pair["a"]]["score"] - teams[pair["b"]]["score"]
        assert pair["low"] <= pair["difference"] <= pair["high"]
        assert 1 / 1001 <= pair["p"] <= pair["p_holm"] <= 1
    assert 0 < one["stability"]["tau_mean"] <= 1
    assert set(one["stability"]["wins"]) == set(SHOWN)
    assert 0.9 < sum(one["stability"]["wins"].values()) <= 1


def test_a_baseline_has_an_interval_and_no_rank(folder: Path) -> None:
    team = next(team for team in task(folder)["teams"] if team["team"] == BASE)
    assert team["low"] < team["score"] < team["high"]
    assert [team[key] for key in ("rank", "rank_low", "rank_high", "group")] == [None] * 4


def test_hidden_figures_are_nowhere_and_hidden_teams_are_not_named(folder: Path) -> None:
    quiet = next(team for team in task(folder)["teams"] if team["team"] == "Quiet")
    assert set(quiet.values()) == {"Quiet", None}
    for path in folder.iterdir():
        if path.is_file():
            assert "Gone" not in path.read_text(), path.name
    for file in ("pairwise.csv", "figures/classification-ranks.svg", "figures/classification-scores.svg"):
        assert "Quiet" not in (folder / file).read_text()
    assert "Quiet" in (folder / "report.html").read_text()


def test_the_tables_say_what_report_json_says(folder: Path) -> None:
    with (folder / "ranking.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["task"] == "classification"]
    one = task(folder)
    assert [row["team"] for row in rows] == [t["team"].replace("=Formula", "'=Formula") for t in one["teams"]]
    for row, team in zip(rows, one["teams"], strict=True):
        for key in ("rank", "score", "low", "high", "rank_low", "rank_high", "group"):
            assert row[key] == ("" if team[key] is None else str(team[key]))
    with (folder / "pairwise.csv").open(encoding="utf-8", newline="") as file:
        pairs = [row for row in csv.DictReader(file) if row["task"] == "classification"]
    assert [float(row["p_holm"]) for row in pairs] == [pair["p_holm"] for pair in one["pairs"]]
    assert not any(cell.startswith(("=", "@")) for row in [*rows, *pairs] for cell in row.values())


def test_the_page_has_everything_in_its_order(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)"', page) == [
        *("results", "counted", "pairs", "stability", "robustness", "overall", "groups", "methods", "checklist")
    ]
    text = re.sub(r"<[^>]+>", " ", page)
    for expected in (
        "Torn: Torn.zip: cannot be read as a zip",
        "80 texts",
        "1,000 resamples",
        "competition:my-task|tasks:classification+again|version:",
        "without a rank, not counted",
        "mean over texts",
        "median over texts",
        "mean rank over texts",
        "by Accuracy",
        "baselines ranked, too",
        "Holm&#39;s method",
        "To be added by the organisers.",
        "--resamples 1000 --seed 5",
        "matplotlib ",
    ):
        assert expected in text, expected
    assert "<b>Bold" not in page
    assert "&lt;b&gt;Bold $x$ &amp; 中文_队" in page


def test_the_page_loads_nothing(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page.replace('xlink:href="#', 'href="#'))


def test_per_unit_results_are_kept_for_the_organisers(folder: Path) -> None:
    with np.load(folder / "units" / "classification.npz") as kept:
        assert str(kept["unit"]) == "text"
        assert len(kept["names"]) == 80
        teams = kept["teams"].tolist()
        right = kept[f"{teams.index('Ahead')}.accuracy.sums"]
    assert right.shape == (80, 2)
    accuracy = json.loads((folder / "report.json").read_text())
    assert accuracy
    assert 0.8 < right[:, 0].sum() / right[:, 1].sum() < 1


def test_the_same_seed_makes_the_same_report(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 30)
    teams = submissions(competition, {"A": 0.9, "B": 0.5})
    for name in ("one", "two"):
        assert rank(competition, teams, "--report", tmp_path / name, "--resamples", 100).exit_code == 0
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()} for n in ("one", "two"))
    page = [text.pop("report.html").decode().replace("/one", "/two") for text in (one, two)]
    assert page[0] == page[1]
    del one["classification.npz"], two["classification.npz"], one["again.npz"], two["again.npz"]  # zips hold times
    assert one == two


def test_few_units_have_no_intervals_and_it_is_said(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 9)
    teams = submissions(competition, {"A": 1.0, "B": 0.2})
    done = rank(competition, teams, "--report", tmp_path / "report", "--resamples", 200)
    assert done.exit_code == 0, done.output
    one = task(tmp_path / "report")
    assert all(team[key] is None for team in one["teams"] for key in ("low", "high", "rank_low", "rank_high"))
    assert one["pairs"][0]["low"] is None
    assert 0 < one["pairs"][0]["p"] <= 1
    assert one["stability"] == {"tau_mean": None, "wins": {}}
    for name in ("report.html", "report.tex"):
        assert "There are only 9 units" in (tmp_path / "report" / name).read_text()


def test_a_table_of_scores_makes_a_report_without_intervals(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from gen_bundle.cli import root

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


def test_what_lies_in_the_place_of_a_report(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 12)
    teams = submissions(competition, {"A": 0.9, "B": 0.5})
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.tex").write_text("mine")
    done = rank(competition, teams, "--report", other)
    assert done.exit_code == 2
    assert "exists and is not a report" in done.stderr
    assert (other / "chapter.tex").read_text() == "mine"
    shutil.rmtree(other)
    for _ in range(2):
        assert rank(competition, teams, "--report", other, "--resamples", 100).exit_code == 0
    assert (other / "report.html").is_file()


def test_packages_that_are_not_installed_are_named_before_anything_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pandas" else found(name, *rest)
    )
    done = rank(tmp_path, tmp_path, "--report", tmp_path / "report")
    assert done.exit_code == 2
    assert 'pandas is not installed. Expected the extra `report`: pip install "gen-bundle[report]"' in done.stderr


def test_a_scorer_whose_units_do_not_give_the_score_is_refused(tmp_path: Path) -> None:
    competition = shared_task(tmp_path, 20)
    scorer = competition / "my_task" / "classification.py"
    scorer.write_text(scorer.read_text().replace("Additive(sums, _macro_f1)", "Additive(sums * 2 + 1, _macro_f1)"))
    done = rank(competition, submissions(competition, {"A": 0.9}), "--report", tmp_path / "report")
    assert done.exit_code == 2
    assert "macro_f1 of A: the score is" in done.stderr
    assert not (tmp_path / "report").exists()


def test_how_far_the_work_is(tmp_path: Path) -> None:
    from gen_bundle import RankRequest
    from gen_bundle.package.answers import Progress
    from gen_bundle.rank import rank as ranked

    competition = shared_task(tmp_path, 20)
    teams = submissions(competition, {"A": 0.9, "B": 0.5})
    seen: list[Progress] = []
    options = {"submissions": teams, "data": competition / "data", "phase": "test", "resamples": 100}
    ranked(RankRequest(str(competition), report=tmp_path / "report", **options), seen.append)  # type: ignore[arg-type]
    assert [one["done"] for one in seen if one["step"] == "scoring submissions"] == [0, 1]
    resampling = [one for one in seen if one["step"] == "resampling"]
    assert resampling[-1]["done"] == resampling[-1]["total"] == 2 * 100 * (1 + 2)
    assert [one["done"] for one in resampling] == sorted(one["done"] for one in resampling)


def test_no_scoring_program_holds_the_statistics() -> None:
    from gen_bundle.package.programs import program_members
    from gen_bundle.package.resolve import Part, resolve
    from gen_bundle.resources import resource

    competition = resolve(resource("bundles") / "process2025")
    members = program_members(competition, Part("all", "", competition.tasks))
    assert "scoring_kit/units.py" in members
    assert not [name for name in members if "resampling" in name or name.endswith("organiser.py")]


@pytest.mark.parametrize(("name", "unit"), [("clarity2026", "row"), ("process2025", "speaker")])
def test_a_competition_that_comes_with_the_tool(tmp_path: Path, name: str, unit: str) -> None:
    from click.testing import CliRunner

    from gen_bundle.cli import root
    from gen_bundle.resources import resource

    data = resource("bundles") / name / "data"
    options = ["--submissions", data / "baselines" / "test", "--data", data, "--phase", "test", "--resamples", 200]
    done = CliRunner().invoke(root, ["rank", name, *map(str, options), "--report", str(tmp_path / "report")])
    assert done.exit_code == 0, done.output
    tasks = json.loads((tmp_path / "report" / "report.json").read_text())["tasks"]
    assert len(tasks) == 2
    for one in tasks.values():
        assert one["unit"] == unit
        assert one["units"] >= 10
        assert all(team["low"] <= team["score"] <= team["high"] for team in one["teams"])
        assert one["teams"][0]["group"] == 1


@pytest.mark.parametrize("other", ["accuracy", "again_f1"])
def test_a_task_that_is_ranked_by_a_computed_column(tmp_path: Path, other: str) -> None:
    """Of the same task, and of another task with the same units."""
    import yaml

    competition = shared_task(tmp_path, 40)
    declaration = yaml.safe_load((competition / "bundle.yaml").read_text())
    mean = {"key": "mean", "title": "Mean", "sort": "desc", "computation": "avg", "of": ["macro_f1", other]}
    declaration["tasks"][0]["columns"].insert(0, {**mean, "meaning": "The mean of two columns."})
    (competition / "bundle.yaml").write_text(yaml.safe_dump(declaration, sort_keys=False))
    teams = submissions(competition, {"A": 0.9, "B": 0.4})
    done = rank(competition, teams, "--report", tmp_path / "report", "--resamples", 200, "--json")
    assert done.exit_code == 0, done.output
    records = {record["team"]: record for record in json.loads(done.stdout)["teams"]}
    one = task(tmp_path / "report")
    assert one["column"] == "mean"
    for team in one["teams"]:
        record = records[team["team"]]
        assert team["score"] == pytest.approx((record["macro_f1"] + record[other]) / 2)
        assert team["low"] < team["score"] < team["high"]
    assert one["pairs"][0]["p"] == pytest.approx(1 / 201)
