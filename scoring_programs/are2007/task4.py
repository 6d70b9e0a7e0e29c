"""Task 4: find all mentions and sort them into chains; MUC scores with overlaps in place of common pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from are2007.alignment import alignments
from are2007.mentions import Mention
from are2007.muc import LinkScores, links
from are2007.muc_result import muc_metrics, muc_result
from are2007.overlap import overlap
from are2007.parts import AlignedMention, greatest_link_weight
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
