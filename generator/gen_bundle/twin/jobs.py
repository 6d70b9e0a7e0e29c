"""The two jobs of a submission, as the compute worker lays them out and runs them.

Source: Codabench `compute_worker/compute_worker.py` (commit c7dbc756), `Run.prepare`, `Run._run_program_directory`,
`Run.start`, `Run.push_output`. Every submission gets both jobs, result submissions too: their prediction job only
copies files.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from gen_bundle.codabench import worker as rules
from gen_bundle.codabench.versions import DIFFERENCES, Differences, Version
from gen_bundle.codabench.worker import JobFailedError, Kind
from gen_bundle.twin.bundle import Task
from gen_bundle.twin.engines import Container, Ended, Engine, LineListener, Mount
from gen_bundle.twin.engines.logs import printable
from gen_bundle.twin.layout import allow_owner, copy_tree, drop_strays, open_to_containers
from gen_bundle.zips.bounds import BUNDLE, SUBMISSION, Bounds
from gen_bundle.zips.unpacking import ArchiveError, unpack

STDERR_SHOWN = 2000
CHUNK = 1024**2
EMPTY_SUBMISSION = (
    "the submission's zip holds nothing. A server of version 1.32 runs the scoring program all the same; one of 1.25 "
    f"is blocked for three minutes and ends Failed: {rules.BAD_ZIP}"
)


@dataclass(frozen=True)
class Setting:
    """What is the same for all jobs of a dry run."""

    engine: Engine
    image: str
    detailed_results: bool
    on_line: LineListener
    version: Version
    environment: Mapping[str, str] = field(default_factory=dict)  # of the scoring program


@dataclass
class Job:
    """One job: its folders, its limit, and what happened.

    Attributes:
        folder: Holds `program`, `ingestion_program`, `input_data`, `input/ref`, `input/res`, `output` and `shared`.
        task: The task.
        seconds: The wall-clock limit, for both of its containers together.
        is_scoring: The second of the two jobs.
        containers: What was asked of the engine.
        ended: How each container ended.
        notes: What the platform would say nothing about.
    """

    folder: Path
    task: Task
    seconds: int
    is_scoring: bool
    containers: dict[Kind, Container] = field(default_factory=dict)
    ended: dict[Kind, Ended] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def output(self) -> Path:
        """What the containers see as `/app/output`."""
        return self.folder / "output"

    @property
    def spent(self) -> float:
        """Seconds of all its containers."""
        return sum(ended.seconds for ended in self.ended.values())

    def log(self, kind: Kind, stream: str) -> Path:
        """The file of one stream of one container."""
        return self.folder / f"{kind}.{stream}.txt"

    def printed(self, kind: Kind) -> tuple[int, int]:
        """Lines and bytes that a container printed, on both streams together."""
        lines = size = 0
        for stream in ("stdout", "stderr"):
            if (log := self.log(kind, stream)).is_file():
                with log.open("rb") as opened:
                    while chunk := opened.read(CHUNK):
                        lines, size = lines + chunk.count(b"\n"), size + len(chunk)
        return lines, size


def run_prediction(job: Job, submission: Path, setting: Setting) -> None:
    """The prediction job: the submission is the program, and no container sees reference data.

    Exit codes are not looked at, and what an ingestion program lacks is swallowed: `Run.start` gathers both with
    exceptions returned.

    Raises:
        JobFailedError: The submission is Failed already here.
        EngineError: The engine cannot run it.
    """
    _lay_out_submission(submission, job, DIFFERENCES[setting.version])
    with_ingestion = not job.task.ingestion_only_during_scoring
    _lay_out_ingestion(job, wanted=with_ingestion)
    if job.task.input_data:
        _lay_out(job.task.input_data, job.folder / "input_data", BUNDLE, "input_data")
    _run_programs(job, setting)
    if not job.output.exists():
        # The prediction's upload fails with "Metadata file not found"; what shows in the end is the scoring job's
        # failure.
        metadata = rules.read_metadata(job.folder / "program")
        if metadata.found:
            job.notes.append(
                f"the submission holds a file named metadata or metadata.yaml ({metadata.problem}), so the platform "
                "neither runs nor copies it; a result submission must not contain such a file"
            )
        raise JobFailedError(rules.BAD_ZIP)
    _push_metadata(job)


def run_scoring(job: Job, predictions: Path, setting: Setting) -> object:
    """The scoring job: the task's scoring program with reference data and predictions.

    Args:
        job: The job; its folder is made.
        predictions: The output folder of the prediction job.
        setting: Engine and image.

    Returns:
        What the scores file holds; the server stores it before the output is pushed (`push_scoring_output`).

    Raises:
        JobFailedError: Non-zero exit, no or broken scores file, time limit.
        WorkerCrashError: Scores that cannot be sent.
        EngineError: The engine cannot run it.
    """
    task = job.task
    _lay_out(task.scoring_program, job.folder / "program", BUNDLE, "the scoring program")
    _lay_out_ingestion(job, wanted=task.ingestion_only_during_scoring)
    if task.ingestion_only_during_scoring and task.input_data:
        _lay_out(task.input_data, job.folder / "input_data", BUNDLE, "input_data")
    if task.reference_data:
        _lay_out(task.reference_data, job.folder / "input" / "ref", BUNDLE, "the reference data")
    copy_tree(predictions, job.folder / "input" / "res")
    _run_programs(job, setting)
    if "program" not in job.ended:
        problem = rules.read_metadata(job.folder / "program").problem
        job.notes.append(f"the scoring program is never started: {problem}")
        if setting.detailed_results and not rules.read_metadata(job.folder / "program").found:
            # The watcher of detailed results waits for a second program that never comes.
            raise JobFailedError(rules.TIME_LIMIT.format(seconds=job.seconds))
    elif job.ended["program"].exit_code != 0:
        raise JobFailedError(f"{rules.NON_ZERO} {_why(job)}".rstrip())
    return rules.read_scores(job.output)


def push_scoring_output(job: Job) -> None:
    """The last step of the scoring job, after the scores are stored.

    Raises:
        JobFailedError: The program wrote a file named `metadata`.
    """
    _push_metadata(job)


def _why(job: Job) -> str:
    ended = job.ended["program"]
    code = "was stopped" if ended.exit_code is None else f"exit code {ended.exit_code}"
    kept = 0 if "SCORING_DEBUG" in job.containers["program"].environment else STDERR_SHOWN  # 0: everything
    written = printable(job.log("program", "stderr").read_bytes()[-kept:]).strip()
    return "\n".join(filter(None, [f"({code})", ended.problem, written]))


def _lay_out(source: Path, target: Path, bounds: Bounds, what: str) -> None:
    """A bundle's or participant's data as the worker unpacks it.

    From a zip, or from a folder, which the server would have zipped.
    """
    try:
        if source.is_dir():
            copy_tree(source, target)
        else:
            unpack(source, target, bounds)
    except (ArchiveError, OSError) as error:
        raise JobFailedError(f"{rules.BAD_ZIP}: {what}: {error}") from error


def _lay_out_submission(submission: Path, job: Job, version: Differences) -> None:
    program = job.folder / "program"
    _lay_out(submission, program, SUBMISSION, "the submission")
    if not any(program.iterdir()):
        job.notes.append(EMPTY_SUBMISSION)
        if not version.runs_empty_submissions:
            program.rmdir()


def _lay_out_ingestion(job: Job, *, wanted: bool) -> None:
    if wanted and job.task.ingestion_program:
        _lay_out(job.task.ingestion_program, job.folder / "ingestion_program", BUNDLE, "the ingestion program")


def _run_programs(job: Job, setting: Setting) -> None:
    """Run the program, then the ingestion program, under one time limit.

    One after the other: the worker reads the first container's log without yielding, so that the second starts when
    the first has ended.
    """
    try:
        _run_in_turn(job, setting)
    finally:
        # Also after a failure: what is left of the output is kept and looked at on this machine.
        allow_owner(job.folder)
        job.notes += drop_strays(job.output)


def _run_in_turn(job: Job, setting: Setting) -> None:
    began = time.monotonic()
    kinds: tuple[Kind, ...] = ("program", "ingestion")
    for kind in kinds:
        container = _container(job, kind, setting)
        if container is None:
            continue
        job.containers[kind] = container
        for mount in container.mounts:
            if mount.source.is_symlink():  # put there by an earlier program, to be given something of this machine
                raise JobFailedError(f"{mount.target} was replaced by a link")
            mount.source.mkdir(parents=True, exist_ok=True)
        open_to_containers(job.folder)
        ended = setting.engine.run(
            container,
            seconds=job.seconds - (time.monotonic() - began),
            stdout=job.log(kind, "stdout"),
            stderr=job.log(kind, "stderr"),
            on_line=setting.on_line,
        )
        job.ended[kind] = ended
        if note := _long_log(job, kind):
            job.notes.append(note)
        if ended.timed_out:
            raise JobFailedError(rules.TIME_LIMIT.format(seconds=job.seconds))
        if ended.exit_code != 0 and not (job.is_scoring and kind == "program"):
            what = "ingestion program" if kind == "ingestion" else "submission"
            code = "was stopped" if ended.exit_code is None else f"ended with exit code {ended.exit_code}"
            job.notes.append(f"the {what} {code}, which the platform does not look at. {ended.problem}".strip())


def _long_log(job: Job, kind: Kind) -> str | None:
    """What a scoring program's long log leads to, in each version of the platform."""
    lines, size = job.printed(kind)
    if not job.is_scoring or kind != "program" or not rules.is_long_log(lines, size):
        return None
    versions = "; ".join(f"with version {version} {facts.long_log}" for version, facts in DIFFERENCES.items())
    return (
        f"the scoring program printed {lines:,} lines, {size:,} bytes: {versions}. Print at most "
        f"{rules.LONG_LOG_LINES} lines and {rules.LONG_LOG_BYTES // 1024} KiB, what matters last"
    )


