"""Scores over a fixed list of labels, and what is told of them."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from scoring_kit.metrics.classification import f1_scores, label_figures, label_metrics, score_labels
from scoring_kit.results import BarChart, ConfusionMatrix

LABELS = ("a", "b", "c")


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("abc?"), st.sampled_from(LABELS)), min_size=1, max_size=40))
def test_the_figures_are_scikit_learns(pairs: list[tuple[str, str]]) -> None:
    predicted, gold = [p for p, _ in pairs], [g for _, g in pairs]
    scores = score_labels(predicted, gold, LABELS)
    exactly = partial(pytest.approx, rel=0, abs=1e-12)
    assert scores.f1 == exactly(sk.f1_score(gold, predicted, labels=LABELS, average=None, zero_division=0).tolist())
    for label, column in enumerate(zip(*scores.confusion, strict=True)):
        assert label == len(LABELS) or scores.items(label) == min(sum(scores.confusion[label]), sum(column))
    macro = sk.precision_recall_fscore_support(gold, predicted, labels=LABELS, average="macro", zero_division=0)
    assert [scores.macro_precision, scores.macro_recall, scores.macro_f1] == exactly(macro[:3])
    assert scores.accuracy == exactly(sk.accuracy_score(gold, predicted))
    assert scores.confusion == sk.confusion_matrix(gold, predicted, labels=[*LABELS, "?"])[:3].tolist()
    answered = LABELS[1:]  # F1 also of golds beyond the labels, which are nobody's true positives
    assert f1_scores(predicted, gold, answered) == exactly(
        sk.f1_score(gold, predicted, labels=answered, average=None, zero_division=0).tolist()
    )


def test_nothing_to_score_is_0() -> None:
    scores = score_labels([], [], LABELS, skipped=4)
    assert (scores.macro_f1, scores.accuracy, scores.rows, scores.skipped) == (0.0, 0.0, 0, 4)


def test_what_stands_behind_an_f1() -> None:
    """`a`: two golds, one prediction. `b`: predicted twice, one gold. `c`: never predicted, which tells nothing."""
    metrics = label_metrics("f1", score_labels(["a", "b", "b"], ["a", "a", "b"], LABELS), drawn=True)
    assert {name: metric.items for name, metric in metrics.items()} == {"f1: a": 1, "f1: b": 1, "f1: c": 3}
    assert {metric.rows for metric in metrics.values()} == {3}


@pytest.mark.parametrize(("predicted", "columns"), [("aab", ["a", "b", "c"]), ("aa?", ["a", "b", "c", "(no label)"])])
def test_figures(predicted: str, columns: list[str]) -> None:
    bars, matrix = label_figures("T", score_labels(predicted, "aba", LABELS))
    assert isinstance(bars, BarChart)
    assert isinstance(matrix, ConfusionMatrix)
    assert [bar.label for bar in bars.bars] == list(LABELS)
    assert list(matrix.predicted_labels) == columns
    assert all(len(row) == len(columns) for row in matrix.counts)
