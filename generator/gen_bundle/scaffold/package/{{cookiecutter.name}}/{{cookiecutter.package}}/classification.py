"""Macro F1 and accuracy."""

from collections.abc import Mapping
from typing import Any

from scoring_kit.results import ConfusionMatrix, Metric, TaskResult

from {{ cookiecutter.package }}.reference import LABELS, Reference
from {{ cookiecutter.package }}.submission import Submission

METRICS = ("macro_f1", "accuracy")  # what a column of bundle.yaml may show


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """Score the predicted labels; macro F1 is the mean over the labels of the gold data, 0/0 counts as 0."""
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    ids = sorted(reference.labels)
    gold = [reference.labels[text_id] for text_id in ids]
    predicted = [submission.labels[text_id] for text_id in ids]
    macro_f1 = f1_score(gold, predicted, labels=sorted(set(gold)), average="macro", zero_division=0)
    matrix = confusion_matrix(gold, predicted, labels=LABELS).tolist()
    return TaskResult(
        metrics={
            "macro_f1": Metric(float(macro_f1), rows=len(ids)),
            "accuracy": Metric(float(accuracy_score(gold, predicted)), rows=len(ids)),
        },
        libraries=["scikit-learn"],
        figures=[ConfusionMatrix("Gold and predicted labels", LABELS, LABELS, matrix)],
    )
