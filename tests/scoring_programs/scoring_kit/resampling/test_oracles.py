"""The statistics against independent implementations: SciPy, scikit-learn, sacrebleu, and definitions by hand."""

import itertools

import numpy as np
import pytest
from scipy import stats

from scoring_kit.resampling.draws import (
    bootstrap_counts,
    exchanges,
    mean_tau,
    percentile_interval,
    rank_interval,
    ranks,
    shares,
    wins,
)
from scoring_kit.resampling.significance import p_values
from scoring_kit.resampling.task import Resampling, other_rankings, resampled
from scoring_kit.units import Array, Items
from tests.scoring_programs.scoring_kit.resampling.made_up import macro_f1, macro_f1_of, mean_of, means, team


def test_differences_that_are_equal_but_for_their_last_bits_are_ties() -> None:
    """Tenths are no sums of powers of two, whole numbers are; both have the same arrangements that tie."""
    sides = np.random.default_rng(0).integers(0, 10, (2, 6, 12))
    for a, b in zip(*sides, strict=True):
        whole, tenths = ([team(mean_of(side / one)) for side in (a, b)] for one in (1, 10))
        assert p_values(tenths, 12, 500, 1) == p_values(whole, 12, 500, 1)


def test_exchanging_sums_is_exchanging_units() -> None:
    """The quick way for sums against the slow one, which every statistic has."""

    def f1_of_rows(rows: Array, counts: Array) -> Array:
        return macro_f1(counts @ rows)

    random = np.random.default_rng(4)
    gold = random.integers(4, size=50)
    answers = [np.where(random.random(50) < right, gold, random.integers(4, size=50)) for right in (0.8, 0.6, 0.5)]
    quick = [macro_f1_of(gold.tolist(), own.tolist(), 4) for own in answers]
    slow = [Items(50, np.arange(50), one.sums, f1_of_rows) for one in quick]
    expected = p_values([team(one) for one in slow], 50, 500, 9)
    assert p_values([team(one) for one in quick], 50, 500, 9) == expected
    assert len(set(expected.values())) == 3


def test_ranks_and_tau_are_those_of_scipy() -> None:
    values = np.random.default_rng(2).integers(5, size=(6, 40)).astype(float)
    places = ranks(values, descending=True)
    assert (places == stats.rankdata(-values, method="min", axis=0)).all()
    assert (ranks(values, descending=False) == stats.rankdata(values, method="min", axis=0)).all()
    published = np.array([1, 2, 3, 3, 5, 6])
    taus = [stats.kendalltau(published, places[:, r]).statistic for r in range(40)]
    assert mean_tau(published, places) == pytest.approx(np.nan_to_num(taus).mean())
    assert mean_tau(np.array([1, 1]), places[:2]) is None


def test_shares_of_ranks_and_wins() -> None:
    places = np.array([[1, 1, 2, 1], [2, 1, 1, 1], [3, 3, 3, 3]])
    assert shares(places).tolist() == [[0.75, 0.25, 0.0], [0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]
    assert wins(places).tolist() == [0.5, 0.5, 0.0]
    assert rank_interval(places[0]) == (1, 2)
    assert percentile_interval(np.arange(1001.0)) == (25.0, 975.0)


@pytest.mark.slow
def test_draws() -> None:
    counts = np.concatenate(list(bootstrap_counts(30, 100_000, 1)))
    assert counts.shape == (100_000, 30)
    assert (counts.sum(axis=1) == 30).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(30), abs=0.05)
    assert counts.var() == pytest.approx(29 / 30, abs=0.02)
    assert (counts == np.concatenate(list(bootstrap_counts(30, 100_000, 1)))).all()
    masks = np.concatenate(list(exchanges(30, 20_000, 1)))
    assert set(np.unique(masks)) == {0.0, 1.0}
    assert masks.mean(axis=0) == pytest.approx(np.full(30, 0.5), abs=0.02)


def test_the_same_seed_gives_the_same_figures() -> None:
    random = np.random.default_rng(0)
    teams = means({name: random.normal(gain, size=40) for name, gain in (("A", 0.4), ("B", 0.1), ("C", 0))})
    published = {name: place for place, name in enumerate(teams, start=1)}
    once, again, other = (resampled(teams, published, 40, Resampling(500, seed)) for seed in (1, 1, 2))
    assert once == again
    assert once != other


def test_the_ideal_task_of_challenger_is_stable() -> None:
    """Its published example: five algorithms in ranges that do not meet; each keeps its rank in all resamples."""
    random = np.random.default_rng(4)
    ranges = ((0.9, 1), (0.8, 0.89), (0.7, 0.79), (0.6, 0.69), (0.5, 0.59))
    order = means({f"A{rank}": random.uniform(*ends, 50) for rank, ends in enumerate(ranges, start=1)})
    published = {f"A{rank}": rank for rank in range(1, 6)}
    found = resampled(order, published, 50, Resampling(1000, 1))
    assert found.tau_mean == 1
    assert found.rank_intervals == {name: (rank, rank) for name, rank in published.items()}
    assert found.wins == {"A1": 1, "A2": 0, "A3": 0, "A4": 0, "A5": 0}
    assert max(found.p_holm.values()) < 0.05
    assert found.groups == published
    assert other_rankings(order, 50)["mean_rank"] == {name: pytest.approx(rank) for name, rank in published.items()}


def test_the_worst_case_of_challenger_has_no_winner() -> None:
    """Its published example: each order of the same five values is one case, so that all algorithms are equal."""
    cases = np.array(list(itertools.permutations(np.linspace(0.8, 1, 5))))
    order = means({f"A{rank}": cases[:, rank - 1] for rank in range(1, 6)})
    found = resampled(order, dict.fromkeys(order, 1), len(cases), Resampling(4000, 1))
    assert min(found.p.values()) > 0.9
    assert set(found.groups.values()) == {1}
    assert found.rank_intervals == dict.fromkeys(order, (1, 5))
    assert found.wins == {name: pytest.approx(0.2, abs=0.04) for name in order}
    assert other_rankings(order, len(cases))["mean_rank"] == {name: pytest.approx(3) for name in order}
