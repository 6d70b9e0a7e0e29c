"""Ranks in resamples, and how stable they are. Arrays of teams have the shape [teams, resamples]."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from scoring_kit.resampling.intervals import DIGITS, TAILS
from scoring_kit.units import Array

Ranks = NDArray[np.int64]


def rank_interval(ranks: Ranks) -> tuple[int, int]:
    """The 2.5th and 97.5th percentile of resampled ranks, each a rank that occurs."""
    low, high = np.percentile(ranks, TAILS, method="inverted_cdf")
    return int(low), int(high)


def ranks(values: Array, descending: bool) -> Ranks:
    """The rank of every team in each resample: one more than the number of better teams; equal ones share a rank."""
    goodness = np.round(values if descending else -values, DIGITS)
    return np.stack([1 + np.count_nonzero(goodness > own, axis=0) for own in goodness])


def mid_ranks(values: Array, descending: bool, competing: NDArray[np.bool_], first: int | None = None) -> Array:
    """Ranks in each resample among the competing teams and the team itself; ties share the mean of their places.

    Args:
        values: of the teams, [teams, resamples].
        descending: whether the highest is the best.
        competing: the teams that count for the ranks of others, [teams].
        first: of how many teams, the first ones, the ranks are wanted; of all without.
    """
    goodness = np.round(values if descending else -values, DIGITS)
    others = goodness[competing]
    placed = []
    for own, competes in zip(goodness[:first], competing, strict=False):
        ties = np.count_nonzero(others == own, axis=0) - int(competes)
        placed.append(1 + np.count_nonzero(others > own, axis=0) + ties / 2)
    return np.stack(placed)


def wins(places: Ranks) -> Array:
    """The share of resamples in which each team is first; teams that share the first rank share the win. [teams]."""
    first = places == 1
    share: Array = (first / first.sum(axis=0)).mean(axis=1)
    return share


def shares(places: Ranks) -> Array:
    """The share of resamples in which each team has each rank, shape [teams, ranks]."""
    return np.stack([np.bincount(own - 1, minlength=len(places)) / places.shape[1] for own in places])


def mean_tau(published: Ranks, places: Ranks) -> float | None:
    """Mean Kendall tau-b between the published ranks, [teams], and those of the resamples.

    A resample in which all teams are equal has no order and counts 0; None where the published ranks have none.
    """
    concordance = np.zeros(places.shape[1])
    ordered = np.zeros(places.shape[1])
    published_ordered = 0
    for a, b in combinations(range(len(published)), 2):
        sign = np.sign(places[a] - places[b])
        concordance += sign * np.sign(published[a] - published[b])
        ordered += sign != 0
        published_ordered += int(published[a] != published[b])
    if not published_ordered:
        return None
    scale = np.sqrt(ordered * published_ordered)
    return float(np.divide(concordance, scale, out=np.zeros_like(scale), where=scale > 0).mean())
