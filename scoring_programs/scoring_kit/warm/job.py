"""Submissions, scored in forks of the worker: whatever a run does there ends with its fork."""

import json
import math
import os
import signal
import socket
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial

from scoring_kit.models.shared import ask_through
from scoring_kit.warm.model_process import ModelProcess
from scoring_kit.warm.processes import STREAMS, die_with, flush

LONGEST_WAIT = 1.0
"""Seconds until the worker looks whether a run has ended, should no signal have told it."""
CANNOT_FLUSH = 120
"""Python's own exit status where standard output cannot be written."""
RUNS_A_FORK = 50
"""So many submissions a fork scores at most, where scoring keeps nothing: its garbage ends with it."""
SCORED = signal.SIGUSR1
"""What a fork sends to the worker when it has scored a submission and can score another one."""
LONGEST_REQUEST = 65536


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


class Forks:
    """Forks of the worker, one at a time.

    Each scores one submission. Where scoring keeps nothing, it scores the next ones, too, as long as they succeed
    without a model or a new module: what fails there is scored again in a new fork, and only that counts.

    Args:
        score: scores a submission; its result is the exit status.
        models: what the runs ask for embeddings and the like; replaced where a run was ended at its limit.
        keeps_nothing: see `scoring_kit.package.keeps_nothing`.
    """

    def __init__(self, score: Callable[[Job], int], models: ModelProcess, *, keeps_nothing: bool) -> None:
        self._score = score
        self._models = models
        self._runs_a_fork = RUNS_A_FORK if keeps_nothing else 1
        self._fork: _Fork | None = None

    def run(self, job: Job, printed: tuple[bytes, bytes]) -> JobEnd:
        """Score a submission, and wait for the end of that.

        Args:
            job: the request.
            printed: what standard output and standard error begin with.
        """
        if self._fork is not None:
            end = self._run(self._fork, job, printed)
            if end.exit_code == 0 or end.timed_out:
                return end
        self._models.revive()
        return self._run(_Fork(self._score, self._models, self._runs_a_fork), job, printed)

    def _run(self, fork: "_Fork", job: Job, printed: tuple[bytes, bytes]) -> JobEnd:
        end = fork.run(job, printed)
        self._fork = None if fork.ended else fork
        if self._fork and end.imported:
            self.close()
        if end.timed_out:
            self._models.replace()
        return end

    def close(self) -> None:
        """End the fork that waits for another submission."""
        if self._fork is not None:
            self._fork.end()
            self._fork = None


class _Fork:
    """A process that begins with all that the worker has loaded, and scores `runs` submissions at most.

    Attributes:
        ended: it can score no more.
    """

    def __init__(self, score: Callable[[Job], int], models: ModelProcess, runs: int) -> None:
        self.ended = False
        self._awaited = {signal.SIGCHLD} if runs == 1 else {signal.SIGCHLD, SCORED}
        self._imported = os.memfd_create("imported")
        self._requests, requests = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, SCORED})
        worker, status = os.getpid(), 1
        self._process = os.fork()
        if self._process == 0:
            try:
                die_with(worker)
                os.setpgid(0, 0)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, SCORED})
                models.leave_in_fork()
                self._requests.close()
                status = self._live(requests, score, models, runs)
            except BaseException:
                os.kill(worker, signal.SIGKILL)  # the machine's fault, which must not look like a result
            finally:
                os._exit(status)
        requests.close()
        with suppress(OSError):  # the fork does the same, and may have done it
            os.setpgid(self._process, self._process)

    def run(self, job: Job, printed: tuple[bytes, bytes]) -> JobEnd:
        streams = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) for path in (job.stdout, job.stderr)]
        for stream, beginning in zip(streams, printed, strict=True):
            os.write(stream, beginning)
        began = time.monotonic()
        with suppress(OSError):  # it has died, as is found below
            socket.send_fds(self._requests, [json.dumps(asdict(job)).encode()], streams)
        for stream in streams:
            os.close(stream)
        in_time = self._wait(math.inf if job.seconds is None else began + job.seconds)
        seconds = time.monotonic() - began
        imported = _names(os.pread(self._imported, os.fstat(self._imported).st_size, 0))
        code = self.end() if self.ended else 0
        return JobEnd(code if in_time else None, seconds, not in_time, imported)

    def end(self) -> int:
        """End the process and all that it left running; returns its exit code."""
        os.killpg(self._process, signal.SIGKILL)  # it was not waited for yet, so that its number is still its own
        code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._requests.close()
        os.close(self._imported)
        return code if code >= 0 else 128 - code

    def _wait(self, deadline: float) -> bool:
        """Wait until it has ended or scored the submission; whether that was before the deadline."""
        while os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                self.ended = True
                return False
            sent = signal.sigtimedwait(self._awaited, min(left, LONGEST_WAIT))
            if sent is not None and (sent.si_signo, sent.si_pid) == (SCORED, self._process):
                return True
        self.ended = True
        return True

    def _live(self, requests: socket.socket, score: Callable[[Job], int], models: ModelProcess, runs: int) -> int:
        """Score what is asked for, in the fork; returns its exit status."""
        for run in range(1, runs + 1):
            message, streams, *_ = socket.recv_fds(requests, LONGEST_REQUEST, len(STREAMS))
            if not message:
                break
            for stream, standard in zip(streams, STREAMS, strict=True):
                os.dup2(stream, standard)
                os.close(stream)
            connect = cache(models.connect)
            ask_through(connect)
            status = _status(partial(score, Job(**json.loads(message))), self._imported)
            if status or run == runs or connect.cache_info().currsize:
                return status
            os.kill(os.getppid(), SCORED)
        return 0


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
