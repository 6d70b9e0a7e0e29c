"""The engines that the tests of this folder run on."""

from collections.abc import Iterator

import pytest

from gen_bundle.dry_run.engines import Engine
from gen_bundle.dry_run.engines.choose import choose_engine
from tests.engine import PYTHON_IMAGE, require_engine, require_image
from tests.generator.dry_run.hasty import HastyEngine
from tests.generator.dry_run.in_process import InProcessEngine


@pytest.fixture(scope="session")
def container_engine() -> None:
    """An engine that answers and has the base image; without one the test is skipped, or fails under CI=true."""
    client = require_engine()
    try:
        require_image(client, PYTHON_IMAGE)
    finally:
        client.close()


@pytest.fixture(params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn; a test that asks for `in-process` gets the one of our own programs alone."""
    if request.param == "in-process":
        yield InProcessEngine()
    elif request.param == "process":
        yield HastyEngine()
    else:
        request.getfixturevalue("container_engine")
        chosen = choose_engine(request.param, lambda _: None)
        yield chosen
        chosen.close()
