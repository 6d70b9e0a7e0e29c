"""Metrics of the spans that tags mark, by seqeval in its default mode."""

import warnings
from collections.abc import Mapping
from typing import Any

from declared.metrics import Sample


def span_f1(sample: Sample, options: Mapping[str, Any]) -> float:
    """F1 of spans with their types."""
    return _scores(sample, options)[2]


def span_precision(sample: Sample, options: Mapping[str, Any]) -> float:
    """Precision of spans with their types."""
    return _scores(sample, options)[0]


def span_recall(sample: Sample, options: Mapping[str, Any]) -> float:
    """Recall of spans with their types."""
    return _scores(sample, options)[1]


def _scores(sample: Sample, options: Mapping[str, Any]) -> tuple[float, float, float]:
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of types without a predicted or a gold span, whose 0/0 is 0
        precision, recall, f1, _ = precision_recall_fscore_support(
            list(sample.gold), list(sample.predicted), average=options["average"], zero_division=0
        )
    return float(precision), float(recall), float(f1)


def spans(tags: list[str]) -> list[tuple[str, int, int]]:
    """(type, first token, last token) of the spans that one key's tags mark."""
    from seqeval.metrics.sequence_labeling import get_entities

    found: list[tuple[str, int, int]] = get_entities(tags)
    return found


def type_counts(sample: Sample) -> list[tuple[str, float, float, float]]:
    """Each type with its true positives, false positives and false negatives."""
    from seqeval.metrics.sequence_labeling import get_entities

    gold, predicted = set(get_entities(list(sample.gold))), set(get_entities(list(sample.predicted)))
    counts = []
    for kind in sorted({entity[0] for entity in gold | predicted}):
        own, answered = ({entity for entity in entities if entity[0] == kind} for entities in (gold, predicted))
        counts.append((kind, float(len(own & answered)), float(len(answered - own)), float(len(own - answered))))
    return counts
