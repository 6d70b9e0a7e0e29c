"""Scoring without worker processes, for tests whose point is something else: starting one takes half a second."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gen_bundle.after.rescore.scoring_job import JobResult, Lost, ScoringJob
from gen_bundle.after.rescore.workers import ScoringDesk


class DeskHere:
    """A worker that is no process of its own; see `Workers`."""

    room = 1

    def __init__(self, desk: ScoringDesk) -> None:
        self._desk = desk
        self._jobs: deque[ScoringJob] = deque()

    def submit(self, job: ScoringJob) -> None:
        self._jobs.append(job)

    def wait(self) -> tuple[ScoringJob, JobResult | Lost]:
        job = self._jobs.popleft()
        return job, self._desk.score(job)


@pytest.fixture
def scored_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `gen-bundle rescore` score in this process."""

    @contextmanager
    def pool(_: int) -> Iterator[DeskHere]:
        with ScoringDesk() as desk:
            yield DeskHere(desk)

    monkeypatch.setattr("gen_bundle.after.rescore.rescoring.local_pool", pool)
