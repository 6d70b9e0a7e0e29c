"""The gold of PROCESS: `gold.csv` with `Test_ID, Class, MMSE`, or `dem-info.csv` as it was released, read strictly."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from process2025.submission import CLASS_OF, CLASSES, ID, MMSE_MAX
from scoring_kit.csv_reading import CsvTable, identified_rows, read_gold_table
from scoring_kit.errors import OrganiserError, Problems

CLASS = "Class"
PART, DEVELOPMENT = "TrainOrDev", "dev"


@dataclass(frozen=True)
class Form:
    """How a file with gold is called, and its columns of speakers and of MMSE scores."""

    file: str
    id: str
    mmse: str

    @property
    def columns(self) -> dict[str, str]:
        """Task → the column with its gold."""
        return {"classification": CLASS, "regression": self.mmse}


GOLD = Form("gold.csv", ID, "MMSE")
RELEASED = Form("dem-info.csv", "Record-ID", "Converted-MMSE")


@dataclass(frozen=True)
class ProcessReference:
    """The gold, one entry for each speaker in the order of gold.csv.

    Attributes:
        ids: the speakers' ids.
        classes: `Dementia`, `MCI` or `HC`; empty unless the task is asked for.
        mmse: MMSE scores, None for a speaker without; empty unless the task is asked for.
    """

    ids: list[str]
    classes: list[str]
    mmse: list[float | None]


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any], form: Form = GOLD) -> ProcessReference:
    """Read the gold for the tasks; raises OrganiserError with everything that is wrong (file, line, id, field)."""
    problems = Problems()
    for name in options:
        problems.error(f"options.{name}", "unknown option", "PROCESS has none")
    path = folder / form.file
    if not path.is_file():
        expected = f"Expected a CSV file with the columns {form.id}, {CLASS}, {form.mmse}"
        if form == GOLD:
            expected += f", or {RELEASED.file} as it was released"
        raise OrganiserError(f"{form.file}: missing. {expected}.")
    reference = _read(read_gold_table(path, problems), tasks, form, problems)
    problems.stop_organisers_if_any()
    return reference


def manifest(reference: ProcessReference, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what participants know: the speakers' ids."""
    return {"ids": reference.ids}


def phase_rows(table: CsvTable) -> tuple[list[tuple[int, list[str]]], int]:
    """Return the rows that a phase is scored on, (line, cells) each, and how many others there are.

    The released file holds training and development speakers together; no phase is scored on the former.
    """
    rows = list(table.rows)
    if PART not in table.header:
        return rows, 0
    at = table.header.index(PART)
    development = [row for row in rows if row[1][at].strip().casefold() == DEVELOPMENT]
    return (development, len(rows) - len(development)) if development else (rows, 0)


def _read(table: CsvTable, tasks: Sequence[str], form: Form, problems: Problems) -> ProcessReference:
    wanted = [form.id, *(form.columns[task] for task in tasks)]
    at = table.places(wanted)
    expected = f"the columns {form.id}, {CLASS}, {form.mmse}"
    if form == GOLD and RELEASED.id in table.header:
        expected += f"; the file as it was released keeps its name {RELEASED.file}"
    for name in wanted:
        if name not in at:
            problems.error(f"{form.file}:1", f"the column {name} is missing", expected)
    problems.stop_organisers_if_any()
    gold = ProcessReference([], [], [])
    rows = phase_rows(table)[0]
    for line, item, cells in identified_rows(rows, at[form.id], form.id, form.file, "each speaker once", problems):
        gold.ids.append(item)
        where = f"{form.file}:{line} ({form.id} {item})"
        if "classification" in tasks:
            name = cells[at[CLASS]].strip()
            gold.classes.append(CLASS_OF.get(name, ""))
            if name not in CLASS_OF:
                what = f"{CLASS} is not one of the classes"
                problems.error(where, what, f"one of {', '.join(CLASSES)}, spelled exactly so")
        if "regression" in tasks:
            gold.mmse.append(_score(cells[at[form.mmse]].strip(), where, form, problems))
    if not gold.ids:
        problems.error(form.file, "has no rows", "one row for each speaker")
    elif set(gold.mmse) == {None} and not problems.found:
        problems.error(form.file, f"no speaker has an {form.mmse}", "at least one, for the task regression")
    return gold


def _score(cell: str, where: str, form: Form, problems: Problems) -> float | None:
    """A speaker's MMSE score, None where the cell is empty."""
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= MMSE_MAX:
        what = f"{form.mmse} is not a number from 0 to {MMSE_MAX:g}"
        problems.error(where, what, "a score, or nothing where it is unknown")
    return value
