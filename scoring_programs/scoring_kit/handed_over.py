"""What the ingestion program handed over: the predictions of submitted code, proved to be those of its own run."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring_kit.code_submission import PREDICTIONS, RECORD, RUN_FOLDER, run_folder_name, sha256_of
from scoring_kit.errors import OrganiserError, Problems, SubmissionError

NOT_RUN = ("the code", "has not run to its end", "See the log of the prediction step, and submit again")


@dataclass(frozen=True)
class CodeRun:
    """A run of submitted code that ended well.

    Attributes:
        predictions: the folder of the files that it wrote.
        seconds: wall clock.
    """

    predictions: Path
    seconds: float


def handed_over(input_folder: Path, problems: Problems) -> CodeRun:
    """The run of the submission that is scored; its warnings go to `problems`.

    Where the platform mounts the submission (`ingested_program` beside the input folder), the run's folder is the one
    that is called after this very submission; elsewhere it is the only one there is.

    Raises:
        SubmissionError: the code has not run, or its run failed.
        OrganiserError: the ingestion program failed.
    """
    folder = _run_folder(input_folder / "res", input_folder.parent / "ingested_program", problems)
    record = _record(folder / RECORD, problems)
    for text in record["warnings"]:
        problems.repeat_warning(text)
    if record["fault"] == "submission":
        # The lines of a report: the first counts the problems, the last says so again.
        raise SubmissionError(record["errors"][1:-1], max(len(record["errors"]) - 2, 1))
    if record["fault"]:
        raise OrganiserError(*record["errors"])
    found = {path.relative_to(folder / PREDICTIONS).as_posix(): path for path in (folder / PREDICTIONS).rglob("*")}
    files = {name: sha256_of(path) for name, path in found.items() if path.is_file() and not path.is_symlink()}
    if files != record["files"]:
        problems.error("predictions", "are not those that the ingestion program checked", "Submit again")
        problems.stop_if_any()
    return CodeRun(folder / PREDICTIONS, float(record["duration"]))


def _run_folder(predictions: Path, submission: Path, problems: Problems) -> Path:
    runs = [path for path in sorted(predictions.iterdir()) if RUN_FOLDER.fullmatch(path.name) and path.is_dir()]
    if submission.is_dir():
        own = run_folder_name(submission)
        runs = [path for path in runs if path.name == own]
    if len(runs) != 1:
        problems.error(*NOT_RUN)
        problems.stop_if_any()
    return runs[0]


def _record(path: Path, problems: Problems) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        problems.error(*NOT_RUN)
        problems.stop_if_any()
