"""The part of a run that participants see: which metrics, by the phase's `details`, and what a figure may show.

Where `details` are `full`, no figure is over too few scored items. Participants know what they predicted, and everybody
may open everybody's page. A group of very few items, such as the one item that was predicted to be X, would therefore
give single gold labels away; and so would a group that can be computed by taking all the others from a total. So groups
below `min_items` are put together with each other, and, where they are still too few together, with the next smallest
one (primary and secondary suppression; Hundepool et al., Statistical Disclosure Control, Wiley 2012).

This holds for a single submission that was not made to find out the gold. Chosen submissions, and differences between
several, give more away (docs/disclosure.md), so with `headline` and `none` participants see no such figure at all.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from scoring_kit.program import Program
from scoring_kit.results import Bar, ConfusionMatrix, CountBars, Metric

OTHERS = "(others together)"
MAX_LABELS = 25
MAX_TYPES = 40
_FAMILY_END = re.compile("[:.]")


Shown = tuple[set[str], set[str]]
"""See `shown_names`."""


def shown_names(program: Program, metrics: Mapping[str, Metric]) -> Shown:
    """Names of the metrics of a task whose values may be shown, and of those whose `rows` may be shown, too.

    Values are those of the board's columns, and more by `details`. How many gold items there are is not part of the
    board, so rows need more than that.
    """
    names = _shown_values(program, metrics)
    if program.details in ("full", "all"):
        return names, names
    return names, {name for name in names if metrics[name].of_submission}


def _shown_values(program: Program, metrics: Mapping[str, Metric]) -> set[str]:
    if program.details == "all":
        return set(metrics)
    board = {column.key for column in program.columns if not column.hidden}
    if program.details == "none":
        return board.intersection(metrics)
    names = names_of(metrics, board)
    for name, metric in metrics.items():
        if metric.of_submission:
            names.add(name)
    if program.details == "full":
        names |= open_metrics(metrics, program.keys, program.details_min_items)
    return names


def names_of(metrics: Mapping[str, Metric], board: Collection[str]) -> set[str]:
    """All names of the metrics that the board shows: it shows one under another name, too."""
    on_board = {id(metrics[key]) for key in board if key in metrics}
    return {name for name, metric in metrics.items() if id(metric) in on_board}


def open_metrics(metrics: Mapping[str, Metric], board: Collection[str], min_items: int) -> set[str]:
    """Names of the metrics beside the board's columns that may be shown.

    A column's metric under another name is shown, because the board shows it. Metrics of one family are parts of a
    whole that the board may show, such as the F1 of each label and macro F1.
    """
    on_board = names_of(metrics, board)
    families: dict[str, dict[str, tuple[int]]] = {}
    for name, metric in metrics.items():
        if name not in on_board:
            items = metric.rows if metric.items is None else metric.items
            families.setdefault(_FAMILY_END.split(name, maxsplit=1)[0], {})[name] = (items,)
    shown = on_board.difference(board)
    for family in families.values():
        hidden = _put_together(list(family.values()), min_items, len(family))
        for i, (name, sizes) in enumerate(family.items()):
            if any(sizes) and i not in hidden:
                shown.add(name)
    return shown


def open_bars(bars: Sequence[Bar], min_items: int) -> list[Bar]:
    """Return the bars that may be shown, in their order; those left out hold `min_items` items or more, or none."""
    hidden = _put_together([(bar.items,) for bar in bars], min_items, len(bars))
    return [bar for i, bar in enumerate(bars) if i not in hidden and bar.items > 0]


def open_matrix(matrix: ConfusionMatrix, min_items: int) -> ConfusionMatrix | None:
    """Return the matrix with its rare gold labels in one row and its rarely predicted ones in one column.

    Every row and column of the result holds no item or at least `min_items`; None where nothing is left to show.
    """
    columns = list(zip(*matrix.counts, strict=True))
    columns, predicted = _merged(columns, matrix.predicted_labels, min_items)
    rows, gold = _merged(list(zip(*columns, strict=True)), matrix.gold_labels, min_items)
    if len(gold) < 2 or len(predicted) < 1 or sum(chain(*rows)) < min_items:
        return None
    return ConfusionMatrix(matrix.title, gold, predicted, rows)


def _merged(
    lines: Sequence[tuple[int, ...]], labels: Sequence[str], min_items: int
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Lines of a matrix (rows or columns) with those put together that hold too few items, at the end."""
    small = _put_together([(sum(line),) for line in lines], min_items, MAX_LABELS)
    merged: list[tuple[int, ...]] = []
    names: list[str] = []
    others: list[tuple[int, ...]] = []
    for i, (line, label) in enumerate(zip(lines, labels, strict=True)):
        if i in small:
            others.append(line)
        else:
            merged.append(line)
            names.append(label)
    if others:
        merged.append(tuple(sum(cells) for cells in zip(*others, strict=True)))
        names.append(OTHERS)
    return merged, names


def open_counts(counts: CountBars, min_items: int) -> CountBars | None:
    """Return the counts with rarely predicted and rare gold types in one row; None where that leaves one row or none.

    In every row of the result the predicted (TP + FP) and the gold (TP + FN) are none or at least `min_items`.
    """
    rows, sizes = [], []
    for label, tp, fp, fn in counts.rows:
        if tp or fp or fn:
            rows.append((label, tp, fp, fn))
            sizes.append((tp + fp, tp + fn))
    small = _put_together(sizes, min_items, MAX_TYPES)
    kept = []
    others = (0.0, 0.0, 0.0)
    for i, (label, tp, fp, fn) in enumerate(rows):
        if i in small:
            others = (others[0] + tp, others[1] + fp, others[2] + fn)
        else:
            kept.append((label, tp, fp, fn))
    if not kept:
        return None
    if small:
        kept.append((OTHERS, *others))
    return CountBars(counts.title, kept, counts.of)


def _put_together(groups: Sequence[tuple[float, ...]], min_items: int, limit: int) -> set[int]:
    """Indexes of the groups that must not be seen one by one, by the sizes of each group (all must be large enough).

    Groups of no items are let through. So many more of the smallest are taken that `limit` groups remain at most.
    """

    def is_small(sizes: tuple[float, ...]) -> bool:
        return any(0 < size < min_items for size in sizes)

    filled = [i for i, sizes in enumerate(groups) if any(sizes)]
    # first those that must go, then the smallest, so that as little as possible is lost
    filled.sort(key=lambda i: (not is_small(groups[i]), sum(groups[i]), i))
    together: set[int] = set()
    total: tuple[float, ...] = (0,) * len(next(iter(groups), ()))
    for i in filled:
        # what is put together must itself be large enough, or one could be told by the rest
        if not (is_small(groups[i]) or is_small(total) or len(filled) - len(together) > limit):
            break
        together.add(i)
        total = tuple(a + b for a, b in zip(total, groups[i], strict=True))
    return together
