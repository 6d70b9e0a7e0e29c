"""Intervals, p values, Holm's correction and tie groups, against SciPy and against their definitions."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring_kit.program import ScoreColumn
from scoring_kit.resampling import significance
from scoring_kit.resampling.draws import (
    SAMPLES,
    bootstrap_counts,
    few_units,
    interval_or_reason,
    optimism,
    percentile_interval,
    ranks,
    uncut_interval,
)
from scoring_kit.units import Array, Limit, Statistic
from tests.scoring_programs.scoring_kit.resampling.made_up import macro_f1_of, mean_of, median_of, team

FINITE = st.floats(-100, 100).map(lambda value: round(value, 3))
LABELS = st.integers(0, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "measure"), [(mean_of, np.mean), (median_of, np.median)])
@settings(max_examples=15, deadline=None)
@given(st.lists(FINITE, min_size=2, max_size=40), st.integers(0, 9))
def test_an_interval_is_scipys(
    make: Callable[[Array], Statistic], measure: Callable[..., Any], values: list[float], seed: int
) -> None:
    """With SciPy's generator in the state of ours both draw the same samples."""
    data = np.array(values)
    expected = stats.bootstrap(
        (data,), measure, n_resamples=300, method="percentile", rng=np.random.default_rng([seed, SAMPLES])
    ).confidence_interval
    counts = np.concatenate(list(bootstrap_counts(len(data), 300, seed)))
    assert percentile_interval(make(data).over(counts)) == pytest.approx((expected.low, expected.high), abs=1e-9)


def all_exchanges(units: int, *_: object) -> Iterator[Array]:
    """Every way to exchange units, in place of random ones."""
    yield np.array(list(itertools.product((0.0, 1.0), repeat=units)))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=2, max_size=6))
def test_p_over_all_exchanges_is_that_of_scipys_permutation_test(rows: list[tuple[int, int, int]]) -> None:
    """SciPy tries all of them, too, where they are few; its p is exact, ours counts the observed one once more."""
    gold, a, b = np.array(rows).T

    def f1(answers: Array) -> float:
        of_label = []
        for label in range(3):
            both = np.sum((gold == label) & (answers == label))
            either = np.sum(gold == label) + np.sum(answers == label)
            of_label.append(2 * both / either if either else 0.0)
        return float(np.mean(of_label))

    exact = stats.permutation_test(
        (a, b), lambda x, y: round(f1(x) - f1(y), 12), permutation_type="samples", vectorized=False, n_resamples=np.inf
    ).pvalue
    teams = [team(macro_f1_of(gold.tolist(), own.tolist(), 3)) for own in (a, b)]
    arrangements = 2 ** len(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "exchanges", all_exchanges)
        p = significance.p_values(teams, len(rows), arrangements, 0)[0, 1]
    assert (p * (arrangements + 1) - 1) / arrangements == pytest.approx(exact)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closed_test_with_bonferronis(p: list[float]) -> None:
    """The largest, over all sets of hypotheses with this one, of the set's size times its smallest p (Holm 1979)."""
    found = significance.holm({("A", str(place)): value for place, value in enumerate(p)})
    for place in range(len(p)):
        sets = [own for size in range(1, len(p) + 1) for own in itertools.combinations(range(len(p)), size)]
        expected = max(len(own) * min(p[one] for one in own) for own in sets if place in own)
        assert found["A", str(place)] == pytest.approx(min(1.0, expected))


@pytest.mark.parametrize(
    ("values", "is_cut"),
    [
        (np.arange(1000.0), False),
        (np.full(1000, 0.9), True),
        (np.r_[np.full(30, 1.0), np.linspace(0, 0.99, 970)], True),
        (np.r_[np.full(20, 1.0), np.linspace(0, 0.99, 980)], False),
        (np.r_[np.full(30, 1.0), np.linspace(1.01, 2, 970)], True),
        (np.r_[np.linspace(0.1, 0.3, 998), 0.1 + 1e-15, 0.3], False),
    ],
)
def test_an_interval_that_would_be_cut_off_is_none(values: Array, is_cut: bool) -> None:
    found = uncut_interval(values)
    assert (found is None) == is_cut
    if found is not None:
        assert found == percentile_interval(values)


