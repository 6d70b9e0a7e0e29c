"""The labels of CLARITY, their taxonomy, and the spellings that are read as one of them.

Source: SemEval-2026 Task 6, "Evaluation", sections Overview and Label Normalization; the taxonomy is that of the
QEvasion data (Thomas et al. 2024, "I Never Said That").
"""

from typing import Dict, Tuple

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
    """The canonical label that a spelling stands for; any other text is returned unchanged.

    Blanks around a label and upper or lower case make no difference.
    """
    canonical = _CANONICAL.get(label)
    return canonical if canonical is not None else _SPELLINGS.get(label.strip().lower(), label)
