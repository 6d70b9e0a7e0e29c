"""The versions of the platform that are known, where their sources were read, and what differs between them.

Everything that names no version is the same in both. 1.25 was read, and mostly run, at commit c7dbc756 of
codalab/codabench (13 March 2026). Of 1.32 the worker was read at a32cdcb5 and run; the server was read in parts, some
of them in public forks that carry its code. What is only inferred says so here and in research/platform.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, get_args

Computation = Literal["avg", "sum", "min", "max", "avg_rank"]
COMPUTATIONS: tuple[Computation, ...] = get_args(Computation)
"""The computations of columns in the newest version."""


class PlatformVersion(StrEnum):
    """A release of Codabench."""

    V1_25 = "1.25"
    V1_32 = "1.32"


NEWEST: Final = PlatformVersion.V1_32

SOURCE: Final = "Codabench source @ c7dbc756"


@dataclass(frozen=True)
class Differences:
    """Differences between versions, and, with a default, what is open for the newest.

    Attributes:
        submission_is_a_program: The prediction job starts a submission that has a command, and copies any other to the
            predictions; one without members makes no output, so the worker retries for three minutes and fails.
            Otherwise only an ingestion program runs there; the submission is copied over the predictions, and lies
            read-only in `/app/ingested_program` of every container.
        needs_exit_code: A scoring program that never started fails the submission; otherwise only the scores count.
        crash_is_silent: An exception of the worker itself leaves the submission Finished; otherwise it is Failed with
            the traceback.
        failed_text: What the submission's page shows, given the cause.
        long_log: What a long log of a scoring program leads to.
        missing_leads: A row without the primary score is first on a descending board. In both; inferred for 1.32,
            where a fix was made and undone again.
        missing_breaks_ties_first: A missing score comes first in the order of a descending column that is not primary.
        best_prefers_missing: `Force_Best` takes a submission without a score for better, in descending columns. In
            both; a fix of about October 2026 is in no release that is known.
        parent_may_fail: A submission to several tasks fails when all its tasks fail; otherwise it is always Finished.
            In neither; the change of about October 2026 is in no release that is known.
        computations: What a computed column may be.
    """

    submission_is_a_program: bool
    needs_exit_code: bool
    crash_is_silent: bool
    failed_text: str
    long_log: str
    missing_breaks_ties_first: bool
    computations: tuple[str, ...]
    missing_leads: bool = True
    best_prefers_missing: bool = True
    parent_may_fail: bool = False

    def failed(self, cause: str, detail: str = "") -> str:
        """Return the text of a Failed submission, and what we know besides."""
        return f"{self.failed_text.format(cause)} {detail}".rstrip()


DIFFERENCES: Mapping[PlatformVersion, Differences] = {
    PlatformVersion.V1_25: Differences(
        submission_is_a_program=True,
        needs_exit_code=False,
        crash_is_silent=True,
        failed_text="{}",
        long_log="submissions fail at random, although the program exits 0",
        missing_breaks_ties_first=True,
        computations=("avg", "sum", "min", "max"),
    ),
    PlatformVersion.V1_32: Differences(
        submission_is_a_program=False,
        needs_exit_code=True,
        crash_is_silent=False,
        failed_text="Submission failed: {}. See logs for more details.",
        long_log="the beginning of the log is often lost",
        missing_breaks_ties_first=False,
        computations=COMPUTATIONS,
    ),
}
