"""Task 4: find all mentions and sort them into chains; MUC scores with overlaps in place of common pairs."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product, repeat
from typing import Any

from are2007.answers import Mention, overlap
from are2007.muc import LinkScores, chain_numbers, links, muc_metrics, muc_result
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from scoring_kit.results import TaskResult

DENSE = 4_000_000
"""Cells of a matrix up to which a group is solved as a matrix."""

FEW_STEPS = 1_000
"""Of the search for the best alignments of a group, before an assignment says how good these are."""

MOST_STEPS = 20_000
MOST_MENTIONS = 200
"""Bounds of the search for equally good alignments of a group: its steps, and the mentions of the key."""

SAME = 1e-9
"""Totals that differ by less are equal: they are sums of the same fractions in different orders."""

Alignment = dict[Mention, Mention]
"""Mention of the key → mention of the response."""

Candidate = tuple[Mention, Mention]
Edge = tuple[int, int, float]


def alignments(key: Collection[Mention], response: Collection[Mention]) -> Iterator[list[Alignment]]:
    """Yield the alignments with the greatest total overlap, for one group of overlapping mentions after the other.

    Groups do not touch each other, so one alignment of each, in any combination, makes one of all mentions. All
    mentions that both sides have, and which overlap no other, are one group.

    Yields:
        Every alignment of a group that has the greatest total; one of them alone where there is too much to search.
    """
    key, response = set(key), set(response)
    alone = []
    for near in _stretches(key | response):
        if len(near) == 1:
            alone += near
            continue
        near_key, near_response = sorted(key.intersection(near)), sorted(response.intersection(near))
        fewer = min(len(near_key), len(near_response))
        if fewer == 1:
            yield _best_pairs(list(product(near_key, near_response)))
        if fewer < 2:
            continue
        for group in _groups(list(_overlapping(near_key, near_response))):
            golds, answers = zip(*group, strict=True)
            gold, predicted = set(golds), set(answers)
            exact = gold & predicted
            if len(exact) == min(len(gold), len(predicted)):
                yield [dict(zip(exact, exact, strict=True))]  # it overlaps by 1, which no other alignment reaches
            else:
                yield _best(group, len(exact), FEW_STEPS) or _best_by_assignment(group, exact)
    if both := key.intersection(response, alone):
        yield [dict(zip(both, both, strict=True))]


def _best_pairs(pairs: Sequence[Candidate]) -> list[Alignment]:
    """Every pair with the greatest overlap, each an alignment of its own: they share a mention."""
    overlaps = {pair: overlap(*pair) for pair in pairs}
    least = max(overlaps.values()) - SAME
    return [{one: other} for (one, other), own in overlaps.items() if own >= least]


def _stretches(mentions: Iterable[Mention]) -> Iterator[list[Mention]]:
    """The mentions, those together that cover a stretch of the text without a gap."""
    near: list[Mention] = []
    reached = 0
    for mention in sorted(mentions):
        if mention[0] >= reached and near:
            yield near
            near = []
        near.append(mention)
        if mention[1] > reached:
            reached = mention[1]
    yield near


def _best_by_assignment(group: Sequence[Candidate], exact: set[Mention]) -> list[Alignment]:
    """The best alignments of a group, or one of them where there is too much to search."""
    # Some best alignment has all exact pairs, because 1 - overlap is a metric; there may be others without them.
    one = dict(zip(exact, exact, strict=True))
    for rest in _groups([one for one in group if exact.isdisjoint(one)]):
        one.update(_best_assignment(rest))
    return _best(group, math.fsum(overlap(*pair) for pair in one.items()), MOST_STEPS) or [one]


def _overlapping(key: Sequence[Mention], response: Sequence[Mention]) -> Iterator[Candidate]:
    """All pairs of a key and a response mention that share a token, by one sweep over the text."""
    sides = sorted([*zip(key, repeat(0)), *zip(response, repeat(1))])
    reached: tuple[list[Mention], list[Mention]] = ([], [])
    for mention, side in sides:
        other = 1 - side
        reached[other][:] = [earlier for earlier in reached[other] if earlier[1] > mention[0]]
        for earlier in reached[other]:
            yield (mention, earlier) if side == 0 else (earlier, mention)
        reached[side].append(mention)


def _groups(candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """The candidates, those together that share a mention, directly or through others."""
    of_mention: dict[tuple[int, Mention], list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        for side, mention in enumerate(candidate):
            of_mention[side, mention].append(index)
    seen = [False] * len(candidates)
    for first in range(len(candidates)):
        if seen[first]:
            continue
        seen[first] = True
        group = [first]
        for index in group:  # grows while it is gone through
            for side, mention in enumerate(candidates[index]):
                for neighbour in of_mention.pop((side, mention), ()):
                    if not seen[neighbour]:
                        seen[neighbour] = True
                        group.append(neighbour)
        yield [candidates[index] for index in sorted(group)]


def _best(group: Sequence[Candidate], reachable: float, most_steps: int) -> list[Alignment]:
    """Every one-to-one choice of candidates with the greatest total overlap; none where that is too much to search.

    `reachable` is a total that some choice reaches: the greater it is, the less is searched.
    """
    partners: dict[Mention, list[tuple[Mention, float]]] = defaultdict(list)
    for gold, predicted in group:
        partners[gold].append((predicted, overlap(gold, predicted)))
    key = sorted(partners)
    if len(key) > MOST_MENTIONS:
        return []
    within_reach = [0.0]  # the most that the mentions from each one on can add, were all partners free
    for mention in reversed(key):
        within_reach.insert(0, within_reach[0] + max(weight for _, weight in partners[mention]))
    found: list[tuple[float, Alignment]] = []
    chosen: Alignment = {}  # the other way round: of the response → of the key
    greatest = reachable
    steps = 0

    def extend(index: int, reached: float) -> None:
        nonlocal greatest, steps
        steps += 1
        if steps > most_steps or reached + within_reach[index] < greatest - SAME:
            return
        if index == len(key):
            greatest = max(greatest, reached)
            found.append((reached, dict(zip(chosen.values(), chosen, strict=True))))
            return
        for predicted, weight in partners[key[index]]:
            if predicted not in chosen:
                chosen[predicted] = key[index]
                extend(index + 1, reached + weight)
                del chosen[predicted]
        extend(index + 1, reached)

    extend(0, 0.0)
    if steps > most_steps:
        return []
    return [alignment for total, alignment in found if total >= greatest - SAME]


def _best_assignment(group: Sequence[Candidate]) -> dict[Mention, Mention]:
    """The one-to-one choice of candidates with the greatest total overlap."""
    if len(group) == 1:
        return dict(group)
    golds, answers = zip(*group, strict=True)
    key, response = sorted(set(golds)), sorted(set(answers))
    row = dict(zip(key, range(len(key)), strict=True))
    column = dict(zip(response, range(len(response)), strict=True))
    edges = [(row[gold], column[predicted], overlap(gold, predicted)) for gold, predicted in group]
    solve = _solve_dense if len(key) * len(response) <= DENSE else _solve_sparse
    return {key[i]: response[j] for i, j in solve(edges, len(key), len(response))}


def _solve_dense(edges: Sequence[Edge], rows: int, columns: int) -> Iterator[tuple[int, int]]:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    weights = np.zeros((rows, columns))
    for i, j, weight in edges:
        weights[i, j] = weight
    for i, j in zip(*linear_sum_assignment(weights, maximize=True), strict=True):
        if weights[i, j] > 0:
            yield int(i), int(j)


def _solve_sparse(edges: Sequence[Edge], rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """The same where a matrix would not fit into memory.

    Every row also has a column of its own at the cost of no overlap, so that it need not be assigned to a mention; the
    costs are 2 - overlap, because the solver takes no zeros.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    own = zip(range(rows), range(columns, columns + rows), repeat(0.0))
    from_rows, to_columns, weights = zip(*edges, *own, strict=True)
    graph = csr_array((2 - np.array(weights), (from_rows, to_columns)), shape=(rows, columns + rows))
    for i, j in zip(*min_weight_full_bipartite_matching(graph), strict=True):
        if j < columns:
            yield int(i), int(j)


