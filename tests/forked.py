"""Runs a program's `main` in a fork of the test's process, where all that it imports is imported already."""

import os
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

BROKEN = 99
"""The exit status of a fork whose call raised an exception; its traceback is in stderr."""


def forked(call: Callable[[], int], stdout: Path, stderr: Path) -> int:
    """The exit status that `call` returns in a fork; what it prints goes to the two files.

    For programs that change the process that they run in: its environment, its children, its limits.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.12 on: the test runner has threads
        process = os.fork()
    if process == 0:
        status = BROKEN
        try:
            with (
                stdout.open("w", encoding="utf-8") as out,
                stderr.open("w", encoding="utf-8") as err,
                redirect_stdout(out),
                redirect_stderr(err),
            ):
                try:
                    status = call()
                except Exception:
                    traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
