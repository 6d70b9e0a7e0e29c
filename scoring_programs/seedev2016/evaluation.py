"""Pairing, filtering and measures, one after the other, and what they give for the board, details and results page."""

from collections.abc import Mapping, Sequence
from itertools import chain

from scoring_kit.results import CountBars, Metric, TaskResult
from seedev2016.measures import Measures, by_type, measure
from seedev2016.pairing import pair_events
from seedev2016.per_document import document_units
from seedev2016.schema import EVENT_TYPES
from seedev2016.standoff import Event

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
    metrics |= {name: Metric(count, overall.gold, overall.items) for name, count in overall.counts.items()}
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
        units=lambda: document_units(task, names, {document: measure(own) for document, own in pairs_of.items()}),
    )


def _measures(measures: Measures, names: Sequence[str], drawn: str = "") -> dict[str, Metric]:
    values = {
        "f1": (measures.f1, measures.gold + measures.predicted),
        "recall": (measures.recall, measures.gold),
        "precision": (measures.precision, measures.predicted),
        "ser": (measures.slot_error_rate, measures.gold),
    }
    return {name: Metric(*values[name], measures.items, drawn=name == drawn) for name in names}
