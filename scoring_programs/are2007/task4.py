"""Task 4: find all mentions and sort them into chains; MUC scores with overlaps in place of common pairs."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any

from are2007.alignment import alignments
from are2007.mentions import Mention
from are2007.muc import LinkScores, links
from are2007.muc_result import muc_metrics, muc_result
from are2007.overlap import overlap
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from scoring_kit.results import TaskResult

MOST_COMBINATIONS = 1_000
"""Combinations of equally good alignments up to which all are tried."""

Part = tuple[int, int]
"""A key chain and a response chain, by their numbers: the mentions that both have."""

AlignedMention = tuple[Part, float]
"""The part that an aligned mention belongs to, and its overlap."""


def link_weight(mentions: Iterable[AlignedMention]) -> float:
    """The weight of the links that hold every part together."""
    parts: dict[Part, list[float]] = defaultdict(list)
    for part, weight in mentions:
        parts[part].append(weight)
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


METRICS = muc_metrics("task4")
Chains = Sequence[Sequence[Mention]]


def score(reference: AreReference, submission: AreSubmission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall and precision, links summed over all texts."""
    responses = submission.chains["task4"]
    texts = {text: muc_with_overlaps(key.chains, responses[text]) for text, key in reference.keys["task4"].items()}
    return replace(muc_result("task4", texts), libraries=("scipy",))


def muc_with_overlaps(key: Chains, response: Chains) -> LinkScores:
    """MUC in which a common link weighs the product of the overlaps of its two mentions.

    Mentions of key and response are aligned one to one by the greatest total overlap. Those that a key chain and a
    response chain share are held together by the best spanning tree of links. The sum over all such parts is the
    numerator of recall and precision. Of equally good alignments the one that gives the greatest numerator is taken.
    """
    key_chain = {mention: index for index, chain in enumerate(key) for mention in chain}
    response_chain = {mention: index for index, chain in enumerate(response) for mention in chain}
    settled: list[AlignedMention] = []
    choices: list[list[tuple[AlignedMention, ...]]] = []
    for alternatives in alignments(key_chain, response_chain):
        different = {
            tuple(
                sorted(((key_chain[one], response_chain[other]), overlap(one, other)) for one, other in pairs.items())
            )
            for pairs in alternatives
        }
        if len(different) == 1:
            settled.extend(*different)
        else:
            choices.append(sorted(different))
    common = greatest_link_weight(settled, choices)
    return LinkScores(common, links(key), common, links(response))
