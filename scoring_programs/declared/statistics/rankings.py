"""Rankings: means over queries."""

from collections.abc import Mapping
from typing import Any

from declared.metrics import Sample
from declared.metrics.rankings import by_query
from declared.statistics import Keys
from scoring_kit.units import Additive

Options = Mapping[str, Any]


def ndcg(sample: Sample, options: Options, keys: Keys) -> Additive:
    """NDCG."""
    return keys.mean(by_query("nDCG", sample, options["cutoff"]))


def ap(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Average precision."""
    return keys.mean(by_query("AP", sample, options["cutoff"]))


def rr(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Reciprocal rank."""
    return keys.mean(by_query("RR", sample, options["cutoff"]))


def precision_at(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Precision at the cutoff."""
    return keys.mean(by_query("P", sample, options["cutoff"]))


def recall_at(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Recall at the cutoff."""
    return keys.mean(by_query("R", sample, options["cutoff"]))
