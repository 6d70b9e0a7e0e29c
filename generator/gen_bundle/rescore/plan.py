"""What is asked of a rescoring, and everything that is to be known before its first job runs."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from gen_bundle.codabench.versions import DIFFERENCES, NEWEST
from gen_bundle.errors import UserError
from gen_bundle.rescore.digests import digest_of
from gen_bundle.rescore.old_scores import OldScores, read_old_scores
from gen_bundle.rescore.opened_bundle import OpenedBundle, opened_bundle
from gen_bundle.rescore.outputs import make_room
from gen_bundle.rescore.scoring_job import EngineName, ScoringJob, job_for
from gen_bundle.rescore.submissions import SubmissionFile, submissions_in
from gen_bundle.twin.engines.choose import choose_engine
from gen_bundle.twin.strangers import refuse_code

RESULTS = "results"
"""The folder of the store, below the one for the results."""


@dataclass(frozen=True)
class RescoreRequest:
    """What is to be scored again, and what that is compared with.

    Attributes:
        bundle: a bundle's zip or folder, or the name or folder of a declaration, which is built for it.
        submissions: a phase's folder of `gen-bundle fetch`, another folder of submissions, or a single one.
        phase: the id (or name) of the phase.
        out: the folder for the results; one of an earlier rescoring is gone on with.
        against: the bundle that gave the old scores, which are made again with it.
        scores: a file of old scores.
        data: the data with which declarations are built.
        engine: None: docker where an engine answers, else process.
        workers: processes of this machine.
        cluster: the address of a Dask scheduler whose workers are used instead.
        gpu: each job needs a GPU.
        only: the name of the one submission to be scored.
        trust: run code of others, too, on this machine without isolation.
        python: the interpreter of the process engine; None: the running one.
    """

    bundle: str
    submissions: Path
    phase: str
    out: Path
    against: str | None = None
    scores: Path | None = None
    data: Path | None = None
    engine: EngineName | None = None
    workers: int = 1
    cluster: str | None = None
    gpu: bool = False
    only: str | None = None
    trust: bool = False
    python: Path | None = None


Announce = Callable[[str], None]
Advance = Callable[[str, int, int], None]
"""Hears of a step, how much of it is done, and how much there is in all (0: unknown)."""


@dataclass(frozen=True)
class Plan:
    """Everything that is to be known before the first job runs.

    Attributes:
        new: the bundle.
        old: the bundle that it is compared with, if there is one.
        past: the old scores from a file, if there is one.
        jobs: submission → the jobs of both bundles, first the new one's, each by the order of its tasks.
    """

    new: OpenedBundle
    old: OpenedBundle | None
    past: OldScores | None
    submissions: Sequence[SubmissionFile]
    jobs: Mapping[str, tuple[Sequence[ScoringJob], Sequence[ScoringJob]]]

    @property
    def distinct(self) -> dict[str, ScoringJob]:
        """Every job once, by its digest: what is identical is one job. Those of one scorer follow each other."""
        jobs = [job for both in self.jobs.values() for job in chain(*both)]
        scorers = list(dict.fromkeys(job.scorer.digest for job in jobs))
        return {job.digest: job for job in sorted(jobs, key=lambda job: scorers.index(job.scorer.digest))}


@contextmanager
def planned(request: RescoreRequest, announce: Announce, advance: Advance) -> Iterator[Plan]:
    """Open the bundles and look at all submissions.

    Raises:
        UserError: one of them cannot be used.
    """
    _check(request)
    advance("looking at the submissions", 0, 0)
    submissions = _wanted(request)
    advance("opening the bundle", 0, 0)
    chosen = closing(choose_engine(request.engine, announce, gpu=request.gpu, python=request.python))
    with chosen as engine, tempfile.TemporaryDirectory(prefix="gen-bundle-rescore-") as work:

        def opened(source: str, name: str) -> OpenedBundle:
            place = Path(work, name)
            asked = {"gpu": request.gpu, "trust": request.trust}
            return opened_bundle(source, request.phase, place, engine, request.data, announce=announce, **asked)

        new = opened(request.bundle, "new")
        old = opened(request.against, "old") if request.against is not None else None
        for bundle in filter(None, (new, old)):
            given, version = (one.path for one in submissions), DIFFERENCES[NEWEST]
            refuse_code([bundle.phase], given, version, engine, trust=request.trust)
        past = read_old_scores(request.scores, new) if request.scores is not None else None
        jobs = {}
        for done, submission in enumerate(submissions):
            advance("reading the submissions", done, len(submissions))
            jobs[submission.name] = _jobs(submission, new, old)
        yield Plan(new, old, past, submissions, jobs)


def _check(request: RescoreRequest) -> None:
    if request.against is not None and request.scores is not None:
        raise UserError("--against does not go together with --scores. Expected one source of old scores.")
    if request.gpu and request.workers > 1:
        raise UserError(
            "--gpu with --workers: on one machine, jobs that need a GPU run one at a time. For several GPUs start a "
            "Dask worker for each (docs/rescore.md), and pass --cluster."
        )
    if request.out.resolve().is_relative_to(request.submissions.resolve()):
        raise UserError(
            f"--out {request.out}: lies among the submissions. Choose a folder outside {request.submissions}."
        )
    make_room(request.out / RESULTS)


def _wanted(request: RescoreRequest) -> list[SubmissionFile]:
    submissions = submissions_in(request.submissions)
    if request.only is None:
        return submissions
    found = [submission for submission in submissions if submission.name == request.only]
    if not found:
        raise UserError(f"--job {request.only}: no such submission in {request.submissions}.")
    return found


def _jobs(
    submission: SubmissionFile, new: OpenedBundle, old: OpenedBundle | None
) -> tuple[Sequence[ScoringJob], Sequence[ScoringJob]]:
    try:
        digest = digest_of(submission.path) or ""
    except OSError as error:
        raise UserError(f"{submission.path}: cannot be read ({error.strerror}).") from error
    of_new, of_old = (
        [job_for(scorer, submission.path, digest) for scorer in bundle.scorers] if bundle else []
        for bundle in (new, old)
    )
    return of_new, of_old
