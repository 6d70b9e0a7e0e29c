"""The gold of CLARITY: `gold.csv` with QEvasion's columns, read strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
ANNOTATORS = ("annotator1", "annotator2", "annotator3")


@dataclass(frozen=True)
class Reference:
    """The gold labels, normalised, one for each row of gold.csv in its order.

    Attributes:
        ids: the rows' ids.
        clarity: clarity labels, derived from the evasion label where a row has none; empty unless asked for.
        evasion: single evasion labels; empty when the annotators' labels count instead, or unless asked for.
        annotations: each row's annotator labels that are valid labels; empty when not annotated.
        annotated: whether the annotator columns hold any data.
    """

    ids: list[str]
    clarity: list[str]
    evasion: list[str]
    annotations: list[tuple[str, ...]]
    annotated: bool


def read(folder: Path, tasks: Sequence[str], options: Mapping[str, Any]) -> Reference:
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
        more = [f"… and {problems.found - len(problems.errors)} more."] if problems.found > len(problems.errors) else []
        raise OrganiserError(*problems.errors, *more)
    return reference


def manifest(reference: Reference, tasks: Sequence[str]) -> dict[str, Any]:
    """What participants know: the ids, in the order of the data."""
    return {"ids": reference.ids}


def _read(text: str, tasks: Sequence[str], problems: Problems) -> Reference | None:
    table = read_table(text, FILE, problems)
    at = {name: table.header.index(name) for name in (ID, CLARITY, EVASION, *ANNOTATORS) if name in table.header}
    _check_header(at, tasks, problems)
    if problems.found:
        return None
    annotators = [at[name] for name in ANNOTATORS if name in at]
    line_of: dict[str, int] = {}
    clarity: list[str] = []
    evasion: list[str] = []
    annotations: list[tuple[str, ...]] = []
    valid: dict[tuple[str, ...], tuple[str, ...]] = {}
    annotated = False
    for line, cells in table.rows:
        item = cells[at[ID]].strip()
        if not item or item in line_of:
            what = f"{ID} {item} stood there already, in line {line_of[item]}" if item else f"{ID} is empty"
            problems.error(f"{FILE}:{line}", what, "each row with an id of its own")
            continue
        line_of[item] = line
        where = f"{FILE}:{line} ({ID} {item})"
        single = _evasion_label(cells[at[EVASION]] if EVASION in at else "", where, problems)
        evasion.append(single)
        if "clarity" in tasks:
            clarity.append(_clarity_label(cells[at[CLARITY]] if CLARITY in at else "", single, where, problems))
        given = tuple([cells[i] for i in annotators])
        if given not in valid:
            valid[given] = tuple(label for label in map(normalize_label, given) if label in TAXONOMY)
            annotated = annotated or any(label.strip() for label in given)
        annotations.append(valid[given])
    if not line_of:
        problems.error(FILE, "has no rows", "one row for each item")
    if "evasion" not in tasks:
        return Reference(list(line_of), clarity, [], [], annotated=False)
    if annotated:
        return Reference(list(line_of), clarity, [], annotations, annotated=True)
    for (item, line), single in zip(line_of.items(), evasion, strict=True):
        if not single:
            what = f"no {EVASION}, and no annotator column holds data"
            problems.error(f"{FILE}:{line} ({ID} {item})", what, f"one of {', '.join(EVASION_LABELS)}")
    return Reference(list(line_of), clarity, evasion, [], annotated=False)


def _evasion_label(cell: str, where: str, problems: Problems) -> str:
    """The single evasion label of a row, or nothing."""
    label = normalize_label(cell)
    if label in TAXONOMY:
        return label
    if label.strip():
        problems.error(where, f"{EVASION} is no evasion label", f"one of {', '.join(EVASION_LABELS)}")
    return ""


def _clarity_label(cell: str, evasion: str, where: str, problems: Problems) -> str:
    """The clarity label of a row, derived from its evasion label where it has none of its own."""
    label = normalize_label(cell)
    if label in CLARITY_LABELS:
        return label
    if label.strip():
        problems.error(where, f"{CLARITY} is no clarity label", f"one of {', '.join(CLARITY_LABELS)}")
    elif evasion:
        return TAXONOMY[evasion]
    else:
        what = f"no {CLARITY}, and no {EVASION} to derive it from"
        problems.error(where, what, f"one of {', '.join(CLARITY_LABELS)}")
    return ""


def _check_header(at: Mapping[str, int], tasks: Sequence[str], problems: Problems) -> None:
    if ID not in at:
        problems.error(f"{FILE}:1", f"the column {ID} is missing", "the columns of QEvasion")
    if "clarity" in tasks and not {CLARITY, EVASION} & set(at):
        problems.error(f"{FILE}:1", f"neither {CLARITY} nor {EVASION} is there", "one of them, for the task clarity")
    if "evasion" in tasks and not {EVASION, *ANNOTATORS} & set(at):
        what = f"neither {EVASION} nor {', '.join(ANNOTATORS)} are there"
        problems.error(f"{FILE}:1", what, "at least one of these columns, for the task evasion")
