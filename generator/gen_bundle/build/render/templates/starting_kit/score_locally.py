#!/usr/bin/env python3
"""Scores a submission with the competition's own scoring program, against gold data of your own."""

import argparse
import importlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KIT = Path(__file__).resolve().parent
GOLD_FAULT = 2
"""Exit status of a scoring program whose reference data cannot be used."""
PROGRAMS = sorted(path.parent for path in (KIT / "scorer").glob("*/score.py"))


def main() -> int:
    """Score what the command line names; returns the scoring program's exit status."""
    names = [program.name for program in PROGRAMS]
    parser = argparse.ArgumentParser(description=__doc__, epilog="Needs Python 3.11 and the scorer's packages.")
    parser.add_argument(
        "--gold", metavar="FOLDER", type=Path, required=True, help="gold data, as the scorer reads them"
    )
    parser.add_argument("--submission", metavar="FILE", type=Path, required=True, help="a zip, a folder or a bare file")
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=Path("local-scores"), help="default: %(default)s")
    parser.add_argument("--task", help=f"only this task ({', '.join(names)})")
    request = parser.parse_args()
    if not request.gold.is_dir():
        parser.error(f"--gold {request.gold}: no such folder")
    if names[1:] and request.task not in names:
        parser.error(f"--task: expected one of {', '.join(names)}")
    program = PROGRAMS[names.index(request.task)] if names[1:] else PROGRAMS[0]
    sys.path.insert(0, str(program))
    with tempfile.TemporaryDirectory(prefix="score-locally-") as work:
        folder = _submission(request.submission, Path(work) / "unpacked")
        if folder is None:
            return 1
        if not prepare_gold(program, request.gold, Path(work) / "input" / "ref"):
            return 2
        shutil.copytree(folder, Path(work) / "input" / "res")
        command = [sys.executable, str(program / "score.py"), str(Path(work) / "input"), str(request.out)]
        command += ["--task", request.task] if request.task else []
        done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True, errors="replace")
    said = done.stderr
    if done.returncode == GOLD_FAULT:  # what the program says to organisers is said of the participant's own data here
        said = f"--gold {request.gold}: cannot be used.\n{said.partition(chr(10))[2]}"
    print(said, end="", file=sys.stderr)
    if done.returncode == 0:
        print(f"Scores, details and the results page are in {request.out}.")
    return done.returncode


def prepare_gold(program: Path, source: Path, folder: Path) -> bool:
    """Make reference data of the gold; False, with the reason printed, where that cannot be done.

    A scoring package whose gold comes in several forms has a module `gold_files` for that; the others read the folder
    as it is.
    """
    package = json.loads((program / "program.json").read_text(encoding="utf-8"))["package"]
    if importlib.util.find_spec(f"{package}.gold_files") is None:
        shutil.copytree(source, folder)
        return True
    from scoring_kit.errors import OrganiserError

    folder.mkdir(parents=True)
    try:
        importlib.import_module(f"{package}.gold_files").prepare(source, folder)
    except OrganiserError as error:
        print(error, file=sys.stderr)
        return False
    return True


def _submission(path: Path, work: Path) -> "Path | None":
    """The submission's folder; None, with the reason printed, where it cannot be opened."""
    from scoring_kit.errors import Problems, SubmissionError
    from scoring_kit.submission_zip import open_submission

    work.mkdir()
    try:
        return open_submission(path, work, Problems())
    except SubmissionError as error:
        print(error.report(), file=sys.stderr)
        return None


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - participants run this with whatever Python they have
        sys.exit("Scoring needs Python 3.11 or newer; this is Python " + sys.version.split()[0] + ".")
    sys.exit(main())
