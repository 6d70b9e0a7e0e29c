"""Pushes an image to a registry, and finds the name by which the platform can pull exactly that image."""

from gen_bundle.errors import UserError
from gen_bundle.image.docker_command import docker_output, docker_shown, inspect_image

MAX_NAME = 128  # Codabench's field docker_image (1.25)


def push_image(tag: str, target: str) -> str:
    """Push `tag` as `target` (REGISTRY/NAME:TAG).

    Returns:
        The value for `docker_image`: the name with the digest where it fits into Codabench's 128 characters, else
        `target`, whose tag should then never move.

    Raises:
        UserError: the name has no tag, or the push failed; its own output, shown before, says why.
    """
    name, colon, version = target.rpartition(":")
    if not colon or "/" in version:
        raise UserError(f"--to {target}: has no tag. Expected REGISTRY/NAME:TAG, with a tag that will not move.")
    if len(target) > MAX_NAME:
        raise UserError(f"--to {target}: is longer than the {MAX_NAME} characters that Codabench allows.")
    docker_output("tag", tag, target)
    if docker_shown("push", target):
        raise UserError(f"{target}: could not be pushed; the lines above say why. Log in with: docker login")
    digests = inspect_image(target).get("RepoDigests") or []
    short = name.removeprefix("docker.io/").removeprefix("library/")  # as Docker writes names of its own hub
    digest = next((digest.rpartition("@")[2] for digest in digests if digest.rpartition("@")[0] in (name, short)), None)
    exact = f"{name}@{digest}" if digest else target
    return exact if len(exact) <= MAX_NAME else target
