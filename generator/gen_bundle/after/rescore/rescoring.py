"""The journey from a bundle and all submissions to a phase to what scoring them again changes.

`rescore` reads from top to bottom: look at the submissions, open the bundles, name each job by what its result depends
on, score what has no result yet, compare, write.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.after.rescore.outputs import NOT_RUN, Rescored, ScoredRun, make_room, write_outputs
from gen_bundle.after.rescore.scoring_job import (
    EngineName,
    JobResult,
    Lost,
    OpenedBundle,
    ResultStore,
    ScoringJob,
    digest_of,
    job_for,
    opened_bundle,
)
from gen_bundle.after.rescore.standings import (
    BoardChanges,
    OldScores,
    Side,
    compare,
    plain_scores,
    read_old_scores,
    standings,
)
from gen_bundle.after.rescore.submissions import SubmissionFile, submissions_in
from gen_bundle.after.rescore.workers import Workers, local_workers, run
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST
from gen_bundle.dry_run.engines.choose import choose_engine, refuse_code
from gen_bundle.dry_run.layout import scratch_folder
from gen_bundle.ground.errors import UserError

RESULTS = "results"
"""The folder of the results, below the one for the outputs."""
NAMED = 5
"""So many submissions are named in a note."""

Announce = Callable[[str], None]
"""Called with a line on what happened."""
Advance = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and how much there is in all (0: unknown)."""


