"""Task A.2: well-being scores (1 to 10) of posts, by mean squared error and by macro F1 over three classes.

Profile `published` follows the CLPsych 2025 "Evaluation and Submission Instructions", table row A.2; profile `as-run`
gives what the organisers' evaluation program computes, which truncates, bins and averages otherwise.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from clpsych2025.answers import ClpsychSubmission
from clpsych2025.averages import Average, mean, metrics_of, timeline_units, with_rows
from clpsych2025.reference import ClpsychReference
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

    def filled(self, seen: Callable[[float], float]) -> list[float]:
        """Predictions, each abstention replaced by gold plus the timeline's largest error (9 without predictions).

        Args:
            seen: how a prediction is read when that largest error is looked for.
        """
        pairs = list(zip(self.gold, self.predicted, strict=True))
        penalty = max((abs(gold - seen(answer)) for gold, answer in pairs if answer is not None), default=LARGEST_ERROR)
        return [gold + penalty if answer is None else answer for gold, answer in pairs]


def score(reference: ClpsychReference, submission: ClpsychSubmission, options: Mapping[str, Any]) -> TaskResult:
    """Score the well-being predictions; lower is better for the errors, higher for F1."""
    timelines = scored_timelines(reference, submission)
    is_published = options["profile"] == "published"
    averages = _errors(timelines, seen=float) if is_published else as_run(timelines)
    metrics = metrics_of(averages)
    if is_published:
        metrics["a2_macro_f1"] = pooled_f1(timelines)

    def units() -> Units:
        per_timeline = timeline_units(list(reference.timelines), averages)
        if not is_published:
            return per_timeline
        pooled = pooled_f1_terms(per_timeline.names, timelines)
        statistics = {**per_timeline.statistics, "a2_macro_f1": pooled}
        return replace(
            per_timeline,
            statistics=statistics,
            scored={**per_timeline.scored, "a2_macro_f1": with_rows(pooled)},
            classes={"a2_macro_f1": units_of_classes(pooled.sums)},
        )

    # Of all posts, since the number among those with a gold score would show which posts have one.
    answers = [submission.timelines[name].posts[key] for name, one in reference.timelines.items() for key in one.posts]
    abstentions = sum(answer.wellbeing is None for answer in answers)
    warnings = []
    if abstentions:
        warnings.append(
            f"{abstentions} of the {len(answers)} posts carry no well-being score. Where such a post is scored, its "
            "error is derived from the timeline's other answers, so a low error beside many abstentions says little."
        )
    return TaskResult(
        metrics={**metrics, "a2_abstentions": Metric(abstentions, len(answers), of_submission=True)},
        settings={"profile": options["profile"]},
        warnings=warnings,
        figures=[_error_bars(timelines, float if is_published else truncated)],
        units=units,
    )


def scored_timelines(reference: ClpsychReference, submission: ClpsychSubmission) -> list[ScoredTimeline]:
    """The timelines that have a gold score, cut down to the posts that have one."""
    timelines = []
    for name, timeline in reference.timelines.items():
        gold = {key: post.wellbeing for key, post in timeline.posts.items() if post.wellbeing is not None}
        if gold:
            answers = submission.timelines[name].posts
            timelines.append(ScoredTimeline(name, list(gold.values()), [answers[key].wellbeing for key in gold]))
    return timelines


def pooled_f1(timelines: Sequence[ScoredTimeline]) -> Metric:
    """Macro F1 pooled over all posts under profile `published`, an abstention being a false negative only."""
    gold, predicted = _published_classes(timelines)
    f1 = f1_scores(predicted, gold, list(CLASSES.values())) if gold else []
    return Metric(mean(f1), rows=len(gold))


def pooled_f1_terms(names: Sequence[str], timelines: Sequence[ScoredTimeline]) -> Additive:
    """What each of all timelines adds to `pooled_f1`."""
    gold, predicted = _published_classes(timelines)
    owners = [one.name for one in timelines for _ in one.gold]
    return Additive(by_unit(names, owners, label_terms(predicted, gold, list(CLASSES.values()))), _pooled_f1)


def _pooled_f1(sums: Array) -> Array:
    """Macro F1 from terms of labels; undefined without gold."""
    import numpy as np

    return np.where(sums.any(axis=-1), macro_f1(sums), np.nan)


def _published_classes(timelines: Sequence[ScoredTimeline]) -> tuple[list[int], list[int]]:
    """The classes of all posts under profile `published`: gold, predicted."""
    gold = [published_class(value) for one in timelines for value in one.gold]
    return gold, [published_class(value) for one in timelines for value in one.predicted]


def as_run(timelines: Sequence[ScoredTimeline]) -> dict[str, Average]:
    """The organisers' numbers; F1 is a timeline's over four labels (the fourth: abstained)."""
    columns = _errors(timelines, seen=truncated)
    labels = [*CLASSES.values(), ABSTAINED]
    f1 = {
        one.name: f1_scores(list(map(as_run_class, one.predicted)), list(map(as_run_class, one.gold)), labels)
        for one in timelines
    }
    posts = sum(len(one.gold) for one in timelines)
    columns["a2_macro_f1"] = Average([(name, sum(row) / len(labels)) for name, row in f1.items()], posts)
    original = {key.removeprefix("a2_"): average for key, average in columns.items() if key != "a2_macro_f1"}
    original["f1_macro"] = columns["a2_macro_f1"]
    items = _items_of_classes(timelines)
    for label in CLASSES.values():
        original[f"f1_class_{label}"] = Average([(name, row[label]) for name, row in f1.items()], items)
    return {**columns, **original}


def _items_of_classes(timelines: Sequence[ScoredTimeline]) -> int:
    """How many scored items are behind the F1 of the three classes: one number, since each follows from the others.

    That is so because macro F1 is on the board.
    """
    gold = Counter(as_run_class(value) for one in timelines for value in one.gold)
    predicted = Counter(as_run_class(value) for one in timelines for value in one.predicted)
    return min(scored_items(gold[label], predicted[label], if_none=gold.total()) for label in CLASSES.values())


def published_class(value: float | None) -> int:
    """Serious impairment below 5, impaired from 5 to 6, minimal impairment above 6; None has abstained."""
    if value is None:
        return ABSTAINED
    return SERIOUS if value < 5 else IMPAIRED if value <= 6 else MINIMAL


def as_run_class(value: float | None) -> int:
    """The label that the organisers' program gives: outside its three closed ranges the truncated number itself.

    Such a number is wrong and no class's false positive, except 0, which is the label of serious impairment.
    """
    if value is None:
        return ABSTAINED
    for label, (low, high) in {SERIOUS: (1, 4), IMPAIRED: (5, 6), MINIMAL: (7, 10)}.items():
        if low <= value <= high:
            return label
    return SERIOUS if int(value) == SERIOUS else NO_CLASS


def truncated(value: float) -> float:
    """A number without its fraction, as the organisers' program reads predictions for its penalty."""
    return float(int(value))


