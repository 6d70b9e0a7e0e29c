"""`gen-bundle image` from end to end: build for a competition, check, lock its numbers, push."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import docker
from gen_bundle.image.models import read_models_file
from tests.engine import MANIFEST
from tests.generator.competition import small_competition
from tests.punkt import NLTK_DATA
from tests.registry import serve_registry

pytestmark = [pytest.mark.docker, pytest.mark.image]

NLI = "tiny/roberta-nli"


def image(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from gen_bundle.cli import main; main()", "image", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def tag(engine: docker.DockerClient) -> Iterator[str]:
    name = "gen-bundle-test/my-task:1"
    yield name
    if engine.images.list(name):
        engine.images.remove(name)


def needs_a_model(declaration: dict[str, Any]) -> None:
    declaration["options"] = {"nli": {"model": NLI}}


def test_a_model_free_competition_gets_the_small_image(
    tmp_path: Path, python_image: str, score_image: str, tag: str, engine: docker.DockerClient
) -> None:
    folder = small_competition(tmp_path, lambda declaration: declaration.update(docker_image=tag))
    done = image("build", folder, "--base-image", python_image)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"docker_image: {tag}\n"
    assert engine.images.get(tag).labels["gen-bundle.packages"] == "score"
    checked = image("check", folder, "--json")
    assert checked.returncode == 1
    assert [found["name"] for found in json.loads(checked.stdout) if found["problem"]] == ["registry"]


def test_push_prints_the_line_for_the_declaration(
    tmp_path: Path, busybox: str, tag: str, engine: docker.DockerClient
) -> None:
    """A tiny image stands in for the built one, which would take long to compress."""
    folder = small_competition(tmp_path, lambda declaration: declaration.update(docker_image=tag))
    engine.images.get(busybox).tag(tag)
    with serve_registry() as registry:
        pushed = image("push", folder, "--to", f"{registry.address}/me/my-task:1")
        engine.images.remove(f"{registry.address}/me/my-task:1")
    assert pushed.returncode == 0, pushed.stderr
    assert pushed.stdout.startswith(f"docker_image: {registry.address}/me/my-task@sha256:")


def test_the_numbers_of_a_built_image_become_its_lock(
    tmp_path: Path, python_image: str, models_image: str, tag: str, engine: docker.DockerClient
) -> None:
    """Only the model that the competition names goes in; the large layers are those that are there already."""
    folder = small_competition(tmp_path, needs_a_model)
    manifest = tmp_path / "models.yaml"
    manifest.write_text(MANIFEST.read_text().replace("../fixtures", str(MANIFEST.parents[1] / "fixtures")))
    which: list[str | Path] = [folder, "--tag", tag, "--manifest", manifest]
    options: list[str | Path] = ["--base-image", python_image, "--nltk-data", NLTK_DATA]
    built = image("build", *which, *options)
    assert built.returncode == 0, built.stderr
    assert "numbers are not locked yet" in built.stderr
    assert engine.images.get(tag).labels["gen-bundle.models"].split("@")[0] == NLI
    locked = image("lock", *which, "--numbers")
    assert locked.returncode == 0, locked.stderr
    numbers = {name: model.number for name, model in read_models_file(manifest).models.items()}
    assert {name for name, number in numbers.items() if number is not None} == {NLI}
    again = image("build", *which, *options)
    assert again.returncode == 0, "the self-test compares with the number that was locked"
    assert "numbers are not locked yet" not in again.stderr
    wrong = manifest.read_text().replace(f"number: {numbers[NLI]}", "number: 0.999")
    manifest.write_text(wrong)
    refused = image("build", *which, *options)
    assert refused.returncode == 2
    assert f"{tag}: the image could not be built" in refused.stderr
