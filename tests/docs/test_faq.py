"""docs/faq.md quotes what gen-bundle and Codabench really say."""

import re
import runpy
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT, tables

ROWS = [
    row for row in tables((DOCS / "faq.md").read_text(encoding="utf-8")) if row[0] not in ("You see", "Codabench says")
]
QUOTED = [text for row in ROWS for text in re.findall(r"`([^`]+)`", row[0])]
OF_THE_PLATFORM_ALONE = {"Unpacking...", "Insufficient space"}
"""Said by pages of Codabench that nothing of ours imitates; read in its source."""


@pytest.fixture(scope="module")
def words() -> str:
    """What the programs say, split literals put together, and what the rules know of Codabench's words."""
    files: list[Path] = [*(ROOT / "generator" / "gen_bundle").rglob("*.py"), *(ROOT / "scoring_programs").rglob("*.py")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    of_the_check: str = runpy.run_path(str(DOCS / "make_checks.py"))["page"]()
    return re.sub(r'"\s*\n\s*f?"', "", code) + of_the_check


def test_there_are_symptoms() -> None:
    assert len(ROWS) > 35


@pytest.mark.parametrize("text", sorted(set(QUOTED) - OF_THE_PLATFORM_ALONE))
def test_a_quoted_text_is_said(text: str, words: str) -> None:
    assert all(part.strip() in words for part in text.split("…"))
