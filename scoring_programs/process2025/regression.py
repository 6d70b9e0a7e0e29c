"""Regression: root mean squared error of the MMSE score, of the model with the lowest one.

Source: PROCESS Grand Challenge at ICASSP 2025, "Evaluation". Speakers without a gold MMSE score are not in it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from process2025.classification import best_first, of_best
from process2025.reference import ProcessReference
from process2025.submission import ModelAnswers, ProcessSubmission
from scoring_kit.metrics import summed
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, comparable
from scoring_kit.units import Additive, Array, Limit, ScoredUnits, Statistic, Units

ROOT: Limit = "root"
METRICS = ("rmse", "model1_rmse", "model2_rmse", "model3_rmse")


def score(reference: ProcessReference, submission: ProcessSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score every model of a submission that enters the task; the first with the lowest error counts."""
    models = submission.models["regression"]
    rows = len(reference.mmse) - reference.mmse.count(None)
    scored: dict[int, float] = {}
    bars = []
    for model in models:
        if model.status == "scored":
            scored[model.number] = rmse(model.answers, reference.mmse)
            bars.append(Bar(f"Model {model.number}", scored[model.number], rows))
    best = min(scored, key=lambda number: (comparable(scored[number]), number))
    metrics = {"rmse": Metric(scored[best], rows), "regression_best_model": Metric(best, rows)}
    for model in models:
        value = scored.get(model.number)
        items = rows if model.number in scored else 0
        metrics[f"model{model.number}_rmse"] = Metric(value, items, status=model.status, drawn=True)
    title = "Regression: root mean squared error of each model, in MMSE points"
    figures = []
    if len(bars) > 1:  # the error of a single one is on the board
        figures.append(BarChart(title, bars, "lower", "speakers with a gold score", of="model"))
    return TaskResult(metrics=metrics, figures=figures, units=lambda: _units(reference, models, scored))


def _units(reference: ProcessReference, models: Sequence[ModelAnswers], errors: Mapping[int, float]) -> Units:
    """Return what each speaker adds to the RMSE of each scored model, and of the best one."""
    import numpy as np

    gold = np.array(reference.mmse, dtype=np.float64)  # None becomes NaN
    scored = ~np.isnan(gold)
    terms: dict[int, Array] = {}
    for model in models:
        if model.number in errors:
            squares = np.where(scored, gold - np.array(model.answers), 0.0) ** 2
            terms[model.number] = np.column_stack([squares, scored])
    by_merit = sorted(terms, key=lambda number: (comparable(errors[number]), number))
    all_models = best_first(terms, by_merit)
    statistics: dict[str, Statistic] = {"rmse": Additive(all_models, of_best(_negative_rmse, summed.rmse))}
    for number, own in terms.items():
        statistics[f"model{number}_rmse"] = Additive(own, summed.rmse)
    places = ScoredUnits("speaker", np.flatnonzero(scored))
    limits = dict.fromkeys(statistics, ROOT)
    return Units("speaker", reference.ids, statistics, dict.fromkeys(statistics, places), limits=limits)


def _negative_rmse(sums: Array) -> Array:
    return -summed.rmse(sums)


def rmse(predictions: Sequence[float], golds: Sequence[float | None]) -> float:
    """Root mean squared error, in MMSE points, over the speakers with a gold score (at least one)."""
    squares = [(given - gold) ** 2 for given, gold in zip(predictions, golds, strict=True) if gold is not None]
    return math.sqrt(math.fsum(squares) / len(squares))
