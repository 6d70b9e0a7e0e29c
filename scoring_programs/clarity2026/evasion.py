"""Task 2: any-match macro F1 over the nine evasion labels (strict without annotators), majority, accuracy."""

from collections.abc import Mapping
from typing import Any

from clarity2026.clarity import compute_evasion_f1_strict, evasion_golds, evasion_units
from clarity2026.reference import ClarityReference
from clarity2026.submission import ClaritySubmission
from scoring_kit.metrics.classification import label_figures, label_metrics
from scoring_kit.results import Metric, TaskResult

METRICS = (
    *("evasion_macro_f1", "evasion_majority_macro_f1", "evasion_accuracy"),
    *("evasion_rows_scored", "evasion_rows_skipped"),
)


def score(reference: ClarityReference, submission: ClaritySubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the evasion labels of a submission that enters the task."""
    predictions = submission.predictions["evasion"]
    golds, majority_golds = evasion_golds(reference, predictions)
    scores = compute_evasion_f1_strict(predictions, golds)
    majority = compute_evasion_f1_strict(predictions, majority_golds)
    return TaskResult(
        metrics={
            "evasion_macro_f1": Metric(scores.macro_f1, scores.rows),
            "evasion_majority_macro_f1": Metric(majority.macro_f1, majority.rows),
            "evasion_accuracy": Metric(scores.accuracy, scores.rows),
            "evasion_rows_scored": Metric(scores.rows, scores.rows + scores.skipped),
            "evasion_rows_skipped": Metric(scores.skipped, scores.rows + scores.skipped),
            **label_metrics("evasion_f1", scores, drawn=True),
            **label_metrics("evasion_majority_f1", majority, drawn=False),
        },
        settings={
            "evasion.gold": "any-match" if reference.annotated else "strict",
            "evasion.labels": str(len(scores.labels)),
        },
        figures=label_figures("Evasion", scores),
        units=lambda: evasion_units(reference, predictions),
    )
