"""The results page: what it says, that it is small and self-contained, and how it looks in a browser."""

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scoring_kit.program import Program, ScoreColumn
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure, Metric, TaskResult
from scoring_kit.results_page.page import RunFacts, failure_page, results_page
from scoring_kit.results_page.withholding import shown_names
from tests.browser import PHONE, looks, visit

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
        ScoreColumn("f1", "classification", "Macro F1", "desc", 3, 0.0, "Mean of the F1 of three classes."),
        ScoreColumn("rmse", "regression", "RMSE", "asc", 2, 30.0, "Root mean squared error."),
    ),
    details_min_items=5,
    phase={"id": "test", "name": "Final <test>"},
)
FIGURES: tuple[Figure, ...] = (
    BarChart(
        "Recall by timeline",
        [Bar("tl_1", 0.25, 9), Bar("tl_2", 0.75, 5), Bar("tl_3", 1.0, 2), Bar("tl_4", 1.0, 0)],
        "higher",
        "gold spans",
        top=1.0,
    ),
    ConfusionMatrix("Gold against predicted", LABELS, LABELS, [[9, 1, 0], [2, 7, 1], [0, 3, 6]]),
    CountBars("Events by type", [("Binds_To", 6.5, 2, 3), ("Interacts_With", 8, 0, 4), ("Is_Linked_To", 1, 0, 0)]),
)
F1 = Metric(0.73456, 29)
METRICS = {
    "f1": F1,
    "f1_again": F1,
    "accuracy": Metric(0.7654, 29),
    "unanswered": Metric(3, 29, of_submission=True),
    "f1: HC": Metric(0.8321, 29, drawn=True),
}
SCORES = {"f1": 0.73456, "rmse": 30.0}
SIGNATURE = "competition:process2025|tasks:classification+regression|version:0.1.0|reference:0123"
NOON = datetime(2026, 3, 12, 12, 5, tzinfo=timezone(timedelta(hours=2)))


def page(
    figures: tuple[Figure, ...] = FIGURES,
    warnings: tuple[str, ...] = (),
    program: Program = PROGRAM,
    submission: str = "Team_1",
) -> str:
    results = {"classification": TaskResult(METRICS, figures=figures)}
    shown = {"classification": shown_names(program, METRICS)}
    return results_page(program, SCORES, results, shown, RunFacts(SIGNATURE, NOON, submission, warnings))


def text_of(html: str) -> str:
    """What a reader reads: no markup, runs of blanks as one."""
    return re.sub(r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL))


def test_says_scores_direction_worst_and_signature() -> None:
    text = text_of(page())
    assert "Macro F1 0.735 Mean of the F1 of three classes. ↑ higher is better . Decides the rank." in text
    assert "Not entered: the worst values are shown instead of scores." in text
    assert "Root mean squared error. ↓ lower is better . No score is above 30. 30.00" in text
    assert SIGNATURE in text


def test_says_which_submission_was_scored_when_and_in_which_phase() -> None:
    html = page()
    text = text_of(html)
    assert "Phase: Final &lt;test&gt;" in text
    assert "Submission: Team_1" in text
    assert "Scored: 12 March 2026, 10:05 UTC" in text
    assert "Submission:" not in text_of(page(submission="")), "several files name nothing"


def test_shows_how_far_the_baselines_are_as_the_board_rounds_them() -> None:
    baselines = {"majority": {"f1": 0.61449, "rmse": 5.0}, "ours <1>": {"f1": 0.8}, "same": {"f1": 0.7349}}
    text = text_of(page(program=replace(PROGRAM, baselines=baselines)))
    assert "0.121 better than majority; 0.065 worse than ours &lt;1&gt;; the same as same." in text.lower()
    assert "25.00" not in text, "what was not entered is not compared"
    lower = replace(PROGRAM, columns=(replace(PROGRAM.columns[0], sort="asc"),), baselines=baselines)
    assert "0.121 worse than majority" in text_of(page(program=lower)).lower()


@pytest.mark.parametrize(
    ("computation", "shown"), [("sum", "30.735"), ("avg", "15.367"), ("min", "0.735"), ("max", "30.000")]
)
def test_shows_the_primary_column_that_the_platform_computes(computation: str, shown: str) -> None:
    computed = ScoreColumn(
        "all", "classification", "Overall", "desc", 3, None, "All of it.", computation, ("f1", "rmse")
    )
    text = text_of(page(program=replace(PROGRAM, columns=(computed, *PROGRAM.columns))))
    assert f"Overall {shown} All of it." in text
    assert "Mean of the F1 of three classes. ↑ higher is better . No score is below 0. 0.735" in text


