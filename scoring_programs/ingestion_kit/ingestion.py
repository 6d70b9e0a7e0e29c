"""One run of the ingestion program: read the submission, run its entry, check and hand over what it wrote.

Afterwards the output folder holds `run-<digest of the submission>/` and nothing else: `predictions/`, the files that
the entry wrote, and `metadata.json`, written last. The platform ignores this program's exit status, so every fault is
in that file, for the scoring program to report: `fault` is whose it is, `errors` are the lines to show,
and `found` is how many problems a submission has, of which not all need be shown.

Exit status: 0 handed over; 1 bad submission; 2 the organisers must act; 3 a bug of the program.
"""

import argparse
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from ingestion_kit.entry import EndedEntry, Limits, run_entry
from scoring_kit.base.submissions import MAX_BYTES, MAX_FILES
from scoring_kit.code_submission import (
    OF_ORGANISERS,
    OF_PROGRAM,
    OF_SUBMISSION,
    PREDICTIONS,
    RECORD,
    CodeEntry,
    code_files,
    run_folder_name,
    sha256_of,
)
from scoring_kit.errors import (
    OrganiserError,
    Problems,
    SubmissionError,
    escape_what_cannot_be_printed,
    frames_of,
    printable,
    shown,
)
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import MAX_FOLDERS, PROGRAM_FILES, TOO_DEEP, read_submission, submission_module

STATUS = {OF_SUBMISSION: 1, OF_ORGANISERS: 2, OF_PROGRAM: 3}


def main(program_folder: Path, arguments: Sequence[str]) -> int:
    """Run the ingestion program; returns its exit status, with every message already printed."""
    escape_what_cannot_be_printed()
    parser = argparse.ArgumentParser(prog="ingest.py", description="Run a submission's code on the input data.")
    parser.add_argument("input", type=Path, help="folder that the code may read")
    parser.add_argument("submission", type=Path, help="folder with the submission")
    parser.add_argument("output", type=Path, help="folder for what is handed to the scoring program")
    request = parser.parse_args(arguments)
    private = Path(tempfile.mkdtemp(prefix="ingestion-"))
    try:
        return _run(program_folder, request, private)
    except OSError as error:
        _print(_frames(error), sys.stderr)  # not even the record could be written
        return STATUS[OF_PROGRAM]
    finally:
        shutil.rmtree(str(private), ignore_errors=True)


def _run(program_folder: Path, asked: argparse.Namespace, private: Path) -> int:
    """Run the ingestion, with the code in the folder `private`, and write its record; returns the exit status.

    Raises OSError: the output folder cannot be written.
    """
    handed_over: Path = asked.output / run_folder_name(asked.submission)
    record: Dict[str, Any] = {"duration": None, "memory_mib": None, "exit_code": None, "files": {}}
    problems = Problems()
    lines: Sequence[str] = []  # as they are printed, where that is more than the errors
    _clear(asked.output)
    try:
        _hand_over(program_folder, asked, private, handed_over, record, problems)
        fault, errors = None, []
    except SubmissionError as error:
        fault, errors, lines = OF_SUBMISSION, error.messages, error.report().splitlines()
        record["found"] = error.found
    except OrganiserError as error:
        fault, errors = OF_ORGANISERS, error.messages
    except Exception as error:
        fault, errors = OF_PROGRAM, _frames(error)
    if fault:
        _clear(asked.output)
    record.update(fault=fault, errors=errors, warnings=problems.warnings)
    handed_over.mkdir(exist_ok=True)
    unfinished = handed_over / f".{RECORD}.tmp"
    unfinished.write_text(json.dumps(record, indent=1), encoding="utf-8")
    unfinished.replace(handed_over / RECORD)
    _print(problems.warning_lines(), sys.stdout)
    _print(lines or errors, sys.stderr)
    return STATUS.get(fault or "", 0)


