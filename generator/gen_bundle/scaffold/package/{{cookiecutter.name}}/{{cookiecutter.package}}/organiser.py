"""What only organisers need; the build runs it, it never travels in the scoring program."""

import csv
import shutil
from pathlib import Path
from typing import Any

from scoring_kit.organiser import Request, Secrets, Warned, read_reference, serve

from {{ cookiecutter.package }}.reference import FILE, LABELS, read
from {{ cookiecutter.package }}.submission import FILE as SUBMISSION_FILE


def prepare(request: Request) -> Warned:
    """Copy the gold file, once it is known to be sound."""
    source = Path(request["source"])
    read(source, request["tasks"], request["options"])
    shutil.copy(source / FILE, Path(request["out"]) / FILE)
    return {"warnings": []}


def check_reference(request: Request) -> Warned:
    """Read the prepared gold file once more; warn about labels that never occur."""
    reference = read_reference(read, request)
    absent = sorted(set(LABELS) - set(reference.labels.values()))
    return {"warnings": [f"no text has the label {label}" for label in absent]}


def template(request: Request) -> dict[str, Any]:
    """Write the submission that gives every text the first label."""
    reference = read_reference(read, request)
    with (Path(request["out"]) / SUBMISSION_FILE).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["id", "label"])
        rows.writerows([text_id, LABELS[0]] for text_id in sorted(reference.labels))
    return {}


def secrets(request: Request) -> Secrets:
    """The column of labels; the ids say whose they are."""
    return {"files": [{"name": FILE, "key": ["id"], "columns": ["label"]}]}


if __name__ == "__main__":
    raise SystemExit(serve(globals()))
