"""Reads and judges a submission. Python 3.9 and the standard library only: participants run this at home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, FrozenSet, Optional

from scoring_kit.csv_reading import read_table, rows_by_id
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

FILE = "predictions.csv"
MAX_MEGABYTES = 10


@dataclass(frozen=True)
class Submission:
    """The predicted label of every text, and the tasks that the submission enters."""

    labels: Dict[str, str]
    entered: FrozenSet[str] = frozenset({"classification"})


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[Submission]:
    """The submission, with everything that is wrong with it recorded in `problems`."""
    path = files.paths.get(FILE)
    if path is None:
        problems.error(FILE, "is missing", f"a zip with one file {FILE}")
        return None
    text = read_utf8(path, FILE, MAX_MEGABYTES, problems)
    if text is None:
        return None
    table = read_table(text, FILE, problems)
    missing = [column for column in ("id", "label") if column not in table.header]
    if missing:
        problems.error(f"{FILE}:1", f"lacks the column {' and '.join(missing)}", "the columns id and label")
        return None
    expected = manifest.expected
    possible = frozenset(expected["labels"])
    at = table.header.index("label")
    labels: Dict[str, str] = {}
    for position, line, cells in rows_by_id(table, "id", expected["ids"], FILE, problems):
        label = cells[at].strip()
        if label not in possible:
            problems.error(f"{FILE}:{line}", f"unknown label {shown(label)}", "one of " + ", ".join(expected["labels"]))
        labels[expected["ids"][position]] = label
    return Submission(labels)
