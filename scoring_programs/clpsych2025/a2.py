"""Task A.2: well-being scores (1 to 10) of posts, by mean squared error and by macro F1 over three classes.

Profile `published` follows the CLPsych 2025 "Evaluation and Submission Instructions", table row A.2; profile `as-run`
gives what the organisers' evaluation program computes, which truncates, bins and averages otherwise.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from clpsych2025.averages import Average, Row, mean, metrics_of, timeline_units, with_rows
from clpsych2025.reference import ClpsychReference
from clpsych2025.submission import ClpsychSubmission
from scoring_kit.metrics.classification import f1_scores, label_terms, units_of_classes
from scoring_kit.metrics.summed import macro_f1
from scoring_kit.results import Bar, BarChart, Metric, TaskResult, scored_items
from scoring_kit.units import Additive, Array, Units, by_unit

_ERRORS = ("mse", "mse_serious", "mse_impaired", "mse_minimal")
METRICS = (
    *(f"a2_{name}" for name in (*_ERRORS, "macro_f1", "abstentions")),
    *(*_ERRORS, "f1_macro", "f1_class_0", "f1_class_1", "f1_class_2"),  # under as-run
)
SERIOUS, IMPAIRED, MINIMAL, ABSTAINED, NO_CLASS = 0, 1, 2, 3, -1
CLASSES = {"serious": SERIOUS, "impaired": IMPAIRED, "minimal": MINIMAL}
LARGEST_ERROR = 9.0  # between the ends of the scale, 1 and 10


@dataclass(frozen=True)
class ScoredTimeline:
    """The posts of one timeline that have a gold score, with their predictions (None: abstained)."""

    name: str
    gold: Sequence[int]
    predicted: Sequence[float | None]

    def pairs(self, seen: Callable[[float], float]) -> list[tuple[int, float]]:
        """Gold and prediction; an abstention counts as gold plus the timeline's largest error (9 without predictions).

        `seen` is how a prediction is read when that largest error is looked for.
        """
        both = list(zip(self.gold, self.predicted, strict=True))
        penalty = max((abs(gold - seen(answer)) for gold, answer in both if answer is not None), default=LARGEST_ERROR)
        pairs = []
        for gold, answer in both:
            if answer is None:
                answer = gold + penalty
            pairs.append((gold, answer))
        return pairs


def score(reference: ClpsychReference, submission: ClpsychSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the well-being predictions; lower is better for the errors, higher for F1."""
    timelines = scored_timelines(reference, submission)
    is_published = options["profile"] == "published"
    gold, predicted, owners = _published_classes(timelines)
    seen: Callable[[float], float] = truncated
    if is_published:
        seen = float
        averages = _errors(timelines, seen)
        f1 = None
        if gold:  # pooled over all posts, an abstention being a false negative only
            f1 = mean(f1_scores(predicted, gold, list(CLASSES.values())))
        metrics = {**metrics_of(averages), "a2_macro_f1": Metric(f1, len(gold))}
    else:
        averages = as_run(timelines)
        metrics = metrics_of(averages)

    def units() -> Units:
        per_timeline = timeline_units(list(reference.timelines), averages)
        if not is_published:
            return per_timeline
        terms = label_terms(predicted, gold, list(CLASSES.values()))
        pooled = Additive(by_unit(per_timeline.names, owners, terms), _pooled_f1)
        statistics = {**per_timeline.statistics, "a2_macro_f1": pooled}
        return replace(
            per_timeline,
            statistics=statistics,
            scored={**per_timeline.scored, "a2_macro_f1": with_rows(pooled)},
            classes={"a2_macro_f1": units_of_classes(pooled.sums)},
        )

    # Of all posts, since the number among those with a gold score would show which posts have one.
    posts = abstentions = 0
    for name, timeline in reference.timelines.items():
        posts += len(timeline.posts)
        for key in timeline.posts:
            abstentions += submission.timelines[name].posts[key].wellbeing is None
    warnings = []
    if abstentions:
        warnings.append(
            f"{abstentions} of the {posts} posts carry no well-being score. Where such a post is scored, its "
            "error is derived from the timeline's other answers, so a low error beside many abstentions says little."
        )
    bars = [Bar(one.name, _mse(one.pairs(seen)), len(one.gold)) for one in timelines]
    chart = BarChart(
        "Mean squared error by timeline", bars, better="lower", items="posts with a gold score", of="timeline"
    )
    return TaskResult(
        metrics={**metrics, "a2_abstentions": Metric(abstentions, posts, of_submission=True)},
        settings={"profile": options["profile"]},
        warnings=warnings,
        figures=[chart],
        units=units,
    )


