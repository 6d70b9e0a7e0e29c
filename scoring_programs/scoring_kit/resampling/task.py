"""What the final report says of one task."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from scoring_kit.program import AVERAGE_RANK, ScoreColumn
from scoring_kit.report.withholding import open_metrics
from scoring_kit.resampling.draws import (
    DIGITS,
    FEWEST_UNITS,
    MOST_LACKING,
    Part,
    TeamColumn,
    bootstrap_counts,
    combined,
    exchanges,
    few_units,
    mean_tau,
    mid_ranks,
    over,
    rank_interval,
    ranks,
    shares,
    uncut_interval,
    wins,
)
from scoring_kit.results import Metric
from scoring_kit.units import Array, Group, Statistic, Units

ALPHA = 0.05
FEWEST_VALUES = 5
"""With fewer different values on units, most medians are equal."""

Advance = Callable[[int], None]
Pair = tuple[str, str]
Name = TypeVar("Name", str, Pair)


@dataclass(frozen=True)
class Resampling:
    """How to resample: how often, and from which seed."""

    resamples: int
    seed: int


@dataclass(frozen=True)
class Resampled:
    """What resampling says of the teams of a task.

    Attributes:
        intervals: team → (low, high) of its score; see `intervals.uncut_interval` for those that have none.
        rank_intervals: team → (low, high) of its rank; teams without a rank have none.
        groups: team → tie group; likewise.
        differences: pair → (low, high) of its difference; likewise.
        p: pair → p.
        p_holm: pair → p after Holm.
        wins: team → share of resamples in which it is first.
        shares: team → share of resamples in which it has each rank.
        tau_mean: mean Kendall tau to the published order.
        without: why there is nothing that rests on a bootstrap, where that shows in the resamples.
    """

    intervals: Mapping[str, tuple[float, float]]
    rank_intervals: Mapping[str, tuple[int, int]]
    groups: Mapping[str, int]
    differences: Mapping[Pair, tuple[float, float]]
    p: Mapping[Pair, float]
    p_holm: Mapping[Pair, float]
    wins: Mapping[str, float]
    shares: Mapping[str, Sequence[float]]
    tau_mean: float | None
    without: str | None = None


NOTHING = Resampled({}, {}, {}, {}, {}, {}, {}, {}, None)


def resampled(
    order: Mapping[str, TeamColumn],
    published: Mapping[str, int],
    units: int,
    settings: Resampling,
    advance: Advance = lambda _: None,
    few: bool = False,
) -> Resampled:
    """Resample the units of a task.

    Args:
        order: the teams that have a score, best first, with the task's ranking column of each.
        published: the rank of each; a baseline has none and takes part in intervals and pairs alone.
        units: how many units there are.
        settings: how to resample.
        advance: is called with how much was done, as a part of `work`.
        few: whether there are too few units for anything that rests on a bootstrap.
    """
    names, columns = list(order), list(order.values())
    tested = p_values(columns, units, settings.resamples, settings.seed, advance)
    p = {(names[a], names[b]): value for (a, b), value in tested.items()}
    p_holm = holm(p)
    ranked = [name for name in names if name in published]
    found = replace(NOTHING, groups=tie_groups(ranked, p_holm), p=p, p_holm=p_holm)
    if few:
        return found
    of_teams, undefined = _bootstrap(columns, units, settings, advance)
    if undefined > MOST_LACKING * settings.resamples:
        what = f"{columns[0].column.title} is undefined in {undefined:,} of {settings.resamples:,} resamples"
        without = (
            f"{what}, where the units drawn lack what it needs (such as any of a rare class). With the worst score in "
            "its place intervals would be meaningless."
        )
        return replace(found, without=without)
    values = dict(zip(names, of_teams, strict=True))
    differences = {(a, b): values[a] - values[b] for a, b in combinations(names, 2)}
    found = replace(found, intervals=_intervals(values), differences=_intervals(differences))
    if not ranked:
        return found
    places = ranks(np.stack([values[name] for name in ranked]), columns[0].column.sort == "desc")
    return replace(
        found,
        rank_intervals={name: rank_interval(own) for name, own in zip(ranked, places, strict=True)},
        wins=dict(zip(ranked, wins(places).tolist(), strict=True)),
        shares=dict(zip(ranked, shares(places).tolist(), strict=True)),
        tau_mean=mean_tau(np.array([published[name] for name in ranked]), places),
    )


def _intervals(values: Mapping[Name, Array]) -> dict[Name, tuple[float, float]]:
    found = {}
    for name, own in values.items():
        if (ends := uncut_interval(own)) is not None:
            found[name] = ends
    return found


def work(teams: int, resamples: int, few: bool) -> int:
    """How much there is to do, in the steps that `resampled` counts."""
    steps = teams * (teams - 1) // 2
    if not few:
        steps += teams
    return resamples * steps


def _bootstrap(columns: Sequence[TeamColumn], units: int, settings: Resampling, advance: Advance) -> tuple[Array, int]:
    """Each team's score in each bootstrap sample, the same samples for all: [teams, resamples].

    Beside it, how many of them leave the column of a team undefined: the most of any team, but for those whose column
    always is, as without a result in its task.
    """
    blocks, undefined = [], np.zeros(len(columns), dtype=np.int64)
    for counts in bootstrap_counts(units, settings.resamples, settings.seed):
        values, is_undefined = over(columns, counts)
        blocks.append(values)
        undefined += is_undefined.sum(axis=1)
        advance(len(counts) * len(columns))
    most = max((number for number in undefined.tolist() if number < settings.resamples), default=0)
    return np.concatenate(blocks, axis=1), most


def other_rankings(order: Mapping[str, TeamColumn], units: int) -> dict[str, dict[str, float]]:
    """Other ways to make one figure of the units: their mean, their median, the mean of the ranks on each.

    A unit on which no team's metric is defined is left out; the value of a team that is alone undefined is its worst.
    Where units have but two values, as when each is one label, all these are the share of units with the better value,
    and are called so. With fewer than `FEWEST_VALUES` there is no median. A way that is the score itself is left out.
    None for average ranks, which are no figure of a single team's answers.
    Source: Wiesenfarth et al., Scientific Reports 11, 2021: aggregate then rank, rank then aggregate.
    """
    first = next(iter(order.values())).column
    if first.computation == AVERAGE_RANK:
        return {}
    values = np.stack([column.by_unit(units) for column in order.values()])
    kept = values[:, ~np.isnan(values).all(axis=0)]
    if not kept.shape[1]:
        return {}
    descending = first.sort == "desc"
    kept = np.round(kept, DIGITS)
    worst, best = float(np.nanmin(kept)), float(np.nanmax(kept))
    if not descending:
        worst, best = best, worst
    kept = np.nan_to_num(kept, nan=worst)
    different = np.unique(kept)
    if len(different) <= 2:
        ways: dict[str, Array] = {"share": (kept == best).astype(np.float64).mean(axis=1)}
    else:
        ways = {"mean": kept.mean(axis=1)}
        if len(different) >= FEWEST_VALUES:
            ways["median"] = np.asarray(np.median(kept, axis=1), dtype=np.float64)
        ways["mean_rank"] = mid_ranks(kept, descending, np.ones(len(kept), dtype=bool)).mean(axis=1)
    scores = over(list(order.values()), np.ones((1, units)))[0][:, 0]
    found = {}
    for name, way in ways.items():
        if not np.allclose(way, scores):
            found[name] = dict(zip(order, way.tolist(), strict=True))
    return found


def pair_records(found: Resampled, scores: Mapping[str, float], shown: Sequence[str]) -> list[dict[str, Any]]:
    """The pairs of report.json, of the teams whose figures are shown."""
    records = []
    for a, b in combinations(shown, 2):
        low, high = found.differences.get((a, b), (None, None))
        p, p_holm = found.p.get((a, b)), found.p_holm.get((a, b))
        difference = scores[a] - scores[b]
        records.append({"a": a, "b": b, "difference": difference, "low": low, "high": high, "p": p, "p_holm": p_holm})
    return records


def holm(p: Mapping[Pair, float]) -> dict[Pair, float]:
    """Each p, corrected for the number of tests: the i-th smallest of m times m + 1 - i, never falling, at most 1.

    Source: Holm, Scandinavian Journal of Statistics 6, 1979.
    """
    adjusted: dict[Pair, float] = {}
    highest = 0.0
    for place, name in enumerate(sorted(p, key=lambda name: p[name])):
        highest = max(highest, min(1.0, p[name] * (len(p) - place)))
        adjusted[name] = highest
    return adjusted


def tie_groups(order: Sequence[str], p_holm: Mapping[tuple[str, str], float]) -> dict[str, int]:
    """The number of each team's group, from 1.

    The best team that is in no group yet begins one, and every other such team joins whose difference from it is not
    significant (p after Holm at least 0.05). A team of a later group may rank before one of an earlier group, where
    the first one's difference is steadier.

    Args:
        order: the teams, best first.
        p_holm: p of every pair, by the pair in either order.
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
    everyone = set[int]()
    if teams[0].column.computation == AVERAGE_RANK:
        everyone.update(range(len(teams)))
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
        self.sums: list[Any] = []
        if len(there) == len(parts):
            # joined, so that the terms of all teams are the same
            every = reduce(lambda one, other: one.joined(other), there).as_sums()
            if every is not None:
                self.formula = every.formula
                self.sums = [every.sums[start : start + units] for start in range(0, units * len(parts), units)]
                self.width = len(parts) * every.sums.shape[1]

    def mixed(self, masks: Array) -> Mixed:
        """The metrics for arrangements: masks of shape [arrangements, units], 1 where a unit is exchanged."""
        if self.sums:
            given, kept = [], []
            for sums in self.sums:
                away = np.asarray(masks @ sums)
                given.append(away)
                kept.append(np.asarray(sums.sum(axis=0)).ravel() - away)
            return lambda team, other: self.formula(kept[team] + given[other])
        counts = np.concatenate([1.0 - masks, masks], axis=1)

        def by_units(team: int, other: int) -> Array:
            own, others = self.statistics[team], self.statistics[other]
            if own is None or others is None:  # there is nothing to exchange: the team keeps what it has
                return self.parts[team].over(np.ones_like(masks))
            return own.joined(others).over(counts)

        return by_units


