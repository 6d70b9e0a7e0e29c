"""Metrics of labels, sets of labels and tags: counts of each label or type of span, or means over keys.

Of labels as scikit-learn's; no label (None) is wrong for every label and a false positive of none. Of tags as seqeval's
default mode reads and counts the spans that they mark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from declared.metrics import Options, Sample, positive_of
from declared.metrics.keys import Entries, Keys, LabelCounts
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array, Items, Statistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_LABEL = -1
"""The code of None."""
PARTS = {"f1": summed.f1, "precision": summed.precision, "recall": summed.recall}
Formula: TypeAlias = "Callable[[Array], Array]"
Span: TypeAlias = tuple[str, int, int]
"""Type, first token, last token."""


def accuracy(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Share of the labels that are right."""
    return keys.mean([gold == predicted for gold, predicted in zip(sample.gold, sample.predicted, strict=True)])


def balanced_accuracy(sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    """Mean recall of the gold labels; those whose keys all weigh nothing are left out, as scikit-learn does it."""
    return _counts(partial(_mean_recall, nothing=keys.worst), sample, keys)


def mcc(sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    """Matthews correlation coefficient."""
    return _counts(_mcc, sample, keys)


def kappa(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """Cohen's kappa over the declared labels in their order; no label is a class after them."""
    if options["weights"] == "none":
        return _counts(_kappa, sample, keys)
    names, gold, predicted = codes(sample)
    classes, every = len(names) + 1, np.arange(len(gold))
    predicted = np.where(predicted == NO_LABEL, len(names), predicted)
    power = {"linear": 1, "quadratic": 2}[options["weights"]]
    weights = np.abs(np.subtract.outer(np.arange(float(classes)), np.arange(float(classes)))) ** power
    one = np.ones(len(gold))
    # for each key its disagreement and 1, then 1 in the column of its gold class and in that of its answer's
    columns = np.concatenate([np.zeros_like(gold), np.ones_like(gold), 2 + gold, 2 + classes + predicted])
    amounts = np.concatenate([weights[gold, predicted], one, one, one])
    sums = keys.counted((np.tile(every, 4), columns), 2 + 2 * classes, amounts)
    filled = sums if keys.units == 1 else sums.toarray()
    return Additive(filled, partial(_weighted_kappa, weights=weights))


def jaccard(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """Jaccard index of sets of labels; two empty sets are equal."""
    if options["average"] == "samples":
        true, predicted, gold = _sizes(sample.gold, sample.predicted)
        return keys.mean(summed.quotient(true, predicted + gold - true, undefined=1.0))
    (field,) = sample.fields
    formula = partial(_jaccard, average=options["average"], declared=len(field.values or ()))
    return _counts(formula, sample, keys)


def _averaged(formula: Callable[..., Array], sample: Sample, options: Options, keys: Keys) -> Statistic:
    average, labels = options["average"], options["labels"]
    of_counts: Formula = partial(formula, nothing=float(options["zero_division"] or 0))
    if average == "binary":
        positive = positive_of(options, sample.gold)
        gold = np.array(sample.gold, dtype=object) == positive
        predicted = np.array(sample.predicted, dtype=object) == positive
        return keys.additive(of_counts, gold & predicted, predicted, gold)
    if average == "samples" and labels == "gold":
        return _over_gold_labels(of_counts, sample, keys)
    if average == "samples":
        truth, answers = sample.gold, sample.predicted
        if isinstance(labels, list):
            truth, answers = _among(labels, truth), _among(labels, answers)
        return keys.mean(of_counts(_sizes(truth, answers).T))
    (field,) = sample.fields
    names, over = _names(sample), labels
    if isinstance(labels, list):
        names = _names(sample, labels)
        over = [names.index(label) for label in labels]
    elif labels == "declared":  # which a field without values does not have
        over = list(range(len(field.values or ()))) or "present"
    over_labels = partial(averaged, formula=of_counts, average=average, nothing=keys.worst, labels=over)
    return _counts(over_labels, sample, keys, names)


f1 = partial(_averaged, summed.f1)
precision = partial(_averaged, summed.precision)
recall = partial(_averaged, summed.recall)


def fbeta(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """F-beta, averaged as F1."""
    return _averaged(partial(summed.fbeta, beta=options["beta"]), sample, options, keys)


def points(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Points reached over those that the gold itself would get; a pair of labels that is not named has 0."""
    reached, best = [], []
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        row = options["matrix"].get(gold, {})
        reached.append(row.get(predicted, 0))
        best.append(row.get(gold, 0))
    return keys.additive(summed.mean, reached, best)


def averaged(
    sums: Array,
    formula: Formula,
    average: str,
    nothing: float,
    labels: str | Sequence[int] = "present",
    *,
    weighted: bool = False,
) -> Array:
    """F1, precision or recall, averaged over labels as scikit-learn does it.

    Args:
        sums: counts of each label, see `_terms`.
        formula: F1, precision or recall of (true positives, predicted, gold).
        average: macro, micro or weighted.
        nothing: what counts where no label is averaged over.
        labels: over which labels: present (gold or predicted), gold, or those at some places.
        weighted: whether keys weigh differently.
    """
    true, predicted, gold, answered, there = _terms(sums, weighted=weighted)
    counted = there > 0
    if labels == "present":
        counted = counted | (answered > 0)
    elif labels != "gold":
        counted = np.broadcast_to(np.isin(np.arange(gold.shape[-1]), labels), gold.shape)
    terms = np.stack([true, predicted, gold], axis=-1)
    if average == "micro":
        return formula(np.where(counted[..., np.newaxis], terms, 0.0).sum(axis=-2))
    values = formula(terms)
    mean = summed.mean_where(values, counted)
    if average == "weighted":
        weights = gold * counted
        of_gold = summed.quotient((values * weights).sum(-1), weights.sum(-1))
        mean = np.where(weights.any(axis=-1), of_gold, mean)
    return np.where(np.isnan(mean), nothing, mean)


def _mean_recall(sums: Array, nothing: float, *, weighted: bool = False) -> Array:
    true, _, gold, _, _ = _terms(sums, weighted=weighted)
    mean = summed.mean_where(summed.quotient(true, gold), gold > 0)
    return np.where(np.isnan(mean), nothing, mean)


def _terms(sums: Array, *, weighted: bool) -> Sequence[Array]:
    """For each label: true positives, predicted, gold, and in how many answers and gold values it is, of any weight."""
    if weighted:
        return np.split(sums, 5, axis=-1)
    true, predicted, gold = summed.by_label(sums)
    return true, predicted, gold, predicted, gold


def _counts(formula: Any, sample: Sample, keys: Keys, names: Sequence[str] | None = None) -> LabelCounts:
    """A formula of the counts of each label: of one label a key, or of sets of them; `names` has all labels."""
    (field,) = sample.fields
    names = names or _names(sample)
    formula = partial(formula, weighted=keys.weight is not None)
    if field.type == "labels":
        shared = [gold & predicted for gold, predicted in zip(sample.gold, sample.predicted, strict=True)]
        return LabelCounts.of(names, _sides([shared, sample.predicted, sample.gold], names), formula, keys)
    gold, predicted = _coded(sample, names)
    right, answered = np.flatnonzero(gold == predicted), np.flatnonzero(predicted != NO_LABEL)
    true = right, gold[right]
    return LabelCounts.of(names, [true, (answered, predicted[answered]), (np.arange(len(gold)), gold)], formula, keys)


def _names(sample: Sample, listed: Sequence[str] = ()) -> list[str]:
    """All labels in the order of their codes: the declared and listed ones, then others in the order of their texts."""
    (field,) = sample.fields
    declared = list(dict.fromkeys([*(field.values or ()), *listed]))
    if field.type == "labels":
        there = set().union(*sample.gold, *sample.predicted)
    else:
        there = {*sample.gold, *sample.predicted} - {None}
    return declared + sorted(there.difference(declared))


def codes(sample: Sample) -> tuple[list[str], NDArray[np.intp], NDArray[np.intp]]:
    """Return the labels, and gold and predicted as codes."""
    names = _names(sample)
    return names, *_coded(sample, names)


def _coded(sample: Sample, names: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    code_of: dict[str | None, int] = {None: NO_LABEL, **dict(zip(names, count()))}
    sides = []
    for labels in (sample.gold, sample.predicted):
        sides.append(np.array([code_of[label] for label in labels], dtype=np.intp))
    return sides[0], sides[1]


def _sides(sides: Sequence[Sequence[Collection[str]]], names: Sequence[str]) -> list[Entries]:
    """Of each side key and code of each label that a key has."""
    code_of = dict(zip(names, count()))
    found: list[Entries] = []
    for labels in sides:
        key = np.repeat(np.arange(len(labels)), [len(own) for own in labels])
        code = [code_of[label] for own in labels for label in own]
        found.append((key, np.array(code, dtype=np.intp)))
    return found


def _sizes(gold: Sequence[frozenset[str]], predicted: Sequence[frozenset[str]]) -> Array:
    """How many labels each key's sets share, how many are predicted, and how many are gold, shape [3, keys]."""
    sizes = [(len(truth & answer), len(answer), len(truth)) for truth, answer in zip(gold, predicted, strict=True)]
    return np.array(sizes, dtype=np.float64).reshape(-1, 3).T


def _among(labels: Collection[str], side: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return each key's labels, as far as they are some of these."""
    return [own.intersection(labels) for own in side]


def _over_gold_labels(formula: Formula, sample: Sample, keys: Keys) -> Items | Additive:
    """The mean over keys, of the labels alone that the gold of the keys which were drawn has."""
    labels = sorted(set().union(*sample.gold))
    answers = _among(labels, sample.predicted)
    if keys.units == 1:  # nothing is drawn, so that these are the labels
        return keys.mean(formula(_sizes(sample.gold, answers).T))
    columns: list[Array] = []
    for entries in _sides([sample.gold, answers], labels):
        matrix = np.zeros((len(answers), len(labels)))
        matrix[entries] = 1.0
        columns += list(matrix.T)
    return keys.items(partial(_samples, formula=formula), *columns)


def _samples(values: Array, counts: Array, formula: Formula) -> Array:
    gold, predicted = np.hsplit(values, 2)
    # which labels the gold of the drawn keys has, shape [labels, resamples]
    drawn = (counts @ gold > 0).astype(np.float64).T
    sizes = np.stack([gold * predicted, predicted, gold]) @ drawn
    of_keys = formula(sizes.T)
    return summed.quotient((counts * of_keys).sum(axis=1), counts.sum(axis=1))


def _mcc(sums: Array, *, weighted: bool = False) -> Array:
    """As scikit-learn: 0 where all keys of one side have the same label; no label is a class of its own."""
    true, predicted, gold, *_ = _terms(sums, weighted=weighted)
    number = gold.sum(-1)
    # answers without a label are one more class of predictions, which the gold never has
    none = number - predicted.sum(-1)
    of_predicted = number**2 - (predicted**2).sum(-1) - none**2
    of_gold = number**2 - (gold**2).sum(-1)
    return summed.quotient(true.sum(-1) * number - (gold * predicted).sum(-1), np.sqrt(of_predicted * of_gold))


def _kappa(sums: Array, *, weighted: bool = False) -> Array:
    """Undefined where gold and answers are of one and the same label."""
    true, predicted, gold, *_ = _terms(sums, weighted=weighted)
    number = gold.sum(-1)
    by_chance = number**2 - (gold * predicted).sum(-1)
    return 1 - summed.quotient((number - true.sum(-1)) * number, by_chance, undefined=math.nan)


def _weighted_kappa(sums: Array, weights: Array) -> Array:
    """Of the summed weights of disagreements, the number of keys, and the counts of gold and predicted classes."""
    disagreement, number = sums[..., 0], sums[..., 1]
    gold, predicted = np.split(sums[..., 2:], 2, axis=-1)
    by_chance = ((gold @ weights) * predicted).sum(-1)
    return 1 - summed.quotient(disagreement * number, by_chance, undefined=math.nan)


def _jaccard(sums: Array, average: str, declared: int, *, weighted: bool = False) -> Array:
    """As scikit-learn with `zero_division=1`, over the declared labels and all others that occur."""
    true, predicted, gold, answered, there = _terms(sums, weighted=weighted)
    union = predicted + gold - true
    if average == "micro":
        return summed.quotient(true.sum(-1), union.sum(-1), undefined=1.0)
    counted = (np.arange(gold.shape[-1]) < declared) | (answered + there > 0)
    values = summed.quotient(true, union, undefined=1.0)
    mean = summed.mean_where(values, counted)
    if average == "weighted":
        mean = np.where(gold.any(axis=-1), summed.quotient((values * gold).sum(-1), gold.sum(-1)), mean)
    return np.where(counted.any(axis=-1), mean, 1.0)


def label_counts(sample: Sample) -> tuple[list[str], Any]:
    """Return the labels, and counts of gold (rows) against predicted; the last column is of answers without a label."""
    names, gold, predicted = codes(sample)
    width = len(names) + 1
    cells = gold * width + np.where(predicted == NO_LABEL, len(names), predicted)
    return names, np.bincount(cells, minlength=len(names) * width).reshape(len(names), width)


def spans(tags: Sequence[str]) -> set[Span]:
    """Return the spans that one key's tags mark: B begins one, and so does I after O or a span of another type."""
    found: set[Span] = set()
    first, kind = 0, None
    for place, tag in enumerate([*tags, "O"]):
        mark, _, own = tag.partition("-")
        if kind is not None and (mark != "I" or own != kind):
            found.add((kind, first, place - 1))
            kind = None
        if kind is None and mark != "O":
            first, kind = place, own
    return found


def _over_types(of_type: Formula, sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    sides: list[list[list[str]]] = [[], [], []]
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        truth, answer = spans(gold), spans(predicted)
        for side, marked in zip(sides, (truth & answer, answer, truth), strict=True):
            side.append([kind for kind, _, _ in marked])
    # where neither side has a span, seqeval's mean over types is undefined
    weighted = keys.weight is not None
    formula = partial(averaged, formula=of_type, average=options["average"], nothing=keys.worst, weighted=weighted)
    names = sorted(set(chain(*sides[1], *sides[2])))
    return LabelCounts.of(names, _sides(sides, names), formula, keys)


span_f1 = partial(_over_types, summed.f1)
span_precision = partial(_over_types, summed.precision)
span_recall = partial(_over_types, summed.recall)
