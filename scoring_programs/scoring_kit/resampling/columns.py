"""What a team has in a column of the board, over any resample of the units: as the platform shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring_kit.program import Column
from scoring_kit.units import Array, Statistic


@dataclass(frozen=True)
class Part:
    """A written column, and a team's per-unit results for it; None where the team did not enter the column's task."""

    column: Column
    statistic: Statistic | None

    def shown(self, values: Array) -> Array:
        """Values as the board shows them: where the metric is undefined, or worse than `worst`, that."""
        column = self.column
        if column.worst is None:
            return values
        defined = np.where(np.isnan(values), column.worst, values)
        return np.maximum(defined, column.worst) if column.sort == "desc" else np.minimum(defined, column.worst)

    def over(self, counts: Array) -> Array:
        """The metric over each row of `counts`, before `shown`: [resamples, units] → [resamples]."""
        return np.full(len(counts), np.nan) if self.statistic is None else self.statistic.over(counts)


@dataclass(frozen=True)
class TeamColumn:
    """A team's values in a column: its one part, or what the platform computes of several.

    Attributes:
        column: the column.
        parts: the written columns that it is made of; itself, where it is written.
    """

    column: Column
    parts: Sequence[Part]

    def over(self, counts: Array) -> Array:
        """The column over each row of `counts`, [resamples, units] → [resamples]; never NaN."""
        return self.combined([part.shown(part.over(counts)) for part in self.parts])

    def by_unit(self, units: int) -> Array:
        """The column on each unit alone; NaN where it is undefined there."""
        values = []
        for start in range(0, units, 500):
            some = np.arange(start, min(start + 500, units))
            counts = np.zeros((len(some), units))
            counts[np.arange(len(some)), some] = 1.0
            values.append(self.combined([part.over(counts) for part in self.parts]))
        return np.concatenate(values)

    def combined(self, values: Sequence[Array]) -> Array:
        """The column from the values of its parts."""
        if self.column.computation is None:
            return values[0]
        together = np.stack(values)
        if self.column.computation in ("min", "max"):
            extreme: Array = together.min(axis=0) if self.column.computation == "min" else together.max(axis=0)
            return extreme
        total: Array = together.sum(axis=0)
        return total / len(values) if self.column.computation == "avg" else total
