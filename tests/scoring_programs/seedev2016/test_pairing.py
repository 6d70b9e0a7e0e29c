"""S_p and the optimal pairing, against worked examples and against other ways to compute them."""

import itertools
from collections.abc import Sequence
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedev2016.evaluation import WHOLE, pair_events, similarity
from seedev2016.standoff import Event, by_key
from tests.scoring_programs.seedev2016.cases import events

BINDING = "Binding Functional_Molecule:T2 Molecule:T1"


def s_p(gold: str, predicted: str) -> Fraction:
    """S_p of two events of SeeDev-full given by their optional arguments."""
    (one, other) = events("full", f"{BINDING} {gold}", f"{BINDING} {predicted}")
    return Fraction(similarity(one, other), WHOLE)


@pytest.mark.parametrize(
    ("predicted", "errors", "union"),
    [
        ("Tissue:T4 Organism_Genotype:T6", 0, 2),
        ("Tissue:T4", 1, 2),
        ("", 2, 2),
        ("Tissue:T4 Organism_Genotype:T6 Developmental_Stage:T8", 1, 3),
        ("Tissue:T5 Organism_Genotype:T6", 2, 3),
        ("Tissue:T5 Organism_Genotype:T6 Hormone:T10", 3, 4),
        ("Tissue:T4 Hormone:T10", 2, 3),
    ],
)
def test_worked_examples_of_optional_arguments(predicted: str, errors: int, union: int) -> None:
    assert s_p("Tissue:T4 Organism_Genotype:T6", predicted) == 1 - Fraction(errors, union)


def test_without_optional_arguments_s_opt_is_1() -> None:
    assert s_p("", "") == 1


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"), [(True, True, 1), (False, False, 1), (True, False, 0.5), (False, True, 0.5)]
)
def test_a_negation_on_one_side_halves(gold: bool, predicted: bool, expected: float) -> None:
    (event,) = events("full", BINDING)
    assert similarity(event._replace(negated=gold), event._replace(negated=predicted)) == expected * WHOLE


def test_negation_and_optional_arguments_multiply() -> None:
    one, other = events(
        "full", f"{BINDING} Tissue:T4", f"{BINDING} Tissue:T4 Hormone:T10", "M1\tNegation Annotation:E1"
    )
    assert Fraction(similarity(one, other), WHOLE) == Fraction(1, 2) * Fraction(1, 2)


def test_prerequisites_are_equal_when_type_and_mandatory_arguments_are() -> None:
    regulation = "Regulation_Of_Expression Agent:T2 DNA:T1"
    lines = [
        f"{BINDING} Tissue:T4",
        BINDING,
        f"{regulation} Prerequisite_Event:E1",
        f"{regulation} Prerequisite_Event:E2",
    ]
    lines += ["Interaction Agent:T2 Target:T1", f"{regulation} Prerequisite_Event:E5"]
    _, _, one, same, _, other = events("full", *lines, "M1\tNegation Annotation:E2")
    assert similarity(one, same) == WHOLE
    assert similarity(one, other) == 0


def paired(task: str, gold: Sequence[str], predicted: Sequence[str]) -> list[float]:
    """S_p of each pair; events beyond these have no partner."""
    return [s_p / WHOLE for s_p in similarities(events(task, *gold), events(task, *predicted))]


def similarities(gold: Sequence[Event], predicted: Sequence[Event]) -> list[int]:
    """S_p of each pair, the least first."""
    return sorted(itertools.chain(*pair_events(by_key(gold), predicted).values()))


@pytest.mark.parametrize(
    ("task", "kind", "gold", "predicted", "matches"),
    [
        ("binary", "Is_Linked_To", "Agent1:T1 Agent2:T2", "Agent1:T2 Agent2:T1", True),
        ("binary", "Has_Sequence_Identical_To", "Element1:T1 Element2:T2", "Element1:T2 Element2:T1", True),
        ("binary", "Is_Functionally_Equivalent_To", "Element1:T1 Element2:T2", "Element2:T1 Element1:T2", True),
        ("full", "Sequence_Identity", "Element1:T1 Element2:T2", "Element1:T2 Element2:T1", True),
        ("full", "Functional_Equivalence", "Element1:T1 Element2:T2", "Element1:T2 Element2:T1", True),
        # not commutative
        ("binary", "Interacts_With", "Agent:T1 Target:T2", "Agent:T2 Target:T1", False),
        ("binary", "Binds_To", "Functional_Molecule:T2 Molecule:T3", "Functional_Molecule:T3 Molecule:T2", False),
        # commutative: a multiset, not a set, of two
        ("binary", "Is_Linked_To", "Agent1:T1 Agent2:T1", "Agent1:T1 Agent2:T2", False),
        # role order on the line does not matter, the filler of each role does
        ("binary", "Regulates_Expression", "Agent:T2 DNA:T1", "DNA:T1 Agent:T2", True),
        ("binary", "Regulates_Expression", "Agent:T2 DNA:T1", "Agent:T3 DNA:T1", False),
    ],
)
def test_arguments_decide_what_can_be_paired(task: str, kind: str, gold: str, predicted: str, matches: bool) -> None:
    assert paired(task, [f"{kind} {gold}"], [f"{kind} {predicted}"]) == ([1] if matches else [])


