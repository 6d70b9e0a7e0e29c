"""SeeDev-full: type and mandatory arguments must be the same; negation and optional arguments may differ in part."""

from collections.abc import Mapping
from typing import Any

from scoring_kit.results import TaskResult
from seedev2016.evaluation import COUNTS, evaluate
from seedev2016.reference import SeeDevReference
from seedev2016.submission import SeeDevSubmission

MEASURES = ("f1", "recall", "precision", "ser")
METRICS = (*(f"full_{name}" for name in MEASURES), *COUNTS)


def score(reference: SeeDevReference, submission: SeeDevSubmission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall, precision and slot error rate, overall and by event type."""
    return evaluate("full", MEASURES, reference.gold["full"], submission.events["full"])
