"""The docker image as a name; whether it can be pulled is not asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen_bundle.check.registry import WORKER, Effect, Problem, rule
from gen_bundle.codabench.fields import shown

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

PART = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
# a first part without dot, port or "localhost" belongs to the path, which is in lower case
HOST = rf"(?:(?:{LABEL}(?:\.{LABEL})+|\[[a-fA-F0-9:]+\])(?::\d+)?|{LABEL}:\d+|localhost)"
DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
REFERENCE = re.compile(
    rf"(?:{HOST}/)?(?P<path>{PART}(?:/{PART})*)(?P<tag>:[\w][\w.-]{{0,127}})?(?P<digest>@{DIGEST})?",
    re.ASCII,
)


@rule(
    "docker-image-name",
    Effect.BROKEN,
    title="a docker image whose name is none",
    consequence="The pull fails for every submission.",
    repair="Write registry/owner/name:tag in lower case, without https:// and without blanks.",
    source=f"{WORKER} (pull); the reference grammar of github.com/distribution/reference",
    reads="both",
)
def _docker_image_name(bundle: Bundle) -> Iterator[Problem]:
    image = bundle.competition.image
    if image and not REFERENCE.fullmatch(image):
        yield Problem(f"{shown(image)} is no image name", bundle.competition.image_at)


NEWEST = "The newest image is taken at each run: scores may change from one day to the next."


@rule(
    "docker-image-without-tag",
    Effect.TRAP,
    title="a docker image without tag",
    consequence=NEWEST,
    repair="Give a tag, or better a digest.",
    source=f"{WORKER} (pull)",
    reads="both",
)
def _docker_image_without_tag(bundle: Bundle) -> Iterator[Problem]:
    image = bundle.competition.image
    parts = REFERENCE.fullmatch(image) if image else None
    if parts and not parts["digest"] and not parts["tag"]:
        yield Problem(f"{image} has no tag: `latest` is taken", bundle.competition.image_at)


@rule(
    "docker-image-latest",
    Effect.NOTE,
    title="a docker image with the tag latest",
    consequence=NEWEST,
    repair="Give a tag that does not move, or better a digest.",
    source=f"{WORKER} (pull)",
    reads="both",
)
def _docker_image_latest(bundle: Bundle) -> Iterator[Problem]:
    image = bundle.competition.image
    parts = REFERENCE.fullmatch(image) if image else None
    if parts and not parts["digest"] and parts["tag"] == ":latest":
        yield Problem(f"{image} names no fixed tag", bundle.competition.image_at)
