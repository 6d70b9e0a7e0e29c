"""Metrics that are means over rows, each of one timeline: the mean, and what each timeline adds to it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scoring_kit.metrics import summed
from scoring_kit.results import Metric
from scoring_kit.units import Additive, ScoredUnits, Units, by_unit

Row = tuple[str, float]
"""A timeline, and one of the values that a metric averages."""


@dataclass(frozen=True)
class Average:
    """A metric that is the mean of `rows`; `items` as of `Metric`."""

    rows: Sequence[Row]
    items: int | None = None

    @cached_property
    def metric(self) -> Metric:
        """The mean; undefined without a row."""
        return Metric(mean([value for _, value in self.rows]), len(self.rows), self.items)


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, the same for any order of the values; None without any."""
    return math.fsum(values) / len(values) if values else None


def metrics_of(averages: Mapping[str, Average]) -> dict[str, Metric]:
    """Averages as metrics; one average under two names stays one metric."""
    return {name: average.metric for name, average in averages.items()}


def timeline_units(timelines: Sequence[str], averages: Mapping[str, Average]) -> Units:
    """Return the per-unit results of averages: a timeline adds the sum of its rows and their number, which may be 0."""
    import numpy as np

    statistics, scored = {}, {}
    for name, average in averages.items():
        owners, values = [], []
        for timeline, value in average.rows:
            owners.append(timeline)
            values.append((value, 1.0))
        terms = np.array(values).reshape(-1, 2)
        statistics[name] = Additive(by_unit(timelines, owners, terms), summed.mean)
        scored[name] = with_rows(statistics[name])
    return Units("timeline", timelines, statistics, scored)


def with_rows(statistic: Additive) -> ScoredUnits:
    """Return the timelines that have a row; terms of a row are never all 0."""
    import numpy as np

    return ScoredUnits("timeline", np.flatnonzero(statistic.sums.any(axis=1)))
