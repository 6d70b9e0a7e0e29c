"""What all tests rely on: the way that children are started, and what is said of tests that were left out."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
IGNORING = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
TESTS = """
import subprocess, sys
import pytest

def test_children():
    program = "import signal; print(*(signal.getsignal(n) is signal.SIG_IGN for n in (signal.SIGINT, signal.SIGHUP)))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False False\\n"

@pytest.mark.parametrize("number", range(3))
def test_skipped(number):
    pytest.skip("no baker here: apt-get install baker")

def test_skipped_for_another_reason():
    pytest.skip("not today")
"""

RARE = """
import pytest

@pytest.mark.docker
def test_rare():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_ignored_signals_and_missing_programs(workers: str, tmp_path: Path) -> None:
    done = run_tests(tmp_path, "-c", IGNORING, "-m", "pytest", "-n", workers, test_it=TESTS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:-1] == ["skipped 3: no baker here: apt-get install baker"]
    assert "1 passed, 4 skipped" in done.stdout.splitlines()[-1]


def run_tests(folder: Path, *command: str, **modules: str) -> subprocess.CompletedProcess[str]:
    """Run modules of tests in a folder that has our settings."""
    ini = f"[pytest]\npythonpath = {ROOT}\naddopts = --import-mode=importlib\nmarkers =\n    docker\n"
    (folder / "pytest.ini").write_text(ini, encoding="utf-8")
    (folder / "conftest.py").write_text("from tests.conftest import *\n", encoding="utf-8")
    for name, content in modules.items():
        (folder / f"{name}.py").write_text(content, encoding="utf-8")
    arguments = [sys.executable, *command, "-q", str(folder)]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_where_only_rare_tests_are_wanted_no_other_module_is_read(tmp_path: Path) -> None:
    wanted = ("-m", "pytest", "-m", "docker or image")
    done = run_tests(tmp_path, *wanted, test_rare=RARE, test_other="raise SystemExit('was read')\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_module_that_would_wrongly_be_left_unread_is_told(tmp_path: Path) -> None:
    disguised = RARE.replace("pytest.mark.docker", "getattr(pytest.mark, 'docker')")
    done = run_tests(tmp_path, "-m", "pytest", test_disguised=disguised)
    assert done.returncode != 0
    assert "test_disguised.py has tests marked ['docker'], and names the mark nowhere" in done.stdout + done.stderr
