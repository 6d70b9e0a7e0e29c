"""A scoring program holds what runs, and runs by itself: isolated, from an empty folder, with only its zip unpacked."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.programs import program_members
from gen_bundle.build.package.resolve import find_competition, resolve
from gen_bundle.codabench.runnable import open_bundle, read_competition
from gen_bundle.ground.resources import competitions
from gen_bundle.ground.zips.unpacking import BUNDLE, unpack
from tests.generator.author.new.test_recipes import made
from tests.generator.competition import small_competition
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers")

NOT_PACKED = ("scoring_kit/models/", "scoring_kit/resampling/", "scoring_kit/organiser.py")
KINDS = ("classification", "multilabel", "regression", "spans", "tagging", "ranking", "generation")


def modules(source: str, *, layout: str | None = None, task: str | None = None) -> set[str]:
    competition = resolve(find_competition(source), layout=layout)
    competition = competition.only(task) if task else competition
    return {name for name in program_members(competition, competition.parts[0]) if name.endswith(".py")}


def test_accuracy_takes_few_modules(tmp_path: Path) -> None:
    found = modules(str(made("classification", tmp_path)))
    assert len(found) <= 42
    assert not [name for name in found if name.startswith(NOT_PACKED) or "bertscore" in name]


@pytest.mark.parametrize("name", sorted(set(competitions()) - {"clpsych2025"}))
def test_no_model_is_packed_where_none_is_used(name: str) -> None:
    assert not [name for name in modules(name) if name.startswith(NOT_PACKED)]


def test_models_are_packed_where_they_are_used() -> None:
    assert {"scoring_kit/models/loading.py", "scoring_kit/models/cache.py"} <= modules("clpsych2025")
    assert not [name for name in modules("clpsych2025", layout="separate", task="a2") if name.startswith(NOT_PACKED)]


def test_a_package_of_ones_own_is_packed_whole(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    (folder / "my_task" / "words.txt").write_text("a\n")
    (folder / "my_task" / "unused.py").write_text("from scoring_kit.csv_reading import read_table\n")
    (folder / "my_task" / "unfinished.py").write_text("def (\n")
    competition = resolve(folder)
    found = program_members(competition, competition.parts[0])
    assert {"my_task/words.txt", "my_task/unused.py", "scoring_kit/csv_reading.py"} <= set(found)
    assert "my_task/organiser.py" not in found


def test_what_a_changed_module_imports_is_packed(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    resolved = resolve(folder)
    for imported in ("csv_reading", "json_reading"):
        (folder / "my_task" / "more.py").write_text(f"import scoring_kit.{imported}\n# {'x' * len(imported)}\n")
        found = program_members(resolved, resolved.parts[0])
        assert f"scoring_kit/{imported}.py" in found


@pytest.mark.parametrize(
    ("text", "is_imported"),
    [
        ("@staticmethod\ndef read():\n    from scoring_kit import board\n", True),
        ("class Reader:\n    def read(self):\n        import scoring_kit.board\n", True),
        ("def read():\n    pass\n\n\nfrom scoring_kit.board import own_part\n", True),
        ("try:\n    import scoring_kit.board\nexcept ImportError:\n    pass\n", True),
        # lines within texts look like definitions
        ("A = '''\ndef a():\n'''\ndef b():\n    import scoring_kit.board\nC = '''\ndef c():\n'''\n", True),
        ("A = '''\ndef a(): pass\n'''\nimport scoring_kit.board\nC = '''\ndef c():\n'''\n", True),
        ("A = '''\nimport scoring_kit.board\ndef a():\n'''\n", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import scoring_kit.board\n", False),
    ],
)
def test_imports_are_found_wherever_they_are(text: str, is_imported: bool, tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    (folder / "my_task" / "more.py").write_text(text)
    resolved = resolve(folder)
    assert ("scoring_kit/board.py" in program_members(resolved, resolved.parts[0])) == is_imported


@cache
def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}


# Of the others `tests/bundles/` shows it.
@pytest.mark.slow
@pytest.mark.parametrize("source", sweep(["clpsych2025", *KINDS, "own"], ["clpsych2025", "classification", "own"]))
def test_each_program_runs_in_isolation(source: str, tmp_path: Path) -> None:
    layout, only = ("separate", "a2") if source == "clpsych2025" else (None, None)
    if source == "own":
        place = str(small_competition(tmp_path))
    else:
        place = str(made(source, tmp_path)) if source in KINDS else source
    (built,) = build(BuildRequest(place, tmp_path / "bundle.zip", layout=layout, task=only, force=True))
    bundle = read_competition(open_bundle(built.path, tmp_path / "bundle"))
    phase = bundle.phases[-1]
    for number, task in enumerate(phase.tasks):
        job = tmp_path / f"job{number}"
        answers = [solution for solution in bundle.solutions if task.index in solution.tasks]
        files = {"program": task.file("scoring_program"), "ref": task.file("reference_data"), "res": answers[0].path}
        for name, path in files.items():
            unpack(path, job / ("input" if name != "program" else ".") / name, BUNDLE)
        (job / "empty").mkdir()
        command = [sys.executable, "-I", str(job / "program" / "score.py"), str(job / "input"), str(job / "output")]
        done = subprocess.run(command, cwd=job / "empty", env=_environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads((job / "output" / "scores.json").read_bytes())
