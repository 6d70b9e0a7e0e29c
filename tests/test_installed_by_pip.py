"""The tool as users have it: a wheel that plain pip installs, and so compiles, run with HOME, PATH and LANG alone.

`make test-installed` runs this. Development environments may forbid bytecode, and are installed without it; users' do
not, and are not.
"""

import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, follow
from tests.test_readme import commands

ROOT = Path(__file__).resolve().parents[1]
INDEX = re.compile(r"PIP_|SSL_|REQUESTS_|UV_|\w+_proxy$", re.IGNORECASE)
"""Variables by which a machine tells pip where its packages are."""

pytestmark = pytest.mark.installed


class Installed:
    """An environment of its own, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "env" / "bin"
        self.home = folder / "home"
        self.home.mkdir()
        venv.create(folder / "env", with_pip=True)
        index = {name: value for name, value in os.environ.items() if INDEX.match(name)}
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        (wheel,) = folder.glob("*.whl")
        install = [str(self.bin / "pip"), "install", "--quiet", f"{wheel}[score,report]"]
        subprocess.run(install, check=True, env=self.environment | index | {"PIP_COMPILE": "1"})

    @property
    def environment(self) -> dict[str, str]:
        """All that a user's shell is sure to have."""
        return {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def run(self, command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
        """Run a command of the environment, or of the system, in a folder."""
        own = self.bin / command[0]
        program = str(own) if own.exists() else command[0]
        return subprocess.run(
            [program, *command[1:]], cwd=folder, capture_output=True, text=True, env=self.environment, check=False
        )

    def check(self, command: str, folder: Path) -> str:
        """Run a command that must succeed; returns what it prints to stdout."""
        done = self.run(shlex.split(command), folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


def test_what_was_installed_is_compiled(installed: Installed) -> None:
    resources = "lib/python*/site-packages/gen_bundle/resources"
    assert list(installed.bin.parent.glob(f"{resources}/scoring_programs/scoring_kit/__pycache__/*.pyc"))


def test_every_bundled_competition_is_built(installed: Installed, tmp_path: Path) -> None:
    names = sorted(path.parent.name for path in (ROOT / "bundles").glob("*/bundle.yaml"))
    assert len(names) == 6
    for name in names:
        installed.check(f"gen-bundle {name} --out {name}.zip", tmp_path)


def test_a_project_with_a_function_is_built_after_each_of_its_imports(installed: Installed, tmp_path: Path) -> None:
    installed.check("gen-bundle new hq --like hotpotqa", tmp_path)
    for out in ("first.zip", "second.zip"):
        installed.check("python -c 'import metrics'", tmp_path / "hq")
        assert (tmp_path / "hq" / "__pycache__").is_dir()
        installed.check(f"gen-bundle . --out ../{out}", tmp_path / "hq")
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_the_commands_of_the_readme(installed: Installed, tmp_path: Path) -> None:
    """With those of a bundle that is imported, and without those of a checkout's `make`."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reviews.csv").write_bytes((DOCS / "reviews.csv").read_bytes())
    listed = [command for command in commands() if not command.startswith("make ")]
    assert any("gen-bundle import" in command for command in listed)
    for command in listed:
        installed.check(command.removeprefix(".venv/bin/"), tmp_path)


def test_the_commands_of_the_tutorial(installed: Installed, tmp_path: Path) -> None:
    assert follow(DOCS / "tutorial.md", tmp_path, installed.run) > 5
