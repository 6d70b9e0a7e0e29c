"""Task 1: macro F1 over the three clarity labels."""

from collections.abc import Mapping
from typing import Any

from clarity2026.evaluation import clarity_units, evaluate_all
from clarity2026.reference import ClarityReference
from clarity2026.submission import ClaritySubmission
from scoring_kit.metrics.classification import label_figures, label_metrics
from scoring_kit.results import Metric, TaskResult

METRICS = ("clarity_macro_f1", "clarity_accuracy", "clarity_rows_scored", "clarity_rows_skipped")


def score(reference: ClarityReference, submission: ClaritySubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the clarity labels of a submission that enters the task."""
    predictions = submission.predictions["clarity"]
    scores = evaluate_all(reference, clarity=predictions)["clarity"]
    return TaskResult(
        metrics={
            "clarity_macro_f1": Metric(scores.macro_f1, scores.rows),
            "clarity_accuracy": Metric(scores.accuracy, scores.rows),
            "clarity_rows_scored": Metric(scores.rows, scores.rows + scores.skipped),
            "clarity_rows_skipped": Metric(scores.skipped, scores.rows + scores.skipped),
            **label_metrics("clarity_f1", scores, drawn=True),
        },
        settings={"clarity.labels": str(len(scores.labels))},
        figures=label_figures("Clarity", scores),
        units=lambda: clarity_units(reference, predictions),
    )