def _errors(timelines: Sequence[ScoredTimeline], seen: Callable[[float], float]) -> dict[str, Average]:
    """MSE over a timeline's posts, then over timelines: of all posts, and of the posts of each gold class."""
    pairs = {one.name: list(zip(one.gold, one.filled(seen), strict=True)) for one in timelines}
    errors = {"a2_mse": _mean_error(pairs)}
    for name, label in CLASSES.items():
        of_class = {t: [pair for pair in own if published_class(pair[0]) == label] for t, own in pairs.items()}
        errors[f"a2_mse_{name}"] = _mean_error(of_class)
    return errors


def _mean_error(pairs: Mapping[str, Sequence[tuple[int, float]]]) -> Average:
    """The mean over timelines of the MSE of (gold, predicted) pairs; a timeline without any has no row."""
    return Average([(name, _mse(own)) for name, own in pairs.items() if own], sum(map(len, pairs.values())))


def _mse(pairs: Sequence[tuple[int, float]]) -> float:
    return fsum((gold - predicted) ** 2 for gold, predicted in pairs) / len(pairs)


def _error_bars(timelines: Sequence[ScoredTimeline], seen: Callable[[float], float]) -> BarChart:
    bars = [Bar(one.name, _mse(list(zip(one.gold, one.filled(seen), strict=True))), len(one.gold)) for one in timelines]
    return BarChart("Mean squared error by timeline", bars, better="lower", items="posts with a gold score")
