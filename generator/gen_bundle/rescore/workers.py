"""The seam between the jobs and what runs them: two methods, and what is done about jobs that get lost."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from gen_bundle.errors import UserError
from gen_bundle.rescore.scoring_job import JobResult, Lost, ScoringJob

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
