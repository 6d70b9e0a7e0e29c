"""Coverage of the final report's 95 % intervals, where they are printed, in simulated test sets.

For each metric and number of units, `SETS` test sets are drawn from a population whose value is known, or taken from
400,000 units. The report's own rules, draws and intervals decide what is printed of a declared column. The table has
the share of the printed intervals that hold the true value (standard error .005 where all are printed), and how many
test sets have one.

Run: `.venv/bin/python -m research.coverage [METRIC …]`; about half an hour.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scoring_programs"))

from declared.metrics import Sample, definitions
from declared.metrics.keys import Keys
from scoring_kit.base.field_types import Field
from scoring_kit.program import ScoreColumn
from scoring_kit.resampling.draws import Part, TeamColumn, few_units
from scoring_kit.resampling.task import Resampling, resampled
from scoring_kit.units import Statistic

SETS, RESAMPLES, SEED = 2000, 1000, 7
SIZES = (50, 100, 200, 500)
POPULATION = 400_000
RANDOM = np.random.default_rng(SEED)
THREE = Field("y", "label", {"a": 0, "b": 1, "c": 2})
OF_THREE = Field("y", "probabilities", {"a": 0, "b": 1, "c": 2})

Draw = Callable[[int], tuple[Any, Any]]
"""Number of keys → gold and answer of each."""


@dataclass(frozen=True, eq=False)
class Case:
    """A metric and a population.

    Attributes:
        metric: by its name in the table of metrics.
        draw: test sets.
        worst: the column's.
        sort: likewise.
        options: the metric's, where they are not the default.
        field: what is answered.
        true: the population's value; None: that of `POPULATION` units.
        of_classes: the metric is a mean over the gold's labels.
        clusters: number of units → how many keys each has; None: one.
    """

    metric: str
    draw: Draw
    worst: float = 0.0
    sort: str = "desc"
    options: Mapping[str, Any] = field(default_factory=dict)
    field: Field = THREE
    true: float | None = None
    of_classes: bool = False
    clusters: Callable[[int], Any] = np.ones

    def statistic(self, gold: Any, answers: Any, unit: Any) -> Statistic:
        definition = definitions()[self.metric]
        keys = Keys(unit, int(unit[-1]) + 1, float("nan"))
        options = {**definition.options, "positive": "a", **self.options}
        return definition.statistic(Sample(gold, answers, [self.field]), options, keys)

    @cache  # noqa: B019 a few cases, which live as long as the program
    def truth(self) -> float:
        """The population's value."""
        if self.true is not None:
            return self.true
        one = self.statistic(*self.draw(POPULATION), np.zeros(POPULATION, dtype=np.intp))
        return float(one.over(np.ones((1, 1)))[0])


def labels(shares: Sequence[float], right: float) -> Draw:
    """Labels with these shares; a wrong answer is any other label."""

    def draw(units: int) -> tuple[Any, Any]:
        names = np.array(list("abcdefghi")[: len(shares)])
        gold = RANDOM.choice(len(shares), size=units, p=shares)
        other = (gold + RANDOM.integers(1, len(shares), size=units)) % len(shares)
        answers = np.where(RANDOM.random(units) < right, gold, other)
        return names[gold].tolist(), names[answers].tolist()

    return draw


def geometric(units: int) -> Any:
    """Sizes of clusters, 4 in the mean."""
    return np.random.default_rng(units).geometric(0.25, size=units)


def clustered(keys: int) -> tuple[Any, Any]:
    """Right and wrong labels in the clusters that have so many keys, each with a share of right answers of its own."""
    units = next(units for units in (*SIZES, POPULATION) if geometric(units).sum() == keys)
    right = RANDOM.random(keys) < np.repeat(RANDOM.beta(4, 2, size=units), geometric(units))
    return ["a"] * keys, np.where(right, "a", "b").tolist()


def errors(of: Callable[[int], Any]) -> Draw:
    """Normal gold, and answers with these errors."""

    def draw(units: int) -> tuple[Any, Any]:
        gold = RANDOM.normal(scale=2, size=units)
        return gold, gold + of(units)

    return draw


def ratings(units: int) -> tuple[Any, Any]:
    """Ratings from 1 to 5, and numbers near them."""
    gold = RANDOM.integers(1, 6, size=units).astype(float)
    return gold, np.clip(gold + RANDOM.normal(scale=2.2, size=units), 1, 5)


def correlated(by: float) -> Draw:
    """Normal gold and answers that correlate so much."""

    def draw(units: int) -> tuple[Any, Any]:
        gold = RANDOM.normal(size=units)
        return gold, by * gold + np.sqrt(1 - by**2) * RANDOM.normal(size=units)

    return draw


def scored(share: float) -> Draw:
    """Labels of which so many are positive, and numbers that are higher for these."""

    def draw(units: int) -> tuple[Any, Any]:
        positive = RANDOM.random(units) < share
        return np.where(positive, "a", "b").tolist(), RANDOM.normal(size=units) + 1.2 * positive

    return draw


