"""Paired approximate randomisation: is the difference of two teams larger than chance gives?

If two systems are equally good, exchanging their answers to a unit changes nothing but chance. Where a metric allows
answers on any scale, those on a scale of their own are exchanged (`Statistic.to_exchange`). Source: Noreen,
Computer-Intensive Methods for Testing Hypotheses, Wiley 1989; Yeh, COLING 2000; p counts the observed arrangement, too
(North, Curtis and Sham, American Journal of Human Genetics 71, 2002).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

from scoring_kit.program import AVERAGE_RANK
from scoring_kit.resampling.columns import Part, TeamColumn, combined, over
from scoring_kit.resampling.draws import exchanges
from scoring_kit.units import Array

SAME = 1e-10
"""Differences that are closer than this, relative to the scores, are equal: sums differ in their last bits."""

Mixed = Callable[[int, int], Array]
"""(team, other) → the team's metric with the other's answers to the exchanged units, shape [arrangements]."""


def p_values(
    teams: Sequence[TeamColumn], units: int, resamples: int, seed: int, advance: Callable[[int], None] = lambda _: None
) -> dict[tuple[int, int], float]:
    """Two-sided p of every pair of teams, (k + 1)/(n + 1), where k of n arrangements differ at least as much.

    Args:
        teams: the same column of each.
        units: how many there are.
        resamples: n.
        seed: of the arrangements, which are the same for every pair.
        advance: is called with how many arrangements of all pairs were tried.
    """
    if len(teams) < 2:
        return {}
    observed = over(teams, np.ones((1, units)))[0][:, 0]
    pairs = list(combinations(range(len(teams)), 2))
    as_extreme = dict.fromkeys(pairs, 0)
    everyone = set(range(len(teams))) if teams[0].column.computation == AVERAGE_RANK else set[int]()
    written = zip(*(team.parts for team in teams), strict=True)
    parts = [_Exchange(of_teams, units) for of_teams in written]
    for masks in exchanges(units, resamples, seed, max((part.width for part in parts), default=1)):
        mixed = [part.mixed(masks) for part in parts]
        for a, b in pairs:
            others = sorted(everyone - {a, b})  # whose values matter for the pair's, too
            values = []
            for column, part, exchanged in zip(teams[a].parts, parts, mixed, strict=True):
                rest = np.broadcast_to(part.whole[others], (len(others), len(masks)))
                values.append(np.vstack([column.shown(exchanged(a, b)), column.shown(exchanged(b, a)), rest]))
            one, other = combined([teams[place] for place in (a, b, *others)], values, first=2)
            least = abs(observed[a] - observed[b]) - SAME * max(abs(observed[a]), abs(observed[b]), 1.0)
            as_extreme[a, b] += int(np.count_nonzero(np.abs(one - other) >= least))
        advance(len(masks) * len(pairs))
    return {pair: (k + 1) / (resamples + 1) for pair, k in as_extreme.items()}


class _Exchange:
    """The same written column of every team, ready for units to be exchanged.

    Sums need no exchange of units: what a team gives away and what it gets are sums, made once for each team.

    Attributes:
        width: cells that are made for each arrangement.
        whole: what each team has without an exchange, as wide as what is exchanged: [teams, 1].
    """

    def __init__(self, parts: Sequence[Part], units: int) -> None:
        self.parts = parts
        self.statistics = [None if part.statistic is None else part.statistic.to_exchange() for part in parts]
        once = np.ones((1, units))
        unexchanged = [replace(part, statistic=own) for part, own in zip(parts, self.statistics, strict=True)]
        self.whole = np.stack([part.shown(part.over(once)) for part in unexchanged])
        self.sums: list[Any] = []
        there = [one for one in self.statistics if one is not None]
        if len(there) == len(parts):
            # joined, so that the terms of all teams are the same
            every = reduce(lambda one, other: one.joined(other), there).as_sums()
            if every is not None:
                self.formula = every.formula
                self.sums = [every.sums[start : start + units] for start in range(0, units * len(parts), units)]
        self.width = sum(sums.shape[1] for sums in self.sums) if self.sums else 2 * units

    def mixed(self, masks: Array) -> Mixed:
        """The metrics for arrangements: masks of shape [arrangements, units], 1 where a unit is exchanged."""
        if self.sums:
            given = [np.asarray(masks @ sums) for sums in self.sums]
            kept = [np.asarray(sums.sum(axis=0)).ravel() - away for sums, away in zip(self.sums, given, strict=True)]
            return lambda team, other: self.formula(kept[team] + given[other])
        counts = np.concatenate([1.0 - masks, masks], axis=1)

        def by_units(team: int, other: int) -> Array:
            own, others = self.statistics[team], self.statistics[other]
            if own is None or others is None:  # there is nothing to exchange: the team keeps what it has
                return self.parts[team].over(np.ones_like(masks))
            return own.joined(others).over(counts)

        return by_units
