"""Reads a submission to CLARITY: one CSV file, or, in a bundle of a single task, the line file `prediction`.

The labels, their taxonomy, and the spellings that are read as one of them. Source: SemEval-2026 Task 6, "Evaluation",
sections Overview and Label Normalization; the taxonomy is that of the QEvasion data (Thomas et al. 2024, "I Never Said
That").
"""

from dataclasses import dataclass
from typing import Dict, FrozenSet, List, Optional, Sequence, Tuple

from scoring_kit.csv_reading import check_columns, read_table, rows_by_id
from scoring_kit.errors import Problems, shown
from scoring_kit.json_reading import read_utf8
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles

CLARITY_LABELS: Tuple[str, ...] = ("Clear Reply", "Ambivalent Reply", "Clear Non-Reply")

# In alphabetical order (by code point), which also decides fall-backs and ties.
TAXONOMY: Dict[str, str] = {
    "Claims ignorance": "Clear Non-Reply",
    "Clarification": "Clear Non-Reply",
    "Declining to answer": "Clear Non-Reply",
    "Deflection": "Ambivalent Reply",
    "Dodging": "Ambivalent Reply",
    "Explicit": "Clear Reply",
    "General": "Ambivalent Reply",
    "Implicit": "Ambivalent Reply",
    "Partial/half-answer": "Ambivalent Reply",
}
EVASION_LABELS: Tuple[str, ...] = tuple(TAXONOMY)

ALIASES: Dict[str, str] = {
    "partial": "Partial/half-answer",
    "half-answer": "Partial/half-answer",
    "declining": "Declining to answer",
    "ambivalent": "Ambivalent Reply",
    "ambiguous": "Ambivalent Reply",
    "ambiguous reply": "Ambivalent Reply",
    "clear non reply": "Clear Non-Reply",
    "clear nonreply": "Clear Non-Reply",
    "non-reply": "Clear Non-Reply",
}

_CANONICAL: Dict[str, str] = {label: label for label in CLARITY_LABELS + EVASION_LABELS}
_SPELLINGS: Dict[str, str] = {**{label.lower(): label for label in _CANONICAL}, **ALIASES}


def normalize_label(label: str) -> str:
    """Return the canonical label that a spelling stands for; any other text is returned unchanged.

    Blanks around a label and upper or lower case make no difference.
    """
    return _CANONICAL.get(label) or _SPELLINGS.get(label.strip().lower(), label)


ID = "id"
LINE_FILE = "prediction"
COLUMNS: Dict[str, str] = {"clarity": "clarity_pred", "evasion": "evasion_pred"}
LABELS: Dict[str, Tuple[str, ...]] = {"clarity": CLARITY_LABELS, "evasion": EVASION_LABELS}
MAX_MEGABYTES = 100.0
EXAMPLES = 5


@dataclass(frozen=True)
class ClaritySubmission:
    """The predictions of a submission.

    Attributes:
        predictions: task → its labels, normalised, in the order of the data; other texts are kept as sent, or are empty
            where clarity labels are derived.
        entered: the scored tasks that the submission enters.
    """

    predictions: Dict[str, List[str]]
    entered: FrozenSet[str]


class _Answers:
    """One task's labels as they are read, normalised, in the order of the data."""

    def __init__(self, task: str, rows: int) -> None:
        self.task = task
        self.labels: List[str] = [""] * rows
        self.filled = False
        self._known = frozenset(LABELS[task])
        self._wrong = 0
        self._examples: List[str] = []

    def put(self, row: int, line: int, answer: str) -> None:
        label = normalize_label(answer)
        self.labels[row] = label
        self.filled = self.filled or bool(label.strip())
        if label not in self._known:
            self._wrong += 1
            if len(self._examples) < EXAMPLES:
                self._examples.append(f"line {line} {shown(answer)}")

    def warn(self, name: str, problems: Problems) -> None:
        """Warn of answers that are not labels: they count as wrong."""
        if self._wrong:
            what = "1 answer is" if self._wrong == 1 else f"{self._wrong} answers are"
            named = ", ".join(self._examples)
            if self._wrong > len(self._examples):
                named += ", …"
            what = f"{what} none of the {len(self._known)} labels and counted as wrong: {named}"
            problems.warn(f"{name} ({COLUMNS[self.task]})", what)


