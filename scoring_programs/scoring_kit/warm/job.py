"""One submission, scored in a fork of the worker: whatever it does there ends with it."""

import json
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from scoring_kit.models.shared import ask_through
from scoring_kit.warm.model_process import ModelProcess
from scoring_kit.warm.processes import STREAMS, die_with, flush

LONGEST_WAIT = 1.0
"""Seconds until the worker looks whether a run has ended, should no signal have told it."""
CANNOT_FLUSH = 120
"""Python's own exit status where standard output cannot be written."""


@dataclass(frozen=True)
class Job:
    """A request: the folders of a single run, files for what it prints, and its limit in seconds."""

    input: str
    output: str
    stdout: str
    stderr: str
    seconds: float | None


@dataclass(frozen=True)
class JobEnd:
    """How a run ended.

    Attributes:
        exit_code: its status; 128 + n where signal n ended it, None where it was ended at the limit.
        seconds: on the clock.
        timed_out: it was ended at the limit.
        imported: modules that it has imported and the worker had not; empty where it did not end by itself.
    """

    exit_code: int | None
    seconds: float
    timed_out: bool
    imported: Sequence[str]


def run_job(job: Job, score: Callable[[], int], models: ModelProcess, printed: tuple[bytes, bytes]) -> JobEnd:
    """Fork, call `score` there, whose result is the exit status, and wait for its end.

    Args:
        job: the request.
        score: scores the submission.
        models: what the run asks for embeddings and the like; replaced where a run was ended at its limit.
        printed: what standard output and standard error begin with.
    """
    streams = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) for path in (job.stdout, job.stderr)]
    for stream, beginning in zip(streams, printed, strict=True):
        os.write(stream, beginning)
    imported = os.memfd_create("imported")
    models.revive()
    flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    worker, began = os.getpid(), time.monotonic()
    child, status = os.fork(), 1
    if child == 0:
        try:
            die_with(worker)
            os.setpgid(0, 0)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            models.leave_in_fork()
            for stream, standard in zip(streams, STREAMS, strict=True):
                os.dup2(stream, standard)
                os.close(stream)
            ask_through(cache(models.connect))
            status = _status(score, imported)
        except BaseException:
            os.kill(worker, signal.SIGKILL)  # the machine's fault, which must not look like a result
        finally:
            os._exit(status)
    with suppress(OSError):  # the fork does the same, and may have done it
        os.setpgid(child, child)
    code = _wait(child, math.inf if job.seconds is None else began + job.seconds)
    seconds = time.monotonic() - began
    if code is None:
        models.replace()
    modules = os.pread(imported, os.fstat(imported).st_size, 0)
    for descriptor in (*streams, imported):
        os.close(descriptor)
    return JobEnd(code, seconds, code is None, _names(modules))


def _status(score: Callable[[], int], imported: int) -> int:
    """The exit status as Python makes it of what `score` returns or raises; new modules are written to `imported`."""
    known = len(sys.modules)
    try:
        status = score()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    with suppress(Exception):  # a run may have closed what is open, or broken what it is written with
        if len(sys.modules) > known:  # new ones are last
            os.pwrite(imported, json.dumps(list(sys.modules)[known:]).encode(), 0)
    try:
        flush()
    except OSError:
        return CANNOT_FLUSH
    return status & 0xFF


def _names(modules: bytes) -> Sequence[str]:
    """The names that a run has written; none where it was ended before, or did not write them as `_status` does."""
    try:
        names = json.loads(modules)
    except ValueError:
        return ()
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else ()


def _wait(child: int, deadline: float) -> int | None:
    """The exit code, once the process and all that it left running have ended; None where the deadline ended it."""
    in_time = True
    while in_time and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        left = deadline - time.monotonic()
        in_time = left > 0
        signal.sigtimedwait({signal.SIGCHLD}, max(0.0, min(left, LONGEST_WAIT)))
    os.killpg(child, signal.SIGKILL)  # it was not waited for yet, so that its number is still its own
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not in_time:
        return None
    return code if code >= 0 else 128 - code
