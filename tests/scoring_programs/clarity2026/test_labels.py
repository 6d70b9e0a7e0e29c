"""Labels, their spellings and the taxonomy."""

import pytest

from clarity2026.submission import CLARITY_LABELS, EVASION_LABELS, TAXONOMY, normalize_label


def test_the_lists_are_those_of_the_task() -> None:
    assert CLARITY_LABELS == ("Clear Reply", "Ambivalent Reply", "Clear Non-Reply")
    assert EVASION_LABELS == (
        "Claims ignorance",
        "Clarification",
        "Declining to answer",
        "Deflection",
        "Dodging",
        "Explicit",
        "General",
        "Implicit",
        "Partial/half-answer",
    )


@pytest.mark.parametrize(
    ("parent", "labels"),
    [
        ("Clear Reply", {"Explicit"}),
        ("Ambivalent Reply", {"Implicit", "General", "Partial/half-answer", "Dodging", "Deflection"}),
        ("Clear Non-Reply", {"Declining to answer", "Claims ignorance", "Clarification"}),
    ],
)
def test_the_taxonomy(parent: str, labels: set[str]) -> None:
    assert {label for label, above in TAXONOMY.items() if above == parent} == labels


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Clear Reply", "Clear Reply"),
        ("clear reply", "Clear Reply"),
        ("  EXPLICIT ", "Explicit"),
        ("Partial", "Partial/half-answer"),
        ("half-answer", "Partial/half-answer"),
        ("Declining", "Declining to answer"),
        ("Ambivalent", "Ambivalent Reply"),
        ("ambiguous", "Ambivalent Reply"),
        ("Ambiguous Reply", "Ambivalent Reply"),
        ("Clear Non Reply", "Clear Non-Reply"),
        ("clear nonreply", "Clear Non-Reply"),
        ("Non-Reply", "Clear Non-Reply"),
        ("\tpartial/HALF-answer ", "Partial/half-answer"),
        (" N/A ", " N/A "),
        ("", ""),
        ("Reply", "Reply"),
    ],
)
def test_normalization(written: str, meant: str) -> None:
    assert normalize_label(written) == meant
