"""Task A.1: spans of evidence, by BERTScore between the gold and the submitted spans of a timeline.

Profile `published` follows the CLPsych 2025 "Evaluation and Submission Instructions", table row A.1: recall-oriented
BERTScore over both self-states together. Profile `as-run` gives what the organisers' evaluation program computes: F1 of
BERTScore, each self-state apart.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from clpsych2025.averages import Average, mean, metrics_of, timeline_units
from clpsych2025.engines import bert_scorer, settings
from clpsych2025.reference import ClpsychReference
from clpsych2025.submission import SELF_STATES, ClpsychSubmission
from scoring_kit.errors import OrganiserError
from scoring_kit.results import Bar, BarChart, TaskResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scoring_kit.metrics.bertscore import Scores

NEEDS_MODEL = True
RECALLS = (
    *("recall", "weighted_recall"),
    *("recall_adaptive", "weighted_recall_adaptive"),
    *("recall_maladaptive", "weighted_recall_maladaptive"),
)
METRICS = tuple(f"{prefix}_{name}" for prefix in ("a1", "bertscore") for name in RECALLS)  # bertscore: under as-run
LIBRARY_BATCH = 64  # pairs a batch in the organisers' program: bert-score's default


class SpanScorer(Protocol):
    """Asked of a BERTScore engine, see `scoring_kit.metrics.bertscore.BertScorer`."""

    def token_counts(self, texts: Sequence[str]) -> list[int]: ...

    def encode_all(self, texts: Sequence[str], lasting: Sequence[str] = ()) -> None: ...

    def score(self, candidates: Sequence[str], references: Sequence[str], library_batch: int | None = None) -> "Scores":
        """Matrices of shape (candidates, references)."""

    def rescale(self, scores: "Scores") -> "Scores": ...


@dataclass(frozen=True)
class TimelineSpans:
    """A timeline's gold and predicted spans by self-state: stripped, never blank, duplicates kept."""

    name: str
    gold: Mapping[str, Sequence[str]]
    predicted: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class TimelineRecall:
    """A timeline's recall and its length-weighted form, over `spans` gold spans."""

    timeline: str
    recall: float
    weighted: float
    spans: int


Recalls = dict[str, list[TimelineRecall]]


