"""A submission that is code: what it must hold, and the folder in which the files that it wrote are handed to scoring.

The ingestion program runs the code and leaves one folder, called after a digest of the submission. A submission cannot
hold a folder of that name, because the digest is also over what is in it: whatever the platform lays over the
ingestion's output, the files of that folder are those that the ingestion program left. `handed_over` proves at scoring
that the predictions are those of its own run.

Runs on Python 3.9 with the standard library alone.
"""

import ast
import hashlib
import json
import math
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, NoReturn, Optional, Tuple

from scoring_kit.errors import OrganiserError, Problems, SubmissionError, shown
from scoring_kit.submission_files import SubmissionFiles, report_program_files

RUN_FOLDER = re.compile(r"run-[0-9a-f]{64}")
PREDICTIONS, RECORD = "predictions", "metadata.json"
OF_SUBMISSION, OF_ORGANISERS, OF_PROGRAM = "submission", "organisers", "program"
"""Whose fault it is that a run handed nothing over."""
FUNCTION = "function"
PREDICT = "predict"
PLATFORM_PYTHON = (3, 11)
"""The oldest Python that an image of a competition has; an older one at home cannot judge all of the syntax."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class CodeEntry:
    """The part of a submission that is run.

    Attributes:
        file: its name, at the top of the zip.
        interface: `function`: its function `predict(input_folder, output_folder)` is called; `command`: it is run with
            the two folders as arguments.
    """

    file: str
    interface: str


def run_folder_name(submission: Path) -> str:
    """Return the name of the folder that ingestion leaves: a SHA-256 over the submission's files and their names.

    Over the sorted relative names, each followed by a zero byte and the SHA-256 of the content (32 bytes).
    """
    digest = hashlib.sha256()
    for name, path in sorted(_files(submission)):
        digest.update(name + b"\0" + _sha256(path))
    return f"run-{digest.hexdigest()}"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    return _sha256(path).hex()


def code_files(folder: Path, entry: CodeEntry, problems: Problems) -> Dict[str, Path]:
    """Return the files of submitted code by their names below the entry's folder; faults go to `problems`."""
    files = SubmissionFiles(folder, (), problems)
    report_program_files(folder, problems)
    for place in sorted(run_folders(folder)):
        problems.error(shown(place), "is a name that only the platform's own run may use", "a submission of code")
    expected = f"{entry.file} at the top of the zip"
    if not files.paths:
        problems.error("submission", "holds no files", expected)
    elif entry.file not in files.paths:
        found = [name for name in files.paths if name.rpartition("/")[2] == entry.file]
        what = f"is not at the top of the zip; found {shown(found[0])}" if found else "is missing"
        problems.error(entry.file, what, expected)
    for name, path in files.paths.items():
        if name.endswith(".py"):
            _check_python(name, path, entry, problems)
    return files.paths


def _check_python(name: str, path: Path, entry: CodeEntry, problems: Problems) -> None:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        line = getattr(error, "lineno", None)
        where, reason = (f"{name}:{line}", getattr(error, "msg", "")) if line else (name, str(error))
        what = f"is not valid Python {sys.version_info[0]}.{sys.version_info[1]} ({reason})"
        if sys.version_info < PLATFORM_PYTHON:
            problems.warn(where, f"{what}; the platform's is newer")
        else:
            problems.error(where, what, "a file that Python can read")
        return
    if name == entry.file and entry.interface == FUNCTION and not _binds(tree, PREDICT):
        problems.error(
            name, f"has no function {PREDICT}", f"def {PREDICT}(input_folder, output_folder) at its top level"
        )


def _binds(tree: ast.Module, name: str) -> bool:
    """Whether a module may bind `name` anywhere: defined, assigned or imported, also by a star."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name.split(".")[0] for alias in node.names}
            if bound & {name, "*"}:
                return True
    return False


def _files(folder: Path) -> Iterator[Tuple[bytes, Path]]:
    """Every regular file below a folder, with its relative name; links are not followed."""
    for parent, _, names in os.walk(str(folder)):
        for name in names:
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield os.fsencode(path.relative_to(folder).as_posix()), path


def _sha256(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        for chunk in iter(lambda: opened.read(CHUNK), b""):
            digest.update(chunk)
    return digest.digest()


WORKERS = "metadata"
"""The file in which the platform's worker leaves exit codes and seconds of the prediction step, beside its output."""
_FIGURE = re.compile(r"^(ingestionExitCode|ingestionElapsedTime): *(-?\d+(?:\.\d+)?(?:e-?\d+)?) *$", re.MULTILINE)
CLOCKS = 1.0
MOST_AROUND = 120.0
"""Seconds for starting, checking and packing: what the limit of the code leaves for them at most."""


def handed_over(output: Path, submission: Optional[Path], problems: Problems) -> Tuple[Path, float]:
    """Return the folder of what the submitted code wrote, and its wall-clock seconds; warnings go to `problems`.

    Args:
        output: what the prediction step left, and whatever the platform laid over it.
        submission: where the platform gives the code to the scoring program (`/app/ingested_program`). If it is there,
            the run's folder is the one that is called after this very submission. Else it is the only one there is.
        problems: collects warnings.

    Raises SubmissionError where the code has not run, or its run failed; OrganiserError where the program failed.
    """
    names = run_folders(output)
    if submission is not None and submission.is_dir():
        names = [run_folder_name(submission)]
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
    files = {os.fsdecode(name): sha256_of(path) for name, path in _files(predictions)}
    if files != record["files"]:
        problems.error("predictions", "are not those that the ingestion program checked", "Submit again")
        problems.stop_if_any()
    return predictions, float(record["duration"])


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


def run_folders(output: Path) -> List[str]:
    """Return the names of runs' folders in what the prediction step left, or anywhere else."""
    return [path.name for path in output.glob("run-*") if RUN_FOLDER.fullmatch(path.name)]


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
