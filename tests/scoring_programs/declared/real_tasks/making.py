"""What the makers of tasks have in common: how answers are drawn, files written, and libraries called."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import stats
from sklearn import metrics as sk

from gen_bundle.ground.resources import REAL_TASKS
from tests.scoring_programs.declared.declaring import AnyFiles, Files, csv_of, jsonl_of

__all__ = ["MAKERS", "REAL_TASKS", "Case", "Files", "Team", "Values", "csv_of", "jsonl_of"]

Values = dict[str, float]
Case = tuple[AnyFiles, AnyFiles, Values]
"""Gold, a submission, and the value of every column that has a metric or an expression."""


class Team(random.Random):
    """Draws the gold, and answers to it: mixed ones, often right, perfect or random ones, or constantly the same."""

    manner = "mixed"


def team(seed: int, manner: str = "mixed") -> Team:
    found = Team(seed)
    found.manner = manner
    return found


MAKERS: dict[str, Callable[[Team], Case]] = {}
"""Task → its maker."""


def task(make: Callable[[Team], Case]) -> Callable[[Team], Case]:
    """Register a maker; the task is called like the function, with hyphens."""
    MAKERS[make.__name__.replace("_", "-")] = make
    return make


def noisy(rng: Team, label: Any, labels: Sequence[Any]) -> Any:
    """An answer to a label."""
    if rng.manner == "perfect":
        return label
    if rng.manner == "constant":
        return labels[0]
    return label if rng.manner == "mixed" and rng.random() < 0.6 else rng.choice(labels)


def near(rng: Team, number: float, spread: float = 0.3, low: float = 0.0, high: float = 1.0) -> float:
    """An answer to a number, of three decimals."""
    if rng.manner == "perfect":
        return number
    if rng.manner == "constant":
        return low
    middle = number + rng.gauss(0, spread) if rng.manner == "mixed" else rng.uniform(low, high)
    return round(min(high, max(low, middle)), 3)


def some(rng: Team, right: set[Any], possible: Sequence[Any]) -> set[Any]:
    """An answer to a set: of each possible element whether it is in."""
    return {one for one in possible if noisy(rng, one in right, [False, True])}


def ranked(rng: Team, items: Sequence[Any], relevant: set[Any]) -> list[Any]:
    """All items in an order, the relevant ones rather before the others."""
    if rng.manner == "constant":
        return list(items)
    places = {item: rng.random() + (item in relevant) * (0 if rng.manner == "random" else -0.4) for item in items}
    if rng.manner == "perfect":
        places = {item: float(item not in relevant) for item in items}
    return sorted(items, key=lambda item: places[item])


def lines_of(rows: Sequence[Any]) -> str:
    """A line for each row, whose cells are separated by tabs."""
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def tsv_of(header: str, rows: Sequence[Any]) -> str:
    return lines_of([header.split(","), *rows])


def shuffled(rng: Team, rows: Sequence[Any]) -> list[Any]:
    return rng.sample(list(rows), len(rows))


def beside(keys: Iterable[Any], *columns: Iterable[Any]) -> list[Any]:
    """Rows of a key, which may have parts, and cells, each of one column or several."""
    parts = [[one if isinstance(one, (tuple, list)) else [one] for one in column] for column in (keys, *columns)]
    return [tuple(chain(*row)) for row in zip(*parts, strict=True)]


def answered(rng: Team, rows: Sequence[Any], answers: Sequence[Any]) -> list[Any]:
    """The first cell of each row beside its answer, in any order."""
    return shuffled(rng, beside([row[0] for row in rows], answers))


WORDS = ["the", "cat", "sat", "on", "mat", "running", "dogs", "Green", "ideas", "."]


def sentence(rng: Team) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 10)))


def prf(gold: Any, answers: Any, average: str, **options: Any) -> list[float]:
    """Precision, recall and F1."""
    found = sk.precision_recall_fscore_support(gold, answers, average=average, **{"zero_division": 0, **options})
    return [float(value) for value in found[:3]]


def kept(flags: Sequence[bool], *columns: Sequence[Any]) -> list[list[Any]]:
    return [[value for value, flag in zip(column, flags, strict=True) if flag] for column in columns]


def mean_over(
    groups: Sequence[Any], gold: Sequence[Any], answers: Sequence[Any], metric: Callable[..., float]
) -> float:
    values = []
    for group in dict.fromkeys(groups):
        at = [i for i, one in enumerate(groups) if one == group]
        values.append(float(metric([gold[i] for i in at], [answers[i] for i in at])))
    return float(np.mean(values))


def correlation(metric: Callable[..., Any], gold: Any, answers: Any, undefined: float) -> float:
    """Of scipy; where all answers are equal it is undefined."""
    return undefined if len(set(answers)) == 1 else float(metric(gold, answers).statistic)


def pearson(gold: Any, answers: Any, *, undefined: float = -1.0) -> float:
    return correlation(stats.pearsonr, gold, answers, undefined)


def spearman(gold: Any, answers: Any, *, undefined: float = -1.0) -> float:
    return correlation(stats.spearmanr, gold, answers, undefined)


def kendall(gold: Any, answers: Any, *, undefined: float = -1.0) -> float:
    return correlation(stats.kendalltau, gold, answers, undefined)


def micro(gold: Sequence[set[Any]], answers: Sequence[set[Any]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of sets, counted over all of them."""
    right = sum(len(g & a) for g, a in zip(gold, answers, strict=True))
    predicted, there = sum(map(len, answers)), sum(map(len, gold))
    precision, recall = (right / predicted if predicted else 0.0), (right / there if there else 0.0)
    return precision, recall, harmonic(precision, recall)


def harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def mean_dice(gold: Sequence[set[Any]], answers: Sequence[set[Any]]) -> float:
    """The mean F1 of pairs of sets, of which two empty ones are equal."""
    pairs = zip(gold, answers, strict=True)
    return float(np.mean([2 * len(g & a) / (len(g) + len(a)) if g or a else 1.0 for g, a in pairs]))
