"""Submissions, scored in forks of the worker: whatever a run does there ends with its fork."""

import json
import os
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial

from scoring_kit.models.shared import ask_through
from scoring_kit.warm.model_process import ModelProcess
from scoring_kit.warm.processes import STREAMS, die_with, flush

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


def run_job(job: Job, printed: tuple[bytes, bytes], score: Callable[[Job], int], models: ModelProcess) -> JobEnd:
    """Score a submission in a fork, which begins with all that the worker has loaded, and wait for its end.

    Args:
        job: the request.
        printed: what standard output and standard error begin with.
        score: scores a submission; its result is the exit status.
        models: what the run asks for embeddings and the like; replaced where it was ended at its limit.
    """
    models.revive()
    imported = os.memfd_create("imported")
    streams = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) for path in (job.stdout, job.stderr)]
    for stream, beginning in zip(streams, printed, strict=True):
        os.write(stream, beginning)
    flush()
    worker, began = os.getpid(), time.monotonic()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            die_with(worker)
            os.setpgid(0, 0)
            models.leave_in_fork()
            for stream, standard in zip(streams, STREAMS, strict=True):
                os.dup2(stream, standard)
                os.close(stream)
            ask_through(cache(models.connect))
            status = _status(partial(score, job), imported)
        except BaseException:
            os.kill(worker, signal.SIGKILL)  # the machine's fault, which must not look like a result
        finally:
            os._exit(status)
    for stream in streams:
        os.close(stream)
    in_time = _ended_in_time(process, job.seconds)
    seconds = time.monotonic() - began
    for end in (os.killpg, os.kill):  # not waited for yet, its number is its own; with it ends what it left running
        with suppress(OSError):
            end(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    names = _names(os.pread(imported, os.fstat(imported).st_size, 0))
    os.close(imported)
    if not in_time:
        models.replace()
        return JobEnd(None, seconds, timed_out=True, imported=names)
    return JobEnd(code if code >= 0 else 128 - code, seconds, timed_out=False, imported=names)


def _ended_in_time(process: int, seconds: float | None) -> bool:
    """Wait for the end of a process, or until its time is over."""
    watched = os.pidfd_open(process)
    try:
        ended = select.poll()
        ended.register(watched, select.POLLIN)
        return bool(ended.poll(None if seconds is None else max(seconds, 0) * 1000))
    finally:
        os.close(watched)


def _status(score: Callable[[], int], imported: int) -> int:
    """The exit status as Python makes it of what `score` returns or raises; new modules are written to `imported`."""
    known = len(sys.modules)
    try:
        with warnings.catch_warnings():  # so that what one run was warned of, the next one is, too
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
