"""What each document adds to the metrics of SeeDev, for the organisers' final report."""

import math
from collections.abc import Mapping, Sequence

from scoring_kit.metrics.summed import count, f1, precision, quotient, recall
from scoring_kit.units import Additive, Array, Units
from seedev2016.measures import Measures


def document_units(task: str, names: Sequence[str], measures: Mapping[str, Measures]) -> Units:
    """The per-unit results of a task that has the measures `names`; `measures`: document → what was counted there."""
    formulas = {"f1": f1, "recall": recall, "precision": precision, "ser": slot_error_rate}
    terms = [(own.similarity, own.predicted, own.gold, own.pairs) for own in measures.values()]
    counts = [own.counts for own in measures.values()]
    statistics = {f"{task}_{name}": Additive.of(terms, formulas[name]) for name in names}
    statistics |= {name: Additive.of(([own[name]] for own in counts), count) for name in counts[0]}
    return Units("document", list(measures), statistics)


def slot_error_rate(sums: Array) -> Array:
    """(S + D + I) / gold from (M, predicted, gold, pairs); undefined without gold."""
    similarity, predicted, gold, pairs = (sums[..., term] for term in range(4))
    return quotient(gold + predicted - similarity - pairs, gold, undefined=math.nan)
