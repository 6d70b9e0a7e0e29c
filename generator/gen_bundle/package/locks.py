"""The Python packages that a competition is scored with, by the hashed locks of requirements/."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from gen_bundle.declaration.declared.metrics import metrics
from gen_bundle.resources import resource

Lock = Literal["score", "models", "metrics"]
METRICS: Lock = "metrics"
FURTHER = ("ir-measures", "jiwer", "rapidfuzz", "rouge-score", "sacrebleu", "seqeval")
"""What the lock `metrics` holds beyond `score`."""
REQUIREMENT = re.compile(r"^(?=[A-Za-z0-9])", re.MULTILINE)


def locks_for(options: Mapping[str, Any]) -> tuple[Lock, ...]:
    """The locks that a competition with these options needs: the small one or that of models, then that of metrics."""
    packages: Lock = "models" if any(True for _ in model_groups(options)) else "score"
    used = {library for plan in _plans(options) for library in metrics()[plan["metric"]].libraries}
    return (packages, METRICS) if used.intersection(FURTHER) else (packages,)


def libraries_beyond_score(options: Mapping[str, Any]) -> list[str]:
    """What a competition with these options needs beyond numpy, SciPy and scikit-learn."""
    packages, *_ = locks_for(options)
    used = {library for plan in _plans(options) for library in metrics()[plan["metric"]].libraries}
    return [*(["torch", "transformers"] if packages == "models" else []), *sorted(used.intersection(FURTHER))]


def model_groups(options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every group of options that names a model, those of declared metrics, too."""
    for group in [*options.values(), *(plan["options"] for plan in _plans(options))]:
        if isinstance(group, Mapping) and isinstance(group.get("model"), str):
            yield group


def _plans(options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The declared metrics of the table; a function of the organisers' own brings what it needs itself."""
    for columns in options.get("metrics", {}).values():
        yield from (plan for plan in columns.values() if plan["file"] is None)


def packages_text(locks: Sequence[Lock], further: str = "") -> str:
    """Several locks, and a further one, as one: each package once, since it has the same version in all of them."""
    return "".join(entries(lock_text(locks) + further).values())


def lock_text(locks: Sequence[Lock]) -> str:
    """The texts of locks, one after the other."""
    return "".join((resource("requirements") / f"{lock}.txt").read_text(encoding="utf-8") for lock in locks)


def entries(text: str) -> dict[str, str]:
    """Each package of a lock with its first entry: version and hashes."""
    packages: dict[str, str] = {}
    for entry in REQUIREMENT.split(text)[1:]:
        packages.setdefault(entry.split("=", 1)[0], entry)
    return packages
