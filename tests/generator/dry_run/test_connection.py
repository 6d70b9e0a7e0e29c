"""What engines tell about themselves, as recorded, and what is refused where an engine would silently not do it."""

from typing import Any

import pytest
from docker.errors import APIError

from gen_bundle.dry_run.engines import EngineError
from gen_bundle.dry_run.engines.docker import DockerEngine, Traits, traits

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
