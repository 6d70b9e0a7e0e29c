"""A competition that comes with the tool, copied into a project of one's own, whole or with some of its tasks."""

from pathlib import Path

import pytest

from gen_bundle.author.new.project import Place, copy_competition
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import competitions
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers")
TASKS = {name: [task.id for task in read_competition(folder).tasks] for name, folder in competitions().items()}
SOME = [("clpsych2025", "a1", "a2"), *((name, task) for name, tasks in TASKS.items() for task in tasks)]


@pytest.mark.parametrize("name", TASKS)
def test_a_copy_says_what_the_original_says(name: str, tmp_path: Path) -> None:
    folder = copy_competition(Place("mine", tmp_path), name)
    assert read_competition(folder) == read_competition(competitions()[name])
    assert resolve(folder).package == resolve(competitions()[name]).package
    assert (
        (folder / "bundle.yaml")
        .read_text(encoding="utf-8")
        .startswith("# yaml-language-server: $schema=bundle.schema.json\n")
    )
    assert (folder / "bundle.schema.json").is_file()
    assert "/gold/" in (folder / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("chosen", sweep(SOME, [("clarity2026", "clarity"), ("clpsych2025", "a1", "a2")]), ids="-".join)
def test_a_copy_with_some_tasks_builds(chosen: tuple[str, ...], tmp_path: Path) -> None:
    name, *tasks = chosen
    folder = copy_competition(Place("mine", tmp_path, "Mine: a task"), name, tasks)
    competition = read_competition(folder)
    assert competition.title == "Mine: a task"
    assert competition.tasks == [one for one in read_competition(competitions()[name]).tasks if one.id in tasks]
    assert render_pages(resolve(folder))
    if tasks[-1] == TASKS[name][-1]:  # one of each competition is built
        build(BuildRequest(str(folder), tmp_path / "bundle.zip"))


def test_all_unknown_tasks_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        copy_competition(Place("mine", tmp_path), "clpsych2025", ["a1", "a3", "d"])
    assert [message.split(":")[0] for message in error.value.messages] == ["--tasks a3", "--tasks d"]
    assert not list(tmp_path.iterdir())


def test_an_unknown_competition(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--from clpsych: no such competition\. Did you mean 'clpsych2025'\?"):
        copy_competition(Place("mine", tmp_path), "clpsych")