def _hand_over(
    program_folder: Path,
    asked: argparse.Namespace,
    private: Path,
    handed_over: Path,
    record: Dict[str, Any],
    problems: Problems,
) -> None:
    """Run the entry on a copy of the submission, and take over and check what it wrote; `record` says how it went.

    Raises SubmissionError with every problem; OrganiserError where the program is not whole, or has no input data.
    """
    program = _read_program(program_folder / "program.json")
    entry = CodeEntry(**program["entry"])
    manifest = Manifest.from_dict(program["manifest"])
    # Before the code runs, so that nothing of this program is read again afterwards.
    module = submission_module(program["package"])
    if not asked.input.is_dir():
        raise OrganiserError("There is no input data (/app/input_data). Give the task its input_data.")
    files = code_files(asked.submission, entry, problems)
    problems.stop_if_any()
    code, written = private / "submission", private / "output"
    for name, path in files.items():
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(path), str(code / name))
    written.mkdir()
    ended = run_entry(entry, code, asked.input, written, Limits(program["seconds"], program["memory_mib"]))
    memory = ended.memory_mib and round(ended.memory_mib, 1)
    record.update(duration=round(ended.seconds, 3), memory_mib=memory, exit_code=ended.exit_code)
    _print_end(ended)
    if ended.fault:
        problems.error(*ended.fault)
        problems.stop_if_any()
    _clear(asked.output)
    predictions = handed_over / PREDICTIONS
    names = take_over(written, predictions, problems)
    problems.stop_if_any()
    read_submission(module, predictions, manifest, Problems())  # the scoring program repeats its warnings
    record["files"] = {name: sha256_of(predictions / name) for name in names}


def _print_end(ended: EndedEntry) -> None:
    """Print what the code printed, and how it ended."""
    for title, text in (("printed", ended.stdout), ("printed to stderr", ended.stderr)):
        if text:
            harmless = re.sub(r"[^\n\t]+", lambda part: printable(part[0]), text.rstrip("\n"))
            print(f"--- what the code {title} ---", harmless, sep="\n")
    held = "" if ended.memory_mib is None else f", with at most {ended.memory_mib:.0f} MiB of memory"
    print(f"--- the code ran {ended.seconds:.1f} s{held} ---")


def _read_program(path: Path) -> Mapping[str, Any]:
    try:
        program: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OrganiserError(
            f"{path.name}: the ingestion program's description is missing or damaged ({type(error).__name__}). "
            "Build the bundle again with gen-bundle and upload its ingestion program."
        ) from error
    return program


def _clear(folder: Path) -> None:
    """Remove everything in a folder: an older worker put the submission there, and the code may have written there."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in list(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(str(path))
        else:
            path.unlink()


def _frames(error: Exception) -> List[str]:
    """Where a bug of this program is, without values."""
    if os.environ.get("SCORING_DEBUG") == "1":
        traceback.print_exception(type(error), error, error.__traceback__)
    first = "The ingestion program failed. This is a bug; please report these lines to the organisers."
    return [first, *frames_of(error)]


def _print(lines: Sequence[str], stream: Any) -> None:
    if lines:
        print(*lines, sep="\n", file=stream)


def take_over(written: Path, target: Path, problems: Problems) -> List[str]:
    """Copy what was written to the new folder `target`; all that is not taken goes into `problems`.

    The code that wrote it has ended, so that nothing changes meanwhile. Links are never followed. Returns the sorted
    names of the files, `/` between folders.
    """
    target.mkdir(parents=True)
    names: List[str] = []
    left = MAX_BYTES
    try:
        for name, path, size in _entries(written, problems):
            left -= size
            if len(names) >= MAX_FILES:
                problems.error("predictions", f"are more than {MAX_FILES} files", f"at most {MAX_FILES}")
                break
            if left < 0:
                problems.error("predictions", f"are more than {MAX_BYTES / 1e6:g} MB", "less")
                break
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(path), str(target / name))
            names.append(name)
    except OSError as error:
        reason = error.strerror or str(error)
        problems.error("predictions", f"cannot be read ({reason})", "files and folders that can be read")
    if not names and not problems.found:
        what = "are missing: the code ended without writing a file"
        problems.error("predictions", what, "files in the output folder")
    return sorted(names)


def _entries(folder: Path, problems: Problems) -> Iterator[Tuple[str, Path, int]]:
    """The regular files: name, place and size in bytes."""
    if folder.is_symlink():
        problems.error("the output folder", "is a link", "the folder that the code was given")
        return
    waiting = [folder]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            name = path.relative_to(folder).as_posix()
            status = path.lstat()
            if name in PROGRAM_FILES:
                problems.warn(name, "is a name that the platform uses itself; this file is left out")
            elif name.encode("utf-8", "replace").decode() != name:
                problems.error(shown(name), "has a name that is not UTF-8", "letters, digits, - and _")
            elif stat.S_ISDIR(status.st_mode) and name.count("/") < MAX_FOLDERS:
                waiting.append(path)
            elif stat.S_ISDIR(status.st_mode):
                problems.error(shown(name), *TOO_DEEP)
            elif not stat.S_ISREG(status.st_mode):
                what = "is a link" if stat.S_ISLNK(status.st_mode) else "is not a regular file"
                problems.error(shown(name), what, "only regular files and folders")
            else:
                yield name, path, status.st_size
