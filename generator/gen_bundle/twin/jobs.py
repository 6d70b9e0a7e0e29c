"""The two jobs of a submission, as the compute worker runs them, and what it then sends to the server.

Source: Codabench 1.25, `compute_worker/compute_worker.py`, `Run.start`, `Run.push_scores`,
`Run.push_output`. Every submission gets both jobs, result submissions too: their prediction job only copies files.
"""

from dataclasses import dataclass
from pathlib import Path

from gen_bundle.codabench import worker
from gen_bundle.codabench.versions import DIFFERENCES, Differences
from gen_bundle.codabench.worker import ContainerKind, JobFailedError, WorkerCrashError
from gen_bundle.twin.bundle import Task
from gen_bundle.twin.engines import Container
from gen_bundle.twin.engines.logs import end_of_log
from gen_bundle.twin.job_folders import JobFolders, lay_out_prediction, lay_out_scoring
from gen_bundle.twin.layout import copy_tree
from gen_bundle.twin.machine import is_machine_fault
from gen_bundle.twin.programs import ProgramRun, ProgramRuns, Setting, container, run_in_turn

STDERR_SHOWN = 2000
STDERR_DEBUGGED = 1024**2
EARLY_SECONDS = 2.0
EARLY_END = (
    "the scoring program failed early, and the platform often loses the log of a program that ends within a second or "
    "two: write the reason to detailed_results.html as well"
)
OVER_THE_LIMIT = (
    "the limit is enforced here; the platform often lets a program that is already running go on, up to 20 minutes "
    "longer, and takes its scores"
)
NO_HANDSHAKE = (
    "the ingestion program and the scoring program share no folder but /app/output since 1.27, and run one after the "
    "other: they cannot talk to each other"
)
METADATA: tuple[tuple[str, str, ContainerKind], ...] = (
    ("elapsedTime", "exitCode", "program"),
    ("ingestionElapsedTime", "ingestionExitCode", "ingestion"),
)
"""What the worker notes of each container."""
NOTHING_RAN = ProgramRuns((), (), "")


@dataclass(frozen=True)
class Job:
    """What one of the two jobs left.

    Attributes:
        programs: The containers that ran.
        notes: What the platform would not report.
        failure: Why the submission is Failed by this job; empty when it is not.
        machine_fault: The failure is the machine's or its engine's, not the submission's.
        failed_ingestion: How the ingestion program failed; empty when it did not.
    """

    folders: JobFolders
    programs: ProgramRuns = NOTHING_RAN
    notes: tuple[str, ...] = ()
    failure: str = ""
    machine_fault: bool = False
    failed_ingestion: str = ""


@dataclass(frozen=True)
class Jobs:
    """What the two jobs of a submission left, and what the worker sent to the server.

    Attributes:
        finished: It sent Finished, which comes before the scores.
        sends_scores: It sent scores.
        scores: What it sent, as JSON; the server judges it.
        failure: What it sent as the reason of Failed, at last; empty when it did not.
        crash: Why it died without a word after Finished; empty when it did not.
    """

    prediction: Job
    scoring: Job
    finished: bool = False
    sends_scores: bool = False
    scores: object = None
    failure: str = ""
    crash: str = ""

    @property
    def both(self) -> tuple[Job, Job]:
        return self.prediction, self.scoring

    @property
    def machine_fault(self) -> bool:
        """It failed by the machine or its engine, not by itself."""
        return any(job.machine_fault for job in self.both)


def run_jobs(submission: Path, task: Task, seconds: int, folder: Path, setting: Setting) -> Jobs:
    """Run the prediction job of a submission's zip, and unless it fails the scoring job, each for at most `seconds`.

    Their folders come to lie in `folder`; what they leave there is looked at afterwards.
    """
    prediction, scoring = Job(JobFolders(folder / "prediction")), Job(JobFolders(folder / "scoring"))
    if setting.cannot_run:
        return Jobs(prediction, scoring, failure=setting.cannot_run)
    prediction = _prediction_job(prediction.folders, submission, task, seconds, setting)
    if prediction.failure:
        return Jobs(prediction, scoring, failure=prediction.failure)
    if not prediction.programs.runs:  # nothing has touched it
        submission = prediction.folders.submission
    scoring = _scoring_job(scoring.folders, submission, prediction.folders.output, task, seconds, setting)
    if scoring.failure:
        return Jobs(prediction, scoring, failure=scoring.failure)
    return _sent(prediction, scoring, setting.version)


