"""BERTScore: a mean over keys."""

from collections.abc import Mapping
from typing import Any

from declared.metrics import Sample
from declared.metrics.embeddings import bertscore_values
from declared.statistics import Keys
from scoring_kit.units import Additive


def bertscore(sample: Sample, options: Mapping[str, Any], keys: Keys) -> Additive:
    """BERTScore's F1, precision or recall."""
    return keys.mean(bertscore_values(sample, options))
