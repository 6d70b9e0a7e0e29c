"""The message for an unforeseen exception: a bug of ours, in a few lines instead of a traceback."""

import os
import traceback
from pathlib import Path

DEBUG = "GEN_BUNDLE_DEBUG"
_OURS = Path(__file__).resolve().parent


def bug_report(error: BaseException) -> str:
    """What happened and where; the whole traceback where the environment variable GEN_BUNDLE_DEBUG is set."""
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
