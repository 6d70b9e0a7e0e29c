"""SeeDev and ARE, which have a folder of files for each task: their verbs."""

from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from gen_bundle.ground.resources import resource
from scoring_kit.errors import OrganiserError
from scoring_kit.organiser import Request
from tests.bundles.replayed import columns_of, declared, files_of
from tests.scoring_programs.framed import score, write_files
from tests.scoring_programs.read_secrets import read_secrets

TASK = {"seedev2016": "full", "are2007": "task4"}
SECRET = {"seedev2016": ".a2", "are2007": "-key.xml"}


@pytest.fixture(params=TASK)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def gold(name: str) -> dict[str, bytes]:
    return files_of(resource("bundles") / name / "data" / "dev")


@pytest.fixture
def organiser(name: str) -> Any:
    """The package's verbs."""
    return import_module(f"{name}.organiser")


def request(name: str, folder: Path, **more: Any) -> Request:
    tasks = [task.id for task in declared(name)]
    asked = {"tasks": tasks, "all_tasks": tasks, "layout": "joint", "options": {}, "reference": str(folder), **more}
    return cast("Request", asked)


@pytest.mark.parametrize("layout", ["joint", "separate"])
def test_the_template_is_a_valid_submission_that_finds_nothing(
    tmp_path: Path, name: str, organiser: Any, gold: dict[str, bytes], layout: str
) -> None:
    tasks = [TASK[name]] if layout == "separate" else [task.id for task in declared(name)]
    out = write_files(tmp_path / "out", {})
    reference = write_files(tmp_path / "ref", gold)
    organiser.template(request(name, reference, out=str(out), layout=layout, tasks=tasks))
    outcome = score(tmp_path / "run", name, gold, files_of(out), tasks=tasks, layout=layout)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.details["warnings"] == []
    assert set(outcome.details["tasks"]) == set(tasks)
    assert outcome.scores == {key: 1.0 if key == "full_ser" else 0.0 for key in columns_of(name)}


def test_prepare_copies_what_belongs_to_the_asked_tasks(
    tmp_path: Path, name: str, organiser: Any, gold: dict[str, bytes]
) -> None:
    task, *others = [task.id for task in declared(name)]
    source = write_files(tmp_path / "source", {**gold, f"{task}/README": "about", "notes.txt": "x"})
    out = write_files(tmp_path / "out", {})
    asked = request(name, source, source=str(source), out=str(out), tasks=[task])
    assert organiser.prepare(asked) == {"warnings": []}
    assert files_of(out) == {file: content for file, content in gold.items() if file.startswith(f"{task}/")}
    with pytest.raises(OrganiserError, match=f"{others[-1]}: there is no such folder"):
        organiser.prepare({**asked, "source": str(out), "tasks": others[-1:]})


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_participants_get_everything_but_what_is_secret(name: str, organiser: Any, phase: str) -> None:
    data = resource("bundles") / name / "data"
    secret = read_secrets(data / phase, organiser.secrets(request(name, data / phase))).files
    gold = files_of(data / phase)
    assert secret == sorted(file for file in gold if file.endswith(SECRET[name]))
    assert files_of(data / "public" / phase) == {file: content for file, content in gold.items() if file not in secret}
