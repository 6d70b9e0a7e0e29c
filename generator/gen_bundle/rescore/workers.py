"""The seam between the jobs and what runs them: two methods, what is done about jobs that get lost, and local workers.

Workers of this machine are processes, each with an engine of its own. One that dies takes only its own job with it.
"""

import gc
import multiprocessing
import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from multiprocessing.connection import Connection, wait
from typing import NoReturn, Protocol

from gen_bundle.errors import UserError
from gen_bundle.rescore.scoring_desk import ScoringDesk
from gen_bundle.rescore.scoring_job import JobResult, Lost, ScoringJob

END_SECONDS = 10

ATTEMPTS = 3
"""How often a job is tried that gets lost."""
HOPELESS = 3
"""So many jobs given up, and none scored in between, mean that nothing here can score."""


class Workers(Protocol):
    """Processes that score, here or elsewhere.

    Attributes:
        room: how many jobs are worth handing over before the first of them has ended.
    """

    @property
    def room(self) -> int: ...

    def submit(self, job: ScoringJob) -> None:
        """Hand a job over."""
        ...

    def wait(self) -> tuple[ScoringJob, JobResult | Lost]:
        """Wait for any of the jobs that were handed over to end."""
        ...


def run(
    jobs: Iterable[ScoringJob], workers: Workers, announce: Callable[[str], None]
) -> Iterator[tuple[ScoringJob, JobResult | Lost]]:
    """Run all jobs, in whatever order they end; one that gets lost is tried again, and lost only when that failed, too.

    Raises:
        UserError: job after job gets lost, so that the rest need not be tried.
    """
    waiting, tries, in_flight, given_up = deque(jobs), Counter[str](), 0, 0
    while waiting or in_flight:
        while waiting and in_flight < workers.room:
            job = waiting.popleft()
            tries[job.digest] += 1
            workers.submit(job)
            in_flight += 1
        job, ended = workers.wait()
        in_flight -= 1
        if not isinstance(ended, Lost):
            given_up = 0
        elif not ended.final and tries[job.digest] < ATTEMPTS:
            announce(f"{job.submission.name}: {ended.reason}. It is tried again.")
            waiting.append(job)
            continue
        else:
            given_up += 1
            attempts = "1 attempt" if tries[job.digest] == 1 else f"{tries[job.digest]} attempts"
            announce(f"{job.submission.name}: {ended.reason}. Given up after {attempts}.")
        yield job, ended
        if given_up == HOPELESS and isinstance(ended, Lost):
            raise UserError(
                f"{HOPELESS} jobs in a row could not be run, the last one because: {ended.reason}. Fix that, and "
                "run the same command again: what was scored is kept."
            )


class LocalPool:
    """So many processes of this machine; see `Workers`."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._busy: dict[Connection, tuple[_Process, ScoringJob]] = {}
        self._idle: deque[_Process] = deque()

    @property
    def room(self) -> int:
        return self._size

    def submit(self, job: ScoringJob) -> None:
        process = self._idle.popleft() if self._idle else _Process()
        with suppress(OSError):  # it has died meanwhile, which `wait` finds
            process.pipe.send(job)
        self._busy[process.pipe] = (process, job)

    def wait(self) -> tuple[ScoringJob, JobResult | Lost]:
        """See `Workers`; a process that dies closes its end of the pipe."""
        pipe = next(one for one in wait([*self._busy]) if isinstance(one, Connection))
        process, job = self._busy.pop(pipe)
        try:
            ended: JobResult | Lost = pipe.recv()
        except (EOFError, OSError):
            return job, Lost(f"its worker {process.end()}")
        self._idle.append(process)
        return job, ended

    def close(self) -> None:
        """End all processes, and what they run."""
        processes = [*self._idle, *(process for process, _ in self._busy.values())]
        for process in processes:
            process.stop()
        for process in processes:
            process.end()


def local_pool(size: int) -> closing[LocalPool]:
    """Workers that are ended, with what they run, however the block ends."""
    return closing(LocalPool(size))


class _Process:
    """A process and our end of the pipe to it."""

    def __init__(self) -> None:
        os.environ["PYTHONSAFEPATH"] = "1"  # it starts `python -c`, which would import from the current folder
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=False)
        self._process.start()
        theirs.close()

    def stop(self) -> None:
        """Ask it to end, which ends what it runs."""
        self._process.terminate()

    def end(self) -> str:
        """Wait for its end, or make it; how it ended, in words."""
        self.pipe.close()
        self._process.join(END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode
        self._process.close()
        return f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"


def _work(pipe: Connection) -> None:
    """What a process does: a job after the other, until nobody sends one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; ours end us
    signal.signal(signal.SIGTERM, _leave)
    gc.freeze()  # what is loaded stays
    with ScoringDesk() as desk, suppress(EOFError, OSError):
        while True:
            pipe.send(desk.score(pipe.recv()))


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)
