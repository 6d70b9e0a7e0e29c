"""Programs without a model in a container made like the platform's own image: scores equal the process engine's."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import docker
from gen_bundle.cli import root
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from tests.engine import require_platform_image

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("platform_image")]


@pytest.fixture(scope="module")
def platform_image(engine: docker.DockerClient) -> None:
    require_platform_image(engine)


def test_it_starts_as_the_platforms_does(engine: docker.DockerClient) -> None:
    command = ["python3", "-c", "import sklearn, sys; print(sklearn.__version__, open('/proc/1/comm').read())"]
    said = engine.containers.run(PLATFORM_IMAGE, command, remove=True)
    assert said.decode().split() == ["1.5.1", "tini"]


@pytest.mark.parametrize("name", ["are2007", "clarity2026", "process2025", "seedev2016"])
def test_scores_are_those_of_the_process_engine(name: str, tmp_path: Path) -> None:
    run(name, "--out", tmp_path / "bundle.zip")
    boards = []
    for engine in ("process", "docker"):
        run("dry-run", tmp_path / "bundle.zip", "--engine", engine, "--trust", "--out", tmp_path / engine)
        done = json.loads((tmp_path / engine / "dry-run.json").read_text(encoding="utf-8"))
        boards.append({f"{one['phase']} {one['submission']}": one["scores"] for one in done["runs"]})
    here, contained = boards
    assert here.keys() == contained.keys()
    for submission, scores in here.items():
        assert contained[submission] == pytest.approx(scores, abs=1e-9), submission


def run(*arguments: object) -> None:
    done = CliRunner().invoke(root, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
