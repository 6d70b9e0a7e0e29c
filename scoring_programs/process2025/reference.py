"""The gold of PROCESS: `gold.csv` with `Test_ID, Class, MMSE`, read strictly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from process2025.submission import CLASS_OF, CLASSES, ID, MMSE_MAX
from scoring_kit.csv_reading import read_table
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.json_reading import read_utf8

FILE = "gold.csv"
CLASS, MMSE = "Class", "MMSE"
COLUMNS = {"classification": CLASS, "regression": MMSE}


@dataclass(frozen=True)
class Reference:
    """The gold, one entry for each speaker in the order of gold.csv.

    Attributes:
        ids: the speakers' ids.
        classes: `Dementia`, `MCI` or `HC`; empty unless the task is asked for.
        mmse: MMSE scores, None for a speaker without; empty unless the task is asked for.
    """

    ids: list[str]
    classes: list[str]
    mmse: list[float | None]


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Reference:
    """Read gold.csv for the tasks; raises OrganiserError with everything that is wrong (file, line, id, field)."""
    problems = Problems()
    for name in options:
        problems.error(f"options.{name}", "unknown option", "PROCESS has none")
    path = folder / FILE
    if not path.is_file():
        raise OrganiserError(f"{FILE}: missing. Expected a CSV file with the columns {ID}, {CLASS}, {MMSE}.")
    text = read_utf8(path, FILE, float("inf"), problems)
    reference = _read(text, tasks, problems) if text is not None else None
    if problems.found or reference is None:
        raise problems.organiser_error()
    return reference


def manifest(reference: Reference, tasks: Sequence[str]) -> dict[str, Any]:
    """What participants know: the speakers' ids."""
    return {"ids": reference.ids}


def _read(text: str, tasks: Sequence[str], problems: Problems) -> Reference | None:
    table = read_table(text, FILE, problems)
    for name in [ID, *(COLUMNS[task] for task in tasks)]:
        if name not in table.header:
            problems.error(f"{FILE}:1", f"the column {name} is missing", f"the columns {ID}, {CLASS}, {MMSE}")
    if problems.found:
        return None
    at = {name: i for i, name in enumerate(table.header)}
    line_of: dict[str, int] = {}
    classes: list[str] = []
    mmse: list[float | None] = []
    for line, cells in table.rows:
        item = cells[at[ID]].strip()
        if not item or item in line_of:
            what = f"{ID} {item} stood there already, in line {line_of[item]}" if item else f"{ID} is empty"
            problems.error(f"{FILE}:{line}", what, "each speaker once")
            continue
        line_of[item] = line
        if "classification" in tasks:
            classes.append(_class_name(cells[at[CLASS]].strip(), line, item, problems))
        if "regression" in tasks:
            mmse.append(_score(cells[at[MMSE]].strip(), line, item, problems))
    if not line_of:
        problems.error(FILE, "has no rows", "one row for each speaker")
    elif "regression" in tasks and not problems.found and all(value is None for value in mmse):
        problems.error(FILE, f"no speaker has an {MMSE}", "at least one, for the task regression")
    return Reference(list(line_of), classes, mmse)


def _class_name(cell: str, line: int, item: str, problems: Problems) -> str:
    if cell not in CLASS_OF:
        expected = f"one of {', '.join(CLASSES)}, spelt exactly so"
        problems.error(f"{FILE}:{line} ({ID} {item})", f"{CLASS} is none of the classes", expected)
    return CLASS_OF.get(cell, "")


def _score(cell: str, line: int, item: str, problems: Problems) -> float | None:
    """A speaker's MMSE score, None where the cell is empty."""
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= MMSE_MAX:
        what = f"{MMSE} is no number from 0 to {MMSE_MAX:g}"
        problems.error(f"{FILE}:{line} ({ID} {item})", what, "a score, or nothing where it is unknown")
    return value
