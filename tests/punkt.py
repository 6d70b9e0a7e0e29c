"""A tiny Punkt model, written by hand, for the tests that split sentences."""

from pathlib import Path

import pytest

from tests.shared import FIXTURES

NLTK_DATA = FIXTURES / "nltk_data"
PUNKT = Path("tokenizers", "punkt_tab", "english")


@pytest.fixture
def punkt(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of nltk data that holds Punkt, also set for this process and the programs that it starts."""
    import nltk.data

    monkeypatch.setenv("NLTK_DATA", str(NLTK_DATA))
    monkeypatch.setattr(nltk.data, "path", [str(NLTK_DATA)])
    return NLTK_DATA
