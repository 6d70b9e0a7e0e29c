"""Metrics of sets (labels, spans, or with many rows the rows of a key as tuples), and exact matches of answers."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np

from declared.metrics import Metric, Options, Sample
from declared.metrics.keys import Keys
from declared.metrics.texts import text_form
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array

Form = Callable[[str], str]
"""A function that makes of a text what is compared."""
Formula = Callable[[Array], Array]


def exact_match(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Return the share of keys whose answer equals the gold in every field."""
    form = text_form(options)
    equal = []
    for gold, answer in zip(sample.gold, sample.predicted, strict=True):
        if sample.many:
            equal.append(_rows(gold, form) == _rows(answer, form))
        else:
            equal.append(all(_equals(truth, given, form) for truth, given in zip(gold, answer, strict=True)))
    return keys.mean(equal)


def span_iou(sample: Sample, options: Options, keys: Keys) -> Additive:
    """Positions that both cover over those that either covers, of each type by themselves; the mean over keys."""
    counts = []
    for truth, answer in zip(sample.gold, sample.predicted, strict=True):
        if sample.fields[0].type == "offsets":
            counts.append((len(truth & answer), len(truth | answer)))
            continue
        either = _characters([[*truth, *answer]])
        counts.append((_characters([truth]) + _characters([answer]) - either, either))
    shared, covered = np.array(counts, dtype=np.float64).T
    return keys.mean(summed.quotient(shared, covered, undefined=1.0))


def _averaged(formula: Formula, of_overlaps: Formula) -> Metric:
    """Micro: the formula of the counts of all keys together. Macro: the mean over keys, two empty sets being equal.

    One span may overlap with several, so that right and found ones are counted each by themselves, for `of_overlaps`.
    """

    def metric(sample: Sample, options: Options, keys: Keys) -> Additive:
        own = of_overlaps if options["match"] == "overlap" else formula
        counts = np.array(list(_counts(sample, options["match"])), dtype=np.float64)
        if options["average"] == "micro":
            return keys.additive(own, *counts.T)
        return keys.mean(np.where(counts.any(axis=1), own(counts), 1.0))

    return metric


def _f1_of_overlaps(counts: Array) -> Array:
    """The harmonic mean of both shares, of (right, predicted, gold, found)."""
    precision, recall = summed.precision(counts), _recall_of_overlaps(counts)
    return summed.quotient(2 * precision * recall, precision + recall)


def _recall_of_overlaps(counts: Array) -> Array:
    return summed.quotient(counts[..., 3], counts[..., 2])


set_f1 = _averaged(summed.f1, _f1_of_overlaps)
set_precision = _averaged(summed.precision, summed.precision)
set_recall = _averaged(summed.recall, _recall_of_overlaps)


def _counts(sample: Sample, match: str) -> Iterator[tuple[int, ...]]:
    """(shared, predicted, gold) distinct elements of each key; for overlaps also the gold ones that are found."""
    elements = _rows if sample.many else _members
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        if match == "characters":
            in_gold, in_predicted = _characters(gold), _characters(predicted)
            in_both = _characters([[*truth, *answer] for truth, answer in zip(gold, predicted, strict=True)])
            yield in_gold + in_predicted - in_both, in_predicted, in_gold
        elif match == "overlap":
            right = found = 0
            for truth, answer in zip(gold, predicted, strict=True):
                right += _overlapping(answer, truth)
                found += _overlapping(truth, answer)
            yield right, len(_members(predicted)), len(_members(gold)), found
        else:
            gold_set, predicted_set = elements(gold), elements(predicted)
            yield len(gold_set & predicted_set), len(predicted_set), len(gold_set)


def _overlapping(spans: Sequence[Any], others: Sequence[Any]) -> int:
    """How many distinct spans share a position with one of the others of the same type."""
    number = 0
    for start, end, *kind in set(spans):
        number += any(start < last and first < end and kind == other for first, last, *other in others)
    return number


def _members(answer: tuple[Any, ...]) -> Set[Hashable]:
    """The elements of each field of an answer."""
    if len(answer) == 1:
        return frozenset(answer[0])
    return {(position, element) for position, value in enumerate(answer) for element in value}


def _characters(answer: Iterable[Iterable[tuple[Any, ...]]]) -> int:
    """How many positions the spans of each field cover, those of each type counted by themselves."""
    covered = 0
    for spans in answer:
        ends: dict[tuple[str, ...], int] = defaultdict(int)
        for start, end, *kind in sorted(spans):
            covered += max(0, end - max(start, ends[*kind,]))
            ends[*kind,] = max(end, ends[*kind,])
    return covered


def _rows(rows: list[tuple[Any, ...]], form: Form = str) -> Set[Hashable]:
    """Rows as elements: texts without blanks around them, lists as tuples, lists of spans as sets."""
    found = set()
    for row in rows:
        found.add(tuple([_plain(value, form) for value in row]))
    return found


def _plain(value: Any, form: Form = str) -> Hashable:
    if isinstance(value, str):
        return form(value).strip()
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return frozenset(value)
        return tuple(_plain(one, form) for one in value)
    return value  # type: ignore[no-any-return]


def _equals(gold: Any, answer: Any, form: Form) -> bool:
    """Whether one field's values are equal; a text, whether it equals any of several references."""
    if isinstance(answer, str) and isinstance(gold, list):
        return form(answer).strip() in (form(text).strip() for text in gold)
    return _plain(gold, form) == _plain(answer, form)
