"""Per-unit results of made-up teams."""

from collections.abc import Mapping, Sequence

import numpy as np

from scoring_kit.program import ScoreColumn
from scoring_kit.resampling.draws import Part, TeamColumn
from scoring_kit.units import Additive, Array, Items, Statistic


def column(sort: str = "desc", worst: float | None = None) -> ScoreColumn:
    """A column without a bound of its own."""
    return ScoreColumn("score", "main", "Score", sort, 4, worst, "")


def team(statistic: Statistic, sort: str = "desc", worst: float | None = None) -> TeamColumn:
    """A team with these per-unit results."""
    return TeamColumn(column(sort, worst), [Part(column(sort, worst), statistic)])


def mean_of(values: Array) -> Additive:
    """A mean over units, from the value of each."""
    return Additive(np.stack([values, np.ones(len(values))], axis=1), _mean)


def median_of(values: Array) -> Items:
    """A median, which no sum replaces."""
    return Items(len(values), np.arange(len(values)), values[:, np.newaxis], _median)


def macro_f1_of(gold: Sequence[int], predicted: Sequence[int], labels: int) -> Additive:
    """Macro F1 over labels from 0, with a row as the unit."""
    at, said = np.eye(labels)[np.asarray(gold)], np.eye(labels)[np.asarray(predicted)]
    return Additive(np.concatenate([at * said, said, at], axis=1), macro_f1)


def macro_f1(sums: Array) -> Array:
    """From true positives, predicted and gold of each label."""
    tp, predicted, gold = np.split(sums, 3, axis=-1)
    whole = predicted + gold
    mean: Array = np.divide(2 * tp, whole, out=np.zeros_like(whole), where=whole > 0).mean(axis=-1)
    return mean


def means(teams: Mapping[str, Array]) -> dict[str, TeamColumn]:
    """Teams with the mean of their values, best first."""
    order = sorted(teams, key=lambda name: -float(teams[name].mean()))
    return {name: team(mean_of(teams[name])) for name in order}


def _mean(sums: Array) -> Array:
    total, number = sums[..., 0], sums[..., 1]
    mean: Array = np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0)
    return mean


def _median(values: Array, counts: Array) -> Array:
    return np.array([np.median(np.repeat(values[:, 0], row)) for row in counts.astype(int)])
