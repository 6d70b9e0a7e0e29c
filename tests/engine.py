"""The container engine of the tests: required in CI, elsewhere a test that needs one is skipped with the reason.

`docker/with-engine COMMAND` starts one where none runs.
"""

import functools
import os
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest
from docker.errors import DockerException, ImageNotFound

import docker

ROOT = Path(__file__).resolve().parents[1]
PYTHON_IMAGE = "local/python:3.11"
BUSYBOX_IMAGE = "local/busybox:latest"


def unavailable(reason: str) -> NoReturn:
    """Fail under CI=true, where everything must be there; skip elsewhere."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI needs it: {reason}", pytrace=False)
    pytest.skip(reason)


@functools.cache
def _answers(host: str | None) -> bool:
    try:
        client = docker.from_env(timeout=10)
    except DockerException:
        return False
    try:
        return bool(client.ping())
    except DockerException:
        return False
    finally:
        client.close()


def require_engine() -> docker.DockerClient:
    """A client of the engine at DOCKER_HOST; the caller closes it."""
    if not _answers(os.environ.get("DOCKER_HOST")):
        unavailable("no container engine answers (run the tests through docker/with-engine, or start Docker)")
    return docker.from_env(timeout=120)


def require_image(client: docker.DockerClient, name: str) -> str:
    """The name of an image that the engine has; makes the two base images where they are missing."""
    try:
        client.images.get(name)
    except ImageNotFound:
        if name not in (PYTHON_IMAGE, BUSYBOX_IMAGE):
            unavailable(f"the engine has no image {name}")
        made = subprocess.run([ROOT / "docker" / "base-image"], capture_output=True, text=True)
        if made.returncode:
            unavailable(f"docker/base-image could not make {name}: {made.stderr.strip()}")
    return name
