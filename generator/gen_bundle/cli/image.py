"""gen-bundle image lock|build|check|push NAME: the image that a competition is scored in."""

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gen_bundle.cli.messages import print_json, say, spinner
from gen_bundle.cli.options import PATH, json_option, overrides_option
from gen_bundle.ground.resources import resource

if TYPE_CHECKING:
    from gen_bundle.image.request import ImageRequest

EPILOG = """\b
Examples:
  gen-bundle image lock clpsych2025
  gen-bundle image build clpsych2025
  gen-bundle image check clpsych2025
  gen-bundle image push clpsych2025 --to docker.io/me/clpsych2025:1

\b
Exit status: 0 fine, 1 findings, 2 wrong use, or the build or push failed.
"""


@click.group(epilog=EPILOG)
def command() -> None:
    """Lock, build, check and push the scoring image of a competition.

    The image holds the Python packages and the models that the competition's options name; a competition without models
    gets a small one. It holds no scoring program: that travels in the bundle.
    """


def _of_image(function: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and options that every verb has, and call it with the `request` that they lead to."""

    @click.argument("name", metavar="NAME_OR_DIR")
    @overrides_option
    @click.option(
        "--variant", type=click.Choice(["cpu", "cuda"]), help="[default: cuda where the option device is cuda]"
    )
    @click.option(
        "--tag", help="Name and tag of the local image. [default: docker_image of bundle.yaml, else gen-bundle/NAME]"
    )
    @wraps(function)
    def of_image(
        name: str, overrides: tuple[str, ...], variant: Literal["cpu", "cuda"] | None, tag: str | None, **asked: Any
    ) -> None:
        from gen_bundle.build.package.resolve import find_competition, resolve
        from gen_bundle.image.request import request_for

        request = request_for(resolve(find_competition(name), overrides=overrides), tag, variant)
        for folder in request.folders:
            say(f"note: {folder} is a folder on this machine; programs read it there, it is not baked in.", "yellow")
        function(request=request, **asked)

    return of_image


_which_manifest = click.option(
    "--manifest",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=lambda _context, _option, given: given or resource("docker") / "models.yaml",
    help="The models that images can carry. [default: docker/models.yaml of this installation]",
)


@command.command()
@_of_image
@_which_manifest
@click.option("--numbers", is_flag=True, help="Store what the built image's self-test computes, as its future lock.")
def lock(request: "ImageRequest", manifest: Path, numbers: bool) -> None:
    """Fill in the digests of the competition's models, from the hub, of the base image, and of its `requirements`.

    Digests that the manifest expects are compared; where the hub has another one, nothing is locked.
    """
    from gen_bundle.image import lock as locking

    if not numbers:
        locking.lock_requirements(request, say)
    if request.platform:
        return
    change = locking.lock_numbers if numbers else locking.lock
    changed = change(request, manifest, say)
    outcome = "changed; look at it and keep it with the declaration" if changed else "nothing left to lock"
    say(f"{manifest}: {outcome}")


@command.command()
@_of_image
@_which_manifest
@click.option("--base-image", help="Image with Python 3.11 to start from. [default: base_image of the manifest]")
@click.option(
    "--nltk-data",
    envvar="NLTK_DATA",
    type=PATH,
    help="Folder to take the sentence splitter's data from, instead of a download. [env: NLTK_DATA]",
)
def build(request: "ImageRequest", manifest: Path, base_image: str | None, nltk_data: Path | None) -> None:
    """Build the image on this machine's container engine; the last step is its self-test."""
    from gen_bundle.image.docker_command import inspect_image
    from gen_bundle.image.models import read_models_file, settle_weights
    from gen_bundle.image.verbs import build_image

    known = read_models_file(manifest)
    weights = settle_weights(request, known, manifest, nltk_data)
    start = base_image or known.base_image.reference
    build_image(request, weights, start)
    size = inspect_image(request.tag)["Size"] / 1e9
    say(f"{request.tag}: {size:.2f} GB, models: {', '.join(weights.models) or 'none'}", "green")
    if any(model["number"] is None for model in weights.manifest["models"]):
        say(f"the models' numbers are not locked yet: gen-bundle image lock {request.name} --numbers")
    if "@" not in start:
        say(f"it starts from {start}, which is not pinned by its digest: gen-bundle image lock {request.name}")
    say("bundle.yaml's line for this image, good for dry runs; the platform needs a pushed one:")
    click.echo(f"docker_image: {request.tag}")


@command.command()
@_of_image
@click.option("--worker-disk", type=float, help="Disk space for the image on the workers, in GB. [default: 15]")
@click.option("--gpu", is_flag=True, help="The self-test must see a GPU, and runs the models on it.")
@json_option("Print the findings as JSON.")
def check(request: "ImageRequest", worker_disk: float | None, gpu: bool, as_json: bool) -> None:
    """List what would keep the image from working on Codabench's workers."""
    from gen_bundle.image.verbs import WORKER_DISK_GB, check_image

    with spinner("running the image's self-test"):
        observations = check_image(request, worker_disk or WORKER_DISK_GB, gpu)
    for one in observations:
        if one.problem:
            say(f"PROBLEM  {one.name}: {one.text}", "red")
        else:
            say(f"ok       {one.name}: {one.text}")
    if as_json:
        print_json([asdict(one) for one in observations])
    if any(observation.problem for observation in observations):
        raise SystemExit(1)


@command.command()
@_of_image
@click.option("--to", "target", required=True, metavar="REGISTRY/NAME:TAG", help="Where to push; nothing is assumed.")
def push(request: "ImageRequest", target: str) -> None:
    """Push the image, and print the line for bundle.yaml that names exactly this image."""
    from gen_bundle.image.verbs import push_image

    name = push_image(request.tag, target)
    say("set in bundle.yaml, or with --set:")
    click.echo(f"docker_image: {name}")
