"""The resampling of one task: intervals, pairs, other ways to rank, and tables of its groups."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, compress
from statistics import NormalDist
from typing import Any

import numpy as np

from scoring_kit.base.power_settings import FOUND
from scoring_kit.program import AVERAGE_RANK, ScoreColumn
from scoring_kit.resampling import draws
from scoring_kit.resampling.draws import Interval, TeamColumn, bootstrap_counts, few_units, interval_or_reason, over
from scoring_kit.resampling.significance import ALPHA, Pair, holm, p_values, tie_groups
from scoring_kit.results import Metric
from scoring_kit.results_page.withholding import open_metrics
from scoring_kit.units import Array, Units

FEWEST_VALUES = 5
"""With fewer different values on units, most medians are equal."""
DETECTED = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(FOUND)
"""Standard errors of a difference that is found as often."""


@dataclass(frozen=True)
class Resampling:
    """How to resample: how often, and from which seed."""

    resamples: int
    seed: int


@dataclass
class Resampled:
    """The resampled figures of the teams of a task; nothing of those that are not in a table.

    Attributes:
        groups: team → tie group.
        p: pair → p.
        p_holm: pair → p after Holm.
        intervals: team → (low, high) of its score.
        differences: pair → (low, high) of its difference.
        reasons: team or pair → why it has no interval, where the others may have one.
        rank_intervals: team → (low, high) of its rank.
        wins: team → share of resamples in which it is first.
        shares: team → share of resamples in which it has each rank.
        tau_mean: mean Kendall tau to the published order.
        optimism: by how much the score of whoever is first in a resample is better there than its own, on average; None
            of fewer than two teams. About so much too good a first place among these teams looks.
        smallest: the median over pairs of the difference that is found in 8 of 10 test sets; None without resamples.
        without: why there is nothing that rests on a bootstrap, where that shows in the resamples.
    """

    groups: Mapping[str, int] = field(default_factory=dict)
    p: Mapping[Pair, float] = field(default_factory=dict)
    p_holm: Mapping[Pair, float] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    differences: dict[Pair, Interval] = field(default_factory=dict)
    reasons: dict[str | Pair, str] = field(default_factory=dict)
    rank_intervals: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    wins: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, Sequence[float]] = field(default_factory=dict)
    tau_mean: float | None = None
    optimism: float | None = None
    smallest: float | None = None
    without: str | None = None


def resampled(
    order: Mapping[str, TeamColumn],
    published: Mapping[str, int],
    units: int,
    settings: Resampling,
    advance: Callable[[int], None] = lambda _: None,
    few: bool = False,
) -> Resampled:
    """Resample the units of a task.

    Args:
        order: the teams that have a score, best first, with the task's ranking column of each.
        published: the rank of each; a baseline has none and takes part in intervals and pairs alone.
        units: how many units there are.
        settings: how to resample.
        advance: is called with how many resamples of a team, or of a pair, were done.
        few: whether there are too few units for anything that rests on a bootstrap.
    """
    names, columns = list(order), list(order.values())
    tested = p_values(columns, units, settings.resamples, settings.seed, advance)
    p = {(names[a], names[b]): value for (a, b), value in tested.items()}
    p_holm = holm(p)
    is_ranked = np.array([name in published for name in names])
    ranked = list(compress(names, is_ranked))
    found = Resampled(tie_groups(ranked, p_holm), p, p_holm)
    if few:
        return found
    blocks, undefined = [], np.zeros(len(columns), dtype=np.int64)
    for counts in bootstrap_counts(units, settings.resamples, settings.seed):
        of_columns, is_undefined = over(columns, counts)
        blocks.append(of_columns)
        undefined += is_undefined.sum(axis=1)
        advance(len(counts) * len(columns))
    # but for columns that always are undefined, as without a result in the task
    most = undefined[undefined < settings.resamples].max(initial=0)
    if most > draws.MOST_LACKING * settings.resamples:
        found.without = (
            f"{columns[0].column.title} is undefined in {most:,} of {settings.resamples:,} resamples, where the units "
            "drawn lack what it needs (such as any of a rare class). With the worst score in its place intervals would "
            "be meaningless."
        )
        return found
    of_all, own = np.concatenate(blocks, axis=1), over(columns, np.ones((1, units)))[0][:, 0]
    values = dict(zip(names, of_all, strict=True))
    scores = dict(zip(names, own.tolist(), strict=True))
    off = sum(draws.is_off(values[name], scores[name]) for name in names)
    if 2 * off > len(names):
        found.without = (
            f"The resamples of {columns[0].column.title} lie to one side of the score, for {off} of {len(names)} teams "
            "by more than half of their standard deviation: intervals would miss the true value."
        )
        return found
    for name in names:
        ends = interval_or_reason(values[name], scores[name])
        if isinstance(ends, str):
            found.reasons[name] = ends
        else:
            found.intervals[name] = ends
    spreads = []
    for a, b in combinations(names, 2):
        spreads.append((values[a] - values[b]).std())
        ends = interval_or_reason(values[a] - values[b], scores[a] - scores[b])
        if isinstance(ends, str):
            found.reasons[a, b] = ends
        else:
            found.differences[a, b] = ends
    if spreads:
        found.smallest = DETECTED * float(np.median(spreads))
    if ranked:
        is_descending = columns[0].column.sort == "desc"
        of_ranked = of_all[is_ranked]
        places = draws.ranks(of_ranked, is_descending)
        if len(ranked) > 1:
            gained = draws.optimism(of_ranked, places, own[is_ranked])
            found.optimism = gained if is_descending else -gained
        found.rank_intervals = dict(zip(ranked, map(draws.rank_interval, places), strict=True))
        found.wins = dict(zip(ranked, draws.wins(places).tolist(), strict=True))
        found.shares = dict(zip(ranked, draws.shares(places).tolist(), strict=True))
        found.tau_mean = draws.mean_tau(np.array([published[name] for name in ranked]), places)
    return found


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
    kept = np.round(kept, draws.DIGITS)
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
        ways["mean_rank"] = draws.mid_ranks(kept, descending, np.ones(len(kept), dtype=bool)).mean(axis=1)
    scores = over(list(order.values()), np.ones((1, units)))[0][:, 0]
    found = {}
    for name, way in ways.items():
        if not np.allclose(way, scores):
            found[name] = dict(zip(order, way.tolist(), strict=True))
    return found


Values = Mapping[str, Mapping[str, float | None]]
"""Team → metric → value, of those that may be shown."""


def families(column: str, values: Values) -> list[dict[str, Any]]:
    """Return the families like a column (`f1` for `binary_f1`), or all where none is: a table of teams by groups each.

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
        in_words = re.sub("(?<![^ ])f1(?![^ ])", "F1", family.replace("_", " "))
        tables.append({"name": in_words, "groups": groups, "values": of_teams, "intervals": None})
    return tables


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
        key: what the per-unit results call it: a key, of `column` where it is one's, or a name.
        groups: the names of its groups.
        column: the column.
        there: the per-unit results of every team.
        settings: how to resample.
        min_items: over fewer scored items nothing is shown.
    """
    values, intervals = {}, {}
    for team, units in there.items():
        shown = _group_values(units, key, min_items)
        of_groups = _group_intervals(units, key, shown, column, settings)
        values[team] = [shown.get(group) for group in groups]
        intervals[team] = [of_groups.get(group) for group in groups]
    return {"name": column.title if column else key, "groups": groups, "values": values, "intervals": intervals}


def _group_values(units: Units, key: str, min_items: int) -> dict[str, float]:
    """The value of each group that is defined and may be shown."""
    once = np.ones((1, len(units.names)))
    values, metrics = {}, {}
    for name, group in units.groups[key].items():
        value = float(group.statistic.over(once)[0])
        metrics[f"group: {name}"] = Metric(value, group.items, group.items)
        if math.isfinite(value):
            values[name] = value
    shown = open_metrics(metrics, (), min_items)
    return {name: value for name, value in values.items() if f"group: {name}" in shown}


def _group_intervals(
    units: Units, key: str, shown: Mapping[str, float], column: ScoreColumn | None, settings: Resampling
) -> dict[str, Interval]:
    """The interval of each shown group that has units enough; none of a metric that is undefined in any resample."""
    drawn: dict[str, list[Array]] = {}
    for name in shown:
        group = units.groups[key][name]
        if column is None:  # a label's own metric
            is_enough = group.units >= draws.FEWEST_UNITS
        else:
            limit, error = units.limits.get(key), shown[name]
            is_enough = few_units(column, group.units, "units", group.classes, limit, error) is None
        if is_enough:
            drawn[name] = []
    if not drawn:
        return {}
    for counts in bootstrap_counts(len(units.names), settings.resamples, settings.seed):
        for name, blocks in drawn.items():
            blocks.append(units.groups[key][name].statistic.over(counts))
    found = {}
    for name, blocks in drawn.items():
        values = np.concatenate(blocks)
        if not np.isnan(values).any() and not isinstance(ends := interval_or_reason(values, shown[name]), str):
            found[name] = ends
    return found
