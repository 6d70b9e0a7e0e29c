"""The modules of a scoring package: how they are found, and what `reference` offers, as a type for editors and mypy.

`submission` is a `scoring_kit.submission_files.SubmissionModule`. A task's module has `score`, a
`scoring_kit.frame.TaskScorer`.

Runs on Python 3.9 with the standard library alone, because the validator reads submissions with the same module.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Mapping, Protocol, Sequence, cast

from scoring_kit.submission_files import SubmissionModule


class ReferenceModule(Protocol):
    """The module `reference`; what `read` returns is the package's own affair."""

    def read(self, folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Any:
        """Read the gold of `tasks`; raises OrganiserError with everything that is wrong."""

    def manifest(self, reference: Any, tasks: Sequence[str]) -> Mapping[str, Any]:
        """What participants may know of the gold, as JSON."""


def submission_module(package: str) -> SubmissionModule:
    """The module `submission` of a package."""
    return cast("SubmissionModule", importlib.import_module(f"{package}.submission"))


def reference_module(package: str) -> ReferenceModule:
    """The module `reference` of a package."""
    return cast("ReferenceModule", importlib.import_module(f"{package}.reference"))
