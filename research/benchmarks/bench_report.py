"""The statistics of the final report: 60 teams, 2,000 units, 10,000 resamples, macro F1 over three labels.

The loop that it is compared with calls scikit-learn for every resample; it runs on a few and is scaled up.
"""

import resource
import time

import numpy as np

from scoring_kit.resampling.task import Resampling, resampled
from tests.scoring_programs.scoring_kit.resampling.made_up import macro_f1_of, team

TEAMS, UNITS, RESAMPLES, LABELS = 60, 2000, 10_000, 3
TRIED = 200


def main() -> None:
    """Print seconds, peak memory and the ratio to the loop."""
    from sklearn.metrics import f1_score

    random = np.random.default_rng(0)
    gold = random.integers(LABELS, size=UNITS)
    answers = [
        np.where(random.random(UNITS) < right, gold, random.integers(LABELS, size=UNITS))
        for right in np.linspace(0.8, 0.3, TEAMS)
    ]
    teams = {f"T{i}": team(macro_f1_of(gold.tolist(), own.tolist(), LABELS)) for i, own in enumerate(answers)}
    published = {name: place for place, name in enumerate(teams, start=1)}

    started = time.perf_counter()
    resampled(teams, published, UNITS, Resampling(RESAMPLES, 0))
    ours = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    started = time.perf_counter()
    for _ in range(TRIED):
        rows = random.integers(UNITS, size=UNITS)
        f1_score(gold[rows], answers[0][rows], labels=range(LABELS), average="macro", zero_division=0)
    one = (time.perf_counter() - started) / TRIED
    bootstrap = one * TEAMS * RESAMPLES
    tests = one * 2 * RESAMPLES * TEAMS * (TEAMS - 1) // 2
    print(f"{TEAMS} teams, {UNITS} units, {RESAMPLES} resamples: {ours:.1f} s, {peak:.0f} MB at most")
    print(f"scikit-learn in a loop: {1e3 * one:.2f} ms a resample, {bootstrap:.0f} s for the bootstrap alone, ", end="")
    print(f"{tests:.0f} s for all pairs: {bootstrap / ours:.0f} and {(bootstrap + tests) / ours:.0f} times as long")
