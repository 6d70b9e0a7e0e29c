"""Metrics of clusters, as scikit-learn's: names do not matter, only which keys share one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import ItemFormula, Keys
from scoring_kit.units import Array, Items

Sizes: TypeAlias = tuple[Any, Any, Any]
"""Of the pairs of clusters that share a key, of the gold's clusters and of the answer's."""


def ari(sample: Sample, options: Options, keys: Keys) -> Items:
    """Adjusted Rand index. Source: Hubert and Arabie, Journal of Classification 2, 1985."""
    return keys.items(_of_each(_ari), *_clusters(sample))


def nmi(sample: Sample, options: Options, keys: Keys) -> Items:
    """Mutual information over the mean of the entropies; 1 where both sides are a single cluster."""
    return keys.items(_of_each(_nmi), *_clusters(sample))


v_measure = nmi  # Source: Rosenberg and Hirschberg, EMNLP 2007; with equal weights the same figure


def _clusters(sample: Sample) -> tuple[Any, Any]:
    """The numbers of the clusters of gold and answers."""
    _, gold = np.unique(list(sample.gold), return_inverse=True)
    _, predicted = np.unique(list(sample.predicted), return_inverse=True)
    return gold, predicted


def _of_each(score: Callable[[Sizes], float]) -> ItemFormula:
    """The score of each resample."""

    def of_resamples(values: Array, counts: Array) -> Array:
        return np.array([score(_contingency(values, row)) for row in counts])

    return of_resamples


def _contingency(values: Array, counts: Array) -> Sizes:
    """How many keys each pair of clusters shares, of the pairs that share any, and how many each cluster has."""
    gold, predicted = values.astype(np.intp).T
    width = int(predicted.max()) + 1
    _, pair = np.unique(gold * width + predicted, return_inverse=True)
    return np.bincount(pair, counts), np.bincount(gold, counts), np.bincount(predicted, counts)


def _ari(sizes: Sizes) -> float:
    """From pairs of keys that are together in both, in the gold alone, in the answer alone, and in neither."""
    of_pairs, of_gold, of_answer = sizes
    in_both, in_gold, in_answer = (of_pairs**2).sum(), (of_gold**2).sum(), (of_answer**2).sum()
    number = of_pairs.sum()
    together, gold_alone, answer_alone = in_both - number, in_gold - in_both, in_answer - in_both
    apart = number**2 - in_gold - in_answer + in_both
    if gold_alone == 0 and answer_alone == 0:
        return 1.0
    by_chance = (together + gold_alone) * (gold_alone + apart) + (together + answer_alone) * (answer_alone + apart)
    return float(2 * (together * apart - gold_alone * answer_alone) / by_chance)


def _nmi(sizes: Sizes) -> float:
    pairs, gold, answer = sizes
    of_gold, of_answer = _entropy(gold), _entropy(answer)
    if of_gold == 0 and of_answer == 0:
        return 1.0
    shared = of_gold + of_answer - _entropy(pairs)
    if shared <= np.finfo(np.float64).eps:
        return 0.0
    return float(2 * shared / (of_gold + of_answer))


def _entropy(sizes: Array) -> float:
    shares = sizes[sizes > 0] / sizes.sum()
    return float(-(shares * np.log(shares)).sum())
