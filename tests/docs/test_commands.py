"""The pages are true: the files that they show are written, and their commands run in their order."""

from pathlib import Path
from typing import Any

import pytest

from scoring_kit.errors import SubmissionError
from tests.docs.pages import BLOCK, DOCS, follow
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python", "runs_in_forks")
PAGES = [page.name for page in sorted(DOCS.glob("*.md")) if "\n```sh\n" in page.read_text(encoding="utf-8")]
LEFT_BEHIND = {
    "final-report.md": {"final/report.tex": "booktabs"},
    "packages.md": {
        "figures/test/joint/majority/output/detailed_results.html": "Share of right answers",
        "output/scores.json": '"polarity_mcc": -1.0',
    },
    "tutorial.md": {
        "dry-run/test/joint/majority/output/detailed_results.html": "Macro F1",
        "reviews-try/dry-run/dry-run.json": "mcc",
        "preview/index.html": "Reviews of places",
    },
}
"""Page → a file that is there when it has been followed → what is in it."""


@pytest.mark.slow
@pytest.mark.parametrize("page", sweep(PAGES, ["code-submissions.md", "tutorial.md"]))
def test_a_page_from_its_beginning_to_its_end(page: str, tmp_path: Path) -> None:
    assert follow(DOCS / page, tmp_path) > 0
    for name, text in LEFT_BEHIND.get(page, {}).items():
        assert text in (tmp_path / name).read_text(encoding="utf-8")


def test_the_pages_with_commands_are_found() -> None:
    assert {"faq.md", "gold-data.md", "packages.md", "publishing.md", "tutorial.md"} <= set(PAGES)


@pytest.mark.parametrize("page", LEFT_BEHIND)
def test_the_files_that_a_page_sends_its_reader_to(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert all(name in text for name in LEFT_BEHIND[page] if name.endswith(".html"))


def test_the_tutorials_gold_is_the_file_beside_it() -> None:
    """`make demo` takes the file, a reader may take either."""
    gold = next(text for _, title, text in BLOCK.findall((DOCS / "tutorial.md").read_text("utf-8")) if title)
    assert gold == (DOCS / "reviews.csv").read_text(encoding="utf-8")


def test_a_scorer_refuses_what_reading_cannot_see(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n")
    blocks = BLOCK.findall((DOCS / "packages.md").read_text(encoding="utf-8"))
    (code,) = (text for _, title, text in blocks if not title and "def picture" in text)
    names: dict[str, Any] = {}
    exec(code, names)
    with pytest.raises(SubmissionError, match=r"a\.png: cannot be read\. Expected: a PNG"):
        names["picture"](tmp_path / "a.png", "a.png")
