"""The dry run: everything the platform does to a bundle's zip and to submissions, from unpacking to the board."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gen_bundle.bugs import bug_report
from gen_bundle.codabench.admission import closed, used_up
from gen_bundle.codabench.board import Board, Entry, NoBoardError, RefusedError
from gen_bundle.codabench.versions import NEWEST, Version
from gen_bundle.codabench.worker import JobFailedError, WorkerCrashError, time_limit
from gen_bundle.errors import UserError
from gen_bundle.twin.bundle import Competition, Phase, Task, open_bundle
from gen_bundle.twin.competition_yaml import read_competition
from gen_bundle.twin.cost import verdict
from gen_bundle.twin.engines import Container, Engine, EngineError, LineListener, Usage
from gen_bundle.twin.engines.choose import choose_engine
from gen_bundle.twin.jobs import Job, Setting, push_scoring_output, run_prediction, run_scoring
from gen_bundle.twin.layout import temporary_folder
from gen_bundle.twin.packed import own_columns
from gen_bundle.twin.results import (
    BoardRow,
    Measured,
    Results,
    Run,
    keep_job,
    keep_run,
    make_room,
    plain_scores,
    written,
)
from gen_bundle.twin.submissions import Planned, migrated, plan
from gen_bundle.twin.sweep import scratch_folder


def _silent(_: str) -> None:
    return


@dataclass(frozen=True)
class DryRunRequest:
    """What is asked of a dry run.

    Attributes:
        bundle: A bundle's zip or unpacked folder.
        out: The folder for the results.
        submissions: Zips, folders or single files; none means the bundle's own solutions.
        team: The participant that all submissions come from; None makes each another participant's.
        phases: Ids (or names) of phases; none means all.
        image: An image in place of the competition's own.
        enforce_limits: Look at dates and quotas.
        version: The platform's, where its versions differ.
        command_line: Writes a container as a line to be run by hand; given, each scoring job's folders are kept.
        teams: Participants, for the hours of worker time.
        per_day: Submissions of each a day.
        on_step: Told what is being done.
        on_line: Told each line that a program prints.
        environment: Further variables for the scoring program.
    """

    bundle: Path
    out: Path
    submissions: Sequence[Path] = ()
    team: str | None = None
    phases: Sequence[str] = ()
    image: str | None = None
    enforce_limits: bool = False
    version: Version = NEWEST
    command_line: Callable[[Container], str] | None = None
    teams: int | None = None
    per_day: int | None = None
    on_step: Callable[[str], None] = _silent
    on_line: LineListener = _silent
    environment: Mapping[str, str] = field(default_factory=dict)


def dry_run(request: DryRunRequest, engine: Engine | Literal["docker", "process"] | None = None) -> Results:
    """Run submissions through a bundle as Codabench would, and write the results.

    Args:
        request: What is asked.
        engine: The engine, or its name; None: docker where an engine answers, else process.

    Raises:
        UserError: The bundle, a submission or the results folder cannot be used, or no such engine answers.
    """
    if engine is None or isinstance(engine, str):
        chosen = choose_engine(engine, request.on_step)
        try:
            return dry_run(request, chosen)
        finally:
            chosen.close()
    with scratch_folder() as work:
        request.on_step("unpacking the bundle")
        competition = read_competition(open_bundle(request.bundle, work / "bundle"))
        phases = _chosen_phases(competition, request.phases)
        planned = plan(competition, phases, request.submissions, request.team, work / "submissions")
        make_room(request.out)
        results = Results(engine=engine.name)
        with written(results, request.out):
            replay = _Replay(competition, request, engine, work, results)
            for phase in phases:
                replay.phase(phase, planned[phase.id])
            results.verdict += verdict(competition, results.measured, request.teams, request.per_day)
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

    def __init__(
        self, competition: Competition, request: DryRunRequest, engine: Engine, work: Path, results: Results
    ) -> None:
        self._competition = competition
        self._request = request
        self._work = work
        self._results = results
        image = request.image or competition.image
        self._setting = Setting(
            engine, image, competition.detailed_results, request.on_line, request.version, request.environment
        )
        self._on_last_board: list[Planned] = []
        self._cannot_run: str | None = None
        try:
            results.notes += engine.prepare(image)
        except EngineError as error:
            self._cannot_run = str(error)

    def phase(self, phase: Phase, planned: Sequence[Planned]) -> None:
        """All submissions of a phase, in order, and the board they leave."""
        if not phase.tasks:
            self._results.findings.append(
                f"phase {phase.id} has no task: submissions would stay in Submitting for ever"
            )
            return
        if phase.auto_migrate:
            planned = [*migrated(self._on_last_board, phase, planned), *planned]
        if not planned:
            self._results.notes.append(
                f"phase {phase.id}: no solution of the bundle is attached to its tasks; nothing ran"
            )
        board = Board(self._competition.leaderboard)
        made: dict[Entry, Planned] = {}
        for submission in planned:
            if self._request.enforce_limits and (reason := _turned_away(phase, board, submission.owner)):
                self._results.runs += [
                    Run(phase.id, task.id, submission.name, message=f"not taken: {reason}") for task in submission.tasks
                ]
                continue
            several = len(submission.tasks) > 1
            whole = board.submit(
                submission.name, submission.owner, [task.id for task in submission.tasks] if several else []
            )
            made[whole] = submission
            for entry, task in zip(whole.children or [whole], submission.tasks, strict=True):
                self._request.on_step(f"phase {phase.id}, task {task.id}, submission {submission.name}")
                self._run(phase, task, submission, board, entry)
            if whole.finished and self._competition.leaderboard.is_manual:
                board.add_by_hand(whole)
        self._on_last_board = [
            made[entry] for entry in made if entry.finished and any(e.on_board for e in [entry, *entry.children])
        ]
        if made:
            self._show(phase, board)

    def _run(self, phase: Phase, task: Task, submission: Planned, board: Board, entry: Entry) -> None:
        """One submission for one task: prediction job, scoring job, scores to the server, outcome."""
        run = Run(phase.id, task.id, submission.name)
        self._results.runs.append(run)
        seconds = time_limit(phase.execution_time_limit, own_queue=self._competition.own_queue)
        with temporary_folder("run-", self._work) as folder:
            prediction = Job(folder / "prediction", task, seconds, is_scoring=False)
            scoring = Job(folder / "scoring", task, seconds, is_scoring=True)
            try:
                self._both_jobs(run, submission, board, entry, prediction, scoring)
            except (JobFailedError, EngineError, OSError) as failed:
                run.status, run.message = "Failed", str(failed)
                board.fail(entry)
            except Exception as bug:  # of ours, which one submission meets and the others need not
                run.status, run.message = "Failed", bug_report(bug)
                board.fail(entry)
            program = scoring.ended.get("program")
            run.exit_code = program.exit_code if program else None
            run.seconds = round(prediction.spent + scoring.spent, 3)
            self._report(run, prediction, scoring)

    def _both_jobs(
        self, run: Run, submission: Planned, board: Board, entry: Entry, prediction: Job, scoring: Job
    ) -> None:
        """The jobs in the worker's order: Finished comes first, then the scores, then the output."""
        if self._cannot_run:
            raise EngineError(self._cannot_run)
        run_prediction(prediction, submission.file, self._setting)
        try:
            scores = run_scoring(scoring, prediction.output, self._setting)
        except WorkerCrashError as crash:
            run.status = "Finished"
            board.finish(entry)
            self._to_mend(run, f"Finished without scores: {crash}")
            return
        run.status = "Finished"
        board.finish(entry)
        try:
            board.upload(entry, scores)
        except RefusedError as refused:
            self._to_mend(run, f"Finished, but the server refuses the scores: {refused}")
        else:
            sent = scores if isinstance(scores, dict) else {}
            run.scores = plain_scores(sent)
            for doubt in self._competition.leaderboard.doubts(sent):
                self._to_mend(run, doubt)
            if ignored := self._competition.leaderboard.ignored(sent):
                scoring.notes.append(
                    f"the scores file has keys that are no column, which nobody sees: {', '.join(map(repr, ignored))}"
                )
        if self._competition.detailed_results and not any(scoring.output.glob("*.html")):
            scoring.notes.append("detailed results are on, but the program wrote no detailed_results.html")
        push_scoring_output(scoring)

    def _to_mend(self, run: Run, message: str) -> None:
        run.message = "\n".join(filter(None, [run.message, message]))
        self._results.findings.append(f"{run.place}: {message}")

    def _report(self, run: Run, prediction: Job, scoring: Job) -> None:
        """Keep what the run left, and note what the platform would not say."""
        jobs = (prediction, scoring)
        usage = Usage.peak(ended.usage for job in jobs for ended in job.ended.values())
        slowest = round(max(job.spent for job in jobs), 3)
        self._results.measured.append(
            Measured(
                run.phase,
                run.task,
                run.submission,
                run.status,
                scoring.seconds,
                run.seconds,
                slowest,
                usage,
                *scoring.printed("program"),
            )
        )
        self._results.notes += [f"{run.place}: {note}" for job in jobs for note in job.notes]
        of_engine = (note for job in jobs for ended in job.ended.values() for note in ended.notes)
        self._results.notes += [note for note in dict.fromkeys(of_engine) if note not in self._results.notes]
        folder = self._request.out / run.phase / run.task / run.submission
        try:
            self._results.notes += [f"{run.place}: {note}" for note in keep_run(folder, prediction, scoring)]
            if self._request.command_line and (container := keep_job(folder, scoring)):
                self._results.commands.append(self._request.command_line(container))
        except OSError as error:
            self._results.findings.append(f"{run.place}: what the run left could not be kept in {folder}: {error}")

    def _show(self, phase: Phase, board: Board) -> None:
        try:
            rows = board.rows()
        except NoBoardError as error:
            self._results.findings.append(f"phase {phase.id}: no leaderboard: {error}")
            return
        several = len(phase.tasks) > 1
        owners = {key: task.id for task in phase.tasks for key in own_columns(task.scoring_program)} if several else {}
        self._results.board += [
            BoardRow(
                phase.id,
                row.rank,
                row.entry.name,
                board.cells(row, owners),
                board.cells_by_task(row) if several else None,
            )
            for row in rows
        ]


def _turned_away(phase: Phase, board: Board, owner: str) -> str | None:
    return closed(phase, dt.datetime.now(dt.UTC)) or used_up(phase, board, owner)
