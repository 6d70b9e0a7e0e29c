"""Pages are strict: whatever a template gets wrong is told with its place."""

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

    def evaluation(layout: str) -> str:
        competition = resolve(competitions()[name], layout=layout)
        bundles = [competition.only(task.id) for task in competition.tasks] if layout == "separate" else [competition]
        return "".join(render_pages(bundle)["pages/evaluation.md"].decode() for bundle in bundles)

    page = evaluation("tasks")
    tasks = resolve(competitions()[name]).tasks
    worst = max(abs(column.worst or 0) for task in tasks for column in task.columns)
    assert f"is always {worst:g}. Such a value only fills the place; it is not a result" in page
    for task in tasks:
        assert f"| {task.name} | {'; '.join(column.title for column in task.columns)} |" in page
    for layout in ("joint", "separate"):
        assert "only fills the place" not in evaluation(layout)


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
