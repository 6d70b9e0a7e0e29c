"""Every verb where what POSIX alone has is missing, as on Windows: a simulation on Linux, by taking it away."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.generator.competition import small_competition
from tests.generator.twin.bundles import GOOD, Bundle, write_zip, writes

pytestmark = pytest.mark.slow

# The standard library keeps what it took for itself when it was imported; our own code meets the gaps.
WITHOUT_POSIX = """
import sys, os, signal, subprocess, tempfile, shutil, pathlib
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
RUN = "from gen_bundle.cli import main; main()"
# Each argument is a command line, as JSON; the last line that is printed has their exit statuses.
RUN_EACH = """
import json
from gen_bundle.cli import main
statuses = []
for line in sys.argv[1:]:
    try:
        main(json.loads(line))
    except SystemExit as end:
        statuses.append(end.code or 0)
print(json.dumps(statuses))
"""


def without_posix(*arguments: object, cwd: Path, run: str = RUN) -> subprocess.CompletedProcess[str]:
    code = KILLS + WITHOUT_POSIX + run
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
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
        ["dry-run", "b.zip", "--engine", "process", "--out", "results", "--json"],
        ["preview", "b.zip", "--dry-run", "results", "--out", "page"],
        ["rank", "my-task", "--scores", "best.csv", "--json"],
        ["new", "another-task"],
        ["image", "--help"],
    ]
    done = without_posix(*map(json.dumps, verbs), cwd=tmp_path, run=RUN_EACH)
    assert done.returncode == 0, done.stderr
    statuses = json.loads(done.stdout.splitlines()[-1])
    assert [(verb, status) for verb, status in zip(verbs, statuses, strict=True) if status] == [], done.stderr
    assert "Traceback" not in done.stderr
    runs = json.loads((tmp_path / "results" / "dry-run.json").read_text(encoding="utf-8"))["runs"]
    assert {run["status"] for run in runs} == {"Finished"}
    assert "<html" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")


def test_an_old_bundle_is_refused_in_words(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        archive.writestr("competition.yaml", "title: x\n")
    done = without_posix("convert", "old.zip", cwd=tmp_path)
    assert done.returncode == 2
    assert "html is missing" in done.stderr


@pytest.mark.parametrize(
    ("scorer", "exit_code", "message"),
    [
        ("raise SystemExit(3)\n", 3, "Child task failed"),
        ("import time\ntime.sleep(60)\n", None, "Execution Time Limit exceeded"),
    ],
)
def test_a_run_that_fails(scorer: str, exit_code: int | None, message: str, tmp_path: Path) -> None:
    Bundle(scorer, phase={"execution_time_limit": 1}).write(tmp_path / "bundle")
    write_zip(tmp_path / "team.zip", GOOD)
    done = without_posix("dry-run", "bundle", "--submission", "team.zip", "--engine", "process", "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    [run] = json.loads(done.stdout)["runs"]
    assert (run["status"], run["exit_code"]) == ("Failed", exit_code)
    assert message in run["message"]


def test_without_a_process_tree_to_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has no /proc: the largest memory of the program itself is told, in its own unit."""
    from gen_bundle.twin.engines import process_group

    monkeypatch.setattr(process_group, "PROC", tmp_path / "none")
    with (tmp_path / "out").open("wb") as out:
        code = "x = bytearray(100_000_000)"
        group = process_group.ProcessGroup([sys.executable, "-c", code], tmp_path, {}, out, out)
        while group.poll() is None:
            group.measure()
        group.end()
    assert group.usage.memory_bytes is not None
    assert 90_000_000 < group.usage.memory_bytes < 1_000_000_000


@pytest.mark.parametrize("verb", [["check"], ["preview", "--out", "page"]])
def test_names_that_no_stream_can_hold(verb: list[str], tmp_path: Path) -> None:
    bundle = Bundle(writes('{"acc": 1}'), top={"title": "Größe → é"}).write(tmp_path / "b\udcff")
    done = subprocess.run(
        [sys.executable, "-c", RUN, *verb, str(bundle)],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        cwd=tmp_path,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1)
