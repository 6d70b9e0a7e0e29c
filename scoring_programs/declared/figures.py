"""The figures that fit a metric; the page withholds what has too few items (scoring_kit.results_page.withholding).

Labels and probabilities have a matrix, numbers one of bins, sets and spans counts by label or type, groups bars.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from declared.metrics import Sample, positive_of
from declared.plan import Plan
from declared.samples import Group
from scoring_kit.results import Bar, BarChart, ConfusionMatrix, CountBars, Figure

NO_LABEL = "(no label)"
NO_TYPE = "(no type)"
NO_BOUND = 1000
"""An error whose worst value is this or more has no end of its axis."""
BINS = 6
"""About so many bins of numbers, so that each holds many."""
PROBABILITIES = (0.2, 0.4, 0.6, 0.8)
"""Where the bins of a probability meet."""
RARE = 20
"""One in so many gold numbers at either end has no say in where bins meet, so that no single one shows there."""
Terms = tuple[str, float, float, float]
Elements = Callable[[Any], set[Any]]
"""A function that makes of an answer a set of tuples, whose first item is the type."""


class Later(Sequence[Figure]):
    """Figures that are made when a page first looks at them, since many phases show none."""

    def __init__(self, make: Callable[[], Sequence[Figure]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Sequence[Figure]:
        return self._make()

    def __getitem__(self, index: Any) -> Any:
        return self._made[index]

    def __len__(self) -> int:
        return len(self._made)


def bars_by_group(
    plan: Plan, groups: Mapping[Group, Sequence[int]], values: Sequence[Mapping[Group, float]], items: str
) -> BarChart:
    """Return a bar for each group: the mean of its fields' values, and the number of its keys, called `items`."""
    bars = []
    for group, keys in groups.items():
        own = [of_field[group] for of_field in values if group in of_field]
        bars.append(Bar(", ".join(group), sum(own) / len(own), len(keys)))
    names = ", ".join(plan.by)
    return BarChart(f"by {names}", bars, plan.better, items, _top(plan), of=names, column=plan.key)


def _top(plan: Plan) -> float | None:
    """The end of the axis: the best value of a score, the largest possible one of an error; None if there is none."""
    if plan.better == "lower":
        return plan.worst if plan.worst < NO_BOUND else None
    return plan.definition.best if plan.definition is not None else None


def figures_of_fields(
    plan: Plan, samples: Sequence[Sample], made: dict[Hashable, Figure | None]
) -> dict[Hashable, Figure]:
    """Return the figures of what a metric compared, over all keys; columns that compare the same share theirs.

    `made` holds what was made of other columns: most metrics of a kind show the same.
    """
    make = MAKERS.get(plan.module)
    if make is None or plan.where:
        return {}
    named = list(zip(plan.fields, plan.gold, strict=True))
    if len(samples) < len(named):
        named = [("+".join(plan.fields), "+".join(plan.gold))]
    # probabilities compare with the label asked for
    asked = str(plan.options.get("positive")), str(plan.options.get("threshold")), str(plan.options.get("match"))
    is_joint = plan.definition is not None and plan.definition.joint
    figures: dict[Hashable, Figure] = {}
    for (name, gold), sample in zip(named, samples, strict=True):
        title = name if name == gold else f"{name} against {gold}"
        compared = (plan.table, name, gold, *asked)
        of_kind = (make, is_joint, plan.metric == "exact_match", *compared)
        if of_kind not in made:
            made[of_kind] = make(title, plan, sample)
        figure = made[of_kind]
        if figure is not None:
            figures[type(figure), *compared] = figure
    return figures


def _labels(name: str, plan: Plan, sample: Sample) -> Figure | None:
    from declared.metrics.labels import label_counts, spans

    if sample.has_places:
        sample, _ = sample.in_places()
    if sample.fields[0].open:
        return None  # its labels would fill a page, and participants are not told which there are
    if sample.fields[0].type == "tags":
        return CountBars(f"{name}: spans by type", _counted(sample, spans))
    if sample.fields[0].type == "labels":
        declared = sample.fields[0].values or ()
        return CountBars(f"{name}: labels", _counted(sample, lambda labels: set(zip(labels)), declared), of="label")
    labels, counts = label_counts(sample)
    predicted = [*labels, NO_LABEL] if counts[:, -1].any() else labels
    return ConfusionMatrix(
        f"{name}: gold and predicted labels", labels, predicted, counts[:, : len(predicted)].tolist()
    )


