"""What both tasks of CLARITY report beside their scores."""

from clarity2026.evaluation import LabelScores
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, Figure, Metric


def label_metrics(prefix: str, scores: LabelScores) -> dict[str, Metric]:
    """F1 of each label, named `<prefix>: <label>`."""
    return {
        f"{prefix}: {label}": Metric(scores.f1[label], scores.rows, _items(scores, i))
        for i, label in enumerate(scores.labels)
    }


def row_counts(task: str, scores: LabelScores) -> dict[str, Metric]:
    """How many rows were scored, and how many were left out."""
    rows = scores.rows + scores.skipped
    return {
        f"{task}_rows_scored": Metric(scores.rows, rows),
        f"{task}_rows_skipped": Metric(scores.skipped, rows),
    }


def label_figures(title: str, scores: LabelScores) -> list[Figure]:
    """The F1 of each label as bars, and the confusion matrix; predictions that are no label have a column."""
    bars = [Bar(label, scores.f1[label], _behind(scores, i)) for i, label in enumerate(scores.labels)]
    predicted = [*scores.labels, "(no label)"]
    return [
        BarChart(f"{title}: F1 of each label", bars, "higher", top=1.0),
        ConfusionMatrix(f"{title}: gold against predicted labels", scores.labels, predicted, scores.confusion),
    ]


def _behind(scores: LabelScores, i: int) -> int:
    """How many items an F1 gives away: with a label predicted, or gold, for one item alone it is that item's gold."""
    gold = sum(scores.confusion[i])
    predicted = sum(row[i] for row in scores.confusion)
    return min(gold, predicted)


def _items(scores: LabelScores, i: int) -> int:
    """As `_behind`; but a label that is never predicted has F1 0 whatever the gold is, which tells nothing."""
    return _behind(scores, i) if any(row[i] for row in scores.confusion) else scores.rows
