"""The two jobs of a submission, as the compute worker runs them, and what it then sends to the server.

Source: Codabench 1.25, `compute_worker/compute_worker.py`, `Run.start`, `Run._run_program_directory`,
`Run.push_scores`, `Run.push_output`. Every submission gets both jobs, result submissions too: their prediction job only
copies files.
"""

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from gen_bundle.codabench import worker
from gen_bundle.codabench.competition import Task
from gen_bundle.codabench.versions import DIFFERENCES, Differences
from gen_bundle.codabench.worker import ContainerKind, JobFailedError, WorkerCrashError
from gen_bundle.dry_run.engines import Container, Ended, Engine, EngineError, LineListener, Mount, is_machine_fault
from gen_bundle.dry_run.engines.watching import end_of_log
from gen_bundle.dry_run.layout import (
    JobFolders,
    allow_owner,
    copy_tree,
    drop_strays,
    lay_out_prediction,
    lay_out_scoring,
)

CHUNK = 1024**2
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
"""The worker's note of each container."""
NOT_RUN = "the submission's command is not run: version 1.32 starts only the ingestion program; 1.25 ran it"


@dataclass(frozen=True)
class JobSetting:
    """Settings that are the same for all jobs of a dry run.

    Attributes:
        environment: Further variables of the scoring program.
        cannot_run: Why the engine can run nothing; empty when it can.
        lays_over: The submission is copied over the predictions, too, as the platform does it; not for programs that
            are known to read it where it is mounted.
    """

    engine: Engine
    image: str
    detailed_results: bool
    on_line: LineListener
    version: Differences
    environment: Mapping[str, str] = field(default_factory=dict)
    cannot_run: str = ""
    lays_over: bool = True


@dataclass(frozen=True)
class ProgramRun:
    """One container that was started.

    Attributes:
        log_lines, log_bytes: What it printed, on both streams together.
    """

    container: Container
    ended: Ended
    log_lines: int
    log_bytes: int


@dataclass
class WorkerJob:
    """One of the two jobs: what it is given, and what it leaves.

    Attributes:
        seconds: The limit of all its containers together.
        runs: The containers that ran, in their order.
        notes: What the platform would not report.
        failure: Why the submission is Failed by this job; empty when it is not.
        machine_fault: The failure is the machine's or its engine's, not the submission's.
    """

    folders: JobFolders
    task: Task
    seconds: int
    setting: JobSetting
    is_scoring: bool
    runs: list[ProgramRun] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""
    machine_fault: bool = False

    def of(self, kind: ContainerKind) -> ProgramRun | None:
        return next((run for run in self.runs if run.container.kind == kind), None)

    def program(self, kind: ContainerKind) -> Path:
        """Return the folder of the program itself, or of the ingestion program beside it."""
        if kind == "ingestion":
            return self.folders.ingestion_program
        if self.is_scoring:
            return self.folders.scoring_program
        return self.folders.submission

    @property
    def seconds_taken(self) -> float:
        """Of all containers together."""
        return sum(run.ended.seconds for run in self.runs)

    @property
    def failed_ingestion(self) -> str:
        """How the ingestion program failed, which the platform does not look at; empty where it did not."""
        return _unseen_end(self, "ingestion", "ingestion program")


@dataclass
class Jobs:
    """All that the two jobs of a submission left, and that the worker sent to the server.

    Attributes:
        failure: What it sent as the reason of Failed, at last; empty when it did not.
        finished: It sent Finished, which comes before the scores.
        sends_scores: It sent scores.
        scores: What it sent, as JSON; the server judges it.
        crash: Why it died without a word after Finished; empty when it did not.
    """

    prediction: WorkerJob
    scoring: WorkerJob
    failure: str = ""
    finished: bool = False
    sends_scores: bool = False
    scores: object = None
    crash: str = ""

    @property
    def both(self) -> tuple[WorkerJob, WorkerJob]:
        return self.prediction, self.scoring

    @property
    def machine_fault(self) -> bool:
        """It failed by the machine or its engine, not by itself."""
        return any(job.machine_fault for job in self.both)


