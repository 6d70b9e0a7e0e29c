"""Metrics of the spans that tags mark, by seqeval in its default mode."""

import warnings
from functools import partial

from declared.metrics import Options, Sample


def _score(place: int, sample: Sample, options: Options) -> float:
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of types without a predicted or a gold span, whose 0/0 is 0
        scores = precision_recall_fscore_support(
            list(sample.gold), list(sample.predicted), average=options["average"], zero_division=0
        )
    return float(scores[place])


span_precision = partial(_score, 0)
span_recall = partial(_score, 1)
span_f1 = partial(_score, 2)


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
