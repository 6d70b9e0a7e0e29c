"""What each speaker adds to the metrics of PROCESS, for the organisers' final report.

A team's result is that of its best model, and which one is best depends on the speakers that count. So every model's
sums are kept, best first, and each resample takes the best of them again. Between two teams the best models exchange
speakers with each other, the second best likewise; a model that the other team lacks is then left out, as a column with
empty cells is.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from process2025.reference import ProcessReference
from process2025.submission import CLASSES, MODELS, ModelAnswers
from scoring_kit.metrics.classification import label_terms, units_of_classes
from scoring_kit.metrics.summed import macro_f1, macro_precision, macro_recall, rmse
from scoring_kit.results import comparable
from scoring_kit.units import Additive, Array, ScoredUnits, Units

Formula = Callable[[Array], Array]
MACRO: Mapping[str, Formula] = {
    "macro_f1": macro_f1,
    "macro_precision": macro_precision,
    "macro_recall": macro_recall,
}


def classification_units(reference: ProcessReference, models: Sequence[ModelAnswers], f1: Mapping[int, float]) -> Units:
    """The per-unit results of classification; `f1`: number of each scored model → its macro F1."""
    terms = {m.number: label_terms(m.answers, reference.classes, CLASSES) for m in models if m.number in f1}
    by_merit = sorted(terms, key=lambda number: (-comparable(f1[number]), number))
    best_first = _best_first([terms[number] for number in by_merit])
    statistics = {name: Additive(best_first, partial(of_best, macro_f1, formula)) for name, formula in MACRO.items()}
    for number, own in terms.items():
        statistics |= {f"model{number}_{name}": Additive(own, formula) for name, formula in MACRO.items()}
    classes = units_of_classes(label_terms(reference.classes, reference.classes, CLASSES))
    return Units("speaker", reference.ids, statistics, classes=dict.fromkeys(statistics, classes))


def regression_units(reference: ProcessReference, models: Sequence[ModelAnswers], errors: Mapping[int, float]) -> Units:
    """The per-unit results of regression; `errors`: number of each scored model → its RMSE."""
    import numpy as np

    gold = np.array(reference.mmse, dtype=np.float64)  # None becomes NaN
    scored = ~np.isnan(gold)
    terms = {
        model.number: np.column_stack([np.where(scored, gold - np.array(model.answers), 0.0) ** 2, scored])
        for model in models
        if model.number in errors
    }
    by_merit = sorted(terms, key=lambda number: (comparable(errors[number]), number))
    best_first = _best_first([terms[number] for number in by_merit])
    statistics = {"rmse": Additive(best_first, partial(of_best, _negative_rmse, rmse))}
    statistics |= {f"model{number}_rmse": Additive(own, rmse) for number, own in terms.items()}
    places = ScoredUnits("speaker", np.flatnonzero(scored))
    return Units("speaker", reference.ids, statistics, dict.fromkeys(statistics, places))


def of_best(merit: Formula, formula: Formula, sums: Array) -> Array:
    """A metric of the model with the greatest merit; undefined where no model has answered for every speaker.

    Args:
        merit: of a model's terms; of equally good models the one comes first that is better over all speakers.
        formula: the metric of a model's terms.
        sums: as `_best_first` lays them out.
    """
    import numpy as np

    speakers = sums[..., -1:]
    models = sums[..., :-1].reshape(*sums.shape[:-1], MODELS, -1)
    answered = models[..., 0] == speakers
    merits = np.where(answered, merit(models[..., 1:]), -np.inf)
    best = np.argmax(np.round(merits, 12), axis=-1, keepdims=True)
    values = np.take_along_axis(formula(models[..., 1:]), best, axis=-1)[..., 0]
    return np.where(answered.any(axis=-1), values, np.nan)


def _negative_rmse(sums: Array) -> Array:
    return -rmse(sums)


def _best_first(terms: Sequence[Array]) -> Array:
    """For each of the possible models 1 where it answered and its terms, zeros where there is none; lastly 1."""
    import numpy as np

    speakers, width = terms[0].shape
    one = np.ones((speakers, 1))
    nothing = np.zeros((speakers, (MODELS - len(terms)) * (1 + width)))
    return np.hstack([*(part for own in terms for part in (one, own)), nothing, one])
