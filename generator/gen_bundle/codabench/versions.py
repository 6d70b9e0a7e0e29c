"""The versions of the platform that are known, where their sources were read, and what differs between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Version(StrEnum):
    """A release of Codabench."""

    V1_25 = "1.25"
    V1_32 = "1.32"


NEWEST: Final = Version.V1_32

# Everything that names no version was read, and mostly run, at this commit of codalab/codabench (13 March 2026).
SOURCE: Final = "Codabench source @ c7dbc756"


@dataclass(frozen=True)
class Differences:
    """What is not the same in all versions.

    Attributes:
        runs_empty_submissions: A submission's zip without members reaches the scoring program. Otherwise nothing is
            unpacked and no output is made: the worker retries for three minutes, and the submission is Failed.
        long_log: What a long log of a scoring program leads to.
    """

    runs_empty_submissions: bool
    long_log: str


# compute_worker/compute_worker.py, `Run._get_bundle` and the reading of containers' logs: 1.25 at c7dbc756, about 1.32
# at a32cdcb5; both were run.
DIFFERENCES: Mapping[Version, Differences] = {
    Version.V1_25: Differences(
        runs_empty_submissions=False, long_log="submissions fail at random, although the program exits 0"
    ),
    Version.V1_32: Differences(runs_empty_submissions=True, long_log="the beginning of the log is often lost"),
}
