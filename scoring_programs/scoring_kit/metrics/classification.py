"""Precision, recall and F1 over a fixed list of labels, and how much of them may be shown.

Counted here instead of by scikit-learn, which takes a second to import, longer than a whole job otherwise lasts. The
tests hold every figure equal to scikit-learn's to 1e-12, with `labels` given and `zero_division=0`.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum

from scoring_kit.results import Bar, BarChart, ConfusionMatrix, Figure, Metric, scored_items, share
from scoring_kit.units import Array


@dataclass(frozen=True)
class LabelScores:
    """How predictions compare with one gold label an item. Every 0/0 is 0.

    Attributes:
        labels: the fixed list that the macro means run over; a label that never occurs counts 0.
        f1: of each label, in [0, 1], in the order of `labels`.
        macro_precision: mean of the labels' precision.
        macro_recall: mean of their recall.
        macro_f1: mean of `f1` (not the harmonic mean of the other two means).
        accuracy: share of the scored items whose label is right.
        rows: number of items scored.
        skipped: number of items left out because they have no gold label.
        confusion: counts, shape [labels][labels + 1]: gold by predicted; last column: predictions that are not labels.
    """

    labels: Sequence[str]
    f1: Sequence[float]
    macro_precision: float
    macro_recall: float
    macro_f1: float
    accuracy: float
    rows: int
    skipped: int
    confusion: Sequence[Sequence[int]]

    def items(self, i: int, if_none: int = 0) -> int:
        """Return how many scored items are behind the scores of label `i`; `if_none` where it is never predicted."""
        return scored_items(sum(self.confusion[i]), sum(row[i] for row in self.confusion), if_none)


def score_labels(
    predictions: Sequence[str], golds: Sequence[str], labels: Sequence[str], skipped: int = 0
) -> LabelScores:
    """Compare predictions with golds of the same length; golds are `labels`, any other prediction is wrong.

    >>> scores = score_labels(["yes", "no", "no"], ["yes", "yes", "no"], labels=["yes", "no"])
    >>> round(scores.accuracy, 3), scores.confusion
    (0.667, [[1, 1, 0], [0, 1, 0]])
    """
    code = dict(zip(labels, range(len(labels)), strict=True))
    confusion = [[0] * (len(labels) + 1) for _ in labels]
    for (gold, predicted), count in Counter(zip(golds, predictions, strict=True)).items():
        confusion[code[gold]][code.get(predicted, len(labels))] += count
    correct, precision, recall = 0, [], []
    for i, row in enumerate(confusion):
        correct += row[i]
        precision.append(share(row[i], sum(other[i] for other in confusion)))
        recall.append(share(row[i], sum(row)))
    f1 = f1_scores(predictions, golds, labels)
    return LabelScores(
        labels=labels,
        f1=f1,
        macro_precision=fsum(precision) / len(labels),
        macro_recall=fsum(recall) / len(labels),
        macro_f1=fsum(f1) / len(labels),
        accuracy=share(correct, len(golds)),
        rows=len(golds),
        skipped=skipped,
        confusion=confusion,
    )


def f1_scores(predictions: Sequence[Hashable], golds: Sequence[Hashable], labels: Sequence[Hashable]) -> list[float]:
    """F1 of each label: twice what is right over what is predicted and what is gold, 0/0 = 0.

    >>> f1_scores(["yes", "no", "no", "no"], ["yes", "yes", "no", "no"], labels=["yes", "no"])
    [0.6666666666666666, 0.8]
    """
    correct: Counter[Hashable] = Counter()
    for gold, predicted in zip(golds, predictions, strict=True):
        correct[gold] += gold == predicted
    given = Counter(golds) + Counter(predictions)
    return [share(2 * correct[label], given[label]) for label in labels]


def label_terms(predictions: Sequence[Hashable], golds: Sequence[Hashable | None], labels: Sequence[Hashable]) -> Array:
    """Return what each item adds to the scores of the labels, see `scoring_kit.metrics.summed`.

    Returns:
        Shape [items, 3 · labels], of zeros and ones: whether the item is a true positive of each label, whether it is
        predicted to be each, whether the gold says so. An item without gold (None) adds nothing.

    >>> label_terms(["no", "yes"], ["yes", "yes"], labels=["yes", "no"]).tolist()
    [[0.0, 0.0, 0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]]
    """
    import numpy as np

    code: dict[Hashable | None, int] = {None: -1, **dict(zip(labels, range(len(labels)), strict=True))}
    gold_codes = np.array([code[gold] for gold in golds], dtype=np.int64)
    predicted_codes = np.array([code.get(predicted, -1) for predicted in predictions], dtype=np.int64)
    gold = gold_codes[:, None] == np.arange(len(labels))
    predicted = (predicted_codes[:, None] == np.arange(len(labels))) & (gold_codes >= 0)[:, None]
    return np.hstack([gold & predicted, predicted, gold]).astype(np.float64)


def units_of_classes(sums: Array) -> list[int]:
    """In how many units each label is in the gold, from the units' summed `label_terms`.

    >>> units_of_classes(label_terms(["no", "yes"], ["yes", "yes"], labels=["yes", "no"]))
    [2, 0]
    """
    import numpy as np

    units: list[int] = np.count_nonzero(np.split(sums, 3, axis=1)[2], axis=0).tolist()
    return units


def label_metrics(prefix: str, scores: LabelScores, *, drawn: bool) -> dict[str, Metric]:
    """F1 of each label, named `<prefix>: <label>`; `drawn`: whether `label_figures` shows it, too.

    That of a label which is never predicted gives nothing away, so it is shown.

    >>> list(label_metrics("f1", score_labels(["yes"], ["yes"], labels=["yes", "no"]), drawn=False))
    ['f1: yes', 'f1: no']
    """
    metrics = {}
    for i, label in enumerate(scores.labels):
        items = scores.items(i, if_none=scores.rows)
        metrics[f"{prefix}: {label}"] = Metric(scores.f1[i], scores.rows, items, drawn=drawn)
    return metrics


def label_figures(title: str, scores: LabelScores) -> list[Figure]:
    """Return the F1 of each label as bars, and the confusion matrix.

    >>> [figure.title for figure in label_figures("Mood", score_labels(["yes"], ["yes"], labels=["yes", "no"]))]
    ['Mood: F1 of each label', 'Mood: gold against predicted labels']
    """
    bars = [Bar(label, scores.f1[i], scores.items(i)) for i, label in enumerate(scores.labels)]
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
