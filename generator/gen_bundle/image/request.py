"""Which image a competition needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal

from gen_bundle.build.package.libraries import (
    METRICS,
    OWN_LOCK,
    locks_for,
    missing,
    model_groups,
    own_lock,
    versions,
)
from gen_bundle.build.package.resolve import Resolved
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import Lock, lock_text, packages_text

PYTHON = "3.11"
"""Of the scoring image."""


Variant = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class ImageRequest:
    """A request: all that goes into an image.

    Attributes:
        name: the competition.
        tag: name and tag that the image gets.
        packages: `score` (numpy, SciPy, scikit-learn) or `models` (those, torch and transformers).
        variant: which torch; without meaning where there is none.
        models: hub name → the revision that the competition asks for, None for the locked one.
        folders: models that the competition names by a folder; they are read from there, not baked in.
        metrics: whether it also holds the libraries of declared metrics.
        requirements: packages of the competition's own, NAME==VERSION.
        lock_file: where these are locked, beside bundle.yaml.
        platform: whether these are to travel in programs that run in the platform's own image, so that none is built.
    """

    name: str
    tag: str
    packages: Lock
    variant: Variant
    models: Mapping[str, str | None] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    metrics: bool = False
    requirements: tuple[str, ...] = ()
    lock_file: Path = Path(OWN_LOCK)
    platform: bool = False

    @property
    def locks(self) -> tuple[Lock, ...]:
        if self.metrics:
            return self.packages, METRICS
        return (self.packages,)

    @property
    def packages_text(self) -> str:
        """Every package with its version and hashes, torch aside; raises UserError for those that are not locked."""
        own = own_lock(self.lock_file, PYTHON)
        if unlocked := missing(self.requirements, versions(lock_text(self.locks) + own)):
            repair = "Lock them for it on a machine that reaches a package index"
            raise UserError(
                f"requirements: {', '.join(unlocked)}: not locked in {self.lock_file}. "
                f"{repair}: gen-bundle image lock {self.name} --tag NAME:TAG."
            )
        if not self.requirements:
            own = ""
        return packages_text(self.locks, own)


def request_for(competition: Resolved, tag: str | None = None, variant: Variant | None = None) -> ImageRequest:
    """Return the image that a competition's options ask for: every option group with a `model` needs that model.

    The tag is `docker_image` where it is not given, or a name of this machine. The variant follows the option
    `device`; without models the image is the small one.

    Raises:
        UserError: the tag cannot be given to an image of one's own.
    """
    declared = competition.declaration
    on_platform = tag is None and declared.image == PLATFORM_IMAGE
    tag = tag or declared.docker_image
    if not tag:
        plain_name = re.sub("[-_.]+", "-", competition.name.lower()).strip("-")
        tag = f"gen-bundle/{plain_name}:{metadata.version('gen-bundle')}"
    if "@" in tag or "/" not in tag or ":" not in tag.rpartition("/")[2]:
        raise UserError(
            f"docker_image: {tag} is not a name to build under. "
            "Expected NAME/IMAGE:TAG of your own there, or in the option --tag."
        )
    models: dict[str, str | None] = {}
    folders = []
    for group in model_groups(competition):
        if is_folder(group["model"]):
            folders.append(group["model"])
        else:
            models[group["model"]] = models.get(group["model"]) or group.get("revision")
    packages, *further = locks_for(competition)
    if packages == "score":
        variant = "cpu"
    elif variant is None:
        variant = "cuda" if competition.options.get("device") == "cuda" else "cpu"
    return ImageRequest(
        name=competition.name,
        tag=tag,
        packages=packages,
        variant=variant,
        models=models,
        folders=tuple(folders),
        metrics=bool(further),
        requirements=tuple(declared.requirements),
        lock_file=competition.folder / OWN_LOCK,
        platform=bool(declared.requirements) and on_platform and not models,
    )


def is_folder(model: str) -> bool:
    """Return whether a model is named by a path, not by its name on the hub (`NAME` or `ORGANISATION/NAME`)."""
    return Path(model).is_absolute() or model.startswith((".", "~"))
