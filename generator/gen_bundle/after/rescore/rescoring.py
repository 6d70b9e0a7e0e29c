"""The journey from a bundle and all submissions to a phase to what scoring them again changes.

`rescore` reads from top to bottom: look at the submissions, open the bundles, name each job by what its result depends
on, score what has no result yet, compare, write.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from gen_bundle.after.rescore.standings import BoardChanges, Side, compare, plain_scores, read_old_scores, standings
from gen_bundle.after.rescore.submissions import SubmissionFile, submissions_in
from gen_bundle.after.rescore.workers import local_workers, run
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
Ended = Mapping[str, JobResult | LostError]
"""How each job ended, by its digest."""


@dataclass(frozen=True)
class RescoreRequest:
    """What the options of the command say.

    Attributes:
        bundle: a bundle's zip or folder, or the name or folder of a declaration, which is built for it.
        engine: None: docker where an engine answers, else process.
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
    """The jobs of one bundle: submission → task → its job."""

    bundle: OpenedBundle
    of: dict[str, dict[str, ScoringJob]] = field(default_factory=dict)

    def side(self, ended: Ended) -> Side:
        """Return the results that there are."""
        results: dict[str, dict[str, JobResult]] = {}
        for name, jobs in self.of.items():
            results[name] = {}
            for task, job in jobs.items():
                if isinstance(result := ended[job.digest], JobResult):
                    results[name][task] = result
        board = self.bundle.leaderboard
        return Side(board, self.bundle.tasks, self.bundle.owners, results, [column.key for column in board.columns])


def rescore(request: RescoreRequest, announce: Announce, advance: Advance) -> Rescored:
    """Score all submissions that are not scored yet, and write what changed.

    Raises:
        UserError: something cannot be used or written, or nothing here can score; results so far are kept.
    """
    advance("looking at the submissions", 0, 0)
    submissions = check(request)
    with ExitStack() as held:
        work = held.enter_context(scratch_folder())
        advance("opening the bundle", 0, 0)
        both = list(_opened(request, work, held, [one.path for one in submissions], announce))
        past = None if request.scores is None else read_old_scores(request.scores, both[0].bundle)
        for done, one in enumerate(submissions):
            advance("reading the submissions", done, len(submissions))
            try:
                digest = digest_of(one.path)
            except OSError as error:
                raise UserError(f"{one.path}: cannot be read ({error.strerror or error}).") from error
            for jobs in both:
                jobs.of[one.name] = {
                    scorer.task.id: job_for(scorer, one.path, digest) for scorer in jobs.bundle.scorers
                }
        ended = _ended(request, both, announce, advance)
    rescored = _compared(request, both, ended, past, submissions)
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
    request: RescoreRequest, work: Path, held: ExitStack, submissions: Sequence[Path], announce: Announce
) -> Iterator[BundleJobs]:
    """Yield the new bundle and the old one that it is compared with, if any, without jobs; declarations are built.

    Raises:
        UserError: one of them cannot be used, or the engine does not have its image.
    """
    engine = choose_engine(request.engine, announce, gpu=request.gpu, python=request.python)
    held.callback(engine.close)
    sources = [request.bundle]
    if request.against is not None:
        sources.append(request.against)
    for number, source in enumerate(sources):
        path = finished_bundle(source, work / f"built-{number}", data=request.data, trust=True, announce=announce)
        place, asked = work / str(number), {"gpu": request.gpu, "trust": request.trust}
        bundle = opened_bundle(path, request.phase, place, engine, named=source, **asked)
        refuse_code([bundle.phase], submissions, DIFFERENCES[NEWEST], engine, trust=request.trust)
        yield BundleJobs(bundle)


def _ended(request: RescoreRequest, both: Sequence[BundleJobs], announce: Announce, advance: Advance) -> Ended:
    """Run every job that has no result yet, and keep each result as soon as it is there."""
    store = ResultStore(request.out / RESULTS)
    ended: dict[str, JobResult | LostError] = {}
    missing: dict[str, ScoringJob] = {}  # what is identical is one job
    for one in both:
        for jobs in one.of.values():
            for job in jobs.values():
                if (known := store.result(job.digest)) is None:
                    missing[job.digest] = job
                else:
                    ended[job.digest] = known
    if not missing:
        return ended
    if ended:
        announce(f"{len(ended)} of {len(ended) + len(missing)} results are there already.")
    in_turn = sorted(missing.values(), key=lambda job: job.scorer.digest)  # those of one scorer follow each other
    opened = local_workers(request.workers)
    if request.cluster is not None:
        from gen_bundle.after.rescore.cluster import cluster

        opened = cluster(request.cluster, announce, gpu=request.gpu)
    with opened as workers:
        for done, (job, result) in enumerate(run(in_turn, workers, announce), start=1):
            ended[job.digest] = result
            if isinstance(result, JobResult):
                store.keep(job.digest, result)
            advance("scoring", done, len(missing))
    return ended


def _compared(
    request: RescoreRequest, both: Sequence[BundleJobs], ended: Ended, old: Side | None, sent: Sequence[SubmissionFile]
) -> Rescored:
    """Compare the results with the old bundle's, or with the `old` scores of a file."""
    bundle, new = both[0].bundle, both[0].side(ended)
    if both[1:]:
        old = both[1].side(ended)
    comparison, notes = BoardChanges(), []
    if old is not None:
        primary = new.leaderboard.primary
        keys = [key for key in new.columns if key in old.columns]
        keys.sort(key=lambda key: primary is None or key != primary.key)
        before, after = standings(old, sent), standings(new, sent)
        comparison = compare(before, after, sorted(both[0].of), keys, old.allowed)
        notes = list(_notes({*new.columns}, {*old.columns}, comparison))
    runs = []
    for name, jobs in sorted(both[0].of.items()):
        for task, job in jobs.items():
            result = ended[job.digest]
            if isinstance(result, LostError):
                runs.append(ScoredRun(name, task, NOT_RUN, None, None, job.digest, result.reason))
                continue
            scores = plain_scores(result, bundle.leaderboard)
            runs.append(ScoredRun(name, task, result.status, result.exit_code, scores, job.digest, result.message))
    title, phase, against = bundle.competition.title, bundle.phase.id, str(request.scores or request.against or "")
    lost = any(isinstance(result, LostError) for result in ended.values())
    return Rescored(title, phase, against, runs, comparison, notes, complete=not lost)


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
