"""Where submissions run: the queue, and the docker image as a name (whether it can be pulled is not tried)."""

import re
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UNPACKER, WORKER, Problem, Topic
from gen_bundle.check.rules.shared import known_key
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.worker import LOCAL_IMAGES

WORKERS = Topic("The queue and the docker image", f"{WORKER} (pull)", reads="both", stage=Stage.QUEUE)
PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
# a first part without dot, port or "localhost" belongs to the path, which is in lower case
HOST = rf"(?:(?:{LABEL}(?:\.{LABEL})+|\[[a-fA-F0-9:]+\])(?::\d+)?|{LABEL}:\d+|localhost)"
DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
REFERENCE = re.compile(
    rf"(?:{HOST}/)?(?P<path>{PART}(?:/{PART})*)(?P<tag>:[\w][\w.-]{{0,127}})?(?P<digest>@{DIGEST})?",
    re.ASCII,
)
NEWEST = "Each run takes the newest image: scores may change from one day to the next."


@WORKERS.refused(
    "queue-unknown",
    "a queue that cannot be assumed to exist",
    "The upload ends with `The specified Queue does not exist!`, with an error that the value is not a UUID, or "
    "with `You do not have access to the specified queue!` "
    f"→ Give the queue's vhost, a UUID, and not its name. {known_key('queue')}",
    source=f"{UNPACKER}/base_unpacker.py (queue)",
)
def _queue_unknown(bundle: Bundle) -> Iterator[Problem]:
    queue = bundle.yaml.get("queue")
    if queue and str(queue) not in bundle.known_keys:
        yield Problem(f"queue is {shown(queue)}", ("queue",))


@WORKERS.broken(
    "docker-image-name",
    "a docker image with an invalid name",
    source=f"{WORKER} (pull); the reference grammar of github.com/distribution/reference",
)
def _docker_image_name(bundle: Bundle) -> Iterator[Problem]:
    """The pull fails for every submission. → Write registry/owner/name:tag in lower case, without https://."""
    image = bundle.competition.image
    if image and not REFERENCE.fullmatch(image):
        yield Problem(f"{shown(image)} is not a valid image name", bundle.competition.image_at)


@WORKERS.trap("docker-image-without-tag", "a docker image without a tag", f"{NEWEST} → Add a tag, or better a digest.")
def _docker_image_without_tag(bundle: Bundle) -> Iterator[Problem]:
    parts = REFERENCE.fullmatch(bundle.competition.image)
    if parts and not parts["digest"] and not parts["tag"]:
        yield Problem(f"{parts.group()} has no tag: `latest` is taken", bundle.competition.image_at)


@WORKERS.note(
    "docker-image-latest",
    "a docker image with the tag latest",
    f"{NEWEST} → Use a tag that does not move, or better a digest.",
)
def _docker_image_latest(bundle: Bundle) -> Iterator[Problem]:
    parts = REFERENCE.fullmatch(bundle.competition.image)
    if parts and not parts["digest"] and parts["tag"] == ":latest":
        yield Problem(f"{parts.group()} has a tag that moves", bundle.competition.image_at)


@WORKERS.trap("docker-image-local", "a docker image of this machine, with a queue")
def _docker_image_local(bundle: Bundle) -> Iterator[Problem]:
    """Only workers that have the image and are set not to pull (`COMPETITION_ALLOW_IMAGE_PULL=False`, since 1.31) can
    use it; on all others every submission fails.
    → Load it on every worker of the queue and set them so, or push it to a registry.
    """
    image = bundle.competition.image
    if bundle.yaml.get("queue") and image.startswith(LOCAL_IMAGES):
        yield Problem(f"{image} is the name of an image of your own machine", bundle.competition.image_at)
