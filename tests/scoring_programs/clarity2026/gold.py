"""Small gold files of CLARITY, and submissions to them."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

ANNOTATED = ("index", "annotator1", "annotator2", "annotator3", "clarity_label", "evasion_label")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A CSV file's text."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def strict_gold(labels: Mapping[str, tuple[str, str]]) -> str:
    """Gold of the development phase: id → (clarity label, evasion label)."""
    return table(ANNOTATED, [(item, "", "", "", clarity, evasion) for item, (clarity, evasion) in labels.items()])


def annotated_gold(labels: Mapping[str, tuple[str, str, str, str]]) -> str:
    """Gold of the evaluation phase: id → (annotator1, annotator2, annotator3, clarity label)."""
    return table(ANNOTATED, [(item, *cells, "") for item, cells in labels.items()])


DEV = strict_gold(
    {
        "1": ("Clear Reply", "Explicit"),
        "2": ("Ambivalent", "Dodging"),
        "3": ("Ambivalent", "General"),
        "4": ("Clear Non-Reply", "Clarification"),
    }
)
PERFECT = table(
    ("id", "clarity_pred", "evasion_pred"),
    [
        ("1", "Clear Reply", "Explicit"),
        ("2", "Ambivalent Reply", "Dodging"),
        ("3", "Ambivalent Reply", "General"),
        ("4", "Clear Non-Reply", "Clarification"),
    ],
)
