"""The image of a dry run, as the engine has it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gen_bundle.codabench.platform_image import PLATFORM_IMAGE
from gen_bundle.twin.engines import EngineError

if TYPE_CHECKING:
    from docker import DockerClient


def find_image(client: "DockerClient", image: str, *, pull: bool) -> Mapping[str, Any]:
    """What the engine knows of an image, fetched where it is missing with `pull`, or if it is the platform's own.

    Raises:
        EngineError: It is missing, or cannot be fetched.
    """
    from docker.errors import APIError, ImageNotFound

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
