"""Metrics of labels, sets of labels and tags: counts of each label or type of span, or means over keys.

Of labels as scikit-learn's; no label (None) is wrong for every label and a false positive of none. Of tags as seqeval's
default mode reads and counts the spans that they mark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from declared.metrics import Metric, Options, Sample, positive_of
from declared.metrics.keys import Entries, Keys, LabelCounts, Terms, TermsFormula
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

    def mean_recall(terms: Terms) -> Array:
        mean = summed.mean_where(summed.quotient(terms.true, terms.gold), terms.gold > 0)
        return np.where(np.isnan(mean), keys.worst, mean)

    return _counts(mean_recall, sample, keys)


def mcc(sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    """Matthews correlation coefficient."""
    return _counts(_mcc, sample, keys)


def kappa(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """Cohen's kappa over the declared labels in their order; no label is a class after them."""
    if options["weights"] == "none":
        return _counts(_kappa, sample, keys)
    names = _names(sample)
    gold, predicted = _codes(sample, names)
    classes, every = len(names) + 1, np.arange(len(gold))
    predicted = np.where(predicted == NO_LABEL, len(names), predicted)
    power = {"linear": 1, "quadratic": 2}[options["weights"]]
    weights = np.abs(np.subtract.outer(np.arange(float(classes)), np.arange(float(classes)))) ** power
    one = np.ones(len(gold))
    # for each key its disagreement and 1, then 1 in the column of its gold class and in that of its answer's
    columns = np.concatenate([np.zeros_like(gold), np.ones_like(gold), 2 + gold, 2 + classes + predicted])
    amounts = np.concatenate([weights[gold, predicted], one, one, one])
    sums = keys.counted((np.tile(every, 4), columns), 2 + 2 * classes, amounts)

    def weighted_kappa(sums: Array) -> Array:
        disagreement, number = sums[..., 0], sums[..., 1]
        of_gold, of_answers = np.split(sums[..., 2:], 2, axis=-1)
        by_chance = ((of_gold @ weights) * of_answers).sum(-1)
        return 1 - summed.quotient(disagreement * number, by_chance, undefined=math.nan)

    filled = sums if keys.units == 1 else sums.toarray()
    return Additive(filled, weighted_kappa)


