"""Precision, recall and F1 over a fixed list of labels, with what may be shown of them.

Computed by scikit-learn, which is what readers will reproduce them with; on codes instead of strings, because a million
strings would take it many times as long.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoring_kit.results import Bar, BarChart, ConfusionMatrix, Figure, Metric, scored_items

if TYPE_CHECKING:
    from scoring_kit.units import Array


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
        confusion: counts, shape [labels][labels + 1]: gold by predicted; last column: predictions that are not labels.
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

    def items(self, i: int, if_none: int = 0) -> int:
        """How many scored items are behind the scores of label `i`; `if_none` where it is never predicted."""
        return scored_items(sum(self.confusion[i]), sum(row[i] for row in self.confusion), if_none)


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


def label_terms(predictions: Sequence[Hashable], golds: Sequence[Hashable | None], labels: Sequence[Hashable]) -> Array:
    """What each item adds to the scores of the labels, see `scoring_kit.metrics.summed`.

    Returns:
        Shape [items, 3 · labels], of zeros and ones: whether the item is a true positive of each label, whether it is
        predicted to be each, whether the gold says so. An item without gold (None) adds nothing.
    """
    import numpy as np

    code = {label: i for i, label in enumerate(labels)}
    gold_codes = np.array([-1 if gold is None else code[gold] for gold in golds], dtype=np.int64)
    predicted_codes = np.array([code.get(predicted, -1) for predicted in predictions], dtype=np.int64)
    gold = gold_codes[:, None] == np.arange(len(labels))
    predicted = (predicted_codes[:, None] == np.arange(len(labels))) & (gold_codes >= 0)[:, None]
    return np.hstack([gold & predicted, predicted, gold]).astype(np.float64)


def label_metrics(prefix: str, scores: LabelScores, *, drawn: bool) -> dict[str, Metric]:
    """F1 of each label, named `<prefix>: <label>`; `drawn`: whether `label_figures` shows it, too.

    That of a label which is never predicted gives nothing away, so it is shown.
    """
    return {
        f"{prefix}: {label}": Metric(f1, scores.rows, scores.items(i, if_none=scores.rows), drawn=drawn)
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
