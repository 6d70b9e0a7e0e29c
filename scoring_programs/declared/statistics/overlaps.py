"""ROUGE and token F1: means over keys."""

from collections.abc import Mapping
from typing import Any

from declared.metrics import Sample
from declared.metrics.overlaps import rouge_values, token_f1_values
from declared.statistics import Keys
from scoring_kit.units import Additive


def rouge(sample: Sample, options: Mapping[str, Any], keys: Keys) -> Additive:
    """ROUGE F-measure."""
    return keys.mean(rouge_values(sample, options))


def token_f1(sample: Sample, options: Mapping[str, Any], keys: Keys) -> Additive:
    """F1 of tokens."""
    return keys.mean(token_f1_values(sample, options))
