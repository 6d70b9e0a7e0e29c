from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from gen_bundle.image.models import read_models_file
from tests.fake_hub import FakeHub, serve
from tests.generator.competition import small_competition


def image(*arguments: str | Path) -> Result:
    return CliRunner().invoke(root, ["image", *map(str, arguments)])


def needs_a_model(declaration: dict[str, Any]) -> None:
    declaration["options"] = {"nli": {"model": "org/name", "revision": None}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_competition(tmp_path, needs_a_model)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "models.yaml"
    path.write_text(f"models:\n  org/name: {{}}\npunkt:\n  files:\n    english/x.txt: {'a' * 64}\n")
    return path


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with serve(FakeHub({"org/name": {"config.json": b"{}", "model.safetensors": b"weights"}})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub


@pytest.fixture(autouse=True)
def _no_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is pulled on whatever engine this machine has."""

    def docker(*arguments: str) -> str:
        raise UserError(f"docker {arguments[0]}: no such host")

    monkeypatch.setattr("gen_bundle.image.lock.docker_output", docker)


def test_a_build_with_unlocked_models_is_refused_with_the_command_that_locks_them(folder: Path, manifest: Path) -> None:
    done = image("build", folder, "--manifest", manifest)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "models.org/name: is not locked" in done.stderr
    assert "gen-bundle image lock my-task" in done.stderr


def test_lock_fills_the_manifest_and_says_so(folder: Path, manifest: Path, hub: FakeHub) -> None:
    done = image("lock", folder, "--manifest", manifest)
    assert done.exit_code == 0, done.stderr
    assert f"org/name: locked at {hub.revision}, 2 files" in done.stderr
    assert read_models_file(manifest).models["org/name"].revision == hub.revision
    again = image("lock", folder, "--manifest", manifest)
    assert (again.exit_code, "nothing left to lock" in again.stderr) == (0, True)


def test_models_in_folders_are_said_to_stay_outside(folder: Path, tmp_path: Path, manifest: Path) -> None:
    model = tmp_path / "my-model"
    model.mkdir()
    done = image("lock", folder, "--manifest", manifest, "--set", f"options.nli.model={model}")
    assert done.exit_code == 0
    assert f"note: {model} is a folder on this machine" in done.stderr
    assert "nothing left to lock" in done.stderr


def test_nothing_is_pushed_without_being_told_where(folder: Path) -> None:
    done = image("push", folder)
    assert done.exit_code == 2
    assert "Missing option '--to'" in done.stderr
