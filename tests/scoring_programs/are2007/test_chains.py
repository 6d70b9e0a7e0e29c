"""Tasks 2 and 4: MUC by hand and by another formulation; overlaps against networkx and enumeration."""

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from are2007 import task2, task4
from are2007.answers import AnswerKey, Mention, overlap
from are2007.muc import muc
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from are2007.task4 import Alignment, alignments, muc_with_overlaps


@pytest.mark.parametrize(
    ("key", "response", "recall", "precision"),
    [
        # Vilain et al. (1995), their worked examples: <A B C D> against <A B> <C D>, and the other way round
        (["ABCD"], ["AB", "CD"], (2, 3), (2, 2)),
        (["AB", "CD"], ["ABCD"], (2, 2), (2, 3)),
        (["ABCD"], ["ABCD"], (3, 3), (3, 3)),
        (["ABCD"], ["AB"], (1, 3), (1, 1)),
        (["AB", "CD"], ["ABC"], (1, 2), (1, 2)),
        (["ABC"], ["AC"], (1, 2), (1, 1)),
        # elements that the response lacks are pieces of their own; one-element chains add nothing
        (["ABC", "D"], ["A", "D"], (0, 2), (0, 0)),
        (["ABC"], [], (0, 2), (0, 0)),
        ([], ["ABC"], (0, 0), (0, 2)),
        # a response with elements of no key chain
        (["AB"], ["ABXY"], (1, 1), (1, 3)),
    ],
)
def test_muc_by_hand(key: list[str], response: list[str], recall: tuple[int, int], precision: tuple[int, int]) -> None:
    scores = muc(key, response)
    assert (scores.recalled, scores.key_links) == recall
    assert (scores.precise, scores.response_links) == precision


def partition(labels: Sequence[int | None]) -> list[list[int]]:
    """Chains of the mentions 0, 1, … by their label; None stands in no chain."""
    chains: dict[int, list[int]] = {}
    for mention, label in enumerate(labels):
        if label is not None:
            chains.setdefault(label, []).append(mention)
    return list(chains.values())


CHAINS = st.lists(st.none() | st.integers(0, 3), max_size=9).map(partition)


@pytest.mark.slow
@settings(max_examples=40)
@given(key=CHAINS, response=CHAINS)
def test_muc_by_counting_intersections(key: list[list[int]], response: list[list[int]]) -> None:
    """Each common part of a key and a response chain gives its size minus 1, on both sides."""
    common = sum(max(len(set(one) & set(other)) - 1, 0) for one in key for other in response)
    scores = muc(key, response)
    assert scores.recalled == scores.precise == common


SPAN = st.tuples(st.integers(0, 10), st.integers(1, 4)).map(lambda span: (span[0], span[0] + span[1]))
SPANS = st.lists(SPAN, max_size=5, unique=True)


def one_to_one(key: Sequence[Mention], response: Sequence[Mention]) -> Iterator[Alignment]:
    """All one-to-one alignments of overlapping mentions."""
    partners = [*response, *[None] * len(key)]
    for chosen in set(itertools.permutations(partners, len(key))):
        pairs = [(one, other) for one, other in zip(key, chosen, strict=True) if other is not None]
        if all(overlap(*pair) for pair in pairs):
            yield dict(pairs)


def total(aligned: Alignment) -> float:
    return sum(overlap(*pair) for pair in aligned.items())


def equally_good(key: Sequence[Mention], response: Sequence[Mention]) -> list[Alignment]:
    """All alignments with the greatest total overlap, by enumeration."""
    every = list(one_to_one(key, response))
    greatest = max(map(total, every))
    return [aligned for aligned in every if total(aligned) > greatest - 1e-9]


def first_alignment(key: Iterable[Mention], response: Iterable[Mention]) -> Alignment:
    """The first alternative of every group, together."""
    return {one: other for group in alignments(set(key), set(response)) for one, other in group[0].items()}


@st.composite
def cut_in_two(draw: st.DrawFn) -> tuple[list[Mention], list[Mention]]:
    """Common mentions, and of each, on either side, one of the parts into which it is cut at a token.

    The overlaps of the two parts with the whole are 1 in sum: as much as that of the whole with itself.
    """
    sides: tuple[set[Mention], set[Mention]] = (set(), set())
    for start, length, left in draw(
        st.lists(st.tuples(st.integers(0, 6), st.integers(2, 5), st.booleans()), min_size=1, max_size=2)
    ):
        cut = start + draw(st.integers(1, length - 1))
        halves = [(start, cut), (cut, start + length)]
        for side, half in zip(sides, halves if left else halves[::-1], strict=True):
            side.update([(start, start + length), half])
    return sorted(sides[0]), sorted(sides[1])