@dataclass(frozen=True)
class RescoreRequest:
    """The bundle and submissions to be scored again, and the old scores that the new ones are compared with.

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
    trust: bool = False
    python: Path | None = None


@dataclass(frozen=True)
class RescorePlan:
    """Everything that is to be known before the first job runs.

    Attributes:
        new: the bundle.
        old: the bundle that it is compared with, if there is one.
        past: the old scores from a file, if there is one.
        jobs: submission → the jobs of both bundles, first the new one's, each by the order of its tasks.
        store: the results that are there.
    """

    new: OpenedBundle
    old: OpenedBundle | None
    past: OldScores | None
    submissions: Sequence[SubmissionFile]
    jobs: Mapping[str, tuple[Sequence[ScoringJob], Sequence[ScoringJob]]]
    store: ResultStore

    @property
    def distinct(self) -> list[ScoringJob]:
        """Every job once: what is identical is one job. Those of one scorer follow each other."""
        distinct: dict[str, ScoringJob] = {}
        for of_new, of_old in self.jobs.values():
            for job in (*of_new, *of_old):
                distinct[job.digest] = job
        return sorted(distinct.values(), key=lambda job: job.scorer.digest)


def rescore(request: RescoreRequest, bundles: Sequence[Path], announce: Announce, advance: Advance) -> Rescored:
    """Score all submissions that are not scored yet, and write what changed.

    Args:
        request: what is asked for.
        bundles: the finished bundles: the new one, and the old one that it is compared with, if any.
        announce: see `Announce`.
        advance: see `Advance`.

    Raises:
        UserError: something cannot be used or written, or nothing here can score; results so far are kept.
    """
    with planned(request, bundles, announce, advance) as plan:
        lost = score_missing(plan, _workers(request, plan, announce), announce, advance)
        return _finished(request, plan, lost)


def check(request: RescoreRequest) -> None:
    """Look at what is asked for, before anything is built or opened for it.

    Raises:
        UserError: it does not go together, or names no submission, or a folder for the results that cannot be used.
    """
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
    submissions_in(request.submissions)


@contextmanager
def planned(
    request: RescoreRequest, bundles: Sequence[Path], announce: Announce, advance: Advance
) -> Iterator[RescorePlan]:
    """Open the bundles and look at all submissions.

    Raises:
        UserError: one of them cannot be used, or the engine does not have its image.
    """
    advance("looking at the submissions", 0, 0)
    submissions = submissions_in(request.submissions)
    advance("opening the bundle", 0, 0)
    chosen = closing(choose_engine(request.engine, announce, gpu=request.gpu, python=request.python))
    with chosen as engine, scratch_folder() as work:
        opened: list[OpenedBundle] = []
        for bundle, named in zip(bundles, (request.bundle, request.against), strict=False):
            place, asked = work / str(len(opened)), {"gpu": request.gpu, "trust": request.trust}
            opened.append(opened_bundle(bundle, request.phase, place, engine, named=named, **asked))
        new, old = opened[0], None
        if len(opened) > 1:
            old = opened[1]
        paths = [one.path for one in submissions]
        refuse_code([one.phase for one in opened], paths, DIFFERENCES[NEWEST], engine, trust=request.trust)
        past = None if request.scores is None else read_old_scores(request.scores, new)
        jobs = {}
        for done, submission in enumerate(submissions):
            advance("reading the submissions", done, len(submissions))
            jobs[submission.name] = _jobs(submission, new, old)
        yield RescorePlan(new, old, past, submissions, jobs, ResultStore(request.out / RESULTS))


def _jobs(
    submission: SubmissionFile, new: OpenedBundle, old: OpenedBundle | None
) -> tuple[Sequence[ScoringJob], Sequence[ScoringJob]]:
    try:
        digest = digest_of(submission.path) or ""
    except OSError as error:
        raise UserError(f"{submission.path}: cannot be read ({error.strerror}).") from error
    of_new = [job_for(scorer, submission.path, digest) for scorer in new.scorers]
    of_old = [job_for(scorer, submission.path, digest) for scorer in old.scorers] if old else []
    return of_new, of_old


def _workers(request: RescoreRequest, plan: RescorePlan, announce: Announce) -> AbstractContextManager[Workers]:
    """The workers that are asked for; they start when they are entered."""
    if request.cluster is None:
        return local_workers(request.workers)
    from gen_bundle.after.rescore.cluster import cluster

    return cluster(request.cluster, announce, gpu=request.gpu)


def score_missing(
    plan: RescorePlan, opened: AbstractContextManager[Workers], announce: Announce, advance: Advance
) -> dict[str, str]:
    """Run every job that has no result yet, and keep each result as soon as it is there.

    Returns:
        The digests of the jobs that got lost, with the reason.
    """
    distinct = plan.distinct
    missing = [job for job in distinct if plan.store.result(job.digest) is None]
    known, lost = len(distinct) - len(missing), dict[str, str]()
    if not missing:
        return lost
    if known:
        announce(f"{known} of {len(distinct)} results are there already.")
    with opened as workers:
        for done, (job, ended) in enumerate(run(missing, workers, announce), start=1):
            if isinstance(ended, Lost):
                lost[job.digest] = ended.reason
            else:
                plan.store.keep(job.digest, ended)
            advance("scoring", done, len(missing))
    return lost


def _finished(request: RescoreRequest, plan: RescorePlan, lost: Mapping[str, str]) -> Rescored:
    """Compare what the store holds, and write the outputs.

    Raises:
        UserError: an output cannot be written.
    """
    new, old, complete = _side(plan, plan.new, 0), plan.past, True
    if plan.old is not None:
        side = _side(plan, plan.old, 1)
        old = OldScores(side, frozenset(column.key for column in plan.old.leaderboard.columns))
        complete = all(len(results) == len(plan.old.tasks) for results in side.results.values())
    comparison, notes = BoardChanges(), []
    if old is not None:
        comparison = _compared(plan, old, new)
        notes = list(_notes(plan, old, comparison))
    rescored = Rescored(
        title=plan.new.competition.title,
        phase=plan.new.phase.id,
        against=str(request.scores or request.against or ""),
        runs=list(_runs(plan, new, lost)),
        comparison=comparison,
        notes=notes,
        complete=complete,
    )
    write_outputs(rescored, request.out)
    return rescored


def _side(plan: RescorePlan, bundle: OpenedBundle, which: int) -> Side:
    results: dict[str, dict[str, JobResult]] = {}
    for name, both in plan.jobs.items():
        results[name] = {}
        for task, job in zip(bundle.tasks, both[which], strict=True):
            if (result := plan.store.result(job.digest)) is not None:
                results[name][task] = result
    return Side(bundle.leaderboard, bundle.tasks, bundle.owners, results)


def _compared(plan: RescorePlan, old: OldScores, new: Side) -> BoardChanges:
    primary = plan.new.leaderboard.primary
    keys = [column.key for column in plan.new.leaderboard.columns if column.key in old.columns]
    columns = sorted(keys, key=lambda key: primary is None or key != primary.key)
    before, after = standings(old.side, plan.submissions), standings(new, plan.submissions)
    return compare(before, after, sorted(plan.jobs), columns, old.allowed)


def _runs(plan: RescorePlan, new: Side, lost: Mapping[str, str]) -> Iterator[ScoredRun]:
    for name in sorted(plan.jobs):
        for task, job in zip(plan.new.tasks, plan.jobs[name][0], strict=True):
            result = new.results[name].get(task)
            if result is None:
                message = lost.get(job.digest, "not scored yet")
                yield ScoredRun(name, task, NOT_RUN, None, None, job.digest, message)
                continue
            scores = plain_scores(result, new.leaderboard)
            yield ScoredRun(name, task, result.status, result.exit_code, scores, job.digest, result.message)


def _notes(plan: RescorePlan, old: OldScores, comparison: BoardChanges) -> Iterator[str]:
    now = {column.key for column in plan.new.leaderboard.columns}
    for key in sorted(now - old.columns):
        yield f"{key} has no old scores: not compared."
    for key in sorted(old.columns - now):
        yield f"{key} is no longer a column: not compared."
    if comparison.uncompared:
        names = ", ".join(comparison.uncompared[:NAMED])
        if len(comparison.uncompared) > NAMED:
            names += f" and {len(comparison.uncompared) - NAMED} more"
        yield f"Not compared, because only one side has them: {names}."
