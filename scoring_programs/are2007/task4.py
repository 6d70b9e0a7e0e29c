"""Task 4: find all mentions and sort them into chains; MUC scores with overlaps in place of common pairs."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from are2007.alignment import align
from are2007.mentions import Mention
from are2007.muc import LinkScores, links
from are2007.muc_result import muc_metrics, muc_result
from are2007.overlap import overlap
from are2007.reference import Reference
from are2007.submission import Submission
from scoring_kit.results import TaskResult

METRICS = muc_metrics("task4")
Chains = Sequence[Sequence[Mention]]


def score(reference: Reference, submission: Submission, options: Mapping[str, Any]) -> TaskResult:
    """F1, recall and precision, links summed over all texts."""
    responses = submission.chains["task4"]
    texts = {text: muc_with_overlaps(key.chains, responses[text]) for text, key in reference.keys["task4"].items()}
    return replace(muc_result("task4", texts), libraries=("scipy",))


def muc_with_overlaps(key: Chains, response: Chains) -> LinkScores:
    """MUC in which a common link weighs the product of the overlaps of its two mentions.

    Mentions of key and response are aligned one to one. Those that a key chain and a response chain share are held
    together by the best spanning tree of links: a star around the mention with the greatest overlap, so that it weighs
    that overlap times the sum of the others. The sum over all such parts is the numerator of recall and precision.
    """
    key_chain = {mention: index for index, chain in enumerate(key) for mention in chain}
    response_chain = {mention: index for index, chain in enumerate(response) for mention in chain}
    parts: dict[tuple[int, int], list[float]] = defaultdict(list)
    for gold, predicted in align(key_chain, response_chain).items():
        parts[key_chain[gold], response_chain[predicted]].append(overlap(gold, predicted))
    common = math.fsum(tree_weight(overlaps) for overlaps in parts.values())
    return LinkScores(common, links(key), common, links(response))


def tree_weight(overlaps: Sequence[float]) -> float:
    """The weight of the best spanning tree over mentions with these overlaps."""
    greatest = max(overlaps)
    return greatest * (math.fsum(overlaps) - greatest)
