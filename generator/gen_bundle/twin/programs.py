"""The containers of one job: what the worker starts, with which mounts, in which order, under one time limit.

Source: Codabench 1.25, `compute_worker/compute_worker.py`, `Run._run_program_directory`, `Run.start`.
"""

import shlex
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gen_bundle.codabench import worker
from gen_bundle.codabench.versions import Differences
from gen_bundle.codabench.worker import ContainerKind
from gen_bundle.twin.engines import Container, Ended, Engine, EngineError, LineListener, Mount
from gen_bundle.twin.job_folders import JobFolders
from gen_bundle.twin.layout import allow_owner, drop_strays, open_to_containers
from gen_bundle.twin.machine import is_machine_fault

CHUNK = 1024**2


@dataclass(frozen=True)
class Setting:
    """What is the same for all jobs of a dry run.

    Attributes:
        environment: Further variables of the scoring program.
        cannot_run: Why the engine can run nothing; empty when it can.
    """

    engine: Engine
    image: str
    detailed_results: bool
    on_line: LineListener
    version: Differences
    environment: Mapping[str, str] = field(default_factory=dict)
    cannot_run: str = ""


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


@dataclass(frozen=True)
class ProgramRuns:
    """The containers of one job, in the order in which they ran.

    Attributes:
        notes: What the worker would not have uploaded of their output.
        failure: Why the job ended before all of them had run; empty when they ran to their ends.
        machine_fault: The failure is the machine's or its engine's.
    """

    runs: tuple[ProgramRun, ...]
    notes: tuple[str, ...]
    failure: str
    machine_fault: bool = False

    def of(self, kind: ContainerKind) -> ProgramRun | None:
        return next((run for run in self.runs if run.container.kind == kind), None)

    @property
    def seconds(self) -> float:
        """Of all containers together."""
        return sum(run.ended.seconds for run in self.runs)


def container(
    folders: JobFolders, kind: ContainerKind, setting: Setting, *, is_scoring: bool, only_during_scoring: bool
) -> Container | str:
    """The container that the worker would create of a program's folder, or why it creates none."""
    program = folders.program(kind, is_scoring=is_scoring)
    metadata = worker.read_metadata(program)
    if metadata.command is None:
        return metadata.problem
    command = worker.replace_placeholders(
        metadata.command, kind, is_scoring=is_scoring, ingestion_only_during_scoring=only_during_scoring
    )
    try:
        argv = tuple(shlex.split(command))  # no shell: docker-py's `create_container` splits a text so
    except ValueError as error:
        return f"the command {command!r} cannot be split into arguments ({error})"
    environment = setting.environment if is_scoring and kind == "program" else {}
    return Container(
        kind, setting.image, argv, _mounts(folders, kind, setting.version, is_scoring=is_scoring), environment
    )


def _mounts(folders: JobFolders, kind: ContainerKind, version: Differences, *, is_scoring: bool) -> tuple[Mount, ...]:
    """The worker's mounts, in its order and with its modes."""
    older = version.submission_is_a_program
    mounts = [
        Mount(folders.program(kind, is_scoring=is_scoring), "/app/program", "z"),
        Mount(folders.output, "/app/output", "z"),
        Mount(folders.root / "data", "/app/data", "ro"),  # a folder of the worker's own machine; empty here
    ]
    if not older:
        mounts.append(Mount(folders.submission, "/app/ingested_program", "ro"))
    elif kind == "ingestion":
        mounts.append(Mount(folders.predictions if is_scoring else folders.submission, "/app/ingested_program"))
    if is_scoring and (older or kind == "program"):
        mounts.append(Mount(folders.root / "shared", "/app/shared"))
        mounts.append(Mount(folders.input, "/app/input"))
    if folders.input_data.exists() and (older or kind == "ingestion"):
        mounts.append(Mount(folders.input_data, "/app/input_data"))
    return tuple(mounts)


def run_in_turn(containers: Iterable[Container], folders: JobFolders, seconds: int, setting: Setting) -> ProgramRuns:
    """Run containers under one time limit, each after the end of the one before.

    The worker means to run them side by side, but reads the first one's log without yielding.
    """
    began = time.monotonic()
    runs: list[ProgramRun] = []
    failure, machine_fault = "", False
    try:
        for each in containers:
            left = seconds - (time.monotonic() - began)
            runs.append(run := _run(each, folders, left, setting))
            if run.ended.timed_out:
                failure = setting.version.failed(worker.TIME_LIMIT.format(seconds=seconds))
                break
    except (EngineError, OSError) as error:
        failure, machine_fault = str(error), is_machine_fault(error)
    finally:
        # Also after a failure: what is left of the output is kept and looked at on this machine.
        allow_owner(folders.root)
        notes = drop_strays(folders.output)
    return ProgramRuns(tuple(runs), tuple(notes), failure, machine_fault)


def _run(container: Container, folders: JobFolders, seconds: float, setting: Setting) -> ProgramRun:
    for mount in container.mounts:
        if mount.source.is_symlink():  # put there by an earlier program, to be given something of this machine
            raise OSError(f"{mount.target} was replaced by a link")
        mount.source.mkdir(parents=True, exist_ok=True)
    open_to_containers(folders.root)
    logs = [folders.log(container.kind, stream) for stream in ("stdout", "stderr")]
    ended = setting.engine.run(container, seconds=seconds, stdout=logs[0], stderr=logs[1], on_line=setting.on_line)
    return ProgramRun(container, ended, *_printed(logs))


def _printed(logs: Iterable[Path]) -> tuple[int, int]:
    lines = size = 0
    for log in logs:
        with log.open("rb") as opened:
            while chunk := opened.read(CHUNK):
                lines, size = lines + chunk.count(b"\n"), size + len(chunk)
    return lines, size
