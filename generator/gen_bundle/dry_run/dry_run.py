"""The dry run: everything the platform does to a bundle's zip and to submissions, from unpacking to the board.

`dry_run` names the steps. It opens the bundle and plans which submissions run in which phase; `Replay` takes each phase
by itself: is a submission taken, what do its jobs leave (`jobs`), what does the server make of the scores
(`codabench.board`), and what does the board show in the end. All that is found is in `report.Results`.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gen_bundle.codabench.board import Board, NoBoardError, RefusedError, Submitted, closed, time_limit
from gen_bundle.codabench.competition import Competition, Phase, Task
from gen_bundle.codabench.runnable import column_owners, open_bundle, read_competition
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST, PlatformVersion
from gen_bundle.dry_run.engines import Container, Engine, EngineError, LineListener, Usage
from gen_bundle.dry_run.engines.choose import choose_engine, refuse_code
from gen_bundle.dry_run.engines.watching import KEPT_BYTES, keep_log
from gen_bundle.dry_run.jobs import Jobs, JobSetting, WorkerJob, run_jobs
from gen_bundle.dry_run.layout import (
    as_upload,
    copy_tree,
    drop_strays,
    entries,
    open_to_containers,
    scratch_folder,
    temporary_folder,
)
from gen_bundle.dry_run.report import LOGS, RESULT, BoardRow, Measured, Results, Run, make_room, verdict
from gen_bundle.ground.errors import UserError, bug_report
from gen_bundle.ground.local_files import write_whole


@dataclass(frozen=True)
class DryRunRequest:
    """A request for a dry run.

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

    >>> results = dry_run(DryRunRequest(bundle.path, out=Path("dry-run"), phases=["test"]), engine="process")
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
        make_room(request.out)
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


@dataclass(frozen=True)
class Planned:
    """A submission to a phase: what is uploaded, under which name, by whom, for which of its tasks."""

    file: Path
    name: str
    owner: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class PhasePlan:
    """A phase with its submissions, in the order in which they are made."""

    phase: Phase
    submissions: tuple[Planned, ...]


def plan(
    competition: Competition, phases: Sequence[str], submissions: Sequence[Path], team: str | None, scratch: Path
) -> list[PhasePlan]:
    """Return the submissions of each phase.

    Given submissions go to every phase and task, each as another participant's; without any the bundle's own
    solutions go to the tasks that they are attached to.

    Args:
        competition: The bundle.
        phases: Ids or names of the phases to run; none means all.
        submissions: Zips, folders or single files.
        team: One participant for all of them, or None.
        scratch: Folder for the zips that are made here.

    Raises:
        UserError: A phase or a submission does not exist, or there is nothing to run.
    """
    chosen = _chosen(competition.phases, phases)
    if missing := [f"--submission {path}: no such file or folder" for path in submissions if not path.exists()]:
        raise UserError(*missing)
    names = _names(submissions)
    files = [as_upload(path, scratch / name) for name, path in zip(names, submissions, strict=True)]
    planned = []
    for phase in chosen:
        made = [Planned(file, name, team or name, phase.tasks) for name, file in zip(names, files, strict=True)]
        if not submissions:
            made = _own(competition, phase, team, scratch / phase.id)
        planned.append(PhasePlan(phase, tuple(made)))
    if not any(one.submissions for one in planned):
        raise UserError("the bundle has no solution for these phases; give a submission with --submission")
    return planned


def _chosen(phases: Sequence[Phase], wanted: Sequence[str]) -> list[Phase]:
    chosen, known = [], set()
    for phase in phases:
        names = {phase.id, phase.name}
        known |= names
        if not wanted or names.intersection(wanted):
            chosen.append(phase)
    there = ", ".join(phase.id for phase in phases)
    if unknown := [f"--phase {name}: no such phase; the bundle has {there}" for name in wanted if name not in known]:
        raise UserError(*unknown)
    return chosen


def _own(competition: Competition, phase: Phase, team: str | None, scratch: Path) -> list[Planned]:
    """The bundle's solutions that are attached to tasks of a phase."""
    paths, attached_to = [], []
    for solution in competition.solutions:
        tasks = tuple(task for task in phase.tasks if task.index in solution.tasks)
        if tasks:
            paths.append(solution.path)
            attached_to.append(tasks)
    made = []
    for name, path, tasks in zip(_names(paths), paths, attached_to, strict=True):
        # The platform zips a folder; a file it takes as it is, whatever it is.
        file = path if path.is_file() else as_upload(path, scratch / name)
        made.append(Planned(file, name, team or name, tasks))
    return made


