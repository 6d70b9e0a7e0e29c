"""Metrics of ranked items, by ir-measures; a key is a query, and one without an answer counts 0.

The rows of the gold are (item, relevance), the submitted ones (item, score), (item, rank), or (item,) in the order of
their ranking.
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
        for item, *relevance in rows:
            level = int(relevance[0]) if relevance else 1
            gain = 2**level - 1 if exponential else level
            judgements.append(ir_measures.Qrel(str(i), item, gain))
    run = []
    for i, rows in enumerate(sample.predicted):
        run += [ir_measures.ScoredDoc(str(i), *ranked) for ranked in _ranked(rows, options)]
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


def _ranked(rows: list[tuple[Any, ...]], options: Options) -> Iterator[tuple[str, float]]:
    """Items with scores that all differ, the highest score or the lowest rank first.

    Equal ones in the order of trec_eval, the later name first, or in that of the rows. The libraries behind
    ir-measures break ties in different ways, so that none are left to them.
    """
    ordered = rows
    if rows and len(rows[0]) > 1:
        sign = 1 if options["rank"] else -1
        if options["ties"] == "trec":
            ordered = sorted(rows, key=lambda row: row[0].encode(), reverse=True)
        ordered = sorted(ordered, key=lambda row: sign * row[1])
    for place, row in enumerate(ordered):
        yield row[0], float(len(ordered) - place)
