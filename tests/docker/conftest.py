"""The engine and the base images, for every test of this folder."""

from collections.abc import Iterator

import pytest

import docker
from tests.engine import BUSYBOX_IMAGE, MODELS_IMAGE, PYTHON_IMAGE, SCORE_IMAGE, require_engine, require_image


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.DockerClient]:
    """The container engine; without one the test is skipped, or fails under CI=true."""
    client = require_engine()
    yield client
    client.close()


@pytest.fixture(scope="session")
def busybox(engine: docker.DockerClient) -> str:
    """A small image with a shell and no Python."""
    return require_image(engine, BUSYBOX_IMAGE)


@pytest.fixture(scope="session")
def python_image(engine: docker.DockerClient) -> str:
    """A small image with Python 3.11 and nothing else."""
    return require_image(engine, PYTHON_IMAGE)


@pytest.fixture(scope="session")
def score_image(engine: docker.DockerClient) -> str:
    """The image of model-free competitions."""
    return require_image(engine, SCORE_IMAGE)


@pytest.fixture(scope="session")
def models_image(engine: docker.DockerClient) -> str:
    """The CPU image of competitions with models, with tiny ones in it."""
    return require_image(engine, MODELS_IMAGE)
