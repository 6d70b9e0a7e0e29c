"""Recorded outcomes of the platform, and real data that are no part of the project.

The fixtures hold a selection of the recorded outcomes, which every checkout tests. `GEN_BUNDLE_TEST_DATA` may name a
folder that holds all of them as `corpus/`, and real data as `data/`; nothing else outside the repository is looked at.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
SHARED = Path(os.environ["GEN_BUNDLE_TEST_DATA"]) if os.environ.get("GEN_BUNDLE_TEST_DATA") else None


def shared_path(relative: str) -> Path:
    """The path of optional test data, or of the selection among the fixtures; skips the test where there is neither."""
    folders = [FIXTURES] if SHARED is None else [SHARED, FIXTURES]
    for folder in folders:
        if (folder / relative).exists():
            return folder / relative
    return pytest.skip(f"optional test data: {relative} (set GEN_BUNDLE_TEST_DATA to a folder that holds it)")


def recorded_uploads() -> list[dict[str, Any]]:
    """What the platform did with each bundle of the corpus; `path` is the bundle."""
    folder = shared_path("corpus/codabench")
    rows = [json.loads(line) for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{**row, "path": folder / row["file"]} for row in rows]
