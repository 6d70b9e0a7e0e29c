"""The gold of CLARITY: `gold.csv` with QEvasion's columns, read strictly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarity2026.submission import CLARITY_LABELS, EVASION_LABELS, TAXONOMY, normalize_label
from scoring_kit.csv_reading import CsvTable, identified_rows, read_gold_table
from scoring_kit.errors import OrganiserError, Problems

FILE = "gold.csv"
ID = "index"
CLARITY, EVASION = "clarity_label", "evasion_label"
INTERVIEW = "interview_question"
ASKED = ("url", INTERVIEW)
"""Which interview, and what was asked there."""
ANNOTATORS = ("annotator1", "annotator2", "annotator3")


@dataclass(frozen=True)
class ClarityReference:
    """The gold labels, normalised, one for each row of gold.csv in its order.

    Attributes:
        ids: the rows' ids.
        clarity: clarity labels, derived from the evasion label where a row has none; empty unless asked for.
        evasion: single evasion labels; empty when the annotators' labels count instead, or unless asked for.
        annotations: each row's annotator labels that are valid labels; empty when not annotated.
        annotated: whether the annotator columns hold any data.
        asked: the first row of each row's interview question, which several rows may share: they are annotated parts of
            one answer. Empty where gold.csv does not have that column.
    """

    ids: list[str]
    clarity: list[str]
    evasion: list[str]
    annotations: list[tuple[str, ...]]
    annotated: bool
    asked: Sequence[str] = ()


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> ClarityReference:
    """Read gold.csv for the tasks; raises OrganiserError with everything that is wrong (file, line, id, field)."""
    problems = Problems()
    for name in options:
        problems.error(f"options.{name}", "unknown option", "CLARITY has none")
    path = folder / FILE
    if not path.is_file():
        raise OrganiserError(f"{FILE}: missing. Expected a CSV file with the columns of QEvasion.")
    reference = _read(read_gold_table(path, problems), tasks, problems)
    problems.stop_organisers_if_any()
    return reference


def manifest(reference: ClarityReference, tasks: Sequence[str]) -> dict[str, Any]:
    """Return what participants know: the ids, in the order of the data."""
    return {"ids": reference.ids}


@dataclass(frozen=True)
class _RowLabels:
    """The labels in the cells of a row, whether annotators filled any, and what is wrong (what, what is expected)."""

    clarity: str
    evasion: str
    annotations: tuple[str, ...]
    annotated: bool
    faults: list[tuple[str, str]]


def _read(table: CsvTable, tasks: Sequence[str], problems: Problems) -> ClarityReference:
    there = set(table.header)
    if ID not in there:
        problems.error(f"{FILE}:1", f"the column {ID} is missing", "the columns of QEvasion")
    if "clarity" in tasks and not {CLARITY, EVASION} & there:
        problems.error(f"{FILE}:1", f"neither {CLARITY} nor {EVASION} is there", "one of them, for the task clarity")
    if "evasion" in tasks and not {EVASION, *ANNOTATORS} & there:
        what = f"neither {EVASION} nor {', '.join(ANNOTATORS)} are there"
        problems.error(f"{FILE}:1", what, "at least one of these columns, for the task evasion")
    problems.stop_organisers_if_any()
    places = table.places((CLARITY, EVASION, *ANNOTATORS))
    asked_at = list(table.places(ASKED).values()) if INTERVIEW in table.header else []
    first_of: dict[tuple[str, ...], str] = {}
    asked: list[str] = []
    rows: dict[str, tuple[int, _RowLabels]] = {}
    id_at, expected = table.header.index(ID), "each row with an id of its own"
    for line, item, cells in identified_rows(table.rows, id_at, ID, FILE, expected, problems):
        rows[item] = line, _row_labels({name: cells[at] for name, at in places.items()}, "clarity" in tasks)
        if asked_at:
            asked.append(first_of.setdefault(tuple([cells[at] for at in asked_at]), item))
    if not rows:
        problems.error(FILE, "has no rows", "one row for each item")
    annotated = "evasion" in tasks and any(row.annotated for _, row in rows.values())
    gold = ClarityReference(list(rows), [], [], [], annotated, asked)
    _take_labels(gold, rows, tasks, problems)
    return gold


def _take_labels(
    gold: ClarityReference, rows: Mapping[str, tuple[int, _RowLabels]], tasks: Sequence[str], problems: Problems
) -> None:
    """Put the labels that the tasks need into the gold, and record what is wrong with them; `rows`: id → line, row."""
    single = "evasion" in tasks and not gold.annotated
    for item, (line, row) in rows.items():
        where = f"{FILE}:{line} ({ID} {item})"
        for what, expected in row.faults:
            problems.error(where, what, expected)
        if single and not row.evasion:
            what = f"no {EVASION}, and no annotator column holds data"
            problems.error(where, what, f"one of {', '.join(EVASION_LABELS)}")
        if "clarity" in tasks:
            gold.clarity.append(row.clarity)
        if single:
            gold.evasion.append(row.evasion)
        if gold.annotated:
            gold.annotations.append(row.annotations)


def _row_labels(cells: Mapping[str, str], wants_clarity: bool) -> _RowLabels:
    """Return the labels of a row; the clarity label is derived from the evasion label where it has none of its own."""
    faults = []
    evasion = normalize_label(cells.get(EVASION, ""))
    if evasion not in TAXONOMY:
        if evasion.strip():
            faults.append((f"{EVASION} is not an evasion label", f"one of {', '.join(EVASION_LABELS)}"))
        evasion = ""
    clarity = normalize_label(cells.get(CLARITY, ""))
    if not clarity.strip():
        clarity = TAXONOMY.get(evasion, "")
    if wants_clarity and clarity not in CLARITY_LABELS:
        what = f"{CLARITY} is not a clarity label"
        if not clarity:
            what = f"no {CLARITY}, and no {EVASION} to derive it from"
        faults.append((what, f"one of {', '.join(CLARITY_LABELS)}"))
    annotations, annotated = [], False
    for name in ANNOTATORS:
        label = normalize_label(cells.get(name, ""))
        annotated = annotated or bool(label.strip())
        if label in TAXONOMY:
            annotations.append(label)
    return _RowLabels(clarity, evasion, tuple(annotations), annotated, faults)
