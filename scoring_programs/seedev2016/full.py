"""SeeDev-full: type and mandatory arguments must be the same; negation and optional arguments may differ in part."""

from collections.abc import Mapping
from typing import Any

from scoring_kit.results import TaskResult
from seedev2016.evaluation import evaluate
from seedev2016.reference import Reference
from seedev2016.submission import Submission


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall, precision and slot error rate, overall and by event type."""
    return evaluate("full", ("f1", "recall", "precision", "ser"), reference.events["full"], submission.events["full"])
