"""What engines tell about themselves, as recorded, what is refused where one would silently not do it, and the lines
that run containers by hand.
"""

import shlex
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pytest
import requests
from docker.errors import APIError

from gen_bundle.dry_run.engines import Container, EngineError, Mount
from gen_bundle.dry_run.engines.choose import choose_engine
from gen_bundle.dry_run.engines.docker import DockerEngine, Traits, docker_run_line, traits
from gen_bundle.ground.errors import UserError

SECCOMP, ROOTLESS = "name=seccomp,profile=default", "name=rootless"
RECORDED: dict[str, tuple[dict[str, Any], dict[str, Any], Traits]] = {
    "docker": (
        {"Version": "20.10.24+dfsg1", "Components": [{"Name": "Engine"}, {"Name": "containerd"}, {"Name": "runc"}]},
        {"CgroupVersion": "1", "SecurityOptions": [SECCOMP]},
        Traits(False, "Docker 20.10.24+dfsg1", True),
    ),
    "podman": (
        {"Version": "5.4.2", "Components": [{"Name": "Podman Engine"}, {"Name": "Conmon"}]},
        {"CgroupVersion": "1", "Rootless": False, "SecurityOptions": [SECCOMP]},
        Traits(True, "Podman 5.4.2", True),
    ),
    "podman 4 without root, cgroups v1": (
        {"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}, {"Name": "Conmon"}]},
        {"CgroupVersion": "1", "Rootless": True, "SecurityOptions": [SECCOMP]},
        Traits(True, "Podman 4.3.1", False),
    ),
}
# Not recorded, by Docker's documentation: it has no key Rootless.
DOCKER_WITHOUT_ROOT = {"CgroupVersion": "1", "SecurityOptions": [SECCOMP, ROOTLESS]}


class Recorded:
    """An engine that answers as recorded; containers that ask for a GPU start, or are refused."""

    def __init__(self, version: dict[str, Any], info: dict[str, Any], refuses_gpu: bool = False) -> None:
        self._version, self._info, self._refuses_gpu = version, info, refuses_gpu
        self.api = self.images = self
        self.attrs = {"RepoDigests": ["docker.io/me/image@sha256:0"]}
        self.removed: list[str] = []

    def version(self) -> dict[str, Any]:
        return self._version

    def info(self) -> dict[str, Any]:
        return self._info

    def containers(self, **_: Any) -> list[Any]:
        return []

    def get(self, _: str) -> "Recorded":
        return self

    def create_host_config(self, **options: Any) -> dict[str, Any]:
        return options

    def create_container(self, *_: Any, **options: Any) -> str:
        assert options["host_config"]["device_requests"][0]["Driver"] == "cdi"
        return "asking"

    def start(self, _: str) -> None:
        if self._refuses_gpu:
            raise APIError("500", explanation="setting up CDI devices: unresolvable CDI devices")

    def remove_container(self, name: str, **_: Any) -> None:
        self.removed.append(name)


@pytest.mark.parametrize(("version", "info", "expected"), RECORDED.values(), ids=list(RECORDED))
def test_what_is_known_of_an_engine(version: dict[str, Any], info: dict[str, Any], expected: Traits) -> None:
    assert traits(Recorded(version, info)) == expected  # type: ignore[arg-type]


def test_docker_without_root() -> None:
    assert not traits(Recorded(RECORDED["docker"][0], DOCKER_WITHOUT_ROOT)).measures  # type: ignore[arg-type]


@pytest.mark.parametrize(("version", "info", "expected"), RECORDED.values(), ids=list(RECORDED))
@pytest.mark.parametrize("refuses", [True, False])
def test_an_engine_that_ignores_gpu_requests_is_found_out(
    version: dict[str, Any], info: dict[str, Any], expected: Traits, refuses: bool
) -> None:
    recorded = Recorded(version, info, refuses_gpu=refuses)
    engine = DockerEngine(recorded, "run", gpu=True)  # type: ignore[arg-type]
    if expected.is_podman and not refuses:
        with pytest.raises(EngineError, match=f"{expected.version} ignores requests for GPUs"):
            engine.prepare("image")
    else:
        assert engine.prepare("image") == []
    assert recorded.removed == (["asking"] if expected.is_podman else [])


class GoneClient:
    """A client of an engine that answers its first call alone."""

    api = None

    def __init__(self) -> None:
        self.closed = False

    def version(self) -> None:
        raise requests.exceptions.ConnectionError("gone")

    def close(self) -> None:
        self.closed = True


def test_an_engine_that_goes_at_once_keeps_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    clients: list[GoneClient] = []

    def connect(_: int) -> GoneClient:
        clients.append(GoneClient())
        return clients[-1]

    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.docker"), "connect", connect)
    lines: list[str] = []
    assert choose_engine(None, lines.append).name == "process"
    assert "no container engine answers" in lines[0]
    with pytest.raises(UserError, match="does not answer any more: gone"):
        choose_engine("docker", lines.append)
    assert [client.closed for client in clients] == [True] * 4


@pytest.mark.parametrize(
    ("source", "mode", "option"),
    [
        ("/out/team one", "rw", "--volume=/out/team one:/app/input:rw"),
        ("/out/team:1", "rw", "--mount=type=bind,source=/out/team:1,target=/app/input"),
        ("/out/team:1", "ro", "--mount=type=bind,source=/out/team:1,target=/app/input,readonly"),
    ],
)
def test_a_folder_is_named_so_that_docker_understands_it(source: str, mode: Literal["rw", "ro"], option: str) -> None:
    mounts = (Mount(Path("/out/program"), "/app/program", "z"), Mount(Path(source), "/app/input", mode))
    container = Container("program", "image", ("python3", "score.py"), mounts, {"SCORING_DEBUG": "1"})
    line = docker_run_line(container, gpu=False, network=False)
    assert "--env=SCORING_DEBUG=1" in shlex.split(line)
    assert shlex.split(line)[-4:] == [option, "image", "python3", "score.py"]
