"""What aligned mentions are worth (task 4): links by parts of chains, and the best of several alignments."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, product

MOST_COMBINATIONS = 1_000
"""Combinations of equally good alignments up to which all are tried."""

Part = tuple[int, int]
"""A key chain and a response chain, by their numbers: the mentions that both have."""

AlignedMention = tuple[Part, float]
"""The part that an aligned mention belongs to, and its overlap."""


def link_weight(mentions: Iterable[AlignedMention]) -> float:
    """The weight of the links that hold every part together."""
    parts: dict[Part, list[float]] = defaultdict(list)
    for part, overlap in mentions:
        parts[part].append(overlap)
    return math.fsum(map(tree_weight, parts.values()))


def tree_weight(overlaps: Sequence[float]) -> float:
    """The weight of the best spanning tree over mentions with these overlaps.

    A link weighs the product of its two overlaps, so the best tree is a star around the greatest one.
    """
    greatest = max(overlaps)
    return greatest * (math.fsum(overlaps) - greatest)


def greatest_link_weight(
    settled: Sequence[AlignedMention], choices: Sequence[Sequence[Sequence[AlignedMention]]]
) -> float:
    """The greatest weight of the links when one alternative of each choice joins the settled mentions.

    Beyond `MOST_COMBINATIONS` one choice is changed at a time, in order, for as long as that gains anything.
    """
    open_parts = {part for alternatives in choices for mentions in alternatives for part, _ in mentions}
    fixed = link_weight(mention for mention in settled if mention[0] not in open_parts)
    shared = [mention for mention in settled if mention[0] in open_parts]

    def weight(chosen: Iterable[Sequence[AlignedMention]]) -> float:
        return fixed + link_weight(chain(shared, *chosen))

    if math.prod(map(len, choices)) <= MOST_COMBINATIONS:
        return max(map(weight, product(*choices)))
    chosen = [alternatives[0] for alternatives in choices]
    greatest, before = weight(chosen), -1.0
    while greatest > before:
        before = greatest
        for index, alternatives in enumerate(choices):
            chosen[index] = max(
                alternatives, key=lambda mentions: weight([*chosen[:index], mentions, *chosen[index + 1 :]])
            )
        greatest = weight(chosen)
    return greatest
