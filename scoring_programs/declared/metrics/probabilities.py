"""Metrics of how probable labels are: of one label, whose number each key has, or of every label.

The gold is a label. With a number for each key it is 1 where it is the positive one; of probabilities each key has a
tuple, in the order of the field's `values`. All as scikit-learn's, but for ECE and c@1.
"""

import math
from typing import Any

import numpy as np

from declared.metrics import Options, Sample, positive_of
from declared.metrics.keys import ItemFormula, Keys, Ordered, by_value, ranks
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def roc_auc(sample: Sample, options: Options, keys: Keys) -> Ordered:
    """Area under the ROC curve; undefined where all gold labels are alike."""
    return _ordered(_roc_auc, sample, options, keys)


def average_precision(sample: Sample, options: Options, keys: Keys) -> Ordered:
    """Average precision; undefined without a positive gold label."""
    return _ordered(_average_precision, sample, options, keys)


def log_loss(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Log loss; probabilities of 0 and 1 are moved inwards by the machine's precision."""
    if _is_of_labels(sample):
        gold, predicted = _of_labels(sample)
        of_outcome = predicted[np.arange(len(gold)), gold]
    else:
        outcome, predicted = _sides(sample, options)
        of_outcome = np.where(outcome > 0, predicted, 1 - predicted)
    smallest = float(np.finfo(np.float64).eps)
    return keys.mean(-np.log(np.clip(of_outcome, smallest, 1 - smallest)))


def brier(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Brier score: of one label in [0, 1], of all in [0, 2]."""
    if _is_of_labels(sample):
        gold, predicted = _of_labels(sample)
        return keys.mean(((predicted - np.eye(predicted.shape[1])[gold]) ** 2).sum(axis=1))
    outcome, predicted = _sides(sample, options)
    return keys.mean((outcome - predicted) ** 2)


def top_k_accuracy(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Share of keys whose gold label is among the k most probable.

    As in scikit-learn, of equal ones the last, but of two labels the first.
    """
    gold, predicted = _of_labels(sample)
    labels = predicted.shape[1]
    order = np.argsort(predicted, axis=1, kind="stable")[:, ::-1]
    if labels == 2:
        order = np.argsort(-predicted, axis=1, kind="stable")
    return keys.mean((order[:, : options["k"]] == gold[:, np.newaxis]).any(axis=1))


def ece(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Expected calibration error. Source: Guo et al., ICML 2017, with bins that hold their upper end."""
    gold, predicted = _of_labels(sample)
    top = predicted.max(axis=1)
    right = predicted.argmax(axis=1) == gold
    # a share that rounding moved past the end of its bin is in the bin all the same
    place = np.ceil(np.round(top * options["bins"], 9)).astype(np.intp) - 1
    place = np.clip(place, 0, options["bins"] - 1)
    of_bins = np.where(place == np.arange(options["bins"])[:, np.newaxis], right - top, 0.0)
    return keys.additive(_ece, *of_bins, np.ones(len(top)))


def c_at_1(sample: Sample, options: Options, keys: Keys) -> Additive:
    """c@1; exactly the threshold is no answer. Source: Peñas and Rodrigo, ACL 2011."""
    outcome, predicted = _sides(sample, options)
    unanswered = predicted == options["threshold"]
    right = ((predicted > options["threshold"]) == (outcome > 0)) & ~unanswered
    return keys.additive(_c_at_1, right, unanswered, np.ones(len(outcome)))


def _is_of_labels(sample: Sample) -> bool:
    return [field.type for field in sample.fields] == ["probabilities"]


def _sides(sample: Sample, options: Options) -> tuple[Array, Array]:
    """1 where the gold is the positive label, and the predicted numbers."""
    positive = positive_of(options, sample.gold)
    outcome = np.array(sample.gold, dtype=object) == positive
    return outcome.astype(np.float64), np.asarray(sample.predicted, dtype=np.float64)


def _of_labels(sample: Sample) -> tuple[Any, Array]:
    """The places of the gold labels, and every label's probability, shape [keys, labels]."""
    place = sample.fields[0].values or {}
    gold = np.array([place[label] for label in sample.gold], dtype=np.intp)
    return gold, np.array(sample.predicted, dtype=np.float64).reshape(len(gold), len(place))


def _ordered(formula: ItemFormula, sample: Sample, options: Options, keys: Keys) -> Ordered:
    """A metric of the order of the numbers; of probabilities each label's against the rest."""
    if not _is_of_labels(sample):
        return keys.ordered(formula, *_sides(sample, options))
    gold, predicted = _of_labels(sample)

    def one_against_rest(values: Array, counts: Array) -> Array:
        """The mean over labels, or by how much each counts; one that the keys drawn leave undefined is left out."""
        gold, predicted = values[:, 0], values[:, 1:]
        of_labels, sizes = [], []
        for label, column in enumerate(predicted.T):
            is_gold = (gold == label).astype(np.float64)
            of_labels.append(formula(np.column_stack([is_gold, column]), counts))
            sizes.append((counts * is_gold).sum(axis=1))
        found, weights = np.stack(of_labels, axis=1), np.stack(sizes, axis=1)
        if options["average"] == "macro":
            return summed.mean_where(found, ~np.isnan(found))
        # a label that is undefined weighs nothing; NaN times 0 would be NaN
        weights = np.where(np.isnan(found), 0.0, weights)
        return summed.quotient((np.nan_to_num(found) * weights).sum(axis=1), weights.sum(axis=1), undefined=math.nan)

    return keys.ordered(one_against_rest, gold, *predicted.T)


def _roc_auc(values: Array, counts: Array) -> Array:
    """From the sum of the ranks of the positive keys (Mann and Whitney 1947)."""
    outcome, predicted = values.T
    totals, _ = by_value(predicted, counts)
    found, _ = by_value(predicted, counts * outcome)
    positive = found.sum(axis=1)
    # how many others lie below each positive key: its rank, less those of the positive ones up to itself
    above = (found * ranks(totals)).sum(axis=1) - positive * (positive + 1) / 2
    return summed.quotient(above, positive * (totals.sum(axis=1) - positive), undefined=math.nan)


def _average_precision(values: Array, counts: Array) -> Array:
    """Σ (step of the recall · precision) over the thresholds, from the highest on."""
    outcome, predicted = values.T
    taken, _ = by_value(-predicted, counts)
    found, _ = by_value(-predicted, counts * outcome)
    precision = summed.quotient(np.cumsum(found, axis=1), np.cumsum(taken, axis=1))
    return summed.quotient((found * precision).sum(axis=1), found.sum(axis=1), undefined=math.nan)


def _ece(sums: Array) -> Array:
    """The bins' differences, all keys together."""
    return summed.quotient(np.abs(sums[..., :-1]).sum(-1), sums[..., -1], undefined=math.nan)


def _c_at_1(sums: Array) -> Array:
    """(right + unanswered · right / n) / n."""
    right, unanswered, number = np.moveaxis(sums, -1, 0)
    share = summed.quotient(right, number, undefined=math.nan)
    return share + share * summed.quotient(unanswered, number)
