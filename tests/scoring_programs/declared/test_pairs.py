"""Tests of pairs of teams do not depend on the scale on which a team writes its answers."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from declared.metrics import Sample, definitions
from declared.metrics.keys import Keys
from scoring_kit.resampling.significance import p_values
from scoring_kit.units import Array, Statistic
from tests.scoring_programs.scoring_kit.resampling.made_up import team

ORDERED = ("spearman", "kendall", "roc_auc", "average_precision")
MAPS: dict[str, Callable[[Array], Array]] = {
    "tenfold": lambda values: 10 * values,
    "shifted": lambda values: 3 * values - 700,
    "cubed": lambda values: values**3,
    "squeezed": lambda values: 1 / (1 + np.exp(-5 * values)),
}


def statistic_of(metric: str, gold: Array, predicted: Array) -> Statistic:
    truth: Any = gold
    if metric in ("roc_auc", "average_precision"):
        truth = np.where(gold > 0, "yes", "no").tolist()
    keys = Keys(np.arange(len(gold)), len(gold), -1.0)
    answers: Any = predicted
    return definitions()[metric].statistic(Sample(truth, answers, []), {"positive": "yes"}, keys)


def p_of(metric: str, gold: Array, one: Array, other: Array) -> float:
    teams = [team(statistic_of(metric, gold, predicted)) for predicted in (one, other)]
    return p_values(teams, len(gold), 400, 3)[0, 1]


def made_up(seed: int, units: int, noise: tuple[float, float]) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    gold = random.normal(size=units)
    one, other = (gold + random.normal(scale=scale, size=units) for scale in noise)
    return gold, one, other


@pytest.mark.parametrize(
    ("metric", "name"), [*itertools.product(ORDERED, MAPS), ("pearson", "tenfold"), ("pearson", "shifted")]
)
def test_p_is_that_of_any_map_that_the_metric_does_not_see(metric: str, name: str) -> None:
    gold, one, other = (side.round(2) for side in made_up(0, 60, (0.8, 1.0)))  # with ties
    assert p_of(metric, gold, one, MAPS[name](other)) == p_of(metric, gold, one, other)


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_what_is_exchanged_are_z_scores_and_ranks(metric: str) -> None:
    gold, one, other = made_up(1, 40, (0.5, 1.5))
    scaled = stats.zscore if metric == "pearson" else stats.rankdata
    first = np.random.default_rng(5).integers(2, size=40).astype(float)
    mixed = np.where(first > 0, scaled(one), scaled(7 * other + 3))
    correlation = stats.pearsonr(gold if metric == "pearson" else stats.rankdata(gold), mixed).statistic
    expected = correlation * math.sqrt(40 / 38)
    sides = [statistic_of(metric, gold, side).to_exchange() for side in (one, 7 * other + 3)]
    (found,) = sides[0].joined(sides[1]).over(np.concatenate([first, 1 - first])[np.newaxis])
    assert found == pytest.approx(expected, abs=1e-12)
    summed = sides[0].joined(sides[1]).as_sums()
    assert summed is not None


@pytest.mark.parametrize("metric", ["pearson", *ORDERED])
def test_answers_ready_to_exchange_score_what_they_scored(metric: str) -> None:
    gold, one, _ = made_up(2, 40, (0.5, 1.5))
    statistic, all_once = statistic_of(metric, gold, one), np.ones((1, 40))
    wider = math.sqrt(40 / 38) if metric in ("pearson", "spearman") else 1
    assert statistic.to_exchange().over(all_once) == pytest.approx(wider * statistic.over(all_once), abs=1e-12)
