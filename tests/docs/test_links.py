"""No link within the documentation is dead, and no page is without one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

RESEARCH = sorted((ROOT / "research").rglob("*.md"))
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *RESEARCH,
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> Iterator[str]:
    """The anchors that GitHub gives a page's headings."""
    for heading in HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for link in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_the_index_links_every_page() -> None:
    links = LINK.findall((DOCS / "README.md").read_text(encoding="utf-8"))
    missing = {page.name for page in DOCS.glob("*.md")} - {"README.md", *links}
    assert missing == set(), "add a line to docs/README.md, from which the site takes its navigation"


def test_pages_name_no_place_of_their_making() -> None:
    """Nothing of the machine on which they were written, nor a host of a package registry but the well-known one."""
    forbidden = re.compile(r"/(?:work|tmp|root|home)/|localhost:\d|\b10\.\d+\.\d+\.\d+", re.IGNORECASE)
    for page in PAGES:
        assert forbidden.findall(page.read_text(encoding="utf-8")) == [], page
