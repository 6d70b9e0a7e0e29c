"""Metrics of the probability of a label; gold is a label, and 1 where it is the positive one. All as scikit-learn's."""

import math

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys, Ordered, by_value, ranks
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def roc_auc(sample: Sample, options: Options, keys: Keys) -> Ordered:
    """Area under the ROC curve; undefined where all gold labels are alike."""
    return keys.ordered(_roc_auc, *_sides(sample, options))


def average_precision(sample: Sample, options: Options, keys: Keys) -> Ordered:
    """Average precision; undefined without a positive gold label."""
    return keys.ordered(_average_precision, *_sides(sample, options))


def log_loss(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Log loss; probabilities of 0 and 1 are moved inwards by the machine's precision."""
    outcome, predicted = _sides(sample, options)
    smallest = float(np.finfo(np.float64).eps)
    of_outcome = np.where(outcome > 0, predicted, 1 - predicted)
    return keys.mean(-np.log(np.clip(of_outcome, smallest, 1 - smallest)))


def brier(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Brier score of a binary outcome, in [0, 1]."""
    outcome, predicted = _sides(sample, options)
    return keys.mean((outcome - predicted) ** 2)


def _sides(sample: Sample, options: Options) -> tuple[Array, Array]:
    """1 where the gold is the positive label, and the predicted probabilities."""
    outcome = [float(label == options["positive"]) for label in sample.gold]
    return np.asarray(outcome), np.asarray(sample.predicted, dtype=np.float64)


def _roc_auc(values: Array, counts: Array) -> Array:
    """From the sum of the ranks of the positive keys (Mann and Whitney 1947)."""
    outcome, predicted = values.T
    totals, _ = by_value(predicted, counts)
    found, _ = by_value(predicted, counts * outcome)
    positive = found.sum(axis=1)
    above = (found * ranks(totals)).sum(axis=1) - positive * (positive + 1) / 2
    return summed.quotient(above, positive * (totals.sum(axis=1) - positive), undefined=math.nan)


def _average_precision(values: Array, counts: Array) -> Array:
    """Σ (step of the recall · precision) over the thresholds, from the highest on."""
    outcome, predicted = values.T
    taken, _ = by_value(-predicted, counts)
    found, _ = by_value(-predicted, counts * outcome)
    precision = summed.quotient(np.cumsum(found, axis=1), np.cumsum(taken, axis=1))
    return summed.quotient((found * precision).sum(axis=1), found.sum(axis=1), undefined=math.nan)
