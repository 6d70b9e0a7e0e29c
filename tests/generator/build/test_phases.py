"""Phases with some of the tasks, and phases that share another's data: what the bundle holds, and how it scores."""

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
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


def built(folder: Path, layout: str, task: str | None = None) -> tuple[zipfile.ZipFile, dict[str, Any]]:
    (bundle,) = build(BuildRequest(str(folder), folder.parent / f"{layout}-{task}.zip", layout=layout, task=task))
    assert not [note for note in bundle.notes if "file for file" in note]
    archive = zipfile.ZipFile(bundle.path)
    return archive, yaml.safe_load(archive.read("competition.yaml"))


def tasks_by_phase(document: dict[str, Any], key: str) -> dict[str, list[str]]:
    tasks = {task["index"]: task[key] for task in document["tasks"]}
    return {phase["id"]: [tasks[index] for index in phase["tasks"]] for phase in document["phases"]}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["joint", "tasks"])
def test_phases_that_share_data_use_the_same_files(layout: str, tmp_path: Path) -> None:
    archive, document = built(competition(tmp_path), layout)
    with archive:
        data = tasks_by_phase(document, "reference_data")
        assert data["post"] == data["test"]
        assert set(data["test"]).isdisjoint(data["dev"])
        phases = {phase["id"]: phase for phase in document["phases"]}
        assert phases["post"]["public_data"] == phases["test"]["public_data"]
        assert phases["post"]["starting_kit"] != phases["test"]["starting_kit"]
        names = [n for n in archive.namelist() if n.startswith(("reference_data/", "public_data/", "solutions/"))]
        assert not [name for name in names if "post" in name]
        solutions = [solution["path"] for solution in document["solutions"]]
        assert Counter(solutions) == {"solutions/dev/majority.zip": 1, "solutions/test/majority.zip": 2}


@pytest.mark.slow
def test_a_phase_with_some_of_the_tasks_in_layout_tasks(tmp_path: Path) -> None:
    archive, document = built(competition(tmp_path, tasks_of_dev=["classification"], tasks_of_post=["again"]), "tasks")
    archive.close()
    ids = {"dev": ["classification"], "test": ["classification", "again"], "post": ["again"]}
    assert tasks_by_phase(document, "id") == ids
    data = tasks_by_phase(document, "reference_data")
    assert data["post"] == data["test"][1:]


@pytest.mark.slow
@pytest.mark.usefixtures("forked_python")
def test_a_phase_with_some_of_the_tasks_in_layout_joint(tmp_path: Path) -> None:
    """The others' columns are at their worst, although its data are those of a phase with all tasks."""
    folder = competition(tmp_path, tasks_of_post=["classification"])
    archive, document = built(folder, "joint")
    with archive:
        programs = {
            phase: json.loads(zipfile.ZipFile(io.BytesIO(archive.read(name))).read("program.json"))["tasks"]
            for phase, (name,) in tasks_by_phase(document, "scoring_program").items()
        }
    both = ["classification", "again"]
    assert programs == {"dev": both, "test": both, "post": ["classification"]}
    assert document["milestones"] == [{"name": "Papers due", "date": "2990-02-02 11:59:59"}]
    checked = CliRunner().invoke(root, ["check", str(archive.filename)])
    assert "milestones" not in checked.output, "a key of our own, not a misspelt one"
    arguments = [
        "dry-run",
        str(archive.filename),
        "--engine",
        "process",
        "--trust",
        "--phase",
        "post",
        "--out",
        tmp_path / "out",
    ]
    done = CliRunner().invoke(root, list(map(str, arguments)))
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
    archive, document = built(folder, "separate", "again")
    with archive:
        assert [phase["id"] for phase in document["phases"]] == ["test", "post"]
        assert not [name for name in archive.namelist() if "dev" in name]


@pytest.mark.slow
def test_in_codalabs_format_too_the_data_are_there_once(tmp_path: Path) -> None:
    (bundle,) = build(BuildRequest(str(competition(tmp_path)), tmp_path / "old.zip", platform="codalab"))
    with zipfile.ZipFile(bundle.path) as archive:
        phases = yaml.safe_load(archive.read("competition.yaml"))["phases"]
        assert [phases[n]["reference_data"] for n in (1, 2, 3)] == [
            "reference_data_dev.zip",
            "reference_data_test.zip",
            "reference_data_test.zip",
        ]
        assert len([name for name in archive.namelist() if name.startswith("reference_data")]) == 2


def test_folders_that_would_not_be_used_are_named(tmp_path: Path) -> None:
    folder = competition(tmp_path)
    for name in ("post", "public/post", "baselines/post"):
        (folder / "data" / name).mkdir()
    with pytest.raises(UserError) as caught:
        built(folder, "joint")
    assert [message.partition(": ")[0] for message in caught.value.messages] == [
        str(folder / "data" / name) for name in ("post", "public/post", "baselines/post")
    ]


@pytest.mark.slow
def test_pages_say_which_phase_has_which_tasks(tmp_path: Path) -> None:
    folder = competition(tmp_path, tasks_of_dev=["again"])
    (folder / "pages/overview.md.j2").write_text("# Overview\n\n{{ limits_table() }}\n", encoding="utf-8")
    archive, _ = built(folder, "joint")
    with archive:
        rows = archive.read("pages/overview.md").decode().splitlines()[4:]
    assert [row.rsplit(" | ", 1)[1] for row in rows] == [
        "Classification again |",
        "Classification; Classification again |",
        "Classification; Classification again |",
    ]


@pytest.mark.slow
def test_a_board_that_the_primary_column_cannot_order_is_told(tmp_path: Path) -> None:
    (bundle,) = build(BuildRequest(str(competition(tmp_path, tasks_of_dev=["again"])), tmp_path / "b.zip"))
    assert [note for note in bundle.notes if note.startswith("phases.dev.tasks: without classification")]
