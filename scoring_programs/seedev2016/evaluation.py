"""Pairing, filtering and measures, one after the other, and what they give for the board, details and results page.

Gold and predicted events are paired one to one inside a document, so that the sum of S_p is greatest.
Source: BioNLP-ST 2016, SeeDev, "Evaluation service": Pairing, Filtering, Measures; SeeDev-binary, SeeDev-full.
Slot error rate: Makhoul et al. (1999), "Performance Measures for Information Extraction".
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from scoring_kit.metrics.summed import count, f1, precision, quotient, recall
from scoring_kit.results import CountBars, Metric, TaskResult, scored_items, share
from scoring_kit.units import Additive, Array, Units
from seedev2016.reference import TaskGold, types
from seedev2016.schema import EVENT_TYPES
from seedev2016.standoff import Blocks, Event, by_key

WHOLE = 55440
"""S_p = 1. S_p is a fraction of at most 12 optional arguments, halved or not; in units of 1/55440 (twice the least
common multiple of 1 … 12) it is a whole number, so that sums are exact and ties are ties."""


def pair_events(gold: Blocks, predicted: Sequence[Event]) -> dict[str, list[int]]:
    """Return the pairing of one document's events that has the greatest sum of S_p, then the most pairs.

    Only events with the same type and mandatory arguments can be paired, so each such block is solved by itself.

    Returns:
        Event type → S_p of each pair, in units of 1/WHOLE and never 0; without types that have no pair.
    """
    pairs: dict[str, list[int]] = {}
    for key, block in by_key(predicted, gold).items():
        found = [WHOLE] * len(block) if gold[key] == block else _pair_block(gold[key], block)
        if found:
            pairs.setdefault(key[0], []).extend(found)
    return pairs


def similarity(gold: Event, predicted: Event) -> int:
    """S_p = S_neg · S_opt of two events with the same type and mandatory arguments, in units of 1/WHOLE.

    S_neg is 1/2 where one of the two is negated, else 1. S_opt = 1 - E/N: a missing or extra optional argument is one
    error, a wrong one is two (its filler is missing and another one is extra), so that E counts the arguments that only
    one of the events has; N counts those of both together. S_opt is 1 where neither has any. In SeeDev-binary no event
    is negated or has optional arguments: S_p is then 1.
    """
    s_p = WHOLE
    if gold.optional != predicted.optional:
        errors = len(gold.optional ^ predicted.optional)
        union = len(gold.optional | predicted.optional)
        s_p = WHOLE * (union - errors) // union
    return s_p if gold.negated == predicted.negated else s_p // 2


def _pair_block(gold: Sequence[Event], predicted: Sequence[Event]) -> list[int]:
    """S_p of each pair of gold and predicted events that share type and mandatory arguments.

    Of several, scipy finds the assignment of the greatest sum and then the most pairs. Its weights are whole numbers
    that a float holds exactly: S_p in units counts more than all pairs together.
    """
    if len(gold) == len(predicted) == 1:
        s_p = similarity(gold[0], predicted[0])
        return [s_p] if s_p else []
    row_variants, rows = _variants(gold)
    column_variants, columns = _variants(predicted)
    if row_variants == column_variants and len(row_variants) == 1:
        return [WHOLE] * min(len(rows), len(columns))
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    similarities = [similarity(row, column) for row in row_variants for column in column_variants]
    by_variant = np.array(similarities, dtype=np.int32).reshape(len(row_variants), len(column_variants))
    block = by_variant[np.ix_(rows, columns)]
    weights = block * (min(block.shape) + 1.0) + (block > 0)
    chosen = block[linear_sum_assignment(weights, maximize=True)]
    paired: list[int] = chosen[chosen > 0].tolist()
    return paired


def _variants(events: Sequence[Event]) -> tuple[list[Event], list[int]]:
    """The different events of a block by what alone S_p depends on, and which of them each event is.

    That is their optional arguments and negation.
    """
    numbers: dict[Event, int] = {}
    own = []
    for event in events:
        own.append(numbers.setdefault(event._replace(first="", second=""), len(numbers)))
    return list(numbers), own


@dataclass(frozen=True)
class Measures:
    """Counts of an evaluation, and the measures of them.

    Attributes:
        gold: number of gold events.
        predicted: number of predicted events.
        pairs: number of pairs.
        matches: number of pairs with S_p = 1.
        similarity: M, the sum of S_p over the pairs.
    """

    gold: int
    predicted: int
    pairs: int
    matches: int
    similarity: float

    @property
    def items(self) -> int:
        return scored_items(self.gold, self.predicted)

    @property
    def recall(self) -> float:
        """M / gold; 0 without gold."""
        return share(self.similarity, self.gold)

    @property
    def precision(self) -> float:
        """M / predicted; 0 without predictions."""
        return share(self.similarity, self.predicted)

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision, which is 2 M / (gold + predicted); 0 without any event."""
        return share(2 * self.similarity, self.gold + self.predicted)

    @property
    def substitutions(self) -> float:
        """S, the sum of 1 - S_p over the pairs."""
        return self.pairs - self.similarity

    @property
    def deletions(self) -> int:
        """D, gold events without a partner."""
        return self.gold - self.pairs

    @property
    def insertions(self) -> int:
        """I, predicted events without a partner."""
        return self.predicted - self.pairs

    @property
    def slot_error_rate(self) -> float | None:
        """(S + D + I) / gold, which may exceed 1; None without gold."""
        return (self.substitutions + self.deletions + self.insertions) / self.gold if self.gold else None

    @property
    def counts(self) -> dict[str, float]:
        """Return what was counted, by the names of the metrics."""
        return {
            "gold_events": self.gold,
            "predicted_events": self.predicted,
            "matches": self.matches,
            "partial_matches": self.pairs - self.matches,
            "similarity": self.similarity,
            "substitutions": self.substitutions,
            "deletions": self.deletions,
            "insertions": self.insertions,
        }