Values = Mapping[str, Mapping[str, float | None]]
"""Team → metric → value, of those that may be shown."""


def families(column: str, values: Values) -> list[dict[str, Any]]:
    """The families like a column (`f1` for `binary_f1`), or all where none is: a table of teams by groups each.

    Returns:
        For each family its `name` in words, the names of its `groups`, and `values`, team → one for each group; None
        where a team's value may not be shown. `intervals` likewise, or None.
    """
    found: dict[str, dict[str, None]] = {}
    for metrics in values.values():
        for name in metrics:
            family, separator, group = re.match(r"([^:.]*)([:.]?)\s*(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
            if separator and group:
                found.setdefault(family, {})[name] = None
    measure = column.rsplit("_", 1)[-1]
    like = {family: names for family, names in found.items() if family.rsplit("_", 1)[-1] == measure}
    tables = []
    for family, of_family in (like or found).items():
        names = sorted(of_family)
        groups = [name[len(family) + 1 :].strip() for name in names]
        of_teams = {}
        for team, metrics in values.items():
            of_teams[team] = [metrics.get(name) for name in names]
        tables.append({"name": _words(family), "groups": groups, "values": of_teams, "intervals": None})
    return tables


def _words(name: str) -> str:
    """A metric's name in words, such as `evasion F1`."""
    return " ".join("F1" if word == "f1" else word for word in name.split("_"))


def family_of_units(
    key: str,
    groups: Sequence[str],
    column: ScoreColumn | None,
    there: Mapping[str, Units],
    settings: Resampling,
    min_items: int,
) -> dict[str, Any]:
    """A family as in `families`, with intervals; None of what is undefined, over too few items, or in too few units.

    Args:
        key: what the per-unit results call it: a column's key, or a name.
        groups: the names of its groups.
        column: the column, where it is one's.
        there: the per-unit results of every team.
        settings: how to resample.
        min_items: over fewer scored items nothing is shown.
    """
    values, intervals = {}, {}
    for team, own in there.items():
        of_groups = _group_values(own.groups[key], len(own.names), min_items)
        enough = {}
        for name in of_groups:
            group = own.groups[key][name]
            if _has_enough_units(group, column, squared=key in own.squared):
                enough[name] = group.statistic
        values[team] = list(map(of_groups.get, groups))
        intervals[team] = list(map(_group_intervals(enough, len(own.names), settings).get, groups))
    return {"name": column.title if column else key, "groups": groups, "values": values, "intervals": intervals}


def _group_values(groups: Mapping[str, Group], units: int, min_items: int) -> dict[str, float]:
    """The value of each group that is defined and may be shown."""
    once = np.ones((1, units))
    values, metrics = {}, {}
    for name, group in groups.items():
        values[name] = float(group.statistic.over(once)[0])
        metrics[f"group: {name}"] = Metric(values[name], group.items, group.items)
    shown = open_metrics(metrics, (), min_items)
    return {name: value for name, value in values.items() if f"group: {name}" in shown and math.isfinite(value)}


def _has_enough_units(group: Group, column: ScoreColumn | None, squared: bool) -> bool:
    """Whether a group has units enough for an interval, of a column's metric or a label's own."""
    if column is None:
        return group.units >= FEWEST_UNITS
    return few_units(column, group.units, "units", group.classes, squared=squared) is None


def _group_intervals(
    statistics: Mapping[str, Statistic], units: int, settings: Resampling
) -> dict[str, tuple[float, float] | None]:
    """The interval of each group's metric; none of one that is undefined in any resample."""
    if not statistics:
        return {}
    drawn: dict[str, list[Array]] = {name: [] for name in statistics}
    for counts in bootstrap_counts(units, settings.resamples, settings.seed):
        for name, statistic in statistics.items():
            drawn[name].append(statistic.over(counts))
    found = {}
    for name, blocks in drawn.items():
        values = np.concatenate(blocks)
        if not np.isnan(values).any():
            found[name] = uncut_interval(values)
    return found
