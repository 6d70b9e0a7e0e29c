"""Reaching a container engine, what it can do, which image it has, losing it, and reading along."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.types import DeviceRequest
from requests.exceptions import RequestException

import docker
from gen_bundle.codabench.platform_image import PLATFORM_IMAGE
from gen_bundle.twin.engines import EngineError, LineListener
from gen_bundle.twin.engines.watching import shown_line

API_SECONDS = 60
UNIX = "unix://"
DOCKERS_SOCKET = UNIX + "/var/run/docker.sock"
"""Where an engine listens if nobody says otherwise, but on Windows."""
LINES_FOLLOWED = 1000


def connect(seconds: int = API_SECONDS) -> docker.DockerClient:
    """A client of the engine at DOCKER_HOST, or of this machine's own.

    Raises:
        EngineError: None answers.
    """
    socket = os.environ.get("DOCKER_HOST") or (DOCKERS_SOCKET if os.name == "posix" else "")
    # Docker's client would leave open what it cannot connect.
    if socket.startswith(UNIX) and not Path(socket.removeprefix(UNIX)).exists():
        raise EngineError(f"no container engine answers (there is no {socket})")
    client = None
    try:
        client = docker.from_env(timeout=seconds)
        client.ping()
    except (DockerException, RequestException) as error:
        if client is not None:
            client.close()
        raise EngineError(f"no container engine answers ({error})") from error
    return client


@contextmanager
def engine_answers() -> Iterator[None]:
    """Turn the loss of the engine into an EngineError."""
    try:
        yield
    except NotFound as error:
        raise EngineError(f"the container engine lost the container: {error.explanation}") from error
    except APIError as error:
        raise EngineError(f"the container engine refuses: {error.explanation}") from error
    except RequestException as error:
        raise EngineError(f"the container engine does not answer any more: {error}") from error


def follow_lines(running: str, on_line: LineListener) -> None:
    """Hand on the first lines while they are printed, on a connection of their own."""
    followed, rest = 0, b""
    try:
        with closing(connect()) as client:
            # Read to the end also when enough lines were followed: a stream that is left half-way is never closed.
            for chunk in client.api.logs(running, stdout=True, stderr=True, stream=True, follow=True):
                if followed < LINES_FOLLOWED:
                    *lines, rest = (rest + chunk).split(b"\n")
                    followed += len(lines)
                    for line in lines:
                        on_line(shown_line(line))
            if rest and followed < LINES_FOLLOWED:
                on_line(shown_line(rest))
    except (EngineError, DockerException, RequestException):
        return  # the lines are for watching; the logs are fetched at the end


@dataclass(frozen=True)
class Traits:
    """What a dry run must know about the engine.

    Attributes:
        is_podman: Podman, through its Docker socket.
        version: Name and version.
        measures: False where the figures of a container would be those of the whole machine.
    """

    is_podman: bool
    version: str
    measures: bool


def traits(client: docker.DockerClient) -> Traits:
    """Ask the engine."""
    version, info = client.version(), client.info()
    is_podman = any("podman" in str(part.get("Name", "")).lower() for part in version.get("Components") or [])
    # Docker lists it among the security options, Podman 4 under a key of its own.
    is_rootless = bool(info.get("Rootless")) or "rootless" in str(info.get("SecurityOptions"))
    # Only root can make groups of processes by version 1; such an engine's containers are in none.
    no_groups = is_rootless and str(info.get("CgroupVersion")) == "1"
    return Traits(
        is_podman,
        f"{'Podman' if is_podman else 'Docker'} {version.get('Version', '')}",
        measures=not no_groups,
    )


BY_CDI: dict[str, Any] = {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}
BY_RUNTIME: dict[str, Any] = {"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}
_NO_SUCH_GPU = "nvidia.com/gpu=gen-bundle-asks-for-no-such-gpu"


def require_honest_gpus(api: docker.APIClient, traits: Traits, image: str, labels: Mapping[str, str]) -> None:
    """See that the engine looks at GPU requests at all: Podman 4 silently starts the container without a GPU.

    Raises:
        EngineError: It started a container that asked for a GPU that cannot exist.
    """
    if not traits.is_podman:
        return
    request = DeviceRequest(driver="cdi", device_ids=[_NO_SUCH_GPU])
    host_config = api.create_host_config(network_mode="none", device_requests=[request])
    created = api.create_container(image, command=["true"], host_config=host_config, labels=dict(labels))
    try:
        api.start(created)
    except APIError:  # it looked, and found none of that name
        return
    finally:
        api.remove_container(created, v=True, force=True)
    raise EngineError(
        f"{traits.version} ignores requests for GPUs through its Docker socket: use a newer Podman (5.4.2 does serve "
        "them) or Docker, or leave out --gpu"
    )


def find_image(client: docker.DockerClient, image: str, *, pull: bool) -> Mapping[str, Any]:
    """What the engine knows of an image, fetched where it is missing with `pull`, or if it is the platform's own.

    Raises:
        EngineError: It is missing, or cannot be fetched.
    """
    try:
        return client.images.get(image).attrs
    except ImageNotFound:
        if not pull and image != PLATFORM_IMAGE:
            raise EngineError(
                f"Pull for {image} failed! This machine has no such image: build it with 'gen-bundle image build', or "
                "let --pull fetch it; without containers: --engine process"
            ) from None
    try:
        client.images.pull(image)
        return client.images.get(image).attrs
    except APIError as error:
        raise EngineError(f"Pull for {image} failed! {error.explanation}") from error


def image_notes(image: str, found: Mapping[str, Any]) -> list[str]:
    """What the image's owner should know before the platform uses it."""
    notes = []
    entrypoint = (found.get("Config") or {}).get("Entrypoint")
    if entrypoint and image != PLATFORM_IMAGE:  # whose entry point, tini, passes the command on
        notes.append(
            f"the image {image} has the ENTRYPOINT {entrypoint}: the platform keeps it, and the command becomes its "
            "arguments; build the image without"
        )
    if not registry_digests(found):
        notes.append(
            f"the image {image} was never pushed: the platform pulls it before every run, so push it first "
            "(unless the workers of your own queue have it, and are set not to pull)"
        )
    if found.get("Architecture") not in (None, "", "amd64"):
        notes.append(f"the image {image} is for {found['Architecture']}; the platform's workers are amd64")
    return notes


def registry_digests(found: Mapping[str, Any]) -> list[str]:
    """Digests under which registries have the image; Podman gives one in `localhost/` to what it built itself."""
    return [digest for digest in found.get("RepoDigests") or [] if not digest.startswith("localhost/")]


def pinned_name(image: str, found: Mapping[str, Any]) -> str:
    """The image's name by its digest, which means the same on every machine; its id where no registry has it."""
    return next(iter(registry_digests(found)), str(found.get("Id") or image))
