"""What a dry run leaves: `dry-run.json` and a folder for each run."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gen_bundle.errors import UserError
from gen_bundle.twin.engines import Container, Usage
from gen_bundle.twin.engines.logs import KEPT_BYTES, keep_log
from gen_bundle.twin.jobs import Job
from gen_bundle.twin.layout import copy_tree, drop_strays, open_to_containers
from gen_bundle.twin.record import RESULT
from gen_bundle.whole_file import write_whole

_LOGS = ("", "ingestion-", "prediction-", "prediction-ingestion-")
KEPT = ("output", "job", *(f"{log}{stream}.txt" for log in _LOGS for stream in ("stdout", "stderr")))


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
        log_lines, log_bytes: What the scoring program printed.
    """

    phase: str
    task: str
    submission: str
    status: Literal["Finished", "Failed"]
    limit_seconds: int
    seconds: float
    slowest_job_seconds: float
    usage: Usage
    log_lines: int = 0
    log_bytes: int = 0


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


def plain_scores(scores: Mapping[str, Any]) -> dict[str, Any]:
    """What dry-run.json keeps of scores that the server took: lists and mappings are never a column's."""
    return {key: value for key, value in scores.items() if not isinstance(value, dict | list)}


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
        kept.mkdir(parents=True, exist_ok=True)
        if mount.target != "/app/output" and mount.source.exists():  # the program may have removed it
            drop_strays(mount.source)
            copy_tree(mount.source, kept)
        mounts.append(replace(mount, source=kept))
    open_to_containers(job)
    return replace(container, mounts=tuple(mounts))


def make_room(out: Path) -> None:
    """Make the results folder; what an earlier dry run left there is removed, anything else is not touched.

    Raises:
        UserError: The folder holds something else, or cannot be used.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        there = [path for path in out.iterdir() if path.name != RESULT]
        if strange := _not_ours(out):
            raise UserError(f"{out} holds what no dry run left there ({', '.join(strange[:5])}); give another --out")
        for path in there:
            shutil.rmtree(path)
        (out / RESULT).unlink(missing_ok=True)
        tempfile.TemporaryFile(dir=out).close()  # better now than when all has run
    except FileExistsError as error:
        raise UserError(f"{out} is no folder; --out wants one for the results") from error
    except OSError as error:
        raise UserError(f"--out {out}: cannot be used: {error}") from error


def _not_ours(out: Path) -> list[str]:
    """What no dry run left: only folders of the runs that an earlier dry-run.json tells, and in them what is kept."""
    try:
        runs = json.loads((out / RESULT).read_text(encoding="utf-8"))["runs"]
        kept = {(run["phase"], run["task"], run["submission"]) for run in runs}
    except FileNotFoundError:
        kept = set()
    except (ValueError, KeyError, TypeError):
        return [RESULT]
    ours = {part[:depth] for part in kept for depth in (1, 2, 3)} | {(*run, name) for run in kept for name in KEPT}
    strange = []
    for parent, folders, files in os.walk(out):
        place = Path(parent).relative_to(out).parts
        strange += [str(Path(*place, name)) for name in files if (*place, name) not in {*ours, (RESULT,)}]
        strange += [f"{Path(*place, name)}/" for name in folders if (*place, name) not in ours]
        folders[:] = [name for name in folders if len(place) < 3 and (*place, name) in ours]
    return strange


@contextlib.contextmanager
def written(results: Results, out: Path) -> Iterator[None]:
    """Write dry-run.json at the end, whatever happens in between; it appears complete or not at all."""
    try:
        yield
    except BaseException as error:
        what = "interrupted" if isinstance(error, KeyboardInterrupt | SystemExit) else "broken off"
        if results.runs and not results.runs[-1].message and results.runs[-1].status == "Failed":
            results.runs[-1].message = f"the dry run was {what} here"
        results.findings.append(f"the dry run was {what}: runs that are missing here did not take place")
        raise
    finally:
        write_whole(out / RESULT, results.as_json())
