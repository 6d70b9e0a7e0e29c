"""Paired approximate randomisation: is the difference of two teams larger than chance gives?

If two systems are equally good, exchanging their answers to a unit changes nothing but chance. Source: Noreen,
Computer-Intensive Methods for Testing Hypotheses, Wiley 1989; Yeh, COLING 2000; p counts the observed arrangement, too
(North, Curtis and Sham, American Journal of Human Genetics 71, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from scoring_kit.resampling.columns import TeamColumn
from scoring_kit.resampling.draws import exchanges
from scoring_kit.units import Additive, Array

SAME = 1e-10
"""Differences whose ratio is closer to 1 than this are equal: sums in another order differ in their last bits."""

Mixed = Callable[[int, int], Array]
"""(team, other) → the team's metric with the units exchanged that the mask says, shape [resamples]."""


def p_values(
    teams: Sequence[TeamColumn], units: int, resamples: int, seed: int, advance: Callable[[int], None] = lambda _: None
) -> dict[tuple[int, int], float]:
    """Two-sided p of every pair of teams, (k + 1)/(n + 1), where k of n arrangements differ at least as much.

    Args:
        teams: the same column of each.
        units: how many there are.
        resamples: n.
        seed: of the arrangements, which are the same for every pair.
        advance: is told how many arrangements of all pairs were tried.
    """
    observed = [float(team.over(np.ones((1, units)))[0]) for team in teams]
    pairs = list(combinations(range(len(teams)), 2))
    as_extreme = dict.fromkeys(pairs, 0)
    for masks in exchanges(units, resamples, seed, _width(teams)):
        for (a, b), difference in _differences(teams, masks, pairs):
            least = abs(observed[a] - observed[b])
            tolerance = SAME * max(abs(observed[a]), abs(observed[b]), 1.0)
            as_extreme[a, b] += int(np.count_nonzero(np.abs(difference) >= least - tolerance))
        advance(len(masks) * len(pairs))
    return {pair: (k + 1) / (resamples + 1) for pair, k in as_extreme.items()}


def _differences(
    teams: Sequence[TeamColumn], masks: Array, pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], Array]]:
    """The difference of each pair after its exchange, shape [resamples]."""
    mixed = [_mixed(teams, k, masks) for k in range(len(teams[0].parts))]

    def column(team: int, other: int) -> Array:
        parts = zip(teams[team].parts, mixed, strict=True)
        return teams[team].combined([part.shown(values(team, other)) for part, values in parts])

    for a, b in pairs:
        yield (a, b), column(a, b) - column(b, a)


def _mixed(teams: Sequence[TeamColumn], k: int, masks: Array) -> Mixed:
    """Part `k` of each team with the exchanged units of another.

    Sums need no exchange of units: what a team keeps and what it gets are sums that are made once for each team.
    """
    statistics = [team.parts[k].statistic for team in teams]
    additive = [one for one in statistics if isinstance(one, Additive)]
    if len(additive) == len(teams) and len({one.sums.shape for one in additive}) == 1:
        terms = additive[0].sums.shape[1]
        given = masks @ np.concatenate([one.sums for one in additive], axis=1)
        away = [given[:, i * terms : (i + 1) * terms] for i in range(len(teams))]
        whole = [one.sums.sum(axis=0) for one in additive]
        return lambda team, other: additive[team].formula(whole[team] - away[team] + away[other])

    counts = np.concatenate([1.0 - masks, masks], axis=1)

    def by_units(team: int, other: int) -> Array:
        one, another = statistics[team], statistics[other]
        if one is None or another is None:  # whose units are exchanged with nothing: both keep what they have
            return teams[team].parts[k].over(np.ones_like(masks))
        return one.joined(another).over(counts)

    return by_units


def _width(teams: Sequence[TeamColumn]) -> int:
    """Cells that `_mixed` makes for each arrangement."""
    sums = [part.statistic.sums.shape[1] for t in teams for part in t.parts if isinstance(part.statistic, Additive)]
    return sum(sums)
