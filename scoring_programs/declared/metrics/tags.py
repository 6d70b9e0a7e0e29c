"""Metrics of the spans that tags mark, as seqeval's default mode reads and counts them."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from declared.metrics import Options, Sample
from declared.metrics.keys import Entries, Keys, LabelCounts
from declared.metrics.labels import Formula, averaged
from scoring_kit.metrics import summed

Span = tuple[str, int, int]
"""Type, first token, last token."""


def spans(tags: Sequence[str]) -> set[Span]:
    """The spans that one key's tags mark: B begins one, and so does I after O or after a span of another type."""
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


def _averaged(of_type: Formula, sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    gold, predicted = list(map(spans, sample.gold)), list(map(spans, sample.predicted))
    shared = [truth & given for truth, given in zip(gold, predicted, strict=True)]
    types = sorted({kind for own in (*gold, *predicted) for kind, _, _ in own})
    place = {kind: number for number, kind in enumerate(types)}

    def entries(side: list[set[Span]]) -> Entries:
        pairs = [(key, place[kind]) for key, own in enumerate(side) for kind, _, _ in own]
        key, label = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return key, label

    # where neither side has a span, seqeval's mean over types is undefined
    weighted = keys.weight is not None
    formula = partial(averaged, formula=of_type, average=options["average"], nothing=keys.worst, weighted=weighted)
    return LabelCounts.of(types, [entries(side) for side in (shared, predicted, gold)], formula, keys)


span_f1 = partial(_averaged, summed.f1)
span_precision = partial(_averaged, summed.precision)
span_recall = partial(_averaged, summed.recall)
