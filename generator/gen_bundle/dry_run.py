"""The dry run: everything the platform does to a bundle's zip and to submissions, from unpacking to the board."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gen_bundle.board import Board, Entry, NoBoardError, RefusedError
from gen_bundle.errors import UserError
from gen_bundle.worker.bundle import Competition, Phase, Task, open_bundle, read_competition
from gen_bundle.worker.engines import Engine, EngineError, LineListener, Usage
from gen_bundle.worker.engines.logs import keep_log
from gen_bundle.worker.jobs import Job, Setting, push_scoring_output, run_prediction, run_scoring
from gen_bundle.worker.layout import copy_tree
from gen_bundle.worker.results import BoardRow, Measured, Results, Run, make_room, written
from gen_bundle.worker.rules import JobFailedError, WorkerCrashError, time_limit
from gen_bundle.worker.submissions import Planned, plan


def _silent(_: str) -> None:
    return


@dataclass(frozen=True)
class Wish:
    """What is asked of a dry run.

    Attributes:
        bundle: A bundle's zip or unpacked folder.
        out: The folder for the results.
        submissions: Zips, folders or single files; none means the bundle's own solutions.
        team: The participant that all submissions come from; None makes each another participant's.
        phases: Ids (or indexes, or names) of phases; none means all.
        on_step: Told what is being done.
        on_line: Told each line that a program prints.
    """

    bundle: Path
    out: Path
    submissions: Sequence[Path] = ()
    team: str | None = None
    phases: Sequence[str] = ()
    on_step: Callable[[str], None] = _silent
    on_line: LineListener = _silent


def dry_run(wish: Wish, engine: Engine) -> Results:
    """Run submissions through a bundle as Codabench would, and write the results.

    Raises:
        UserError: The bundle, a submission or the results folder cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="gen-bundle-dry-run-") as scratch:
        work = Path(scratch)
        wish.on_step("unpacking the bundle")
        competition = read_competition(open_bundle(wish.bundle, work / "bundle"))
        phases = _chosen_phases(competition, wish.phases)
        planned = plan(competition, phases, wish.submissions, wish.team, work / "submissions")
        make_room(wish.out)
        results = Results(engine=engine.name)
        with written(results, wish.out):
            replay = _Replay(competition, wish, engine, work, results)
            for phase in phases:
                replay.phase(phase, planned[phase.id])
        return results


def _chosen_phases(competition: Competition, wanted: Sequence[str]) -> list[Phase]:
    phases = list(competition.phases)
    unknown = [name for name in wanted if not any(name in (phase.id, phase.name) for phase in phases)]
    if unknown:
        known = ", ".join(phase.id for phase in phases)
        raise UserError(*(f"--phase {name}: no such phase; the bundle has {known}" for name in unknown))
    return [phase for phase in phases if not wanted or phase.id in wanted or phase.name in wanted]


