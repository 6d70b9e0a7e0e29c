"""The Makefile's checks look at the project's own code, not at what somebody tries in the checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a checkout knows which files are the project's")
def test_style_is_checked_in_the_projects_folders_alone() -> None:
    tracked = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    folders = sorted({name.split("/")[0] for name in tracked.stdout.splitlines()})
    recipe = subprocess.run(["make", "-n", "check"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in recipe.stdout.splitlines() if "bin/ruff" in line]
    assert len(lines) == 2
    for line in lines:
        assert [word for word in line.split()[2:] if not word.startswith("-")] == folders


def recipe_of_the_environment(tmp_path: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """What `make` would run for `.venv/pip` where these programs (name=its shell script) are all that is installed."""
    make = shutil.which("make")
    assert make is not None
    for name, script in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    outer = ("PYTHON", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # tests may run below another make
    environment = {key: value for key, value in os.environ.items() if key not in outer} | {"PATH": str(tmp_path)}
    command = [make, "--always-make", "--dry-run", ".venv/pip"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
def test_any_python_that_serves_is_found(tmp_path: Path) -> None:
    # a name that is there and does not run, as with pyenv; one that is too old; one that serves
    old = f"""exec "{sys.executable}" -c "import sys; sys.version_info = (3, 10, 4); $2" """
    done = recipe_of_the_environment(
        tmp_path, **{"python3.11": "exit 127", "python3.12": old, "python3": f'exec "{sys.executable}" "$@"'}
    )
    assert done.stdout.splitlines()[0] == "python3 -m venv .venv", done.stderr


def test_without_a_python_that_serves_make_says_what_to_do(tmp_path: Path) -> None:
    done = recipe_of_the_environment(tmp_path, python3="exit 1")
    assert done.returncode == 2
    assert "no Python from 3.11 to 3.14 with venv is found. Install one, or name it: make PYTHON=path" in done.stderr
