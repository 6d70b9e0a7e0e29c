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


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_ignored_signals_and_missing_programs(workers: str, tmp_path: Path) -> None:
    ini = f"[pytest]\npythonpath = {ROOT}\naddopts = --import-mode=importlib\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-c", IGNORING, "-m", "pytest", "-n", workers, "-q", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:-1] == ["skipped 3: no baker here: apt-get install baker"]
    assert "1 passed, 4 skipped" in done.stdout.splitlines()[-1]