def scored_timelines(reference: ClpsychReference, submission: ClpsychSubmission) -> list[ScoredTimeline]:
    """Return the timelines that have a gold score, cut down to the posts that have one."""
    timelines = []
    for name, timeline in reference.timelines.items():
        gold, predicted = [], []
        for key, post in timeline.posts.items():
            if post.wellbeing is not None:
                gold.append(post.wellbeing)
                predicted.append(submission.timelines[name].posts[key].wellbeing)
        if gold:
            timelines.append(ScoredTimeline(name, gold, predicted))
    return timelines


def _pooled_f1(sums: Array) -> Array:
    """Macro F1 from terms of labels; undefined without gold."""
    import numpy as np

    return np.where(sums.any(axis=-1), macro_f1(sums), np.nan)


def _published_classes(timelines: Sequence[ScoredTimeline]) -> tuple[list[int], list[int], list[str]]:
    """The classes of all posts under profile `published`: gold, predicted; and the timeline of each post."""
    gold: list[int] = []
    predicted: list[int] = []
    owners: list[str] = []
    for one in timelines:
        for annotated, answer in zip(one.gold, one.predicted, strict=True):
            gold.append(published_class(annotated))
            predicted.append(published_class(answer))
            owners.append(one.name)
    return gold, predicted, owners


def as_run(timelines: Sequence[ScoredTimeline]) -> dict[str, Average]:
    """Return the organisers' numbers; F1 is a timeline's over four labels (the fourth: abstained)."""
    labels = [*CLASSES.values(), ABSTAINED]
    macro: list[Row] = []
    of_class: dict[int, list[Row]] = {label: [] for label in CLASSES.values()}
    all_gold: Counter[int] = Counter()
    all_predicted: Counter[int] = Counter()
    for one in timelines:
        gold, predicted = [as_run_class(each) for each in one.gold], [as_run_class(each) for each in one.predicted]
        all_gold.update(gold)
        all_predicted.update(predicted)
        f1 = f1_scores(predicted, gold, labels)
        macro.append((one.name, sum(f1) / len(labels)))
        for label, rows in of_class.items():
            rows.append((one.name, f1[label]))
    posts = all_gold.total()
    errors = _errors(timelines, seen=truncated)
    original = {key.removeprefix("a2_"): average for key, average in errors.items()}
    errors["a2_macro_f1"] = original["f1_macro"] = Average(macro, posts)
    # Of the three classes one number of items, since each F1 follows from the others: macro F1 is on the board.
    items = min(scored_items(all_gold[label], all_predicted[label], if_none=posts) for label in of_class)
    for label, rows in of_class.items():
        original[f"f1_class_{label}"] = Average(rows, items)
    return {**errors, **original}


def published_class(value: float | None) -> int:
    """Serious impairment below 5, impaired from 5 to 6, minimal impairment above 6; None has abstained."""
    if value is None:
        return ABSTAINED
    if value < 5:
        return SERIOUS
    return IMPAIRED if value <= 6 else MINIMAL


def as_run_class(value: float | None) -> int:
    """Return the label that the organisers' program gives: outside its three closed ranges the truncated number itself.

    Such a number is wrong and no class's false positive, except 0, which is the label of serious impairment.
    """
    if value is None:
        return ABSTAINED
    for label, (low, high) in {SERIOUS: (1, 4), IMPAIRED: (5, 6), MINIMAL: (7, 10)}.items():
        if low <= value <= high:
            return label
    return SERIOUS if int(value) == SERIOUS else NO_CLASS


def truncated(value: float) -> float:
    """Return a number without its fraction, as the organisers' program reads predictions for its penalty."""
    return float(int(value))


def _errors(timelines: Sequence[ScoredTimeline], seen: Callable[[float], float]) -> dict[str, Average]:
    """MSE over a timeline's posts, then over timelines: of all posts, and of the posts of each gold class.

    A timeline without posts of a class has no row.
    """
    pairs = {one.name: one.pairs(seen) for one in timelines}
    errors = {}
    for part, labels in {
        "mse": {SERIOUS, IMPAIRED, MINIMAL},
        "mse_serious": {SERIOUS},
        "mse_impaired": {IMPAIRED},
        "mse_minimal": {MINIMAL},
    }.items():
        rows, items = [], 0
        for timeline, own in pairs.items():
            counted = [pair for pair in own if published_class(pair[0]) in labels]
            items += len(counted)
            if counted:
                rows.append((timeline, _mse(counted)))
        errors[f"a2_{part}"] = Average(rows, items)
    return errors


def _mse(pairs: Sequence[tuple[int, float]]) -> float:
    return fsum((gold - predicted) ** 2 for gold, predicted in pairs) / len(pairs)
