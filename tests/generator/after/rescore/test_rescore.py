"""All submissions scored again: who changes, what ranks move, who fails now; and nothing is scored twice."""

import csv
import os
import re
import sys
from pathlib import Path

import pytest

from gen_bundle.ground.resources import install_command
from tests.generator.after.rescore.given import (
    OPTIONS,
    TEAMS,
    bundles,
    content,
    counting,
    outputs,
    rescored,
    runs_of,
    submissions,
)
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import ACCURACY, Bundle, write_files, write_zip


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """All teams, two of them with names that no page and no table may take for their own, scored with both bundles.

    Returns:
        The results' folder, and what was said.
    """
    work = tmp_path_factory.mktemp("compared")
    old, new = bundles(work)
    teams = submissions(work, {**TEAMS, "=evil()": "0 0 0 0", "<b>": "0 1 1 1"})
    write_files(teams / "fox", {"pred.txt": "1 1 1 0"})

    def state() -> dict[str, tuple[bytes, float]]:
        files = [path for folder in (old, new, teams) for path in folder.rglob("*") if path.is_file()]
        return {str(path): (path.read_bytes(), path.stat().st_mtime) for path in files}

    before = state()
    done = rescored(new, "--submissions", teams, *OPTIONS, "--against", old, "--out", work / "out")
    assert done.exit_code == 1, done.output
    assert state() == before, "inputs are not changed"
    return work / "out", done.stderr


@pytest.mark.slow
def test_who_changes_and_which_ranks_move(compared: tuple[Path, str]) -> None:
    found = content(compared[0])
    assert set(found) == {"runs", "changes"}
    assert {(*run,) for run in found["runs"]} == {("submission", "task", "status", "exit_code", "scores", "digest")}
    assert [(run["submission"], run["status"], run["exit_code"], run["scores"]) for run in found["runs"]] == [
        ("<b>", "Finished", 0, {"acc": 0.25}),
        ("=evil()", "Finished", 0, {"acc": 0.5}),
        ("ant", "Finished", 0, {"acc": 0.75}),
        ("bee", "Finished", 0, {"acc": 0.75}),
        ("cat", "Finished", 0, {"acc": 0.0}),
        ("dog", "Finished", 0, {"acc": 0.5}),
        ("eel", "Failed", 1, None),
        ("fox", "Finished", 0, {"acc": 0.75}),
    ]
    assert {run["task"] for run in found["runs"]} == {"main"}
    assert {(*change,) for change in found["changes"]} == {
        ("submission", "column", "old", "new", "rank_old", "rank_new")
    }
    assert [(*change.values(),) for change in found["changes"]] == [
        ("<b>", "acc", 0.5, 0.25, 3, 6),
        ("=evil()", "acc", 0.25, 0.5, 6, 4),
        ("ant", "acc", 1.0, 0.75, 1, 1),
        ("bee", "acc", 0.5, 0.75, 3, 1),
        ("cat", "acc", 0.25, 0.0, 6, 7),
        ("dog", "acc", 0.75, 0.5, 2, 4),
        ("fox", "acc", 0.5, 0.75, 3, 1),
    ]


