"""Runs the jobs at desks, each of which scores one after the other: here in threads, on a cluster in its workers."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gen_bundle.after.rescore.loaded_program import loaded_program
from gen_bundle.after.rescore.scoring_job import JobResult, LostError, Scorer, ScoringJob, differing, score
from gen_bundle.dry_run.engines import Engine, EngineError
from gen_bundle.dry_run.engines.choose import choose_engine
from gen_bundle.dry_run.layout import scratch_folder, temporary_folder
from gen_bundle.ground.errors import UserError, bug_report
from gen_bundle.ground.zips.unpacking import ArchiveError
from scoring_kit.base.texts import counted

ATTEMPTS = 3
"""How often a job is tried that gets lost."""
HOPELESS = 3
"""So many jobs given up without having run, and none scored in between, mean that nothing here can score."""


class Desk:
    """Where jobs are scored one after the other; what it keeps between them is for the scorer of the last one."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._of_scorer = ExitStack()
        self._digest = ""
        self._ready: tuple[Engine, Scorer] | None = None

    def score(self, job: ScoringJob) -> JobResult:
        """Run a job.

        Raises:
            LostError: it has no result, perhaps because this machine is none for it.
        """
        try:
            if self._ready is None or self._digest != job.scorer.digest:
                self.close()
                self._digest, self._ready = job.scorer.digest, self._prepared(job.scorer)
            engine, scorer = self._ready
            return score(replace(job, scorer=scorer), engine, self._work)
        except (EngineError, UserError, ArchiveError, OSError) as error:
            self.close()
            reason = str(error)
            if isinstance(error, OSError):
                reason = f"{error.filename or self._work}: {error.strerror or error}"
            raise LostError(reason) from error
        except LostError:
            raise
        except Exception as bug:  # of ours, which one job meets and the others need not
            raise LostError(bug_report(bug), final=True) from bug

    def close(self) -> None:
        """End what is kept, also, from another thread, what it is at."""
        self._ready = None
        self._of_scorer.close()

    def _prepared(self, scorer: Scorer) -> tuple[Engine, Scorer]:
        """The engine of a scorer's jobs, and the scorer without what stays loaded there."""
        if differs := differing(scorer):
            raise EngineError(f"versions do not match: {differs}. Install the same ones on all machines")
        chosen_python = Path(scorer.python) if scorer.python else None
        # An image that is named by its digest is the same wherever it is fetched.
        pull = scorer.engine == "docker" and "@sha256:" in scorer.image
        engine = choose_engine(scorer.engine, lambda _: None, gpu=scorer.gpu, pull=pull, python=chosen_python)
        self._of_scorer.callback(engine.close)
        engine.prepare(scorer.image)
        loaded = loaded_program(scorer, self._of_scorer.enter_context(temporary_folder("loaded-", self._work)))
        if loaded is None:
            return engine, scorer
        self._of_scorer.callback(loaded.close)
        return loaded, loaded.scorer


class Workers(NamedTuple):
    """Desks that score several jobs at a time.

    Attributes:
        submit: hands a job over.
        room: how many jobs are worth handing over before the first of them has ended.
    """

    submit: Callable[[ScoringJob], Future[JobResult]]
    room: Callable[[], int]


@contextmanager
def local_workers(size: int) -> Iterator[Workers]:
    """So many desks in threads of this process, which are ended, with what they run, however the block ends."""
    with scratch_folder() as work, ThreadPoolExecutor(size) as pool:
        desks = [Desk(work) for _ in range(size)]
        free = list(desks)

        def score_here(job: ScoringJob) -> JobResult:
            desk = free.pop()  # there is one for each thread
            try:
                return desk.score(job)
            finally:
                free.append(desk)

        try:
            # Twice as many jobs, so that no desk waits for its next one.
            yield Workers(lambda job: pool.submit(score_here, job), lambda: 2 * size)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for desk in desks:  # which ends what they are at: the pool waits for that
                desk.close()


def run(
    jobs: Iterable[ScoringJob], workers: Workers, announce: Callable[[str], None]
) -> Iterator[tuple[ScoringJob, JobResult | LostError]]:
    """Run all jobs, in whatever order they end; one that gets lost is tried again, and lost only when that failed, too.

    Raises:
        UserError: job after job gets lost, so that the rest need not be tried; or the workers are gone.
    """
    waiting, tries, given_up = deque(jobs), Counter[str](), 0
    running: dict[Future[JobResult], ScoringJob] = {}
    while waiting or running:
        while waiting and len(running) < workers.room():
            job = waiting.popleft()
            tries[job.digest] += 1
            running[workers.submit(job)] = job
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job, ended = running.pop(future), _outcome(future)
            if isinstance(ended, JobResult):
                given_up = 0
                yield job, ended
            elif not ended.final and tries[job.digest] < ATTEMPTS:
                announce(f"{job.submission.name}: {ended.reason}. It is tried again.")
                waiting.append(job)
            else:
                if not ended.killed:
                    given_up += 1
                attempts = counted(tries[job.digest], "attempt")
                announce(f"{job.submission.name}: {ended.reason}. Given up after {attempts}.")
                yield job, ended
                if given_up == HOPELESS:
                    raise UserError(
                        f"{HOPELESS} jobs in a row could not be run, the last one because: {ended.reason}. Fix that, "
                        "and run the same command again: what was scored is kept."
                    )


def _outcome(future: Future[JobResult]) -> JobResult | LostError:
    try:
        return future.result()
    except LostError as lost:
        return lost
    except CancelledError as error:
        raise UserError(
            "The connection to the scheduler was lost. Start it again, and its workers, and run the same command: what "
            "was scored is kept."
        ) from error
    except Exception as error:  # a worker of a cluster has died each time, or has another gen-bundle
        return LostError(f"{type(error).__name__}: {error}", final=True)
