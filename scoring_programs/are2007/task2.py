"""Task 2: sort the given entities into chains; MUC scores."""

from collections.abc import Mapping
from typing import Any

from are2007.muc import muc, muc_metrics, muc_result
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from scoring_kit.results import TaskResult

METRICS = muc_metrics("task2")


def score(reference: AreReference, submission: AreSubmission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall and precision of MUC, links summed over all texts."""
    responses = submission.chains["task2"]
    texts = {text: muc(key.chains, responses[text]) for text, key in reference.keys["task2"].items()}
    return muc_result("task2", texts)
