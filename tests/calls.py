"""Calls a program's `main` where all that it imports is imported already: in the test's process, or in a fork of it."""

import os
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

BROKEN = 99
"""The exit status of a fork whose call raised an exception; its traceback is in stderr."""


def called(main: Callable[[], int], stdout: Path, stderr: Path) -> int:
    """The exit status that `main` returns; what it prints goes to the two files."""
    with (
        stdout.open("w", encoding="utf-8") as out,
        stderr.open("w", encoding="utf-8") as err,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        return main()


def forked(main: Callable[[], int], stdout: Path, stderr: Path) -> int:
    """As `called`, in a fork: for a program that changes its own process, as by ending all its children."""

    def guarded() -> int:
        try:
            return main()
        except Exception:
            traceback.print_exc()
            return BROKEN

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: the test runner has threads
        process = os.fork()
    if process == 0:
        status = BROKEN
        try:
            status = called(guarded, stdout, stderr)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
