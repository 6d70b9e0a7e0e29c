"""Macro F1 and accuracy."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scoring_kit.metrics.classification import score_labels
from scoring_kit.results import ConfusionMatrix, Metric, TaskResult

from {{ cookiecutter.package }}.reference import LABELS, Reference
from {{ cookiecutter.package }}.submission import Submission

METRICS = ("macro_f1", "accuracy")  # what a column of bundle.yaml may show


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """Score the predicted labels; macro F1 is the mean over the labels of the gold data, 0/0 counts as 0."""
    ids = sorted(reference.labels)
    gold = [reference.labels[text_id] for text_id in ids]
    predicted = [submission.labels[text_id] for text_id in ids]
    scores = score_labels(predicted, gold, sorted(set(gold)))
    counts = Counter(zip(gold, predicted, strict=True))
    matrix = [[counts[row, column] for column in LABELS] for row in LABELS]
    return TaskResult(
        metrics={
            "macro_f1": Metric(scores.macro_f1, rows=len(ids)),
            "accuracy": Metric(scores.accuracy, rows=len(ids)),
        },
        figures=[ConfusionMatrix("Gold and predicted labels", LABELS, LABELS, matrix)],
    )
