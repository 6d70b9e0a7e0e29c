"""The gold of CLARITY: `gold.csv` with QEvasion's columns, read strictly."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarity2026.labels import CLARITY_LABELS, EVASION_LABELS, TAXONOMY, normalize_label
from scoring_kit.csv_reading import read_table
from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.json_reading import read_utf8

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
    text = read_utf8(path, FILE, float("inf"), problems)
    reference = _read(text, tasks, problems) if text is not None else None
    if problems.found or reference is None:
        raise problems.organiser_error()
    return reference


def manifest(reference: ClarityReference, tasks: Sequence[str]) -> dict[str, Any]:
    """What participants know: the ids, in the order of the data."""
    return {"ids": reference.ids}


@dataclass(frozen=True)
class _RowLabels:
    """The labels in the cells of a row, and what is wrong with them (what, what is expected)."""

    clarity: str
    evasion: str
    annotations: tuple[str, ...]
    has_annotators: bool
    faults: tuple[tuple[str, str], ...]


def _read(text: str, tasks: Sequence[str], problems: Problems) -> ClarityReference | None:
    table = read_table(text, FILE, problems)
    _check_header(table.header, tasks, problems)
    if problems.found:
        return None
    id_at = table.header.index(ID)
    label_columns = [name for name in (CLARITY, EVASION, *ANNOTATORS) if name in table.header]
    labels_at = [table.header.index(name) for name in label_columns]
    asked_at = [table.header.index(name) for name in ASKED if name in table.header] if INTERVIEW in table.header else []
    first_of: dict[tuple[str, ...], str] = {}
    asked: list[str] = []
    line_of: dict[str, int] = {}
    rows: list[_RowLabels] = []
    known: dict[tuple[str, ...], _RowLabels] = {}
    for line, cells in table.rows:
        item = cells[id_at].strip()
        if not item or item in line_of:
            what = f"{ID} {item} already occurs in line {line_of[item]}" if item else f"{ID} is empty"
            problems.error(f"{FILE}:{line}", what, "each row with an id of its own")
            continue
        line_of[item] = line
        if asked_at:
            asked.append(first_of.setdefault(tuple([cells[i] for i in asked_at]), item))
        labels = tuple([cells[i] for i in labels_at])
        if labels not in known:
            known[labels] = _read_labels(dict(zip(label_columns, labels, strict=True)), "clarity" in tasks)
        rows.append(known[labels])
    annotated = "evasion" in tasks and any(row.has_annotators for row in known.values())
    single = "evasion" in tasks and not annotated
    _report(zip(line_of.items(), rows, strict=True), single, problems)
    return ClarityReference(
        ids=list(line_of),
        clarity=[row.clarity for row in rows] if "clarity" in tasks else [],
        evasion=[row.evasion for row in rows] if single else [],
        annotations=[row.annotations for row in rows] if annotated else [],
        annotated=annotated,
        asked=asked,
    )


def _report(rows: Iterable[tuple[tuple[str, int], _RowLabels]], single: bool, problems: Problems) -> None:
    """Record what is wrong with the rows, ((id, line), row) each; `single`: every row needs an evasion label."""
    empty = True
    for (item, line), row in rows:
        empty = False
        for what, expected in row.faults:
            problems.error(f"{FILE}:{line} ({ID} {item})", what, expected)
        if single and not row.evasion:
            what = f"no {EVASION}, and no annotator column holds data"
            problems.error(f"{FILE}:{line} ({ID} {item})", what, f"one of {', '.join(EVASION_LABELS)}")
    if empty:
        problems.error(FILE, "has no rows", "one row for each item")


def _read_labels(cells: Mapping[str, str], wants_clarity: bool) -> _RowLabels:
    """A row's labels by its cells; the clarity label is derived from the evasion label where it has none of its own."""
    faults = []
    evasion = normalize_label(cells.get(EVASION, ""))
    if evasion not in TAXONOMY:
        if evasion.strip():
            faults.append((f"{EVASION} is not an evasion label", f"one of {', '.join(EVASION_LABELS)}"))
        evasion = ""
    clarity = normalize_label(cells.get(CLARITY, ""))
    if not clarity.strip():
        clarity = TAXONOMY.get(evasion, "")
    if clarity not in CLARITY_LABELS:
        if wants_clarity:
            absent = f"no {CLARITY}, and no {EVASION} to derive it from"
            what = f"{CLARITY} is not a clarity label" if clarity else absent
            faults.append((what, f"one of {', '.join(CLARITY_LABELS)}"))
        clarity = ""
    given = [cells.get(name, "") for name in ANNOTATORS]
    annotations = tuple(label for label in map(normalize_label, given) if label in TAXONOMY)
    return _RowLabels(clarity, evasion, annotations, any(cell.strip() for cell in given), tuple(faults))


def _check_header(header: Sequence[str], tasks: Sequence[str], problems: Problems) -> None:
    there = set(header)
    if ID not in there:
        problems.error(f"{FILE}:1", f"the column {ID} is missing", "the columns of QEvasion")
    if "clarity" in tasks and not {CLARITY, EVASION} & there:
        problems.error(f"{FILE}:1", f"neither {CLARITY} nor {EVASION} is there", "one of them, for the task clarity")
    if "evasion" in tasks and not {EVASION, *ANNOTATORS} & there:
        what = f"neither {EVASION} nor {', '.join(ANNOTATORS)} are there"
        problems.error(f"{FILE}:1", what, "at least one of these columns, for the task evasion")
