"""The journey from a bundle and all submissions to a phase to what scoring them again changes."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager

from gen_bundle.rescore.changes import Comparison, Measure, compare
from gen_bundle.rescore.local import local_pool
from gen_bundle.rescore.old_scores import OldScores
from gen_bundle.rescore.opened_bundle import OpenedBundle
from gen_bundle.rescore.outputs import NOT_RUN, Rescored, ScoredRun, write_outputs
from gen_bundle.rescore.plan import RESULTS, Advance, Announce, Plan, RescoreRequest, planned
from gen_bundle.rescore.scoring_job import JobResult, Lost
from gen_bundle.rescore.standings import Side, plain_scores, standings
from gen_bundle.rescore.store import Store
from gen_bundle.rescore.workers import Workers, run

NAMED = 5
"""So many submissions are named in a note."""


def rescore(request: RescoreRequest, announce: Announce, advance: Advance) -> Rescored:
    """Score all submissions that are not scored yet, and write what changed.

    Args:
        request: what is asked.
        announce: is called with what happened to a job, in a line.
        advance: is called with how far the work is.

    Raises:
        UserError: something cannot be used or written, or nothing here can score; results so far are kept.
    """
    with planned(request, announce, advance) as plan:
        store = Store(request.out / RESULTS)
        lost = score_missing(plan, store, _workers(request, plan, announce), announce, advance)
        return finish(request, plan, store, lost)


def collect(request: RescoreRequest, announce: Announce, advance: Advance) -> Rescored:
    """Write what changed according to the results that are there; nothing is scored.

    Raises:
        UserError: something cannot be used or written.
    """
    with planned(request, announce, advance) as plan:
        return finish(request, plan, Store(request.out / RESULTS), {})


def score_only(request: RescoreRequest, announce: Announce, advance: Advance) -> Mapping[str, str]:
    """Score what is not scored yet and write nothing else, as a job of `--print-jobs`.

    Returns:
        The digests of the jobs that could not be run, with the reason.

    Raises:
        UserError: something cannot be used or written.
    """
    with planned(request, announce, advance) as plan:
        return score_missing(plan, Store(request.out / RESULTS), _workers(request, plan, announce), announce, advance)


def _workers(request: RescoreRequest, plan: Plan, announce: Announce) -> AbstractContextManager[Workers]:
    """The workers that are asked for; they start when they are entered."""
    if request.cluster is None:
        return local_pool(request.workers)
    from gen_bundle.rescore.cluster import cluster

    return cluster(request.cluster, plan.new.scorers[0].engine, announce)


def score_missing(
    plan: Plan, store: Store, opened: AbstractContextManager[Workers], announce: Announce, advance: Advance
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
        announce(f"{known} of {len(distinct)} results are there already.")
    with opened as workers:
        for done, (job, ended) in enumerate(run(missing, workers, announce), start=1):
            if isinstance(ended, Lost):
                lost[job.digest] = ended.reason
            else:
                store.keep(job.digest, ended)
            advance("scoring", done, len(missing))
    return lost


def finish(request: RescoreRequest, plan: Plan, store: Store, lost: Mapping[str, str]) -> Rescored:
    """Compare what the store holds, and write the outputs.

    Raises:
        UserError: the old scores cannot be read, or an output cannot be written.
    """
    new = _side(plan, store, plan.new, 0)
    old = _old(plan, store)
    comparison = Comparison() if old is None else _compared(plan, old, new)
    rescored = Rescored(
        plan.new.competition.title,
        plan.new.phase.id,
        str(request.scores or request.against or ""),
        list(_runs(plan, new, lost)),
        comparison,
        () if old is None else tuple(_notes(plan, old, comparison)),
        plan.old is None or all(store.result(job.digest) is not None for _, jobs in plan.jobs.values() for job in jobs),
    )
    write_outputs(rescored, request.out)
    return rescored


def _compared(plan: Plan, old: OldScores, new: Side) -> Comparison:
    primary = plan.new.leaderboard.primary
    keys = [column.key for column in plan.new.leaderboard.columns if column.key in old.columns]
    columns = sorted(keys, key=lambda key: primary is None or key != primary.key)
    before, after = (standings(side, plan.submissions) for side in (old.side, new))
    return compare(before, after, sorted(plan.jobs), Measure(columns, old.allowed))


def _side(plan: Plan, store: Store, bundle: OpenedBundle, which: int) -> Side:
    results: dict[str, dict[str, JobResult]] = {}
    for name, both in plan.jobs.items():
        found = {task: store.result(job.digest) for task, job in zip(bundle.tasks, both[which], strict=True)}
        results[name] = {task: result for task, result in found.items() if result is not None}
    return Side(bundle.leaderboard, bundle.tasks, bundle.owners, results)


def _old(plan: Plan, store: Store) -> OldScores | None:
    """The old scores: of a file, or of the old bundle; None where there are none."""
    if plan.old is None:
        return plan.past
    columns = frozenset(column.key for column in plan.old.leaderboard.columns)
    return OldScores(_side(plan, store, plan.old, 1), columns)


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


def _notes(plan: Plan, old: OldScores, comparison: Comparison) -> Iterator[str]:
    now = {column.key for column in plan.new.leaderboard.columns}
    for keys, what in ((now - old.columns, "has no old scores"), (old.columns - now, "is no longer a column")):
        yield from (f"{key} {what}: not compared." for key in sorted(keys))
    if comparison.uncompared:
        names = ", ".join(comparison.uncompared[:NAMED])
        more = f" and {len(comparison.uncompared) - NAMED} more" if len(comparison.uncompared) > NAMED else ""
        yield f"Not compared, because only one side has them: {names}{more}."
