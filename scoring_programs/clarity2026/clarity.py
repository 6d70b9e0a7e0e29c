"""Task 1: macro F1 over the three clarity labels; and the scores of both tasks as functions of labels alone.

Source: SemEval-2026 Task 6, "Evaluation": multi-annotator scoring in four steps, strict scoring, majority vote. All
labels are normalised. Macro means are over fixed label lists, so that a class that never occurs counts 0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clarity2026.reference import ClarityReference
from clarity2026.submission import CLARITY_LABELS, EVASION_LABELS, ClaritySubmission
from scoring_kit.metrics.classification import (
    LabelScores,
    label_figures,
    label_metrics,
    label_terms,
    score_labels,
    units_of_classes,
)
from scoring_kit.metrics.summed import count, macro_f1, ratio
from scoring_kit.results import Metric, TaskResult
from scoring_kit.units import Additive, Array, Statistic, Units, by_unit

METRICS = ("clarity_macro_f1", "clarity_accuracy", "clarity_rows_scored", "clarity_rows_skipped")


def score(reference: ClarityReference, submission: ClaritySubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the clarity labels of a submission that enters the task."""
    predictions = submission.predictions["clarity"]
    scores = compute_clarity_f1(predictions, reference.clarity)
    return TaskResult(
        metrics={
            "clarity_macro_f1": Metric(scores.macro_f1, scores.rows),
            "clarity_accuracy": Metric(scores.accuracy, scores.rows),
            "clarity_rows_scored": Metric(scores.rows, scores.rows + scores.skipped),
            "clarity_rows_skipped": Metric(scores.skipped, scores.rows + scores.skipped),
            **label_metrics("clarity_f1", scores, drawn=True),
        },
        settings={"clarity.labels": str(len(scores.labels))},
        figures=label_figures("Clarity", scores),
        units=lambda: clarity_units(reference, predictions),
    )


def evasion_golds(
    gold: ClarityReference, predictions: Sequence[str]
) -> tuple[Sequence[str | None], Sequence[str | None]]:
    """Return the gold labels that predictions are compared with, one a row (None: the row is skipped), and by majority.

    As soon as the gold has annotator data, the first are by any-match; without any, both are the single gold labels.
    """
    if not gold.annotated:
        return gold.evasion, gold.evasion
    majority = [majority_vote_gold(labels) for labels in gold.annotations]
    return any_match_golds(predictions, gold.annotations), majority


def compute_clarity_f1(predictions: Sequence[str], golds: Sequence[str]) -> LabelScores:
    """Task 1: macro F1 over the three clarity labels."""
    return score_labels(predictions, golds, CLARITY_LABELS)


def compute_evasion_f1_strict(predictions: Sequence[str], golds: Sequence[str | None]) -> LabelScores:
    """Task 2 against one gold label a row: macro F1 over the nine evasion labels; rows without gold are skipped."""
    scored: list[str] = []
    right: list[str] = []
    for predicted, gold in zip(predictions, golds, strict=True):
        if gold is not None:
            scored.append(predicted)
            right.append(gold)
    return score_labels(scored, right, EVASION_LABELS, skipped=len(predictions) - len(scored))


def any_match_golds(predictions: Sequence[str], annotations: Sequence[Iterable[str]]) -> list[str | None]:
    """Return each row's gold label where any annotator's label is right.

    For each row: (1) the gold set is the annotators' labels that are valid labels; (2) a prediction in it becomes the
    row's gold label; (3) otherwise the first of the sorted set does; (4) a row with an empty set is skipped.
    """
    golds: list[str | None] = []
    for predicted, annotators in zip(predictions, annotations, strict=True):
        gold_set = sorted(set(annotators).intersection(EVASION_LABELS))
        if not gold_set:
            golds.append(None)
        elif predicted in gold_set:
            golds.append(predicted)
        else:
            golds.append(gold_set[0])
    return golds


def majority_vote_gold(annotators: Iterable[str]) -> str | None:
    """Return the valid label that most annotators of a row gave, alphabetically the first; None without any."""
    votes = Counter(label for label in annotators if label in EVASION_LABELS)
    return min(votes, key=lambda label: (-votes[label], label), default=None)


def clarity_units(reference: ClarityReference, predictions: Sequence[str]) -> Units:
    """Return the per-unit results of task 1."""
    return _units(reference, _terms("clarity", label_terms(predictions, reference.clarity, CLARITY_LABELS)))


def evasion_units(reference: ClarityReference, predictions: Sequence[str]) -> Units:
    """Return the per-unit results of task 2, where a row's gold label may depend on its own prediction alone."""
    golds, majority = evasion_golds(reference, predictions)
    terms = _terms("evasion", label_terms(predictions, golds, EVASION_LABELS))
    by_majority = label_terms(predictions, majority, EVASION_LABELS)
    units = _units(reference, {**terms, "evasion_majority_macro_f1": by_majority})
    if not reference.annotated:
        return units
    import numpy as np

    given = np.zeros((len(reference.annotations), len(EVASION_LABELS)))
    for row, labels in zip(given, reference.annotations, strict=True):
        row[:] = [label in labels for label in EVASION_LABELS]
    # in how many units each label is by any annotator, whatever was predicted
    any_label = np.count_nonzero(by_unit(units.names, reference.asked or reference.ids, given), axis=0)
    return replace(units, classes={**units.classes, "evasion_macro_f1": any_label.tolist()})


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
    """The terms of rows summed by the question that they belong to.

    Rows of one question are parts of one answer: they are alike, and were sampled together. Where the gold does not say
    which rows these are, each row is by itself.
    """
    asked = reference.asked or reference.ids
    names = list(dict.fromkeys(asked))
    statistics: dict[str, Statistic] = {}
    classes: dict[str, Sequence[int]] = {}
    for name, of_rows in terms.items():
        sums = by_unit(names, asked, of_rows)
        formula = count
        if name.endswith("macro_f1"):
            formula, classes[name] = macro_f1, units_of_classes(sums)
        elif name.endswith("accuracy"):
            formula = ratio
        statistics[name] = Additive(sums, formula)
    unit = "interview question" if reference.asked else "row"
    return Units(unit, names, statistics, classes=classes)