def numerator(key: list[list[Mention]], response: list[list[Mention]], aligned: Alignment) -> float:
    """The best spanning trees of the links of one alignment, by networkx."""
    graph: nx.Graph[Mention] = nx.Graph()
    for (one, other), (two, another) in itertools.combinations(aligned.items(), 2):
        if any({one, two} <= set(chain) for chain in key) and any({other, another} <= set(chain) for chain in response):
            graph.add_edge(one, two, weight=overlap(one, other) * overlap(two, another))
    return float(nx.maximum_spanning_tree(graph).size(weight="weight"))


@pytest.mark.slow
@given(sides=cut_in_two() | st.tuples(SPANS.filter(lambda s: len(s) < 5), SPANS), draw=st.data())
@example(sides=([(0, 2), (0, 4), (6, 7), (9, 10)], [(0, 4), (2, 4), (6, 7), (9, 10)]), draw=None)
def test_of_equal_alignments_the_one_in_the_participants_favour(
    sides: tuple[list[Mention], list[Mention]], draw: st.DataObject | None
) -> None:
    """Every alignment of the greatest total is tried one by one."""
    chains = []
    for side in sides:
        labels = (
            [number % 2 for number in range(len(side))]
            if draw is None
            else [draw.draw(st.integers(0, 1)) for _ in side]
        )
        groups = [
            [mention for mention, label in zip(side, labels, strict=True) if label == wanted] for wanted in (0, 1)
        ]
        chains.append([group for group in groups if group])
    expected = max(numerator(chains[0], chains[1], aligned) for aligned in equally_good(*sides))
    scores = muc_with_overlaps(*chains)
    assert scores.recalled == scores.precise == pytest.approx(expected)


@pytest.mark.parametrize(
    ("key", "response", "common"),
    [
        # "the government of Zair" is cut in two: either half overlaps it by 1/2; the half in its own chain counts
        ([[(0, 4), (6, 7)]], [[(0, 2), (6, 7)], [(2, 4), (9, 10)]], 0.5),
        ([[(0, 4), (6, 7)]], [[(2, 4), (6, 7)], [(0, 2), (9, 10)]], 0.5),
        # the same boundaries in the wrong chain overlap by 1, as much as two halves in the right ones
        ([[(0, 2), (6, 7)], [(0, 4), (9, 10)]], [[(0, 4), (6, 7)], [(2, 4), (9, 10)]], 1.0),
    ],
)
def test_a_tie_by_hand(key: list[list[Mention]], response: list[list[Mention]], common: float) -> None:
    assert muc_with_overlaps(key, response).recalled == pytest.approx(common)


def many_ties(groups: int) -> tuple[list[list[Mention]], list[list[Mention]]]:
    """So many mentions that the response cuts in two; in each the half that comes second is in the right chain."""
    whole = [(10 * i, 10 * i + 4) for i in range(groups)]
    return [whole], [[(start + 2, end) for start, end in whole], [(start, start + 2) for start, _ in whole]]


@pytest.mark.parametrize("groups", [3, 9, 40])
def test_many_ties_are_broken_together(groups: int) -> None:
    """One tree over halves: 1/2 · 1/2 a link. With 40 of them they are too many to try all combinations."""
    assert muc_with_overlaps(*many_ties(groups)).recalled == pytest.approx((groups - 1) / 4)


