"""Participants of a foreign project are ranked by the scores that its programs gave, as the platform orders them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.foreign_project import foreign_project

Change = Callable[[dict[str, Any]], object]
pytestmark = pytest.mark.usefixtures("kept_organisers")


def rank(folder: Path, *arguments: object) -> Result:
    return CliRunner().invoke(root, ["rank", str(folder), *map(str, arguments)])


def places(done: Result) -> dict[str, object]:
    assert done.exit_code == 0, done.output
    return {team["team"]: team["leaderboard_rank"] for team in json.loads(done.stdout)["teams"]}


def table(folder: Path, text: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return path


def with_columns(*columns: dict[str, Any], **board: Any) -> Change:
    def change(one: dict[str, Any]) -> None:
        one["leaderboard"] = {"columns": [*one["leaderboard"]["columns"], *columns], **board}

    return change


SECONDS = {"key": "seconds", "title": "Seconds", "sort": "asc"}
MEAN = {"key": "mean", "title": "Mean", "sort": "desc", "computation": "avg", "of": ["set1-acc", "f1"]}
F1 = {"key": "f1", "title": "F1", "sort": "desc"}
PLACE = {"key": "place", "title": "Place", "sort": "asc", "computation": "avg_rank", "of": ["set1-acc", "f1"]}
ORDERS: dict[str, tuple[Change, str, dict[str, object]]] = {
    "one column": (lambda one: None, "team,set1-acc\nA,.5\nB,.7\nC,.5\n", {"B": 1, "A": 2, "C": 2}),
    "the next column breaks ties": (
        with_columns(SECONDS),
        "team,set1-acc,seconds\nA,.5,3\nB,.5,2\nC,.7,9\n",
        {"C": 1, "B": 2, "A": 3},
    ),
    "another column ranks": (
        with_columns(SECONDS, primary_index=1),
        "team,seconds,set1-acc\nA,3,.9\nB,2,.1\n",
        {"B": 1, "A": 2},
    ),
    "a hidden column breaks no ties": (
        with_columns({**SECONDS, "hidden": True}),
        "team,set1-acc,seconds\nA,.5,3\nB,.5,2\n",
        {"A": 1, "B": 1},
    ),
    "a computed column ranks": (
        with_columns(F1, MEAN, primary_index=2),
        "team,set1-acc,f1\nA,.5,.5\nB,.2,.9\n",
        {"B": 1, "A": 2},
    ),
    "ranks are compared": (
        with_columns(F1, PLACE, primary_index=2),
        "team,set1-acc,f1\nA,.9,.1\nB,.8,.9\nC,.1,.2\n",
        {"B": 1, "A": 2, "C": 3},
    ),
    "declared ties": (
        with_columns(SECONDS, F1, ties="equal", tie_break=["f1"]),
        "team,set1-acc,seconds,f1\nA,.5,1,.1\nB,.5,2,.3\n",
        {"B": 1, "A": 2},
    ),
    "no score at all": (
        with_columns(F1),
        "team,set1-acc,f1\nA,,.5\nB,.2,\n",
        {"A": None, "B": 1},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("change", "scores", "expected"), ORDERS.values(), ids=ORDERS)
def test_a_table_of_scores(tmp_path: Path, change: Change, scores: str, expected: dict[str, object]) -> None:
    folder = foreign_project(tmp_path / "task", change)
    assert places(rank(folder, "--scores", table(tmp_path, scores), "--json")) == expected


@pytest.mark.slow
def test_baselines_have_no_rank_and_hidden_teams_are_not_named(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task", with_columns(F1, PLACE, primary_index=2))
    scores = table(tmp_path, "team,set1-acc,f1\nA,.9,.1\nB,.8,.9\nBase,.85,.95\nQuiet,.7,.7\n")
    done = rank(folder, "--scores", scores, "--baseline", "Base", "--hide", "Quiet", "--json")
    assert places(done) == {"A": 2, "B": 1, "Base": None}
    assert "Quiet" not in done.output


WRONG = {
    "team,acc\nA,.5\n": "has the columns team, acc. Expected a CSV table with a row for each team: team, then",
    "team,set1-acc\n": "has no rows",
    "team,set1-acc\nA,1e11\n": "A: the platform stores no such scores: 'set1-acc' is 100000000000.0",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_what_is_wrong_with_a_table_is_named(tmp_path: Path, text: str, said: str) -> None:
    done = rank(foreign_project(tmp_path / "task"), "--scores", table(tmp_path, text))
    assert done.exit_code == 2
    assert said in done.stderr.replace("\n", " ")


def fetched(folder: Path, *records: dict[str, Any], end: str | None = None) -> Path:
    """What `gen-bundle fetch` writes of a phase, of submissions one after the other."""
    phase = folder / "out" / "1-test"
    (phase / "submissions").mkdir(parents=True)
    about = {"phases": [{"id": 1, "name": "Test", "folder": "1-test", "end": end}]}
    whole = []
    for number, record in enumerate(records, start=1):
        created = f"2031-02-03T00-00-{number:02}"
        blank: dict[str, Any] = {
            "parent": None,
            "task": None,
            "status": "Finished",
            "on_leaderboard": False,
            "scores": {},
        }
        known = {"id": number, "created": f"2031-02-03T00:00:{number:02}Z", "complete": True, "bytes": 1}
        file = f"submissions/{record['owner']}/{created}/submission.zip"
        whole.append({**blank, **known, "file": None if "parent" in record else file, **record})
    (phase.parent / "competition.json").write_text(json.dumps(about), encoding="utf-8")
    (phase / "submissions.json").write_text(json.dumps(whole), encoding="utf-8")
    (phase / "board.json").write_text(json.dumps({"submissions": []}), encoding="utf-8")
    return phase / "submissions"


def scored(value: float) -> dict[str, float]:
    return {"set1-acc": value}


@pytest.mark.slow
def test_what_was_fetched_counts_as_the_leaderboard_has_it(tmp_path: Path) -> None:
    submissions = fetched(
        tmp_path,
        {"owner": "eagle", "scores": scored(0.5), "on_leaderboard": True},
        {"owner": "eagle", "scores": scored(0.9)},
        {"owner": "owl", "scores": scored(0.3), "on_leaderboard": True},
        {"owner": "owl", "scores": scored(0.6), "on_leaderboard": True},
        {"owner": "hawk", "scores": scored(0.7)},
        {"owner": "hawk", "status": "Failed", "reason": "answers.txt is missing"},
        end="2031-02-03T00:00:03+00:00",
    )
    done = rank(foreign_project(tmp_path / "task"), "--submissions", submissions, "--json")
    assert places(done) == {"owl": 1, "eagle": 2}
    assert "note: owl: the submission was sent after the end of the phase." in done.stderr
    assert "note: Not on the leaderboard, and not ranked: hawk." in done.stderr
    assert "note: 1 run failed: answers.txt is missing" in done.stderr
    hidden = rank(tmp_path / "task", "--submissions", submissions, "--hide", "owl")
    assert hidden.exit_code == 0
    assert "owl" not in hidden.output


@pytest.mark.slow
def test_of_several_tasks_the_sums_count_and_of_several_queues_the_last(tmp_path: Path) -> None:
    submissions = fetched(
        tmp_path,
        {"owner": "eagle", "scores": {}},
        {"owner": "eagle", "parent": 1, "task": "A", "scores": scored(0.5), "on_leaderboard": True},
        {"owner": "eagle", "parent": 1, "task": "B", "scores": scored(0.25), "on_leaderboard": True},
        {"owner": "owl", "scores": {}},
        {"owner": "owl", "parent": 4, "task": "A", "scores": scored(0.6), "on_leaderboard": True},
        {"owner": "owl", "parent": 4, "task": "A", "scores": scored(0.6), "on_leaderboard": True},
    )
    done = rank(foreign_project(tmp_path / "task"), "--submissions", submissions, "--json")
    assert places(done) == {"eagle": 1, "owl": 2}
    assert [team["set1-acc"] for team in json.loads(done.stdout)["teams"]] == [0.75, 0.6]
    assert "note: The phase has several tasks" in done.stderr


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "files that nobody scored": (
        ("--submissions", "task/solutions"),
        "programs that are packed as they are score nothing here",
    ),
    "a phase, which the folder says, and data": (
        ("--submissions", "x", "--phase", "test", "--data", "gold"),
        "bundle.yaml has programs that are packed as they are",
    ),
    "nothing": ((), "expected either --submissions"),
    "both": (("--scores", "scores.csv", "--submissions", "x"), "expected either --submissions"),
    "a report": (("--scores", "scores.csv", "--report", "report"), "--report report"),
    "a task": (("--scores", "scores.csv", "--task", "dev"), "--task dev"),
    "no such team": (("--scores", "scores.csv", "--hide", "Z"), "--hide Z: no such team. Expected one of A."),
    "nothing ranks": (
        ("--scores", "scores.csv", "--set", "leaderboard.primary_index=3"),
        "no shown column has the index 3",
    ),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_ranked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    table(tmp_path, "team,set1-acc\nA,.5\n")
    done = rank(foreign_project(tmp_path / "task"), *arguments)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.stderr.split())
