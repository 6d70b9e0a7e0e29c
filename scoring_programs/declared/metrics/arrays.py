"""Overlap of the labels of arrays: each key is read, counted and forgotten before the next."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from declared.arrays import read_array
from declared.metrics import Metric, Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def _overlap(weight: int) -> Metric:
    """Return the mean over labels of `weight` · shared / (gold + answer - (2 - weight) · shared); 1 where neither is.

    The labels are those that are named, or all values but 0, or 1.
    """

    def metric(sample: Sample, options: Options, keys: Keys) -> Additive:
        (field,) = sample.fields
        labels = []
        for label in options["labels"] or field.values or ("1",):
            if options["labels"] or float(label):
                labels.append(float(label))
        counts, is_missing = [], []
        for gold, answer in zip(sample.gold, sample.predicted, strict=True):
            counts.append(_counts(gold, answer, labels))
            is_missing.append(answer is None)
        shared, both = np.moveaxis(np.reshape(counts, (-1, 2, len(labels))), 1, 0)
        terms = np.hstack([weight * shared, both - (2 - weight) * shared])
        if options["average"] == "pooled":
            return keys.additive(_of_sums, *terms.T)
        return keys.mean(np.where(is_missing, sample.worst, _of_sums(terms)))

    return metric


dice = _overlap(2)
iou = _overlap(1)


def _counts(gold: Any, answer: Any, labels: list[float]) -> NDArray[Any]:
    """Return of each label at how many positions both have it, and how many gold has and answer has together."""
    if answer is None:
        return np.zeros((2, len(labels)))
    known = answer.counted.setdefault((gold.path, gold.member), {})
    if not known.keys() >= set(labels):
        truth, given = read_array(gold), read_array(answer)
        for label in labels:
            of_truth, of_given = truth == label, given == label
            both = int(np.count_nonzero(of_truth)) + int(np.count_nonzero(of_given))
            known[label] = int(np.count_nonzero(of_truth & of_given)), both
    return np.array([known[label] for label in labels]).T


def _of_sums(sums: Array) -> Array:
    """Return the mean over labels of the quotients of sums, shape [..., 2 · labels]; 0/0 = 1."""
    shared, covered = np.split(sums, 2, axis=-1)
    means: Array = summed.quotient(shared, covered, undefined=1.0).mean(axis=-1)
    return means
