"""SeeDev-binary: type and two arguments must be the same."""

from collections.abc import Mapping
from typing import Any

from scoring_kit.results import TaskResult
from seedev2016.evaluation import COUNTS, evaluate
from seedev2016.reference import SeeDevReference
from seedev2016.submission import SeeDevSubmission

MEASURES = ("f1", "recall", "precision")
METRICS = (*(f"binary_{name}" for name in MEASURES), *COUNTS)


def score(reference: SeeDevReference, submission: SeeDevSubmission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall and precision, overall and by event type."""
    return evaluate("binary", MEASURES, reference.gold["binary"], submission.events["binary"])