def run_jobs(submission: Path, task: Task, seconds: int, folder: Path, setting: JobSetting) -> Jobs:
    """Run the prediction job of a submission's zip, and unless it fails the scoring job, each for at most `seconds`.

    Their folders come to lie in `folder`; what they leave there is looked at afterwards.
    """
    prediction = WorkerJob(JobFolders(folder / "prediction"), task, seconds, setting, is_scoring=False)
    scoring = WorkerJob(JobFolders(folder / "scoring"), task, seconds, setting, is_scoring=True)
    jobs = Jobs(prediction, scoring, setting.cannot_run)
    if not jobs.failure:
        _predict(prediction, submission)
        jobs.failure = prediction.failure
    if not jobs.failure:
        if not prediction.runs:  # nothing has touched it
            submission = prediction.folders.submission
        _score(scoring, submission, prediction.folders.output)
        jobs.failure = scoring.failure
    if not jobs.failure:
        _send(jobs, setting.version)
    return jobs


def _predict(job: WorkerJob, submission: Path) -> None:
    """Make predictions of a submission; no container sees reference data.

    In 1.25 the submission itself is the program, in 1.32 only an ingestion program runs. Exit codes are not looked at,
    and what an ingestion program lacks is swallowed.
    """
    folders, version = job.folders, job.setting.version
    _run_job(job, submission)
    if unseen := _unseen_end(job, "program", "submission"):
        job.notes.append(unseen)
    if not job.failure and not folders.output.exists():
        # The prediction's upload fails with "Metadata file not found"; what shows in the end is the scoring job's
        # failure.
        job.failure = version.failed(worker.BAD_ZIP)
        metadata = worker.read_metadata(folders.submission)
        if metadata.file:
            job.notes.append(
                f"the submission holds a file named metadata or metadata.yaml ({metadata.problem}), so the platform "
                "neither runs nor copies it; a result submission must not contain such a file"
            )
    if not job.failure and (fault := _push_metadata(job)):
        job.notes.append(f"the prediction job fails: {fault}")
        # 1.32 has started the scoring job by then, which finds no predictions.
        job.failure = version.failed(worker.BAD_ZIP)
        if version.submission_is_a_program:
            job.failure = version.failed(fault)


def _score(job: WorkerJob, submission: Path, predictions: Path) -> None:
    """Run the task's scoring program with reference data and predictions."""
    version = job.setting.version
    _run_job(job, submission, predictions)
    if job.task.ingestion_only_during_scoring and job.of("ingestion") and not version.submission_is_a_program:
        job.notes.append(NO_HANDSHAKE)
    if not job.failure:
        job.failure = _scoring_failure(job)


def _run_job(job: WorkerJob, submission: Path, predictions: Path | None = None) -> None:
    """Fill a job's folders and run what the worker starts in them; where they cannot be filled, nothing runs."""
    try:
        if predictions is None:
            job.notes += lay_out_prediction(job.folders, job.task, submission, job.setting.version)
        else:
            setting = job.setting
            job.notes += lay_out_scoring(
                job.folders, job.task, submission, predictions, setting.version, lays_over=setting.lays_over
            )
        containers = _containers(job)
    except (JobFailedError, OSError) as error:
        job.notes.clear()
        job.failure = str(error)
        if isinstance(error, JobFailedError):
            job.failure = job.setting.version.failed(error.cause, error.detail)
        job.machine_fault = is_machine_fault(error)
        return
    strays = _run_in_turn(job, containers)
    if job.is_scoring:
        job.notes += _log_notes(job)
    job.notes += strays
    if any(run.ended.timed_out for run in job.runs):
        job.notes.append(OVER_THE_LIMIT)


def _containers(job: WorkerJob) -> list[Container]:
    """Return what the worker starts; what it passes over without a word is noted."""
    containers: list[Container] = []
    kinds: tuple[ContainerKind, ...] = ("program", "ingestion")
    if not job.is_scoring and not job.setting.version.submission_is_a_program:
        kinds = ("ingestion",)
        if worker.read_metadata(job.folders.submission).command is not None:
            job.notes.append(NOT_RUN)
    for kind in kinds:
        program = job.program(kind)
        if not program.exists():
            continue
        metadata = worker.read_metadata(program)
        made = _container(job, kind, metadata)
        if isinstance(made, Container):
            containers.append(made)
        elif kind == "ingestion":
            swallowed = worker.INGESTION_NO_METADATA
            if metadata.file:
                swallowed = worker.INGESTION_NO_COMMAND
            job.notes.append(
                f"the ingestion program is never started, and the platform does not report it: {swallowed}"
            )
        elif job.is_scoring:
            job.notes.append(f"the scoring program is never started: {made}")
        elif metadata.file:
            job.notes.append(f"the submission is never started: {made}")
        else:
            copy_tree(program, job.folders.output)
    return containers


