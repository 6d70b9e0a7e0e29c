"""How many gold values one participant can learn from the scores of a phase: at least, by the attacks that are known.

Two kinds of metrics give gold values away (`research/disclosure` has attacks on the bundled competitions):

- Where an answer may be any number, its sender chooses how much it weighs: the gold values of some items become the
  digits of the score, and as many are read as the score has digits.
- Where items are counted, a first submission gives all of them one label, and each further one gives another label to
  one item: the score rises, falls or stays. Of two labels a submission weighs a group of items instead, as in the
  coin-weighing problem: N weighings tell popcount(1) + … + popcount(N) items apart (Lindström 1965).

The figures are lower bounds: a better attack, several columns together, or what is known of the gold besides, decide
more. What other metrics give away is not measured.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from declared.plan import Plan
from declared.reference import GoldTable, Reference
from declared.samples import labels_in

FRACTION_BITS = 52
"""The digits of an exact score: the fraction of a double."""
MOST_DECIMALS = 10

DIGITS = ("brier", "mse", "rmse")
COUNTS = ("accuracy", "exact_match", "balanced_accuracy", "f1", "precision", "recall", "jaccard")


@dataclass(frozen=True)
class AttackedColumn:
    """A column's metric with what an attack on it needs to know of the gold.

    Attributes:
        key: the column's key.
        metric: its metric.
        items: how many gold values it is about.
        values: how many values each may have.
        widest: the largest difference of two answers; None where answers may be any number.
        sets: an item is a label of a key, which is there or is not.
    """

    key: str
    metric: str
    items: int
    values: int
    widest: float | None = None
    sets: bool = False

    def decided(self, submissions: int, decimals: int | None) -> int:
        """Return how many items so many submissions decide, from scores of so many decimals (None: exact)."""
        if self.values < 2:
            return 0  # nothing to learn
        if self.metric in DIGITS:
            bits = min(self._digits(decimals), FRACTION_BITS - math.log2(self.items))
            each = max(0, math.floor(bits / math.log2(self.values)))
            # Of squared errors the first submission, zeros alone, tells the sum of the squares of all gold.
            reading = submissions - (self.metric != "brier")
            return min(self.items, max(0, reading) * each)
        if decimals is not None and 10.0**-decimals * self.items * (self.values + 1) ** 2 > 1:
            return 0  # an answer may move no digit: that of F1, which moves least, by 2 / n (values + 1)²
        further = max(0, submissions - 1)
        if self.sets:
            told = further
        elif self.values == 2:
            told = _told_apart(further, self.items)
        else:
            told = further // (self.values - 2)  # at worst all labels are asked but the first one and the last
        return min(self.items, told)

    def _digits(self, decimals: int | None) -> float:
        """Return the bits of a score that answers can reach, before what a double holds limits them."""
        if self.metric == "rmse":
            # A step of the root is a step of the square that grows with the error: large answers gain nothing.
            if self.widest is None:
                return 0.0
            return math.inf if decimals is None else math.log2(self.widest * 10.0**decimals / self.items) - 1
        if decimals is None or (self.metric == "mse" and self.widest is None):
            return math.inf  # large answers move the digits in front of the point
        largest = self.widest**2 if self.metric == "mse" and self.widest is not None else 1.0
        return math.log2(largest * 10.0**decimals / self.items)


def disclosed(plans: Sequence[Plan], reference: Reference, submissions: int, decimals: int | None) -> dict[str, Any]:
    """Return what the scores of a phase give to one participant.

    Args:
        plans: the metrics of all tasks.
        reference: the phase's gold.
        submissions: how many a participant may make in the phase; 0: no limit.
        decimals: of the scores that participants see; None: exact.

    Returns:
        `items`, how many gold values there are; `decided`, how many are learnt at least; `columns`, from which;
        `unmeasured`, the columns that are left out.
    """
    # One submission asks about each gold column, by the metric of it that tells most.
    groups: dict[tuple[str, ...], list[AttackedColumn]] = {}
    unmeasured = []
    for plan in plans:
        column = _column(plan, reference[plan.table])
        if column is None:
            unmeasured.append(plan.key)
        else:
            groups.setdefault((plan.table, *plan.gold), []).append(column)
    items = sum(group[0].items for group in groups.values())
    limit = submissions or items * 64  # enough for every value of any item
    decided, telling = 0, []
    for group in groups.values():
        most = max(group, key=lambda one: one.decided(limit, decimals))
        decided += most.decided(limit, decimals)
        telling.append(most.key)
    return {"items": items, "decided": decided, "columns": telling, "unmeasured": unmeasured}


def _told_apart(weighings: int, most: int) -> int:
    """Return how many items weighings tell apart, at most `most`."""
    told = 0
    for number in range(1, weighings + 1):
        told += number.bit_count()
        if told >= most:
            return most
    return told


def _column(plan: Plan, gold: GoldTable) -> AttackedColumn | None:
    """Return the column of a metric whose attack is known."""
    known = plan.file is None and plan.weight is None and plan.mean_by is None and plan.metric in (*DIGITS, *COUNTS)
    if not known or gold.table.many or len(plan.gold) != 1:
        return None
    kinds = {kind for name, kind in gold.answers.columns if name in plan.gold}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    there = gold.answers.columns[plan.gold[0], kind]
    if kind == "labels" and plan.metric != "exact_match":
        return AttackedColumn(plan.key, plan.metric, len(gold.keys) * len(labels_in(there)), 2, sets=True)
    if kind not in ("label", "ordinal", "number"):
        return None
    values = _possible(frozenset(there) - {None}, kind)
    if plan.metric == "brier" and values > 2:
        return None
    return AttackedColumn(plan.key, plan.metric, len(gold.keys), values, _widest(plan, gold))


def _widest(plan: Plan, gold: GoldTable) -> float | None:
    """Return the largest difference of two answers; None where they may be any number, or are none."""
    field = gold.table.field(plan.fields[0])
    if field.type == "ordinal":
        return max(field.numbers.values()) - min(field.numbers.values())
    if field.type != "number" or field.min is None or field.max is None:
        return None
    return field.max - field.min


def _possible(different: Collection[Any], kind: str) -> int:
    """Return how many values an item may have: those that occur; of numbers, all steps from least to largest."""
    if kind != "number":
        return len(different)
    numbers: Collection[float] = different
    for decimals in range(MOST_DECIMALS):
        steps = float(10**decimals)
        if all(math.isclose(number, round(number, decimals), abs_tol=1e-6 / steps) for number in numbers):
            return round((max(numbers) - min(numbers)) * steps) + 1
    return 1 << FRACTION_BITS