def _prediction_job(folders: JobFolders, submission: Path, task: Task, seconds: int, setting: Setting) -> Job:
    """What makes predictions of a submission; no container sees reference data.

    In 1.25 the submission itself is the program, in 1.32 only an ingestion program runs. Exit codes are not looked at,
    and what an ingestion program lacks is swallowed.
    """
    version = setting.version
    try:
        notes = lay_out_prediction(folders, task, submission, version)
        containers, more = _containers(folders, task, setting, is_scoring=False)
    except (JobFailedError, OSError) as error:
        return _not_begun(folders, error, version)
    programs = run_in_turn(containers, folders, seconds, setting)
    notes += [*more, *programs.notes]
    notes += _unseen_ends(folders, programs, is_scoring=False)
    failure = programs.failure
    if not failure and not folders.output.exists():
        # The prediction's upload fails with "Metadata file not found"; what shows in the end is the scoring job's
        # failure.
        failure = version.failed(worker.BAD_ZIP)
        metadata = worker.read_metadata(folders.submission)
        if metadata.found:
            notes.append(
                f"the submission holds a file named metadata or metadata.yaml ({metadata.problem}), so the platform "
                "neither runs nor copies it; a result submission must not contain such a file"
            )
    if not failure and (fault := _push_metadata(folders, programs)):
        notes.append(f"the prediction job fails: {fault}")
        # 1.32 has started the scoring job by then, which finds no predictions.
        failure = version.failed(fault if version.submission_is_a_program else worker.BAD_ZIP)
    return Job(folders, programs, tuple(notes), failure, programs.machine_fault, _failed_ingestion(folders, programs))


def _scoring_job(
    folders: JobFolders, submission: Path, predictions: Path, task: Task, seconds: int, setting: Setting
) -> Job:
    """The task's scoring program with reference data and predictions."""
    try:
        notes = lay_out_scoring(folders, task, submission, predictions, setting.version)
        containers, more = _containers(folders, task, setting, is_scoring=True)
    except (JobFailedError, OSError) as error:
        return _not_begun(folders, error, setting.version)
    programs = run_in_turn(containers, folders, seconds, setting)
    notes += [*more, *_log_notes(folders, programs), *programs.notes]
    notes += _unseen_ends(folders, programs, is_scoring=True)
    if task.ingestion_only_during_scoring and programs.of("ingestion") and not setting.version.submission_is_a_program:
        notes.append(NO_HANDSHAKE)
    failure = programs.failure or _scoring_failure(folders, programs, seconds, setting)
    return Job(folders, programs, tuple(notes), failure, programs.machine_fault, _failed_ingestion(folders, programs))


def _not_begun(folders: JobFolders, error: JobFailedError | OSError, version: Differences) -> Job:
    """A job whose folders could not be filled, so that nothing ran."""
    text = version.failed(error.cause, error.detail) if isinstance(error, JobFailedError) else str(error)
    return Job(folders, failure=text, machine_fault=is_machine_fault(error))


def _containers(
    folders: JobFolders, task: Task, setting: Setting, *, is_scoring: bool
) -> tuple[list[Container], list[str]]:
    """What the worker starts, and what it passes over without a word."""
    containers: list[Container] = []
    notes: list[str] = []
    kinds: tuple[ContainerKind, ...] = ("program", "ingestion")
    if not is_scoring and not setting.version.submission_is_a_program:
        kinds = ("ingestion",)
        if worker.read_metadata(folders.submission).command is not None:
            notes.append(
                "the submission's command is not run: version 1.32 starts only the ingestion program; 1.25 ran it"
            )
    for kind in kinds:
        program = folders.program(kind, is_scoring=is_scoring)
        if not program.exists():
            continue
        made = container(
            folders, kind, setting, is_scoring=is_scoring, only_during_scoring=task.ingestion_only_during_scoring
        )
        if isinstance(made, Container):
            containers.append(made)
        elif kind == "ingestion":
            found = worker.read_metadata(program).found
            swallowed = worker.INGESTION_NO_COMMAND if found else worker.INGESTION_NO_METADATA
            notes.append(f"the ingestion program is never started, and the platform does not report it: {swallowed}")
        elif is_scoring:
            notes.append(f"the scoring program is never started: {made}")
        elif not worker.read_metadata(program).found:
            copy_tree(program, folders.output)
        else:
            notes.append(f"the submission is never started: {made}")
    return containers, notes


def _scoring_failure(folders: JobFolders, programs: ProgramRuns, seconds: int, setting: Setting) -> str:
    """Why the scoring job fails once its containers have ended; empty when it does not."""
    version, scorer = setting.version, programs.of("program")
    if setting.detailed_results and _hangs(folders, programs, version):
        return version.failed(worker.TIME_LIMIT.format(seconds=seconds))
    if scorer is None:
        return version.failed(worker.NON_ZERO) if version.needs_exit_code else ""
    return version.failed(worker.NON_ZERO, _why(scorer, folders)) if scorer.ended.exit_code != 0 else ""


