"""The folders of a dry run's results: room for them, and what each run leaves there."""

import contextlib
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.twin.engines import Container
from gen_bundle.twin.engines.watching import KEPT_BYTES, keep_log
from gen_bundle.twin.jobs import Jobs, WorkerJob
from gen_bundle.twin.layout import copy_tree, drop_strays, entries, open_to_containers
from gen_bundle.twin.report import RESULT

_LOGS = ("", "ingestion-", "prediction-", "prediction-ingestion-")
KEPT = (
    "output",
    "prediction-output",
    "job",
    *(f"{log}{stream}.txt" for log in _LOGS for stream in ("stdout", "stderr")),
)


def keep_run(folder: Path, jobs: Jobs) -> list[str]:
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


def keep_job(folder: Path, scoring: WorkerJob) -> Container | None:
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


def make_room(out: Path) -> None:
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
