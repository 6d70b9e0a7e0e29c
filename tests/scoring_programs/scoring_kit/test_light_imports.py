"""A scoring program without models, and any program before it needs one, pays for no heavy import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import scoring_kit

ROOT = Path(scoring_kit.__file__).resolve().parents[1]
MODELS = {"torch", "transformers", "tokenizers", "safetensors", "bert_score", "nltk"}
HEAVY = {*MODELS, "numpy", "sklearn", "scipy", "pandas"}
IMPORT_ALL = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]; print(*sys.modules)"


# What is in no scoring program may import numpy, which it computes with.
KIT = [file for file in (ROOT / "scoring_kit").rglob("*.py") if "resampling" not in file.parts]
# Metrics of the table compute with numpy; a declared task whose function needs none runs where it is not installed.
DECLARED = [ROOT / "declared" / f"{name}.py" for name in ("submission", "reference", "tasks")]
# The press calls the organiser's verbs for every build, model-free machines included.
COMPETITIONS = [file for file in ROOT.glob("*/*.py") if file.parent.name.endswith(("2007", "2016", "2025", "2026"))]


@pytest.mark.slow
def test_no_module_imports_anything_heavy() -> None:
    files = [*KIT, *DECLARED, ROOT / "declared" / "organiser.py", *COMPETITIONS]
    modules = {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files}
    assert {"scoring_kit.metrics.bertscore", "clpsych2025.organiser", "are2007.task4"} <= modules
    command = [sys.executable, "-c", IMPORT_ALL, *sorted(modules)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
