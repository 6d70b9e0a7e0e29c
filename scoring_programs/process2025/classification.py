"""Classification: macro F1, precision and recall over the three classes, of the model with the best F1.

Source: PROCESS Grand Challenge at ICASSP 2025, "Evaluation": each macro figure is the mean over the classes. So macro
F1 is the mean of the classes' F1, as its formula says, not the harmonic mean that its caption names.
"""

from collections.abc import Mapping
from typing import Any

from process2025.per_speaker import MACRO, classification_units
from process2025.reference import ProcessReference
from process2025.submission import CLASSES, ProcessSubmission
from scoring_kit.metrics.classification import LabelScores, label_figures, label_metrics, score_labels
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, comparable

METRICS = tuple(f"{prefix}{name}" for prefix in ("", "model1_", "model2_", "model3_") for name in MACRO)


def score(reference: ProcessReference, submission: ProcessSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score every model of a submission that enters the task; the first with the highest macro F1 counts."""
    models = submission.models["classification"]
    scored = {
        model.number: score_labels(model.answers, reference.classes, CLASSES)
        for model in models
        if model.status == "scored"
    }
    best = max(scored, key=lambda number: (comparable(scored[number].macro_f1), -number))
    metrics = _macro_metrics("", scored[best], None)
    metrics["classification_best_model"] = Metric(best, scored[best].rows)
    for model in models:
        metrics |= _macro_metrics(f"model{model.number}_", scored.get(model.number), model.status)
    metrics |= label_metrics(f"model{best}_f1", scored[best], drawn=True)
    return TaskResult(
        metrics=metrics,
        settings={"classification.labels": str(len(CLASSES))},
        figures=[
            *_models(scored),
            *label_figures(f"Classification, model {best}", scored[best]),
        ],
        units=lambda: classification_units(reference, models, {n: scores.macro_f1 for n, scores in scored.items()}),
    )


def _models(scored: Mapping[int, LabelScores]) -> list[BarChart]:
    """The macro F1 of each model; of a single one the board shows it."""
    bars = [Bar(f"Model {number}", scores.macro_f1, scores.rows) for number, scores in scored.items()]
    chart = BarChart("Classification: macro F1 of each model", bars, "higher", "speakers", top=1.0)
    return [chart] if len(bars) > 1 else []


def _macro_metrics(prefix: str, scores: LabelScores | None, status: str | None) -> dict[str, Metric]:
    rows = scores.rows if scores else 0
    return {
        f"{prefix}{name}": Metric(getattr(scores, name, None), rows, status=status, drawn=name == "macro_f1")
        for name in MACRO
    }
