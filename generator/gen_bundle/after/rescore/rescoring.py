"""The journey from a bundle and all submissions to a phase to what scoring them again changes.

`rescore` reads from top to bottom: look at the submissions, open the bundles, name each job by what its result depends
on, score what has no result yet, compare, write.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.after.rescore.outputs import NOT_RUN, Rescored, ScoredRun, make_room, write_outputs
from gen_bundle.after.rescore.scoring_job import (
    EngineName,
    JobResult,
    LostError,
    OpenedBundle,
    ResultStore,
    ScoringJob,
    digest_of,
    job_for,
    opened_bundle,
)
from gen_bundle.after.rescore.standings import (
    BoardChanges,
    Side,
    compare,
    plain_scores,
    read_old_scores,
    standings,
)
from gen_bundle.after.rescore.submissions import SubmissionFile, submissions_in
from gen_bundle.after.rescore.workers import Workers, local_workers, run
from gen_bundle.build.building import finished_bundle
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
class BundleJobs:
    """The jobs of one bundle.

    Attributes:
        bundle: the bundle.
        of: submission → its jobs, by the order of the bundle's tasks.
    """

    bundle: OpenedBundle
    of: Mapping[str, Sequence[ScoringJob]]

    def side(self, store: ResultStore) -> Side:
        """Return the results that are there."""
        results: dict[str, dict[str, JobResult]] = {}
        for name, jobs in self.of.items():
            results[name] = {}
            for task, job in zip(self.bundle.tasks, jobs, strict=True):
                if (result := store.result(job.digest)) is not None:
                    results[name][task] = result
        board = self.bundle.leaderboard
        columns = [column.key for column in board.columns]
        return Side(board, self.bundle.tasks, self.bundle.owners, results, columns)


def rescore(request: RescoreRequest, announce: Announce, advance: Advance) -> Rescored:
    """Score all submissions that are not scored yet, and write what changed.

    Args:
        request: what is asked for.
        announce: see `Announce`.
        advance: see `Advance`.

    Raises:
        UserError: something cannot be used or written, or nothing here can score; results so far are kept.
    """
    advance("looking at the submissions", 0, 0)
    submissions, store = check(request), ResultStore(request.out / RESULTS)
    with ExitStack() as held:
        work = held.enter_context(scratch_folder())
        bundles = list(_opened(request, work, held, [one.path for one in submissions], announce, advance))
        past = None if request.scores is None else read_old_scores(request.scores, bundles[0])
        digests = {}
        for done, one in enumerate(submissions):
            advance("reading the submissions", done, len(submissions))
            try:
                digests[one.name] = digest_of(one.path)
            except OSError as error:
                raise UserError(f"{one.path}: cannot be read ({error.strerror}).") from error
        both = []
        for bundle in bundles:
            jobs = {}
            for one in submissions:
                jobs[one.name] = [job_for(scorer, one.path, digests[one.name]) for scorer in bundle.scorers]
            both.append(BundleJobs(bundle, jobs))
        workers = local_workers(request.workers)
        if request.cluster is not None:
            from gen_bundle.after.rescore.cluster import cluster

            workers = cluster(request.cluster, announce, gpu=request.gpu)
        lost = _score_missing(both, store, workers, announce, advance)
    rescored = _compared(request, both, store, past, submissions, lost)
    write_outputs(rescored, request.out)
    return rescored


def check(request: RescoreRequest) -> Sequence[SubmissionFile]:
    """Look at what is asked for, before anything is built or opened for it; returns the submissions.

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
    return submissions_in(request.submissions)


