"""Distances and common subsequences of two texts, character by character or word by word, by rapidfuzz."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array

Pieces = Sequence[str]


def edit_distance(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Levenshtein distance: the mean over keys, or the number of edits over all of them (micro)."""
    from rapidfuzz.distance import Levenshtein

    distances = _of_pairs(Levenshtein.distance, sample, options)[0]
    return keys.additive(summed.count, distances) if options["average"] == "micro" else keys.mean(distances)


def _lcs(formula: Callable[[Array], Array], sample: Sample, options: Options, keys: Keys) -> Additive:
    """Of the lengths of the longest common subsequence, of the answer and of the gold; two empty texts are equal."""
    from rapidfuzz.distance import LCSseq

    counts = _of_pairs(LCSseq.similarity, sample, options)
    if options["average"] == "micro":
        return keys.additive(partial(_or_equal, formula=formula), *counts)
    return keys.mean(_or_equal(counts.T, formula))


lcs_f1 = partial(_lcs, summed.f1)
lcs_precision = partial(_lcs, summed.precision)
lcs_recall = partial(_lcs, summed.recall)


def _or_equal(counts: Array, formula: Callable[[Array], Array]) -> Array:
    """The formula; 1 where there is nothing at all."""
    return np.where(counts.any(axis=-1), formula(counts), 1.0)


def _of_pairs(measure: Callable[[Pieces, Pieces], int], sample: Sample, options: Options) -> Array:
    """A measure of each key's answer and gold, and their lengths, shape [3, keys]."""
    cut = _pieces(options["unit"])
    rows = []
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        truth, answer = cut(gold), cut(predicted)
        rows.append((measure(answer, truth), len(answer), len(truth)))
    return np.array(rows, dtype=np.float64).T


def _pieces(unit: object) -> Callable[[str], Pieces]:
    """What cuts a text: into characters, words, or what a separator parts; an empty text has no piece."""
    if unit == "character":
        return str
    if unit == "word":
        return str.split
    separator = unit["separator"]  # type: ignore[index]
    return lambda text: text.split(separator) if text else []
