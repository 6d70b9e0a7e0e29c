"""Which differences between teams are significant: p of every pair, corrected for their number, and groups of ties."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np

from scoring_kit.program import AVERAGE_RANK
from scoring_kit.resampling.draws import Part, TeamColumn, combined, exchanges, over
from scoring_kit.units import Array, Statistic

ALPHA = 0.05
Pair = tuple[str, str]
NARROW = 64
"""Sparse sums of so few terms are multiplied twice as fast when they are filled."""
SAME = 1e-10
"""Differences that are closer than this, relative to the scores, are equal: sums differ in their last bits."""

Mixed = Callable[[int, int], Array]
"""(team, other) → the team's metric with the other's answers to the exchanged units, shape [arrangements]."""


def p_values(
    teams: Sequence[TeamColumn],
    units: int,
    resamples: int,
    seed: int,
    advance: Callable[[int], None] = lambda _: None,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> dict[tuple[int, int], float]:
    """Two-sided p of every pair of teams, (k + 1)/(n + 1), where k of n arrangements differ at least as much.

    The arrangements are the same for every pair; `pairs` are those that are asked for, where it is not all of them.
    `advance` is called with how many were tried.
    """
    if len(teams) < 2:
        return {}
    observed = over(teams, np.ones((1, units)))[0][:, 0]
    if pairs is None:
        pairs = list(combinations(range(len(teams)), 2))
    as_extreme = dict.fromkeys(pairs, 0)
    everyone = set[int]()
    if teams[0].column.computation == AVERAGE_RANK:
        everyone.update(range(len(teams)))
    parts, width = list[_Exchange](), 1
    for of_teams in zip(*(team.parts for team in teams), strict=True):
        parts.append(_Exchange(of_teams, units))
        width = max(width, parts[-1].width)
    for masks in exchanges(units, resamples, seed, width):
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
            advance(len(masks))
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
        self.statistics: list[Statistic | None] = []
        there, whole = [], []
        for part in parts:
            if part.statistic is not None:
                there.append(part.statistic.to_exchange())
                part = replace(part, statistic=there[-1])
            self.statistics.append(part.statistic)
            whole.append(part.shown(part.over(np.ones((1, units)))))
        self.whole = np.stack(whole)
        self.width = 2 * units
        self.sums: list[Any] = []  # of each team
        if len(there) == len(parts):
            # joined, so that the terms of all teams are the same
            every = reduce(lambda one, other: one.joined(other), there).as_sums()
            if every is not None:
                self.formula = every.formula
                sums = every.sums
                if hasattr(sums, "toarray") and sums.shape[1] <= NARROW:
                    sums = sums.toarray()
                self.sums = [sums[start : start + units] for start in range(0, units * len(parts), units)]
                self.width = len(parts) * sums.shape[1]

    def mixed(self, masks: Array) -> Mixed:
        """Return the metrics for arrangements: masks of shape [arrangements, units], 1 where a unit is exchanged."""
        if self.sums:
            given, kept = [], []
            for sums in self.sums:
                given.append(np.asarray(masks @ sums))
                kept.append(np.asarray(sums.sum(axis=0)).ravel() - given[-1])
            return lambda team, other: self.formula(kept[team] + given[other])
        counts = np.concatenate([1.0 - masks, masks], axis=1)

        def by_units(team: int, other: int) -> Array:
            own, others = self.statistics[team], self.statistics[other]
            if own is None or others is None:  # there is nothing to exchange: the team keeps what it has
                return self.parts[team].over(np.ones_like(masks))
            return own.joined(others).over(counts)

        return by_units


def holm(p: Mapping[Pair, float]) -> dict[Pair, float]:
    """Return each p, corrected for the number of tests: the i-th of m times m + 1 - i, never falling, at most 1.

    Source: Holm, Scandinavian Journal of Statistics 6, 1979.

    >>> holm({("A", "B"): 0.01, ("A", "C"): 0.04, ("B", "C"): 0.5})
    {('A', 'B'): 0.03, ('A', 'C'): 0.08, ('B', 'C'): 0.5}
    """
    adjusted: dict[Pair, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p, key=lambda name: p[name])):
        highest = max(highest, min(1.0, p[name] * (len(p) - place)))
        adjusted[name] = highest
    return adjusted


def tie_groups(order: Sequence[str], p_holm: Mapping[tuple[str, str], float]) -> dict[str, int]:
    """Return the number of each team's group, from 1.

    The best team (of `order`) that is in no group yet begins one, and every other such team joins whose difference from
    it is not significant (p after Holm at least 0.05). A team of a later group may rank before one of an earlier group,
    where the first one's difference is steadier.
    """
    groups: dict[str, int] = {}
    for best in order:
        if best in groups:
            continue
        number = max(groups.values(), default=0) + 1
        for team in order:
            if team not in groups and (team == best or p_holm.get((best, team), p_holm.get((team, best), 0)) >= ALPHA):
                groups[team] = number
    return groups
