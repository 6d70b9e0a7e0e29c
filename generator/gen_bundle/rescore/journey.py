"""The journey from a bundle and all submissions to a phase to what scoring them again changes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.rescore.changes import Comparison, Measure, compare
from gen_bundle.rescore.digests import digest_of
from gen_bundle.rescore.local import local_pool
from gen_bundle.rescore.old_scores import read_old_scores
from gen_bundle.rescore.opened_bundle import OpenedBundle, opened_bundle
from gen_bundle.rescore.outputs import NOT_RUN, Rescored, ScoredRun, write_outputs
from gen_bundle.rescore.scoring_job import EngineName, JobResult, Lost, ScoringJob, job_for
from gen_bundle.rescore.standings import Side, plain_scores, standings
from gen_bundle.rescore.store import Store
from gen_bundle.rescore.submissions import SubmissionFile, submissions_in
from gen_bundle.rescore.workers import Workers, run
from gen_bundle.twin.engines.choose import choose_engine

RESULTS = "results"
"""The folder of the store, below the one for the results."""


@dataclass(frozen=True)
class Progress:
    """How far a step is."""

    step: str
    done: int = 0
    total: int = 0


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


Say = Callable[[str], None]
Advance = Callable[[Progress], None]


@dataclass(frozen=True)
class Plan:
    """Everything that is to be known before the first job runs.

    Attributes:
        new: the bundle.
        old: the bundle that it is compared with, if there is one.
        jobs: submission → the jobs of both bundles, first the new one's, each by the order of its tasks.
    """

    new: OpenedBundle
    old: OpenedBundle | None
    submissions: Sequence[SubmissionFile]
    jobs: Mapping[str, tuple[Sequence[ScoringJob], Sequence[ScoringJob]]]

    @property
    def distinct(self) -> dict[str, ScoringJob]:
        """Every job once, by its digest: what is identical is one job. Those of one scorer follow each other."""
        jobs = [job for both in self.jobs.values() for job in chain(*both)]
        scorers = list(dict.fromkeys(job.scorer.digest for job in jobs))
        return {job.digest: job for job in sorted(jobs, key=lambda job: scorers.index(job.scorer.digest))}


def rescore(request: RescoreRequest, say: Say = lambda _: None, advance: Advance = lambda _: None) -> Rescored:
    """Score all submissions that are not scored yet, and write what changed.

    Args:
        request: what is asked.
        say: is called with what happened to a job, in a line.
        advance: is called with how far the work is.

    Raises:
        UserError: something cannot be used or written, or nothing here can score; results so far are kept.
    """
    with planned(request, say, advance) as plan:
        store = Store(request.out / RESULTS)
        lost = score_missing(plan, store, _workers(request, plan, say), say, advance)
        return finish(request, plan, store, lost)


def collect(request: RescoreRequest, say: Say = lambda _: None, advance: Advance = lambda _: None) -> Rescored:
    """Write what changed according to the results that are there; nothing is scored.

    Raises:
        UserError: something cannot be used or written.
    """
    with planned(request, say, advance) as plan:
        return finish(request, plan, Store(request.out / RESULTS), {})


def score_only(
    request: RescoreRequest, say: Say = lambda _: None, advance: Advance = lambda _: None
) -> Mapping[str, str]:
    """Score what is not scored yet and write nothing else, as a job of `--print-jobs`.

    Returns:
        The digests of the jobs that could not be run, with the reason.

    Raises:
        UserError: something cannot be used or written.
    """
    with planned(request, say, advance) as plan:
        return score_missing(plan, Store(request.out / RESULTS), _workers(request, plan, say), say, advance)


@contextmanager
def planned(request: RescoreRequest, say: Say, advance: Advance) -> Iterator[Plan]:
    """Open the bundles and look at all submissions.

    Raises:
        UserError: one of them cannot be used.
    """
    _check(request)
    advance(Progress("looking at the submissions"))
    submissions = _wanted(request)
    advance(Progress("opening the bundle"))
    engine = choose_engine(request.engine, say, gpu=request.gpu)
    try:
        with tempfile.TemporaryDirectory(prefix="gen-bundle-rescore-") as work:
            new, old = (
                None
                if source is None
                else opened_bundle(source, request.phase, Path(work, name), engine, request.data, gpu=request.gpu)
                for name, source in (("new", request.bundle), ("old", request.against))
            )
            assert new is not None  # noqa: S101 the request names it
            jobs = {}
            for done, submission in enumerate(submissions):
                advance(Progress("reading the submissions", done, len(submissions)))
                jobs[submission.name] = _jobs(submission, new, old)
            yield Plan(new, old, submissions, jobs)
    finally:
        engine.close()


def _check(request: RescoreRequest) -> None:
    if request.against is not None and request.scores is not None:
        raise UserError("--against does not go together with --scores. Expected one source of old scores.")
    if request.gpu and request.workers > 1:
        raise UserError(
            "--gpu with --workers: on one machine, jobs that need a GPU run one at a time. For several GPUs start a "
            "Dask worker for each (docs/rescore.md), and pass --cluster."
        )
    try:
        (request.out / RESULTS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {request.out}: cannot be used ({error.strerror}). Expected a folder.") from error


def _wanted(request: RescoreRequest) -> list[SubmissionFile]:
    if request.out.resolve().is_relative_to(request.submissions.resolve()):
        raise UserError(
            f"--out {request.out}: lies among the submissions. Choose a folder outside {request.submissions}."
        )
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


def _workers(request: RescoreRequest, plan: Plan, say: Say) -> AbstractContextManager[Workers]:
    """The workers that are asked for; they start when they are entered."""
    if request.cluster is None:
        return local_pool(request.workers)
    from gen_bundle.rescore.cluster import cluster

    return cluster(request.cluster, plan.new.scorers[0].engine, say)


def score_missing(
    plan: Plan, store: Store, opened: AbstractContextManager[Workers], say: Say, advance: Advance
) -> dict[str, str]:
    """Run every job that has no result yet, and keep each result as soon as it is there.

    Returns:
        The digests of the jobs that got lost, with the reason.
    """
    distinct = plan.distinct
    missing = [job for digest, job in distinct.items() if store.result(digest) is None]
    known, lost = len(distinct) - len(missing), dict[str, str]()
    if not missing:
        return lost
    if known:
        say(f"{known} of {len(distinct)} results are there already.")
    with opened as workers:
        for done, (job, ended) in enumerate(run(missing, workers, say), start=1):
            if isinstance(ended, Lost):
                lost[job.digest] = ended.reason
            else:
                store.keep(job.digest, ended)
            advance(Progress("scoring", done, len(missing)))
    return lost


def finish(request: RescoreRequest, plan: Plan, store: Store, lost: Mapping[str, str]) -> Rescored:
    """Compare what the store holds, and write the outputs.

    Raises:
        UserError: the old scores cannot be read, or an output cannot be written.
    """
    new = _side(plan, store, plan.new, 0)
    old_columns, old, allowed, against = _old(request, plan, store)
    measure = Measure(_columns(plan.new, old_columns), allowed)
    names = [submission.name for submission in plan.submissions]
    by_moment = plan.submissions
    comparison = Comparison()
    if old is not None:
        comparison = compare(standings(old, by_moment), standings(new, by_moment), sorted(names), measure)
    rescored = Rescored(
        plan.new.competition.title,
        plan.new.phase.id,
        against,
        list(_runs(plan, new, lost)),
        comparison,
        tuple(_notes(plan, old_columns if old else None, comparison)),
    )
    write_outputs(rescored, request.out)
    return rescored


def _side(plan: Plan, store: Store, bundle: OpenedBundle, which: int) -> Side:
    results: dict[str, dict[str, JobResult]] = {}
    for name, both in plan.jobs.items():
        found = {task: store.result(job.digest) for task, job in zip(bundle.tasks, both[which], strict=True)}
        results[name] = {task: result for task, result in found.items() if result is not None}
    return Side(bundle.leaderboard, bundle.tasks, bundle.owners, results)


def _old(
    request: RescoreRequest, plan: Plan, store: Store
) -> tuple[frozenset[str], Side | None, Mapping[tuple[str, str], float], str]:
    """The columns of the old side, the side, how far its values may be off, and what it is called."""
    if request.scores is not None:
        read = read_old_scores(request.scores, plan.new)
        return read.columns, read.side, read.allowed, str(request.scores)
    if plan.old is not None:
        columns = frozenset(column.key for column in plan.old.leaderboard.columns)
        return columns, _side(plan, store, plan.old, 1), {}, str(request.against)
    return frozenset(), None, {}, ""


def _columns(bundle: OpenedBundle, old: frozenset[str]) -> list[str]:
    primary = bundle.leaderboard.primary
    keys = [column.key for column in bundle.leaderboard.columns if column.key in old]
    return sorted(keys, key=lambda key: primary is None or key != primary.key)


def _runs(plan: Plan, new: Side, lost: Mapping[str, str]) -> Iterator[ScoredRun]:
    for name in sorted(plan.jobs):
        for task, job in zip(plan.new.tasks, plan.jobs[name][0], strict=True):
            result = new.results[name].get(task)
            if result is None:
                message = lost.get(job.digest, "not scored yet")
                yield ScoredRun(name, task, NOT_RUN, None, None, job.digest, message)
                continue
            scores = plain_scores(result, new.leaderboard)
            yield ScoredRun(name, task, result.status, result.exit_code, scores, job.digest, result.message)


def _notes(plan: Plan, old: frozenset[str] | None, comparison: Comparison) -> Iterator[str]:
    if old is None:
        return
    now = {column.key for column in plan.new.leaderboard.columns}
    for keys, what in ((now - old, "has no old scores"), (old - now, "is no longer a column")):
        yield from (f"{key} {what}: not compared." for key in sorted(keys))
    if comparison.uncompared:
        names = ", ".join(comparison.uncompared[:5])
        more = f" and {len(comparison.uncompared) - 5} more" if len(comparison.uncompared) > 5 else ""
        yield f"Not compared, because only one side has them: {names}{more}."
