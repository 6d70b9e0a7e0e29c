"""The two ways to ask an engine for a GPU, on engines that hand out a made-up one, and the CUDA variant of the image.

A made-up GPU computes nothing; `gen-bundle image check --gpu` tries the rest on a machine that has one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import docker
from gen_bundle.ground.resources import resource
from gen_bundle.image.docker_command import docker_shown
from gen_bundle.image.models import Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.verbs import gather_context
from tests.engine import BUSYBOX_IMAGE, ROOT, unavailable

pytestmark = pytest.mark.docker

ASK = """
import json, sys, docker
client = docker.from_env()
client.images.load(open(sys.argv[1], "rb").read())
host_config = client.api.create_host_config(device_requests=json.loads(sys.argv[2]))
container = client.api.create_container("local/busybox:latest", command="env", host_config=host_config)
client.api.start(container)
client.api.wait(container)
print(client.api.logs(container).decode())
client.close()
"""
WORKER = [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}]  # compute_worker.py @ c7dbc756
RUNTIME = [{"Driver": "", "Count": -1, "DeviceIDs": [], "Capabilities": [["gpu"]], "Options": {}}]


@pytest.fixture
def busybox_archive(engine: docker.DockerClient, busybox: str, tmp_path: Path) -> Path:
    """The image, for another engine to load."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        unavailable("only root can start an engine of its own, and dockerd must be installed")
    archive = tmp_path / "busybox.tar"
    with archive.open("wb") as out:
        for chunk in engine.images.get(busybox).save(named=BUSYBOX_IMAGE):
            out.write(chunk)
    return archive


def container_environment(
    starter: Path, archive: Path, device_requests: list[dict[str, Any]], **environment: str
) -> dict[str, str]:
    """The environment of a container that asked for devices, on an engine of its own."""
    command = [str(starter), sys.executable, "-c", ASK, str(archive), json.dumps(device_requests)]
    outside = os.environ | {"DOCKER_HOST": "unix:///nowhere/docker.sock"} | environment
    done = subprocess.run(command, capture_output=True, text=True, env=outside)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def test_the_nvidia_runtime_is_asked_for_all_gpus(busybox_archive: Path, tmp_path: Path) -> None:
    hook = tmp_path / "bin" / "nvidia-container-runtime-hook"  # dockerd offers GPUs where it finds this program
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    path = f"{hook.parent}{os.pathsep}{os.environ['PATH']}"
    seen = container_environment(ROOT / "docker" / "with-engine", busybox_archive, RUNTIME, PATH=path)
    assert seen["NVIDIA_VISIBLE_DEVICES"] == "all"


@pytest.mark.slow
@pytest.mark.skipif("TEST_CDI" not in os.environ, reason="downloads an engine of 80 MB; set TEST_CDI=1")
def test_the_workers_own_request_is_served_by_cdi(busybox_archive: Path) -> None:
    seen = container_environment(ROOT / "tests" / "docker" / "cdi-engine", busybox_archive, WORKER)
    assert seen["MADE_UP_GPU"] == "all"


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
