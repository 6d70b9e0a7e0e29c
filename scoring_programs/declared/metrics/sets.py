"""Metrics of sets (labels, spans, or with many rows the rows of a key as tuples), and exact matches of answers."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.metrics import summed
from scoring_kit.units import Additive, Array


def exact_match(sample: Sample, options: Options, keys: Keys) -> Additive:
    """The share of keys whose answer equals the gold in every field."""
    pairs = zip(sample.gold, sample.predicted, strict=True)
    if sample.many:
        return keys.mean([_rows(gold) == _rows(answer) for gold, answer in pairs])
    return keys.mean([all(map(_equals, gold, answer)) for gold, answer in pairs])


def _averaged(formula: Callable[[Array], Array], sample: Sample, options: Options, keys: Keys) -> Additive:
    """Micro: the formula of the counts of all keys together. Macro: the mean over keys, two empty sets being equal."""
    counts = np.array(list(_counts(sample, options["match"])), dtype=np.float64)
    if options["average"] == "micro":
        return keys.additive(formula, *counts.T)
    return keys.mean(np.where(counts.any(axis=1), formula(counts), 1.0))


set_f1 = partial(_averaged, summed.f1)
set_precision = partial(_averaged, summed.precision)
set_recall = partial(_averaged, summed.recall)


def _counts(sample: Sample, match: str) -> Iterator[tuple[int, int, int]]:
    """(shared, predicted, gold) distinct elements of each key."""
    elements = _rows if sample.many else _members
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        if match == "characters":
            in_gold, in_predicted, in_both = map(_characters, (gold, predicted, map(chain, gold, predicted)))
            yield in_gold + in_predicted - in_both, in_predicted, in_gold
        else:
            gold_set, predicted_set = elements(gold), elements(predicted)
            yield len(gold_set & predicted_set), len(predicted_set), len(gold_set)


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


def _rows(rows: list[tuple[Any, ...]]) -> Set[Hashable]:
    """Rows as elements: texts without blanks around them, lists as tuples, lists of spans as sets."""
    return {tuple(map(_plain, row)) for row in rows}


def _plain(value: Any) -> Hashable:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return frozenset(value) if value and isinstance(value[0], tuple) else tuple(map(_plain, value))
    return value  # type: ignore[no-any-return]


def _equals(gold: Any, answer: Any) -> bool:
    """Whether one field's values are equal; a text, whether it equals any of several references."""
    if isinstance(answer, str) and isinstance(gold, list):
        return answer.strip() in (text.strip() for text in gold)
    return _plain(gold) == _plain(answer)
