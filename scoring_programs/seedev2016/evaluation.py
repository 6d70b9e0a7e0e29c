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
from typing import NamedTuple

from scoring_kit.metrics.summed import count, f1, precision, quotient, recall
from scoring_kit.results import CountBars, Metric, TaskResult, scored_items, share
from scoring_kit.units import Additive, Array, Units
from seedev2016.schema import EVENT_TYPES
from seedev2016.standoff import Event

WHOLE = 55440
"""S_p = 1. S_p is a fraction of at most 12 optional arguments, halved or not; in units of 1/55440 (twice the least
common multiple of 1 … 12) it is a whole number, so that sums are exact and ties are ties."""


class Pair(NamedTuple):
    """A gold event and the predicted event that it is paired with; one of them is None where there is no partner.

    Attributes:
        gold: None for an insertion.
        predicted: None for a deletion.
        similarity: S_p in units of 1/WHOLE.
    """

    gold: Event | None
    predicted: Event | None
    similarity: int

    @property
    def type(self) -> str:
        """The event type, which paired events share."""
        event = self.gold or self.predicted
        return event.type if event else ""


def pair_events(gold: Sequence[Event], predicted: Sequence[Event]) -> list[Pair]:
    """The pairing of one document's events that has the greatest sum of S_p, then the most pairs.

    Only events with the same type and mandatory arguments can be paired, so each such block is solved by itself.
    """
    pairs: list[Pair] = []
    left = _blocks(predicted)
    for key, block in _blocks(gold).items():
        partners = left.pop(key, None)
        if partners is not None:
            pairs += _pair_block(block, partners)
            continue
        for event in block:
            pairs.append(Pair(event, None, 0))
    for block in left.values():
        for event in block:
            pairs.append(Pair(None, event, 0))
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


def _blocks(events: Sequence[Event]) -> dict[object, list[Event]]:
    """The events by type and mandatory arguments."""
    blocks: dict[object, list[Event]] = {}
    for event in events:
        blocks.setdefault(event.key, []).append(event)
    return blocks


def _pair_block(gold: Sequence[Event], predicted: Sequence[Event]) -> list[Pair]:
    """The pairing of gold and predicted events that share type and mandatory arguments."""
    if len(gold) == len(predicted) == 1:
        if s_p := similarity(gold[0], predicted[0]):
            return [Pair(gold[0], predicted[0], s_p)]
        return [Pair(gold[0], None, 0), Pair(None, predicted[0], 0)]
    partners = _assignment(gold, predicted)
    pairs = []
    for row, event in enumerate(gold):
        if row in partners:
            partner = predicted[partners[row]]
            pairs.append(Pair(event, partner, similarity(event, partner)))
        else:
            pairs.append(Pair(event, None, 0))
    taken = set(partners.values())
    for column, event in enumerate(predicted):
        if column not in taken:
            pairs.append(Pair(None, event, 0))
    return pairs


def _assignment(gold: Sequence[Event], predicted: Sequence[Event]) -> dict[int, int]:
    """Index of a gold event → index of its partner, without pairs of S_p = 0."""
    gold_variants, predicted_variants = _variants(gold), _variants(predicted)
    if len(gold_variants) == 1 and gold_variants.keys() == predicted_variants.keys():
        return {index: index for index in range(min(len(gold), len(predicted)))}
    return _best_assignment(gold, gold_variants, predicted, predicted_variants)


Variants = Mapping[object, list[int]]


