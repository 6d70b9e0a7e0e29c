"""A container request as a plain `docker run` line, to be tried by hand."""

import shlex
from collections.abc import Callable

from gen_bundle.twin.engines import Container, Mount
from gen_bundle.twin.engines.docker import DROPPED_CAPABILITIES, ENVIRONMENT
from gen_bundle.twin.engines.models import model_mounts
from gen_bundle.twin.engines.strict import StrictLimits


def line_writer(*, gpu: bool, network: bool, strict: bool) -> Callable[[Container], str]:
    """Writes containers as lines, with the options of this dry run."""
    limits = StrictLimits() if strict else None
    return lambda container: docker_run_line(container, gpu=gpu, network=network, strict=limits)


def docker_run_line(container: Container, *, gpu: bool, network: bool, strict: StrictLimits | None) -> str:
    """The line that runs the same container, quoted for a shell; its folders must exist."""
    parts = ["docker", "run", "--rm", "--workdir=/app/program"]
    parts += [f"--env={variable}" for variable in ENVIRONMENT]
    parts += [f"--env={name}={value}" for name, value in container.environment.items()]
    parts += [f"--cap-drop={capability}" for capability in DROPPED_CAPABILITIES]
    parts += ["--security-opt=no-new-privileges", "--userns=host"]
    parts += [] if network else ["--network=none"]
    parts += ["--gpus=all"] if gpu else []
    parts += strict.run_options() if strict else []
    for mount in (*container.mounts, *model_mounts(container)):
        parts.append(_mount_option(mount))
    return shlex.join([*parts, container.image, *container.argv])


def _mount_option(mount: Mount) -> str:
    if ":" not in str(mount.source):
        return f"--volume={mount.source}:{mount.target}:{mount.mode}"
    return f"--mount=type=bind,source={mount.source},target={mount.target}{',readonly' if mount.mode == 'ro' else ''}"
