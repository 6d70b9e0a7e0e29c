"""The scaffold in Python builds, dry-runs and passes its own test at once, and is in the project's own style."""

import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gen_bundle.author.new.project import Place, new_package
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.errors import UserError
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest

ROOT = Path(__file__).resolve().parents[4]
PYTHON_3_9 = 'lint.extend-per-file-ignores={"film_reviews/**"=["UP006","UP007","UP035","UP045"]}'
"""As pyproject.toml has it for scoring_programs: parts of a scoring package run on Python 3.9."""
KIT_OF_OTHERS = 'lint.isort.known-first-party=["gen_bundle","tests"]'
"""For an organiser the kit comes with the tool: where it is imported must not depend on the package's name."""


@pytest.mark.slow
def test_a_new_competition_passes_its_generated_test(tmp_path: Path) -> None:
    folder = new_package(Place("film-reviews", tmp_path, 'Films: "good" or bad?'))
    assert read_competition(folder).title == 'Films: "good" or bad?'
    environment = {"PATH": "/usr/bin:/bin"}  # gen-bundle's own folder need not be on it
    done = _run([sys.executable, "-m", "unittest", "discover", "tests"], folder, environment)
    assert done.returncode == 0, done.stderr
    assert "Ran 1 test" in done.stderr


@pytest.mark.parametrize(
    "name", ["", "1task", "a b", "../x", "class", "scoring_kit", "x" * 37, "é", "json", "NumPy", "clpsych2025"]
)
def test_names_that_cannot_be_used(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        new_package(Place(name, tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_any_accepted_name_builds(tmp_path: Path) -> None:
    folder = new_package(Place("Films_-b_", tmp_path))
    assert read_competition(folder).docker_image is None
    (built,) = build(BuildRequest(str(folder), tmp_path / "bundle.zip"))
    assert built.path.is_file()


@pytest.mark.slow
def test_generated_code_passes_the_projects_own_linter(tmp_path: Path) -> None:
    folder = new_package(Place("film-reviews", tmp_path))
    settings = ["--no-cache", "--config", str(ROOT / "pyproject.toml")]
    settings += ["--config", PYTHON_3_9, "--config", KIT_OF_OTHERS]
    for verb in ("check", "format"):
        options = ["--check"] if verb == "format" else []
        done = _run([sys.executable, "-m", "ruff", verb, *options, *settings, "."], folder)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_generated_code_passes_the_projects_own_type_checker(tmp_path: Path) -> None:
    folder = new_package(Place("film-reviews", tmp_path))
    settings = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull]
    settings += ["--no-site-packages", "--follow-imports=silent"]  # the kit uses numpy, which takes seconds to read
    environment = {"MYPYPATH": os.pathsep.join([str(folder), str(ROOT / "scoring_programs")])}
    done = _run([sys.executable, "-m", "mypy", *settings, "film_reviews", "tests"], folder, environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_reading_a_submission_takes_linear_time(tmp_path: Path) -> None:
    """What 20,000 rows take is at most ten times what 4,000 take; a list that is searched makes it 25 times."""
    read = runpy.run_path(str(new_package(Place("film-reviews", tmp_path)) / "film_reviews" / "submission.py"))["read"]
    path = tmp_path / "predictions.csv"

    def seconds(rows: int) -> float:
        ids = [f"t{i}" for i in range(rows)]
        path.write_text("id,label\n" + "".join(f"{i},neutral\n" for i in ids), encoding="utf-8")
        expected = {"ids": ids, "labels": ["negative", "neutral", "positive"]}
        manifest = Manifest("film-reviews", ("classification",), ("classification",), "joint", {}, expected)
        problems, times = Problems(), []
        for _ in range(3):
            start = time.process_time()
            submission = read(SimpleNamespace(paths={path.name: path}), manifest, problems)
            times.append(time.process_time() - start)
        assert not problems.errors
        assert len(submission.labels) == rows
        return min(times)

    assert seconds(20_000) / seconds(4_000) < 10


@pytest.mark.parametrize("parent", ["file/x", "/proc"])
def test_where_nothing_can_be_written_the_reason_is_told(tmp_path: Path, parent: str) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(UserError, match=r"--in .*Expected a writable folder"):
        new_package(Place("zz", tmp_path / parent))


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "gold.csv").write_text("precious", encoding="utf-8")
    with pytest.raises(UserError, match="exists already"):
        new_package(Place("mine", tmp_path))
    assert (tmp_path / "mine" / "gold.csv").read_text(encoding="utf-8") == "precious"


def test_an_interrupted_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gen_bundle.author.new.project.write_schema", fail)
    with pytest.raises(KeyboardInterrupt):
        new_package(Place("mine", tmp_path))
    assert not list(tmp_path.iterdir())


def _run(
    command: list[str], folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})}
    )