def _opened(
    request: RescoreRequest,
    work: Path,
    held: ExitStack,
    submissions: Sequence[Path],
    announce: Announce,
    advance: Advance,
) -> Iterator[OpenedBundle]:
    """Yield the new bundle and the old one that it is compared with, if any; declarations are built for it.

    Raises:
        UserError: one of them cannot be used, or the engine does not have its image.
    """
    advance("opening the bundle", 0, 0)
    engine = choose_engine(request.engine, announce, gpu=request.gpu, python=request.python)
    held.callback(engine.close)
    sources = [source for source in (request.bundle, request.against) if source is not None]
    for number, source in enumerate(sources):
        path = finished_bundle(source, work / f"built-{number}", data=request.data, trust=True, announce=announce)
        place, asked = work / str(number), {"gpu": request.gpu, "trust": request.trust}
        bundle = opened_bundle(path, request.phase, place, engine, named=source, **asked)
        refuse_code([bundle.phase], submissions, DIFFERENCES[NEWEST], engine, trust=request.trust)
        yield bundle


def _score_missing(
    both: Sequence[BundleJobs],
    store: ResultStore,
    opened: AbstractContextManager[Workers],
    announce: Announce,
    advance: Advance,
) -> dict[str, str]:
    """Run every job that has no result yet, and keep each result as soon as it is there.

    Returns:
        The digests of the jobs that got lost, with the reason.
    """
    distinct: dict[str, ScoringJob] = {}  # what is identical is one job
    for one in both:
        for jobs in one.of.values():
            distinct |= {job.digest: job for job in jobs}
    missing = [job for job in distinct.values() if store.result(job.digest) is None]
    missing.sort(key=lambda job: job.scorer.digest)  # those of one scorer follow each other
    lost: dict[str, str] = {}
    if not missing:
        return lost
    if known := len(distinct) - len(missing):
        announce(f"{known} of {len(distinct)} results are there already.")
    with opened as workers:
        for done, (job, ended) in enumerate(run(missing, workers, announce), start=1):
            if isinstance(ended, LostError):
                lost[job.digest] = ended.reason
            else:
                store.keep(job.digest, ended)
            advance("scoring", done, len(missing))
    return lost


def _compared(
    request: RescoreRequest,
    both: Sequence[BundleJobs],
    store: ResultStore,
    old: Side | None,
    submissions: Sequence[SubmissionFile],
    lost: Mapping[str, str],
) -> Rescored:
    """Compare what the store holds with the old bundle's results, or with the `old` scores of a file."""
    bundle, complete = both[0].bundle, True
    new = both[0].side(store)
    for other in both[1:]:
        old = other.side(store)
        complete = all(len(results) == len(old.tasks) for results in old.results.values())
    comparison, notes = BoardChanges(), []
    if old is not None:
        primary = new.leaderboard.primary
        keys = [key for key in new.columns if key in old.columns]
        keys.sort(key=lambda key: primary is None or key != primary.key)
        before, after = standings(old, submissions), standings(new, submissions)
        comparison = compare(before, after, sorted(both[0].of), keys, old.allowed)
        notes = list(_notes({*new.columns}, {*old.columns}, comparison))
    runs = []
    for name, jobs in sorted(both[0].of.items()):
        for task, job in zip(bundle.tasks, jobs, strict=True):
            result = new.results[name].get(task)
            if result is None:
                message = lost.get(job.digest, "not scored yet")
                runs.append(ScoredRun(name, task, NOT_RUN, None, None, job.digest, message))
                continue
            scores = plain_scores(result, bundle.leaderboard)
            runs.append(ScoredRun(name, task, result.status, result.exit_code, scores, job.digest, result.message))
    return Rescored(
        title=bundle.competition.title,
        phase=bundle.phase.id,
        against=str(request.scores or request.against or ""),
        runs=runs,
        comparison=comparison,
        notes=notes,
        complete=complete,
    )


def _notes(now: Set[str], before: Set[str], comparison: BoardChanges) -> Iterator[str]:
    for key in sorted(now - before):
        yield f"{key} has no old scores: not compared."
    for key in sorted(before - now):
        yield f"{key} is no longer a column: not compared."
    if comparison.uncompared:
        names = ", ".join(comparison.uncompared[:NAMED])
        if len(comparison.uncompared) > NAMED:
            names += f" and {len(comparison.uncompared) - NAMED} more"
        yield f"Not compared, because only one side has them: {names}."
