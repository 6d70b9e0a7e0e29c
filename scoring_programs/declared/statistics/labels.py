"""Labels and sets of labels: counts of each label, or means over keys."""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from declared.metrics import Options, Sample
from declared.metrics.labels import NO_LABEL, codes, indicators
from declared.statistics import Keys
from declared.statistics.by_label import PARTS, LabelCounts, averaged, label_terms
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Items, Statistic


def accuracy(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Share of the labels that are right."""
    _, gold, predicted = codes(sample)
    return keys.mean(gold == predicted)


def balanced_accuracy(sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    """Mean recall of the gold labels."""
    return _of_labels(
        partial(averaged, part="recall", average="macro", nothing=keys.worst, labels="gold"), sample, keys
    )


def mcc(sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    """Matthews correlation coefficient."""
    return _of_labels(_mcc, sample, keys)


def kappa(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """Cohen's kappa; no label is a class after the declared ones."""
    if options["weights"] == "none":
        return _of_labels(_kappa, sample, keys)
    names, gold, predicted = codes(sample)
    predicted = np.where(predicted == NO_LABEL, len(names), predicted)
    distance = np.abs(np.subtract.outer(np.arange(len(names) + 1.0), np.arange(len(names) + 1.0)))
    weights = distance**2 if options["weights"] == "quadratic" else distance
    classes = np.eye(len(names) + 1)
    terms = weights[gold, predicted], np.ones(len(gold)), *classes[gold].T, *classes[predicted].T
    return keys.additive(partial(_weighted_kappa, weights=weights), *terms)


def jaccard(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """Jaccard index of sets of labels."""
    if options["average"] == "samples":
        true, predicted, gold = _sizes(*indicators(sample)[1:])
        return keys.mean(summed.quotient(true, predicted + gold - true, undefined=1.0))
    (field,) = sample.fields
    formula = partial(_jaccard, average=options["average"], declared=len(field.values or ()))
    return _of_sets(formula, sample, keys)


def _averaged(part: str, sample: Sample, options: Options, keys: Keys) -> Statistic:
    """F1, precision or recall, averaged as asked for."""
    average = options["average"]
    (field,) = sample.fields
    if average == "binary":
        gold = np.array([value == options["positive"] for value in sample.gold])
        predicted = np.array([value == options["positive"] for value in sample.predicted])
        return keys.additive(PARTS[part], gold & predicted, predicted, gold)
    if average == "samples" and options["labels"] == "gold":
        return _over_gold_labels(part, sample, keys)
    if average == "samples":
        return keys.mean(PARTS[part](np.column_stack(_sizes(*indicators(sample)[1:]))))
    # labels: declared asks for the declared ones, which a field without values does not have
    labels = "present" if options["labels"] == "declared" and field.values is None else options["labels"]
    nothing = 0.0 if average == "micro" else keys.worst
    formula = partial(
        averaged, part=part, average=average, nothing=nothing, labels=labels, declared=len(field.values or ())
    )
    return _of_sets(formula, sample, keys) if field.type == "labels" else _of_labels(formula, sample, keys)


f1 = partial(_averaged, "f1")
precision = partial(_averaged, "precision")
recall = partial(_averaged, "recall")


def _of_labels(formula: Any, sample: Sample, keys: Keys) -> LabelCounts:
    """Counts of one label a key; no label is predicted by none."""
    names, gold, predicted = codes(sample)

    def matrix(labels: Any, there: Any) -> Any:
        (rows,) = np.nonzero(there)
        return csr_matrix((np.ones(len(rows)), (rows, labels[rows])), shape=(len(gold), len(names)))

    terms = label_terms(
        matrix(gold, gold == predicted), matrix(predicted, predicted != NO_LABEL), matrix(gold, gold != NO_LABEL)
    )
    return LabelCounts(names, keys.summed(terms), formula)


def _of_sets(formula: Any, sample: Sample, keys: Keys) -> LabelCounts:
    """Counts of sets of labels."""
    names, gold, predicted = indicators(sample)
    terms = label_terms(gold.multiply(predicted), predicted, gold)
    return LabelCounts(names, keys.summed(terms.astype(np.float64)), formula)


def _sizes(gold: Any, predicted: Any) -> tuple[Array, Array, Array]:
    """How many labels each key's sets share and have."""
    matrices = (gold.multiply(predicted), predicted, gold)
    shared, given, there = (np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel() for matrix in matrices)
    return shared, given, there


def _over_gold_labels(part: str, sample: Sample, keys: Keys) -> Items:
    """The mean over keys, of the labels alone that the gold of the keys which were drawn has."""
    _, gold, predicted = indicators(sample)
    there = np.asarray(gold.sum(axis=0)).ravel() > 0
    sides = [side.toarray()[:, there].T for side in (gold, predicted)]
    return keys.items(partial(_samples, part=part, nothing=keys.worst), *sides[0], *sides[1])


def _samples(values: Array, counts: Array, part: str, nothing: float) -> Array:
    gold, predicted = np.hsplit(values, 2)
    drawn = counts @ gold > 0
    labels = drawn.astype(np.float64).T
    of_keys = PARTS[part](np.stack([(side @ labels).T for side in (gold * predicted, predicted, gold)], axis=-1))
    mean = summed.quotient((counts * of_keys).sum(axis=1), counts.sum(axis=1))
    return np.where(drawn.any(axis=1), mean, nothing)


def _mcc(sums: Array) -> Array:
    """As scikit-learn: 0 where all keys of one side have the same label; no label is a class of its own."""
    true, predicted, gold = summed.by_label(sums)
    number = gold.sum(-1)
    none = number - predicted.sum(-1)
    of_predicted = number**2 - (predicted**2).sum(-1) - none**2
    of_gold = number**2 - (gold**2).sum(-1)
    return summed.quotient(true.sum(-1) * number - (gold * predicted).sum(-1), np.sqrt(of_predicted * of_gold))


def _kappa(sums: Array) -> Array:
    """Undefined where gold and answers are of one and the same label."""
    true, predicted, gold = summed.by_label(sums)
    number = gold.sum(-1)
    by_chance = number**2 - (gold * predicted).sum(-1)
    return 1 - summed.quotient((number - true.sum(-1)) * number, by_chance, undefined=math.nan)


def _weighted_kappa(sums: Array, weights: Array) -> Array:
    """Of the summed weights of disagreements, the number of keys, and the counts of gold and predicted classes."""
    disagreement, number = sums[..., 0], sums[..., 1]
    gold, predicted = np.split(sums[..., 2:], 2, axis=-1)
    by_chance = ((gold @ weights) * predicted).sum(-1)
    return 1 - summed.quotient(disagreement * number, by_chance, undefined=math.nan)


def _jaccard(sums: Array, average: str, declared: int) -> Array:
    """As scikit-learn with `zero_division=1`, over the declared labels and all others that occur."""
    true, predicted, gold = summed.by_label(sums)
    union = predicted + gold - true
    if average == "micro":
        return summed.quotient(true.sum(-1), union.sum(-1), undefined=1.0)
    counted = (np.arange(gold.shape[-1]) < declared) | (union > 0)
    values = summed.quotient(true, union, undefined=1.0)
    mean = summed.mean_where(values, counted)
    if average == "weighted":
        mean = np.where(gold.any(axis=-1), summed.quotient((values * gold).sum(-1), gold.sum(-1)), mean)
    return np.where(counted.any(axis=-1), mean, 1.0)
