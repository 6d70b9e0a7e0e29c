"""Where optional test data lie that are no part of the project: real data, recorded platform outcomes."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("GEN_BUNDLE_TEST_DATA", Path(__file__).resolve().parents[2] / "shared"))


def shared_path(relative: str) -> Path:
    """The path of optional test data; skips the test, with the reason, where they are absent."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"optional test data not found: {path} (set GEN_BUNDLE_TEST_DATA to their folder)")
    return path
