"""Counts of each label, kept sparse: a key has few of many labels, and no two submissions need the same labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack, vstack

from scoring_kit.metrics import summed
from scoring_kit.units import Array

PARTS = {"f1": summed.f1, "precision": summed.precision, "recall": summed.recall}
TERMS = 3
"""True positives, predicted and gold."""


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """A metric of the counts of each label.

    Attributes:
        labels: their names.
        sums: true positives of each label, then predicted, then gold, a sparse matrix [units, 3 · labels].
        formula: the metric of summed counts, shape [..., 3 · labels] → [...]; labels that do not occur change nothing,
            but for declared ones, which come first.
    """

    labels: Sequence[str]
    sums: Any
    formula: Callable[[Array], Array]

    def over(self, counts: Array) -> Array:
        return self.formula(counts @ self.sums)

    def joined(self, other: "LabelCounts") -> "LabelCounts":
        labels = list(dict.fromkeys([*self.labels, *other.labels]))
        sums = [_placed(one, {label: place for place, label in enumerate(labels)}) for one in (self, other)]
        return LabelCounts(labels, csr_matrix(vstack(sums)), self.formula)


def label_terms(true: Any, predicted: Any, gold: Any) -> Any:
    """The terms of each key, from sparse matrices [keys, labels]."""
    return csr_matrix(hstack([true, predicted, gold]))


def averaged(sums: Array, part: str, average: str, nothing: float, labels: str = "present", declared: int = 0) -> Array:
    """F1, precision or recall, averaged over labels as scikit-learn does it with `zero_division=0`.

    Args:
        sums: counts of each label, see `scoring_kit.metrics.summed`.
        part: f1, precision or recall.
        average: macro, micro or weighted.
        nothing: what counts where no label is averaged over.
        labels: over which labels: present (gold or predicted), gold, or declared.
        declared: how many of the labels, the first ones, are declared.
    """
    true, predicted, gold = summed.by_label(sums)
    counted = np.broadcast_to(np.arange(gold.shape[-1]) < declared, gold.shape) if labels == "declared" else gold > 0
    if labels == "present":
        counted = counted | (predicted > 0)
    if average == "micro":
        return PARTS[part](np.stack([np.where(counted, one, 0.0).sum(-1) for one in (true, predicted, gold)], axis=-1))
    values = PARTS[part](np.stack([true, predicted, gold], axis=-1))
    if average == "macro":
        mean = summed.mean_where(values, counted)
        return np.where(np.isnan(mean), nothing, mean)
    weighted = summed.quotient((values * gold * counted).sum(-1), (gold * counted).sum(-1))
    return np.where(counted.any(axis=-1), weighted, nothing)


def _placed(one: LabelCounts, places: dict[str, int]) -> Any:
    """The sums with each label's terms at its place among more labels."""
    columns = np.array(
        [term * len(places) + places[label] for term in range(TERMS) for label in one.labels], dtype=np.intp
    )
    sums = one.sums.tocoo()
    shape = (sums.shape[0], TERMS * len(places))
    return csr_matrix((sums.data, (sums.row, columns[sums.col])), shape=shape)