def jaccard(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """Jaccard index of sets of labels; two empty sets are equal."""
    if options["average"] == "samples":
        true, predicted, gold = _sizes(sample.gold, sample.predicted)
        return keys.mean(summed.quotient(true, predicted + gold - true, undefined=1.0))
    (field,) = sample.fields
    declared = len(field.values or ())

    def index(terms: Terms) -> Array:
        """As scikit-learn with `zero_division=1`, over the declared labels and all others that occur."""
        true, predicted, gold, answered, there = terms
        union = predicted + gold - true
        if options["average"] == "micro":
            return summed.quotient(true.sum(-1), union.sum(-1), undefined=1.0)
        counted = (np.arange(gold.shape[-1]) < declared) | (answered + there > 0)
        values = summed.quotient(true, union, undefined=1.0)
        mean = summed.mean_where(values, counted)
        if options["average"] == "weighted":
            mean = np.where(gold.any(axis=-1), summed.quotient((values * gold).sum(-1), gold.sum(-1)), mean)
        return np.where(counted.any(axis=-1), mean, 1.0)

    return _counts(index, sample, keys)


def _averaged(formula: Callable[..., Array]) -> Metric:
    """The metric of a formula, averaged over labels or keys as the options say."""

    def metric(sample: Sample, options: Options, keys: Keys) -> Statistic:
        average, labels = options["average"], options["labels"]
        nothing = float(options["zero_division"] or 0)

        def of_counts(sums: Array) -> Array:
            return formula(sums, nothing=nothing)

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
        return _counts(_over_labels(of_counts, average, keys.worst, over), sample, keys, names)

    return metric


f1 = _averaged(summed.f1)
precision = _averaged(summed.precision)
recall = _averaged(summed.recall)


def fbeta(sample: Sample, options: Options, keys: Keys) -> Statistic:
    """F-beta, averaged as F1."""

    def formula(sums: Array, nothing: float) -> Array:
        return summed.fbeta(sums, options["beta"], nothing)

    return _averaged(formula)(sample, options, keys)


def points(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Points reached over those that the gold itself would get; a pair of labels that is not named has 0."""
    reached, best = [], []
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        row = options["matrix"].get(gold, {})
        reached.append(row.get(predicted, 0))
        best.append(row.get(gold, 0))
    return keys.additive(summed.mean, reached, best)


def _over_labels(
    formula: Formula, average: str, nothing: float, labels: str | Sequence[int] = "present"
) -> TermsFormula:
    """F1, precision or recall, averaged over labels as scikit-learn does it.

    Args:
        formula: F1, precision or recall of (true positives, predicted, gold).
        average: macro, micro or weighted.
        nothing: what counts where no label is averaged over.
        labels: over which labels: present (gold or predicted), gold, or those at some places.
    """

    def averaged(terms: Terms) -> Array:
        gold, counted = terms.gold, terms.there > 0
        if labels == "present":
            counted = counted | (terms.answered > 0)
        elif labels != "gold":
            counted = np.broadcast_to(np.isin(np.arange(gold.shape[-1]), labels), gold.shape)
        of_labels = np.stack([terms.true, terms.predicted, gold], axis=-1)
        if average == "micro":
            return formula(np.where(counted[..., np.newaxis], of_labels, 0.0).sum(axis=-2))
        values = formula(of_labels)
        mean = summed.mean_where(values, counted)
        if average == "weighted":
            weights = gold * counted
            of_gold = summed.quotient((values * weights).sum(-1), weights.sum(-1))
            mean = np.where(weights.any(axis=-1), of_gold, mean)
        return np.where(np.isnan(mean), nothing, mean)

    return averaged


def _counts(formula: TermsFormula, sample: Sample, keys: Keys, names: Sequence[str] | None = None) -> LabelCounts:
    """A formula of the counts of each label: of one label a key, or of sets of them; `names` has all labels."""
    (field,) = sample.fields
    names = names or _names(sample)
    if field.type == "labels":
        shared = [gold & predicted for gold, predicted in zip(sample.gold, sample.predicted, strict=True)]
        return keys.of_labels(names, _sides([shared, sample.predicted, sample.gold], names), formula)
    gold, predicted = _codes(sample, names)
    right, answered = np.flatnonzero(gold == predicted), np.flatnonzero(predicted != NO_LABEL)
    true = right, gold[right]
    return keys.of_labels(names, [true, (answered, predicted[answered]), (np.arange(len(gold)), gold)], formula)


def _names(sample: Sample, listed: Sequence[str] = ()) -> list[str]:
    """All labels in the order of their codes: the declared and listed ones, then others in the order of their texts."""
    (field,) = sample.fields
    declared = list(dict.fromkeys([*(field.values or ()), *listed]))
    if field.type == "labels":
        there = set().union(*sample.gold, *sample.predicted)
    else:
        there = {*sample.gold, *sample.predicted} - {None}
    return declared + sorted(there.difference(declared))


def _codes(sample: Sample, names: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Gold and predicted labels as codes."""
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

    def of_samples(values: Array, counts: Array) -> Array:
        gold, predicted = np.hsplit(values, 2)
        # which labels the gold of the drawn keys has, shape [labels, resamples]
        drawn = (counts @ gold > 0).astype(np.float64).T
        sizes = np.stack([gold * predicted, predicted, gold]) @ drawn
        of_keys = formula(sizes.T)
        return summed.quotient((counts * of_keys).sum(axis=1), counts.sum(axis=1))

    return keys.items(of_samples, *columns)


def _mcc(terms: Terms) -> Array:
    """As scikit-learn: 0 where all keys of one side have the same label; no label is a class of its own."""
    true, predicted, gold, *_ = terms
    number = gold.sum(-1)
    # answers without a label are one more class of predictions, which the gold never has
    none = number - predicted.sum(-1)
    of_predicted = number**2 - (predicted**2).sum(-1) - none**2
    of_gold = number**2 - (gold**2).sum(-1)
    return summed.quotient(true.sum(-1) * number - (gold * predicted).sum(-1), np.sqrt(of_predicted * of_gold))


def _kappa(terms: Terms) -> Array:
    """Undefined where gold and answers are of one and the same label."""
    true, predicted, gold, *_ = terms
    number = gold.sum(-1)
    by_chance = number**2 - (gold * predicted).sum(-1)
    return 1 - summed.quotient((number - true.sum(-1)) * number, by_chance, undefined=math.nan)


def label_counts(sample: Sample) -> tuple[list[str], Any]:
    """Return the labels, and counts of gold (rows) against predicted; the last column is of answers without a label."""
    names = _names(sample)
    gold, predicted = _codes(sample, names)
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


def _over_types(of_type: Formula) -> Metric:
    """The metric of a formula of the spans of each type, averaged over types."""

    def metric(sample: Sample, options: Options, keys: Keys) -> LabelCounts:
        sides: list[list[list[str]]] = [[], [], []]
        for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
            truth, answer = spans(gold), spans(predicted)
            for side, marked in zip(sides, (truth & answer, answer, truth), strict=True):
                side.append([kind for kind, _, _ in marked])
        names = sorted(set(chain(*sides[1], *sides[2])))
        # where neither side has a span, seqeval's mean over types is undefined
        formula = _over_labels(of_type, options["average"], keys.worst)
        return keys.of_labels(names, _sides(sides, names), formula)

    return metric


span_f1 = _over_types(summed.f1)
span_precision = _over_types(summed.precision)
span_recall = _over_types(summed.recall)
