"""Metrics of ranked items, by ir-measures; a key is a query, and one without an answer counts 0.

The rows of the gold are (item, relevance), the submitted ones (item, score), or (item,) in the order of their ranking.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from declared.metrics import Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.units import Additive


def _over_queries(name: str, sample: Sample, options: Options, keys: Keys) -> Additive:
    """The mean over queries of a measure of ir-measures, at the cutoff if there is one."""
    import ir_measures

    measure = getattr(ir_measures, name)
    measure = measure @ options["cutoff"] if options.get("cutoff") is not None else measure
    exponential = options.get("gain") == "exponential"
    values = [0.0] * len(sample.gold)
    judgements = []
    for i, rows in enumerate(sample.gold):
        for item, level in rows:
            gain = 2 ** int(level) - 1 if exponential else int(level)
            judgements.append(ir_measures.Qrel(str(i), item, gain))
    run = [
        ir_measures.ScoredDoc(str(i), *ranked) for i, rows in enumerate(sample.predicted) for ranked in _ranked(rows)
    ]
    if run:
        for found in ir_measures.iter_calc([measure], judgements, run):
            values[int(found.query_id)] = float(found.value)
    return keys.mean(values)


ndcg = partial(_over_queries, "nDCG")
ap = partial(_over_queries, "AP")
rr = partial(_over_queries, "RR")
precision_at = partial(_over_queries, "P")
recall_at = partial(_over_queries, "R")
r_precision = partial(_over_queries, "Rprec")


def _ranked(rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, float]]:
    """Items with scores that all differ, in the order in which trec_eval ranks them: of equal scores the later name.

    The libraries behind ir-measures break ties in different ways.
    """
    ordered = (
        sorted(rows, key=lambda row: (row[1], row[0].encode()), reverse=True) if rows and len(rows[0]) > 1 else rows
    )
    for place, row in enumerate(ordered):
        yield row[0], float(len(ordered) - place)
