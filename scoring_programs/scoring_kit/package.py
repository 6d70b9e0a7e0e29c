"""What the modules `submission` and `reference` of a scoring package offer: types for editors and mypy.

A task's module has `score`, a `scoring_kit.frame.TaskScorer`.

Runs on Python 3.9 with the standard library alone, because the validator reads submissions with the same module.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Collection, Mapping, Optional, Protocol, Sequence, cast

if TYPE_CHECKING:
    from scoring_kit.errors import Problems
    from scoring_kit.manifest import Manifest
    from scoring_kit.submission_files import SubmissionFiles


class ReadSubmission(Protocol):
    """What `submission.read` makes of a team's files."""

    @property
    def entered(self) -> Collection[str]:
        """Ids of the tasks that it enters."""


class SubmissionModule(Protocol):
    """The module `submission`; TASK_FOLDERS = True says that folders called like tasks carry meaning."""

    def read(self, files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[ReadSubmission]:
        """Read and judge a submission; all that is wrong goes into `problems`. None where there is nothing to read."""


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
