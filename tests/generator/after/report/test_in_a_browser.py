"""The report as readers see it: light and dark, at a desk, on a phone, on paper."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from tests.browser import looks, visit
from tests.generator.after.report.shared_task import rank, shared_task, submissions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def drawn_for_the_page() -> Iterator[None]:
    """Draw no figure as PDF, which is not on the page: embedding its fonts takes most of a report's time."""
    from matplotlib.figure import Figure

    savefig = Figure.savefig

    def svg_alone(drawing: Figure, file: IO[bytes], **options: Any) -> None:
        if options["format"] == "svg":
            savefig(drawing, file, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", svg_alone)
        yield


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, kept_organisers: None, drawn_for_the_page: None) -> str:
    """A report with long and strange names."""
    work = tmp_path_factory.mktemp("report")
    competition = shared_task(work, 40, tasks=2)
    names = ["Ahead", "A team with a very long name, as participants like to choose one", "x" * 70, "<script>alert(1)"]
    teams = submissions(competition, {name: 0.9 - 0.2 * number for number, name in enumerate(names)})
    assert rank(competition, teams, "--report", work / "report", "--resamples", 200).exit_code == 0
    return (work / "report" / "report.html").as_uri()


@looks
def test_nothing_is_wrong_with_the_page(browser: "Browser", address: str, size: tuple[int, int], dark: bool) -> None:
    with visit(browser, address, size, dark=dark) as seen:
        assert seen.overflow() <= 0
        assert seen.complaints == []
        assert seen.accessibility_violations() == []
        assert [one for one in seen.requests if not one.startswith(("data:", "file:"))] == []
        paper = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = seen.page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
        assert (paper == "rgb(17, 20, 24)") == dark
        assert ink == seen.page.evaluate("getComputedStyle(document.body).color")


def test_on_paper_it_is_light_and_shows_no_navigation(browser: "Browser", address: str, tmp_path: Path) -> None:
    with visit(browser, address, dark=True) as seen:
        seen.page.emulate_media(media="print", color_scheme="dark")
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not seen.page.locator("nav").is_visible()
        assert seen.page.locator("#checklist").is_visible()
        seen.page.pdf(path=str(tmp_path / "report.pdf"))
    assert (tmp_path / "report.pdf").stat().st_size > 10_000
