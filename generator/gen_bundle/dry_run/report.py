"""The report of a dry run: the content of its `dry-run.json`, and the folder for it and for what the runs left."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from gen_bundle.codabench.competition import DEFAULT_LIMIT_S, Competition, Phase
from gen_bundle.codabench.versions import NEWEST
from gen_bundle.codabench.worker import ContainerKind
from gen_bundle.dry_run.engines import Usage
from gen_bundle.ground.errors import UserError

RESULT = "dry-run.json"
JobName = Literal["scoring", "prediction"]
LOGS: Mapping[str, tuple[JobName, ContainerKind, str]] = {
    "stdout.txt": ("scoring", "program", "stdout"),
    "stderr.txt": ("scoring", "program", "stderr"),
    "ingestion-stdout.txt": ("scoring", "ingestion", "stdout"),
    "ingestion-stderr.txt": ("scoring", "ingestion", "stderr"),
    "prediction-stdout.txt": ("prediction", "program", "stdout"),
    "prediction-stderr.txt": ("prediction", "program", "stderr"),
    "prediction-ingestion-stdout.txt": ("prediction", "ingestion", "stdout"),
    "prediction-ingestion-stderr.txt": ("prediction", "ingestion", "stderr"),
}
"""The logs that are kept: of which job, which of its programs, and which stream."""
KEPT = ("output", "prediction-output", "job", *LOGS)
Status = Literal["Finished", "Failed"]
TOLERANCE = 1e-6
"""How far scores may differ between two runs of the same models on different machines."""
SIGNATURE = re.compile(r"competition:[^\s|]+(?:\|[^\s|:]+:[^\s|]*)*\|reference:\w+")
"""The line of a log that says what a score depends on, as scoring_kit's `signature` writes it."""
# Hosted workers are slower and shared; a run that uses half of its time here may run out of it there.
TIGHT = 0.5
SEEN_S = 2.0
"""Memory is looked at a few times a second: of a shorter job the largest that was seen says nothing."""
MIB = 1024**2


def allowance(number: str) -> float:
    """Return how far a printed figure may be off: half a unit of its last digit.

    Raises:
        decimal.InvalidOperation, OverflowError, ValueError: it is not a number, or one without digits such as nan.
    """
    return 0.5 * 10.0 ** int(Decimal(number).as_tuple().exponent) + 1e-9


@dataclass(frozen=True)
class Run:
    """One submission scored for one task of one phase; the fields of `runs` in dry-run.json.

    Attributes:
        exit_code: Of the scoring program; None when it did not run or was stopped.
        seconds: Wall-clock time of both jobs' containers.
        scores: The scores file, where the server stored it.
        message: Why it failed, or what the platform would not show. Empty when all is well.
    """

    phase: str
    task: str
    submission: str
    status: Status = "Failed"
    exit_code: int | None = None
    seconds: float = 0.0
    scores: dict[str, Any] | None = None
    message: str = ""

    @property
    def place(self) -> str:
        return f"{self.phase}/{self.task}/{self.submission}"


@dataclass(frozen=True)
class Measured:
    """The time and memory of one run, held against its limit.

    Attributes:
        limit_seconds: What each of its two jobs may take.
        seconds: Both jobs.
        log_lines, log_bytes: What the scoring program printed.
    """

    phase: str
    task: str
    submission: str
    status: Status
    limit_seconds: int
    seconds: float
    slowest_job_seconds: float
    usage: Usage
    log_lines: int = 0
    log_bytes: int = 0


@dataclass(frozen=True)
class BoardRow:
    """One row of a phase's board; a field of `board` in dry-run.json.

    Attributes:
        cells: Shown text of each visible column; in a phase of several tasks that of the column's own task.
        tasks: In a phase of several tasks what each task shows for each column, as the platform lays it out.
    """

    phase: str
    rank: int
    submission: str
    cells: dict[str, str]
    tasks: dict[str, dict[str, str]] | None = None


