"""Pairing, filtering and measures, one after the other, and what they give for the board, details and results page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring_kit.results import CountBars, Metric, TaskResult
from seedev2016.filtering import by_type
from seedev2016.measures import Measures, measure
from seedev2016.pairing import pair_documents
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
    pairs = list(pair_documents(gold, predicted))
    overall = measure(pairs)
    types = {event_type: measure(selected) for event_type, selected in by_type(pairs).items()}
    metrics = {f"{task}_{name}": metric for name, metric in _measures(overall, names).items()}
    metrics.update(_counts(overall))
    # by all types that there are: the names alone would tell which of them the gold has
    for event_type in sorted(EVENT_TYPES[task]):
        alternate = types.get(event_type) or measure([])
        for name, metric in _measures(alternate, names).items():
            metrics[f"{name}.{event_type}"] = replace(metric, drawn=name == "f1")
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
    )


def _measures(measures: Measures, names: Sequence[str]) -> dict[str, Metric]:
    metrics = {
        "f1": Metric(measures.f1, measures.gold + measures.predicted, measures.items),
        "recall": Metric(measures.recall, measures.gold, measures.items),
        "precision": Metric(measures.precision, measures.predicted, measures.items),
        "ser": Metric(measures.slot_error_rate, measures.gold, measures.items),
    }
    return {name: metrics[name] for name in names}


def _counts(measures: Measures) -> dict[str, Metric]:
    counts = {
        "gold_events": measures.gold,
        "predicted_events": measures.predicted,
        "matches": measures.matches,
        "partial_matches": measures.pairs - measures.matches,
        "similarity": measures.similarity,
        "substitutions": measures.substitutions,
        "deletions": measures.deletions,
        "insertions": measures.insertions,
    }
    return {name: Metric(value, measures.gold, measures.items) for name, value in counts.items()}