def probabilities(units: int) -> tuple[Any, Any]:
    """Probabilities of three labels, surer than they are right."""
    logits = RANDOM.normal(scale=1.5, size=(units, 3))
    own = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    gold = (RANDOM.random((units, 1)) > own.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    surer = own**1.6 / (own**1.6).sum(axis=1, keepdims=True)
    return np.array(list("abc"))[gold].tolist(), surer.tolist()


BINARY = {"average": "binary"}
NUMBER = Field("y", "number")
CASES: Mapping[str, Case] = {
    "accuracy .8": Case("accuracy", labels([0.4, 0.6], 0.8), true=0.8),
    "accuracy .95": Case("accuracy", labels([0.4, 0.6], 0.95), true=0.95),
    "accuracy in clusters": Case("accuracy", clustered, true=2 / 3, clusters=geometric),
    "F1 binary, 5 % positive": Case("f1", labels([0.05, 0.95], 0.9), options=BINARY),
    "F1 binary, 15 % positive": Case("f1", labels([0.15, 0.85], 0.9), options=BINARY),
    "recall binary, 5 % positive": Case("recall", labels([0.05, 0.95], 0.8), options=BINARY),
    "MCC, 5 % positive": Case("mcc", labels([0.05, 0.95], 0.9), worst=-1),
    "macro F1, labels .2/.5/.3": Case("f1", labels([0.2, 0.5, 0.3], 0.7), of_classes=True),
    "macro F1, labels .05/.25/.7": Case("f1", labels([0.05, 0.25, 0.7], 0.7), of_classes=True),
    "macro F1, nine labels": Case(
        "f1", labels([0.02, 0.03, 0.05, 0.07, 0.1, 0.1, 0.15, 0.2, 0.28], 0.6), of_classes=True
    ),
    "kappa, quadratic": Case("kappa", labels([0.2, 0.5, 0.3], 0.7), worst=-1, options={"weights": "quadratic"}),
    "ROC AUC, 10 % positive": Case("roc_auc", scored(0.1), field=NUMBER),
    "average precision, 10 % positive": Case("average_precision", scored(0.1), field=NUMBER),
    "ECE": Case("ece", probabilities, worst=1, sort="asc", field=OF_THREE),
    "Brier score, three labels": Case("brier", probabilities, worst=2, sort="asc", field=OF_THREE),
    "RMSE, normal errors, worst 30": Case(
        "rmse", errors(lambda n: RANDOM.normal(size=n)), 30, "asc", field=NUMBER, true=1.0
    ),
    "RMSE of ratings, worst 4": Case("rmse", ratings, 4, "asc", field=NUMBER),
    "MAE, t of 3, worst 30": Case(
        "mae", errors(lambda n: RANDOM.standard_t(3, size=n)), 30, "asc", field=NUMBER, true=2 * 3**0.5 / np.pi
    ),
    "MAE of ratings, worst 4": Case("mae", ratings, 4, "asc", field=NUMBER),
    "R², t of 3, worst −1": Case("r2", errors(lambda n: RANDOM.standard_t(3, size=n)), -1, field=NUMBER, true=0.25),
    "Spearman .7": Case("spearman", correlated(0.7), worst=-1, field=NUMBER),
    "CCC .7": Case("ccc", correlated(0.7), worst=-1, field=NUMBER),
}


def coverage(case: Case, units: int) -> tuple[float, float]:
    """Which share of the printed intervals holds the truth, NaN without any, and which share of test sets has one."""
    held = []
    for seed in range(SETS):
        interval = _printed(case, units, seed)
        if interval is not None:
            held.append(interval[0] - 1e-12 <= case.truth() <= interval[1] + 1e-12)
    return float(np.mean(held)) if held else float("nan"), len(held) / SETS


def _printed(case: Case, units: int, seed: int) -> tuple[float, float] | None:
    """The interval that the final report prints of a test set; None where it prints none."""
    unit = np.repeat(np.arange(units), case.clusters(units).astype(np.intp))
    gold, answers = case.draw(len(unit))
    statistic = case.statistic(gold, answers, unit)
    column = ScoreColumn("c", "t", "C", case.sort, 4, case.worst, "-")
    classes, limit = [], definitions()[case.metric].limit
    if case.of_classes or limit == "sides":
        classes = np.unique(gold, return_counts=True)[1].tolist()
    score = float(statistic.over(np.ones((1, units)))[0])
    if few_units(column, units, "units", classes, limit, score) is not None:
        return None
    team = {"team": TeamColumn(column, [Part(column, statistic)])}
    return resampled(team, {"team": 1}, units, Resampling(RESAMPLES, seed)).intervals.get("team")


def main() -> None:
    print("| metric |", " | ".join(f"n = {units}" for units in SIZES), "|")
    print("| --- |", " | ".join("---" for _ in SIZES), "|")
    for name, case in CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        cells = []
        for units in SIZES:
            holds, printed = coverage(case, units)
            cells.append(f"{holds:.3f} of {printed:.1%}" if printed else "–")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
