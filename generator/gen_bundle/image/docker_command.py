"""Calls the `docker` command: the one that can run BuildKit builds, where the machine has several."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from gen_bundle.ground.errors import UserError

_BUILDKIT = {"DOCKER_BUILDKIT": "1"}


def docker_output(*arguments: str) -> str:
    """Return what `docker ARGUMENTS` prints; a UserError with the command's own message where it fails."""
    done = subprocess.run([docker_command(), *arguments], capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip() or "failed without a message."
        raise UserError(f"docker {' '.join(arguments[:2])}: {said.splitlines()[-1]}")
    return done.stdout


def docker_shown(*arguments: str) -> int:
    """Run `docker ARGUMENTS` with its progress shown on stderr; returns its exit status."""
    return subprocess.run([docker_command(), *arguments], stdout=sys.stderr, env=os.environ | _BUILDKIT).returncode


def require_builder() -> None:
    """See that an engine answers and that the `docker` command can build on it.

    Raises:
        UserError: none answers, or it is Podman behind Docker's own command, which has no BuildKit there.
    """
    if "podman" not in docker_output("--version").lower() and "podman" in docker_output("version").lower():
        raise UserError(
            "Podman answers, and Docker's own command cannot build through its socket. Install podman-docker, whose "
            "docker is Podman itself, or start Docker (docs/image.md)."
        )


def inspect_image(tag: str) -> dict[str, Any]:
    """Return what the engine knows about an image; a UserError where it has none, or no engine answers."""
    image: dict[str, Any] = json.loads(docker_output("image", "inspect", tag))[0]
    return image


@functools.cache
def docker_command() -> str:
    """Return the first docker on PATH, or beside dockerd, whose `build` knows `--secret`; any docker otherwise."""
    places = [shutil.which("docker"), "/usr/bin/docker"]
    if daemon := shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"):
        places.append(str(Path(daemon).with_name("docker")))
    candidates = [place for place in places if place is not None and os.access(place, os.X_OK)]
    if not candidates:
        raise UserError("docker: command not found. Expected Docker to be installed (docs/image.md).")
    for candidate in candidates:
        asked = [candidate, "build", "--help"]
        helped = subprocess.run(asked, capture_output=True, text=True, env=os.environ | _BUILDKIT)
        if "--secret" in helped.stdout:
            return candidate
    return candidates[0]
