"""Tests of pairs where a team writes its answers on a scale of its own: type I error and power.

Two systems answer with the gold plus noise; the second one's answers are multiplied. Test sets are drawn for each
figure, and the kit's own test decides; the standard error of a share of .05 is .002.

Run: `.venv/bin/python -m research.pairs [METRIC …]`; about ten minutes.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scoring_programs"))

from declared.metrics import Sample, definitions
from declared.metrics.keys import Keys
from scoring_kit.program import ScoreColumn
from scoring_kit.resampling.draws import Part, TeamColumn
from scoring_kit.resampling.significance import p_values

SETS, SETS_OF_POWER, RESAMPLES, ALPHA = 10_000, 2000, 199, 0.05
METRICS = ("pearson", "spearman", "kendall", "roc_auc", "average_precision")
FACTORS = (1, 20)
EQUAL, GOOD, DIFFERENT = (1.0, 1.0), (0.3, 0.3), (0.75, 1.0)
"""Standard deviations of the noise of two systems."""
COLUMN = ScoreColumn("score", "main", "Score", "desc", 4, None, "")


def main() -> None:
    """Print the table of README.md."""
    print("| metric | type I, n = 20 | good systems, n = 20 | n = 50 | n = 100 | power, n = 200 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for metric in sys.argv[1:] or METRICS:
        cells = [_rejected(metric, 20, EQUAL, SETS), _rejected(metric, 20, GOOD, SETS)]
        cells += [_rejected(metric, units, EQUAL, SETS) for units in (50, 100)]
        cells.append(_rejected(metric, 200, DIFFERENT, SETS_OF_POWER))
        print(f"| {metric} | {' | '.join(cells)} |", flush=True)


def _rejected(metric: str, units: int, noise: tuple[float, float], sets: int) -> str:
    """The shares of test sets in which the systems differ significantly, for each factor."""
    found = np.zeros(len(FACTORS))
    for seed in range(sets):
        random = np.random.default_rng(seed)
        gold = random.normal(size=units)
        answers = [gold + random.normal(scale=scale, size=units) for scale in noise]
        for place, factor in enumerate(FACTORS):
            teams = [_team(metric, gold, answers[0]), _team(metric, gold, factor * answers[1])]
            found[place] += p_values(teams, units, RESAMPLES, seed)[0, 1] <= ALPHA
    return ", ".join(f"{share:.3f}".lstrip("0") for share in found / sets)


def _team(metric: str, gold: Any, predicted: Any) -> TeamColumn:
    truth = gold
    if metric in ("roc_auc", "average_precision"):
        truth = np.where(gold > 0, "yes", "no").tolist()
    keys = Keys(np.arange(len(gold)), len(gold), -1.0)
    statistic = definitions()[metric].statistic(Sample(truth, predicted, []), {"positive": "yes"}, keys)
    return TeamColumn(COLUMN, [Part(COLUMN, statistic)])


if __name__ == "__main__":
    main()
