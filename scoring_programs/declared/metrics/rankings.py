"""Metrics of ranked items, by ir-measures; a key is a query, and one without an answer counts 0.

The rows of the gold are (item, relevance), the submitted ones (item, score), (item, rank), or (item,) in the order of
their ranking.
"""

from collections.abc import Iterator
from typing import Any

from declared.metrics import Metric, Options, Sample
from declared.metrics.keys import Keys
from scoring_kit.units import Additive


def _over_queries(name: str) -> Metric:
    """The mean over queries of a measure of ir-measures, at the cutoff if there is one."""

    def metric(sample: Sample, options: Options, keys: Keys) -> Additive:
        import ir_measures

        measure = getattr(ir_measures, name)
        if options.get("cutoff") is not None:
            measure = measure @ options["cutoff"]
        values = [0.0] * len(sample.gold)
        judgements, run = [], []
        for i, rows in enumerate(sample.gold):
            for item, *relevance in rows:
                gain = int((*relevance, 1)[0])  # without relevance every row is relevant
                if options.get("gain") == "exponential":
                    gain = 2**gain - 1
                judgements.append(ir_measures.Qrel(str(i), item, gain))
            for ranked in _ranked(sample.predicted[i], options):
                run.append(ir_measures.ScoredDoc(str(i), *ranked))
        if run:
            for found in ir_measures.iter_calc([measure], judgements, run):
                values[int(found.query_id)] = float(found.value)
        return keys.mean(values)

    return metric


ndcg = _over_queries("nDCG")
ap = _over_queries("AP")
rr = _over_queries("RR")
precision_at = _over_queries("P")
recall_at = _over_queries("R")
r_precision = _over_queries("Rprec")


def _ranked(rows: list[tuple[Any, ...]], options: Options) -> Iterator[tuple[str, float]]:
    """Items with scores that all differ, the highest score or the lowest rank first.

    Equal ones in the order of trec_eval, the later name first, or in that of the rows. The libraries behind
    ir-measures break ties in different ways, so that none are left to them.
    """
    ordered = rows
    if rows and len(rows[0]) > 1:
        if options["ties"] == "trec":
            ordered = sorted(rows, key=lambda row: row[0].encode(), reverse=True)
        ordered = sorted(ordered, key=lambda one: one[1], reverse=not options["rank"])
    for place, row in enumerate(ordered):
        yield row[0], float(len(ordered) - place)
