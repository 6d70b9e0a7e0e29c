"""The results that a task's module gives back: metrics, what they depend on, and figures for the results page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from scoring_kit.units import Units


@dataclass(frozen=True)
class Metric:
    """One number.

    Attributes:
        value: the metric, exactly as computed; None where the gold leaves it undefined, and then its column shows its
            worst score. NaN and infinity are errors of the organisers. An `int` is a count.
        rows: over how many units it is averaged (timelines, posts, events …).
        items: how many scored items are behind it, `rows` where not given; a figure over fewer than
            `details_min_items` is not shown, nor are its `rows`, because they could give a single gold label away.
            Metrics of one family, `f1: A` and `f1: B` or `f1.A` and `f1.B`, are withheld together where one
            follows from the others.
        status: what became of an answer that may be there or not, such as one of several models; for details.json. It
            is always shown, so it depends on the submission alone.
        of_submission: value and rows depend on the submission alone, so that they say nothing about the gold.
        drawn: a figure of the results page shows the value, so the page does not list it a second time.

    >>> Metric(0.75, rows=8).value
    0.75
    """

    value: float | None
    rows: int
    items: int | None = None
    status: str | None = None
    of_submission: bool = False
    drawn: bool = False


def scored_items(gold: int, predicted: int, if_none: int | None = None) -> int:
    """Return how many scored items are behind a figure of gold and predicted items: the fewer of the two.

    Participants know what they predicted, so a figure over a single prediction, or a single gold item, would give
    the gold away. Without a prediction it is 0 for any gold, and gives nothing away: then `if_none`, or else the number
    of gold items.

    >>> scored_items(gold=5, predicted=2), scored_items(gold=5, predicted=0)
    (2, 5)
    """
    if predicted:
        return min(gold, predicted)
    return gold if if_none is None else if_none


def share(part: float, whole: float) -> float:
    """Part / whole, such as precision; 0 of nothing.

    >>> share(1, 4), share(0, 0)
    (0.25, 0.0)
    """
    return part / whole if whole else 0.0


def comparable(value: float) -> float:
    """Return what to compare values by: equal metrics, summed in different orders, differ in their last bits.

    >>> 0.1 + 0.2 == 0.3, comparable(0.1 + 0.2) == comparable(0.3)
    (False, True)
    """
    return round(value, 12)


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its value and the number of scored items behind it.

    >>> Bar("yes", 0.8, items=12).label
    'yes'
    """

    label: str
    value: float | None
    items: int


@dataclass(frozen=True)
class BarChart:
    """Bars of one metric, for example one a timeline.

    Attributes:
        title: what is shown, with its unit.
        bars: in the order in which they are drawn.
        better: which way is better.
        items: what the number of items beside a bar counts, for readers.
        top: the value at the end of the axis; the largest bar's where None. The axis starts at 0.
        of: what a bar stands for, in the singular.
        column: key of the column whose groups these are: the figure is called by its title.

    >>> bars = [Bar("yes", 0.8, items=12), Bar("no", 0.5, items=8)]
    >>> BarChart("F1 of each label", bars, better="higher", items="texts").top is None
    True
    """

    title: str
    bars: Sequence[Bar]
    better: Literal["higher", "lower"]
    items: str
    top: float | None = None
    of: str = "label"
    column: str = ""


@dataclass(frozen=True)
class ConfusionMatrix:
    """Counts of gold (rows) against predicted (columns) labels; shape [len(gold_labels)][len(predicted_labels)].

    >>> matrix = ConfusionMatrix("Gold and predicted", ["yes", "no"], ["yes", "no"], [[3, 1], [0, 4]])
    >>> matrix.counts[0]  # the answers to what is yes
    [3, 1]
    """

    title: str
    gold_labels: Sequence[str]
    predicted_labels: Sequence[str]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class CountBars:
    """True positives, false positives and false negatives by what they are `of`; partial matches are fractional."""

    title: str
    rows: Sequence[tuple[str, float, float, float]]
    of: str = "type"


Figure = BarChart | ConfusionMatrix | CountBars


@dataclass(frozen=True)
class NotComputed:
    """Why a function of the organisers' own gave no number: a mistake of theirs, which no participant can tell from.

    Attributes:
        place: file, line and function.
        words: the exception's type and text, which may hold gold: for the organisers' own machine alone.
    """

    place: str
    words: str


@dataclass(frozen=True)
class TaskResult:
    """The outcome of one task.

    Attributes:
        metrics: every metric by name; those named like a declared column become its score.
        settings: what the numbers depend on (metric options, models with revisions), for the signature.
        libraries: distributions whose versions the numbers may depend on, for the signature.
        warnings: remarks on the submission that a participant should read beside the scores; of the submission alone.
        figures: for the results page, where the phase's `details` are full; what has too few items is left out.
        units: makes the per-unit results, for the organisers' final report alone; nothing of them is ever written to a
            submission's outputs. None: the report has no intervals.
        failed: metric → why it could not be computed for this submission. It has its worst value, and the run ends like
            any other: its exit status must say nothing about the gold.

    >>> result = TaskResult({"accuracy": Metric(0.75, rows=8)}, warnings=["answers.csv: 2 rows are blank."])
    >>> result.metrics["accuracy"].rows
    8
    """

    metrics: Mapping[str, Metric]
    settings: Mapping[str, str] = field(default_factory=dict)
    libraries: Sequence[str] = ()
    warnings: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    units: Callable[[], Units] | None = None
    failed: Mapping[str, NotComputed] = field(default_factory=dict)