def measure(gold: int, predicted: int, pairs: Iterable[int]) -> Measures:
    """Return the measures of so many gold and predicted events, and of S_p of each pair."""
    similarities = list(pairs)
    return Measures(gold, predicted, len(similarities), similarities.count(WHOLE), sum(similarities) / WHOLE)


COUNTS = (
    *("gold_events", "predicted_events", "matches", "partial_matches"),
    *("similarity", "substitutions", "deletions", "insertions"),
)
Predicted = Mapping[str, Sequence[Event]]


def evaluate(task: str, names: Sequence[str], gold: TaskGold, predicted: Predicted) -> TaskResult:
    """Score one task.

    Args:
        task: its id.
        names: which measures it has, of `f1`, `recall`, `precision` and `ser`.
        gold: its gold.
        predicted: document → predicted events, with the documents of the gold.

    Returns:
        The columns `<task>_<measure>`, the counts behind them, and the alternate scores `<measure>.<event type>`.
    """
    # by all types of the schema: the names alone would show which of them the gold has
    pairs: dict[str, list[int]] = {event_type: [] for event_type in sorted(EVENT_TYPES[task])}
    for document, blocks in gold.blocks.items():
        for event_type, similarities in pair_events(blocks, predicted[document]).items():
            pairs[event_type] += similarities
    gold_types, predicted_types = gold.types, types(predicted)
    overall = measure(gold_types.total(), predicted_types.total(), chain.from_iterable(pairs.values()))
    metrics = {f"{task}_{name}": metric for name, metric in _measures(overall, names).items()}
    for name, number in overall.counts.items():
        metrics[name] = Metric(number, overall.gold, overall.items)
    bars = []
    for event_type, similarities in pairs.items():
        counted = measure(gold_types[event_type], predicted_types[event_type], similarities)
        for name, metric in _measures(counted, names, drawn="f1").items():
            metrics[f"{name}.{event_type}"] = metric
        if counted.gold + counted.predicted:
            wrong, missed = counted.predicted - counted.similarity, counted.gold - counted.similarity
            bars.append((event_type, counted.similarity, wrong, missed))
    return TaskResult(
        metrics=metrics,
        libraries=("scipy",),
        figures=(CountBars("Events by type", bars),),
        units=lambda: _document_units(task, names, gold, predicted),
    )


def _measures(measures: Measures, names: Sequence[str], drawn: str = "") -> dict[str, Metric]:
    values = {
        "f1": (measures.f1, measures.gold + measures.predicted),
        "recall": (measures.recall, measures.gold),
        "precision": (measures.precision, measures.predicted),
        "ser": (measures.slot_error_rate, measures.gold),
    }
    items = measures.items
    return {name: Metric(*values[name], items, drawn=name == drawn) for name in names}


def _document_units(task: str, names: Sequence[str], gold: TaskGold, predicted: Predicted) -> Units:
    """The per-unit results of a task that has the measures `names`."""
    formulas = {"f1": f1, "recall": recall, "precision": precision, "ser": _slot_error_rate}
    terms = []
    counts: dict[str, list[list[float]]] = defaultdict(list)
    for document, blocks in gold.blocks.items():
        pairs = chain.from_iterable(pair_events(blocks, predicted[document]).values())
        own = measure(sum(len(value) for value in blocks.values()), len(predicted[document]), pairs)
        terms.append((own.similarity, own.predicted, own.gold, own.pairs))
        for name, number in own.counts.items():
            counts[name].append([number])
    statistics = {f"{task}_{name}": Additive.of(terms, formulas[name]) for name in names}
    for name, numbers in counts.items():
        statistics[name] = Additive.of(numbers, count)
    return Units("document", list(gold.blocks), statistics)


def _slot_error_rate(sums: Array) -> Array:
    """(S + D + I) / gold from (M, predicted, gold, pairs); undefined without gold."""
    import numpy as np

    similarity, predicted, gold, pairs = np.moveaxis(sums, -1, 0)
    return quotient(gold + predicted - similarity - pairs, gold, undefined=math.nan)