@pytest.mark.parametrize(
    ("number", "worst", "classes", "limit", "reason"),
    [
        (49, 0.0, [], None, "There are only 49 reviews; at least 50 make an interval."),
        (50, 0.0, [], None, None),
        (99, 0.0, [50, 49], None, "at least 100 make an interval of a mean over 2 classes or groups"),
        (100, 0.0, [50, 50], None, None),
        (119, 0.0, [19] * 5 + [24], None, "at least 120 make an interval of a mean over 6 classes or groups"),
        (120, 0.0, [20] * 6, None, None),
        (237, 0.0, [4, 233], None, "the rarest is in only 4 of 237 reviews: 1.8% of the resamples lack one"),
        (237, 0.0, [6, 231], None, None),
        (237, 0.0, [5, 5, 5, 222], None, "the rarest is in only 5 of 237 reviews"),
        (237, 0.0, [0, 100, 137], None, "a fixed list of classes, one of which none of the 237 reviews has"),
        (299, 1e9, [], None, "at least 300 make an interval of an error without a bound (worst: 1e+09; within 20 it"),
        (300, -1e9, [], None, None),
        (199, 20, [], "error", "at least 200 make an interval of an error."),
        (200, 20, [], "error", None),
        (299, 21, [], "error", "at least 300 make an interval of an error without a bound (worst: 21; within 20 it"),
        (300, 1e9, [], "error", None),
        (1999, 21, [], "squared", "at least 2000 make an interval of a squared error without a bound"),
        (200, 20, [], "squared", None),
        (1999, 6.4, [], "root", "within 6.32 it would bound an error of 2)"),
        (200, 6.3, [], "root", None),
        (2000, 1e9, [], "root", None),
        (500, 0.0, [39, 461], "sides", "only 39 of 500 reviews are on one side; at least 40 make an interval"),
        (80, 0.0, [40, 40], "sides", None),
        (10_000, 1.0, [], "biased", "Resamples repeat units, which adds to Macro F1"),
    ],
)
def test_why_there_are_too_few_units(
    number: int, worst: float, classes: list[int], limit: Limit | None, reason: str | None
) -> None:
    column = ScoreColumn("f1", "t", "Macro F1", "asc", 4, worst, "-")
    found = few_units(column, number, "reviews", classes, limit, 2.0)
    assert found is None if reason is None else reason in (found or "")


@pytest.mark.parametrize(("sort", "worst"), [("desc", 0.0), ("asc", None)])
def test_only_an_error_is_bounded_by_its_worst_value(sort: str, worst: float | None) -> None:
    assert few_units(ScoreColumn("r2", "t", "R²", sort, 4, worst, "-"), 1999, "rows", [], "squared", 2.0) is not None


@pytest.mark.parametrize(
    ("values", "score", "reason"),
    [
        (np.linspace(0.4, 0.6, 1000), 0.5, None),
        (np.linspace(0.4, 0.6, 1000), 0.53, "lie to one side"),
        (np.linspace(0.4, 0.6, 1000), 0.47, "lie to one side"),
        (np.r_[np.full(500, 1.0), np.linspace(0.4, 1, 500)], 0.9, "would be cut off"),
        (np.full(1000, 0.9), 0.9, "would be cut off"),
        (np.r_[np.linspace(0, 1, 980), np.linspace(100, 101, 20)], 2.0, "outside of the interval"),
    ],
)
def test_an_interval_that_does_not_cover_is_none(values: Array, score: float, reason: str | None) -> None:
    found = interval_or_reason(values, score)
    assert found == percentile_interval(values) if reason is None else reason in str(found)


def test_optimism_is_what_the_first_of_a_resample_gains() -> None:
    values = np.array([[0.5, 0.9, 0.7], [0.6, 0.8, 0.7]])
    found = optimism(values, ranks(values, descending=True), np.array([0.7, 0.6]))
    assert found == pytest.approx(np.mean([0.6 - 0.6, 0.9 - 0.7, (0.7 - 0.7 + 0.7 - 0.6) / 2]))


@pytest.mark.parametrize(
    ("p", "groups"),
    [
        ({"AB": 0.5, "AC": 0.01, "BC": 0.5}, {"A": 1, "B": 1, "C": 2}),
        ({"AB": 0.01, "AC": 0.01, "BC": 0.01}, {"A": 1, "B": 2, "C": 3}),
        ({"AB": 0.9, "AC": 0.9, "BC": 0.01}, {"A": 1, "B": 1, "C": 1}),
        # B differs steadily from A, C does not.
        ({"AB": 0.01, "AC": 0.06, "BC": 0.9}, {"A": 1, "B": 2, "C": 1}),
        ({"AB": 0.05, "AC": 0.04999, "BC": 1.0}, {"A": 1, "B": 1, "C": 2}),
    ],
)
def test_who_does_not_differ_from_the_best_of_a_group(p: dict[str, float], groups: dict[str, int]) -> None:
    pairs = {(pair[0], pair[1]): value for pair, value in p.items()}
    assert significance.tie_groups("ABC", pairs) == groups
    assert significance.tie_groups("ABC", {(b, a): value for (a, b), value in pairs.items()}) == groups
