"""Aligns the mentions of key and response one to one by the greatest total overlap (task 4)."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from are2007.mentions import Mention
from are2007.overlap import overlap

DENSE = 4_000_000
"""Cells of a matrix up to which a group is solved as a matrix."""

Candidate = tuple[Mention, Mention]
Edge = tuple[int, int, float]


def align(key: Collection[Mention], response: Collection[Mention]) -> dict[Mention, Mention]:
    """Mention of the key → mention of the response; only overlapping ones are aligned.

    Mentions with the same boundaries are aligned first, which never lowers the total, because 1 - overlap is a metric;
    of equal totals it is the one with exact boundaries. The others are solved in groups that do not touch each other.
    """
    exact = set(key) & set(response)
    alignment = {mention: mention for mention in exact}
    candidates = list(_overlapping(sorted(set(key) - exact), sorted(set(response) - exact)))
    for group in _groups(candidates):
        alignment.update(_best_assignment(group))
    return alignment


def _overlapping(key: Sequence[Mention], response: Sequence[Mention]) -> Iterator[Candidate]:
    """All pairs of a key and a response mention that share a token, by one sweep over the text."""
    sides = sorted([(mention, 0) for mention in key] + [(mention, 1) for mention in response])
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


def _best_assignment(group: Sequence[Candidate]) -> dict[Mention, Mention]:
    """The one-to-one choice of candidates with the greatest total overlap."""
    if len(group) == 1:
        return dict(group)
    key = sorted({mention for mention, _ in group})
    response = sorted({mention for _, mention in group})
    row = {mention: index for index, mention in enumerate(key)}
    column = {mention: index for index, mention in enumerate(response)}
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
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    costs = [2 - weight for _, _, weight in edges] + [2.0] * rows
    from_rows = [i for i, _, _ in edges] + list(range(rows))
    to_columns = [j for _, j, _ in edges] + list(range(columns, columns + rows))
    graph = csr_array((costs, (from_rows, to_columns)), shape=(rows, columns + rows))
    for i, j in zip(*min_weight_full_bipartite_matching(graph), strict=True):
        if j < columns:
            yield int(i), int(j)
