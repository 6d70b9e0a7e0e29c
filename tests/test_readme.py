"""Every command of the README is run, from a fresh clone where it says so."""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine import require_engine, require_platform_image
from tests.fresh_clone import fresh_clone
from tests.generator.cli.running import gen_bundle

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(language: str = "sh") -> list[str]:
    """Commands for everybody stand in `sh` blocks, those that need a container engine in `bash` blocks."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_the_ways_to_install() -> None:
    programs = [command.split()[0] for command in commands("console")]
    assert programs == ["pip", "pipx", "uvx"]
    assert all('".[score,report]"' in command for command in commands("console"))


@pytest.mark.installed
def test_uv_installs_and_runs_it() -> None:
    (command,) = (command for command in commands("console") if command.startswith("uvx "))
    run(f"{Path(sys.executable).parent / command}", ROOT)


def run(command: str, cwd: Path) -> str:
    """What a command prints to stdout; it must succeed."""
    outer = ("VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL")  # a make within make prints which folder it enters and leaves
    environment = {key: value for key, value in os.environ.items() if key not in outer}
    done = subprocess.run(
        shlex.split(command), cwd=cwd, capture_output=True, text=True, env=environment, check=False, timeout=280
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_ci_runs_what_the_readme_says(command: str) -> None:
    assert command in commands()
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.thorough
def test_the_demo_from_a_fresh_clone(tmp_path: Path) -> None:
    clone = fresh_clone(tmp_path / "clone")
    *_, printed = run("make demo", clone).split("\n\n")
    assert (clone / "bundle.zip").stat().st_size > 100_000
    for dry_run in ("dry-run", "reviews-dry-run"):
        runs = json.loads((clone / "demo" / dry_run / "dry-run.json").read_text(encoding="utf-8"))["runs"]
        assert {run["status"] for run in runs} == {"Finished"}
    named = [line.split()[0] for line in printed.splitlines()]
    assert named[0] == "bundle.zip"
    assert [path for path in named if not (clone / path).exists()] == []
    assert subprocess.check_output(["git", "status", "--porcelain"], cwd=clone) == b"", (
        "the demo leaves nothing to commit"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers", "forked_python", "runs_in_forks")
def test_the_other_commands_leave_nothing_to_commit(tmp_path: Path) -> None:
    run("git init --quiet", tmp_path)
    shutil.copy(ROOT / ".gitignore", tmp_path)
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "reviews.csv", tmp_path / "docs" / "reviews.csv")
    rest = [command for command in commands() if not command.startswith("make ")]
    assert len(rest) >= 9
    for command in rest:
        program, *arguments = shlex.split(command)
        if program == ".venv/bin/gen-bundle":
            done = gen_bundle(*arguments, cwd=tmp_path)
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        else:
            run(command, tmp_path)
    assert run("git status --porcelain --untracked-files=all", tmp_path).split() == [
        "??",
        ".gitignore",
        "??",
        "docs/reviews.csv",
    ]


@pytest.mark.image
def test_the_commands_for_containers(tmp_path: Path) -> None:
    with contextlib.closing(require_engine()) as client:
        require_platform_image(client)
        (tmp_path / ".venv").symlink_to(ROOT / ".venv")
        run(".venv/bin/gen-bundle seedev2016 --out seedev.zip", tmp_path)
        for command in commands("bash"):
            run(command, tmp_path)