def _container(job: WorkerJob, kind: ContainerKind, metadata: worker.Metadata) -> Container | str:
    """The container that the worker would create of a program's folder, or why it creates none."""
    if metadata.command is None:
        return metadata.problem
    command = worker.replace_placeholders(
        metadata.command,
        kind,
        is_scoring=job.is_scoring,
        ingestion_only_during_scoring=job.task.ingestion_only_during_scoring,
    )
    try:
        argv = tuple(shlex.split(command))  # no shell: docker-py's `create_container` splits a text so
    except ValueError as error:
        return f"the command {command!r} cannot be split into arguments ({error})"
    environment = job.setting.environment if job.is_scoring and kind == "program" else {}
    return Container(kind, job.setting.image, argv, _mounts(job, kind), environment)


def _mounts(job: WorkerJob, kind: ContainerKind) -> tuple[Mount, ...]:
    """The worker's mounts, in its order and with its modes."""
    folders, older = job.folders, job.setting.version.submission_is_a_program
    mounts = [
        Mount(job.program(kind), "/app/program", "z"),
        Mount(folders.output, "/app/output", "z"),
        Mount(folders.root / "data", "/app/data", "ro"),  # a folder of the worker's own machine; empty here
    ]
    if not older:
        mounts.append(Mount(folders.submission, "/app/ingested_program", "ro"))
    elif kind == "ingestion":
        submitted = folders.predictions if job.is_scoring else folders.submission
        mounts.append(Mount(submitted, "/app/ingested_program"))
    if job.is_scoring and (older or kind == "program"):
        mounts.append(Mount(folders.root / "shared", "/app/shared"))
        mounts.append(Mount(folders.input, "/app/input"))
    if folders.input_data.exists() and (older or kind == "ingestion"):
        mounts.append(Mount(folders.input_data, "/app/input_data"))
    return tuple(mounts)


def _run_in_turn(job: WorkerJob, containers: Sequence[Container]) -> list[str]:
    """Run containers under one time limit, each after the end of the one before.

    The worker means to run them side by side, but reads the first one's log without yielding.

    Returns:
        What the worker would not have uploaded of their output.
    """
    began = time.monotonic()
    try:
        for container in containers:
            run = _run(job, container, job.seconds - (time.monotonic() - began))
            job.runs.append(run)
            if run.ended.timed_out:
                job.failure = job.setting.version.failed(worker.TIME_LIMIT.format(seconds=job.seconds))
                break
    except (EngineError, OSError) as error:
        job.failure, job.machine_fault = str(error), is_machine_fault(error)
    finally:
        # Also after a failure: what is left of the output is kept and looked at on this machine.
        allow_owner(job.folders.root)
        strays = drop_strays(job.folders.output)
    return strays


def _run(job: WorkerJob, container: Container, seconds: float) -> ProgramRun:
    for mount in container.mounts:
        if mount.source.is_symlink():  # put there by an earlier program, to be given something of this machine
            raise OSError(f"{mount.target} was replaced by a link")
        mount.source.mkdir(parents=True, exist_ok=True)
    stdout, stderr = (job.folders.log(container.kind, stream) for stream in ("stdout", "stderr"))
    on_line = job.setting.on_line
    ended = job.setting.engine.run(container, seconds=seconds, stdout=stdout, stderr=stderr, on_line=on_line)
    return ProgramRun(container, ended, *_printed((stdout, stderr)))


def _printed(logs: Iterable[Path]) -> tuple[int, int]:
    lines = size = 0
    for log in logs:
        with log.open("rb") as opened:
            while chunk := opened.read(CHUNK):
                lines, size = lines + chunk.count(b"\n"), size + len(chunk)
    return lines, size


