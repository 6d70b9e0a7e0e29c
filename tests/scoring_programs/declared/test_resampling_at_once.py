"""Many resamples at once give what each of them gives alone: correlations, areas under curves, means over groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import average_precision_score, roc_auc_score

from declared.metrics import Sample, definitions, numbers
from declared.metrics.keys import Keys
from scoring_kit.resampling.significance import p_values
from scoring_kit.units import Array, Statistic
from tests.scoring_programs.declared.declaring import csv_of, score
from tests.scoring_programs.declared.resampled import units_of
from tests.scoring_programs.declared.test_units import GOLD_HEADER, HEADER, answers_of, mixed_table, some_rows
from tests.scoring_programs.scoring_kit.resampling.made_up import team

pytestmark = pytest.mark.slow

WORST = -1.0


def correlation(measure: Callable[[Any, Any], Any], gold: Array, predicted: Array) -> float:
    if len(gold) < 2 or len(set(gold)) == 1:
        return math.nan
    return WORST if len(set(predicted)) == 1 else float(measure(gold, predicted).statistic)


def area(measure: Callable[[Any, Any], float], gold: Array, predicted: Array) -> float:
    return float(measure(gold, predicted)) if len(set(gold)) == 2 else math.nan


def precision(gold: Array, predicted: Array) -> float:
    return float(average_precision_score(gold, predicted)) if gold.any() else math.nan


LIBRARIES: dict[str, Callable[[Array, Array], float]] = {
    "kendall": partial(correlation, kendalltau),
    "spearman": partial(correlation, spearmanr),
    "roc_auc": partial(area, roc_auc_score),
    "average_precision": precision,
}


def of_keys(metric: str, gold: NDArray[Any], predicted: NDArray[Any], unit: NDArray[Any]) -> Statistic:
    keys = Keys(unit, 5, WORST)
    return definitions()[metric].statistic(Sample(list(gold), list(predicted), []), {"positive": 1.0}, keys)


@pytest.mark.parametrize(("metric", "all_pairs"), [*((metric, True) for metric in LIBRARIES), ("kendall", False)])
@given(
    keys=st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.1, 0.25, 0.5, 0.9]), st.integers(0, 4)), min_size=1),
    counts=st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=5),
)
@settings(max_examples=25)
def test_each_resample_has_the_librarys_value(
    metric: str, all_pairs: bool, keys: Sequence[tuple[int, float, int]], counts: Sequence[Sequence[int]]
) -> None:
    gold, predicted, unit = (np.array(column) for column in zip(*keys, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "MOST_IN_PAIRS", numbers.MOST_IN_PAIRS if all_pairs else 0)
        patch.setattr("scoring_kit.units.CELLS", 3 * len(gold))  # blocks of three resamples
        found = of_keys(metric, gold, predicted, unit).over(np.array(counts, dtype=float))
    for row, value in zip(counts, found, strict=True):
        drawn = np.repeat(np.arange(len(gold)), np.array(row)[unit])
        expected = LIBRARIES[metric](gold[drawn], predicted[drawn])
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


class OneByOne:
    """A statistic without its sums, and one resample at a time."""

    def __init__(self, inner: Statistic) -> None:
        self.inner = inner

    def over(self, counts: Array) -> Array:
        return np.array([self.inner.over(row[np.newaxis])[0] for row in counts])

    def joined(self, other: OneByOne) -> OneByOne:
        return OneByOne(self.inner.joined(other.inner))

    def at(self, places: NDArray[np.intp]) -> OneByOne:
        return OneByOne(self.inner.at(places))

    def to_exchange(self) -> OneByOne:
        return OneByOne(self.inner.to_exchange())

    def as_sums(self) -> None:
        return None


SUMMED = {"f1_by", "two", "f1_where", "pearson", "spearman", "mcc"}


def test_tests_of_pairs_are_those_of_single_exchanges(tmp_path: Path) -> None:
    """Means over groups and fields of sums are sums, too."""
    gold, options = some_rows(0), mixed_table(tmp_path)
    every = [
        units_of(
            score(options, csv_of(GOLD_HEADER, gold), csv_of(HEADER, answers_of(other, gold)), tmp_path)
        ).statistics
        for other in range(3)
    ]
    for metric in every[0].keys() - {"bleu", "own"}:
        statistics: list[Any] = [own[metric] for own in every]
        if metric in SUMMED:
            exchanged, once = statistics[0].to_exchange(), np.ones((1, len(gold)))
            assert exchanged.as_sums().over(once) == pytest.approx(exchanged.over(once), abs=1e-12)
        expected = p_values([team(OneByOne(one)) for one in statistics], len(gold), 60, 9)
        assert p_values([team(one) for one in statistics], len(gold), 60, 9) == expected, metric
