"""Which engines an image can be built on, as their `docker` commands answer."""

from pathlib import Path

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.image import docker_command
from gen_bundle.image.models import Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import build_image

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_python")]  # a build asks pip for its settings
DOCKERS_OWN, PODMANS_OWN = "Docker version 28.2.2", "podman version 5.4.2"
DOCKER, PODMAN = "Server: Docker Engine", "Server: linux/amd64\n Podman Engine:\n  Version: 5.4.2"
BUILT = "the image could not be built"  # what a build of the made-up command comes to


@pytest.mark.parametrize(
    ("command", "engine", "ends"),
    [
        (DOCKERS_OWN, DOCKER, BUILT),
        (DOCKERS_OWN, PODMAN, "Podman answers, and Docker's own command cannot build through its socket"),
        (PODMANS_OWN, PODMAN, BUILT),
        (DOCKERS_OWN, None, "docker version: Cannot connect to the Docker daemon"),
    ],
)
def test_who_can_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, engine: str | None, ends: str
) -> None:
    answer = f"echo '{engine}'" if engine else "echo 'Cannot connect to the Docker daemon' >&2; exit 1"
    docker = tmp_path / "docker"
    docker.write_text(
        f"#!/bin/sh\ncase $1 in\n--version) echo '{command}' ;;\nversion) {answer} ;;\n*) exit 1 ;;\nesac\n"
    )
    docker.chmod(0o755)
    monkeypatch.setattr(docker_command, "docker_command", lambda: str(docker))
    with pytest.raises(UserError, match=ends):
        build_image(ImageRequest("t", "t", "score", "cpu"), Weights({"models": [], "punkt": None}))
