"""Pairing, filtering and measures, one after the other, and what they give for the board, details and results page.

Source: BioNLP-ST 2016, SeeDev, "Evaluation service": Filtering, Measures. Slot error rate: Makhoul et al. (1999),
"Performance Measures for Information Extraction".
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from scoring_kit.metrics.summed import count, f1, precision, quotient, recall
from scoring_kit.results import CountBars, Metric, TaskResult, scored_items
from scoring_kit.units import Additive, Array, Units
from seedev2016.pairing import WHOLE, Pair, pair_events
from seedev2016.schema import EVENT_TYPES
from seedev2016.standoff import Event


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
        return self.similarity / self.gold if self.gold else 0.0

    @property
    def precision(self) -> float:
        """M / predicted; 0 without predictions."""
        return self.similarity / self.predicted if self.predicted else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision, which is 2 M / (gold + predicted); 0 without any event."""
        events = self.gold + self.predicted
        return 2 * self.similarity / events if events else 0.0

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
    pairs_of = {document: list(pair_events(events, predicted[document])) for document, events in gold.items()}
    pairs = list(chain.from_iterable(pairs_of.values()))
    overall = measure(pairs)
    types = {event_type: measure(selected) for event_type, selected in by_type(pairs).items()}
    metrics = {f"{task}_{name}": metric for name, metric in _measures(overall, names).items()}
    metrics |= {name: Metric(number, overall.gold, overall.items) for name, number in overall.counts.items()}
    # by all types of the schema: the names alone would show which of them the gold has
    alternates = {event_type: _measures(own, names, drawn="f1") for event_type, own in types.items()}
    absent = _measures(measure([]), names, drawn="f1")
    for event_type in sorted(EVENT_TYPES[task]):
        metrics |= {f"{name}.{event_type}": own for name, own in alternates.get(event_type, absent).items()}
    counts = [
        (
            event_type,
            alternate.similarity,
            alternate.predicted - alternate.similarity,
            alternate.gold - alternate.similarity,
        )
        for event_type, alternate in types.items()
    ]
    return TaskResult(
        metrics=metrics,
        libraries=("scipy",),
        figures=(CountBars("Events by type", counts),),
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
    statistics |= {name: Additive.of(([own[name]] for own in counts), count) for name in counts[0]}
    return Units("document", list(measures), statistics)


def _slot_error_rate(sums: Array) -> Array:
    """(S + D + I) / gold from (M, predicted, gold, pairs); undefined without gold."""
    similarity, predicted, gold, pairs = (sums[..., term] for term in range(4))
    return quotient(gold + predicted - similarity - pairs, gold, undefined=math.nan)
