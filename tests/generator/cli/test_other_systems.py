"""Every verb where what POSIX alone has is missing, as on Windows: a simulation on Linux, by taking it away."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import GOOD, Bundle, write_zip, writes

pytestmark = pytest.mark.slow

# The standard library keeps what it took for itself when it was imported; our own code meets the gaps. It is no Linux
# either, which alone keeps programs apart.
WITHOUT_POSIX = """
import sys, os, signal, subprocess, sysconfig, tempfile, shutil, pathlib
sysconfig.get_config_vars()
sys.platform = "elsewhere"
for name in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for name in ("chown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "getpgrp", "getuid",
             "kill", "killpg", "lchown", "mkfifo",
             "nice", "setpgid", "setsid", "statvfs", "sysconf", "uname", "wait3", "wait4"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGQUIT", "alarm", "setitimer"):
    delattr(signal, name)
"""
# Popen.kill asks for a signal that Windows has not; there it ends the process by itself.
KILLS = """
import os, signal, subprocess
kill, number = os.kill, signal.SIGKILL
subprocess.Popen.kill = lambda process: None if process.poll() is not None else kill(process.pid, number)
"""
# Each argument is a command line, as JSON; the last line that is printed has their exit statuses.
RUN_EACH = """
import json, sys
from gen_bundle.cli import main
statuses = []
for line in sys.argv[1:]:
    try:
        main(json.loads(line))
    except SystemExit as end:
        statuses.append(end.code or 0)
print(json.dumps(statuses))
"""


def without_posix(*verbs: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    code = KILLS + WITHOUT_POSIX + RUN_EACH
    return subprocess.run(
        [sys.executable, "-c", code, *map(json.dumps, verbs)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
    )


def test_a_competition_from_its_declaration_to_the_ranking(tmp_path: Path) -> None:
    small_competition(tmp_path)
    (tmp_path / "best.csv").write_text("team,macro_f1\nA,0.5\nB,0.75\n", encoding="utf-8")
    verbs = [
        ["list"],
        ["my-task", "--out", "b.zip"],
        ["check", "b.zip"],
        ["dry-run", "b.zip", "--engine", "process", "--trust", "--out", "results", "--json"],
        ["preview", "b.zip", "--dry-run", "results", "--out", "page"],
        ["rank", "my-task", "--scores", "best.csv", "--json"],
        ["new", "another-task"],
        ["image", "--help"],
    ]
    done = without_posix(*verbs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    statuses = json.loads(done.stdout.splitlines()[-1])
    assert [(verb, status) for verb, status in zip(verbs, statuses, strict=True) if status] == [], done.stderr
    assert "Traceback" not in done.stderr
    runs = json.loads((tmp_path / "results" / "dry-run.json").read_text(encoding="utf-8"))["runs"]
    assert {run["status"] for run in runs} == {"Finished"}
    assert "<html" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")


def test_what_fails_is_said_in_words(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        archive.writestr("competition.yaml", "title: x\n")
    fails = {"exits": "raise SystemExit(3)\n", "hangs": "import time\ntime.sleep(60)\n"}
    for name, scorer in fails.items():
        Bundle(scorer, phase={"execution_time_limit": 1}).write(tmp_path / name)
    write_zip(tmp_path / "team.zip", GOOD)
    options = ["--submission", "team.zip", "--engine", "process", "--trust"]
    verbs = [["import", "old.zip"], *(["dry-run", name, *options, "--out", f"{name}-out"] for name in fails)]
    done = without_posix(*verbs, cwd=tmp_path)
    assert json.loads(done.stdout.splitlines()[-1]) == [2, 1, 1], done.stderr
    assert "html, phases, leaderboard is missing" in done.stderr
    assert "Traceback" not in done.stderr
    runs = [json.loads((tmp_path / f"{name}-out" / "dry-run.json").read_text())["runs"] for name in fails]
    [[exited], [hung]] = runs
    assert (exited["status"], exited["exit_code"]) == ("Failed", 3)
    assert "Child task failed" in exited["message"]
    assert (hung["status"], hung["exit_code"]) == ("Failed", None)
    assert "Execution Time Limit exceeded" in hung["message"]


def test_without_a_process_tree_to_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has no /proc: the largest memory of the program itself is told, in its own unit."""
    from gen_bundle.dry_run.engines import process

    monkeypatch.setattr(process, "PROC", tmp_path / "none")
    with (tmp_path / "out").open("wb") as out:
        code = "x = bytearray(100_000_000)"
        group = process.ProcessGroup([sys.executable, "-c", code], str(tmp_path), {}, out, out)
        while group.poll() is None:
            group.measure()
        group.end()
    assert group.usage.memory_bytes is not None
    assert 90_000_000 < group.usage.memory_bytes < 1_000_000_000


def test_names_that_no_stream_can_hold(tmp_path: Path) -> None:
    bundle = str(Bundle(writes('{"acc": 1}'), top={"title": "Größe → é"}).write(tmp_path / "b\udcff"))
    verbs = [["check", bundle], ["preview", "--out", "page", bundle]]
    done = subprocess.run(
        [sys.executable, "-c", RUN_EACH, *map(json.dumps, verbs)],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        cwd=tmp_path,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert set(json.loads(done.stdout.splitlines()[-1])) <= {0, 1}, done.stderr
