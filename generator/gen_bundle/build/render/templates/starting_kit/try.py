#!/usr/bin/env python3
"""Runs a submission's code on the sample as the platform does, judges what it wrote, and scores it."""

import argparse
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

KIT = Path(__file__).resolve().parent
INGESTION, SAMPLE = KIT / "ingestion", KIT / "sample"


def main() -> int:
    """Run what the command line names; returns 0 where everything is well."""
    parser = argparse.ArgumentParser(description=__doc__, epilog="Needs Python 3.11 and the scorer's packages.")
    parser.add_argument(
        "submission", type=Path, nargs="?", default=KIT / "template", help="a zip or a folder; default: template"
    )
    parser.add_argument("--input", metavar="FOLDER", type=Path, help="what the code reads; default: that of the sample")
    parser.add_argument("--gold", metavar="FOLDER", type=Path, help="gold data for --input; without: not scored")
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=Path("local-scores"), help="default: %(default)s")
    request = parser.parse_args()
    read, gold = request.input, request.gold
    if read is None:
        if gold is not None:
            parser.error("--gold: expected --input, too")
        if not SAMPLE.is_dir():
            parser.error("this kit has no sample. Expected --input, with a folder that the code reads")
        read, gold = SAMPLE / "input", SAMPLE / "gold"
    for option, folder in (("--input", read), ("--gold", gold)):
        if folder is not None and not folder.is_dir():
            parser.error(f"{option} {folder}: no such folder")
    with tempfile.TemporaryDirectory(prefix="try-") as name:
        work = Path(name)
        submission, written = work / "submission", work / "output"
        if not _unpack(request.submission, submission):
            return 1
        program = _ingestion_for(gold, work) if gold else INGESTION
        command = [sys.executable, str(program / "ingest.py"), str(read), str(submission), str(written)]
        status = subprocess.run(command, check=False).returncode
        if status != 0:
            return status
        print("The code ran, and what it wrote is valid.", flush=True)
        return _score(gold, written, request.out) if gold else 0


def _score(gold: Path, written: Path, out: Path) -> int:
    command = [sys.executable, str(KIT / "score_locally.py"), "--gold", str(gold), "--submission", str(written)]
    return subprocess.run([*command, "--out", str(out)], check=False).returncode


def _unpack(path: Path, folder: Path) -> bool:
    """Put the submission's files into the new folder; False, with the reason printed, where that cannot be done."""
    try:
        if path.is_dir():
            shutil.copytree(path, folder)
        else:
            with zipfile.ZipFile(path) as opened:
                opened.extractall(folder)
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile, shutil.Error) as error:
        print(f"{path}: cannot be unpacked: {error}", file=sys.stderr)
        return False
    return True


def _ingestion_for(gold: Path, work: Path) -> Path:
    """The ingestion program, expecting predictions for this gold in place of the phase's."""
    scorer = next((KIT / "scorer").glob("*/score.py")).parent
    sys.path.insert(0, str(scorer))
    from scoring_kit.errors import OrganiserError
    from scoring_kit.submission_files import reference_module

    program, reference = work / "ingestion", work / "reference"
    shutil.copytree(INGESTION, program)
    description = json.loads((program / "program.json").read_text(encoding="utf-8"))
    manifest = description["manifest"]
    if not importlib.import_module("score_locally").prepare_gold(scorer, gold, reference):
        sys.exit(2)
    reading = reference_module(description["package"])
    try:
        read = reading.read(reference, manifest["tasks"], manifest["options"])
    except OrganiserError as error:
        print(f"--gold {gold}: {error}", file=sys.stderr)
        sys.exit(2)
    manifest["expected"] = reading.manifest(read, manifest["tasks"])
    (program / "program.json").write_text(json.dumps(description), encoding="utf-8")
    return program


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - participants run this with whatever Python they have
        sys.exit("This needs Python 3.11 or newer; this is Python " + sys.version.split()[0] + ".")
    sys.exit(main())
