"""SeeDev-binary: type and two arguments must be the same."""

from collections.abc import Mapping
from typing import Any

from scoring_kit.results import TaskResult
from seedev2016.evaluation import evaluate
from seedev2016.reference import Reference
from seedev2016.submission import Submission


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall and precision, overall and by event type."""
    return evaluate("binary", ("f1", "recall", "precision"), reference.events["binary"], submission.events["binary"])
