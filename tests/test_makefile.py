"""The Makefile's checks look at the project's own code, not at what somebody tries in the checkout."""

import subprocess
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
