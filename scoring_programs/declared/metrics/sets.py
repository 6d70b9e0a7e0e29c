"""Metrics of sets (labels, spans, or with many rows the rows of a key as tuples), and exact matches of answers."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from typing import Any

from declared.metrics import Sample

Ratio = Callable[[int, int, int], float]
"""Of the numbers of shared, predicted and gold elements; 0/0 = 0."""


def set_f1(sample: Sample, options: Mapping[str, Any]) -> float:
    """F1 of distinct elements."""

    def ratio(shared: int, predicted: int, gold: int) -> float:
        return 2 * shared / (predicted + gold) if predicted + gold else 0.0

    return _averaged(sample, options, ratio)


def set_precision(sample: Sample, options: Mapping[str, Any]) -> float:
    """Precision of distinct elements."""
    return _averaged(sample, options, lambda shared, predicted, gold: shared / predicted if predicted else 0.0)


def set_recall(sample: Sample, options: Mapping[str, Any]) -> float:
    """Recall of distinct elements."""
    return _averaged(sample, options, lambda shared, predicted, gold: shared / gold if gold else 0.0)


def exact_match(sample: Sample, options: Mapping[str, Any]) -> float:
    """Share of the keys whose answer equals the gold in every field."""
    equal = matches(sample)
    return sum(equal) / len(equal)


def matches(sample: Sample) -> list[bool]:
    """Whether each key's answer equals the gold in every field."""
    if sample.many:
        pairs = zip(sample.gold, sample.predicted, strict=True)
        return [{_comparable(row) for row in gold} == {_comparable(row) for row in answer} for gold, answer in pairs]
    return [all(map(_equals, gold, answer)) for gold, answer in zip(sample.gold, sample.predicted, strict=True)]


def set_counts(sample: Sample, match: str = "exact") -> Iterator[tuple[int, int, int]]:
    """(shared, predicted, gold) distinct elements of each key."""
    elements = _rows if sample.many else _characters if match == "characters" else _members
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        gold_set, predicted_set = elements(gold), elements(predicted)
        yield len(gold_set & predicted_set), len(predicted_set), len(gold_set)


def _averaged(sample: Sample, options: Mapping[str, Any], ratio: Ratio) -> float:
    """Micro: the ratio of the counts of all keys together. Macro: the mean over keys, two empty sets being equal."""
    counts = set_counts(sample, options["match"])
    if options["average"] == "micro":
        shared, predicted, gold = map(sum, zip(*counts, strict=True))
        return ratio(shared, predicted, gold)
    values = [ratio(*count) if any(count) else 1.0 for count in counts]
    return sum(values) / len(values)


def _members(answer: tuple[Any, ...]) -> Set[Hashable]:
    """The elements of each field of an answer."""
    if len(answer) == 1:
        return frozenset(answer[0])
    return {(position, element) for position, value in enumerate(answer) for element in value}


def _characters(answer: tuple[Any, ...]) -> Set[Hashable]:
    """The positions that the spans of each field cover, each with the span's type."""
    return {
        (position, place, *kind)
        for position, spans in enumerate(answer)
        for start, end, *kind in spans
        for place in range(start, end)
    }


def _rows(rows: list[tuple[Any, ...]]) -> Set[Hashable]:
    return {_comparable(row) for row in rows}


def _comparable(row: tuple[Any, ...]) -> Hashable:
    """A row as an element of a set: texts without blanks around them, lists as tuples, lists of spans as sets."""
    return tuple(map(_plain, row))


def _plain(value: Any) -> Hashable:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return frozenset(value) if value and isinstance(value[0], tuple) else tuple(value)
    return value  # type: ignore[no-any-return]


def _equals(gold: Any, answer: Any) -> bool:
    """Whether one field's values are equal; a text, whether it equals any of several references."""
    if isinstance(answer, str) and isinstance(gold, list):
        return answer.strip() in (text.strip() for text in gold)
    return _plain(gold) == _plain(answer)
