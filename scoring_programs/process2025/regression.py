"""Regression: root mean squared error of the MMSE score, of the model with the lowest one.

Source: PROCESS Grand Challenge at ICASSP 2025, "Evaluation". Speakers without a gold MMSE score are not in it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from process2025.per_speaker import regression_units
from process2025.reference import ProcessReference
from process2025.submission import ProcessSubmission
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, comparable

METRICS = ("rmse", "model1_rmse", "model2_rmse", "model3_rmse")


def score(reference: ProcessReference, submission: ProcessSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score every model of a submission that enters the task; the first with the lowest error counts."""
    models = submission.models["regression"]
    scored = {model.number: rmse(model.answers, reference.mmse) for model in models if model.status == "scored"}
    best = min(scored, key=lambda number: (comparable(scored[number]), number))
    rows = sum(value is not None for value in reference.mmse)
    metrics = {"rmse": Metric(scored[best], rows), "regression_best_model": Metric(best, rows)}
    for model in models:
        value, items = scored.get(model.number), rows if model.number in scored else 0
        metrics[f"model{model.number}_rmse"] = Metric(value, items, status=model.status, drawn=True)
    title = "Regression: root mean squared error of each model, in MMSE points"
    bars = [Bar(f"Model {number}", value, rows) for number, value in scored.items()]
    return TaskResult(
        metrics=metrics,
        figures=[BarChart(title, bars, "lower", "speakers with a gold score")] if len(bars) > 1 else [],
        units=lambda: regression_units(reference, models, scored),
    )


def rmse(predictions: Sequence[float], golds: Sequence[float | None]) -> float:
    """Root mean squared error, in MMSE points, over the speakers with a gold score (at least one)."""
    squares = [(given - gold) ** 2 for given, gold in zip(predictions, golds, strict=True) if gold is not None]
    return math.sqrt(math.fsum(squares) / len(squares))
