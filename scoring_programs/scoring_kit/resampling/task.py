"""What the final report says of one task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from scoring_kit.program import AVERAGE_RANK, ScoreColumn
from scoring_kit.resampling.columns import TeamColumn, mean_tau, mid_ranks, over, rank_interval, ranks, shares, wins
from scoring_kit.resampling.draws import DIGITS, MOST_LACKING, bootstrap_counts, uncut_interval
from scoring_kit.resampling.randomisation import p_values
from scoring_kit.units import Array

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
        return replace(found, without=_undefined_text(columns[0].column, undefined, settings.resamples))
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
    pairs = teams * (teams - 1) // 2
    return resamples * (pairs if few else pairs + teams)


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


def _undefined_text(column: ScoreColumn, undefined: int, resamples: int) -> str:
    return (
        f"{column.title} is undefined in {undefined:,} of {resamples:,} resamples, where the units drawn lack what it "
        "needs (such as any of a rare class). With the worst score in its place intervals would be meaningless."
    )


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
    worst = np.nanmin(kept) if descending else np.nanmax(kept)
    kept = np.asarray(np.round(np.nan_to_num(kept, nan=float(worst)), DIGITS), dtype=np.float64)
    different = np.unique(kept)  # ascending
    best = different[-1] if descending else different[0]
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