MOST_COMBINATIONS = 1_000
"""Combinations of equally good alignments up to which all are tried."""

Part = tuple[int, int]
"""A key chain and a response chain, by their numbers: the mentions that both have."""

AlignedMention = tuple[Part, float]
"""The part that an aligned mention belongs to, and its overlap."""


def link_weight(mentions: Iterable[AlignedMention]) -> float:
    """Return the weight of the links that hold every part together."""
    parts: dict[Part, list[float]] = defaultdict(list)
    for part, weight in mentions:
        parts[part].append(weight)
    return math.fsum(tree_weight(value) for value in parts.values())


def tree_weight(overlaps: Sequence[float]) -> float:
    """Return the weight of the best spanning tree over mentions with these overlaps.

    A link weighs the product of its two overlaps, so the best tree is a star around the greatest one.
    """
    greatest = max(overlaps)
    return greatest * (math.fsum(overlaps) - greatest)


def greatest_link_weight(
    settled: Sequence[AlignedMention], choices: Sequence[Sequence[Sequence[AlignedMention]]]
) -> float:
    """Return the greatest weight of the links when one alternative of each choice joins the settled mentions.

    Beyond `MOST_COMBINATIONS` one choice is changed at a time, in order, for as long as that gains anything.
    """
    open_parts: set[Part] = set()
    for mentions in chain.from_iterable(choices):
        open_parts.update(part for part, _ in mentions)
    apart, shared = [], []
    for mention in settled:
        if mention[0] in open_parts:
            shared.append(mention)
        else:
            apart.append(mention)
    fixed = link_weight(apart)

    def weight(chosen: Iterable[Sequence[AlignedMention]]) -> float:
        return fixed + link_weight(chain(shared, *chosen))

    if math.prod(len(choice) for choice in choices) <= MOST_COMBINATIONS:
        return max(weight(one) for one in product(*choices))
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
    key_chain, response_chain = chain_numbers(key), chain_numbers(response)

    def aligned(pairs: Alignment) -> list[AlignedMention]:
        return [((key_chain[one], response_chain[other]), overlap(one, other)) for one, other in pairs.items()]

    settled: list[AlignedMention] = []
    choices: list[list[tuple[AlignedMention, ...]]] = []
    for alternatives in alignments(key_chain, response_chain):
        if len(alternatives) == 1:
            settled += aligned(alternatives[0])
            continue
        different = {tuple(sorted(aligned(pairs))) for pairs in alternatives}
        if len(different) == 1:
            settled.extend(*different)
        else:
            choices.append(sorted(different))
    common = greatest_link_weight(settled, choices) if choices else link_weight(settled)
    return LinkScores(common, links(key), common, links(response))
