"""Metrics of clusters, as scikit-learn's: names do not matter, only which keys share one."""

from __future__ import annotations

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.units import Array, Items


def ari(sample: Sample, options: Options, keys: Keys) -> Items:
    """Adjusted Rand index. Source: Hubert and Arabie, Journal of Classification 2, 1985."""
    return keys.items(_ari, *_clusters(sample))


def nmi(sample: Sample, options: Options, keys: Keys) -> Items:
    """Mutual information over the mean of the entropies; 1 where both sides are a single cluster."""
    return keys.items(_nmi, *_clusters(sample))


v_measure = nmi  # Source: Rosenberg and Hirschberg, EMNLP 2007; with equal weights the same figure


def _clusters(sample: Sample) -> list[Array]:
    """The numbers of the clusters of gold and answers."""
    numbers = [np.unique(list(side), return_inverse=True)[1] for side in (sample.gold, sample.predicted)]
    return [side.astype(np.float64) for side in numbers]


def _ari(values: Array, counts: Array) -> Array:
    return np.array([_ari_of(_contingency(values, row)) for row in counts])


def _nmi(values: Array, counts: Array) -> Array:
    return np.array([_nmi_of(_contingency(values, row)) for row in counts])


def _contingency(values: Array, counts: Array) -> tuple[Array, Array, Array]:
    """How many keys each pair of clusters shares, of the pairs that share any, and how many each cluster has."""
    gold, predicted = values.astype(np.intp).T
    width = int(predicted.max()) + 1
    _, pair = np.unique(gold * width + predicted, return_inverse=True)
    of_pairs, of_gold, of_answer = (np.bincount(cluster, counts) for cluster in (pair, gold, predicted))
    return of_pairs.astype(np.float64), of_gold.astype(np.float64), of_answer.astype(np.float64)


def _ari_of(sizes: tuple[Array, Array, Array]) -> float:
    """From pairs of keys that are together in both, in the gold alone, in the answer alone, and in neither."""
    in_both, in_gold, in_answer = ((of_clusters**2).sum() for of_clusters in sizes)
    number = sizes[0].sum()
    together, gold_alone, answer_alone = in_both - number, in_gold - in_both, in_answer - in_both
    apart = number**2 - in_gold - in_answer + in_both
    if gold_alone == 0 and answer_alone == 0:
        return 1.0
    by_chance = (together + gold_alone) * (gold_alone + apart) + (together + answer_alone) * (answer_alone + apart)
    return float(2 * (together * apart - gold_alone * answer_alone) / by_chance)


def _nmi_of(sizes: tuple[Array, Array, Array]) -> float:
    of_pairs, of_gold, of_answer = map(_entropy, sizes)
    if of_gold == 0 and of_answer == 0:
        return 1.0
    shared = of_gold + of_answer - of_pairs
    return max(0.0, 2 * shared / (of_gold + of_answer)) if shared > np.finfo(np.float64).eps else 0.0


def _entropy(sizes: Array) -> float:
    shares = sizes[sizes > 0] / sizes.sum()
    return float(-(shares * np.log(shares)).sum())
