"""Spans that tags mark: counts of each type."""

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from declared.metrics import Options, Sample
from declared.metrics.tags import spans
from declared.statistics import Keys
from declared.statistics.by_label import LabelCounts, averaged, label_terms


def _averaged(part: str, sample: Sample, options: Options, keys: Keys) -> LabelCounts:
    gold, predicted = ([set(spans(tags)) for tags in side] for side in (sample.gold, sample.predicted))
    types = sorted({kind for side in (gold, predicted) for own in side for kind, _, _ in own})
    place = {kind: i for i, kind in enumerate(types)}
    shared = [truth & given for truth, given in zip(gold, predicted, strict=True)]

    def matrix(side: list[set[tuple[str, int, int]]]) -> Any:
        cells = [(key, place[kind]) for key, own in enumerate(side) for kind, _, _ in own]
        rows, columns = np.array(cells, dtype=np.intp).reshape(-1, 2).T
        return csr_matrix((np.ones(len(cells)), (rows, columns)), shape=(len(side), len(types)))

    terms = label_terms(*map(matrix, (shared, predicted, gold)))
    # where neither side has a span, seqeval's mean over types is undefined
    formula = partial(averaged, part=part, average=options["average"], nothing=keys.worst)
    return LabelCounts(types, keys.summed(terms), formula)


span_f1 = partial(_averaged, "f1")
span_precision = partial(_averaged, "precision")
span_recall = partial(_averaged, "recall")
