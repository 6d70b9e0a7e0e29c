"""Reads the gold data and says what participants may know of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from scoring_kit.csv_reading import read_table
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.json_reading import read_utf8

FILE = "gold.csv"
LABELS = ("negative", "neutral", "positive")
MAX_MEGABYTES = 100


@dataclass(frozen=True)
class Reference:
    """The gold label of every text."""

    labels: Dict[str, str]


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Reference:
    """Read `gold.csv` (columns id, label); raises OrganiserError with everything that is wrong with it."""
    problems = Problems()
    path = folder / FILE
    if not path.is_file():
        raise OrganiserError(f"{FILE}: is missing. Expected a CSV file with the columns id and label.")
    table = read_table(read_utf8(path, FILE, MAX_MEGABYTES, problems) or "", FILE, problems)
    labels: Dict[str, str] = {}
    if table.header[:2] != ["id", "label"]:
        problems.error(f"{FILE}:1", "has other columns", "the columns id and label")
    else:
        for line, cells in table.rows:
            if cells[0] in labels:
                problems.error(f"{FILE}:{line}", f"the id {cells[0]} is repeated", "each id once")
            if cells[1] not in LABELS:
                problems.error(f"{FILE}:{line}", "unknown label", "one of " + ", ".join(LABELS))
            labels[cells[0]] = cells[1]
        if not labels:
            problems.error(FILE, "holds no text", "one line for each text")
    if problems.errors:
        raise OrganiserError(*problems.errors)
    return Reference(labels)


def manifest(reference: Reference, tasks: Sequence[str]) -> Dict[str, List[str]]:
    """The ids and the possible labels: what participants have anyway."""
    return {"ids": sorted(reference.labels), "labels": list(LABELS)}
