"""What each interview question adds to the metrics of CLARITY, for the organisers' final report.

Rows of one question are parts of one answer: they are alike, and were sampled together. Where the gold does not say
which rows these are, each row is by itself.
"""

from collections.abc import Sequence

from clarity2026.evaluation import evasion_golds
from clarity2026.labels import CLARITY_LABELS, EVASION_LABELS
from clarity2026.reference import ClarityReference
from scoring_kit.metrics.classification import label_terms, units_of_classes
from scoring_kit.metrics.summed import count, macro_f1, ratio
from scoring_kit.units import Additive, Array, Units


def clarity_units(reference: ClarityReference, predictions: Sequence[str]) -> Units:
    """The per-unit results of task 1."""
    return _units(reference, _terms("clarity", label_terms(predictions, reference.clarity, CLARITY_LABELS)))


def evasion_units(reference: ClarityReference, predictions: Sequence[str]) -> Units:
    """The per-unit results of task 2, where a row's gold label may depend on its prediction, but on no other row."""
    golds = evasion_golds(reference, predictions)
    majority = label_terms(predictions, golds["evasion_majority"], EVASION_LABELS)
    terms = _terms("evasion", label_terms(predictions, golds["evasion"], EVASION_LABELS))
    return _units(reference, {**terms, "evasion_majority_macro_f1": majority})


def _terms(task: str, terms: Array) -> dict[str, Array]:
    """Metric → what each row adds."""
    import numpy as np

    right, _, scored = (part.sum(axis=1, keepdims=True) for part in np.split(terms, 3, axis=1))
    return {
        f"{task}_macro_f1": terms,
        f"{task}_accuracy": np.hstack([right, scored]),
        f"{task}_rows_scored": scored,
        f"{task}_rows_skipped": 1 - scored,
    }


def _units(reference: ClarityReference, terms: dict[str, Array]) -> Units:
    """The terms of rows summed by the question that they belong to."""
    import numpy as np

    asked = reference.asked or reference.ids
    place = {first: i for i, first in enumerate(dict.fromkeys(asked))}
    owners = [place[first] for first in asked]
    statistics, classes = {}, {}
    for name, of_rows in terms.items():
        sums = np.zeros((len(place), of_rows.shape[1]))
        np.add.at(sums, owners, of_rows)
        if name.endswith("macro_f1"):
            statistics[name], classes[name] = Additive(sums, macro_f1), units_of_classes(sums)
        else:
            statistics[name] = Additive(sums, ratio if name.endswith("accuracy") else count)
    return Units("interview question" if reference.asked else "row", list(place), statistics, classes=classes)
