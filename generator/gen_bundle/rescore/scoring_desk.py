"""What a worker keeps from one job to the next: its engine, and programs that serve."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from gen_bundle.bugs import bug_report
from gen_bundle.errors import UserError
from gen_bundle.rescore.environment import differing, environment_of
from gen_bundle.rescore.scoring_job import JobResult, Lost, Scorer, ScoringJob, score
from gen_bundle.rescore.warm_process import WarmProcess, serve
from gen_bundle.twin.engines import Engine, EngineError
from gen_bundle.twin.engines.choose import choose_engine
from gen_bundle.twin.layout import scratch_folder, temporary_folder


class ScoringDesk:
    """A place where jobs are scored one after the other; what is kept is for the scorer of the last one."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._of_scorer = ExitStack()
        self._scorer = ""
        self._engine: Engine | None = None
        self._warm: WarmProcess | None = None
        self._work = Path()

    def __enter__(self) -> Self:
        self._work = self._held.enter_context(scratch_folder())
        return self

    def __exit__(self, *_: object) -> None:
        with self._held:
            self._of_scorer.close()

    @property
    def serves(self) -> int | None:
        """The process of a program that serves; None where each job has one of its own."""
        return self._warm.pid if self._warm else None

    def score(self, job: ScoringJob) -> JobResult | Lost:
        """Run a job, if this machine is one for it."""
        try:
            return self._score(job)
        except Exception as bug:  # of ours, which one job meets and the others need not
            return Lost(bug_report(bug), final=True)

    def _score(self, job: ScoringJob) -> JobResult | Lost:
        try:
            engine = self._ready(job.scorer)
        except (EngineError, UserError, OSError) as error:
            self._forget()
            return Lost(str(error))
        if self._warm is not None:
            ended = score(replace(job, scorer=self._warm.scorer), self._warm, self._work)
            if not isinstance(ended, Lost):
                return ended
            self._forget()  # its process has died: the next job starts a new one, and this one gets a run of its own
            engine = self._engine_of(job.scorer)
        return score(job, engine, self._work)

    def _ready(self, scorer: Scorer) -> Engine:
        if self._engine is None or self._scorer != scorer.digest:
            self._forget()
            if differs := differing(scorer.environment, environment_of(scorer.engine)):
                raise EngineError(f"versions do not match: {differs}. Install the same ones on all machines")
            self._engine = self._engine_of(scorer)
            self._engine.prepare(scorer.image)
            place = self._of_scorer.enter_context(temporary_folder("warm-", self._work))
            self._warm = serve(scorer, place)
            if self._warm is not None:
                self._of_scorer.callback(self._warm.close)
            self._scorer = scorer.digest
        return self._engine

    def _engine_of(self, scorer: Scorer) -> Engine:
        """An engine that is closed when this scorer is done with; an image that is named by its digest is fetched."""
        python = Path(scorer.python) if scorer.python else None
        pull = scorer.engine == "docker" and "@sha256:" in scorer.image
        engine = choose_engine(scorer.engine, lambda _: None, gpu=scorer.gpu, pull=pull, python=python)
        self._of_scorer.callback(engine.close)
        return engine

    def _forget(self) -> None:
        self._of_scorer.close()
        self._of_scorer = ExitStack()
        self._engine = self._warm = None
