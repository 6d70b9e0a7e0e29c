"""Task C: summaries of timelines, by their consistency with the experts'.

All means are over the timelines that have a gold summary. Profile `published` follows the CLPsych 2025 "Evaluation and
Submission Instructions"; profile `as-run` gives what the organisers' evaluation program computes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from clpsych2025.answers import Submission
from clpsych2025.averages import mean
from clpsych2025.engines import nli_model, summary_settings
from clpsych2025.reference import Reference
from clpsych2025.summaries import Comparison, Table, gold_sentences, submitted_sentences, tables_of
from scoring_kit.results import Metric, TaskResult

NEEDS_MODEL = True
METRICS = (
    *("c_mean_consistency", "c_max_contradiction"),
    *("timeline_mean_consistency_gold", "timeline_max_entailment_gold", "timeline_max_contradiction_gold"),  # as-run
)


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """Score the timeline summaries; the model is loaded only if a summary was submitted."""
    comparisons = comparisons_of(reference, submission)
    model = nli_model(options) if any(comparison.hypotheses for comparison in comparisons) else None
    tables = tables_of(comparisons, model)
    return TaskResult(
        metrics=published(tables) if options["profile"] == "published" else as_run(tables),
        settings=summary_settings(options, model),
        libraries=("nltk", "torch", "transformers") if model else (),
    )


def comparisons_of(reference: Reference, submission: Submission) -> list[Comparison]:
    """Gold sentences (looked up only where needed) against submitted ones, for each timeline with a gold summary."""
    comparisons = []
    for name, gold in reference.timelines.items():
        if gold.summary.given:
            sentences = submitted_sentences(submission.timelines[name].summary)
            comparisons.append(Comparison(gold_sentences(gold.summary) if sentences else (), sentences))
    return comparisons


def published(tables: Sequence[Table | None]) -> dict[str, Metric]:
    """The metrics of the instructions; nothing submitted: consistency 0, contradiction 1."""
    return {
        "c_mean_consistency": _over([table.consistency() if table else 0.0 for table in tables]),
        "c_max_contradiction": _over([table.mean_of_max_contradiction() if table else 1.0 for table in tables]),
    }


def as_run(tables: Sequence[Table | None]) -> dict[str, Metric]:
    """The organisers' numbers; nothing submitted: consistency 0, entailment 0, contradiction 1."""
    original = {
        "timeline_mean_consistency_gold": _over([table.consistency() if table else 0.0 for table in tables]),
        "timeline_max_entailment_gold": _over([table.max_entailment() if table else 0.0 for table in tables]),
        "timeline_max_contradiction_gold": _over([table.max_contradiction() if table else 1.0 for table in tables]),
    }
    return {
        "c_mean_consistency": original["timeline_mean_consistency_gold"],
        "c_max_contradiction": original["timeline_max_contradiction_gold"],
        **original,
    }


def _over(rows: Sequence[float]) -> Metric:
    return Metric(mean(rows), len(rows))
