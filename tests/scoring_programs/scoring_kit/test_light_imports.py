"""A scoring program without models, and any program before it needs one, pays for no heavy import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import scoring_kit

ROOT = Path(scoring_kit.__file__).resolve().parents[1]
HEAVY = {
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "bert_score",
    "nltk",
    "numpy",
    "sklearn",
    "scipy",
    "pandas",
}
IMPORT_ALL = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]; print(*sys.modules)"


@pytest.mark.slow
def test_no_module_of_the_kit_imports_anything_heavy() -> None:
    # What is in no scoring program may import numpy, which it computes with.
    files = [file for file in (ROOT / "scoring_kit").rglob("*.py") if "resampling" not in file.parts]
    modules = [".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files]
    assert "scoring_kit.metrics.bertscore" in modules
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *sorted(modules)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.slow
def test_an_own_function_of_a_declared_task_pays_for_no_library() -> None:
    # metrics of the table compute with numpy; a task whose function needs none runs where it is not installed
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, "declared.submission", "declared.reference", "declared.tasks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(done.stdout.split())
