"""Pages are strict about their templates, and say of the data and of what participants see what holds."""

import re
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import competitions
from tests.generator.competition import small_competition


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_competition(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{{ 1 / 0 }}", "overview.md.j2:1: division by zero. Expected a template that can be rendered"),
        (b"\n{{ metrics_table('nope') }}", "overview.md.j2:2: metrics_table: no task 'nope'"),
        (b"{{ metrics_table(1, 2, 3) }}", "overview.md.j2:1: "),
        (
            b"{{ nobody }}",
            "overview.md.j2:1: 'nobody' is undefined. Expected one of competition, name, phases, ",
        ),
        (b"{{ data_tabel() }}", "overview.md.j2:1: 'data_tabel' is undefined. Did you mean 'data_table'?"),
        (b"{{ primary.titel }}", "overview.md.j2:1: no 'titel' there. Did you mean 'title'?"),
        (b"{{ phases[0].nam }}", "overview.md.j2:1: no 'nam' there. Did you mean 'name'?"),
        (b"caf\xe9", "overview.md.j2: holds bytes that are not UTF-8"),
    ],
)
def test_whatever_is_wrong_with_a_page_is_told(folder: Path, text: bytes, message: str) -> None:
    (folder / "pages" / "overview.md.j2").write_bytes(text)
    with pytest.raises(UserError) as caught:
        render_pages(resolve(folder))
    (told,) = caught.value.messages
    assert told.startswith(f"pages/{message}")


def test_faults_of_all_pages_are_told_at_once(folder: Path) -> None:
    for page, text in (("overview", "# Title\n\n{{ competition.titel }}\n"), ("terms", "{% if %}")):
        (folder / "pages" / f"{page}.md.j2").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        render_pages(resolve(folder))
    overview, terms = caught.value.messages
    assert overview.startswith("pages/overview.md.j2:3: no 'titel' there.")
    assert terms.startswith("pages/terms.md.j2:1: ")


def test_two_pages_of_one_name_are_told(tmp_path: Path) -> None:
    def change(declaration: dict[str, Any]) -> None:
        declaration["pages"].append({"title": "Again", "file": "more/overview.md.j2"})

    folder = small_competition(tmp_path, change)
    (folder / "more").mkdir()
    (folder / "more" / "overview.md.j2").write_text("Something else", encoding="utf-8")
    with pytest.raises(UserError, match="another page's file has the same name"):
        render_pages(resolve(folder))


@pytest.mark.parametrize("name", [name for name, folder in competitions().items() if resolve(folder).tasks[1:]])
def test_in_layout_tasks_the_evaluation_page_says_what_the_other_tasks_values_are(name: str) -> None:
    """Each row of such a leaderboard shows every column under every task, such as an RMSE of 1000."""

    def evaluation_of(layout: str) -> str:
        competition = resolve(competitions()[name], layout=layout)
        bundles = [competition.only(task.id) for task in competition.tasks] if layout == "separate" else [competition]
        return "".join(render_pages(bundle)["pages/evaluation.md"].decode() for bundle in bundles)

    page = evaluation_of("tasks")
    tasks = resolve(competitions()[name]).tasks
    worst = max(abs(column.worst or 0) for task in tasks for column in task.columns)
    assert f"is always {worst:g}. Such a value only fills the place; it is not a result" in page
    for task in tasks:
        assert f"| {task.name} | {'; '.join(column.title for column in task.columns)} |" in page
    for layout in ("joint", "separate"):
        assert "only fills the place" not in evaluation_of(layout)


@pytest.mark.parametrize("name", competitions())
def test_pages_speak_of_invented_data_only_where_they_are(name: str, tmp_path: Path) -> None:
    def texts(data: Path | None) -> str:
        return "\n".join(page.decode() for page in render_pages(resolve(competitions()[name], data=data)).values())

    invented = re.compile("synthetic|invented|gen-bundle has", re.IGNORECASE)
    assert invented.search(texts(None))
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "gold.csv").write_text("real", encoding="utf-8")
    assert not invented.search(texts(tmp_path))


def test_raw_pages_are_taken_as_they_are(tmp_path: Path) -> None:
    def declare(declaration: dict[str, Any]) -> None:
        declaration["raw"] = True
        declaration["pages"] = [{"title": "Overview", "file": "pages/start.html"}]

    folder = small_competition(tmp_path, declare)
    (folder / "pages" / "start.html").write_bytes(b"<p>{{ nobody }} caf\xe9</p>\r\n")
    pages = render_pages(resolve(folder))
    assert pages["pages/start.html"] == b"<p>{{ nobody }} caf\xe9</p>\r\n"
    assert set(pages) == {"pages/start.html", "pages/terms.md.j2"}


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
