"""Tests of pairs for metrics that are not plain sums: all resamples at once, and one after the other.

Four teams, 300 units; the loop calls the library for every resample, on a few, and is scaled up.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from declared.metrics import Sample, definitions
from declared.metrics.keys import Keys
from declared.units import MeanOfParts, PartOfUnits
from scoring_kit.resampling.significance import p_values
from scoring_kit.units import Array, Statistic
from tests.scoring_programs.scoring_kit.resampling.made_up import macro_f1_of, team

TEAMS, UNITS, RESAMPLES, GROUPS, LABELS = 4, 300, 10_000, 10, 3
TRIED = 200
PAIRS = TEAMS * (TEAMS - 1) // 2


def main() -> None:
    """Print seconds, and the ratio to the loop."""
    from scipy.stats import kendalltau, spearmanr
    from sklearn.metrics import f1_score, roc_auc_score

    random = np.random.default_rng(0)
    gold = random.normal(size=UNITS)
    outcome = (gold > 0).astype(float)
    answers = [gold + random.normal(scale=scale, size=UNITS) for scale in np.linspace(0.5, 1.5, TEAMS)]
    libraries: dict[str, tuple[Array, Callable[[Any, Any], object]]] = {
        "kendall": (gold, kendalltau),
        "spearman": (gold, spearmanr),
        "roc_auc": (outcome, roc_auc_score),
    }
    for metric, (side, library) in libraries.items():
        statistics = [_statistic(metric, side, own) for own in answers]
        _compare(metric, statistics, partial(_once, library, side, answers[0]))

    labels = random.integers(LABELS, size=UNITS)
    guesses = [
        np.where(random.random(UNITS) < p, labels, random.integers(LABELS, size=UNITS)) for p in (0.8, 0.7, 0.6, 0.5)
    ]
    places = np.array_split(np.arange(UNITS), GROUPS)

    def by_group(rows: Array) -> None:
        for group in range(GROUPS):
            own = rows[rows % GROUPS == group]
            f1_score(labels[own], guesses[0][own], average="macro", zero_division=0)

    means = []
    for guess in guesses:
        by_part = [macro_f1_of(labels[own].tolist(), guess[own].tolist(), LABELS) for own in places]
        means.append(MeanOfParts([PartOfUnits(UNITS, *part) for part in zip(places, by_part, strict=True)]))
    _compare(f"macro F1 by one of {GROUPS} groups, the mean", means, by_group)


def _statistic(metric: str, gold: Array, predicted: Array) -> Statistic:
    keys = Keys(np.arange(UNITS), UNITS, -1.0)
    sample = Sample(gold.tolist(), predicted.tolist(), [])
    return definitions()[metric].statistic(sample, {"positive": 1.0}, keys)


def _once(library: Callable[[Any, Any], object], gold: Array, predicted: Array, rows: Any) -> None:
    library(gold[rows], predicted[rows])


def _compare(name: str, statistics: list[Any], once: Callable[[Any], object]) -> None:
    started = time.perf_counter()
    p_values([team(one) for one in statistics], UNITS, RESAMPLES, 0)
    ours = time.perf_counter() - started
    random = np.random.default_rng(1)
    started = time.perf_counter()
    for _ in range(TRIED):
        once(random.integers(UNITS, size=UNITS))
    loop = (time.perf_counter() - started) / TRIED * 2 * RESAMPLES * PAIRS
    print(
        f"{name}: {PAIRS} pairs, {UNITS} units, {RESAMPLES} resamples: {ours:.1f} s; in a loop {loop:.0f} s, ", end=""
    )
    print(f"{loop / ours:.0f} times as long")
