"""What the pages say that participants see of a submission, phase by phase, is what their programs show."""

import pytest

from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from gen_bundle.ground.resources import competitions


def evaluation(name: str, *overrides: str) -> str:
    return render_pages(resolve(competitions()[name], overrides=overrides))["pages/evaluation.md"].decode()


def shown(page: str) -> dict[str, list[str]]:
    """Phase → what the results page, the files and the logs show of a submission."""
    table = page.split("| Phase | Results page |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()[2:]]
    return {phase: cells for phase, *cells in rows}


COLUMNS = "the columns of the leaderboard"
HEADLINE = f"{COLUMNS}, and figures that depend on the submission alone"
FULL = f"{COLUMNS}, and all figures, as far as they are over at least 5 scored items"
NOTHING = "that the submission was scored, and no score"
OPEN, HIDDEN = ["as on the results page", "shown"], ["hidden", "hidden"]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([], [HEADLINE, *OPEN]),
        (["details=none"], [COLUMNS, *OPEN]),
        (["details=full"], [FULL, *OPEN]),
        (["gold=public"], [FULL, *OPEN]),
        (["hide_output=true"], [NOTHING, *HIDDEN]),
        (["hide_score_output=true"], [NOTHING, "hidden", "shown"]),
        (["hide_output=true", "details=headline"], [HEADLINE, *HIDDEN]),
    ],
)
@pytest.mark.parametrize("name", ["are2007", "clarity2026"])
def test_the_evaluation_page_says_what_each_phase_shows(name: str, overrides: list[str], expected: list[str]) -> None:
    page = evaluation(name, *(f"phases.test.{override}" for override in overrides))
    assert list(shown(page).values())[1] == expected


@pytest.mark.parametrize("name", ["process2025", "seedev2016"])
def test_where_development_gold_was_released_all_figures_are_shown(name: str) -> None:
    assert shown(evaluation(name))["Development"] == [FULL, *OPEN]


@pytest.mark.parametrize("profile", ["published", "as-run"])
def test_the_test_phase_of_clpsych_hides_everything_but_the_page(profile: str) -> None:
    page = evaluation("clpsych2025", f"options.profile={profile}")
    assert shown(page) == {"Development": [HEADLINE, *OPEN], "Test": [NOTHING, *HIDDEN]}


@pytest.mark.parametrize("name", sorted(competitions()))
def test_no_page_sends_readers_to_what_their_phase_does_not_show(name: str) -> None:
    pages = render_pages(resolve(competitions()[name]))
    for text in (page.decode() for page in pages.values()):
        assert "signature in their logs" not in text
        assert "Every results page" not in text
        assert "stand in `details.json`" not in text
