"""The site of docs/ (`make docs`) builds strictly, holds every page, and asks no other host for anything."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import DESK, PHONE, visit
from tests.docs.pages import DOCS, ROOT

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LOADED = re.compile(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"' >]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    if importlib.util.find_spec("material") is None:
        reason = "MkDocs is not installed: run make docs"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    pages = {page.stem for page in DOCS.glob("*.md")} - {"README"} | {"CONTRIBUTING", "CHANGELOG"}
    assert {page for page in pages if f'href="{page}.html" class="md-nav__link"' not in index} == set()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    found = {page.name: LOADED.findall(page.read_text(encoding="utf-8")) for page in site.glob("*.html")}
    assert len(found) > 15
    assert {name: links for name, links in found.items() if links} == {}


def test_what_markdown_writes_otherwise(site: Path) -> None:
    assert "<code>&#124;</code>" in (site / "declared.html").read_text(encoding="utf-8")
    house = (site / "architecture.html").read_text(encoding="utf-8")
    assert '<ol class="floors"><li><span>one module a verb</span> <code>cli</code></li>' in house
    assert "subgraph" not in house
    assert 'href="faq.html#for-participants"' in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("page", ["index", "tutorial", "faq", "architecture"])
def test_a_page_read_from_disk(site: Path, browser: "Browser", page: str, size: tuple[int, int]) -> None:
    with visit(browser, (site / f"{page}.html").as_uri(), size) as seen:
        seen.page.wait_for_load_state("networkidle")
        assert seen.complaints == []
        assert [address for address in seen.requests if not address.startswith("file:")] == []
        assert seen.overflow() <= 0


@pytest.mark.browser
def test_search_works_from_disk(site: Path, browser: "Browser") -> None:
    with visit(browser, (site / "index.html").as_uri()) as seen:
        field = seen.page.locator(".md-search__input")
        field.click()
        field.press_sequentially("kappa")
        seen.page.wait_for_selector(".md-search-result__item a[href*='metrics.html']")
        assert seen.complaints == []
        assert [address for address in seen.requests if not address.startswith("file:")] == []
