"""Overlap of the labels of arrays: each key is read, counted and forgotten before the next."""

from functools import partial
from typing import Any

import numpy as np

from declared.arrays import read_array
from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def dice(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return twice the shared positions of each label over those of gold and answer; both without any: 1."""
    return _overlap(sample, options, keys, weight=2)


def iou(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return the shared positions of each label over those that either has it at; both without any: 1."""
    return _overlap(sample, options, keys, weight=1)


def _overlap(sample: Sample, options: Options, keys: Keys, weight: int) -> Additive:
    """Return the mean over labels of `weight` · shared / (gold + answer - (2 - weight) · shared)."""
    labels = [float(label) for label in _labels(sample, options)]
    counts = np.array([_counts(*pair, labels) for pair in zip(sample.gold, sample.predicted, strict=True)])
    shared, both = np.moveaxis(counts.reshape(-1, 2, len(labels)), 1, 0)
    terms = [weight * shared, both - (2 - weight) * shared]
    if options["average"] == "pooled":
        return keys.additive(partial(_of_sums, labels=len(labels)), *terms[0].T, *terms[1].T)
    of_keys = _of_sums(np.hstack(terms), len(labels))
    is_missing = [answer is None for answer in sample.predicted]
    return keys.mean(np.where(is_missing, sample.worst, of_keys))


def _labels(sample: Sample, options: Options) -> list[str]:
    """Return the labels that count: those that are named, or all values but 0, or 1."""
    (field,) = sample.fields
    named: list[str] = options["labels"] or [value for value in field.values or ("1",) if float(value)]
    return named


def _counts(gold: Any, answer: Any, labels: list[float]) -> list[list[int]]:
    """Return of each label at how many positions both have it, and how many gold has and answer has together."""
    if answer is None:
        return [[0] * len(labels)] * 2
    known = answer.counted.setdefault((gold.path, gold.member), {})
    if not known.keys() >= set(labels):
        truth, given = read_array(gold), read_array(answer)
        for label in labels:
            of_truth, of_given = truth == label, given == label
            both = int(np.count_nonzero(of_truth)) + int(np.count_nonzero(of_given))
            known[label] = int(np.count_nonzero(of_truth & of_given)), both
    of_labels = [known[label] for label in labels]
    return [list(side) for side in zip(*of_labels, strict=True)]


def _of_sums(sums: Array, labels: int) -> Array:
    """Return the mean over labels of the quotients of sums, shape [..., 2 · labels]; 0/0 = 1."""
    quotients: Array = summed.quotient(sums[..., :labels], sums[..., labels:], undefined=1.0)
    means: Array = quotients.mean(axis=-1)
    return means
