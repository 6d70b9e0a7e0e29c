"""Tasks 1 and 3: success rate and overlaps, with the 1 / 0.5 / 0 rule, by hand and against plain re-tellings."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from are2007 import task1, task3
from are2007.answers import AnswerKey, Mention, overlap
from are2007.reference import AreReference
from are2007.submission import AreSubmission
from are2007.task1 import credit_by_pronoun


def entity(index: int) -> Mention:
    return index, index + 1


N, P, Q, R, X, M = map(entity, range(6))
"""A chain of the noun phrase N and the pronouns P, Q and R; X and M are in another chain."""
KEY = AnswerKey([[N, P, Q, R], [X, M]], [P, Q, R])


@pytest.mark.parametrize(
    ("answers", "scores"),
    [
        # nothing answered; the wrong chain; oneself
        ({}, [0, 0, 0]),
        ({P: X, Q: M, R: R}, [0, 0, 0]),
        # the noun phrase itself
        ({P: N, Q: N, R: N}, [1, 1, 1]),
        # through pronouns that lead to it, earlier or later in the text
        ({P: N, Q: P, R: Q}, [1, 1, 1]),
        ({P: R, Q: P, R: N}, [1, 1, 1]),
        # through a pronoun that is unresolved, or wrongly resolved
        ({Q: P, R: Q}, [0, 0.5, 0.5]),
        ({P: X, Q: P, R: Q}, [0, 0.5, 0.5]),
        ({P: P, Q: P, R: N}, [0, 0.5, 1]),
        # in a circle, and into a circle
        ({P: Q, Q: P, R: N}, [0.5, 0.5, 1]),
        ({P: Q, Q: P, R: P}, [0.5, 0.5, 0.5]),
        ({P: Q, Q: R, R: P}, [0.5, 0.5, 0.5]),
    ],
)
def test_scores_of_pronouns_follow_the_systems_own_links(answers: dict[Mention, Mention], scores: list[float]) -> None:
    assert task1.pronoun_scores(KEY, answers) == scores


def test_in_a_chain_of_pronouns_alone_one_gets_half() -> None:
    assert task1.pronoun_scores(AnswerKey([[P, Q]], [P, Q]), {P: Q, Q: P}) == [0.5, 0.5]
    assert task1.pronoun_scores(AnswerKey([[P]], [P]), {P: P}) == [0]


def test_a_pronoun_that_is_not_to_be_resolved_counts_as_no_pronoun() -> None:
    """Pronominal is what `<anaphoric_pronouns>` lists."""
    assert task1.pronoun_scores(AnswerKey([[P, Q]], [Q]), {Q: P}) == [1]


def test_success_rate_pools_all_texts() -> None:
    """Text a: 1 + 0.5 + 0.5 of 3 pronouns; text b: 0 of 1. (1 + 0.5 + 0.5 + 0) / 4."""
    keys = {"a": KEY, "b": AnswerKey([[N, P]], [P])}
    answers = {"a": {P: N, Q: R, R: Q}, "b": {}}
    result = task1.score(
        AreReference({}, {"task1": keys}), AreSubmission(frozenset({"task1"}), {"task1": answers}, {}), {}
    )
    assert {name: metric.value for name, metric in result.metrics.items()} == {
        "task1_success_rate": 0.5,
        "answered": 3,
        "scored_1": 1,
        "scored_half": 2,
    }


def test_without_pronouns_the_rate_is_0() -> None:
    keys = {"a": AnswerKey([[N, X]], [])}
    gold = AreReference({}, {"task1": keys, "task3": keys})
    answers = AreSubmission(frozenset(), {"task1": {"a": {}}, "task3": {"a": {}}}, {})
    assert task1.score(gold, answers, {}).metrics["task1_success_rate"].value == 0
    for name in ("task3_f1", "task3_recall", "task3_precision"):
        assert task3.score(gold, answers, {}).metrics[name].value == 0


@pytest.mark.slow
def test_a_very_long_chain_of_links_is_followed() -> None:
    links = {number: number - 1 for number in range(1, 50_001)}
    assert set(credit_by_pronoun(links, links.keys()).values()) == {1}
    assert set(credit_by_pronoun(links, {0, *links}).values()) == {0.5}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # the task page: "the government" in "the government of Zair", 2 of 4 words
        ((10, 14), (10, 12), 0.5),
        # the same words at different places
        ((10, 14), (20, 24), 0.0),
        ((10, 14), (14, 16), 0.0),
        ((10, 14), (10, 14), 1.0),
        ((10, 14), (12, 18), 2 / 6),
        ((12, 13), (10, 14), 0.25),
    ],
)
def test_overlap_counts_tokens_at_their_places(one: Mention, other: Mention, expected: float) -> None:
    assert overlap(one, other) == overlap(other, one) == expected


GOVERNMENT, IT, THEY, ZAIR = (0, 4), (6, 7), (9, 10), (3, 4)
SPANS = AnswerKey([[GOVERNMENT, IT, THEY], [ZAIR, (12, 13)]], [IT, THEY])


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        ({}, 0),
        ({IT: GOVERNMENT, THEY: GOVERNMENT}, 2),
        ({IT: (0, 2), THEY: GOVERNMENT}, 1.5),
        # through a pronoun that leads to the noun phrase: the overlap with the pronoun counts
        ({IT: GOVERNMENT, THEY: IT}, 2),
        ({IT: (0, 2), THEY: IT}, 1.5),
        ({IT: (0, 2), THEY: (5, 8)}, 0.5 + 1 / 3),
        # through a pronoun that does not
        ({THEY: IT}, 0.5),
        ({IT: (20, 22), THEY: (6, 8)}, 0.5 * 0.5),
        ({IT: THEY, THEY: IT}, 0.5 + 0.5),
        # another chain; the pronoun itself; a pronoun that is not found exactly, or is none
        ({IT: (12, 13)}, 0),
        ({IT: IT}, 0),
        ({(6, 8): GOVERNMENT, (20, 21): GOVERNMENT}, 0),
        # over the noun phrase and the pronoun itself, which is left out
        ({IT: (0, 8)}, 4 / 8),
        # over two elements: the better one
        ({THEY: (0, 8)}, 4 / 8),
        # equal overlaps, 1/7 each: the noun phrase, not the pronoun, although it comes later
        ({THEY: (3, 10)}, 1 / 7),
    ],
)
def test_task_3_takes_the_best_overlap_in_the_chain(answers: dict[Mention, Mention], score: float) -> None:
    assert task3.text_score(SPANS, answers) == pytest.approx(score)


def test_of_equal_overlaps_a_noun_phrase_comes_before_a_pronoun() -> None:
    """(4, 6) covers half of each, the pronoun (4, 5) stands first; without the noun phrase it would be 0.5 · 0.5."""
    key = AnswerKey([[(4, 5), (5, 6), (9, 10)]], [(4, 5), (9, 10)])
    assert task3.text_score(key, {(9, 10): (4, 6)}) == 0.5
    assert task3.text_score(AnswerKey([[(4, 5), (9, 10)]], [(4, 5), (9, 10)]), {(9, 10): (4, 6)}) == 0.25


def test_task_3_divides_by_attempts_and_by_the_gold() -> None:
    """Text a scores 0.5 of 2 gold pronouns with 3 attempts, text b 1 of 1 with 1: 1.5 of 3, and of 4 attempts."""
    keys = {"a": SPANS, "b": AnswerKey([[GOVERNMENT, IT]], [IT])}
    answers = {"a": {IT: (0, 2), (20, 21): GOVERNMENT, (22, 23): GOVERNMENT}, "b": {IT: GOVERNMENT}}
    result = task3.score(
        AreReference({}, {"task3": keys}), AreSubmission(frozenset({"task3"}), {"task3": answers}, {}), {}
    )
    recall, precision = 1.5 / 3, 1.5 / 4
    assert {name: metric.value for name, metric in result.metrics.items()} == {
        "task3_f1": pytest.approx(2 * recall * precision / (recall + precision)),
        "task3_recall": recall,
        "task3_precision": precision,
        "attempted": 4,
        "pronouns_found": 2,
    }


def test_task_3_does_not_depend_on_the_order_of_the_answers() -> None:
    """1/3 + 1/3 + … is the same sum in every order."""
    chain = [(10 * i, 10 * i + i % 7 + 1) for i in range(60)]
    key = AnswerKey([chain], chain[1:])
    answers = {pronoun: (start, end + 2) for (start, end), pronoun in itertools.pairwise(chain)}
    backwards = dict(reversed(answers.items()))
    assert task3.text_score(key, answers) == task3.text_score(key, backwards)


SPAN = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda span: (span[0], span[0] + span[1]))


@pytest.mark.slow
@given(
    spans=st.lists(SPAN, min_size=2, max_size=8, unique=True),
    split=st.integers(0, 8),
    is_pronoun=st.lists(st.booleans(), min_size=8, max_size=8),
    answers=st.dictionaries(SPAN, SPAN, max_size=6),
)
def test_task_3_as_it_is_told(
    spans: list[Mention], split: int, is_pronoun: list[bool], answers: dict[Mention, Mention]
) -> None:
    """Every pronoun looks at all elements of its chain, counting shared tokens as sets."""
    chains = [chain for chain in (spans[:split], spans[split:]) if chain]
    pronouns = [span for span, flag in zip(spans, is_pronoun, strict=False) if flag]
    key = AnswerKey(chains, pronouns)

    def shared(one: Mention, other: Mention) -> float:
        tokens, others = set(range(*one)), set(range(*other))
        return len(tokens & others) / max(len(tokens), len(others))

    def best(pronoun: Mention) -> Mention | None:
        (chain,) = (chain for chain in chains if pronoun in chain)
        found = [(shared(answers[pronoun], element), element) for element in chain if element != pronoun]
        found = [pair for pair in found if pair[0] > 0]
        return min(found, key=lambda pair: (-pair[0], pair[1] in pronouns, pair[1]))[1] if found else None

    links = {pronoun: best(pronoun) for pronoun in pronouns if pronoun in answers}
    total = 0.0
    for pronoun, element in links.items():
        if element is None:
            continue
        end: Mention | None = element
        for _ in range(10):
            end = links.get(end) if end in pronouns and end is not None else end
        total += shared(answers[pronoun], element) * (1 if end is not None and end not in pronouns else 0.5)
    assert task3.text_score(key, answers) == pytest.approx(total)
