"""Sets and exact matches: counts of shared, predicted and gold elements, or means over keys."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from declared.metrics import Sample
from declared.metrics.sets import matches, set_counts
from declared.statistics import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive

Options = Mapping[str, Any]


def set_f1(sample: Sample, options: Options, keys: Keys) -> Additive:
    """F1 of distinct elements."""
    return _averaged(summed.f1, sample, options, keys)


def set_precision(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Precision of distinct elements."""
    return _averaged(summed.precision, sample, options, keys)


def set_recall(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Recall of distinct elements."""
    return _averaged(summed.recall, sample, options, keys)


def exact_match(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Share of the keys whose answer equals the gold."""
    return keys.mean(matches(sample))


def _averaged(formula: Any, sample: Sample, options: Options, keys: Keys) -> Additive:
    counts = np.array(list(set_counts(sample, options["match"])), dtype=np.float64)
    if options["average"] == "micro":
        return keys.additive(formula, *counts.T)
    return keys.mean(np.where(counts.any(axis=1), formula(counts), 1.0))
