"""Metrics of ranked items, by ir-measures; a key is a query, and one without an answer counts 0.

The rows of the gold are (item, relevance), the submitted ones (item, score), or (item,) in the order of their ranking.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from declared.metrics import Sample


def ndcg(sample: Sample, options: Mapping[str, Any]) -> float:
    """NDCG, at the cutoff if there is one."""
    return _mean("nDCG", sample, options)


def ap(sample: Sample, options: Mapping[str, Any]) -> float:
    """Average precision."""
    return _mean("AP", sample, options)


def rr(sample: Sample, options: Mapping[str, Any]) -> float:
    """Reciprocal rank."""
    return _mean("RR", sample, options)


def precision_at(sample: Sample, options: Mapping[str, Any]) -> float:
    """Precision at the cutoff."""
    return _mean("P", sample, options)


def recall_at(sample: Sample, options: Mapping[str, Any]) -> float:
    """Recall at the cutoff."""
    return _mean("R", sample, options)


def _mean(name: str, sample: Sample, options: Mapping[str, Any]) -> float:
    values = by_query(name, sample, options["cutoff"])
    return sum(values) / len(values)


def by_query(name: str, sample: Sample, cutoff: int | None) -> list[float]:
    """The measure of each query."""
    import ir_measures

    measure = getattr(ir_measures, name)
    measure = measure @ cutoff if cutoff is not None else measure
    values = [0.0] * len(sample.gold)
    judgements = [
        ir_measures.Qrel(str(i), item, int(level)) for i, rows in enumerate(sample.gold) for item, level in rows
    ]
    run = [
        ir_measures.ScoredDoc(str(i), *ranked) for i, rows in enumerate(sample.predicted) for ranked in _ranked(rows)
    ]
    if run:
        for found in ir_measures.iter_calc([measure], judgements, run):
            values[int(found.query_id)] = float(found.value)
    return values


def _ranked(rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, float]]:
    """Items with scores that all differ, in the order in which trec_eval ranks them: of equal scores the later name.

    The libraries behind ir-measures break ties in different ways.
    """
    ordered = (
        sorted(rows, key=lambda row: (row[1], row[0].encode()), reverse=True) if rows and len(rows[0]) > 1 else rows
    )
    for place, row in enumerate(ordered):
        yield row[0], float(len(ordered) - place)
