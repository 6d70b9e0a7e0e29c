import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine import ROOT

pytestmark = pytest.mark.slow

TINY = ROOT / "tests" / "fixtures" / "models" / "roberta-nli"
PYTEST = importlib.metadata.version("pytest")


def selftest(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = ROOT / "docker" / "scoring_selftest.py"
    return subprocess.run(
        [sys.executable, program, *options],
        capture_output=True,
        text=True,
        env=os.environ | {"SCORING_FOLDER": str(folder)} | environment,
    )


def image(folder: Path, lock: str, models: list[dict[str, Any]] | None = None, punkt: object = None) -> Path:
    """What the image has in /opt/scoring."""
    (folder / "packages.txt").write_text(lock)
    (folder / "manifest.json").write_text(json.dumps({"models": models or [], "punkt": punkt}))
    return folder


def failed(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    report = json.loads(done.stdout)
    return {check["name"]: check["detail"] for check in report["checks"] if not check["ok"]}


def test_packages_as_locked_pass(tmp_path: Path) -> None:
    done = selftest(image(tmp_path, f"# A comment.\npytest=={PYTEST} \\\n    --hash=sha256:0\n    # via -r x.in\n"))
    assert done.returncode == 0, done.stderr
    assert "ok    versions: 1 packages as locked" in done.stdout


@pytest.mark.parametrize(
    ("lock", "detail"),
    [
        ("pytest==0.1\n", f"pytest is {PYTEST}, locked 0.1"),
        (f"pytest=={PYTEST}+cpu\n", f"pytest is {PYTEST}, locked {PYTEST}+cpu"),
        (f"pytest=={PYTEST}\nno-such-package==1\n", "no-such-package is not installed, locked 1"),
    ],
)
def test_another_version_fails_and_is_named(tmp_path: Path, lock: str, detail: str) -> None:
    done = selftest(image(tmp_path, lock), "--json")
    assert done.returncode == 1
    assert failed(done) == {"versions": detail}


def test_a_gpu_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    torch = "from types import SimpleNamespace\ncuda = SimpleNamespace(is_available=lambda: False)\n"
    (tmp_path / "torch.py").write_text(torch + 'version = SimpleNamespace(cuda="13.0")\n')
    done = selftest(image(tmp_path, ""), "--json", "--gpu", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert failed(done) == {"gpu": "no GPU is seen (torch is built for CUDA 13.0: is a driver there?)"}


def tiny(name: str, number: float | None) -> dict[str, Any]:
    return {"repository": name, "revision": "local-0", "number": number}


@pytest.mark.models
def test_each_model_gives_its_locked_number(tmp_path: Path) -> None:
    """A model that is not there is a finding, and no crash; nor does it keep the others from being tried."""
    right, wrong = str(TINY), str(TINY.parent / "bert-encoder")
    models = [tiny(right, None), tiny("org/absent", None), tiny(wrong, None)]
    done = selftest(image(tmp_path, "", models), "--json")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = failed(done)
    assert list(found) == ["model org/absent"]
    assert found["model org/absent"].startswith("does not load: ")
    numbers = json.loads(done.stdout)["numbers"]
    assert set(numbers) == {right, wrong}
    assert 0 < numbers[right] < 1
    locked = [tiny(right, numbers[right]), tiny(wrong, numbers[wrong] + 0.001)]
    assert list(failed(selftest(image(tmp_path, "", locked), "--json"))) == [f"model {wrong}"]


@pytest.mark.models
def test_a_missing_sentence_splitter_is_a_finding(tmp_path: Path) -> None:
    folder = image(tmp_path, "", punkt={"files": {}})
    done = selftest(folder, "--json", NLTK_DATA=str(tmp_path), HOME=str(tmp_path))
    assert failed(done) == {"punkt": "nltk does not find its punkt_tab data"}
