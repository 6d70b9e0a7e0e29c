"""The container engine: the worker's own request, sent to Docker or to Podman's Docker socket.

What is asked is what the worker of Codabench 1.25 (`compute_worker/compute_worker.py`) asks in
`Run._run_program_directory`; what differs is listed in research/platform.md.
"""

import itertools
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.types import DeviceRequest, LogConfig
from requests.exceptions import RequestException

import docker
from docker import DockerClient
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.dry_run.engines import Container, Ended, EngineError, LineListener, model_mounts
from gen_bundle.dry_run.engines.watching import Meter, shown_line
from gen_bundle.dry_run.layout import LABEL, OWNER_LABEL, is_abandoned, open_to_containers, our_user, owner_text

API_SECONDS = 60
UNIX = "unix://"
DOCKERS_SOCKET = UNIX + "/var/run/docker.sock"
"""Where an engine listens if nobody says otherwise, but on Windows."""
LINES_FOLLOWED = 1000


def connect(seconds: int = API_SECONDS) -> docker.DockerClient:
    """Return a client of the engine at DOCKER_HOST, or of this machine's own.

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
    """Facts about the engine that a dry run must know.

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
    """Return what the engine knows of an image; a missing one is fetched with `pull`, or if it is the platform's own.

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
    """Return what the image's owner should know before the platform uses it."""
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
    """Return the image's name by its digest, which means the same on every machine; its id where no registry has it."""
    return next(iter(registry_digests(found)), str(found.get("Id") or image))


# compute_worker.py, cap_drop_list: all that Docker gives by default.
DROPPED_CAPABILITIES = (
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
)
ENVIRONMENT = ("PYTHONUNBUFFERED=1", "http_proxy=", "https_proxy=")
# The worker lets logs grow without bounds; here the engine keeps the last of them.
LOG_BOUNDS = {"max-size": "32m", "max-file": "2"}
PODMAN_LOG_BOUNDS = {"max-size": "64m"}  # it knows one file, and begins it anew
POLL_SECONDS = 0.1
NO_NETWORK = (
    "the ingestion program, and the code that it runs, were without a network; the platform's workers leave it on "
    "unless their operators turn it off (--network)"
)