@dataclass
class Results:
    """Everything a dry run found.

    Attributes:
        platform_version: The platform's that was replayed.
        findings: What must be fixed before uploading; any makes the dry run end with 1.
        notes: What is worth knowing.
        verdict: Time and memory held against the limits, in sentences.
        commands: The scoring containers as `docker run` lines, where they are asked for.
    """

    engine: str
    platform_version: str = NEWEST.value
    runs: list[Run] = field(default_factory=list)
    board: list[BoardRow] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    verdict: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Every run Finished with valid scores, there is a board, and nothing must be fixed."""
        return bool(self.runs) and all(run.status == "Finished" for run in self.runs) and not self.findings

    def as_json(self) -> bytes:
        """Return the content of dry-run.json: UTF-8, and half characters that a program may write as escapes."""
        content = asdict(self)
        for row in content["board"]:
            if row["tasks"] is None:
                del row["tasks"]
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode(errors="backslashreplace")


def read_record(path: Path) -> Mapping[str, Any]:
    """Return the content of dry-run.json, given itself or the folder of a dry run; `findings` are there in any case.

    Raises:
        UserError: there is none, or it is something else.
    """
    file = path / RESULT if path.is_dir() else path
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"--dry-run {path}: no {RESULT} can be read there ({error})") from error
    record: dict[str, Any] = {"findings": [], **content} if isinstance(content, dict) else {}
    if not all(isinstance(record.get(key), list) for key in ("runs", "board", "findings")):
        raise UserError(f"--dry-run {file}: expected an object with `runs` and `board`")
    return record


def verdict(competition: Competition, measured: Sequence[Measured]) -> Iterator[str]:
    """Yield what the measured runs mean for the platform, phase by phase: how much room is left below the limit."""
    # A run that failed early shows nothing about time; one that ran into the limit does.
    telling = [run for run in measured if run.status == "Finished" or run.slowest_job_seconds >= run.limit_seconds]
    for phase in competition.phases:
        runs = [run for run in telling if run.phase == phase.id]
        if not runs:
            continue
        slowest = max(runs, key=lambda run: run.slowest_job_seconds)
        yield _time(phase, slowest, own_queue=competition.queue)
        if slowest.slowest_job_seconds >= SEEN_S:
            yield from _memory(phase, Usage.peak(run.usage for run in runs))


def _time(phase: Phase, slowest: Measured, *, own_queue: bool) -> str:
    limit, took = slowest.limit_seconds, slowest.slowest_job_seconds
    if took >= limit:
        judged = "too slow"
    elif took > TIGHT * limit:
        judged = "tight: the platform's workers may be slower than this machine"
    else:
        judged = "enough room"
    queue = "its own queue" if own_queue else f"the default queue, at most {DEFAULT_LIMIT_S} s"
    cut = f"; the phase asks for {phase.limit_s} s" if phase.limit_s > limit else ""
    return f"phase {phase.id}: the slowest job took {took:.1f} s of {limit} s ({queue}{cut}): {judged}"


def _memory(phase: Phase, peak: Usage) -> Iterator[str]:
    if peak.memory_bytes is None or peak.memory_bytes < MIB:  # it ended before there was anything to see
        return
    gpu = "" if peak.gpu_memory_bytes is None else f", {peak.gpu_memory_bytes / MIB:.0f} MiB on the GPU"
    yield f"phase {phase.id}: {peak.memory_bytes / MIB:.0f} MiB of memory seen{gpu}; the platform sets no limit"


def make_room(out: Path) -> None:
    """Make the results folder; what an earlier dry run left there is removed, anything else is not touched.

    Raises:
        UserError: The folder holds something else, or cannot be used.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if strange := _not_ours(out):
            raise UserError(f"{out} holds files that no dry run wrote ({', '.join(strange[:5])}); give another --out")
        for path in out.iterdir():
            if path.name != RESULT:
                shutil.rmtree(path)
        (out / RESULT).unlink(missing_ok=True)
        tempfile.TemporaryFile(dir=out).close()  # better now than when all has run
    except FileExistsError as error:
        raise UserError(f"{out} is not a folder; give --out a folder for the results") from error
    except OSError as error:
        raise UserError(f"--out {out}: cannot be used: {error}") from error


def _not_ours(out: Path) -> list[str]:
    """Return what no earlier dry run left: all but its dry-run.json, the runs' folders and what is kept there."""
    ours = {Path(RESULT)}
    try:
        for run in json.loads((out / RESULT).read_text(encoding="utf-8"))["runs"]:
            folder = Path(run["phase"], run["task"], run["submission"])
            ours |= {Path(run["phase"]), folder.parent, folder, *(folder.joinpath(one) for one in KEPT)}
    except FileNotFoundError:
        pass
    except (ValueError, KeyError, TypeError):
        return [RESULT]
    strange = []
    for parent, folders, files in os.walk(out):
        place = Path(parent).relative_to(out)
        strange += [str(place / name) for name in files if place / name not in ours]
        looked_into = []
        for name in folders:
            if place / name not in ours:
                strange.append(f"{place / name}/")
            elif len(place.parts) < 3:  # below is what a run left
                looked_into.append(name)
        folders[:] = looked_into
    return strange