class _Replay:
    """Phase by phase, submission by submission, task by task."""

    def __init__(self, competition: Competition, wish: Wish, engine: Engine, work: Path, results: Results) -> None:
        self._competition = competition
        self._wish = wish
        self._work = work
        self._results = results
        self._setting = Setting(engine, competition.image, competition.detailed_results, wish.on_line)

    def phase(self, phase: Phase, planned: Sequence[Planned]) -> None:
        """All submissions of a phase, in order, and the board they leave."""
        if not planned:
            self._results.notes.append(
                f"phase {phase.id}: no solution of the bundle is attached to its tasks; nothing ran"
            )
            return
        board = Board(self._competition.leaderboard)
        for submission in planned:
            several = len(submission.tasks) > 1
            whole = board.submit(
                submission.name, submission.owner, [task.id for task in submission.tasks] if several else []
            )
            for entry, task in zip(whole.children or [whole], submission.tasks, strict=True):
                self._wish.on_step(f"phase {phase.id}, task {task.id}, submission {submission.name}")
                self._run(phase, task, submission, board, entry)
            if whole.finished and self._competition.leaderboard.is_manual:
                board.add_by_hand(whole)
        self._show(phase, board)

    def _run(self, phase: Phase, task: Task, submission: Planned, board: Board, entry: Entry) -> None:
        """One submission for one task: prediction job, scoring job, scores to the server, outcome."""
        run = Run(phase.id, task.id, submission.name)
        self._results.runs.append(run)
        seconds = time_limit(phase.execution_time_limit, own_queue=self._competition.own_queue)
        with tempfile.TemporaryDirectory(dir=self._work, prefix="run-") as folder:
            prediction = Job(Path(folder, "prediction"), task, seconds, is_scoring=False)
            scoring = Job(Path(folder, "scoring"), task, seconds, is_scoring=True)
            try:
                run_prediction(prediction, submission.file, self._setting)
                scores = run_scoring(scoring, prediction.output, self._setting)
                run.status = "Finished"
                board.finish(entry)
                self._store(run, board, entry, scores)
                push_scoring_output(scoring)
            except WorkerCrashError as crash:
                run.status = "Finished"
                board.finish(entry)
                self._refused(run, f"Finished without scores, because {crash}")
            except JobFailedError as failed:
                run.message = str(failed)
                run.status = "Failed"
                board.fail(entry)
            except EngineError as error:
                run.message = str(error)
                board.fail(entry)
            program = scoring.ended.get("program")
            run.exit_code = program.exit_code if program else None
            run.seconds = round(prediction.spent + scoring.spent, 3)
            self._results.notes += [f"{_where(run)}: {note}" for job in (prediction, scoring) for note in job.notes]
            self._measure(run, seconds, prediction, scoring)
            self._keep(run, prediction, scoring)

    def _store(self, run: Run, board: Board, entry: Entry, scores: object) -> None:
        try:
            board.upload(entry, scores)
        except RefusedError as refused:
            self._refused(run, f"Finished, but the server refuses the scores: {refused}")
            return
        run.scores = scores if isinstance(scores, dict) else None
        for finding in self._competition.leaderboard.doubts(run.scores or {}):
            self._results.findings.append(f"{_where(run)}: {finding}")

    def _refused(self, run: Run, message: str) -> None:
        run.message = message
        self._results.findings.append(f"{_where(run)}: {message}")

    def _measure(self, run: Run, limit: int, prediction: Job, scoring: Job) -> None:
        usages = [ended.usage for job in (prediction, scoring) for ended in job.ended.values()]
        self._results.measured.append(
            Measured(
                run.phase,
                run.task,
                run.submission,
                limit,
                round(max(prediction.spent, scoring.spent), 3),
                Usage.largest(usages),
            )
        )

    def _keep(self, run: Run, prediction: Job, scoring: Job) -> None:
        """The run's folder in the results: what the participant could download."""
        kept = self._wish.out / run.phase / run.task / run.submission
        kept.mkdir(parents=True)
        (kept / "output").mkdir()
        if scoring.output.exists():
            copy_tree(scoring.output, kept / "output")
        for stream in ("stdout", "stderr"):
            if not keep_log(scoring.log("program", stream), kept / f"{stream}.txt"):
                self._results.notes.append(f"{_where(run)}: {stream} is huge; the platform keeps all of it in memory")
            for name, log in (
                (f"ingestion-{stream}.txt", scoring.log("ingestion", stream)),
                (f"prediction-{stream}.txt", prediction.log("program", stream)),
                (f"prediction-ingestion-{stream}.txt", prediction.log("ingestion", stream)),
            ):
                if log.exists():
                    keep_log(log, kept / name)

    def _show(self, phase: Phase, board: Board) -> None:
        try:
            rows = board.rows()
        except NoBoardError as error:
            self._results.findings.append(f"phase {phase.id}: no leaderboard: {error}")
            return
        several = len(phase.tasks) > 1
        self._results.board += [
            BoardRow(
                phase.id, row.rank, row.entry.name, board.cells(row), board.cells_by_task(row) if several else None
            )
            for row in rows
        ]


def _where(run: Run) -> str:
    return f"{run.phase}/{run.task}/{run.submission}"
