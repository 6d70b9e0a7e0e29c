"""Task B: summaries of posts, by their consistency with the experts' and by what the submitted evidence supports.

All means are pooled over the posts that have a gold summary. Profile `published` follows the CLPsych 2025 "Evaluation
and Submission Instructions"; profile `as-run` gives what the organisers' evaluation program computes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from clpsych2025.averages import Average, mean
from clpsych2025.engines import nli_model
from clpsych2025.reference import ClpsychReference
from clpsych2025.submission import ClpsychSubmission
from clpsych2025.summaries import (
    PairClassifier,
    PairTable,
    SentencePairs,
    against_gold,
    measured,
    summary_result,
    tables_of,
)
from scoring_kit.results import Bar, BarChart, TaskResult

NEEDS_MODEL = True
METRICS = (
    *("b_mean_consistency", "b_max_contradiction", "b_max_entailment"),
    *("post_mean_consistency_gold", "post_max_entailment_gold", "post_max_contradiction_gold"),  # these under as-run
    *("post_mean_consistency_evidence", "post_max_entailment_evidence", "post_max_contradiction_evidence"),
)


SummarisedPost = tuple[str, SentencePairs, SentencePairs]
"""The timeline of a post with a gold summary; the submitted sentences with gold ones, and with submitted evidence.

Gold sentences and evidence are only looked up where a sentence was submitted.
"""


@dataclass(frozen=True)
class ScoredPost:
    """A summarised post with its tables; None where nothing was submitted to fill one."""

    timeline: str
    gold: PairTable | None
    evidence: PairTable | None


def score(reference: ClpsychReference, submission: ClpsychSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the post summaries; the model is loaded only if a summary was submitted."""
    posts = summarised_posts(reference, submission, stripped=options["profile"] == "published")
    model = nli_model(options) if any(with_gold.hypotheses for _, with_gold, _ in posts) else None
    scored = scored_posts(posts, model)
    averages = {"published": published, "as-run": as_run}[options["profile"]](scored)
    bars = []
    for name, of_timeline in groupby(scored, key=lambda post: post.timeline):
        rows = [measured(post.gold, PairTable.consistency, 0.0) for post in of_timeline]
        bars.append(Bar(name, mean(rows), len(rows)))
    title = "Mean consistency of post summaries by timeline"
    chart = BarChart(title, bars, better="higher", items="posts with a gold summary", top=1.0, of="timeline")
    return summary_result(reference, options, model, averages, [chart])


def summarised_posts(
    reference: ClpsychReference, submission: ClpsychSubmission, *, stripped: bool
) -> list[SummarisedPost]:
    """Return the posts with a gold summary; `stripped`: without blank and repeated spans, and evidence stripped."""
    posts = []
    for name, timeline in reference.timelines.items():
        for key, gold in timeline.posts.items():
            if not gold.summary.given:
                continue
            answer = submission.timelines[name].posts[key]
            with_gold = against_gold(gold.summary, answer.summary)
            evidence = [*answer.evidence["adaptive"], *answer.evidence["maladaptive"]]
            if stripped:
                evidence = list(dict.fromkeys(answer.spans))
            posts.append((name, with_gold, SentencePairs(evidence, with_gold.hypotheses)))
    return posts


def scored_posts(posts: Sequence[SummarisedPost], model: PairClassifier | None) -> list[ScoredPost]:
    """Return the posts' tables, all pairs of the task classified in one call."""
    golds, evidence = [], []
    for _, with_gold, with_evidence in posts:
        golds.append(with_gold)
        evidence.append(with_evidence)
    tables = tables_of([*golds, *evidence], model)
    both = zip(posts, tables[: len(posts)], tables[len(posts) :], strict=True)
    return [ScoredPost(timeline, gold, own) for (timeline, _, _), gold, own in both]


def published(posts: Sequence[ScoredPost]) -> dict[str, Average]:
    """Return the metrics of the instructions; nothing submitted: consistency 0, contradiction 1, entailment 0."""
    return {
        "b_mean_consistency": _with_gold(posts, PairTable.consistency, 0.0),
        "b_max_contradiction": _with_gold(posts, PairTable.mean_of_max_contradiction, 1.0),
        "b_max_entailment": Average(
            [(post.timeline, measured(post.evidence, PairTable.mean_of_max_entailment, 0.0)) for post in posts]
        ),
    }


def as_run(posts: Sequence[ScoredPost]) -> dict[str, Average]:
    """Return the organisers' numbers; those against evidence have no row for a post without evidence or summary."""
    original = {
        "post_mean_consistency_gold": _with_gold(posts, PairTable.consistency, 0.0),
        "post_max_entailment_gold": _with_gold(posts, PairTable.max_entailment, 0.0),
        "post_max_contradiction_gold": _with_gold(posts, PairTable.max_contradiction, 1.0),
        "post_mean_consistency_evidence": _with_evidence(posts, PairTable.consistency),
        "post_max_entailment_evidence": _with_evidence(posts, PairTable.max_entailment),
        "post_max_contradiction_evidence": _with_evidence(posts, PairTable.max_contradiction),
    }
    return {
        "b_mean_consistency": original["post_mean_consistency_gold"],
        "b_max_contradiction": original["post_max_contradiction_gold"],
        "b_max_entailment": original["post_max_entailment_evidence"],
        **original,
    }


def _with_gold(posts: Sequence[ScoredPost], measure: Callable[[PairTable], float], unanswered: float) -> Average:
    return Average([(post.timeline, measured(post.gold, measure, unanswered)) for post in posts])


def _with_evidence(posts: Sequence[ScoredPost], measure: Callable[[PairTable], float]) -> Average:
    return Average([(post.timeline, measure(post.evidence)) for post in posts if post.evidence])
