"""The dry run: everything the platform does to a bundle's zip and to submissions, from unpacking to the board.

One way: the plan, the jobs of each submission, their outcomes on the server, the board of each phase, the report.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from gen_bundle.bugs import bug_report
from gen_bundle.codabench.board import Board, Submitted
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST, PlatformVersion
from gen_bundle.codabench.worker import time_limit
from gen_bundle.twin.admission import closed, used_up
from gen_bundle.twin.bundle import Competition, Phase, Task, open_bundle
from gen_bundle.twin.competition_yaml import read_competition
from gen_bundle.twin.engines import Container, Engine, EngineError, LineListener
from gen_bundle.twin.engines.choose import choose_engine
from gen_bundle.twin.jobs import Jobs, run_jobs
from gen_bundle.twin.kept_files import keep_job, keep_run, make_room
from gen_bundle.twin.layout import temporary_folder
from gen_bundle.twin.outcomes import Outcome, Run, outcome, take
from gen_bundle.twin.phase_board import Remarks, board_of, migrating
from gen_bundle.twin.plan import PhasePlan, Planned, plan, with_migrated
from gen_bundle.twin.programs import Setting
from gen_bundle.twin.record import RESULT
from gen_bundle.twin.report import Part, Results, report
from gen_bundle.twin.strangers import refuse_code
from gen_bundle.twin.sweep import scratch_folder
from gen_bundle.whole_file import write_whole


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
    teams: int | None = None
    per_day: int | None = None
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
        phases = plan(competition, request.phases, request.submissions, request.team, work / "submissions")
        make_room(request.out)
        setting, remarks = _prepared(competition, request, engine)
        parts: list[Part] = [remarks]
        try:
            _replay(_Context(competition, request, setting, work), phases, parts)
        except BaseException as error:
            parts.append(Remarks((f"the dry run was {_how(error)}: runs that are missing here did not take place",)))
            raise
        finally:
            # Written whatever happened; it appears complete or not at all.
            results = report(engine.name, request.version, parts, competition, request.teams, request.per_day)
            write_whole(request.out / RESULT, results.as_json())
        return results


def _how(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt | SystemExit) else "broken off"


@dataclass(frozen=True)
class _Context:
    """What is the same on the whole way."""

    competition: Competition
    request: DryRunRequest
    setting: Setting
    work: Path


def _prepared(competition: Competition, request: DryRunRequest, engine: Engine) -> tuple[Setting, Remarks]:
    """The setting of all jobs, once the engine has looked at the image."""
    image = request.image or competition.image
    setting = Setting(
        engine,
        image,
        competition.detailed_results,
        request.on_line,
        DIFFERENCES[request.version],
        request.environment,
    )
    try:
        return setting, Remarks(notes=tuple(engine.prepare(image)))
    except EngineError as error:
        return replace(setting, cannot_run=str(error)), Remarks()


def _replay(context: _Context, phases: Sequence[PhasePlan], parts: list[Part]) -> None:
    """Phase by phase; each part of the report is added when it is known, so that an interruption loses none."""
    on_board: list[Planned] = []
    for planned in phases:
        phase = planned.phase
        if not phase.tasks:
            parts.append(Remarks((f"phase {phase.id} has no task: submissions would stay in Submitting for ever",)))
            continue
        submissions = with_migrated(planned, on_board).submissions
        if not submissions:
            parts.append(
                Remarks(notes=(f"phase {phase.id}: no solution of the bundle is attached to its tasks; nothing ran",))
            )
        board = Board(context.competition.leaderboard, context.setting.version)
        taken: list[tuple[Submitted, Planned]] = []
        for number, submission in enumerate(submissions, 1):
            step = f"phase {phase.id}, submission {number}/{len(submissions)}: {submission.name}"
            entry = _submit(context, phase, board, submission, parts, step)
            if entry is not None:
                taken.append((entry, submission))
        if taken:
            parts.append(board_of(phase, board))
        on_board = migrating(taken)


def _submit(
    context: _Context, phase: Phase, board: Board, submission: Planned, parts: list[Part], step: str
) -> Submitted | None:
    """One submission with all its tasks; None where it is not taken. `step` says which one it is."""
    if context.request.enforce_limits and (
        reason := closed(phase, dt.datetime.now(dt.UTC)) or used_up(phase, board, submission.owner)
    ):
        parts += [
            Outcome(Run(phase.id, task.id, submission.name, message=f"not taken: {reason}"))
            for task in submission.tasks
        ]
        return None
    several = len(submission.tasks) > 1
    whole = board.submit(submission.name, submission.owner, [task.id for task in submission.tasks] if several else [])
    for entry, task in zip(whole.children or [whole], submission.tasks, strict=True):
        context.request.on_step(f"{step}, task {task.id}" if several else step)
        run = Run(phase.id, task.id, submission.name)
        try:
            parts.append(_score(context, phase, task, submission, run, board, entry))
        except Exception as bug:  # of ours, which one submission meets and the others need not
            board.fail(entry)
            parts.append(Outcome(replace(run, message=bug_report(bug))))
        except BaseException as error:
            parts.append(Outcome(replace(run, message=f"the dry run was {_how(error)} here")))
            raise
    if whole.finished and context.competition.leaderboard.is_manual:
        board.add_by_hand(whole)
    return whole


def _score(
    context: _Context, phase: Phase, task: Task, submission: Planned, run: Run, board: Board, entry: Submitted
) -> Outcome:
    """One submission for one task: its jobs, what the server makes of them, and what is kept."""
    seconds = time_limit(phase.execution_time_limit, own_queue=context.competition.own_queue)
    with temporary_folder("run-", context.work) as folder:
        jobs = run_jobs(submission.file, task, seconds, folder, context.setting)
        taken = take(board, entry, jobs)
        ended = outcome(run, jobs, taken, seconds, detailed_results=context.competition.detailed_results)
        return _with_files(ended, jobs, context.request)


def _with_files(ended: Outcome, jobs: Jobs, request: DryRunRequest) -> Outcome:
    """The outcome, once the files of its run are kept among the results."""
    place = ended.run.place
    folder = request.out / ended.run.phase / ended.run.task / ended.run.submission
    try:
        notes = [f"{place}: {note}" for note in keep_run(folder, jobs)]
        container = keep_job(folder, jobs.scoring) if request.command_line else None
    except OSError as error:
        lost = f"{place}: what the run left could not be kept in {folder}: {error}"
        return replace(ended, findings=(*ended.findings, lost))
    command = request.command_line(container) if request.command_line and container else None
    return replace(ended, notes=(*ended.notes, *notes), command=command)
