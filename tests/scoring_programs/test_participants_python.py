"""What participants run at home needs Python 3.9 and the standard library, nothing else."""

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gen_bundle.build.package.programs import imported_modules
from gen_bundle.ground.resources import resource

ROOT = resource("scoring_programs")
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/submission.py"))


INGESTION = "ingestion_kit"
"""Participants run submitted code at home as the platform does, and the platform's image may have any Python."""


def modules(package: str) -> Mapping[str, Path]:
    if package == INGESTION:
        folder = ROOT / INGESTION
        found = imported_modules((f"{INGESTION}.ingestion",), (folder, ROOT / "scoring_kit"))
        return {**found, "ingest.py": ROOT / "ingest.py", **{f"{INGESTION}/{p.name}": p for p in folder.glob("*.py")}}
    return imported_modules((f"{package}.submission", "scoring_kit.validate"), (ROOT / package, ROOT / "scoring_kit"))


@pytest.mark.slow
@pytest.mark.parametrize("package", [*PACKAGES, INGESTION])
def test_only_the_standard_library_is_imported(package: str) -> None:
    own = {package, "scoring_kit", INGESTION}
    for place, path in modules(package).items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not any(node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), place
        foreign = {name.split(".")[0] for name in names} - own - set(sys.stdlib_module_names)
        assert foreign == set(), place


def newer_than_3_9(*files: Path) -> str:
    """What vermin finds that Python 3.9 does not have; empty where there is nothing."""
    options = ["--target=3.9-", "--violations", "--no-parse-comments", "--processes=1"]
    command = [sys.executable, "-c", "import vermin; vermin.main()", *options, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.slow
def test_python_3_9_is_enough() -> None:
    files = {path for package in (*PACKAGES, INGESTION) for path in modules(package).values()}
    assert newer_than_3_9(*sorted(files)) == ""


@pytest.mark.slow
def test_no_annotation_that_is_evaluated_is_a_union_by_a_bar() -> None:
    # which vermin does not find, and Python 3.9 cannot evaluate
    files = {path for package in (*PACKAGES, INGESTION) for path in modules(package).values()}
    for path in files:
        text = path.read_text(encoding="utf-8")
        if "from __future__ import annotations" in text:
            continue
        for node in ast.walk(ast.parse(text)):
            for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                if annotation is not None:
                    bars = [inner for inner in ast.walk(annotation) if isinstance(inner, ast.BitOr)]
                    assert bars == [], f"{path.name}:{annotation.lineno}"


@pytest.mark.slow
def test_the_check_of_versions_sees_newer_syntax(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("match 1:\n    case 1:\n        pass\n")
    (tmp_path / "old.py").write_text("print(1)\n")
    found = newer_than_3_9(tmp_path / "new.py", tmp_path / "old.py")
    assert "3.10" in found
    assert str(tmp_path / "new.py") in found


@pytest.mark.parametrize("package", PACKAGES)
def test_what_the_reader_needs_is_found_by_following_imports(package: str) -> None:
    """Importing the reader alone, with nothing but the found modules, works."""
    places = sorted(modules(package))
    assert f"{package}/submission.py" in places
    assert "scoring_kit/validate.py" in places
    assert not {"scoring_kit/frame.py", f"{package}/reference.py", f"{package}/organiser.py"} & set(places)
