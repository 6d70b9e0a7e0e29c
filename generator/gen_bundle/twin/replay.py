"""The dry run: everything the platform does to a bundle's zip and to submissions, from unpacking to the board.

`dry_run` opens the bundle and plans the submissions; `Replay` takes each phase by itself: is a submission taken, what
do its jobs leave (`jobs`), what does the server make of the scores (`codabench.board`), what is kept, and what does the
board show in the end. All that is found is in `report.Results`.
"""

import contextlib
import datetime as dt
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gen_bundle.codabench.board import Board, NoBoardError, RefusedError, Submitted
from gen_bundle.codabench.competition import Competition, Phase, Task
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST, PlatformVersion
from gen_bundle.codabench.worker import time_limit
from gen_bundle.errors import UserError, bug_report
from gen_bundle.local_files import write_whole
from gen_bundle.twin.bundle import open_bundle, own_columns, read_competition
from gen_bundle.twin.engines import Container, Engine, EngineError, LineListener, Usage
from gen_bundle.twin.engines.choose import choose_engine
from gen_bundle.twin.engines.watching import KEPT_BYTES, keep_log
from gen_bundle.twin.jobs import Jobs, JobSetting, WorkerJob, run_jobs
from gen_bundle.twin.layout import copy_tree, drop_strays, entries, open_to_containers, scratch_folder, temporary_folder
from gen_bundle.twin.plan import PhasePlan, Planned, plan, with_migrated
from gen_bundle.twin.report import RESULT, BoardRow, Measured, Results, Run, verdict
from gen_bundle.twin.strangers import refuse_code