def _variants(events: Sequence[Event]) -> Variants:
    """Optional arguments and negation → indices of the events that have exactly them."""
    variants: dict[object, list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        variants[event.optional, event.negated].append(index)
    return variants


def _best_assignment(
    gold: Sequence[Event], gold_variants: Variants, predicted: Sequence[Event], predicted_variants: Variants
) -> dict[int, int]:
    """The assignment of the greatest sum of S_p and then the most pairs, by scipy on the dense block.

    The weights are whole numbers that a float holds exactly: S_p in units counts more than all pairs together.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    rows, columns = list(gold_variants.values()), list(predicted_variants.values())
    similarities = (similarity(gold[row[0]], predicted[column[0]]) for row in rows for column in columns)
    by_variant = np.fromiter(similarities, dtype=np.int32).reshape(len(rows), len(columns))
    block = by_variant[np.ix_(_variant_of(rows), _variant_of(columns))]
    weights = block * (min(block.shape) + 1.0) + (block > 0)
    chosen = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
    return {int(row): int(column) for row, column in chosen if block[row, column]}


def _variant_of(variants: Sequence[Sequence[int]]) -> list[int]:
    """Index of an event → index of its variant."""
    number = {index: variant for variant, indices in enumerate(variants) for index in indices}
    return [number[index] for index in range(len(number))]


@dataclass(frozen=True)
class Measures:
    """What was counted, and the measures of it.

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
        """What was counted, by the names of the metrics."""
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


def by_type(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    """The pairs of each event type, for the alternate scores; the types in alphabetical order."""
    of_type: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        of_type[pair.type].append(pair)
    return dict(sorted(of_type.items()))


def measure(pairs: Iterable[Pair]) -> Measures:
    """Count pairs, deletions and insertions."""
    gold = predicted = both = matches = units = 0
    for reference, prediction, similarity in pairs:
        gold += reference is not None
        predicted += prediction is not None
        both += similarity > 0
        matches += similarity == WHOLE
        units += similarity
    return Measures(gold, predicted, both, matches, units / WHOLE)


COUNTS = (
    *("gold_events", "predicted_events", "matches", "partial_matches"),
    *("similarity", "substitutions", "deletions", "insertions"),
)
Documents = Mapping[str, Sequence[Event]]


def evaluate(task: str, names: Sequence[str], gold: Documents, predicted: Documents) -> TaskResult:
    """Score one task.

    Args:
        task: its id.
        names: which measures it has, of `f1`, `recall`, `precision` and `ser`.
        gold: document → gold events.
        predicted: document → predicted events, with the same documents.

    Returns:
        The columns `<task>_<measure>`, the counts behind them, and the alternate scores `<measure>.<event type>`.
    """
    pairs_of = {document: pair_events(events, predicted[document]) for document, events in gold.items()}
    pairs = list(chain.from_iterable(pairs_of.values()))
    overall = measure(pairs)
    types = {event_type: measure(selected) for event_type, selected in by_type(pairs).items()}
    metrics = {f"{task}_{name}": metric for name, metric in _measures(overall, names).items()}
    for name, number in overall.counts.items():
        metrics[name] = Metric(number, overall.gold, overall.items)
    # by all types of the schema: the names alone would show which of them the gold has
    absent = _measures(measure([]), names, drawn="f1")
    for event_type in sorted(EVENT_TYPES[task]):
        own = _measures(types[event_type], names, drawn="f1") if event_type in types else absent
        for name, metric in own.items():
            metrics[f"{name}.{event_type}"] = metric
    bars = []
    for event_type, counted in types.items():
        wrong, missed = counted.predicted - counted.similarity, counted.gold - counted.similarity
        bars.append((event_type, counted.similarity, wrong, missed))
    return TaskResult(
        metrics=metrics,
        libraries=("scipy",),
        figures=(CountBars("Events by type", bars),),
        units=lambda: _document_units(task, names, {document: measure(own) for document, own in pairs_of.items()}),
    )


def _measures(measures: Measures, names: Sequence[str], drawn: str = "") -> dict[str, Metric]:
    values = {
        "f1": (measures.f1, measures.gold + measures.predicted),
        "recall": (measures.recall, measures.gold),
        "precision": (measures.precision, measures.predicted),
        "ser": (measures.slot_error_rate, measures.gold),
    }
    return {name: Metric(*values[name], measures.items, drawn=name == drawn) for name in names}


def _document_units(task: str, names: Sequence[str], measures: Mapping[str, Measures]) -> Units:
    """The per-unit results of a task that has the measures `names`; `measures`: document → what was counted there."""
    formulas = {"f1": f1, "recall": recall, "precision": precision, "ser": _slot_error_rate}
    terms = [(own.similarity, own.predicted, own.gold, own.pairs) for own in measures.values()]
    counts = [own.counts for own in measures.values()]
    statistics = {f"{task}_{name}": Additive.of(terms, formulas[name]) for name in names}
    for name in counts[0]:
        statistics[name] = Additive.of(([own[name]] for own in counts), count)
    return Units("document", list(measures), statistics)


def _slot_error_rate(sums: Array) -> Array:
    """(S + D + I) / gold from (M, predicted, gold, pairs); undefined without gold."""
    similarity, predicted, gold, pairs = (sums[..., term] for term in range(4))
    return quotient(gold + predicted - similarity - pairs, gold, undefined=math.nan)