class DockerEngine:
    """Runs each program in a fresh container, labelled so that nothing can be left behind.

    Args:
        client: docker-py's client.
        run_id: Different for each dry run; two at once do not see each other's containers.
        gpu: Ask for all GPUs.
        network: Leave the network on, as hosted workers do.
        pull: Fetch an image that the engine does not have.
    """

    name = "docker"

    def __init__(
        self,
        client: DockerClient,
        run_id: str,
        *,
        gpu: bool = False,
        network: bool = False,
        pull: bool = False,
    ) -> None:
        self._client = client
        self._api = client.api
        self._run_id = run_id
        self._gpu = gpu
        self._network = network
        self._pull = pull
        self._count = itertools.count(1)
        self._labels = {LABEL: run_id, OWNER_LABEL: owner_text()}
        with engine_answers():
            self._traits = traits(client)
            self._remove(lambda labels: is_abandoned(labels.get(OWNER_LABEL, "")))

    @property
    def version(self) -> str:
        return self._traits.version

    def prepare(self, image: str) -> list[str]:
        with engine_answers():
            found = find_image(self._client, image, pull=self._pull)
            if self._gpu:
                require_honest_gpus(self._api, self._traits, image, self._labels)
        return image_notes(image, found)

    def pinned(self, image: str) -> str:
        """Return the image by its digest.

        Raises:
            EngineError: The engine does not have it.
        """
        with engine_answers():
            return pinned_name(image, find_image(self._client, image, pull=self._pull))

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        stdout.touch()
        stderr.touch()
        for mount in container.mounts:
            open_to_containers(mount.source)
        models = model_mounts(container)
        modes = {"ro": "read-only", "rw": "writable"}
        notes = tuple(f"{m.source} is mounted {modes[m.mode]}; on the platform it does not exist" for m in models)
        if container.kind == "ingestion" and not self._network:
            notes = (*notes, NO_NETWORK)
        binds = {
            str(mount.source): {"bind": mount.target, "mode": mount.mode} for mount in (*container.mounts, *models)
        }
        with engine_answers():
            try:
                began = time.monotonic()
                started = self._start(container, binds)
                if isinstance(started, Ended):
                    return started
                return self._follow(started, began, seconds, stdout, stderr, on_line, notes)
            finally:
                self._remove(lambda labels: labels.get(LABEL) == self._run_id)
                self._give_back(container)

    def close(self) -> None:
        """Remove what is left of this dry run, also when the engine has gone meanwhile."""
        try:
            self._remove(lambda labels: labels.get(LABEL) == self._run_id)
        except (DockerException, RequestException):
            return
        finally:
            self._client.close()

    def _start(self, container: Container, binds: Mapping[str, dict[str, str]]) -> str | Ended:
        """The id of the running container, or how it ended at once."""
        # The worker's own request is by CDI; engines without it know the older form, of which Podman gives nothing.
        requests: list[dict[str, Any] | None] = [None]
        if self._gpu:
            requests = [BY_CDI] if self._traits.is_podman else [BY_CDI, BY_RUNTIME]
        refusals = []
        for request in requests:
            try:
                created = self._create(container, binds, request)
                self._api.start(created)
            except APIError as error:
                text = str(error.explanation)
                if ended := _command_failed(container.argv[0], text):
                    return ended
                refusals.append(text)
                continue
            return created
        if not self._gpu:
            raise EngineError(f"the engine does not run the container: {refusals[0]}")
        how = " by CDI" if self._traits.is_podman else ", neither by CDI nor by its NVIDIA runtime"
        raise EngineError(
            f"the engine gives no GPU{how}; install the NVIDIA container toolkit, or leave out --gpu. It says: "
            f"{' / '.join(refusals)}"
        )

    def _create(self, container: Container, binds: Mapping[str, dict[str, str]], gpu: dict[str, Any] | None) -> str:
        """The worker's create call; labels, bounds of the log and the network are ours."""
        options: dict[str, Any] = {
            "auto_remove": False,
            "cap_drop": list(DROPPED_CAPABILITIES),
            "binds": dict(binds),
            "userns_mode": "host",
            "log_config": LogConfig(type=LogConfig.types.JSON, config=LOG_BOUNDS),
            "security_opt": ["no-new-privileges"],
        }
        if self._traits.is_podman:
            options["log_config"] = LogConfig(type=LogConfig.types.JSON, config=PODMAN_LOG_BOUNDS)
            options["security_opt"] = ["label=disable"]
        if gpu is not None:
            options["device_requests"] = [gpu]
        if not self._network:
            options["network_mode"] = "none"
        created = self._api.create_container(
            container.image,
            command=list(container.argv),
            name=f"gen-bundle-{self._run_id}-{container.kind}-{next(self._count)}",
            host_config=self._api.create_host_config(**options),
            working_dir="/app/program",
            environment=[*ENVIRONMENT, *(f"{name}={value}" for name, value in container.environment.items())],
            network_disabled=not self._network,
            labels=self._labels,
        )
        return str(created["Id"])

    def _follow(
        self,
        running: str,
        began: float,
        seconds: float,
        stdout: Path,
        stderr: Path,
        on_line: LineListener,
        notes: tuple[str, ...],
    ) -> Ended:
        """Wait for the end or the time limit; then fetch the logs."""
        timed_out = False
        reader = threading.Thread(target=follow_lines, args=(running, on_line), name=f"lines of {running}", daemon=True)
        reader.start()
        meter = Meter(connect, running, gpu=self._gpu)
        if self._traits.measures:
            meter.start()
        while (state := self._api.inspect_container(running)["State"])["Running"]:
            timed_out = time.monotonic() - began > seconds
            if timed_out:
                self._kill(running)
                break
            time.sleep(POLL_SECONDS)
        spent = time.monotonic() - began
        meter.stop()
        reader.join(timeout=API_SECONDS)
        # By the logs call: what the worker uses, attaching after the end, comes back empty now and then.
        stdout.write_bytes(self._api.logs(running, stdout=True, stderr=False))
        stderr.write_bytes(self._api.logs(running, stdout=False, stderr=True))
        if timed_out:
            return Ended(None, spent, timed_out, usage=meter.peak, notes=notes)
        problem = "killed for memory" if state.get("OOMKilled") else ""
        return Ended(int(state["ExitCode"]), spent, problem=problem, usage=meter.peak, notes=notes)

    def _kill(self, running: str) -> None:
        try:
            self._api.kill(running)
        except APIError:  # it ended by itself in between
            return
        finally:
            self._api.wait(running)

    def _remove(self, wanted: Callable[[Mapping[str, str]], bool]) -> None:
        for found in self._api.containers(all=True, filters={"label": LABEL}):
            if wanted(found.get("Labels") or {}):
                try:
                    self._api.remove_container(found["Id"], v=True, force=True)
                except APIError:  # another dry run's sweep was faster
                    continue

    def _give_back(self, container: Container) -> None:
        """Let us read and delete what a container's root wrote, where we are not root ourselves."""
        if our_user() in (None, 0):
            return
        binds: dict[str, Mapping[str, str]] = {}
        targets = []
        for mount in container.mounts:
            binds[str(mount.source)] = {"bind": mount.target, "mode": "rw"}
            targets.append(mount.target)
        try:
            chmod = self._api.create_container(
                container.image,
                command=["-R", "a+rwX", *targets],
                entrypoint=["chmod"],
                user="0",
                host_config=self._api.create_host_config(binds=binds, network_mode="none"),
                labels=self._labels,
            )
            self._api.start(chmod)
            self._api.wait(chmod)
        except APIError:  # no chmod in this image: then there is no program that could have written
            return
        self._remove(lambda labels: labels.get(LABEL) == self._run_id)


def _command_failed(program: str, explanation: str) -> Ended | None:
    """How it ended where the runtime found no such program in the image, or may not run it; None for anything else."""
    if program not in explanation:
        return None
    if any(text in explanation.lower() for text in ("not found", "no such file or directory")):
        return Ended(127, 0.0, problem=f"{program!r}: the image has no such program ({explanation})")
    if "permission denied" in explanation.lower():
        return Ended(126, 0.0, problem=f"{program!r} cannot be run: {explanation}")
    return None


def docker_run_line(container: Container, *, gpu: bool, network: bool) -> str:
    """Return the line that runs the same container, quoted for a shell; its folders must exist."""
    parts = ["docker", "run", "--rm", "--workdir=/app/program"]
    parts += [f"--env={variable}" for variable in ENVIRONMENT]
    parts += [f"--env={name}={value}" for name, value in container.environment.items()]
    parts += [f"--cap-drop={capability}" for capability in DROPPED_CAPABILITIES]
    parts += ["--security-opt=no-new-privileges", "--userns=host"]
    if not network:
        parts.append("--network=none")
    if gpu:
        parts.append("--gpus=all")
    for mount in (*container.mounts, *model_mounts(container)):
        if ":" not in str(mount.source):
            parts.append(f"--volume={mount.source}:{mount.target}:{mount.mode}")
        else:
            access = ",readonly" if mount.mode == "ro" else ""
            parts.append(f"--mount=type=bind,source={mount.source},target={mount.target}{access}")
    return shlex.join([*parts, container.image, *container.argv])