_LOGS = ("", "ingestion-", "prediction-", "prediction-ingestion-")
KEPT = (
    "output",
    "prediction-output",
    "job",
    *(f"{log}{stream}.txt" for log in _LOGS for stream in ("stdout", "stderr")),
)


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
        on_step: Called with what is being done.
        on_line: Called with each line that a program prints.
        environment: Further variables for the scoring program.
        trust: Run code of others also where nothing keeps it apart.
    """

    bundle: Path
    out: Path
    submissions: Sequence[Path] = ()
    team: str | None = None
    phases: Sequence[str] = ()
    image: str | None = None
    enforce_limits: bool = False
    version: PlatformVersion = NEWEST
    command_line: Callable[[Container], str] | None = None
    on_step: Callable[[str], None] = lambda _: None
    on_line: LineListener = lambda _: None
    environment: Mapping[str, str] = field(default_factory=dict)
    trust: bool = False


def dry_run(request: DryRunRequest, engine: Engine | Literal["docker", "process"] | None = None) -> Results:
    """Run submissions through a bundle as Codabench would, and write the results.

    Args:
        request: What is asked.
        engine: The engine, or its name; None: docker where an engine answers, else process.

    Raises:
        UserError: The bundle, a submission or the results folder cannot be used, no such engine answers, or code of
            others would run with our rights.
    """
    if engine is None or isinstance(engine, str):
        with closing(choose_engine(engine, request.on_step)) as chosen:
            return dry_run(request, chosen)
    with scratch_folder() as work:
        request.on_step("unpacking the bundle")
        competition = read_competition(open_bundle(request.bundle, work / "bundle"), request.version)
        given, version = request.submissions, DIFFERENCES[request.version]
        refuse_code(competition.phases, given, version, engine, trust=request.trust)
        phases = plan(competition, request.phases, given, request.team, work / "submissions")
        _make_room(request.out)
        replay = Replay(request, competition, engine, work)
        results = replay.results
        try:
            on_board: Sequence[Planned] = ()
            for planned in phases:
                on_board = replay.phase(planned, on_board)
        except BaseException as error:
            results.findings.append(f"the dry run was {_how(error)}: runs that are missing here did not take place")
            raise
        finally:
            # Written whatever happened; it appears complete or not at all.
            results.verdict = list(verdict(competition, results.measured))
            write_whole(request.out / RESULT, results.as_json())
        return results


def _how(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt | SystemExit) else "broken off"


class Replay:
    """A dry run under way.

    Attributes:
        results: What was found so far; each part is added when it is known, so that an interruption loses none.
    """

    def __init__(self, request: DryRunRequest, competition: Competition, engine: Engine, work: Path) -> None:
        self.results = Results(engine.name, request.version.value)
        self._request = request
        self._competition = competition
        self._work = work
        image = request.image or competition.image
        cannot_run = ""
        try:
            self.results.notes += engine.prepare(image)
        except EngineError as error:
            cannot_run = str(error)
        self._setting = JobSetting(
            engine,
            image,
            competition.detailed_results,
            request.on_line,
            DIFFERENCES[request.version],
            request.environment,
            cannot_run,
        )

    def phase(self, planned: PhasePlan, on_board: Sequence[Planned]) -> Sequence[Planned]:
        """Run a phase.

        Args:
            planned: The phase, and what is submitted to it.
            on_board: What is Finished and on the board of the phase before.

        Returns:
            The same of this phase, for the next one.
        """
        phase = planned.phase
        if not phase.tasks:
            self.results.findings.append(f"phase {phase.id} has no task: submissions would stay in Submitting for ever")
            return on_board
        submissions = with_migrated(planned, on_board).submissions
        if not submissions:
            self.results.notes.append(
                f"phase {phase.id}: no solution of the bundle is attached to its tasks; nothing ran"
            )
        board = Board(self._competition.leaderboard, self._setting.version)
        taken: list[tuple[Submitted, Planned]] = []
        for number, submission in enumerate(submissions, 1):
            step = f"phase {phase.id}, submission {number}/{len(submissions)}: {submission.name}"
            entry = self._submit(phase, board, submission, step)
            if entry is not None:
                taken.append((entry, submission))
        if taken:
            self._show(phase, board)
        return [submission for entry, submission in taken if entry.finished and entry.is_shown]

    def _submit(self, phase: Phase, board: Board, submission: Planned, step: str) -> Submitted | None:
        """One submission with all its tasks; None where it is not taken. `step` says which one it is."""
        tasks = submission.tasks
        reason = None
        if self._request.enforce_limits:
            reason = closed(phase, dt.datetime.now(dt.UTC)) or used_up(phase, board, submission.owner)
        if reason:
            message = f"not taken: {reason}"
            self.results.runs += [Run(phase.id, task.id, submission.name, message=message) for task in tasks]
            return None
        children = [task.id for task in tasks] if len(tasks) > 1 else []
        whole = board.submit(submission.name, submission.owner, children)
        for entry, task in zip(whole.children or [whole], tasks, strict=True):
            part = f", task {task.id}" if children else ""
            self._request.on_step(f"{step}{part}")
            self._score(phase, task, submission, board, entry)
        if whole.finished and board.leaderboard.is_manual:
            board.add_by_hand(whole)
        return whole

    def _score(self, phase: Phase, task: Task, submission: Planned, board: Board, entry: Submitted) -> None:
        """One submission for one task, also where it meets a bug of ours, which the others need not meet."""
        run = Run(phase.id, task.id, submission.name)
        try:
            self._run(run, phase, task, submission.file, board, entry)
        except Exception as bug:
            board.fail(entry)
            self.results.runs.append(replace(run, message=bug_report(bug)))
        except BaseException as error:
            self.results.runs.append(replace(run, message=f"the dry run was {_how(error)} here"))
            raise

    def _run(self, begun: Run, phase: Phase, task: Task, file: Path, board: Board, entry: Submitted) -> None:
        """The jobs of a submission, what the server makes of them, and what is kept."""
        seconds = time_limit(phase.limit_s, own_queue=self._competition.queue)
        with temporary_folder("run-", self._work) as work:
            jobs = run_jobs(file, task, seconds, work, self._setting)
            problems: list[str] = []
            notes = [*jobs.prediction.notes, *jobs.scoring.notes]
            scores = _take(board, entry, jobs, problems, notes)
            run, measured = _ended(replace(begun, scores=scores, message="\n".join(problems)), jobs, seconds)
            for job in jobs.both:
                # Where nothing was predicted, scores are those of nothing; a run that failed is a failure anyway.
                remarks = problems if run.status == "Finished" else notes
                remarks += filter(None, [job.failed_ingestion])
            has_page = any(jobs.scoring.folders.output.glob("*.html"))
            if self._setting.detailed_results and jobs.sends_scores and not has_page:
                notes.append("detailed results are on, but the program wrote no detailed_results.html")
            folder = self._request.out / run.phase / run.task / run.submission
            try:
                notes += _keep_run(folder, jobs)
                commands = self._commands(folder, jobs.scoring)
            except OSError as error:
                problems.append(f"what the run left could not be kept in {folder}: {error}")
                commands = []
        results = self.results
        results.runs.append(run)
        results.measured.append(measured)
        results.findings += [f"{run.place}: {problem}" for problem in problems]
        results.notes += [f"{run.place}: {note}" for note in notes]
        results.commands += commands
        for started in (*jobs.prediction.runs, *jobs.scoring.runs):  # the same for many runs, and noted once
            results.notes += [note for note in started.ended.notes if note not in results.notes]

    def _commands(self, folder: Path, scoring: WorkerJob) -> list[str]:
        """The line that runs the scoring container again, whose folders it keeps, where that is asked for."""
        if self._request.command_line is None:
            return []
        container = _keep_job(folder, scoring)
        return [self._request.command_line(container)] if container else []

    def _show(self, phase: Phase, board: Board) -> None:
        """The board of a phase as participants see it."""
        try:
            rows = board.rows()
        except NoBoardError as error:
            self.results.findings.append(f"phase {phase.id}: no leaderboard: {error}")
            return
        several = len(phase.tasks) > 1
        owners: dict[str, str] = {}
        for task in phase.tasks if several else ():
            owners |= dict.fromkeys(own_columns(task), task.id)
        for row in rows:
            tasks = board.cells_by_task(row) if several else None
            shown = BoardRow(phase.id, row.rank, row.entry.name, board.cells(row, owners), tasks)
            self.results.board.append(shown)


def closed(phase: Phase, now: dt.datetime) -> str | None:
    """Why a phase takes no submission now, or None.

    In 1.25 only the web page looks at the dates, and the API takes submissions to phases that are over; in 1.32 (read
    in threads and forks) the API answers 400.
    """
    start, end = phase.start.moment, phase.end.moment
    if start is not None and now < start:
        return f"phase {phase.id} is not open yet: it starts {start:%Y-%m-%d %H:%M} UTC"
    if end is not None and now > end:
        return f"phase {phase.id} is over: it ended {end:%Y-%m-%d %H:%M} UTC"
    return None


def used_up(phase: Phase, board: Board, owner: str) -> str | None:
    """Why a participant has no submission left, or None.

    Source: Codabench `competitions/models.py`, `Phase.can_user_make_submissions`: failed submissions and children do
    not count; 0 and null mean no limit. A dry run takes place within one day.
    """
    made = sum(1 for entry in board.entries if entry.owner == owner and entry.parent is None and not entry.failed)
    if phase.a_day and made >= phase.a_day:
        return "Reached maximum allowed submissions for today for this phase"
    if phase.in_all and made >= phase.in_all:
        return "Reached maximum allowed submissions for this phase"
    return None


def _take(board: Board, entry: Submitted, jobs: Jobs, problems: list[str], notes: list[str]) -> dict[str, Any] | None:
    """Hand the server what the worker sent, in its order: Finished, the scores, Failed.

    Adds to `problems` what is wrong although the submission is Finished, and to `notes` what the server passes over.

    Returns:
        What dry-run.json keeps of the scores that were stored; None where there are none.
    """
    scores = None
    if jobs.finished:
        board.finish(entry)
    if jobs.sends_scores:
        try:
            board.upload(entry, jobs.scores)
        except RefusedError as refused:
            problems.append(f"Finished, but the server refuses the scores: {refused}")
        else:
            scores = _stored(board, jobs.scores, problems, notes)
    elif jobs.crash:
        problems.append(f"Finished without scores: {jobs.crash}")
    if jobs.failure:
        board.fail(entry)
    return scores


def _stored(board: Board, sent: object, problems: list[str], notes: list[str]) -> dict[str, Any]:
    scores: dict[str, Any] = sent if isinstance(sent, dict) else {}
    problems += board.leaderboard.doubts(scores)
    if ignored := board.leaderboard.ignored(scores):
        keys = ", ".join(map(repr, ignored))
        notes.append(f"the scores file has keys without a column, which the platform ignores: {keys}")
    # Lists and mappings are never a column's.
    return {key: value for key, value in scores.items() if not isinstance(value, dict | list)}


def _ended(taken: Run, jobs: Jobs, limit_seconds: int) -> tuple[Run, Measured]:
    """How a run ended, of which `taken` says what the server made of it, and what it used of `limit_seconds` a job."""
    scorer = jobs.scoring.of("program")
    seconds = [job.seconds_taken for job in jobs.both]
    run = replace(taken, seconds=round(sum(seconds), 3), message=jobs.failure or taken.message)
    if not jobs.failure:
        run = replace(run, status="Finished")
    if scorer:
        run = replace(run, exit_code=scorer.ended.exit_code)
    measured = Measured(
        run.phase,
        run.task,
        run.submission,
        run.status,
        limit_seconds,
        run.seconds,
        round(max(seconds), 3),
        Usage.peak(started.ended.usage for job in jobs.both for started in job.runs),
    )
    if scorer:
        measured = replace(measured, log_lines=scorer.log_lines, log_bytes=scorer.log_bytes)
    return run, measured


def _keep_run(folder: Path, jobs: Jobs) -> list[str]:
    """Copy what a participant could download: the output of both jobs, and the logs of all programs.

    Returns:
        A sentence for each log that is not kept in full.
    """
    output = folder / "output"
    output.mkdir(parents=True)
    scoring, prediction = jobs.scoring.folders, jobs.prediction.folders
    if scoring.output.exists():
        copy_tree(scoring.output, output)
    if jobs.prediction.of("ingestion") and prediction.output.exists():
        copy_tree(prediction.output, folder / "prediction-output")
    for path in entries(folder):  # folders come with the rights that containers needed
        path.chmod(path.stat().st_mode & ~0o022)
    cut = []
    for stream in ("stdout", "stderr"):
        for name, log, always in (
            (f"{stream}.txt", scoring.log("program", stream), True),
            (f"ingestion-{stream}.txt", scoring.log("ingestion", stream), False),
            (f"prediction-{stream}.txt", prediction.log("program", stream), False),
            (f"prediction-ingestion-{stream}.txt", prediction.log("ingestion", stream), False),
        ):
            if (always or log.exists()) and not keep_log(log, folder / name):
                cut.append(f"{name} is cut after {KEPT_BYTES // 1024**2} MiB; the worker keeps all of it in memory")
    return cut


def _keep_job(folder: Path, scoring: WorkerJob) -> Container | None:
    """Keep a scoring job's folders under `job/`, with an empty output, so that its container can be run again by hand.

    Everybody may write to what is mounted, gold and programs too, as the container must; only we get through `job/`.

    Returns:
        The container with its mounts there; None where the scoring program was never started.
    """
    scorer = scoring.of("program")
    if scorer is None:
        return None
    job = (folder / "job").resolve()
    job.mkdir(mode=0o700)
    mounts = []
    for mount in scorer.container.mounts:
        kept = job / mount.source.relative_to(scoring.folders.root)
        kept.mkdir(parents=True, exist_ok=True)
        if mount.target != "/app/output" and mount.source.exists():  # the program may have removed it
            drop_strays(mount.source)
            copy_tree(mount.source, kept)
        open_to_containers(kept)
        mounts.append(replace(mount, source=kept))
    return replace(scorer.container, mounts=tuple(mounts))


def _make_room(out: Path) -> None:
    """Make the results folder; what an earlier dry run left there is removed, anything else is not touched.

    Raises:
        UserError: The folder holds something else, or cannot be used.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = [path for path in out.iterdir() if path.name != RESULT]
        if strange := _not_ours(out):
            raise UserError(f"{out} holds files that no dry run wrote ({', '.join(strange[:5])}); give another --out")
        for path in there:
            shutil.rmtree(path)
        (out / RESULT).unlink(missing_ok=True)
        tempfile.TemporaryFile(dir=out).close()  # better now than when all has run
    except FileExistsError as error:
        raise UserError(f"{out} is not a folder; give --out a folder for the results") from error
    except OSError as error:
        raise UserError(f"--out {out}: cannot be used: {error}") from error


def _ours(out: Path) -> set[Path]:
    """What an earlier dry run left: its dry-run.json, the folders of the runs in it, and what is kept there."""
    ours = {Path(RESULT)}
    with contextlib.suppress(FileNotFoundError):
        for run in json.loads((out / RESULT).read_text(encoding="utf-8"))["runs"]:
            phase, task, submission = (run[key] for key in ("phase", "task", "submission"))
            folder = Path(phase, task, submission)
            ours |= {Path(phase), Path(phase, task), folder, *(folder / name for name in KEPT)}
    return ours


def _not_ours(out: Path) -> list[str]:
    try:
        ours = _ours(out)
    except (ValueError, KeyError, TypeError):
        return [RESULT]
    strange = []
    for parent, folders, files in os.walk(out):
        place = Path(parent).relative_to(out)
        strange += [str(place / name) for name in files if place / name not in ours]
        strange += [f"{place / name}/" for name in folders if place / name not in ours]
        # what is ours is looked into, but for what a run left
        folders[:] = [name for name in folders if place / name in ours and len(place.parts) < 3]
    return strange
