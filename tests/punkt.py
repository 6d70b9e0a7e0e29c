"""English Punkt data for the tests that split sentences: through NLTK_DATA, else among the optional test data."""

import os
from pathlib import Path

import pytest

from tests.shared import SHARED

PUNKT = Path("tokenizers", "punkt_tab", "english")


@pytest.fixture
def punkt(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of nltk data that holds Punkt, also set for this process and the programs that it starts.

    Where there is none the test is skipped with the reason; with CI=true it fails.
    """
    places = [Path(place) for place in os.environ.get("NLTK_DATA", "").split(os.pathsep) if place]
    for folder in [*places, SHARED / "data" / "nltk_data"]:
        if (folder / PUNKT).is_dir():
            import nltk.data

            monkeypatch.setenv("NLTK_DATA", str(folder))
            monkeypatch.setattr(nltk.data, "path", [str(folder)])
            return folder
    reason = f"English Punkt data not found: set NLTK_DATA to a folder that holds {PUNKT.as_posix()}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