def _scoring_failure(job: WorkerJob) -> str:
    """Why the scoring job fails once its containers have ended; empty when it does not."""
    version, scorer = job.setting.version, job.of("program")
    if job.setting.detailed_results and _hangs(job):
        return version.failed(worker.TIME_LIMIT.format(seconds=job.seconds))
    if scorer is None:
        return version.failed(worker.NON_ZERO) if version.needs_exit_code else ""
    if scorer.ended.exit_code == 0:
        return ""
    # The end of what it wrote to stderr; with SCORING_DEBUG much more of it.
    most = STDERR_DEBUGGED if "SCORING_DEBUG" in scorer.container.environment else STDERR_SHOWN
    code = "was stopped" if scorer.ended.exit_code is None else f"exit code {scorer.ended.exit_code}"
    written = end_of_log(job.folders.log("program", "stderr"), most).strip()
    parts = [f"({code})", scorer.ended.problem, written]
    return version.failed(worker.NON_ZERO, "\n".join([part for part in parts if part]))


def _hangs(job: WorkerJob) -> bool:
    """Whether the watcher of detailed results waits for a program that never comes."""
    if not job.setting.version.needs_exit_code:
        return job.of("program") is None and not worker.read_metadata(job.folders.scoring_program).file
    no_ingestion = job.folders.ingestion_program.exists() and job.of("ingestion") is None
    return job.of("program") is None or no_ingestion


def _send(jobs: Jobs, version: Differences) -> None:
    """Send what the worker does when the scoring job did not fail: Finished, then the scores, then the output."""
    try:
        jobs.scores = worker.read_scores(jobs.scoring.folders.output)
    except JobFailedError as failed:
        jobs.failure = version.failed(failed.cause, failed.detail)
        return
    except WorkerCrashError as crash:
        jobs.finished = True
        if version.crash_is_silent:
            jobs.crash = str(crash)
        else:
            jobs.failure = f"{crash.last_line}\n({crash})"
        return
    jobs.finished = jobs.sends_scores = True
    if fault := _push_metadata(jobs.scoring):
        jobs.failure = version.failed(fault)


def _unseen_end(job: WorkerJob, kind: ContainerKind, what: str) -> str:
    """A failure that the platform does not look at, and the end of the log that says why; empty where there is none."""
    run = job.of(kind)
    if run is None or run.ended.timed_out or run.ended.exit_code == 0:
        return ""
    ended = run.ended
    code = "was stopped" if ended.exit_code is None else f"ended with exit code {ended.exit_code}"
    said = f"the {what} {code}, which the platform does not look at. {ended.problem}".strip()
    written = end_of_log(job.folders.log(kind, "stderr"), STDERR_SHOWN).strip()
    return "\n".join([part for part in (said, written) if part])


def _log_notes(job: WorkerJob) -> list[str]:
    """Return what becomes of a scoring program's log: nothing sometimes, of an early end or a long one."""
    scorer = job.of("program")
    if scorer is None:
        return []
    notes = []
    ended = scorer.ended
    is_early = bool(ended.exit_code) and 0 < ended.seconds < EARLY_SECONDS  # of 0: it was never started
    if is_early and not any(job.folders.output.glob("*.html")):
        notes.append(EARLY_END)
    if worker.is_long_log(scorer.log_lines, scorer.log_bytes):
        versions = "; ".join(f"with version {version} {facts.long_log}" for version, facts in DIFFERENCES.items())
        notes.append(
            f"the scoring program printed {scorer.log_lines:,} lines, {scorer.log_bytes:,} bytes: {versions}. Print at "
            f"most {worker.LONG_LOG_LINES} lines and {worker.LONG_LOG_BYTES // 1024} KiB, what matters last"
        )
    return notes


def _push_metadata(job: WorkerJob) -> str:
    """Leave the worker's own `metadata` beside the output; the scoring job finds it among the predictions.

    Returns:
        Why the job fails: a program wrote a file of that name, for example; empty when it does not.
    """
    file = job.folders.output / "metadata"
    if file.exists() or file.is_symlink():
        return worker.OWN_METADATA
    values: dict[str, float | int | None] = {}
    for elapsed, code, kind in METADATA:
        run = job.of(kind)
        values[elapsed] = None if run is None else run.ended.seconds
        values[code] = None if run is None else run.ended.exit_code
    try:
        file.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    except OSError as error:
        return str(error)
    return ""
