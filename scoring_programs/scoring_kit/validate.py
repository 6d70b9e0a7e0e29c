"""The participants' validator: checks a submission at home as the scoring program would.

It reads the submission with the very module that the scoring program reads it with, against a manifest of what
participants know anyway. Runs on Python 3.9 with the standard library alone; `validate.pyz` holds it with the manifest.
"""

import argparse
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Callable, Optional, Sequence

from scoring_kit.base.submissions import is_zip
from scoring_kit.code_submission import CodeEntry, code_files
from scoring_kit.errors import (
    OrganiserError,
    Problems,
    SubmissionError,
    escape_what_cannot_be_printed,
    frames_of,
    printable,
)
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import (
    PROGRAM_FILES,
    SubmissionFiles,
    SubmissionModule,
    meant_folders,
    read_submission,
    report_program_files,
)
from scoring_kit.submission_zip import open_submission, pack

FAILED = 3
"""Exit status of a validator that could not judge."""


def main(module: SubmissionModule, manifest_text: str, arguments: Optional[Sequence[str]] = None) -> int:
    """Validate the submission that the command line names, and print every problem of it.

    Returns:
        0 for a valid submission, 1 for another, 3 where the validator itself failed; wrong use ends with SystemExit(2).
    """
    escape_what_cannot_be_printed()
    known = json.loads(manifest_text)
    manifest = Manifest.from_dict(known)
    entry = CodeEntry(**known["code"]) if known.get("code") else None
    request = _parse(manifest, arguments)
    try:
        return _validate(module, manifest, entry, request)
    except OrganiserError as error:
        print("The organisers' own check failed, so that the submission was not checked. Please send them these lines:")
        print(f"  {printable(str(error))}")
        return FAILED
    except Exception as error:  # a participant gets an answer, even if the validator fails
        if os.environ.get("SCORING_DEBUG") == "1":
            raise
        print("The validator failed and cannot check the submission. Please send these lines to the organisers:")
        print(*frames_of(error), sep="\n", end=f": {printable(str(error))[:300]}\n")
        return FAILED


def _validate(
    module: SubmissionModule, manifest: Manifest, entry: Optional[CodeEntry], request: argparse.Namespace
) -> int:
    problems = Problems()
    with tempfile.TemporaryDirectory(prefix="validate-") as work:
        entered = None
        try:
            folder = open_submission(request.submission, Path(work), problems)
            entered = _read(module, folder, manifest, entry, problems)
        except SubmissionError as error:
            print(error.report())
        for line in problems.warning_lines():
            print(line)
        if entered is None:
            return 1
        print(f"{request.submission.name} is valid.{entered}")
        if request.pack is not None:
            return _pack(SubmissionFiles(folder, meant_folders(module, manifest), Problems()), request.pack)
    if not is_zip(request.submission):
        print("The platform accepts only zips: run this again with --pack submission.zip and upload that file.")
    return 0


def _read(
    module: SubmissionModule, folder: Path, manifest: Manifest, entry: Optional[CodeEntry], problems: Problems
) -> str:
    """Judge the files of a submission; returns what to say of a valid one. Raises SubmissionError of another."""
    if entry is not None:
        code_files(folder, entry, problems)
        problems.stop_if_any()
        return " It was not run: what it writes is checked on the platform."
    report_program_files(folder, problems)
    submission, _ = read_submission(module, folder, manifest, problems)
    unseen: Callable[[Manifest], str] = getattr(module, "unseen_at_home", lambda _: "")
    later = unseen(manifest)
    if len(manifest.tasks) < 2:  # of several tasks it may leave some out
        return later
    entered, left_out = [], []
    for task in manifest.tasks:
        if task in submission.entered:
            entered.append(task)
        else:
            left_out.append(task)
    not_entered = f", not {', '.join(left_out)}" if left_out else ""
    return f" It enters {', '.join(entered) or 'no task'}{not_entered}.{later}"


def _parse(manifest: Manifest, arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="validate.pyz",
        description=f"Check a submission to {manifest.competition} as the scoring program will.",
        epilog="Exit status: 0 valid, 1 not valid, 2 wrong usage, 3 the validator failed.",
    )
    parser.add_argument("submission", type=Path, help="a zip, a folder, or the bare file")
    parser.add_argument("--pack", metavar="OUT.zip", type=Path, help="if it is valid, write a clean zip to upload")
    request = parser.parse_args(arguments)
    out, submission = request.pack, request.submission
    if out is not None and os.path.exists(out):  # noqa: PTH110 Path.exists may raise on Python 3.9
        if os.path.exists(submission) and out.samefile(submission):  # noqa: PTH110
            parser.error(f"--pack {out}: is the submission itself. Choose another path.")
        if not zipfile.is_zipfile(str(out)):
            parser.error(f"--pack {out}: exists and is not a zip. Choose another path, or remove it.")
    return request


def _pack(submission: SubmissionFiles, out: Path) -> int:
    files = dict(submission.paths)
    for name in PROGRAM_FILES:
        if files.pop(name, None):
            print(f"{name}: left out, because the platform would treat the submission as a program.")
    unfinished = out.with_name(f".{out.name}.tmp")
    try:
        pack(files, unfinished)
        unfinished.replace(out)
    except OSError as error:
        print(f"{out}: cannot be written ({error}). Choose another path for --pack.")
        return 1
    print(f"Packed {out}: {', '.join(list(files)[:5])}{' …' if len(files) > 5 else ''}")
    return 0
