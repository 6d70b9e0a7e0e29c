"""The user's error, and ours: a bug is a message in a few lines instead of a traceback."""

import os
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path


class UserError(Exception):
    """Input that cannot be used: each message names file, line or field, what is wrong and what is expected.

    The command line prints the messages, says how many `more` there are, prints `advice`, a last line that is not an
    error of its own, and exits with `status`; anything else that is raised is a bug of ours.
    """

    status = 2

    def __init__(self, *messages: str, advice: str = "", more: int = 0) -> None:
        super().__init__("\n".join([*messages, advice]).strip())
        self.messages: Sequence[str] = messages
        self.advice = advice
        self.more = more


MOST_SHOWN = 20


def raise_all(problems: Iterable[str], advice: str = "") -> None:
    """Raise what was found, the first of them in full, the rest counted."""
    found = list(problems)
    if found:
        raise UserError(*found[:MOST_SHOWN], more=len(found[MOST_SHOWN:]), advice=advice)


DEBUG = "GEN_BUNDLE_DEBUG"
_OURS = Path(__file__).resolve().parents[1]


def bug_report(error: BaseException) -> str:
    """Return what happened and where; the whole traceback where the environment variable GEN_BUNDLE_DEBUG is set."""
    if os.environ.get(DEBUG):
        return "".join(traceback.format_exception(error)).rstrip()
    what = " ".join(f"{type(error).__name__}: {error}".split())[:600]
    return (
        f"a bug in gen-bundle: {what}{_place(error)}. Please report it, with what {DEBUG}=1 in the environment prints."
    )


def _place(error: BaseException) -> str:
    """The innermost line of ours that the exception came through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(_OURS):
            return f" ({Path(frame.filename).relative_to(_OURS).as_posix()}, line {frame.lineno}, in {frame.name})"
    return ""
