"""Phases with some of the tasks, and phases that share another's data: what the bundle holds, and how it scores."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from tests.generator.build.looking import built, command, document, members, refused
from tests.generator.competition import second_module, second_task, small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers")

AFTER = {"id": "post", "name": "Afterwards", "start": "2990-01-01 AoE", "data": "test"}


def competition(
    tmp_path: Path, *, tasks_of_dev: list[str] | None = None, tasks_of_post: list[str] | None = None
) -> Path:
    def change(declaration: dict[str, Any]) -> None:
        second_task(declaration)
        declaration["submission_rule"] = "all"
        declaration["phases"].append(dict(AFTER))
        declaration["milestones"] = [{"name": "Papers due", "date": "2990-02-01 AoE"}]
        for position, tasks in ((0, tasks_of_dev), (2, tasks_of_post)):
            if tasks:
                declaration["phases"][position]["tasks"] = tasks

    folder = small_competition(tmp_path, change)
    second_module(folder)
    return folder


def bundle_of(folder: Path, layout: str, task: str | None = None) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of a bundle, and its competition.yaml."""
    one = built(folder, layout=layout, task=task)
    assert not [note for note in one.notes if "file for file" in note]
    return members(one.path), document(one.path)


def tasks_by_phase(document: dict[str, Any], key: str) -> dict[str, list[str]]:
    tasks = {task["index"]: task[key] for task in document["tasks"]}
    return {phase["id"]: [tasks[index] for index in phase["tasks"]] for phase in document["phases"]}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["joint", "tasks"])
def test_phases_that_share_data_use_the_same_files(layout: str, tmp_path: Path) -> None:
    files, declared = bundle_of(competition(tmp_path), layout)
    data = tasks_by_phase(declared, "reference_data")
    assert data["post"] == data["test"]
    assert set(data["test"]).isdisjoint(data["dev"])
    phases = {phase["id"]: phase for phase in declared["phases"]}
    assert phases["post"]["public_data"] == phases["test"]["public_data"]
    assert phases["post"]["starting_kit"] != phases["test"]["starting_kit"]
    names = [n for n in files if n.startswith(("reference_data/", "public_data/", "solutions/"))]
    assert not [name for name in names if "post" in name]
    solutions = [solution["path"] for solution in declared["solutions"]]
    assert Counter(solutions) == {"solutions/dev/majority.zip": 1, "solutions/test/majority.zip": 2}


@pytest.mark.slow
def test_a_phase_with_some_of_the_tasks_in_layout_tasks(tmp_path: Path) -> None:
    _, declared = bundle_of(competition(tmp_path, tasks_of_dev=["classification"], tasks_of_post=["again"]), "tasks")
    ids = {"dev": ["classification"], "test": ["classification", "again"], "post": ["again"]}
    assert tasks_by_phase(declared, "id") == ids
    data = tasks_by_phase(declared, "reference_data")
    assert data["post"] == data["test"][1:]


@pytest.mark.slow
@pytest.mark.usefixtures("forked_python")
def test_a_phase_with_some_of_the_tasks_in_layout_joint(tmp_path: Path) -> None:
    """The others' columns are at their worst, although its data are those of a phase with all tasks."""
    folder = competition(tmp_path, tasks_of_post=["classification"])
    files, declared = bundle_of(folder, "joint")
    programs = {
        phase: json.loads(members(files[name])["program.json"])["tasks"]
        for phase, (name,) in tasks_by_phase(declared, "scoring_program").items()
    }
    both = ["classification", "again"]
    assert programs == {"dev": both, "test": both, "post": ["classification"]}
    assert declared["milestones"] == [{"name": "Papers due", "date": "2990-02-02 11:59:59"}]
    bundle = tmp_path / "bundle.zip"
    checked = command("check", bundle)
    assert "milestones" not in checked.output, "a key of our own, not a misspelt one"
    given = ["--engine", "process", "--trust", "--phase", "post", "--out", tmp_path / "out"]
    done = command("dry-run", bundle, *given)
    assert done.exit_code == 0, done.output
    (run,) = json.loads((tmp_path / "out/dry-run.json").read_text(encoding="utf-8"))["runs"]
    assert (run["phase"], run["task"]) == ("post", "joint")
    assert run["scores"]["again_f1"] == 0
    assert run["scores"]["macro_f1"] > 0


@pytest.mark.slow
def test_a_bundle_of_one_task_has_the_phases_of_that_task(tmp_path: Path) -> None:
    folder = competition(tmp_path, tasks_of_dev=["classification"])
    with (folder / "bundle.yaml").open("a", encoding="utf-8") as file:
        file.write("time_zones: []\n")
    files, declared = bundle_of(folder, "separate", "again")
    assert [phase["id"] for phase in declared["phases"]] == ["test", "post"]
    assert not [name for name in files if "dev" in name]


@pytest.mark.slow
def test_in_codalabs_format_too_the_data_are_there_once(tmp_path: Path) -> None:
    bundle = built(competition(tmp_path), platform="codalab").path
    named = [phase["reference_data"] for phase in document(bundle)["phases"].values()]
    assert named == [f"reference_data_{phase}.zip" for phase in ("dev", "test", "test")]
    assert len([name for name in members(bundle) if name.startswith("reference_data")]) == 2


def test_folders_that_would_not_be_used_are_named(tmp_path: Path) -> None:
    folder = competition(tmp_path)
    for name in ("post", "public/post", "baselines/post"):
        (folder / "data" / name).mkdir()
    assert [message.partition(": ")[0] for message in refused(folder)] == [
        str(folder / "data" / name) for name in ("post", "public/post", "baselines/post")
    ]


def test_pages_say_which_phase_has_which_tasks(tmp_path: Path) -> None:
    folder = competition(tmp_path, tasks_of_dev=["again"])
    (folder / "pages/overview.md.j2").write_text("# Overview\n\n{{ limits_table() }}\n", encoding="utf-8")
    rows = render_pages(resolve(folder))["pages/overview.md"].decode().splitlines()[4:]
    assert [row.rsplit(" | ", 1)[1] for row in rows] == [
        "Classification again |",
        "Classification; Classification again |",
        "Classification; Classification again |",
    ]


def test_a_board_that_the_primary_column_cannot_order_is_told(tmp_path: Path) -> None:
    notes = resolve(competition(tmp_path, tasks_of_dev=["again"])).notes
    assert [note for note in notes if note.startswith("phases.dev.tasks: without classification")]
