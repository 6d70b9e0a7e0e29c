"""The CUDA variant of the image; `gen-bundle image check --gpu` tries the rest on a machine that has a GPU."""

import re
from pathlib import Path

import pytest

import docker
from gen_bundle.ground.resources import resource
from gen_bundle.image.docker_command import docker_shown
from gen_bundle.image.models import Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import gather_context

pytestmark = pytest.mark.docker


def test_the_cuda_variant_takes_its_own_lock_and_tells_the_nvidia_runtime_what_it_needs(
    engine: docker.DockerClient, python_image: str, tmp_path: Path
) -> None:
    """The CUDA branch of the Dockerfile with a lock of one small package, since the real one brings gigabytes."""
    gather_context(tmp_path, ImageRequest("t", "t", "models", "cuda"), Weights({"models": [], "punkt": None}))
    lock = (resource("requirements") / "score.txt").read_text()
    small = re.search(r"^threadpoolctl==.*?\n(?=\S|\Z)", lock, re.MULTILINE | re.DOTALL)
    assert small
    (tmp_path / "requirements.cuda.txt").write_text(small[0])
    arguments = [f"--build-arg=BASE_IMAGE={python_image}", "--build-arg=VARIANT=cuda", "--target=models"]
    assert docker_shown("build", "--network=host", "--tag=local/test:cuda", *arguments, str(tmp_path)) == 0
    try:
        environment = engine.images.get("local/test:cuda").attrs["Config"]["Env"]
        assert {"NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"} <= set(environment)
        listed = engine.containers.run("local/test:cuda", "pip list", remove=True, network_mode="none")
        assert b"threadpoolctl" in listed
    finally:
        engine.images.remove("local/test:cuda", force=True)
