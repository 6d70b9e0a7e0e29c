"""Made-up tasks whose truth is known: how often intervals hold it, and how often equal teams seem to differ."""

from collections.abc import Iterator

import numpy as np
import pytest

from scoring_kit.resampling.task import Resampled, Resampling, resampled
from scoring_kit.units import Additive, Array
from tests.scoring_programs.scoring_kit.resampling.made_up import means, team

TASKS, UNITS, RESAMPLES = 150, 100, 400


def simulated(*gains: float, tasks: int = TASKS, tests_alone: bool = False) -> Iterator[Resampled]:
    """Tasks of teams whose units have a difficulty in common, each with its own mean."""
    random = np.random.default_rng(2026)
    for task in range(tasks):
        difficulty = random.normal(size=UNITS)
        teams = means({f"{gain}:{i}": difficulty + random.normal(gain, size=UNITS) for i, gain in enumerate(gains)})
        published = {name: place for place, name in enumerate(teams, start=1)}
        yield resampled(teams, published, UNITS, Resampling(RESAMPLES, task), few=tests_alone)


def truth(name: str) -> float:
    return float(name.split(":")[0])


@pytest.mark.slow
def test_intervals_of_scores_and_differences_hold_the_truth_in_95_of_100_tasks() -> None:
    scores: list[bool] = []
    differences: list[bool] = []
    for found in simulated(0.4, 0.2, 0.0):
        scores += [low <= truth(name) <= high for name, (low, high) in found.intervals.items()]
        differences += [low <= truth(a) - truth(b) <= high for (a, b), (low, high) in found.differences.items()]
    assert len(scores) == len(differences) == 3 * TASKS
    assert 0.93 <= np.mean(scores) <= 0.97
    assert 0.93 <= np.mean(differences) <= 0.97


@pytest.mark.slow
def test_equal_teams_rarely_seem_to_differ_and_real_differences_are_found() -> None:
    """The share of tasks with any false positive among the pairs is what Holm bounds by 5 %."""
    false = [any(p < 0.05 for p in found.p_holm.values()) for found in simulated(*[0.0] * 5, tests_alone=True)]
    assert np.mean(false) <= 0.05
    found_ones = [max(found.p_holm.values()) < 0.05 for found in simulated(0.5, 0.0, tests_alone=True)]
    assert np.mean(found_ones) > 0.9


@pytest.mark.slow
def test_a_first_place_looks_at_least_as_much_too_good_as_is_said() -> None:
    """The true score of each of twelve equal teams is 0."""
    said, gained = [], []
    for found in simulated(*[0.0] * 12, tasks=20):
        said.append(found.optimism or 0.0)
        gained.append(max(sum(ends) / 2 for ends in found.intervals.values()))
    assert 0.4 * np.mean(gained) < np.mean(said) < np.mean(gained)


def test_a_statistic_that_resampling_biases_has_no_interval() -> None:
    """How far a mean is from 0 is more in nearly all resamples, where it is 0 in the test set."""
    values = np.random.default_rng(3).normal(size=(3, 60))
    values -= values.mean(axis=1, keepdims=True)
    teams = {}
    for name, own in zip("ABC", values, strict=True):
        teams[name] = team(Additive(np.column_stack([own, np.ones(60)]), _distance), "asc", 9.0)
    found = resampled(teams, {"A": 1, "B": 1, "C": 1}, 60, Resampling(500, 0))
    assert not found.intervals
    assert "lie to one side of the score, for 3 of 3 teams" in str(found.without)
    teams["A"], teams["B"] = (team(Additive(np.column_stack([own + 5, np.ones(60)]), _distance)) for own in values[:2])
    found = resampled(teams, {"A": 1, "B": 2, "C": 3}, 60, Resampling(500, 0))
    assert found.without is None
    assert set(found.intervals) == {"A", "B"}
    assert found.reasons["C"] == "The resamples lie to one side of the score."


def _distance(sums: Array) -> Array:
    return np.abs(sums[..., 0] / sums[..., 1])


@pytest.mark.slow
def test_the_smallest_difference_is_found_in_8_of_10_tasks() -> None:
    """Of means of normal values, 2.8 standard errors of a difference, which is √(2 / 100) here."""
    smallest = [found.smallest for found in simulated(0.4, 0.0)]
    assert np.mean([one for one in smallest if one]) == pytest.approx(2.8 * (2 / UNITS) ** 0.5, rel=0.03)
    found_ones = [found.p[name] < 0.05 for found in simulated(0.396, 0.0, tests_alone=True) for name in found.p]
    assert np.mean(found_ones) == pytest.approx(0.8, abs=0.05)
