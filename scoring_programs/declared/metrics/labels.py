"""Metrics of labels and sets of labels, by scikit-learn, on codes instead of texts.

No label (None) is wrong for every label and a false positive of none: its code is that of no label.
"""

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from declared.fields import Field
from declared.metrics import Options, Sample

NO_LABEL = -1
MULTILABEL = 2
"""scikit-learn takes a matrix of fewer columns for one label a key, not for sets of labels."""


def _of_codes(name: str, sample: Sample, options: Options) -> float:
    """One of scikit-learn's measures of one label a key; no label is a further class."""
    from sklearn import metrics

    _, gold, predicted = codes(sample)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
        return float(getattr(metrics, name)(gold, predicted))


accuracy = partial(_of_codes, "accuracy_score")
balanced_accuracy = partial(_of_codes, "balanced_accuracy_score")
mcc = partial(_of_codes, "matthews_corrcoef")


def kappa(sample: Sample, options: Options) -> float:
    """Cohen's kappa over the declared labels in their order; no label is a further class, after them."""
    from sklearn.metrics import cohen_kappa_score

    names, gold, predicted = codes(sample)
    labels = [*range(len(names)), *([NO_LABEL] if NO_LABEL in predicted else [])]
    weights = None if options["weights"] == "none" else options["weights"]
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore")
        return float(cohen_kappa_score(gold, predicted, labels=labels, weights=weights))


def jaccard(sample: Sample, options: Options) -> float:
    """Jaccard index of sets of labels; two empty sets are equal."""
    from sklearn.metrics import jaccard_score

    names, gold, predicted = indicators(sample, MULTILABEL)
    if not names:
        return 1.0
    labels = range(len(names))
    return float(jaccard_score(gold, predicted, labels=labels, average=options["average"], zero_division=1))


def label_counts(sample: Sample) -> tuple[list[str], Any]:
    """The labels, and the counts of gold (rows) against predicted; the last column counts answers without a label."""
    names, gold, predicted = codes(sample)
    width = len(names) + 1
    cells = gold * width + np.where(predicted == NO_LABEL, len(names), predicted)
    return names, np.bincount(cells, minlength=len(names) * width).reshape(len(names), width)


def _averaged(part: str, sample: Sample, options: Options) -> float:
    """F1, precision or recall, averaged as asked for."""
    from sklearn.metrics import precision_recall_fscore_support

    average = options["average"]
    (field,) = sample.fields
    if average == "binary":
        gold = np.fromiter((value == options["positive"] for value in sample.gold), bool, len(sample.gold))
        predicted = np.fromiter((value == options["positive"] for value in sample.predicted), bool, len(gold))
        scores = precision_recall_fscore_support(gold, predicted, average="binary", pos_label=True, zero_division=0)
    else:
        names, gold, predicted = indicators(sample, MULTILABEL) if field.type == "labels" else codes(sample)
        labels = _labels(options["labels"], names, gold, predicted, field)
        if not labels:
            return math.nan if average in ("macro", "weighted") else 0.0
        scores = precision_recall_fscore_support(gold, predicted, labels=labels, average=average, zero_division=0)
    return float(scores[("precision", "recall", "f1").index(part)])


f1 = partial(_averaged, "f1")
precision = partial(_averaged, "precision")
recall = partial(_averaged, "recall")


def _labels(which: str, names: Sequence[str], gold: Any, predicted: Any, field: Field) -> list[int]:
    """The codes of the labels that an average runs over."""
    if which == "declared" and field.values is not None:
        return list(range(len(field.values)))
    if field.type == "labels":
        there = np.asarray(gold.sum(axis=0)).ravel() > 0
        if which != "gold":
            there |= np.asarray(predicted.sum(axis=0)).ravel() > 0
        return [int(code) for code in np.flatnonzero(there)]
    found = set(np.unique(gold).tolist()) | (set() if which == "gold" else set(np.unique(predicted).tolist()))
    return sorted(found - {NO_LABEL})


def _names(sample: Sample) -> list[str]:
    """All labels in the order of their codes: the declared ones, then others in the order of their texts."""
    (field,) = sample.fields
    declared = list(field.values or ())
    if field.type == "labels":
        there = set().union(*sample.gold, *sample.predicted)
    else:
        there = {*sample.gold, *sample.predicted} - {None}
    return declared + sorted(there.difference(declared))


def codes(sample: Sample) -> tuple[list[str], Any, Any]:
    """The labels, and gold and predicted as codes."""
    names = _names(sample)
    code_of: dict[str | None, int] = {None: NO_LABEL}
    code_of.update((name, position) for position, name in enumerate(names))
    gold = np.fromiter((code_of[value] for value in sample.gold), np.int64, len(sample.gold))
    predicted = np.fromiter((code_of[value] for value in sample.predicted), np.int64, len(sample.predicted))
    return names, gold, predicted


def indicators(sample: Sample, columns: int = 0) -> tuple[list[str], Any, Any]:
    """The labels, and gold and predicted as sparse matrices with a row a key and a column a label.

    Where there are fewer labels than `columns`, the last columns are empty.
    """
    from scipy.sparse import csr_matrix

    names = _names(sample)
    code = {name: position for position, name in enumerate(names)}

    def matrix(sets: Sequence[frozenset[str]]) -> Any:
        cells = [code[label] for labels in sets for label in labels]
        ends = np.cumsum([0, *map(len, sets)])
        return csr_matrix(
            (np.ones(len(cells), dtype=np.int64), cells, ends), shape=(len(sets), max(len(names), columns))
        )

    return names, matrix(sample.gold), matrix(sample.predicted)


def set_label_counts(sample: Sample) -> list[tuple[str, float, float, float]]:
    """Each label with its true positives, false positives and false negatives."""
    names, gold, predicted = indicators(sample)
    shared = gold.multiply(predicted)
    sums = [np.asarray(matrix.sum(axis=0)).ravel() for matrix in (shared, predicted, gold)]
    return [(name, float(tp), float(p - tp), float(g - tp)) for name, tp, p, g in zip(names, *sums, strict=True)]