def _hangs(folders: JobFolders, programs: ProgramRuns, version: Differences) -> bool:
    """Whether the watcher of detailed results waits for a program that never comes."""
    if version.needs_exit_code:
        return programs.of("program") is None or (
            folders.ingestion_program.exists() and programs.of("ingestion") is None
        )
    return programs.of("program") is None and not worker.read_metadata(folders.scoring_program).found


def _sent(prediction: Job, scoring: Job, version: Differences) -> Jobs:
    """What the worker sends of a scoring job that did not fail: Finished, then the scores, then the output."""
    try:
        scores = worker.read_scores(scoring.folders.output)
    except JobFailedError as failed:
        return Jobs(prediction, scoring, failure=version.failed(failed.cause, failed.detail))
    except WorkerCrashError as crash:
        if version.crash_is_silent:
            return Jobs(prediction, scoring, finished=True, crash=str(crash))
        return Jobs(prediction, scoring, finished=True, failure=f"{crash.last_line}\n({crash})")
    fault = _push_metadata(scoring.folders, scoring.programs)
    failure = version.failed(fault) if fault else ""
    return Jobs(prediction, scoring, finished=True, sends_scores=True, scores=scores, failure=failure)


def _why(scorer: ProgramRun, folders: JobFolders) -> str:
    """The end of what a scoring program wrote to stderr; with SCORING_DEBUG much more of it."""
    ended = scorer.ended
    code = "was stopped" if ended.exit_code is None else f"exit code {ended.exit_code}"
    most = STDERR_DEBUGGED if "SCORING_DEBUG" in scorer.container.environment else STDERR_SHOWN
    written = end_of_log(folders.log("program", "stderr"), most).strip()
    return "\n".join(filter(None, [f"({code})", ended.problem, written]))


def _unseen_ends(folders: JobFolders, programs: ProgramRuns, *, is_scoring: bool) -> list[str]:
    """Endings that the platform does not look at, but for that of an ingestion program."""
    notes = [OVER_THE_LIMIT for run in programs.runs if run.ended.timed_out]
    submission = None if is_scoring else programs.of("program")
    if submission is not None and not submission.ended.timed_out and submission.ended.exit_code != 0:
        notes.append(_unseen_end(submission, folders, "submission"))
    return notes


def _failed_ingestion(folders: JobFolders, programs: ProgramRuns) -> str:
    """How an ingestion program failed, which the platform does not look at; empty where it did not."""
    ingestion = programs.of("ingestion")
    if ingestion is None or ingestion.ended.timed_out or ingestion.ended.exit_code == 0:
        return ""
    return _unseen_end(ingestion, folders, "ingestion program")


def _unseen_end(run: ProgramRun, folders: JobFolders, what: str) -> str:
    """The ending, and the end of the log that says why."""
    ended = run.ended
    code = "was stopped" if ended.exit_code is None else f"ended with exit code {ended.exit_code}"
    said = f"the {what} {code}, which the platform does not look at. {ended.problem}".strip()
    written = end_of_log(folders.log(run.container.kind, "stderr"), STDERR_SHOWN).strip()
    return "\n".join(filter(None, [said, written]))


def _log_notes(folders: JobFolders, programs: ProgramRuns) -> list[str]:
    """What becomes of a scoring program's log: nothing sometimes, of an early end or a long one."""
    scorer = programs.of("program")
    if scorer is None:
        return []
    notes = []
    if scorer.ended.exit_code and scorer.ended.seconds < EARLY_SECONDS and not any(folders.output.glob("*.html")):
        notes.append(EARLY_END)
    if not worker.is_long_log(scorer.log_lines, scorer.log_bytes):
        return notes
    versions = "; ".join(f"with version {version} {facts.long_log}" for version, facts in DIFFERENCES.items())
    return [
        *notes,
        f"the scoring program printed {scorer.log_lines:,} lines, {scorer.log_bytes:,} bytes: {versions}. Print at "
        f"most {worker.LONG_LOG_LINES} lines and {worker.LONG_LOG_BYTES // 1024} KiB, what matters last",
    ]


def _push_metadata(folders: JobFolders, programs: ProgramRuns) -> str:
    """Leave the worker's own `metadata` beside the output; the scoring job finds it among the predictions.

    Returns:
        Why the job fails: a program wrote a file of that name, for example; empty when it does not.
    """
    file = folders.output / "metadata"
    if file.exists() or file.is_symlink():
        return worker.OWN_METADATA
    lines = []  # as PyYAML writes them, which would take a third of the time that a small job costs us
    for elapsed, code, kind in METADATA:
        run = programs.of(kind)
        lines.append(f"{elapsed}: {'null' if run is None else f'{run.ended.seconds:.6f}'}\n")
        exit_code = None if run is None else run.ended.exit_code
        lines.append(f"{code}: {'null' if exit_code is None else exit_code}\n")
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        return str(error)
    return ""