def read(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[ClaritySubmission]:
    """Read and judge a submission; everything that is wrong is recorded in `problems`."""
    name = _the_file(files, manifest, problems)
    if name is None:
        return None
    text = read_utf8(files.paths[name], name, MAX_MEGABYTES, problems)
    if text is None:
        return None
    read_answers = _read_lines if name == LINE_FILE else _read_csv
    predictions = {}
    for answers in read_answers(text, name, manifest, problems):
        answers.warn(name, problems)
        predictions[answers.task] = answers.labels
    if "clarity" not in predictions and "evasion" in predictions:
        # Only an evasion label has a parent: a clarity label in this column is a wrong answer to both tasks.
        predictions["clarity"] = [TAXONOMY.get(label, "") for label in predictions["evasion"]]
        if "clarity" in manifest.tasks:
            problems.warn(
                name, "no clarity_pred: the clarity labels are derived from evasion_pred through the taxonomy"
            )
    entered = frozenset(manifest.tasks).intersection(predictions)
    if manifest.layout == "separate" and not entered and not problems.found:
        (task,) = manifest.tasks
        problems.error(name, f"has no column {COLUMNS[task]}", "the predictions of this competition's task")
    return ClaritySubmission(predictions, entered)


def _the_file(files: SubmissionFiles, manifest: Manifest, problems: Problems) -> Optional[str]:
    """The name of the one file that counts."""
    tables, has_lines = files.named(".csv"), LINE_FILE in files.paths
    alone = manifest.layout == "separate"
    expected = "one CSV file"
    if alone:
        expected += f" or the file {LINE_FILE}, one label a line"
    if len(tables) > 1:
        problems.error(
            ", ".join([shown(table) for table in tables]),
            f"{len(tables)} CSV files",
            f"{expected}, at the top of the zip",
        )
    elif tables and has_lines:
        problems.error(f"{shown(tables[0])}, {LINE_FILE}", "two files with predictions", f"{expected}, not both")
    elif has_lines and not alone:
        what = f"the line format is for competitions with one task, and this one has {len(manifest.all_tasks)}"
        problems.error(LINE_FILE, what, f"{expected} with the columns {ID}, {', '.join(COLUMNS.values())}")
    elif not tables and not has_lines:
        what = f"holds no file with predictions{files.found(EXAMPLES)}"
        problems.error("submission", what, f"{expected}, at the top of the zip")
    else:
        chosen = tables[0] if tables else LINE_FILE
        files.warn_of_others(chosen, EXAMPLES, f"not read; the predictions are in {shown(chosen)}", problems)
        return chosen
    return None


def _read_lines(text: str, name: str, manifest: Manifest, problems: Problems) -> List[_Answers]:
    """The line format: one label for each row of the data; blank lines at the end are ignored."""
    (task,) = manifest.tasks
    rows = len(manifest.expected["ids"])
    labels = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not labels[-1]:
        labels.pop()  # nothing follows the end of the last line
    while len(labels) > rows and not labels[-1].strip():
        labels.pop()
    if len(labels) != rows:
        what = f"has {len(labels)} lines"
        problems.error(name, what, f"{rows}, one label for each row of the data, in its order, without a header")
        return []
    answers = _Answers(task, rows)
    for row, label in enumerate(labels):
        answers.put(row, row + 1, label)
    return [answers]


def _read_csv(text: str, name: str, manifest: Manifest, problems: Problems) -> List[_Answers]:
    """The columns with predictions; one without any label is the template's and absent, when the other has some."""
    ids: Sequence[str] = manifest.expected["ids"]
    table = read_table(text, name, problems)
    if not table.header:
        return []
    check_columns(table.header, [ID, *COLUMNS.values()], name, problems)
    columns: Dict[int, _Answers] = {}
    places = table.places(COLUMNS.values())
    for task, column in COLUMNS.items():
        if column in places:
            columns[places[column]] = _Answers(task, len(ids))
    expected = f"the columns {ID} and {' or '.join(COLUMNS.values())}, separated by commas"
    if ID not in table.header:
        problems.error(f"{name}:1", f"the column {ID} is missing", expected)
    if not columns:
        problems.error(f"{name}:1", f"neither {' nor '.join(COLUMNS.values())} is there", expected)
    if ID not in table.header or not columns:
        return []
    for row, line, cells in rows_by_id(table, ID, ids, name, problems):
        for at, answers in columns.items():
            answers.put(row, line, cells[at])
    return _filled(list(columns.values()), name, problems)


def _filled(columns: List[_Answers], name: str, problems: Problems) -> List[_Answers]:
    """The columns with any label; all of them where none has one."""
    filled = [answers for answers in columns if answers.filled]
    for answers in columns:
        if filled and not answers.filled:
            problems.warn(name, f"{COLUMNS[answers.task]} has no label at all and counts as missing")
    return filled or columns
