"""What each row adds to the metrics of CLARITY, for the organisers' final report."""

from collections.abc import Sequence

from clarity2026.evaluation import evasion_golds
from clarity2026.labels import CLARITY_LABELS, EVASION_LABELS
from clarity2026.reference import Reference
from scoring_kit.metrics.classification import label_terms
from scoring_kit.metrics.summed import count, macro_f1, ratio
from scoring_kit.units import Additive, Units


def clarity_units(reference: Reference, predictions: Sequence[str]) -> Units:
    """The per-unit results of task 1."""
    return Units("row", reference.ids, _statistics("clarity", predictions, reference.clarity, CLARITY_LABELS))


def evasion_units(reference: Reference, predictions: Sequence[str]) -> Units:
    """The per-unit results of task 2, where a row's gold label may depend on its prediction, but on no other row."""
    golds = evasion_golds(reference, predictions)
    majority = label_terms(predictions, golds["evasion_majority"], EVASION_LABELS)
    statistics = _statistics("evasion", predictions, golds["evasion"], EVASION_LABELS)
    return Units("row", reference.ids, {**statistics, "evasion_majority_macro_f1": Additive(majority, macro_f1)})


def _statistics(
    task: str, predictions: Sequence[str], golds: Sequence[str | None], labels: Sequence[str]
) -> dict[str, Additive]:
    import numpy as np

    terms = label_terms(predictions, golds, labels)
    right, _, scored = (part.sum(axis=1, keepdims=True) for part in np.split(terms, 3, axis=1))
    return {
        f"{task}_macro_f1": Additive(terms, macro_f1),
        f"{task}_accuracy": Additive(np.hstack([right, scored]), ratio),
        f"{task}_rows_scored": Additive(scored, count),
        f"{task}_rows_skipped": Additive(1 - scored, count),
    }
