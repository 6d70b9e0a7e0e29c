"""What the ingestion program handed over: the predictions of submitted code, proved to be those of its own run."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from scoring_kit.code_submission import (
    OF_SUBMISSION,
    PREDICTIONS,
    RECORD,
    RUN_FOLDER,
    run_folder_name,
    sha256_of,
)
from scoring_kit.errors import OrganiserError, Problems, SubmissionError

WORKERS = "metadata"
"""The file in which the platform's worker leaves exit codes and seconds of the prediction step, beside its output."""
_FIGURE = re.compile(r"^(ingestionExitCode|ingestionElapsedTime): *(-?\d+(?:\.\d+)?(?:e-?\d+)?) *$", re.MULTILINE)
CLOCKS = 1.0
MOST_AROUND = 120.0
"""Seconds for starting, checking and packing: what the limit of the code leaves for them at most."""


@dataclass(frozen=True)
class CodeRun:
    """A run of submitted code that ended well.

    Attributes:
        predictions: the folder of the files that it wrote.
        seconds: wall clock.
    """

    predictions: Path
    seconds: float


def handed_over(output: Path, submission: Path | None, problems: Problems) -> CodeRun:
    """The run of the submission that is scored; its warnings go to `problems`.

    Args:
        output: what the prediction step left, and whatever the platform laid over it.
        submission: the code, where the platform gives it to the scoring program (`/app/ingested_program`); then the
            run's folder is the one that is called after this very submission. Else it is the only one there is.
        problems: collects warnings.

    Raises:
        SubmissionError: the code has not run, or its run failed.
        OrganiserError: the ingestion program failed.
    """
    names = run_folders(output) if submission is None else [run_folder_name(submission)]
    if len(names) != 1 or not (output / names[0]).is_dir():
        _has_not_run(problems)
    folder = output / names[0]
    record = _read(folder / RECORD, problems)
    errors = record["errors"]
    for text in record["warnings"]:
        problems.repeat_warning(text)
    if record["fault"] == OF_SUBMISSION:
        raise SubmissionError(errors, max(record["found"], len(errors)), problems.warning_lines())
    if record["fault"] is not None:
        raise OrganiserError(*errors)
    _check_worker(output / WORKERS, float(record["duration"]), problems)
    predictions = folder / PREDICTIONS
    files = {
        path.relative_to(predictions).as_posix(): sha256_of(path)
        for path in predictions.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    if files != record["files"]:
        problems.error("predictions", "are not those that the ingestion program checked", "Submit again")
        problems.stop_if_any()
    return CodeRun(predictions, float(record["duration"]))


def _check_worker(metadata: Path, duration: float, problems: Problems) -> None:
    """Hold a run that ended well against what the platform's worker saw of the ingestion program.

    Code that kills the program around it, and leaves a record in its place, cannot change that. A submission cannot
    bring a file of this name, since the ingestion program does not run its code then.
    """
    try:
        text = metadata.read_text(encoding="utf-8", errors="replace")
    except OSError:  # at home there is no worker
        return
    seen = {name: float(value) for name, value in _FIGURE.findall(text)}
    if seen.get("ingestionExitCode", 0) != 0:
        _has_not_run(problems)
    elapsed = seen.get("ingestionElapsedTime")
    if elapsed is not None and not duration - CLOCKS <= elapsed <= duration + MOST_AROUND:
        problems.error(
            "the code",
            f"is said to have run {duration:.1f} s, and the platform saw {elapsed:.1f} s of it",
            "the time that the ingestion program measured",
        )
        problems.stop_if_any()


def run_folders(output: Path) -> list[str]:
    """The names of the runs' folders in what the prediction step left."""
    return [path.name for path in output.iterdir() if RUN_FOLDER.fullmatch(path.name)] if output.is_dir() else []


def _read(path: Path, problems: Problems) -> Mapping[str, Any]:
    """The record that `ingestion_kit.ingestion` writes.

    Code that attacked the program around it may have left anything in its place.
    """
    try:
        data: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        texts = [*data["errors"], *data["warnings"], *data["files"].values(), data["fault"] or ""]
        lists = isinstance(data["errors"], list) and isinstance(data["warnings"], list)
        seconds = 0.0 if data["fault"] else float(data["duration"])
        found = data["found"] if data["fault"] == OF_SUBMISSION else 0
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        _has_not_run(problems)
    is_sound = lists and type(found) is int and math.isfinite(seconds)
    if not is_sound or not all(isinstance(text, str) for text in texts):
        _has_not_run(problems)
    return data


def _has_not_run(problems: Problems) -> NoReturn:
    problems.error("the code", "has not run to its end", "See the log of the prediction step, and submit again")
    problems.stop_if_any()
    raise AssertionError
