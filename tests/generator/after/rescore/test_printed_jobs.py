"""Jobs as plain commands: any scheduler runs them, in any order and place, and what they gave is gathered."""

import contextlib
import shlex
import subprocess
from pathlib import Path

import pytest

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
from tests.generator.dry_run.bundles import ACCURACY, Bundle, write_files

pytestmark = pytest.mark.usefixtures("scored_here", "kept_organisers")


def run_line(line: str) -> None:
    """Run a printed command, where the working directory is another one."""
    command = shlex.split(line)
    assert command[1:5] == ["-P", "-m", "gen_bundle", "rescore"]
    with contextlib.chdir("/"):
        done = rescored(*command[5:])
    assert done.exit_code == 0, done.output
    assert "Traceback" not in done.output


def run_line_alone(line: str) -> None:
    """Run it in a process of its own, as a scheduler does."""
    command = shlex.split(line)
    done = subprocess.run(command, capture_output=True, cwd="/", text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_command_for_each_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bundles(tmp_path)
    teams = submissions(tmp_path, {name: TEAMS[name] for name in ("ant", "bee")})
    write_files(teams / "two words", {"pred.txt": "0 0 0 0"})
    (teams / "ant-again.zip").write_bytes((teams / "ant.zip").read_bytes())
    arguments = ["new", "--submissions", "teams", *OPTIONS, "--against", "old"]
    printed = rescored(*arguments, "--out", "out", "--print-jobs")
    assert printed.exit_code == 0, printed.output
    lines = printed.stdout.splitlines()
    assert len(lines) == 6  # three distinct submissions to two bundles
    assert not (tmp_path / "out" / "rescore.json").exists()
    run_line_alone(lines[0])
    run_line(lines[1])
    assert len(rescored(*arguments, "--out", "out", "--print-jobs").stdout.splitlines()) == 4
    early = rescored("--collect", "--out", "out")
    assert early.exit_code == 1
    assert {run["status"] for run in content(tmp_path / "out")["runs"]} == {"Finished", "Not run"}
    assert "not scored yet" in early.stderr
    for line in reversed(lines[2:]):
        run_line(line)
    done = rescored("--collect", "--out", "out")
    assert done.exit_code == 1, done.output
    rescored(*arguments, "--out", "whole")
    assert content(tmp_path / "out") == content(tmp_path / "whole")
    assert (tmp_path / "out" / "changes.csv").read_bytes() == (tmp_path / "whole" / "changes.csv").read_bytes()


def test_collect_scores_nothing(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    bundle = Bundle(counting(counter, ACCURACY), sees=tmp_path).write(tmp_path / "bundle")
    done = rescored(bundle, "--submissions", submissions(tmp_path), *OPTIONS, "--out", tmp_path / "out", "--collect")
    assert done.exit_code == 1
    assert {run["status"] for run in content(tmp_path / "out")["runs"]} == {"Not run"}
    assert runs_of(counter) == 0


def test_collect_needs_printed_jobs(tmp_path: Path) -> None:
    done = rescored("--collect", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "no jobs were printed for this folder" in done.stderr
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "request.json").write_text("{}")
    assert "Run --print-jobs again" in rescored("--collect", "--out", tmp_path / "out").stderr


@pytest.mark.slow
def test_a_declaration_is_built_once_for_all_jobs(tmp_path: Path) -> None:
    competition = small_competition(tmp_path)
    teams = tmp_path / "teams"
    baseline = competition / "data" / "baselines" / "test" / "majority" / "predictions.csv"
    write_files(teams / "ant", {"predictions.csv": baseline.read_text()})
    printed = rescored(competition, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--print-jobs")
    (line,) = printed.stdout.splitlines()
    assert str(tmp_path / "out" / "new.zip") in line
    run_line(line)
    assert rescored("--collect", "--out", tmp_path / "out").exit_code == 0
    assert outputs(tmp_path / "out")
    assert [run["status"] for run in content(tmp_path / "out")["runs"]] == ["Finished"]