def _numbers(name: str, plan: Plan, sample: Sample) -> Figure | None:
    """Gold and predicted numbers in bins; None where most of the gold has one value, and of lists of numbers."""
    if sample.fields[0].type == "numbers":
        return None
    ordered = sorted(sample.gold)
    edges = bin_edges(ordered[len(ordered) // RARE], ordered[-1 - len(ordered) // RARE])
    if not edges:
        return None
    bins = bin_names(edges)
    counts = _matrix(bins, bins, _bins(edges, sample.gold), _bins(edges, sample.predicted))
    return ConfusionMatrix(f"{name}: gold and predicted numbers", bins, bins, counts)


def _bins(edges: Sequence[float], numbers: Iterable[float]) -> list[int]:
    return [bisect_right(edges, number) for number in numbers]


def _matrix(rows: Sequence[str], columns: Sequence[str], row: Iterable[int], column: Iterable[int]) -> list[list[int]]:
    """How many keys there are in each cell, from their rows and columns."""
    counts = [[0] * len(columns) for _ in rows]
    for (up, left), number in Counter(zip(row, column, strict=True)).items():
        counts[up][left] = number
    return counts


def _probabilities(name: str, plan: Plan, sample: Sample) -> Figure | None:
    """Gold labels against the most probable ones, or against bins of one label's number."""
    (field,) = sample.fields
    if field.type == "probabilities":
        labels = list(field.values or ())
        right, probable = [], []
        for label, shares in zip(sample.gold, sample.predicted, strict=True):
            right.append(labels.index(label))
            probable.append(shares.index(max(shares)))
        cells = _matrix(labels, labels, right, probable)
        return ConfusionMatrix(f"{name}: gold and most probable labels", labels, labels, cells)
    positive = positive_of(plan.options, sample.gold)
    edges: Sequence[float] = PROBABILITIES
    if min(sample.predicted) < 0 or max(sample.predicted) > 1:
        edges = bin_edges(min(sample.predicted), max(sample.predicted))
    if not edges:
        return None
    bins = bin_names(edges)
    named = [positive, f"not {positive}"]
    rows = [int(label != positive) for label in sample.gold]
    counts = _matrix(named, bins, rows, _bins(edges, sample.predicted))
    what = "the probability" if edges is PROBABILITIES else "the number"
    return ConfusionMatrix(f"{name}: gold labels and {what} of {positive}", named, bins, counts)


def _sets(name: str, plan: Plan, sample: Sample) -> Figure | None:
    """Counts by label, by type of span, or, of rows, by their first field of labels; None for other answers."""
    elements = _elements(plan, sample)
    if plan.metric == "exact_match" or elements is None:
        return None
    # of spans also where characters are matched: one span may have as many as a figure asks for
    if sample.many or sample.fields[0].type == "labels":
        return CountBars(f"{name}: labels", _counted(sample, elements), of="label")
    return CountBars(f"{name}: whole spans by type", _counted(sample, elements))


def _counted(sample: Sample, elements: Elements, declared: Iterable[str] = ()) -> list[Terms]:
    """Each type of element, declared ones first, with its true positives, false positives and false negatives."""
    shared: Counter[str] = Counter()
    given: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for gold, predicted in zip(sample.gold, sample.predicted, strict=True):
        truth, answer = elements(gold), elements(predicted)
        for counts, some in ((shared, truth & answer), (given, answer), (there, truth)):
            counts.update(kind for kind, *_ in some)
    found = []
    for kind in dict.fromkeys([*declared, *sorted(given | there)]):
        right = shared[kind]
        found.append((kind, float(right), float(given[kind] - right), float(there[kind] - right)))
    return found


def _elements(plan: Plan, sample: Sample) -> Elements | None:
    """Return the function that makes of an answer the elements of its set; None where there is none."""
    types = []
    for field in sample.fields:
        types.append(field.type)
        if field.open:
            return None
    if sample.many:
        if "label" not in types:
            return None
        at = types.index("label")
        return lambda rows: {(row[at] or NO_LABEL, row) for row in rows}
    if set(types) == {"labels"}:
        return lambda answer: {(label, i) for i, labels in enumerate(answer) for label in labels}
    if set(types) != {"spans"}:
        return None
    joint = plan.definition is not None and plan.definition.joint  # else an answer is the spans of one field

    def elements(answer: Any) -> set[Any]:
        fields = answer if joint else [answer]
        found = set()
        for number, spans in enumerate(fields):
            for start, end, *kind in spans:
                found.add(((*kind, NO_TYPE)[0], (number, start, end)))
        return found

    return elements


MAKERS: Mapping[str, Callable[[str, Plan, Sample], Figure | None]] = {
    "labels": _labels,
    "numbers": _numbers,
    "probabilities": _probabilities,
    "sets": _sets,
}
"""By the module of a metric."""


def bin_edges(low: float, high: float) -> list[float]:
    """Return where bins meet between two numbers: at multiples of 1, 2 or 5 times a power of ten."""
    width = (high - low) / BINS
    if not width > 0 or not math.isfinite(width):
        return []
    power = 10.0 ** math.floor(math.log10(width))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    first, last = math.floor(low / step) + 1, math.ceil(high / step)
    return [float(f"{place * step:.12g}") for place in range(first, last)]


def bin_names(edges: Sequence[float]) -> list[str]:
    """Return the names of the bins: each holds its lower end."""
    between = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"below {edges[0]:g}", *between, f"from {edges[-1]:g}"]
