"""Reads a submission to PROCESS: one CSV file with the answers of up to three models for each task."""

import math
import re
from array import array
from dataclasses import dataclass
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, MutableSequence, Optional, Sequence, Tuple

from scoring_kit.csv_reading import check_columns, read_table, rows_by_id
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

ID = "Test_ID"
CLASSES: Tuple[str, ...] = ("Dementia", "MCI", "HC")
CLASS_OF = {name: name for name in CLASSES}  # one string for all cells of a class
MODELS = 3
SUFFIXES: Dict[str, str] = {"classification": "class", "regression": "MMSE"}
PREFIX = "PROCESS_submission_"
NAME = re.compile(re.escape(PREFIX) + r"(?P<team>[^_\s].*_.*[^_\s])\.(?i:csv)", re.DOTALL)
TEMPLATE_TEAM = "GROUP_AFFILIATION"
EXPECTED_NAME = f"{PREFIX}<group>_<affiliation>.csv, with your own group name and affiliation"
MAX_MEGABYTES = 200.0
MMSE_MAX = 30.0
MMSE_LIMIT = 1000.0
CELLS_SHOWN = 20


def column_name(task: str, number: int) -> str:
    """Return the column of model `number` (1 to 3) for a task."""
    return f"Model{number}_{SUFFIXES[task]}"


def column_names(tasks: Iterable[str]) -> List[str]:
    """Return the columns of all models for these tasks."""
    return [column_name(task, number) for task in tasks for number in range(1, MODELS + 1)]


@dataclass(frozen=True)
class ModelAnswers:
    """One model's answers for one task.

    Attributes:
        number: 1 to 3.
        column: its column in the file.
        status: `scored`, `absent` (no cell is filled) or `ignored` (some cells are empty).
        answers: class names or MMSE scores, in the order of the data; empty unless scored.
    """

    number: int
    column: str
    status: str
    answers: Sequence[Any]


@dataclass(frozen=True)
class ProcessSubmission:
    """A team's answers: task → its three models."""

    models: Mapping[str, Sequence[ModelAnswers]]
    entered: FrozenSet[str]


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[ProcessSubmission]:
    """Read and judge a submission; everything that is wrong is recorded in `problems`."""
    name = _the_file(files, problems)
    if name is None:
        return None
    text = read_utf8(files.paths[name], name, MAX_MEGABYTES, problems)
    if text is None:
        return None
    named = NAME.fullmatch(name)
    if named is None:
        problems.error(name, "does not follow the naming rule", f"a file {EXPECTED_NAME}")
    elif named["team"] == TEMPLATE_TEAM:
        problems.warn(name, f"still has the name of the template; rename it to {EXPECTED_NAME}")
    models: Dict[str, List[ModelAnswers]] = {}
    entered = set()
    for column in _read_columns(text, name, manifest.expected["ids"], problems):
        model = column.model(name, problems)
        models.setdefault(column.task, []).append(model)
        if model.status == "scored":
            entered.add(column.task)
    wanted = manifest.tasks if manifest.layout == "separate" else manifest.all_tasks
    if not entered.intersection(wanted) and not problems.found:
        names = ", ".join(column_names(wanted))
        what = f"enters no task and gets the worst scores, because none of {names} is filled from top to bottom"
        problems.warn(name, what)
    return ProcessSubmission(models, frozenset(entered.intersection(manifest.tasks)))


def _the_file(files: SubmissionFiles, problems: Problems) -> Optional[str]:
    tables = files.named(".csv")
    expected = f"one file {EXPECTED_NAME}, at the top of the zip"
    if len(tables) > 1:
        problems.error(", ".join([shown(table) for table in tables]), f"{len(tables)} CSV files", expected)
        return None
    if not tables:
        problems.error("submission", f"holds no CSV file{files.found(CELLS_SHOWN)}", expected)
        return None
    files.warn_of_others(tables[0], CELLS_SHOWN, f"not read; the answers are in {tables[0]}", problems)
    return tables[0]


