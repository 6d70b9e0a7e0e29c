"""Precision, recall and F1 over a fixed list of labels, with what may be told of them.

Computed by scikit-learn, which is what readers will reproduce them with; on codes instead of strings, because a million
strings would take it many times as long.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring_kit.results import Bar, BarChart, ConfusionMatrix, Figure, Metric


@dataclass(frozen=True)
class LabelScores:
    """How predictions compare with one gold label an item. Every 0/0 is 0.

    Attributes:
        labels: the fixed list that the macro means run over; a label that never occurs counts 0.
        precision: of each label, in [0, 1], in the order of `labels`.
        recall: likewise.
        f1: likewise.
        macro_precision: mean of `precision`.
        macro_recall: mean of `recall`.
        macro_f1: mean of `f1` (not the harmonic mean of the other two means).
        accuracy: share of the scored items whose label is right.
        rows: number of items scored.
        skipped: number of items left out because they have no gold label.
        confusion: counts, shape [labels][labels + 1]: gold by predicted; last column: predictions that are no label.
    """

    labels: Sequence[str]
    precision: Sequence[float]
    recall: Sequence[float]
    f1: Sequence[float]
    macro_precision: float
    macro_recall: float
    macro_f1: float
    accuracy: float
    rows: int
    skipped: int
    confusion: Sequence[Sequence[int]]

    def items(self, i: int) -> int:
        """How many items the scores of label `i` tell about: few predictions, or few golds, give themselves away."""
        gold = sum(self.confusion[i])
        predicted = sum(row[i] for row in self.confusion)
        return min(gold, predicted)


def score_labels(
    predictions: Sequence[str], golds: Sequence[str], labels: Sequence[str], skipped: int = 0
) -> LabelScores:
    """Compare predictions with golds of the same length; golds are `labels`, any other prediction is wrong."""
    if not golds:
        nothing, size = [0.0] * len(labels), len(labels)
        return LabelScores(labels, nothing, nothing, nothing, 0.0, 0.0, 0.0, 0.0, 0, skipped, [[0] * (size + 1)] * size)
    import numpy as np
    from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

    code = {label: i for i, label in enumerate(labels)}
    no_label = len(labels)
    gold = np.fromiter((code[label] for label in golds), dtype=np.int64, count=len(golds))
    predicted = np.fromiter((code.get(label, no_label) for label in predictions), dtype=np.int64, count=len(golds))
    precision, recall, f1, _ = precision_recall_fscore_support(
        gold, predicted, labels=range(no_label), average=None, zero_division=0.0
    )
    return LabelScores(
        labels=labels,
        precision=precision.tolist(),
        recall=recall.tolist(),
        f1=f1.tolist(),
        macro_precision=float(precision.mean()),
        macro_recall=float(recall.mean()),
        macro_f1=float(f1.mean()),
        accuracy=float(accuracy_score(gold, predicted)),
        rows=len(golds),
        skipped=skipped,
        confusion=confusion_matrix(gold, predicted, labels=range(no_label + 1))[:-1].tolist(),
    )


def label_metrics(prefix: str, scores: LabelScores, *, drawn: bool) -> dict[str, Metric]:
    """F1 of each label, named `<prefix>: <label>`; `drawn`: whether `label_figures` shows it, too.

    That of a label which is never predicted is 0 whatever the gold is, which tells nothing, so it is shown.
    """
    predicted = [any(row[i] for row in scores.confusion) for i in range(len(scores.labels))]
    return {
        f"{prefix}: {label}": Metric(f1, scores.rows, scores.items(i) if predicted[i] else scores.rows, drawn=drawn)
        for i, (label, f1) in enumerate(zip(scores.labels, scores.f1, strict=True))
    }


def label_figures(title: str, scores: LabelScores) -> list[Figure]:
    """The F1 of each label as bars, and the confusion matrix."""
    bars = [Bar(label, f1, scores.items(i)) for i, (label, f1) in enumerate(zip(scores.labels, scores.f1, strict=True))]
    predicted, counts = list(scores.labels), scores.confusion
    if any(row[-1] for row in counts):
        predicted.append("(no label)")
    else:
        counts = [row[:-1] for row in counts]
    counted = "those of the label in the gold or in the predictions, whichever are fewer"
    return [
        BarChart(f"{title}: F1 of each label", bars, "higher", counted, top=1.0),
        ConfusionMatrix(f"{title}: gold against predicted labels", scores.labels, predicted, counts),
    ]
