"""The scores against the definitions written out with fractions, on made-up annotators."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clarity2026.clarity import any_match_golds, compute_evasion_f1_strict, majority_vote_gold
from clarity2026.submission import CLARITY_LABELS, EVASION_LABELS
from scoring_kit.metrics.classification import LabelScores

E, I, G, P = "Explicit", "Implicit", "General", "Partial/half-answer"  # noqa: E741
DODGING, DEFLECTION, CLARIFICATION = "Dodging", "Deflection", "Clarification"

clarity_or_junk = st.sampled_from([*CLARITY_LABELS, "", "Explicit", "N/A"])
evasion = st.sampled_from(EVASION_LABELS)
evasion_or_junk = st.sampled_from([*EVASION_LABELS, "", "N/A", "Clear Reply"])
annotators = st.lists(evasion_or_junk, max_size=3)


def macro_f1(predictions: Sequence[str], golds: Sequence[str], labels: Sequence[str]) -> Fraction:
    """Mean of 2TP / (2TP + FP + FN) over the fixed list, 0/0 being 0."""
    pairs = list(zip(predictions, golds, strict=True))
    total = Fraction(0)
    for label in labels:
        tp = sum(p == g == label for p, g in pairs)
        wrong = sum((p == label) != (g == label) for p, g in pairs)
        if tp + wrong:
            total += Fraction(2 * tp, 2 * tp + wrong)
    return total / len(labels)


def any_match_f1(predictions: Sequence[str], annotations: Sequence[Sequence[str]]) -> LabelScores:
    return compute_evasion_f1_strict(predictions, any_match_golds(predictions, annotations))


def four_steps(prediction: str, given_labels: Sequence[str]) -> str | None:
    """The seed's steps, one after the other."""
    gold_set = [label for label in EVASION_LABELS if label in given_labels]
    if not gold_set:
        return None
    return next((label for label in gold_set if label == prediction), min(gold_set))


@pytest.mark.slow
@given(st.lists(st.tuples(evasion_or_junk, annotators), max_size=30))
def test_any_match(rows: list[tuple[str, list[str]]]) -> None:
    scored = [(p, g) for p, labels in rows if (g := four_steps(p, labels)) is not None]
    scores = any_match_f1([p for p, _ in rows], [labels for _, labels in rows])
    expected = macro_f1([p for p, _ in scored], [g for _, g in scored], EVASION_LABELS)
    assert scores.macro_f1 == pytest.approx(float(expected))
    assert scores.accuracy == pytest.approx(sum(p == g for p, g in scored) / max(1, len(scored)))
    assert (scores.rows, scores.skipped) == (len(scored), len(rows) - len(scored))


@pytest.mark.parametrize(
    ("predictions", "annotations", "expected"),
    [
        # Both right: F1(Dodging) = F1(Implicit) = 1, the other seven 0.
        ([DODGING, I], [[DODGING, G, E], [G, I]], Fraction(2, 9)),
        # A miss counts for the alphabetically first of the set (Deflection), not for the first annotator.
        ([G, DEFLECTION], [[DODGING, DEFLECTION], [DEFLECTION]], Fraction(2, 3) / 9),
        # "N/A" is no label: the row has no gold set and is left out, so the other row alone is perfect.
        ([E, E], [["N/A", "", ""], [E]], Fraction(1, 9)),
        # "N/A" beside a label is taken out.
        ([E], [["N/A", E, ""]], Fraction(1, 9)),
        # The class list is fixed: six perfect classes are 6/9.
        (list(EVASION_LABELS[:6]), [[label] for label in EVASION_LABELS[:6]], Fraction(6, 9)),
        # Everything skipped, and nothing at all.
        ([E, G], [[], ["N/A"]], Fraction(0)),
        ([], [], Fraction(0)),
        # A prediction that is no label: a miss for the fall-back (Dodging), a false positive for nobody.
        (["?", DODGING], [[DODGING, E], [DODGING]], Fraction(2, 3) / 9),
    ],
)
def test_worked_examples_of_any_match(predictions: list[str], annotations: list[list[str]], expected: Fraction) -> None:
    scores = any_match_f1(predictions, annotations)
    assert scores.macro_f1 == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([E, E, G], E),
        ([G, E, E], E),
        ([P, DODGING, G], DODGING),  # all tie: alphabetically first
        ([P, G], G),
        ([CLARIFICATION, P, P], P),  # votes before alphabet
        (["N/A", "N/A", P], P),
        (["N/A", ""], None),
        ([], None),
    ],
)
def test_majority(labels: list[str], expected: str | None) -> None:
    assert majority_vote_gold(labels) == expected