def _container(job: Job, kind: Kind, setting: Setting) -> Container | None:
    """The container that the worker would create, or None where it runs nothing."""
    program = job.folder / ("program" if kind == "program" else "ingestion_program")
    if not program.exists():
        return None
    metadata = rules.read_metadata(program)
    if metadata.command is None:
        if kind == "ingestion":
            swallowed = rules.INGESTION_NO_COMMAND if metadata.found else rules.INGESTION_NO_METADATA
            job.notes.append(f"the ingestion program is never started, without a word from the platform: {swallowed}")
        elif not metadata.found:
            copy_tree(program, job.output)
        return None
    command = rules.replace_placeholders(
        metadata.command,
        kind,
        is_scoring=job.is_scoring,
        ingestion_only_during_scoring=job.task.ingestion_only_during_scoring,
    )
    try:
        argv = rules.split_command(command)
    except ValueError as error:
        job.notes.append(f"the command {command!r} cannot be split into arguments ({error}); nothing is started")
        return None
    environment = setting.environment if job.is_scoring and kind == "program" else {}
    return Container(kind, setting.image, argv, tuple(_mounts(job, kind, program)), environment)


def _mounts(job: Job, kind: Kind, program: Path) -> list[Mount]:
    """The worker's mounts, in its order and with its modes."""
    mounts = [
        Mount(program, "/app/program", "z"),
        Mount(job.output, "/app/output", "z"),
        Mount(job.folder / "data", "/app/data", "ro"),  # a folder of the worker's own machine; empty here
    ]
    if kind == "ingestion":
        ingested = job.folder / ("input/res" if job.is_scoring else "program")
        mounts.append(Mount(ingested, "/app/ingested_program"))
    if job.is_scoring:
        mounts.append(Mount(job.folder / "shared", "/app/shared"))
        mounts.append(Mount(job.folder / "input", "/app/input"))
    if (job.folder / "input_data").exists():
        mounts.append(Mount(job.folder / "input_data", "/app/input_data"))
    return mounts


def _push_metadata(job: Job) -> None:
    """Leave the worker's own `metadata` beside the output; the scoring job finds it among the predictions."""
    file = job.output / "metadata"
    if file.exists() or file.is_symlink():
        raise JobFailedError(rules.OWN_METADATA)
    program, ingestion = job.ended.get("program"), job.ended.get("ingestion")
    content = {
        "exitCode": program.exit_code if program else None,
        "elapsedTime": program.seconds if program else None,
        "ingestionExitCode": ingestion.exit_code if ingestion else None,
        "ingestionElapsedTime": ingestion.seconds if ingestion else None,
    }
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
