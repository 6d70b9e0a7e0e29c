"""How many gold values one participant learns for certain from the scores of a phase, by the attacks that are known.

Two kinds of metrics give gold values away (`research/disclosure` has the attacks on the bundled competitions):

- Where an answer may be any number, its sender chooses how much it weighs: the gold values of some items become the
  digits of the score, and as many are read as the score has digits.
- Where items are counted, each submission weighs a group of items, as in the coin-weighing problem. N weighings tell
  popcount(1) + … + popcount(N) items apart (Lindström 1965).

The figures are lower bounds: a better attack, or what is known of the gold besides, decides more. What metrics of
texts, tags, spans, rankings and own functions give away is not measured.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from declared.plan import Plan
from declared.reference import GoldTable, Reference

FRACTION_BITS = 52
"""The digits of an exact score: the fraction of a double."""
MOST_DECIMALS = 10
ACCEPTED = 0.05
"""The share of the gold that may be lost."""

DIGITS = ("brier", "log_loss", "mse", "rmse", "r2", "pearson")
COUNTS = ("accuracy", "exact_match", "mae", "roc_auc", "average_precision", "spearman", "kendall")
COUNTS_BY_LABEL = ("balanced_accuracy", "f1", "precision", "recall", "jaccard", "kappa", "mcc")
"""Unless they are micro-averaged, their value tells a count for each label at once."""
ATTACKED = (*DIGITS, *COUNTS, *COUNTS_BY_LABEL)


@dataclass(frozen=True)
class AttackedColumn:
    """A column's metric with what an attack on it needs to know of the gold.

    Attributes:
        key: the column's key.
        metric: its metric.
        items: how many gold values it is about.
        values: how many values each may have.
        at_once: how many groups of items a weighing compares.
        widest: the largest difference of two answers; None where answers may be any number.
    """

    key: str
    metric: str
    items: int
    values: int
    at_once: int
    widest: float | None

    def decided(self, submissions: int, decimals: int | None) -> int:
        """How many items so many submissions decide, from scores of so many decimals (None: exact)."""
        if self.values < 2:
            return 0  # nothing to learn
        if self.metric in DIGITS:
            bits = min(self._digits(decimals), FRACTION_BITS - math.log2(self.items))
            each = max(0, math.floor(bits / math.log2(self.values)))
            return min(self.items, submissions * each)
        weighings = max(0, submissions - 1)  # the first submission tells how many items have each value
        sharp = decimals is None or 10.0**-decimals * self.items <= 1
        told = _told_apart(weighings, self.items) if sharp else weighings  # or only on which side of a step a score is
        return min(self.items, math.floor(told * self.at_once / math.log2(self.values)))

    def _digits(self, decimals: int | None) -> float:
        """The bits of a score that answers can reach, before what a double holds limits them."""
        unbounded = self.widest is None and self.metric in ("mse", "rmse", "r2")
        if decimals is None or unbounded:  # large answers move the digits in front of the point
            return math.inf
        largest = {"mse": (self.widest or 1) ** 2, "rmse": self.widest or 1}.get(self.metric, 1.0)
        return max(0.0, math.log2(largest * 10.0**decimals / self.items))


def disclosed(plans: Sequence[Plan], reference: Reference, submissions: int, decimals: int | None) -> dict[str, Any]:
    """What the scores of a phase give to one participant.

    Args:
        plans: the metrics of all tasks.
        reference: the phase's gold.
        submissions: how many a participant may make in the phase; 0: no limit.
        decimals: of the scores that participants see; None: exact.

    Returns:
        `items`, how many gold values there are; `decided`, how many are learnt for certain; `accepted`, whether these
        are at most 5 %; `columns`, from which;
        `unmeasured`, the columns that are left out; `decimals`, the most that leave at most 5 % (null: none do), and
        `decided_then`; `submissions`, the most that leave at most 5 % at the present decimals.
    """
    groups: dict[tuple[str, ...], list[AttackedColumn]] = {}
    unmeasured = []
    for plan in plans:
        column = _column(plan, reference[plan.table])
        if column is None:
            unmeasured.append(plan.key)
        else:
            groups.setdefault((plan.table, *plan.gold), []).append(column)
    columns = list(groups.values())
    items = sum(group[0].items for group in columns)
    limit = submissions or items * 64  # enough for every value of any item
    fewer = [d for d in range(MOST_DECIMALS, -1, -1) if _total(columns, limit, d) <= ACCEPTED * items]
    fit = [n for n in range(1, min(limit, 1000) + 1) if _total(columns, n, decimals) <= ACCEPTED * items]
    decided = _total(columns, limit, decimals)
    return {
        "items": items,
        "decided": decided,
        "accepted": decided <= ACCEPTED * items,
        "columns": [max(group, key=lambda one: one.decided(limit, decimals)).key for group in columns],
        "unmeasured": unmeasured,
        "decimals": fewer[0] if fewer else None,
        "decided_then": _total(columns, limit, fewer[0]) if fewer else None,
        "submissions": max(fit, default=0),
    }


def _told_apart(weighings: int, most: int) -> int:
    """How many items weighings tell apart, at most `most`."""
    told = 0
    for number in range(1, weighings + 1):
        told += number.bit_count()
        if told >= most:
            return most
    return told


def _total(groups: Sequence[Sequence[AttackedColumn]], submissions: int, decimals: int | None) -> int:
    """Over the gold's columns, which one submission asks about at once, each by the metric that tells most."""
    total = 0
    for group in groups:
        total += max(column.decided(submissions, decimals) for column in group)
    return total


def _column(plan: Plan, gold: GoldTable) -> AttackedColumn | None:
    """The column of a metric whose attack is known."""
    if plan.file is not None or plan.metric not in ATTACKED or gold.table.many:
        return None
    kinds = {name: kind for name, kind in gold.answers.columns if name in plan.gold}
    by_label = plan.metric in COUNTS_BY_LABEL and plan.options.get("average") != "micro"
    items, values, at_once, widest = len(gold.keys), 1, 1, _widest(plan, gold)
    for name, kind in kinds.items():
        there = gold.answers.columns[name, kind]
        if kind == "labels" and len(kinds) == 1:  # each label of a key is an item, which is there or is not
            labels = len(frozenset[str]().union(*filter(None, there)))
            items, values, at_once = items * labels, 2, labels
        elif kind in ("label", "ordinal", "number", "string"):
            values *= _possible(frozenset(there) - {None}, kind)
            at_once = max(1, values - 1)
        else:
            return None
    if not by_label:
        at_once = 1
    return AttackedColumn(plan.key, plan.metric, items, values, at_once, widest)


def _widest(plan: Plan, gold: GoldTable) -> float | None:
    """The largest difference of two answers; None where they may be any number, or are none."""
    field = gold.table.field(plan.fields[0])
    if field.type == "probabilities":
        return 1.0
    if field.type == "ordinal":
        return max(field.numbers.values()) - min(field.numbers.values())
    if field.type != "number" or field.min is None or field.max is None:
        return None
    return field.max - field.min


def _possible(different: Collection[Any], kind: str) -> int:
    """How many values an item may have: those that occur, of numbers all steps between the smallest and the largest."""
    if kind != "number":
        return len(different)
    numbers: Collection[float] = different
    for decimals in range(MOST_DECIMALS):
        steps = float(10**decimals)
        if all(math.isclose(number, round(number, decimals), abs_tol=1e-6 / steps) for number in numbers):
            return round((max(numbers) - min(numbers)) * steps) + 1
    return 1 << FRACTION_BITS
