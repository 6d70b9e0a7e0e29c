"""The messages of a failed run: to participants about their file, to organisers about everything else."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scoring_kit.base.missing_packages import missing_package, what_is_missing
from scoring_kit.errors import OrganiserError, SubmissionError, fitting

BAD_SUBMISSION, ORGANISERS, BUG = 1, 2, 3
"""Exit status."""

NOT_YOURS = "This is not the submission's fault; please inform the organisers."
FRAMES_SHOWN = 20


@dataclass(frozen=True)
class FailedRun:
    """A failed run.

    Attributes:
        status: the exit status.
        log: the lines for stderr.
        page: the lines for the results page, which everybody can open: it gives reasons only for a bad submission.
    """

    status: int
    log: Sequence[str]
    page: Sequence[str]


def guarded(action: Callable[[], object], show: Callable[[FailedRun], None] | None = None) -> int:
    """Run `action`; returns the exit status, after `show` was called with a failure (by default it is printed)."""
    try:
        action()
    except Exception as error:
        failure = failure_of(error)
        (show or print_failure)(failure)
        return failure.status
    return 0


def failure_of(error: Exception) -> FailedRun:
    """A failure without a word of gold."""
    if isinstance(error, SubmissionError):
        lines = error.report().splitlines()
        return FailedRun(BAD_SUBMISSION, lines, [*lines, *error.warnings])
    if isinstance(error, OrganiserError):
        return _of_organisers(error.messages)
    if isinstance(error, ModuleNotFoundError) and (package := missing_package(error)):
        return _of_organisers([what_is_missing(package)])
    return FailedRun(BUG, _bug(error), [NOT_YOURS])


def print_failure(failure: FailedRun) -> None:
    """Print everything to stderr."""
    print(*failure.log, sep="\n", file=sys.stderr)


def print_fitting(failure: FailedRun) -> None:
    """Print as much as a worker surely keeps, and how much was left out.

    The organisers' mistakes may be many; messages about a submission or a bug are short already.
    """
    lines = fitting(failure.log) if failure.status == ORGANISERS else failure.log
    more = len(failure.log) - len(lines)
    print(*lines, *([f"… and {more} more lines."] if more else []), sep="\n", file=sys.stderr)


def _of_organisers(messages: Sequence[str]) -> FailedRun:
    first = "The competition is not set up correctly. This is not the submission's fault: the organisers must act."
    return FailedRun(ORGANISERS, [first, *messages], [NOT_YOURS])


def _bug(error: Exception) -> list[str]:
    """Where it happened and nothing else: the message or the values could hold gold."""
    if os.environ.get("SCORING_DEBUG") == "1":
        return "".join(traceback.format_exception(error)).splitlines()
    frames = traceback.extract_tb(error.__traceback__)
    return [
        "The scoring program failed. This is a bug; please report these lines to the organisers.",
        *([f"  … {len(frames) - FRAMES_SHOWN} earlier calls"] if len(frames) > FRAMES_SHOWN else []),
        *(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames[-FRAMES_SHOWN:]),
        f"  {type(error).__name__}",
    ]