class _Column:
    """One model's column while it is read, in the order of the data."""

    def __init__(self, task: str, number: int, rows: int) -> None:
        self.task = task
        self.number = number
        self.name = column_name(task, number)
        self.answers: MutableSequence[Any] = [""] * rows
        if task == "regression":
            self.answers = array("d", bytes(8 * rows))
        self.empty = rows
        self._empty_shown: List[str] = []
        self._outside: List[str] = []

    def put(self, row: int, cell: str, item: str, where: Tuple[str, int], problems: Problems) -> None:
        """Take the cell of a speaker; `where` is file and line."""
        cell = cell.strip()
        if not cell:
            if len(self._empty_shown) < CELLS_SHOWN:
                self._empty_shown.append(f"line {where[1]} {shown(item)}")
            return
        self.empty -= 1
        if self.task == "regression":
            self.answers[row] = self._score(where, cell, problems)
        elif cell in CLASS_OF:
            self.answers[row] = CLASS_OF[cell]
        else:
            what, expected = f"{shown(cell)} is not a class", f"one of {', '.join(CLASSES)}, spelled exactly so"
            problems.error(f"{where[0]}:{where[1]} ({self.name})", what, expected)

    def _score(self, where: Tuple[str, int], cell: str, problems: Problems) -> float:
        """A score outside the range of the MMSE gets a warning; what is not a number, or far outside, is refused."""
        try:
            value = math.nan if "_" in cell else float(cell)
        except ValueError:
            value = math.nan
        if not -MMSE_LIMIT <= value <= MMSE_LIMIT:
            what = f"{shown(cell)} is far out of range"
            if not math.isfinite(value):
                what = f"{shown(cell)} is not a finite number"
            expected = f"an MMSE score such as 27 or 26.5, with a decimal point, from 0 to {MMSE_MAX:g}"
            problems.error(f"{where[0]}:{where[1]} ({self.name})", what, expected)
        elif not 0.0 <= value <= MMSE_MAX and len(self._outside) <= CELLS_SHOWN:
            self._outside.append(f"line {where[1]} {shown(cell)}")
        return value

    def gaps(self) -> str:
        """Return how many cells of a partly filled column are empty, and which, for messages."""
        what = f"{self.empty} of {len(self.answers)} cells are empty"
        if self._empty_shown:
            what += f": {', '.join(self._empty_shown)}"
            if more := self.empty - len(self._empty_shown):
                what += f" and {more} more"
        return what

    def model(self, name: str, problems: Problems) -> ModelAnswers:
        """Return the model, with a warning where its column is ignored or odd."""
        rows = len(self.answers)
        if self.empty == rows:
            return ModelAnswers(self.number, self.name, "absent", [])
        if self.empty:
            problems.warn(f"{name} ({self.name})", f"ignored, because {self.gaps()}")
            return ModelAnswers(self.number, self.name, "ignored", [])
        if self._outside:
            named = ", ".join(self._outside[:CELLS_SHOWN])
            if len(self._outside) > CELLS_SHOWN:
                named += ", …"
            problems.warn(f"{name} ({self.name})", f"outside the MMSE's range of 0 to {MMSE_MAX:g}: {named}")
        return ModelAnswers(self.number, self.name, "scored", self.answers)


def _read_columns(text: str, name: str, ids: Sequence[str], problems: Problems) -> List[_Column]:
    columns = [_Column(task, number, len(ids)) for task in SUFFIXES for number in range(1, MODELS + 1)]
    table = read_table(text, name, problems)
    if not table.header:
        return columns
    known = [ID, *column_names(SUFFIXES)]
    check_columns(table.header, known, name, problems)
    if ID not in table.header:
        expected = f"the columns {', '.join(known)}, separated by commas"
        problems.error(f"{name}:1", f"the column {ID} is missing", expected)
        return columns
    places = table.places(known)
    absent = [column for column in known if column not in places]
    if absent:
        problems.warn(f"{name}:1", f"lacks the columns {', '.join(absent)}, which count as empty")
    for row, line, cells in rows_by_id(table, ID, ids, name, problems):
        for column in columns:
            if column.name in places:
                column.put(row, cells[places[column.name]], ids[row], (name, line), problems)
    return columns