def test_an_event_of_another_type_is_not_paired() -> None:
    """With the same arguments; the two commutative types do not match each other."""
    assert paired("binary", ["Interacts_With Agent:T2 Target:T1"], ["Is_Linked_To Agent1:T2 Agent2:T1"]) == []
    elements = "Element1:T1 Element2:T2"
    alike = ([f"{kind} {elements}"] for kind in ("Has_Sequence_Identical_To", "Is_Functionally_Equivalent_To"))
    assert paired("binary", *alike) == []


def test_of_repeated_predictions_one_matches() -> None:
    event = "Binds_To Functional_Molecule:T2 Molecule:T1"
    assert paired("binary", [event], [event] * 3) == [1]
    assert paired("binary", [event] * 2, [event] * 3) == [1, 1]
    assert paired("binary", [event] * 3, [event]) == [1]


def test_no_pair_has_a_similarity_of_zero() -> None:
    assert paired("full", [f"{BINDING} Tissue:T4"], [BINDING]) == []


def test_the_best_pairing_is_not_that_of_mutual_best_matches() -> None:
    """With a = Tissue:T4, b = Organism_Genotype:T6, c = Hormone:T10.

    The best match of {a,b} and of {a,b,c} is the other (2/3), but then {a} and {b} have none (0): 2/3.
    {a,b} with {b} (1/2) and {a} with {a,b,c} (1/3) is more: 5/6.
    """
    a, b, c = "Tissue:T4", "Organism_Genotype:T6", "Hormone:T10"
    gold, predicted = [f"{BINDING} {a} {b}", f"{BINDING} {a}"], [f"{BINDING} {a} {b} {c}", f"{BINDING} {b}"]
    assert paired("full", gold, predicted) == [pytest.approx(1 / 3), 0.5]


def test_of_equal_sums_the_one_with_more_pairs_is_taken() -> None:
    """{a,b}-{a,b} and nothing for {a} and {b}: 1; {a,b}-{a} and {b}-{a,b}: 1/2 + 1/2 = 1, with two pairs."""
    a, b = "Tissue:T4", "Organism_Genotype:T6"
    gold, predicted = [f"{BINDING} {a} {b}", f"{BINDING} {b}"], [f"{BINDING} {a} {b}", f"{BINDING} {a}"]
    assert paired("full", gold, predicted) == [0.5, 0.5]


OPTIONS = st.frozensets(
    st.tuples(st.sampled_from(["Tissue", "Hormone", "Organism_Genotype"]), st.sampled_from(["T4", "T5"])), max_size=3
)
EVENTS = st.lists(
    st.builds(
        Event,
        st.sampled_from(["Binding", "Functional_Equivalence"]),
        st.sampled_from(["T1", "T2"]),
        st.sampled_from(["T1", "T2"]),
        OPTIONS,
        st.booleans(),
    ),
    max_size=5,
)


def slow_s_p(gold: Event, predicted: Event) -> Fraction:
    """S_p written role by role, as the task's page tells it."""
    same = (gold.first, gold.second) == (predicted.first, predicted.second)
    exchanged = (gold.first, gold.second) == (predicted.second, predicted.first)
    if gold.type != predicted.type or not (same or (exchanged and gold.type == "Functional_Equivalence")):
        return Fraction(0)
    s_neg = Fraction(1) if gold.negated == predicted.negated else Fraction(1, 2)
    missing = [argument for argument in gold.optional if argument not in predicted.optional]
    extra = [argument for argument in predicted.optional if argument not in gold.optional]
    union = {*gold.optional, *predicted.optional}
    s_opt = 1 - Fraction(len(missing) + len(extra), len(union)) if union else Fraction(1)
    return s_neg * s_opt


def summary(gold: Sequence[Event], predicted: Sequence[Event]) -> tuple[Fraction, int]:
    found = similarities(gold, predicted)
    assert all(found)
    return Fraction(sum(found), WHOLE), len(found)


@pytest.mark.slow
@settings(max_examples=50)
@given(gold=st.lists(EVENTS, min_size=3, max_size=3), predicted=st.lists(EVENTS, min_size=3, max_size=3))
def test_the_pairing_weighs_what_networkx_finds(gold: list[list[Event]], predicted: list[list[Event]]) -> None:
    """Maximum weight matching by blossoms, with whole numbers in which the number of pairs breaks ties."""
    one, other = list(itertools.chain(*gold)), list(itertools.chain(*predicted))
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    for (i, event), (j, prediction) in itertools.product(enumerate(one), enumerate(other)):
        score = slow_s_p(event, prediction)
        if score:
            graph.add_edge(("gold", i), ("predicted", j), weight=int(score * WHOLE) * 100 + 1)
    weight = sum(graph.edges[edge]["weight"] for edge in nx.max_weight_matching(graph))
    assert summary(one, other) == (Fraction(weight // 100, WHOLE), weight % 100)
