import os
import shutil
import subprocess
from pathlib import Path

import pytest

import docker
from tests.engine import ROOT, unavailable

WITH_ENGINE = ROOT / "docker" / "with-engine"
SCRIPTS = sorted(
    path
    for folder in ("docker", "requirements")
    for path in (ROOT / folder).iterdir()
    if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env bash")
)


def with_engine(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([WITH_ENGINE, *command], capture_output=True, text=True, env=os.environ | environment)


def test_the_scripts_are_found() -> None:
    names = ["base-image", "lock.sh", "with-engine", "install-torch", "lock.sh"]
    assert [script.name for script in SCRIPTS] == names


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}/{script.name}")
def test_scripts_are_strict_and_pass_shellcheck(script: Path) -> None:
    assert "\nset -euo pipefail\n" in script.read_text()
    assert subprocess.run(["bash", "-n", script]).returncode == 0
    if shutil.which("shellcheck") is None:
        pytest.skip("no shellcheck here: apt-get install shellcheck")
    assert subprocess.run(["shellcheck", script], capture_output=True, text=True).stdout == ""


def test_without_a_command_it_says_how_to_use_it() -> None:
    done = with_engine()
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: docker/with-engine COMMAND" in done.stderr


@pytest.mark.docker
def test_a_running_engine_is_used_and_left_running(engine: docker.DockerClient) -> None:
    done = with_engine("sh", "-c", "docker info --format '{{.ID}}'; exit 7")
    assert done.returncode == 7
    assert done.stdout.strip() == engine.info()["ID"]
    assert engine.ping()


@pytest.mark.docker
def test_an_engine_of_its_own_is_gone_afterwards_with_all_it_ran(engine: docker.DockerClient, busybox: str) -> None:
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        unavailable("only root can start an engine, and dockerd must be installed")
    other = "unix:///nowhere/docker.sock"
    command = "echo $DOCKER_HOST; docker info --format '{{.Images}} {{.Driver}}'; ls ${DOCKER_HOST#unix://}"
    done = with_engine("sh", "-c", command, DOCKER_HOST=other, DOCKER_CONTEXT="default")
    assert done.returncode == 0, done.stderr
    host, told, socket = done.stdout.splitlines()
    assert engine.images.get(busybox)
    assert told == "0 overlay2"
    state = Path(socket).parent
    assert host == f"unix://{state}/docker.sock"
    assert not state.exists()
    assert str(state) not in Path("/proc/mounts").read_text()
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(state).encode() in _read(p)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