def score(reference: ClpsychReference, submission: ClpsychSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the evidence; the model is loaded only if a span was submitted."""
    timelines = spans_of(reference, submission)
    scorer = bert_scorer(options) if any(any(one.predicted.values()) for one in timelines) else None
    resolved = scorer.signature() if scorer else None
    libraries = ("bert-score", "torch", "transformers") if scorer else ()
    rows = {"published": published, "as-run": as_run}[options["profile"]](timelines, scorer)
    averages = averages_of(rows, "a1_")
    if options["profile"] == "as-run":
        for key, average in list(averages.items()):
            averages[f"bertscore_{key.removeprefix('a1_')}"] = average
    return TaskResult(
        metrics=metrics_of(averages),
        settings=settings(options, "bertscore", resolved),
        libraries=libraries,
        figures=[recall_bars(rows["both"])],
        units=lambda: timeline_units(list(reference.timelines), averages),
    )


def spans_of(reference: ClpsychReference, submission: ClpsychSubmission) -> list[TimelineSpans]:
    """Gold and predicted spans, collated over the posts of each timeline."""
    timelines = []
    for name, gold in reference.timelines.items():
        answer = submission.timelines[name]
        predicted = {state: answer.spans(state) for state in SELF_STATES}
        timelines.append(TimelineSpans(name, gold.spans, predicted))
    return timelines


def published(timelines: Sequence[TimelineSpans], scorer: SpanScorer | None) -> Recalls:
    """Return one row a timeline over both self-states ("both"), and one for each self-state that has gold spans."""
    tokens = _prepared(timelines, scorer)
    rows: Recalls = {"both": [], "adaptive": [], "maladaptive": []}
    for one in timelines:
        gold = [*one.gold["adaptive"], *one.gold["maladaptive"]]
        predicted = [*one.predicted["adaptive"], *one.predicted["maladaptive"]]
        recall = scorer.rescale(scorer.score(predicted, gold)).recall if scorer and gold and predicted else None
        h, e = len(one.predicted["adaptive"]), len(one.gold["adaptive"])
        parts = {
            "both": (slice(None), slice(None)),
            "adaptive": (slice(h), slice(e)),
            "maladaptive": (slice(h, None), slice(e, None)),
        }
        for part, (of_h, of_e) in parts.items():
            if recall is None or not predicted[of_h]:
                row = TimelineRecall(one.name, 0.0, 0.0, len(gold[of_e]))
            else:
                row = _row(one.name, recall[of_h, of_e], length_weight(gold[of_e], predicted[of_h], tokens))
            if row.spans:
                rows[part].append(row)
    return rows


def as_run(timelines: Sequence[TimelineSpans], scorer: SpanScorer | None) -> Recalls:
    """Return one row for each timeline and self-state; "both" is all of them.

    Raises OrganiserError: evidence was submitted where the gold has none, at which the organisers' program stops.
    """
    if any(one.predicted[state] and not one.gold[state] for one in timelines for state in SELF_STATES):
        # Where that is would be an annotation tied to its id, in a log that participants read.
        raise OrganiserError(
            "Task a1 cannot be scored under profile as-run: a timeline's gold has no evidence of a self-state. "
            "Build the bundle again: the build names the timelines."
        )
    tokens = _prepared(timelines, scorer)
    rows: Recalls = {"both": []}
    for state in SELF_STATES:
        own = rows[state] = []
        for one in timelines:
            gold, predicted = one.gold[state], one.predicted[state]
            if scorer is None or not predicted:
                own.append(TimelineRecall(one.name, 0.0, 0.0, len(gold)))
            else:
                f1 = scorer.rescale(scorer.score(predicted, gold, LIBRARY_BATCH)).f1
                own.append(_row(one.name, f1, length_weight(gold, predicted, tokens)))
        rows["both"] += own
    return rows


def length_weight(gold: Sequence[str], predicted: Sequence[str], tokens: Mapping[str, int]) -> float:
    """n_gold / n_pred where more tokens are predicted than gold, else 1; duplicates count."""
    n_gold, n_pred = sum(tokens[one] for one in gold), sum(tokens[one] for one in predicted)
    return n_gold / max(n_pred, n_gold, 1)


def averages_of(rows: Recalls, prefix: str) -> dict[str, Average]:
    """Means over rows, the columns of both self-states without a suffix."""
    averages = {}
    for part, own in rows.items():
        suffix = f"_{part}".removesuffix("_both")
        spans, recalls, weighted = 0, [], []
        for row in own:
            spans += row.spans
            recalls.append((row.timeline, row.recall))
            weighted.append((row.timeline, row.weighted))
        averages[f"{prefix}recall{suffix}"] = Average(recalls, spans)
        averages[f"{prefix}weighted_recall{suffix}"] = Average(weighted, spans)
    return averages


def _prepared(timelines: Sequence[TimelineSpans], scorer: SpanScorer | None) -> dict[str, int]:
    """Embed every distinct span of the run at once and count its tokens; timelines without predictions need none."""
    if scorer is None:
        return {}
    gold: set[str] = set()
    predicted: set[str] = set()
    for one in timelines:
        if any(one.predicted.values()):
            gold.update(*one.gold.values())
            predicted.update(*one.predicted.values())
    scorer.encode_all(sorted(predicted), lasting=sorted(gold))
    distinct = sorted(gold | predicted)
    return dict(zip(distinct, scorer.token_counts(distinct), strict=True))


def _row(timeline: str, scores: "NDArray[np.float64]", weight: float) -> TimelineRecall:
    """A row of rescaled scores of shape (predicted spans, gold spans), the gold spans' best ones averaged."""
    best = scores.max(axis=0).tolist()
    recall = mean(best) or 0.0
    return TimelineRecall(timeline, recall, weight * recall, len(best))


def recall_bars(rows: Sequence[TimelineRecall]) -> BarChart:
    """Return a timeline's recall: under `as-run` the mean of its two rows."""
    recalls: dict[str, list[float]] = {}
    spans: Counter[str] = Counter()
    for row in rows:
        recalls.setdefault(row.timeline, []).append(row.recall)
        spans[row.timeline] += row.spans
    bars = [Bar(name, mean(own), spans[name]) for name, own in recalls.items()]
    return BarChart(
        "Recall by timeline", bars, better="higher", items="gold spans of the timeline", top=1.0, of="timeline"
    )