@pytest.mark.parametrize("details", ["none", "headline", "full", "all"])
def test_shows_no_figure_twice(details: str) -> None:
    text = text_of(page(program=replace(PROGRAM, details=details)))
    assert text.count("0.735") == 1, "the column, its other name and its task's table"
    assert "0.832" not in text, "a bar of the figure shows it"
    assert ("unanswered 3 29" in text) == (details != "none"), "a count without decimals, of the submission alone"
    assert ("accuracy 0.765 29" in text) == (details in ("full", "all"))
    assert ("Recall by timeline" in text) == (details in ("full", "all"))
    assert ("Warnings" in text_of(page(warnings=("w",), program=replace(PROGRAM, details=details)))) is True


def test_draws_bars_that_have_enough_items_and_names_the_others() -> None:
    text = text_of(page())
    assert "tl_ 1 0.25 9" in text
    assert "tl_ 2 0.75 5" not in text, "the withheld bar of 2 items could be computed from the mean"
    assert "Gold spans" in text
    reasons = "tl_4 (no items); tl_3 (fewer than 5 items); tl_2 (from which the others could be computed)"
    assert f"Not shown: {reasons}." in text
    assert page().count('class="bar" width="25.0%"') == 1


def test_organisers_see_every_bar() -> None:
    text = text_of(page(program=replace(PROGRAM, details="all")))
    assert "tl_ 2 0.75 5 tl_ 3 1.00 2" in text
    assert "Is_ Linked_ To 1 0 0" in text


def test_quotes_nothing_of_the_submission() -> None:
    text = text_of(page(warnings=('TEAM_1.json: the timeline "my <secret> text" is unknown.',)))
    assert 'TEAM_1.json: the timeline "…" is unknown.' in text.replace("&quot;", '"')
    assert "secret" not in text
    assert "secret" not in page(warnings=('TEAM_1.json: the timeline "my secret te…',)), "of a warning that was cut"


def test_is_escaped() -> None:
    hostile = BarChart("<b>title</b>", [Bar("<script>alert(1)</script>", 1.0, 9)], "higher", "<i>items</i>")
    html = page((hostile,), submission="<img src=x>")
    assert "<script" not in html
    assert "<b>title" not in html
    assert "<i>items" not in html
    assert "<img" not in html
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


@pytest.mark.slow
def test_stays_small_whatever_comes() -> None:
    bars = [Bar(f"{'ü' * 200}{i}", i / 5000, 9) for i in range(5000)]
    labels = [f"label {i} {'é' * 200}" for i in range(300)]
    many: tuple[Figure, ...] = (
        BarChart("Bars", bars, "higher", "items"),
        ConfusionMatrix("Matrix", labels, labels, [[7] * 300 for _ in range(300)]),
        CountBars("Counts", [(label, 9, 9, 9) for label in labels]),
    )
    html = page(many * 40, tuple(f"file:{i}: {'ö' * 5000}" for i in range(1000)))
    assert len(html.encode()) < 300_000
    assert "more figures would make this page too long" in html
    assert "… and 950 more" in html


def test_of_very_many_bars_shows_the_weakest_and_strongest() -> None:
    bars = [Bar(f"text{i:03}", i / 100, 9) for i in range(100)]
    higher, lower = (text_of(page((BarChart("F1", bars, better, "items"),))) for better in ("higher", "lower"))
    assert "The weakest: text000" in higher
    assert "60 more in between: 0.20 to 0.79, mean 0.49. The strongest: text080" in higher
    assert "The weakest: text099" in lower
    assert "text050" not in higher


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), -0.5, 7.0])
def test_any_value_has_a_bar_within_the_axis(value: float | None) -> None:
    html = page((BarChart("Recall", [Bar("a", value, 9), Bar("b", 0.5, 9)], "higher", "items", top=1.0),))
    widths = [float(width) for width in re.findall(r'class="bar" width="([^"]*)%"', html)]
    assert len(widths) == 2
    assert all(0 <= width <= 100 for width in widths)


FAILED = failure_page("PROCESS", ["2 problems found.", 'a.csv:2: unknown label "<b>".', "x" * 900], NOON)


def test_the_page_of_a_failed_run_is_escaped_and_self_contained() -> None:
    text = text_of(FAILED)
    assert "Not scored PROCESS" in text
    assert "2 problems found. a.csv:2: unknown label &quot;&lt;b&gt;&quot;." in text
    assert "Content-Security-Policy" in FAILED
    references = _References()
    references.feed(FAILED)
    assert references.found == []


@pytest.mark.browser
@pytest.mark.parametrize("html", [page(warnings=("a warning",)), FAILED], ids=["scored", "failed"])
@looks
def test_reads_well_in_a_browser(
    browser: "Browser", tmp_path: Path, size: tuple[int, int], dark: bool, html: str
) -> None:
    file = tmp_path / "detailed_results.html"
    file.write_text(html, encoding="utf-8")
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
