"""Test data that are no part of the project (real data, all recorded outcomes of the platform), and what stands in."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("GEN_BUNDLE_TEST_DATA", ROOT.parent / "shared"))
FIXTURES = ROOT / "tests" / "fixtures"


def shared_path(relative: str) -> Path:
    """The path of optional test data, or of the selection among the fixtures; skips the test where there is neither."""
    found = next((folder / relative for folder in (SHARED, FIXTURES) if (folder / relative).exists()), None)
    if found is None:
        pytest.skip(f"optional test data not found: {SHARED / relative} (set GEN_BUNDLE_TEST_DATA to their folder)")
    return found


def recorded_uploads() -> list[dict[str, Any]]:
    """What the platform did with each bundle of the corpus; `path` is the bundle."""
    folder = shared_path("corpus/codabench")
    rows = [json.loads(line) for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{**row, "path": folder / row["file"]} for row in rows]
