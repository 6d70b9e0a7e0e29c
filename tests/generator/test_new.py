"""A new competition builds, dry-runs and passes its own test at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gen_bundle.build import BuildRequest, build
from gen_bundle.declaration.read import read_competition
from gen_bundle.errors import UserError
from gen_bundle.new import new_competition


@pytest.mark.slow
def test_a_new_competition_passes_its_generated_test(tmp_path: Path) -> None:
    folder = new_competition("film-reviews", tmp_path, 'Films: "good" or bad?')
    assert read_competition(folder).title == 'Films: "good" or bad?'
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "discover", "tests"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": "/usr/bin:/bin"},  # gen-bundle's own folder need not be on it
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Ran 1 test" in done.stderr


@pytest.mark.parametrize(
    "name", ["", "1task", "a b", "../x", "class", "scoring_kit", "x" * 37, "é", "json", "NumPy", "clpsych2025"]
)
def test_names_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        new_competition(name, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_any_accepted_name_builds(tmp_path: Path) -> None:
    folder = new_competition("Films_-b_", tmp_path)
    assert read_competition(folder).docker_image == "gen-bundle/films-b:0.1.0"
    (built,) = build(BuildRequest(str(folder), tmp_path / "bundle.zip"))
    assert built.path.is_file()


def test_generated_code_is_in_good_style(tmp_path: Path) -> None:
    folder = new_competition("film-reviews", tmp_path)
    settings = ["--isolated", "--no-cache", "--line-length", "120"]
    for verb in (["check", "--select", "E,F,I,W"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *verb, *settings, "."]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("parent", ["file/x", "/proc"])
def test_where_nothing_can_be_written_the_reason_is_told(tmp_path: Path, parent: str) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(UserError, match=r"--in .*Expected a folder"):
        new_competition("zz", tmp_path / parent)


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "gold.csv").write_text("precious", encoding="utf-8")
    with pytest.raises(UserError, match="exists already"):
        new_competition("mine", tmp_path)
    assert (tmp_path / "mine" / "gold.csv").read_text(encoding="utf-8") == "precious"