def test_small_groups_are_aligned_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose import would be half of a build."""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert list(alignments({(0, 4)}, {(0, 2), (2, 4)})) == [[{(0, 4): (0, 2)}, {(0, 4): (2, 4)}]]


@pytest.mark.slow
def test_too_much_to_search_leaves_one_best_alignment() -> None:
    """Every pair overlaps by the same: as many alignments as there are permutations."""
    key = [(0, 30 + i) for i in range(9)]
    response = [(0, 40 + i) for i in range(9)]
    (group,) = alignments(key, response)
    assert len(group) >= 1
    assert all(total(aligned) == pytest.approx(total(group[0])) for aligned in group)
    wide_key, wide_response = [(i, 1000) for i in range(201)], [(i, 1001) for i in range(201)]
    (group,) = alignments(wide_key, wide_response)
    assert len(group) == 1
    assert len(group[0]) == 201


MANY_SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 6)).map(lambda span: (span[0], span[0] + span[1])),
    max_size=30,
    unique=True,
)


@pytest.mark.slow
@given(key=MANY_SPANS, response=MANY_SPANS)
def test_groups_however_large_are_aligned_as_well_as_networkx_does(key: list[Mention], response: list[Mention]) -> None:
    """By search, or, where that is too much, by an assignment, as a matrix or sparsely."""
    graph: nx.Graph[tuple[str, Mention]] = nx.Graph()
    for one, other in itertools.product(key, response):
        if overlap(one, other):
            graph.add_edge(("key", one), ("response", other), weight=overlap(one, other))
    expected = sum(graph.edges[edge]["weight"] for edge in nx.max_weight_matching(graph))
    searched = list(alignments(key, response))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task4, "FEW_STEPS", 0)
        searched_again = list(alignments(key, response))
        patch.setattr(task4, "MOST_STEPS", 0)
        dense = first_alignment(key, response)
        patch.setattr(task4, "DENSE", 0)
        sparse = first_alignment(key, response)
    assert [sorted(map(sorted, map(dict.items, group))) for group in searched] == [
        sorted(map(sorted, map(dict.items, group))) for group in searched_again
    ]
    for found in (first_alignment(key, response), dense, sparse):
        assert total(found) == pytest.approx(expected)
    assert all(overlap(*pair) > 0 for pair in sparse.items())


A, B, C, D = (0, 4), (6, 7), (9, 11), (14, 15)


@pytest.mark.parametrize(
    ("key", "response", "numerator"),
    [
        # exact boundaries: MUC
        ([[A, B, C]], [[A, B, C]], 2),
        ([[A, B, C, D]], [[A, B], [C, D]], 2),
        # A with overlap 1/2, B and C exact: a star around B, 1 · (1/2 + 1)
        ([[A, B, C]], [[(0, 2), B, C]], 1.5),
        # A with 1/2 and C with 2/3: one link of 1/2 · 2/3
        ([[A, C]], [[(0, 2), (9, 12)]], 1 / 3),
        # one exact pronoun: the link weighs the other's overlap, as in task 3
        ([[A, B]], [[(0, 2), B]], 0.5),
        # nothing in common; one mention in common
        ([[A, B]], [[C, D]], 0),
        ([[A, B]], [[A, D]], 0),
        # two parts: {A, B} with 1 · 1, {C, D} with 1/2 · 1
        ([[A, B, C, D]], [[A, B], [(9, 10), D]], 1.5),
        # one response mention over two key mentions is aligned with one of them, the better
        ([[A, B], [C, D]], [[(0, 7), B]], 4 / 7),
    ],
)
def test_task_4_by_hand(key: list[list[Mention]], response: list[list[Mention]], numerator: float) -> None:
    scores = muc_with_overlaps(key, response)
    assert scores.recalled == scores.precise == pytest.approx(numerator)
    assert scores.key_links == sum(len(chain) - 1 for chain in key)
    assert scores.response_links == sum(len(chain) - 1 for chain in response)


@pytest.mark.slow
@settings(max_examples=40)
@given(key=CHAINS, response=CHAINS)
def test_with_exact_boundaries_task_4_is_muc(key: list[list[int]], response: list[list[int]]) -> None:
    spans = [[[(2 * m, 2 * m + 1) for m in chain] for chain in side] for side in (key, response)]
    assert muc_with_overlaps(*spans) == muc(key, response)


def test_links_are_summed_over_texts_before_dividing() -> None:
    keys = {"a": AnswerKey([[A, B, C, D]], []), "b": AnswerKey([[A, B]], [])}
    responses = {"a": [[A, B]], "b": [[A, B], [C, D]]}
    gold = AreReference({}, {"task2": keys, "task4": keys})
    answers = AreSubmission(frozenset(), {}, {"task2": responses, "task4": responses})
    for task, score in (("task2", task2.score), ("task4", task4.score)):
        values = {name: metric.value for name, metric in score(gold, answers, {}).metrics.items()}
        assert values == {
            f"{task}_f1": pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3)),
            f"{task}_recall": 2 / 4,
            f"{task}_precision": 2 / 3,
            "response_links": 3,
            "common_links": 2,
        }
