"""BLEU, chrF and TER: sacrebleu's own counts of each segment, and its formulas over their sums."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.translations import bleu_metric, chrf_metric, segment_counts, ter_metric
from declared.statistics import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array

ORDERS = 4
"""N-grams of BLEU."""
BETA = 2
"""Of chrF: how much more the recall weighs."""


def _of_segments(
    formula: Callable[[Array], Array],
    library: Callable[[Options], Any],
    sample: Sample,
    options: Options,
    keys: Keys,
) -> Additive:
    return keys.additive(formula, *segment_counts(library(options), sample).T)


def _bleu(sums: Array) -> Array:
    """`BLEU.compute_bleu` of sacrebleu with its smoothing `exp`, of (length, gold length, matches, n-grams)."""
    length, gold_length = sums[..., 0], sums[..., 1]
    matches, there = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    unmatched = (matches == 0) & (there > 0)
    precisions = np.where(
        unmatched, summed.quotient(0.5 ** np.cumsum(unmatched, axis=-1), there), summed.quotient(matches, there)
    )
    with np.errstate(divide="ignore"):
        logs = np.log(precisions).mean(axis=-1)
    penalty = np.minimum(0.0, 1 - summed.quotient(gold_length, length))
    return np.where((length > 0) & matches.any(axis=-1), 100 * np.exp(logs + penalty), 0.0)


def _chrf(sums: Array) -> Array:
    """`CHRF._compute_f_score` of sacrebleu, of (n-grams, gold n-grams, matches) for each order."""
    there, gold, matches = (sums[..., i::3] for i in range(3))
    both = (there > 0) & (gold > 0)
    precision, recall = (
        np.nan_to_num(summed.mean_where(summed.quotient(matches, whole), both)) for whole in (there, gold)
    )
    return 100 * summed.quotient((1 + BETA**2) * precision * recall, BETA**2 * precision + recall)


def _ter(sums: Array) -> Array:
    """`TER._compute_score_from_stats` of sacrebleu, of (edits, gold length)."""
    edits, length = sums[..., 0], sums[..., 1]
    return 100 * np.where(length > 0, summed.quotient(edits, length), (edits > 0).astype(np.float64))


bleu = partial(_of_segments, _bleu, bleu_metric)
chrf = partial(_of_segments, _chrf, chrf_metric)
ter = partial(_of_segments, _ter, ter_metric)
