"""What the final report says of groups and labels: their metrics, and intervals where there are enough units."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from scoring_kit.program import ScoreColumn
from scoring_kit.report.withholding import open_metrics
from scoring_kit.resampling.draws import FEWEST_UNITS, bootstrap_counts, few_units, uncut_interval
from scoring_kit.resampling.task import Resampling
from scoring_kit.results import Metric
from scoring_kit.units import Array, Group, Statistic, Units

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
    """A family as in `families`, with intervals.

    Args:
        key: what the per-unit results call it: a column's key, or a name.
        groups: the names of its groups.
        column: the column, where it is one's.
        there: the per-unit results of every team.
        settings: how to resample.
        min_items: over fewer scored items nothing is shown.
    """
    name = key if column is None else column.title
    family: dict[str, Any] = {"name": name, "groups": groups, "values": {}, "intervals": {}}
    for team, own in there.items():
        enough = partial(_has_enough_units, column=column, squared=key in own.squared)
        figures = _group_figures(own.groups[key], len(own.names), settings, min_items, enough)
        family["values"][team] = [figures[group][0] for group in groups]
        family["intervals"][team] = [figures[group][1] for group in groups]
    return family


def _group_figures(
    groups: Mapping[str, Group],
    units: int,
    settings: Resampling,
    min_items: int,
    has_enough: Callable[[Group], bool],
) -> dict[str, tuple[float | None, tuple[float, float] | None]]:
    """Each group's value and interval; None of what is undefined, over too few items, or in too few units."""
    once = np.ones((1, units))
    metrics, statistics = {}, {}
    for name, group in groups.items():
        metrics[f"group: {name}"] = Metric(float(group.statistic.over(once)[0]), group.items, group.items)
    shown = open_metrics(metrics, (), min_items)
    values = {}
    for name, group in groups.items():
        value = metrics[f"group: {name}"].value
        if f"group: {name}" in shown and value is not None and math.isfinite(value):
            values[name] = value
            if has_enough(group):
                statistics[name] = group.statistic
    intervals = _group_intervals(statistics, units, settings)
    return {name: (values.get(name), intervals.get(name)) for name in groups}


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
    whole = {name: np.concatenate(blocks) for name, blocks in drawn.items()}
    return {name: uncut_interval(values) for name, values in whole.items() if not np.isnan(values).any()}
