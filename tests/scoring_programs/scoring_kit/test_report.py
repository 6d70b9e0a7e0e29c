"""The results page: what it says, that it is small and self-contained, and how it looks in a browser."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scoring_kit.program import Column, Program
from scoring_kit.report import results_page
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure, Metric, TaskResult
from tests.browser import DESK, PHONE, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LABELS = ("HC", "MCI", "Dementia")


PROGRAM = Program(
    competition="process2025",
    package="process2025",
    title="PROCESS <2025>",
    version="0.1.0",
    layout="joint",
    tasks=("classification", "regression"),
    all_tasks=("classification", "regression"),
    task_names={"classification": "Classification", "regression": "Regression"},
    options={},
    columns=(
        Column("f1", "classification", "Macro F1", "desc", 3, 0.0, False, "Mean of the F1 of three classes."),
        Column("rmse", "regression", "RMSE", "asc", 2, 30.0, False, "Root mean squared error."),
    ),
    details_min_items=5,
)
FIGURES: tuple[Figure, ...] = (
    BarChart(
        "Recall by timeline", [Bar("tl_1", 0.25, 9), Bar("tl_2", 0.75, 5), Bar("tl_3", 1.0, 2)], "higher", top=1.0
    ),
    ConfusionMatrix("Gold against predicted", LABELS, LABELS, [[9, 1, 0], [2, 7, 1], [0, 3, 6]]),
    CountBars("Events by type", [("Binds_To", 6.5, 2, 3), ("Interacts_With", 8, 0, 4), ("Is_Linked_To", 1, 0, 0)]),
)
RESULTS = {"classification": TaskResult({"f1": Metric(0.73456, 29)}, figures=FIGURES)}
SCORES = {"f1": 0.73456, "rmse": 30.0}
SIGNATURE = "competition:process2025|tasks:classification+regression|version:0.1.0|reference:0123456789abcdef"


def page(figures: tuple[Figure, ...] = FIGURES, warnings: tuple[str, ...] = ()) -> str:
    results = {"classification": TaskResult(RESULTS["classification"].metrics, figures=figures)}
    return results_page(PROGRAM, SCORES, results, warnings, SIGNATURE)


def text_of(html: str) -> str:
    """What a reader reads: no markup, runs of blanks as one."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL))


def test_says_scores_direction_worst_and_signature() -> None:
    text = text_of(page())
    assert "Macro F1 0.735 ↑ higher is better worst 0" in text
    assert "RMSE 30.00 ↓ lower is better not entered · worst 30" in text
    assert "Mean of the F1 of three classes." in text
    assert SIGNATURE in text


def test_draws_bars_that_stand_on_enough_items() -> None:
    text = text_of(page())
    assert "tl_ 1 0.250 9 tl_ 2 0.750 5" not in text, "the withheld bar of 2 items could be computed from the mean"
    assert "tl_ 1 0.250 9" in text
    assert "Not shown: 2" in text
    assert page().count('class="bar" width="25.0%"') == 1


def test_quotes_nothing_of_the_submission() -> None:
    text = text_of(page(warnings=('TEAM_1.json: the timeline "my <secret> text" is unknown.',)))
    assert 'TEAM_1.json: the timeline "…" is unknown.' in text.replace("&quot;", '"')
    assert "secret" not in text


def test_is_escaped() -> None:
    hostile = BarChart("<b>title</b>", [Bar("<script>alert(1)</script>", 1.0, 9)], "higher")
    html = page((hostile,))
    assert "<script" not in html
    assert "<b>title" not in html
    assert "PROCESS &lt;2025&gt;" in html


class _References(HTMLParser):
    """Collects whatever a browser would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        loading = {"src", "href", "srcset", "data", "action", "background", "poster"}
        self.found += [f"{tag} {name}" for name, _ in attrs if name in loading or name.startswith("on")]
        self.found += [tag] * (tag in {"script", "link", "iframe", "object", "embed", "img", "base"})


def test_is_self_contained_without_script() -> None:
    html = page()
    references = _References()
    references.feed(html)
    assert references.found == []
    assert "url(" not in html
    assert "@import" not in html


def test_is_deterministic() -> None:
    assert page() == page()


def test_stays_small_whatever_comes() -> None:
    bars = [Bar(f"{'ü' * 200}{i}", i / 5000, 9) for i in range(5000)]
    labels = [f"label {i} {'é' * 200}" for i in range(300)]
    many: tuple[Figure, ...] = (
        BarChart("Bars", bars, "higher"),
        ConfusionMatrix("Matrix", labels, labels, [[7] * 300 for _ in range(300)]),
        CountBars("Counts", [(label, 9, 9, 9) for label in labels]),
    )
    html = page(many * 40, tuple(f"file:{i}: {'ö' * 5000}" for i in range(1000)))
    assert len(html.encode()) < 300_000
    assert "more figures would make this page too long" in html
    assert "… and 950 more" in html


def test_of_very_many_bars_shows_the_weakest_and_strongest() -> None:
    bars = [Bar(f"text{i:03}", i / 100, 9) for i in range(100)]
    higher, lower = (text_of(page((BarChart("F1", bars, better),))) for better in ("higher", "lower"))
    assert "The weakest: text000" in higher
    assert "60 more in between: 0.200 to 0.790, mean 0.495. The strongest: text080" in higher
    assert "The weakest: text099" in lower
    assert "text050" not in higher


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), -0.5, 7.0])
def test_any_value_has_a_bar_within_the_axis(value: float | None) -> None:
    html = page((BarChart("Recall", [Bar("a", value, 9), Bar("b", 0.5, 9)], "higher", top=1.0),))
    widths = [float(width) for width in re.findall(r'class="bar" width="([^"]*)%"', html)]
    assert len(widths) == 2
    assert all(0 <= width <= 100 for width in widths)


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_reads_well_in_a_browser(browser: "Browser", tmp_path: Path, size: tuple[int, int], dark: bool) -> None:
    file = tmp_path / "detailed_results.html"
    file.write_text(page(warnings=("a warning",)), encoding="utf-8")
    with visit(browser, file.as_uri(), size, dark=dark) as seen:
        assert seen.complaints == []
        assert seen.requests == [file.as_uri()] or seen.requests == []
        assert seen.overflow() == 0
        assert seen.accessibility_violations() == []
        assert seen.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is dark
        shade = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert shade == ("rgb(17, 20, 24)" if dark else "rgb(255, 255, 255)")


@pytest.mark.browser
def test_a_wide_matrix_is_scrolled_with_the_keyboard(browser: "Browser", tmp_path: Path) -> None:
    labels = [f"a long label {i}" for i in range(20)]
    file = tmp_path / "detailed_results.html"
    matrix = ConfusionMatrix("Wide", labels, labels, [[5] * 20 for _ in labels])
    file.write_text(page((matrix,)), encoding="utf-8")
    with visit(browser, file.as_uri(), PHONE) as seen:
        seen.page.focus(".scroll")
        scrolled = 0
        for _ in range(50):
            seen.page.keyboard.press("ArrowRight")
            seen.page.wait_for_timeout(20)
            scrolled = seen.page.evaluate("document.querySelector('.scroll').scrollLeft")
            if scrolled:
                break
        assert scrolled > 0
        assert seen.overflow() == 0
