"""Step 1: pair gold and predicted events one to one inside a document, so that the sum of S_p is greatest.

Source: BioNLP-ST 2016, SeeDev, "Evaluation service": Pairing; SeeDev-binary, SeeDev-full.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from seedev2016.standoff import Event

WHOLE = 55440
"""S_p = 1. S_p is a fraction of at most 12 optional arguments, halved or not; in units of 1/55440 (twice the least
common multiple of 1 … 12) it is a whole number, so that sums are exact and ties are ties."""


class Pair(NamedTuple):
    """A gold event and the predicted event that it is paired with; one of them is None where there is no partner.

    Attributes:
        gold: None for an insertion.
        predicted: None for a deletion.
        similarity: S_p in units of 1/WHOLE.
    """

    gold: Event | None
    predicted: Event | None
    similarity: int

    @property
    def type(self) -> str:
        """The event type, which paired events share."""
        event = self.gold or self.predicted
        return event.type if event else ""


def pair_events(gold: Sequence[Event], predicted: Sequence[Event]) -> Iterator[Pair]:
    """The pairing of one document's events that has the greatest sum of S_p, then the most pairs.

    Only events with the same type and mandatory arguments can be paired, so each such block is solved by itself.
    """
    left = _blocks(predicted)
    for key, block in _blocks(gold).items():
        partners = left.pop(key, None)
        if partners:
            yield from _pair_block(block, partners)
        else:
            for event in block:
                yield Pair(event, None, 0)
    for block in left.values():
        for event in block:
            yield Pair(None, event, 0)


def similarity(gold: Event, predicted: Event) -> int:
    """S_p = S_neg · S_opt of two events with the same type and mandatory arguments, in units of 1/WHOLE.

    S_neg is 1/2 where one of the two is negated, else 1. S_opt = 1 - E/N: a missing or extra optional argument is one
    error, a wrong one is two (its filler is missing and another one is extra), so that E counts the arguments that only
    one of the events has; N counts those of both together. S_opt is 1 where neither has any. In SeeDev-binary no event
    is negated or has optional arguments: S_p is then 1.
    """
    s_p = WHOLE
    if gold.optional != predicted.optional:
        errors = len(gold.optional ^ predicted.optional)
        union = len(gold.optional | predicted.optional)
        s_p = WHOLE * (union - errors) // union
    return s_p if gold.negated == predicted.negated else s_p // 2


def _blocks(events: Sequence[Event]) -> dict[object, list[Event]]:
    """The events by type and mandatory arguments."""
    blocks: dict[object, list[Event]] = {}
    for event in events:
        blocks.setdefault(event.key, []).append(event)
    return blocks


def _pair_block(gold: Sequence[Event], predicted: Sequence[Event]) -> Iterator[Pair]:
    """The pairing of gold and predicted events that share type and mandatory arguments."""
    partners = _assignment(gold, predicted)
    for row, event in enumerate(gold):
        if row in partners:
            partner = predicted[partners[row]]
            yield Pair(event, partner, similarity(event, partner))
        else:
            yield Pair(event, None, 0)
    taken = set(partners.values())
    for column, event in enumerate(predicted):
        if column not in taken:
            yield Pair(None, event, 0)


def _assignment(gold: Sequence[Event], predicted: Sequence[Event]) -> dict[int, int]:
    """Index of a gold event → index of its partner, without pairs of S_p = 0."""
    if len(gold) == len(predicted) == 1:
        return {0: 0} if similarity(gold[0], predicted[0]) else {}
    gold_variants, predicted_variants = _variants(gold), _variants(predicted)
    if len(gold_variants) == 1 and gold_variants.keys() == predicted_variants.keys():
        return {index: index for index in range(min(len(gold), len(predicted)))}
    return _best_assignment(gold, gold_variants, predicted, predicted_variants)


Variants = Mapping[object, list[int]]


def _variants(events: Sequence[Event]) -> Variants:
    """Optional arguments and negation → indices of the events that have exactly them."""
    variants: dict[object, list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        variants[event.optional, event.negated].append(index)
    return variants


def _best_assignment(
    gold: Sequence[Event], gold_variants: Variants, predicted: Sequence[Event], predicted_variants: Variants
) -> dict[int, int]:
    """The assignment of the greatest sum of S_p and then the most pairs, by scipy on the dense block.

    The weights are whole numbers that a float holds exactly: S_p in units counts more than all pairs together.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    rows, columns = list(gold_variants.values()), list(predicted_variants.values())
    similarities = (similarity(gold[row[0]], predicted[column[0]]) for row in rows for column in columns)
    by_variant = np.fromiter(similarities, dtype=np.int32).reshape(len(rows), len(columns))
    block = by_variant[np.ix_(_variant_of(rows), _variant_of(columns))]
    weights = block * (min(block.shape) + 1.0) + (block > 0)
    chosen = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
    return {int(row): int(column) for row, column in chosen if block[row, column]}


def _variant_of(variants: Sequence[Sequence[int]]) -> list[int]:
    """Index of an event → index of its variant."""
    number = {index: variant for variant, indices in enumerate(variants) for index in indices}
    return [number[index] for index in range(len(number))]
