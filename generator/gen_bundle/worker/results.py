"""What a dry run leaves: `dry-run.json` and a folder for each run."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gen_bundle.errors import UserError
from gen_bundle.worker.engines import Container, Usage
from gen_bundle.worker.engines.logs import KEPT_BYTES, keep_log
from gen_bundle.worker.jobs import Job
from gen_bundle.worker.layout import copy_tree, drop_strays

RESULT = "dry-run.json"


@dataclass
class Run:
    """One submission scored for one task of one phase; the fields of `runs` in dry-run.json.

    Attributes:
        exit_code: Of the scoring program; None when it did not run or was stopped.
        seconds: Wall-clock time of both jobs' containers.
        scores: The scores file, where the server stored it.
        message: Why it failed, or what the platform would not say. Empty when all is well.
    """

    phase: str
    task: str
    submission: str
    status: Literal["Finished", "Failed"] = "Failed"
    exit_code: int | None = None
    seconds: float = 0.0
    scores: dict[str, Any] | None = None
    message: str = ""

    @property
    def place(self) -> str:
        """Phase, task and submission in one text."""
        return f"{self.phase}/{self.task}/{self.submission}"


@dataclass(frozen=True)
class BoardRow:
    """One row of a phase's board; a field of `board` in dry-run.json.

    Attributes:
        cells: Shown text of each visible column; in a phase of several tasks that of the task that the column belongs
        to. tasks: In a phase of several tasks what each task shows for each column, as the platform lays it out.
    """

    phase: str
    rank: int
    submission: str
    cells: dict[str, str]
    tasks: dict[str, dict[str, str]] | None = None


@dataclass(frozen=True)
class Measured:
    """What one run used, held against its limit.

    Attributes:
        limit_seconds: What each of its two jobs may take.
        seconds: Both jobs.
    """

    phase: str
    task: str
    submission: str
    status: Literal["Finished", "Failed"]
    limit_seconds: int
    seconds: float
    slowest_job_seconds: float
    usage: Usage


@dataclass
class Results:
    """Everything a dry run found.

    Attributes:
        findings: What must be mended before uploading; any makes the dry run end with 1.
        notes: What is worth knowing.
        verdict: Time and memory held against the limits, in sentences.
        commands: The scoring containers as `docker run` lines, where they are asked for.
    """

    engine: str
    runs: list[Run] = field(default_factory=list)
    board: list[BoardRow] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    verdict: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Every run Finished with valid scores, there is a board, and nothing must be mended."""
        return bool(self.runs) and all(run.status == "Finished" for run in self.runs) and not self.findings

    def as_json(self) -> bytes:
        """The content of dry-run.json: UTF-8, and half characters that a program may write as escapes."""
        content = asdict(self)
        for row in content["board"]:
            if row["tasks"] is None:
                del row["tasks"]
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode(errors="backslashreplace")


def keep_run(folder: Path, prediction: Job, scoring: Job) -> list[str]:
    """Copy what a participant could download: the scoring output and the logs of all programs.

    Returns:
        A sentence for each log that is not kept in full.
    """
    output = folder / "output"
    output.mkdir(parents=True)
    if scoring.output.exists():
        copy_tree(scoring.output, output)
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


def keep_job(folder: Path, scoring: Job) -> Container | None:
    """Keep a scoring job's folders under `job/`, with an empty output, so that its container can be run again by hand.

    Returns:
        The container with its mounts there; None where the scoring program was never started.
    """
    container = scoring.containers.get("program")
    if container is None:
        return None
    job = (folder / "job").resolve()
    mounts = []
    for mount in container.mounts:
        kept = job / mount.source.relative_to(scoring.folder)
        if mount.target == "/app/output":
            kept.mkdir(parents=True)
        else:
            drop_strays(mount.source)
            copy_tree(mount.source, kept)
        mounts.append(replace(mount, source=kept))
    return replace(container, mounts=tuple(mounts))


def make_room(out: Path) -> None:
    """Make the results folder; what an earlier dry run left there is removed, anything else is not touched.

    Raises:
        UserError: The folder holds something else.
    """
    if not out.exists():
        out.mkdir(parents=True)
        return
    if not out.is_dir():
        raise UserError(f"{out} is a file; --out wants a folder for the results")
    there = {path.name for path in out.iterdir()}
    if not there:
        return
    earlier = _earlier_entries(out / RESULT)
    if earlier is None:
        raise UserError(f"{out} is not empty and holds no earlier dry run; give another --out or empty it")
    if strange := sorted(there - earlier):
        raise UserError(f"{out} holds more than an earlier dry run ({', '.join(strange[:5])}); give another --out")
    for name in there:
        path = out / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _earlier_entries(file: Path) -> set[str] | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {RESULT, *(str(run["phase"]) for run in content["runs"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextlib.contextmanager
def written(results: Results, out: Path) -> Iterator[None]:
    """Write dry-run.json at the end, whatever happens in between; it appears complete or not at all."""
    try:
        yield
    finally:
        partial = out / f".{RESULT}.{os.getpid()}"
        partial.write_bytes(results.as_json())
        partial.replace(out / RESULT)
