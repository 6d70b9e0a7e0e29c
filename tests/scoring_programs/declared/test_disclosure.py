"""What scores give away is at least what is said: the attacks are made, and decide as much."""

import itertools
import operator
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, mean_squared_error

from declared.disclosure import COUNTS, COUNTS_BY_LABEL, DIGITS, AttackedColumn, _possible
from declared.metrics import definitions


def column(
    metric: str, items: int = 500, values: int = 2, at_once: int = 1, widest: float | None = None
) -> AttackedColumn:
    return AttackedColumn("key", metric, items, values, at_once, widest)


@pytest.mark.parametrize(
    ("one", "submissions", "decimals", "decided"),
    [
        (column("brier"), 5, None, 215),
        (column("brier"), 5, 10, 120),
        (column("brier"), 5, 4, 20),
        (column("brier", items=20), 5, None, 20),  # no more than there are
        (column("accuracy"), 5, None, 5),  # one submission counts the labels, four tell five items apart
        (column("accuracy"), 1, None, 0),
        (column("accuracy"), 8, 4, 12),
        (column("accuracy"), 8, 2, 7),  # a step of the score is many items
        (column("f1", items=500, values=4, at_once=3), 5, None, 7),
        (column("mse", values=1001), 5, None, 20),
        (column("mse", values=1001), 5, 2, 20),  # answers without bounds make decimals useless
        (column("mse", values=1001, widest=100.0), 5, 2, 5),
        (column("rmse", values=1001, widest=100.0), 5, 2, 0),
        (column("accuracy", values=1), 100, None, 0),  # all gold is equal: nothing to learn
    ],
)
def test_how_many_items_are_decided(one: AttackedColumn, submissions: int, decimals: int | None, decided: int) -> None:
    assert one.decided(submissions, decimals) == decided


@given(st.integers(1, 10), st.integers(2, 300), st.randoms(use_true_random=False))
def test_the_digits_of_a_brier_score_are_labels(decimals: int, items: int, rng: random.Random) -> None:
    gold = [0, 1, *(rng.randint(0, 1) for _ in range(items - 2))]
    decided = column("brier", items).decided(1, decimals)
    answers = [0.5] * items
    for place in range(decided):
        answers[place] = (1 - 2.0 ** -(place + 1)) / 2
    score = round(brier_score_loss(gold, answers), decimals)
    rest = score * items - 0.25 * (items - decided) - sum(answer**2 for answer in answers[:decided])
    digits = round(rest * 2**decided)
    assert [digits >> (decided - 1 - place) & 1 for place in range(decided)] == gold[:decided]


@given(st.integers(1, 8), st.integers(2, 100), st.randoms(use_true_random=False))
def test_the_digits_of_a_squared_error_are_numbers(decimals: int, items: int, rng: random.Random) -> None:
    """Of whole numbers from 0 to 9, answers from 0 to 9: the difference of two errors is a sum of weighed gold."""
    gold = [float(rng.randint(0, 9)) for _ in range(items)]
    decided = column("mse", items, values=10, widest=9.0).decided(1, decimals)
    answers = [0.0] * items
    for place in range(decided):
        answers[place] = 9.0 * 10.0**-place
    errors = [round(mean_squared_error(gold, one), decimals) for one in ([0.0] * items, answers)]
    weighed = (sum(answer**2 for answer in answers) - (errors[1] - errors[0]) * items) / 18
    whole = round(weighed * 10 ** max(0, decided - 1))
    assert [whole // 10 ** (decided - 1 - place) % 10 for place in range(decided)] == [int(g) for g in gold[:decided]]


def test_three_weighings_tell_four_items_apart() -> None:
    assert column("accuracy", items=4).decided(4, None) == 4
    rows = list(itertools.product([0, 1], repeat=4))
    for weighings in itertools.combinations(rows, 3):
        results = {tuple(sum(map(operator.mul, one, gold)) for one in weighings) for gold in rows}
        if len(results) == 16:
            return
    pytest.fail("no three groups of four items tell them apart")


@pytest.mark.parametrize(
    ("values", "number"), [([1.0, 3.0, 5.0], 5), ([0.1, 0.25, 1.0], 91), ([0.0, 100.0, 50.5], 1001), ([2.0, 2.0], 1)]
)
def test_numbers_may_have_every_value_of_their_steps(values: list[float], number: int) -> None:
    assert _possible(values, "number") == number


def test_every_metric_that_is_known_is_a_metric() -> None:
    assert {*DIGITS, *COUNTS, *COUNTS_BY_LABEL} <= set(definitions())