def _names(paths: Sequence[Path]) -> list[str]:
    """The stem of each, and `stem-2`, `stem-3` for those that come again."""
    names: list[str] = []
    taken: set[str] = set()
    for path in paths:
        stem = path.resolve().name if path.is_dir() else path.stem
        if not stem.strip("."):
            stem = "submission"  # it becomes a folder's name
        name, count = stem, 1
        while name.casefold() in taken:  # they become folders, also where case does not count
            count += 1
            name = f"{stem}-{count}"
        names.append(name)
        taken.add(name.casefold())
    return names


def _with_migrated(planned: PhasePlan, on_board: Sequence[Planned]) -> Sequence[Planned]:
    """The submissions to a phase, after what is run again when it begins with `auto_migrate_to_this_phase`.

    Finished submissions on the earlier phase's board, for this phase's tasks. What is submitted to this phase anyway
    is left out, so that nothing runs twice. Source: Codabench `competitions/tasks.py`, `do_phase_migrations`;
    `models.py`, `Phase.check_future_phase_submissions`.
    """
    if not planned.phase.auto_migrate:
        return planned.submissions
    coming = {submission.name for submission in planned.submissions}
    again = [replace(earlier, tasks=planned.phase.tasks) for earlier in on_board if earlier.name not in coming]
    return *again, *planned.submissions


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
        """Run a phase, up to its board as participants see it.

        Args:
            planned: The phase, and what is submitted to it.
            on_board: What is Finished and on the board of the phase before.

        Returns:
            The same of this phase, for the next one.
        """
        phase, results = planned.phase, self.results
        if not phase.tasks:
            results.findings.append(f"phase {phase.id} has no task: submissions would stay in Submitting for ever")
            return on_board
        submissions = _with_migrated(planned, on_board)
        if not submissions:
            results.notes.append(f"phase {phase.id}: no solution of the bundle is attached to its tasks; nothing ran")
        board = Board(self._competition.leaderboard, self._setting.version)
        taken: list[tuple[Submitted, Planned]] = []
        for number, submission in enumerate(submissions, 1):
            step = f"phase {phase.id}, submission {number}/{len(submissions)}: {submission.name}"
            entry = self._submit(phase, board, submission, step)
            if entry is not None:
                taken.append((entry, submission))
        if taken:
            try:
                for row in board.rows():
                    cells, by_task = board.cells(row, column_owners(phase)), board.cells_by_task(row)
                    results.board.append(BoardRow(phase.id, row.rank, row.entry.name, cells, by_task))
            except NoBoardError as error:
                results.findings.append(f"phase {phase.id}: no leaderboard: {error}")
        return [submission for entry, submission in taken if entry.finished and entry.is_shown]

    def _submit(self, phase: Phase, board: Board, submission: Planned, step: str) -> Submitted | None:
        """One submission with all its tasks; None where it is not taken. `step` says which one it is."""
        tasks = submission.tasks
        reason = None
        if self._request.enforce_limits:
            reason = closed(phase, dt.datetime.now(dt.UTC)) or board.used_up(phase, submission.owner)
        if reason:
            message = f"not taken: {reason}"
            self.results.runs += [Run(phase.id, task.id, submission.name, message=message) for task in tasks]
            return None
        seconds = time_limit(phase.limit_s, own_queue=self._competition.queue)
        whole = board.submit(submission.name, submission.owner, [task.id for task in tasks])
        for entry, task in zip(whole.children or [whole], tasks, strict=True):
            part = f", task {task.id}" if entry.parent else ""
            self._request.on_step(f"{step}{part}")
            self._score(Run(phase.id, task.id, submission.name), submission.file, task, seconds, board, entry)
        if whole.finished and board.leaderboard.is_manual:
            board.add_by_hand(whole)
        return whole

    def _score(self, run: Run, file: Path, task: Task, seconds: int, board: Board, entry: Submitted) -> None:
        """One submission for one task, also where it meets a bug of ours, which the others need not meet."""
        try:
            self._run(run, file, task, seconds, board, entry)
        except Exception as bug:
            board.fail(entry)
            self.results.runs.append(replace(run, message=bug_report(bug)))
        except BaseException as error:
            self.results.runs.append(replace(run, message=f"the dry run was {_how(error)} here"))
            raise

    def _run(self, begun: Run, file: Path, task: Task, seconds: int, board: Board, entry: Submitted) -> None:
        """The jobs of a submission, what is kept of them, and what the server makes of them."""
        results = self.results
        with temporary_folder("run-", self._work) as work:
            jobs = run_jobs(file, task, seconds, work, self._setting)
            run, measured = _ended(begun, jobs, seconds)
            cut, unkept = self._keep(run, jobs)
            scores, problems, notes = _take(board, entry, jobs)
            run = replace(run, scores=scores, message=jobs.failure or "\n".join(problems))
            # Where nothing was predicted, scores are those of nothing; a run that failed is a failure anyway.
            remarks = notes if jobs.failure else problems
            remarks += [job.failed_ingestion for job in jobs.both if job.failed_ingestion]
            has_page = any(jobs.scoring.folders.output.glob("*.html"))
            if self._setting.detailed_results and jobs.sends_scores and not has_page:
                notes.append("detailed results are on, but the program wrote no detailed_results.html")
        results.runs.append(run)
        results.measured.append(measured)
        results.findings += [f"{run.place}: {problem}" for problem in (*problems, *unkept)]
        results.notes += [f"{run.place}: {note}" for note in (*notes, *cut)]
        for started in (*jobs.prediction.runs, *jobs.scoring.runs):  # the same for many runs, and noted once
            results.notes += [note for note in started.ended.notes if note not in results.notes]

    def _keep(self, run: Run, jobs: Jobs) -> tuple[list[str], list[str]]:
        """Keep what a run left, and what runs its scoring container again, where that is asked for.

        Returns:
            A sentence for each log that is not kept in full, and why all else could not be kept.
        """
        folder = self._request.out / run.phase / run.task / run.submission
        cut = []
        try:
            cut = _keep_run(folder, jobs)
            if self._request.command_line is not None and (container := _keep_job(folder, jobs.scoring)):
                self.results.commands.append(self._request.command_line(container))
        except OSError as error:
            return cut, [f"what the run left could not be kept in {folder}: {error}"]
        return cut, []


