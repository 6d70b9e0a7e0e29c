"""The container engine of the tests: required in CI, elsewhere a test that needs one is skipped with the reason.

`docker/with-engine COMMAND` starts one where none runs.
"""

import functools
import gc
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import NoReturn

import pytest
from docker.errors import DockerException, ImageNotFound

import docker
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.ground.errors import UserError
from gen_bundle.image.docker_command import docker_shown
from gen_bundle.image.models import read_models_file, settle_weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import build_image, pip_settings
from tests.punkt import NLTK_DATA

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "tests" / "docker" / "models.yaml"

PYTHON_IMAGE = "local/python:3.11"  # Python and nothing else
BUSYBOX_IMAGE = "local/busybox:latest"  # a shell and no Python
SCORE_IMAGE = "local/scoring:score"  # what model-free programs run in
MODELS_IMAGE = "local/scoring:cpu"  # with torch, and the tiny models of tests/docker/models.yaml


def unavailable(reason: str) -> NoReturn:
    """Fail under CI=true, where everything must be there; skip elsewhere."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI needs it: {reason}", pytrace=False)
    pytest.skip(reason)


@functools.cache
def _answers(host: str | None) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client leaves a socket open where it cannot connect
        answers = _ping()
        gc.collect()
    return answers


def _ping() -> bool:
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
    """The name of one of the images above, made where the engine lacks it (the largest takes about a minute)."""
    try:
        client.images.get(name)
    except ImageNotFound:
        if name in (PYTHON_IMAGE, BUSYBOX_IMAGE):
            made = subprocess.run([ROOT / "docker" / "base-image"], capture_output=True, text=True)
            if made.returncode:
                unavailable(f"docker/base-image could not make {name}: {made.stderr.strip()}")
        else:
            require_image(client, PYTHON_IMAGE)
            _build(image_request(name))
    return name


def image_request(name: str) -> ImageRequest:
    """The request that builds `SCORE_IMAGE` or `MODELS_IMAGE`."""
    if name == SCORE_IMAGE:
        return ImageRequest("tests", name, "score", "cpu")
    return ImageRequest("tests", name, "models", "cpu", dict.fromkeys(read_models_file(MANIFEST).models))


def _build(request: ImageRequest) -> None:
    try:
        weights = settle_weights(request, read_models_file(MANIFEST), MANIFEST, NLTK_DATA)
        build_image(request, weights, PYTHON_IMAGE)
    except UserError as error:
        unavailable(f"{request.tag} could not be built: {error}")


def require_platform_image(client: docker.DockerClient) -> None:
    """Give the name of the platform's own image, which is in a registry that is not asked, to a stand-in."""
    require_image(client, PYTHON_IMAGE)
    tini = shutil.which("tini") or shutil.which("docker-init")  # the same program; Docker brings it
    if tini is None:
        unavailable("no tini here: apt-get install tini")
    with tempfile.TemporaryDirectory() as folder, pip_settings(Path(folder)) as settings:
        context = Path(folder) / "context"
        context.mkdir()
        shutil.copy(tini, context / "tini")
        shutil.copy(ROOT / "requirements" / "platform.txt", context)
        shutil.copy(ROOT / "tests" / "docker" / "platform_image.Dockerfile", context / "Dockerfile")
        secret = [] if settings is None else [f"--secret=id=pip_conf,src={settings}"]
        assert docker_shown("build", "--network=host", f"--tag={PLATFORM_IMAGE}", *secret, str(context)) == 0
