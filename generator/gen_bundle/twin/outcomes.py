"""How a submission ended for one task: what the server made of it, and what to report."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gen_bundle.codabench.board import Board, Submitted
from gen_bundle.codabench.stored_scores import RefusedError
from gen_bundle.twin.engines import Usage
from gen_bundle.twin.jobs import Jobs

Status = Literal["Finished", "Failed"]
TOLERANCE = 1e-6
"""How far scores may differ between two runs of the same models on different machines."""


@dataclass(frozen=True)
class Run:
    """One submission scored for one task of one phase; the fields of `runs` in dry-run.json.

    Attributes:
        exit_code: Of the scoring program; None when it did not run or was stopped.
        seconds: Wall-clock time of both jobs' containers.
        scores: The scores file, where the server stored it.
        message: Why it failed, or what the platform would not show. Empty when all is well.
    """

    phase: str
    task: str
    submission: str
    status: Status = "Failed"
    exit_code: int | None = None
    seconds: float = 0.0
    scores: dict[str, Any] | None = None
    message: str = ""

    @property
    def place(self) -> str:
        return f"{self.phase}/{self.task}/{self.submission}"


@dataclass(frozen=True)
class Measured:
    """What one run used, held against its limit.

    Attributes:
        limit_seconds: What each of its two jobs may take.
        seconds: Both jobs.
        log_lines, log_bytes: What the scoring program printed.
    """

    phase: str
    task: str
    submission: str
    status: Status
    limit_seconds: int
    seconds: float
    slowest_job_seconds: float
    usage: Usage
    log_lines: int = 0
    log_bytes: int = 0


@dataclass(frozen=True)
class Outcome:
    """One run with what is reported beside it.

    Attributes:
        measured: None for a submission that was not taken.
        findings: What must be fixed before uploading.
        notes: What is worth knowing of this run.
        engine_notes: What the engine did besides, which is the same for many runs.
        command: Its scoring container as a `docker run` line, where that is asked for.
    """

    run: Run
    measured: Measured | None = None
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    engine_notes: tuple[str, ...] = ()
    command: str | None = None


@dataclass(frozen=True)
class Taken:
    """What the server made of what the worker sent.

    Attributes:
        scores: What dry-run.json keeps of the scores that were stored; None where there are none.
        problems: Sentences on what is wrong, although the submission is Finished.
        notes: What the server does not report.
    """

    scores: dict[str, Any] | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def take(board: Board, entry: Submitted, jobs: Jobs) -> Taken:
    """Hand the server what the worker sent, in its order: Finished, the scores, Failed."""
    if jobs.finished:
        board.finish(entry)
    taken = _take_scores(board, entry, jobs.scores) if jobs.sends_scores else Taken()
    if jobs.crash:
        taken = Taken(problems=(f"Finished without scores: {jobs.crash}",))
    if jobs.failure:
        board.fail(entry)
    return taken


def _take_scores(board: Board, entry: Submitted, scores: object) -> Taken:
    try:
        board.upload(entry, scores)
    except RefusedError as refused:
        return Taken(problems=(f"Finished, but the server refuses the scores: {refused}",))
    stored: Mapping[str, Any] = scores if isinstance(scores, dict) else {}
    # Lists and mappings are never a column's.
    plain = {key: value for key, value in stored.items() if not isinstance(value, dict | list)}
    ignored = ", ".join(map(repr, board.leaderboard.ignored(stored)))
    notes = (f"the scores file has keys without a column, which the platform ignores: {ignored}",) if ignored else ()
    return Taken(plain, tuple(board.leaderboard.doubts(stored)), notes)


def outcome(begun: Run, jobs: Jobs, taken: Taken, limit_seconds: int, *, detailed_results: bool) -> Outcome:
    """The outcome of a run, of which `begun` has the place: what its jobs left and sent, and the server made of that.

    Each job may take `limit_seconds`.
    """
    scorer = jobs.scoring.programs.of("program")
    status: Status = "Failed" if jobs.failure else "Finished"
    run = replace(
        begun,
        status=status,
        exit_code=scorer.ended.exit_code if scorer else None,
        seconds=round(sum(job.programs.seconds for job in jobs.both), 3),
        scores=taken.scores,
        message=jobs.failure or "\n".join(taken.problems),
    )
    ended = [program.ended for job in jobs.both for program in job.programs.runs]
    measured = Measured(
        run.phase,
        run.task,
        run.submission,
        status,
        limit_seconds,
        run.seconds,
        round(max(job.programs.seconds for job in jobs.both), 3),
        Usage.peak(one.usage for one in ended),
        scorer.log_lines if scorer else 0,
        scorer.log_bytes if scorer else 0,
    )
    notes = [note for job in jobs.both for note in job.notes] + list(taken.notes)
    problems = list(taken.problems)
    # Where nothing was predicted, scores are those of nothing; a run that failed is a failure anyway.
    failed = [job.failed_ingestion for job in jobs.both if job.failed_ingestion]
    (problems if status == "Finished" else notes).extend(failed)
    if detailed_results and jobs.sends_scores and not any(jobs.scoring.folders.output.glob("*.html")):
        notes.append("detailed results are on, but the program wrote no detailed_results.html")
    return Outcome(
        run,
        measured,
        tuple(f"{run.place}: {problem}" for problem in problems),
        tuple(f"{run.place}: {note}" for note in notes),
        tuple(dict.fromkeys(note for one in ended for note in one.notes)),
    )