def _ended(begun: Run, jobs: Jobs, limit_seconds: int) -> tuple[Run, Measured]:
    """How a run ended by its jobs, before the server has taken the scores, and what it used of its limit for a job."""
    scorer = jobs.scoring.of("program")
    took = [job.seconds_taken for job in jobs.both]
    run = replace(begun, seconds=round(sum(took), 3))
    if not jobs.failure:
        run = replace(run, status="Finished")
    usage = Usage.peak(started.ended.usage for job in jobs.both for started in job.runs)
    slowest = round(max(took), 3)
    measured = Measured(run.phase, run.task, run.submission, run.status, limit_seconds, run.seconds, slowest, usage)
    if scorer:
        run = replace(run, exit_code=scorer.ended.exit_code)
        measured = replace(measured, log_lines=scorer.log_lines, log_bytes=scorer.log_bytes)
    return run, measured


def _take(board: Board, entry: Submitted, jobs: Jobs) -> tuple[dict[str, Any] | None, list[str], list[str]]:
    """Hand the server what the worker sent, in its order: Finished, the scores, Failed.

    Returns:
        What dry-run.json keeps of the scores that were stored, None where there are none; what is wrong although the
        submission is Finished; and what the platform passes over.
    """
    scores = None
    problems: list[str] = []
    notes = [*jobs.prediction.notes, *jobs.scoring.notes]
    if jobs.finished:
        board.finish(entry)
    if jobs.sends_scores:
        try:
            sent = board.upload(entry, jobs.scores)
        except RefusedError as refused:
            problems.append(f"Finished, but the server refuses the scores: {refused}")
        else:
            problems += board.leaderboard.doubts(sent)
            if ignored := board.leaderboard.ignored(sent):
                keys = ", ".join([repr(one) for one in ignored])
                notes.append(f"the scores file has keys without a column, which the platform ignores: {keys}")
            # Lists and mappings are never a column's.
            scores = {key: value for key, value in sent.items() if not isinstance(value, dict | list)}
    elif jobs.crash:
        problems.append(f"Finished without scores: {jobs.crash}")
    if jobs.failure:
        board.fail(entry)
    return scores, problems, notes


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
    folders = {"scoring": scoring, "prediction": prediction}
    for name, (job, kind, stream) in LOGS.items():
        log = folders[job].log(kind, stream)
        always = (job, kind) == ("scoring", "program")
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
