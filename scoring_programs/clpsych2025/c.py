"""Task C: summaries of timelines, by their consistency with the experts'.

All means are over the timelines that have a gold summary. Profile `published` follows the CLPsych 2025 "Evaluation and
Submission Instructions"; profile `as-run` gives what the organisers' evaluation program computes.
"""

from collections.abc import Callable, Mapping
from typing import Any

from clpsych2025.averages import Average
from clpsych2025.engines import nli_model
from clpsych2025.reference import ClpsychReference
from clpsych2025.submission import ClpsychSubmission
from clpsych2025.summaries import PairTable, SentencePairs, against_gold, measured, summary_result, tables_of
from scoring_kit.results import TaskResult

NEEDS_MODEL = True
METRICS = (
    *("c_mean_consistency", "c_max_contradiction"),
    *("timeline_mean_consistency_gold", "timeline_max_entailment_gold", "timeline_max_contradiction_gold"),  # as-run
)


Tables = Mapping[str, PairTable | None]
"""Timeline with a gold summary → its table; None where nothing was submitted."""


def score(reference: ClpsychReference, submission: ClpsychSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the timeline summaries; the model is loaded only if a summary was submitted."""
    comparisons = comparisons_of(reference, submission)
    model = nli_model(options) if any(comparison.hypotheses for comparison in comparisons.values()) else None
    tables = dict(zip(comparisons, tables_of(list(comparisons.values()), model), strict=True))
    averages = {"published": published, "as-run": as_run}[options["profile"]](tables)
    return summary_result(reference, options, model, averages)


def comparisons_of(reference: ClpsychReference, submission: ClpsychSubmission) -> dict[str, SentencePairs]:
    """Gold sentences (looked up only where needed) against submitted ones, for each timeline with a gold summary."""
    comparisons = {}
    for name, gold in reference.timelines.items():
        if gold.summary.given:
            comparisons[name] = against_gold(gold.summary, submission.timelines[name].summary)
    return comparisons


def published(tables: Tables) -> dict[str, Average]:
    """Return the metrics of the instructions; nothing submitted: consistency 0, contradiction 1."""
    return {
        "c_mean_consistency": _over(tables, PairTable.consistency, 0.0),
        "c_max_contradiction": _over(tables, PairTable.mean_of_max_contradiction, 1.0),
    }


def as_run(tables: Tables) -> dict[str, Average]:
    """Return the organisers' numbers; nothing submitted: consistency 0, entailment 0, contradiction 1."""
    original = {
        "timeline_mean_consistency_gold": _over(tables, PairTable.consistency, 0.0),
        "timeline_max_entailment_gold": _over(tables, PairTable.max_entailment, 0.0),
        "timeline_max_contradiction_gold": _over(tables, PairTable.max_contradiction, 1.0),
    }
    return {
        "c_mean_consistency": original["timeline_mean_consistency_gold"],
        "c_max_contradiction": original["timeline_max_contradiction_gold"],
        **original,
    }


def _over(tables: Tables, measure: Callable[[PairTable], float], unanswered: float) -> Average:
    return Average([(name, measured(table, measure, unanswered)) for name, table in tables.items()])
