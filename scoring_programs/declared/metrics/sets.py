"""Metrics of sets (labels, spans, or with many rows the rows of a key as tuples), and exact matches of answers."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from functools import partial
from itertools import chain
from typing import Any

from declared.metrics import MeanOverKeys, Options, Sample

Ratio = Callable[[int, int, int], tuple[int, int]]
"""Numerator and denominator, of the numbers of shared, predicted and gold elements; 0/0 = 0."""


@MeanOverKeys
def exact_match(sample: Sample, options: Options) -> list[bool]:
    """Whether each key's answer equals the gold in every field."""
    if sample.many:
        pairs = zip(sample.gold, sample.predicted, strict=True)
        return [_rows(gold) == _rows(answer) for gold, answer in pairs]
    return [all(map(_equals, gold, answer)) for gold, answer in zip(sample.gold, sample.predicted, strict=True)]


def set_counts(sample: Sample, match: str = "exact") -> Iterator[tuple[int, int, int]]:
    """(shared, predicted, gold) distinct elements of each key."""
    elements = _rows if sample.many else _members
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        if match == "characters":
            in_gold, in_predicted, in_both = map(_characters, (gold, predicted, map(chain, gold, predicted)))
            yield in_gold + in_predicted - in_both, in_predicted, in_gold
        else:
            gold_set, predicted_set = elements(gold), elements(predicted)
            yield len(gold_set & predicted_set), len(predicted_set), len(gold_set)


def _averaged(ratio: Ratio, sample: Sample, options: Options) -> float:
    """Micro: the ratio of the counts of all keys together. Macro: the mean over keys, two empty sets being equal."""

    def quotient(*count: int) -> float:
        part, whole = ratio(*count)
        return part / whole if whole else 0.0

    counts = set_counts(sample, options["match"])
    if options["average"] == "micro":
        return quotient(*map(sum, zip(*counts, strict=True)))
    values = [quotient(*count) if any(count) else 1.0 for count in counts]
    return sum(values) / len(values)


set_f1 = partial(_averaged, lambda shared, predicted, gold: (2 * shared, predicted + gold))
set_precision = partial(_averaged, lambda shared, predicted, gold: (shared, predicted))
set_recall = partial(_averaged, lambda shared, predicted, gold: (shared, gold))


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
