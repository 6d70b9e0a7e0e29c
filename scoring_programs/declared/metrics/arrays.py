"""Overlap of the labels of arrays: each key is read, counted and forgotten before the next."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declared.arrays import read_array
from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def _overlap(weight: int, sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return the mean over labels of `weight` · shared / (gold + answer - (2 - weight) · shared); 1 where neither is.

    The labels are those that are named, or all values but 0, or 1.
    """
    (field,) = sample.fields
    labels = [float(label) for label in options["labels"] or field.values or ("1",)]
    if not options["labels"]:
        labels = [label for label in labels if label]
    counts = np.array([_counts(*pair, labels) for pair in zip(sample.gold, sample.predicted, strict=True)])
    shared, both = np.moveaxis(counts.reshape(-1, 2, len(labels)), 1, 0)
    terms = [weight * shared, both - (2 - weight) * shared]
    if options["average"] == "pooled":
        return keys.additive(partial(_of_sums, labels=len(labels)), *terms[0].T, *terms[1].T)
    of_keys = _of_sums(np.hstack(terms), len(labels))
    is_missing = [answer is None for answer in sample.predicted]
    return keys.mean(np.where(is_missing, sample.worst, of_keys))


dice = partial(_overlap, 2)
iou = partial(_overlap, 1)


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


def _of_sums(sums: Array, labels: int) -> Array:
    """Return the mean over labels of the quotients of sums, shape [..., 2 · labels]; 0/0 = 1."""
    quotients: Array = summed.quotient(sums[..., :labels], sums[..., labels:], undefined=1.0)
    means: Array = quotients.mean(axis=-1)
    return means