@pytest.mark.slow
def test_outputs_for_people(compared: tuple[Path, str]) -> None:
    out, stderr = compared
    rows = list(csv.DictReader((out / "changes.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["submission", "column", "old", "new", "difference", "rank_old", "rank_new"]
    by_team = {row["submission"]: [*row.values()][1:] for row in rows}
    assert by_team["bee"] == ["acc", "0.5", "0.75", "0.25", "3", "1"]
    assert "'=evil()" in by_team
    page = (out / "rescore.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "script-src" not in page
    assert "default-src &#39;none&#39;" in page
    lines = stderr.splitlines()
    places = {team: next(n for n, line in enumerate(lines) if f" {team} " in line) for team in ("bee", "dog", "cat")}
    assert places["bee"] < places["cat"]
    assert re.search(r"bee.*0\.5.*0\.75.*\+0\.25.*→", stderr)
    assert "8 runs, 1 failed, 0 not run" in stderr


@pytest.mark.slow
def test_nothing_changed(tmp_path: Path) -> None:
    old, _ = bundles(tmp_path)
    out = tmp_path / "out"
    teams = submissions(tmp_path, {team: TEAMS[team] for team in ("bee", "eel")})
    done = rescored(old, "--submissions", teams, *OPTIONS, "--against", old, "--out", out)
    assert done.exit_code == 0, done.output  # `eel` failed before and fails now
    assert content(out)["changes"] == []
    assert "eel: failed.\n" in done.stderr
    assert "<h2>Failed</h2>" in (out / "rescore.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("team", "status"), [("eel", 1), ("ant", 0)])
def test_without_old_scores_a_failure_counts(tmp_path: Path, team: str, status: int) -> None:
    old, _ = bundles(tmp_path)
    teams = submissions(tmp_path, {team: TEAMS[team]})
    done = rescored(old, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    assert done.exit_code == status, done.output
    assert content(tmp_path / "out")["changes"] == []


STRICT = ACCURACY.replace("accuracy = ", "assert '2' not in pred, 'a label is unknown'\naccuracy = ")


@pytest.mark.slow
def test_who_fails_now_and_who_no_longer(tmp_path: Path) -> None:
    teams = submissions(tmp_path, {"ant": "1 0 1 1", "bee": "1 0 1 2", "eel": "1 0"})
    strict = Bundle(STRICT.replace("strict=True", "strict=False")).write(tmp_path / "strict")
    exact = Bundle(ACCURACY).write(tmp_path / "exact")
    out = tmp_path / "out"
    done = rescored(strict, "--submissions", teams, *OPTIONS, "--against", exact, "--out", out)
    assert done.exit_code == 1
    changes = {change["submission"]: (*change.values(),) for change in content(out)["changes"]}
    assert changes["bee"] == ("bee", "acc", 0.75, None, 2, None)
    assert changes["eel"][:5] == ("eel", "acc", None, 0.5, None)
    assert re.search(r"bee: fails now\. .*a label is unknown", done.stderr, re.DOTALL)
    assert "eel: failed before, is scored now" in done.stderr


@pytest.mark.slow
def test_identical_files_are_one_job_and_what_is_scored_is_not_scored_again(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    bundle = Bundle(counting(counter, ACCURACY), sees=tmp_path).write(tmp_path / "bundle")
    teams = submissions(tmp_path, {"ant": "1 0 1 1", "bee": "1 0 0 0"})
    (teams / "bee-again.zip").write_bytes((teams / "bee.zip").read_bytes())
    out = tmp_path / "out"
    arguments = (bundle, "--submissions", teams, *OPTIONS, "--out", out)
    assert rescored(*arguments).exit_code == 0
    assert runs_of(counter) == 2
    runs = {run["submission"]: run for run in content(out)["runs"]}
    assert runs["bee"]["digest"] == runs["bee-again"]["digest"] != runs["ant"]["digest"]
    assert runs["bee-again"]["scores"] == {"acc": 0.5}
    before = outputs(out)
    assert rescored(*arguments).exit_code == 0
    assert runs_of(counter) == 2
    assert outputs(out) == before
    write_zip(teams / "cat.zip", {"pred.txt": "0 0 0 0"})
    assert rescored(*arguments).exit_code == 0
    assert runs_of(counter) == 3


@pytest.mark.slow
def test_a_link_in_a_folder_is_not_followed_and_shares_no_result(tmp_path: Path) -> None:
    old, _ = bundles(tmp_path)
    teams = tmp_path / "teams"
    for team in ("ant", "bee", "cat"):
        write_files(teams / team, {"pred.txt": "1 0 1 1"})
    (teams / "ant" / "pred.txt").unlink()
    (teams / "ant" / "pred.txt").symlink_to(old / "gold" / "truth.txt")
    (teams / "cat" / "more.txt").symlink_to("nowhere")
    done = rescored(old, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    assert done.exit_code == 1
    runs = content(tmp_path / "out")["runs"]
    assert [(run["submission"], run["status"], run["scores"]) for run in runs] == [
        ("ant", "Failed", None),
        ("bee", "Finished", {"acc": 1.0}),
        ("cat", "Failed", None),
    ]
    page = (tmp_path / "out" / "rescore.html").read_text(encoding="utf-8")
    assert "pred.txt&#39; is a link; only files and folders are unpacked" in page


@pytest.mark.slow
def test_an_entry_that_is_no_file_is_named_itself(tmp_path: Path) -> None:
    old, _ = bundles(tmp_path)
    teams = submissions(tmp_path, {"ant": TEAMS["ant"]})
    os.mkfifo(teams / "bee.zip")
    os.mkfifo(teams / "cat.txt")
    (teams / "dog").mkdir()
    os.mkfifo(teams / "dog" / "pred.txt")
    done = rescored(old, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    assert done.exit_code == 1
    runs = content(tmp_path / "out")["runs"]
    assert [run["status"] for run in runs] == ["Finished", "Not run", "Not run", "Failed"]
    expected = "expected a zip, a folder or a file"
    assert f"bee: not run. --submission {teams / 'bee.zip'}: {expected}" in done.stderr
    assert f"cat: not run. --submission {teams / 'cat.txt'}: {expected}" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("change", ["program", "gold", "limit", "submission"])
def test_whatever_a_result_depends_on_is_scored_again(tmp_path: Path, change: str) -> None:
    counter = tmp_path / "counter"
    scorer = counting(counter, ACCURACY)
    Bundle(scorer, sees=tmp_path).write(tmp_path / "bundle")
    teams = submissions(tmp_path, {"ant": "1 0 1 1"})
    arguments = (tmp_path / "bundle", "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    rescored(*arguments)
    if change == "program":
        (tmp_path / "bundle" / "program" / "more.txt").write_text("more")
    elif change == "gold":
        write_files(tmp_path / "bundle" / "gold", {"truth.txt": "1 1 1 1"})
    elif change == "limit":
        Bundle(scorer, sees=tmp_path, phase={"execution_time_limit": 77}).write(tmp_path / "bundle")
    else:
        submissions(tmp_path, {"ant": "1 1 1 1"})
    rescored(*arguments)
    assert runs_of(counter) == 2


@pytest.mark.slow
def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    old, _ = bundles(tmp_path)
    out = tmp_path / "out"
    teams = submissions(tmp_path, {team: TEAMS[team] for team in ("ant", "bee", "eel")})
    arguments = (old, "--submissions", teams, *OPTIONS, "--out", out)
    rescored(*arguments)
    before = outputs(out)
    damaged = sorted((out / "results").rglob("*.json"))
    damaged[0].write_text('{"status": "Fini')
    damaged[1].write_text("[]")
    rescored(*arguments)
    assert outputs(out) == before


@pytest.mark.parametrize(
    "name", ["changes.csv", "rescore.html", "notes.txt", "results/changes.csv", "results/table.csv"]
)
def test_a_folder_that_no_rescoring_wrote_is_not_touched(tmp_path: Path, name: str) -> None:
    bundle, _ = bundles(tmp_path)
    write_files(tmp_path / "out", {name: "mine", "changes.csv": "mine"})
    done = rescored(bundle, "--submissions", submissions(tmp_path), *OPTIONS, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "holds files that no rescoring wrote (changes.csv" in done.stderr
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {path.read_text() for path in files} == {"mine"}
    assert {str(path.relative_to(tmp_path / "out")) for path in files} == {name, "changes.csv"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--submissions", "teams", "--phase", "final"], "--phase final: no such phase"),
        (["--submissions", "nowhere", "--phase", "test"], "nowhere: no such folder"),
        (["--submissions", "a.csv", "--phase", "test"], "a.csv: is a file. Expected a zip, folder or file for each"),
        (["--submissions", "nothing", "--phase", "test"], "nothing: holds no submission"),
        (["--submissions", "teams", "--phase", "test", "--against", "x", "--scores", "y"], "--against does not go"),
        (["--submissions", "teams", "--phase", "test", "--out", "teams/out"], "teams/out: lies among the submissions"),
        (["--submissions", "teams", "--phase", "test", "--gpu", "--workers", "2"], "--gpu with --workers"),
        (["--submissions", "teams"], "Missing option '--phase'"),
    ],
)
def test_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    bundles(tmp_path)
    submissions(tmp_path)
    (tmp_path / "nothing").mkdir()
    (tmp_path / "a.csv").touch()
    done = rescored("new", "--engine", "process", "--trust", "--out", "out", *arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert "Traceback" not in done.output


def test_without_the_extra_a_cluster_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "gen_bundle.after.rescore.cluster", raising=False)
    bundle, _ = bundles(tmp_path)
    arguments = ("--submissions", submissions(tmp_path), *OPTIONS, "--out", tmp_path / "out")
    done = rescored(bundle, *arguments, "--cluster", "tcp://head:8786")
    assert done.exit_code == 2
    assert f"Expected the extra `cluster`: {install_command('cluster')}." in done.stderr


@pytest.mark.slow
def test_a_program_that_is_killed_is_run_again_and_told_above_a_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gen_bundle.cli.messages.is_terminal", lambda: True)
    marks = tmp_path / "marks"
    marks.mkdir()
    kill = (
        "import os\n"
        f"mark = {str(marks)!r} + '/' + open('../input/res/pred.txt').read()\n"
        "if not os.path.exists(mark):\n    open(mark, 'w').close()\n    os.kill(os.getpid(), 9)\n"
    )
    killed_once = Bundle(kill + ACCURACY, sees=marks).write(tmp_path / "killed")
    teams = submissions(tmp_path, {"ant": "1 0 1 1", "[bold]bee": "1 0 0 0"})
    done = rescored(killed_once, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert [run["scores"] for run in content(tmp_path / "out")["runs"]] == [{"acc": 0.5}, {"acc": 1.0}]
    assert len(list(marks.iterdir())) == 2
    told = " ".join(done.stderr.split())
    assert "[bold]bee.zip: the scoring program was killed (exit code 137)" in told
    assert "It is tried again." in told


@pytest.mark.slow
def test_attempts_have_a_bound_and_what_is_lost_is_said(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    kill = "import os\nif '2' in open('../input/res/pred.txt').read(): os.kill(os.getpid(), 9)\n"
    bundle = Bundle(counting(counter, kill + ACCURACY), sees=tmp_path).write(tmp_path / "bundle")
    teams = submissions(tmp_path, {"ant": "1 0 1 1", "bee": "2 2 2 2"})
    done = rescored(bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert runs_of(counter) == 4
    runs = content(tmp_path / "out")["runs"]
    assert [(run["status"], run["exit_code"], run["scores"]) for run in runs] == [
        ("Finished", 0, {"acc": 1.0}),
        ("Not run", None, None),
    ]
    assert "Given up after 3 attempts" in done.stderr
    assert re.search(r"bee: not run\. the scoring program was killed", done.stderr)
    rescored(bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out")
    assert runs_of(counter) == 7  # a job that got lost is not a result


@pytest.mark.slow
def test_what_the_old_bundle_could_not_score_is_no_sameness(tmp_path: Path) -> None:
    old = Bundle(f"import os\n{ACCURACY}os.kill(os.getpid(), 9)\n").write(tmp_path / "old")
    new = Bundle().write(tmp_path / "new")
    teams = submissions(tmp_path, {"ant": "1 0 1 1"})
    done = rescored(new, "--submissions", teams, *OPTIONS, "--against", old, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "Not compared, because only one side has them: ant." in done.stderr
    assert content(tmp_path / "out")["changes"] == []


@pytest.mark.slow
def test_a_declaration_is_built_for_it(tmp_path: Path) -> None:
    competition = small_competition(tmp_path)
    teams = competition / "data" / "baselines" / "test"
    done = rescored(competition, "--submissions", teams, *OPTIONS, "--against", competition, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert {run["status"] for run in content(tmp_path / "out")["runs"]} == {"Finished"}
