"""Which image a competition needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gen_bundle.declaration.declared.metrics import metrics
from gen_bundle.errors import UserError

Packages = Literal["score", "models"]
Variant = Literal["cpu", "cuda"]
FURTHER = ("ir-measures", "jiwer", "rouge-score", "sacrebleu", "seqeval")
"""Libraries that requirements/metrics.txt holds beyond the small image's own."""


@dataclass(frozen=True)
class ImageRequest:
    """What goes into an image.

    Attributes:
        name: the competition.
        tag: name and tag that the image gets.
        packages: `score` (numpy, SciPy, scikit-learn) or `models` (those, torch and transformers).
        variant: which torch; without meaning where there is none.
        models: hub name → the revision that the competition asks for, None for the locked one.
        folders: models that the competition names by a folder; they are read from there, not baked in.
        libraries: whether it also holds the libraries of declared metrics (requirements/metrics.txt).
    """

    name: str
    tag: str
    packages: Packages
    variant: Variant
    models: Mapping[str, str | None] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    libraries: bool = False

    @property
    def locks(self) -> tuple[str, ...]:
        """The locks of requirements/ that its packages come from; a package of two locks has one version."""
        return (f"{self.packages}.txt", *(("metrics.txt",) if self.libraries else ()))


def request_for(name: str, options: Mapping[str, Any], tag: str, variant: Variant | None = None) -> ImageRequest:
    """The image that a competition's options ask for: every option group with a `model` needs that model.

    The variant follows the option `device` where it is not given; without models the image is the small one.

    Raises:
        UserError: `tag` cannot be given to an image of one's own.
    """
    if "@" in tag or "/" not in tag or ":" not in tag.rpartition("/")[2]:
        raise UserError(
            f"docker_image: {tag} is not a name to build under. "
            "Expected NAME/IMAGE:TAG of your own there, or in the option --tag."
        )
    models: dict[str, str | None] = {}
    folders = []
    plans = [plan for columns in options.get("metrics", {}).values() for plan in columns.values()]
    for group in [*options.values(), *(plan["options"] for plan in plans if plan["file"] is None)]:
        if isinstance(group, Mapping) and isinstance(group.get("model"), str):
            if is_folder(group["model"]):
                folders.append(group["model"])
            else:
                models[group["model"]] = models.get(group["model"]) or group.get("revision")
    packages: Packages = "models" if models or folders else "score"
    if packages == "score":
        variant = "cpu"
    variant = variant or ("cuda" if options.get("device") == "cuda" else "cpu")
    return ImageRequest(
        name=name,
        tag=tag,
        packages=packages,
        variant=variant,
        models=models,
        folders=tuple(folders),
        libraries=any(library in FURTHER for plan in plans for library in _libraries(plan)),
    )


def _libraries(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """What computes a declared metric; an own function brings what it needs by `requirements`."""
    return metrics()[plan["metric"]].libraries if plan["file"] is None else ()


def is_folder(model: str) -> bool:
    """Whether a model is named by a path, not by its name on the hub (`NAME` or `ORGANISATION/NAME`)."""
    return Path(model).is_absolute() or model.startswith((".", "~"))
