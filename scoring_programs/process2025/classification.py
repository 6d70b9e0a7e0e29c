"""Classification: macro F1, precision and recall over the three classes, of the model with the best F1.

Source: PROCESS Grand Challenge at ICASSP 2025, "Evaluation": each macro figure is the mean over the classes. So macro
F1 is the mean of the classes' F1, as its formula says, not the harmonic mean that its caption names.

A team's result is that of its best model, and which one is best depends on the speakers that count. For the organisers'
final report every model's sums are kept, best first, and each resample takes the best of them again. Between two teams
the best models exchange speakers with each other, the second best likewise; a model that the other team lacks is then
left out, as a column with empty cells is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from process2025.reference import ProcessReference
from process2025.submission import CLASSES, MODELS, ModelAnswers, ProcessSubmission
from scoring_kit.metrics.classification import (
    LabelScores,
    label_figures,
    label_metrics,
    label_terms,
    score_labels,
    units_of_classes,
)
from scoring_kit.metrics.summed import macro_f1, macro_precision, macro_recall
from scoring_kit.results import Bar, BarChart, Figure, Metric, TaskResult, comparable
from scoring_kit.units import Additive, Array, Statistic, Units

Formula = Callable[[Array], Array]
MACRO: Mapping[str, Formula] = {
    "macro_f1": macro_f1,
    "macro_precision": macro_precision,
    "macro_recall": macro_recall,
}
METRICS = tuple(f"{prefix}{name}" for prefix in ("", "model1_", "model2_", "model3_") for name in MACRO)


def score(reference: ProcessReference, submission: ProcessSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score every model of a submission that enters the task; the first with the highest macro F1 counts."""
    models = submission.models["classification"]
    scored: dict[int, LabelScores] = {}
    bars = []
    for model in models:
        if model.status == "scored":
            own = scored[model.number] = score_labels(model.answers, reference.classes, CLASSES)
            bars.append(Bar(f"Model {model.number}", own.macro_f1, own.rows))
    best = max(scored, key=lambda number: (comparable(scored[number].macro_f1), -number))
    metrics = _macro_metrics("", scored[best], None)
    metrics["classification_best_model"] = Metric(best, scored[best].rows)
    for model in models:
        metrics |= _macro_metrics(f"model{model.number}_", scored.get(model.number), model.status)
    metrics |= label_metrics(f"model{best}_f1", scored[best], drawn=True)
    figures: list[Figure] = []
    if len(bars) > 1:  # the macro F1 of a single one is on the board
        figures.append(
            BarChart("Classification: macro F1 of each model", bars, "higher", "speakers", top=1.0, of="model")
        )
    return TaskResult(
        metrics=metrics,
        settings={"classification.labels": str(len(CLASSES))},
        figures=[*figures, *label_figures(f"Classification, model {best}", scored[best])],
        units=lambda: _units(reference, models, scored),
    )


def _macro_metrics(prefix: str, scores: LabelScores | None, status: str | None) -> dict[str, Metric]:
    metrics = {}
    for name in MACRO:
        value, rows = getattr(scores, name, None), getattr(scores, "rows", 0)
        metrics[f"{prefix}{name}"] = Metric(value, rows, status=status, drawn=name == "macro_f1")
    return metrics


def _units(reference: ProcessReference, models: Sequence[ModelAnswers], scored: Mapping[int, LabelScores]) -> Units:
    """Return what each speaker adds to the metrics of each scored model, and of the best one."""
    terms: dict[int, Array] = {}
    for model in models:
        if model.number in scored:
            terms[model.number] = label_terms(model.answers, reference.classes, CLASSES)
    by_merit = sorted(terms, key=lambda number: (-comparable(scored[number].macro_f1), number))
    all_models = best_first(terms, by_merit)
    statistics: dict[str, Statistic] = {}
    for name, formula in MACRO.items():
        statistics[name] = Additive(all_models, of_best(macro_f1, formula))
    for number, own in terms.items():
        for name, formula in MACRO.items():
            statistics[f"model{number}_{name}"] = Additive(own, formula)
    classes = units_of_classes(label_terms(reference.classes, reference.classes, CLASSES))
    return Units("speaker", reference.ids, statistics, classes=dict.fromkeys(statistics, classes))


def best_first(terms: Mapping[int, Array], by_merit: Sequence[int]) -> Array:
    """Return the terms of a team's models, which `by_merit` names best first, in one array, shape [speakers, terms].

    For each of the possible models 1 where it answered and its terms, zeros where there is none; lastly 1.
    """
    import numpy as np

    speakers, width = terms[by_merit[0]].shape
    one = np.ones((speakers, 1))
    parts = []
    for number in by_merit:
        parts += [one, terms[number]]
    nothing = np.zeros((speakers, (MODELS - len(terms)) * (1 + width)))
    return np.hstack([*parts, nothing, one])


def of_best(merit: Formula, formula: Formula) -> Formula:
    """Return the metric of the model with the greatest merit; undefined where none has answered for every speaker.

    Merit and metric are formulas of a model's terms, which the sums hold as `best_first` lays them out; of equally good
    models the one comes first that is better over all speakers.
    """
    import numpy as np

    def metric(sums: Array) -> Array:
        speakers = sums[..., -1:]
        models = sums[..., :-1].reshape(*sums.shape[:-1], MODELS, -1)
        answered = models[..., 0] == speakers
        merits = np.where(answered, merit(models[..., 1:]), -np.inf)
        best = np.argmax(np.round(merits, 12), axis=-1, keepdims=True)
        values = np.take_along_axis(formula(models[..., 1:]), best, axis=-1)[..., 0]
        return np.where(answered.any(axis=-1), values, np.nan)

    return metric
