"""What scores give away is at least what is said: the attacks are made, and decide as much."""

import itertools
import operator
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    jaccard_score,
    mean_squared_error,
    precision_score,
    recall_score,
)

from declared.disclosure import COUNTS, DIGITS, AttackedColumn, _possible, disclosed
from declared.metrics import definitions
from declared.plan import plans
from tests.scoring_programs.declared.declaring import csv_of, one_table, read_gold
from tests.sweeps import sweep

Score = Callable[[Sequence[str], Sequence[str]], float]
MACRO: dict[str, Any] = {"average": "macro", "zero_division": 0}
SCORES: dict[str, Score] = {
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
    "f1": lambda gold, answers: f1_score(gold, answers, **MACRO),
    "precision": lambda gold, answers: precision_score(gold, answers, **MACRO),
    "recall": lambda gold, answers: recall_score(gold, answers, **MACRO),
    "jaccard": lambda gold, answers: jaccard_score(gold, answers, **MACRO),
}


@pytest.mark.parametrize(
    ("one", "submissions", "decimals", "decided"),
    [
        (AttackedColumn("k", "brier", 500, 2), 5, None, 215),
        (AttackedColumn("k", "brier", 500, 2), 5, 10, 120),
        (AttackedColumn("k", "brier", 500, 2), 5, 4, 20),
        (AttackedColumn("k", "brier", 20, 2), 5, None, 20),  # no more than there are
        (AttackedColumn("k", "accuracy", 500, 2), 5, None, 5),  # one counts the labels, four tell five items apart
        (AttackedColumn("k", "accuracy", 500, 2), 1, None, 0),
        (AttackedColumn("k", "accuracy", 500, 2), 8, 4, 12),
        (AttackedColumn("k", "accuracy", 500, 2), 8, 2, 0),  # a step of the score is many items
        (AttackedColumn("k", "f1", 500, 3), 5, 4, 4),
        (AttackedColumn("k", "f1", 500, 4), 5, 6, 2),
        (AttackedColumn("k", "f1", 500, 2, sets=True), 5, None, 4),
        (AttackedColumn("k", "mse", 500, 1001), 5, None, 16),
        (AttackedColumn("k", "mse", 500, 1001), 5, 2, 16),  # answers without bounds make decimals useless
        (AttackedColumn("k", "mse", 500, 1001, 100.0), 5, 2, 4),
        (AttackedColumn("k", "rmse", 500, 1001, 100.0), 5, 2, 0),
        (AttackedColumn("k", "rmse", 500, 1001), 5, 2, 0),  # and gain nothing under a root
        (AttackedColumn("k", "accuracy", 500, 1), 100, None, 0),  # all gold is equal: nothing to learn
    ],
)
def test_how_many_items_are_decided(one: AttackedColumn, submissions: int, decimals: int | None, decided: int) -> None:
    assert one.decided(submissions, decimals) == decided


@given(st.integers(1, 10), st.integers(2, 300), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_digits_of_a_brier_score_are_labels(decimals: int, items: int, rng: random.Random) -> None:
    gold = [0, 1, *(rng.randint(0, 1) for _ in range(items - 2))]
    decided = AttackedColumn("k", "brier", items, 2).decided(1, decimals)
    answers = [0.5] * items
    for place in range(decided):
        answers[place] = (1 - 2.0 ** -(place + 1)) / 2
    score = round(brier_score_loss(gold, answers), decimals)
    rest = score * items - 0.25 * (items - decided) - sum(answer**2 for answer in answers[:decided])
    digits = round(rest * 2**decided)
    assert [digits >> (decided - 1 - place) & 1 for place in range(decided)] == gold[:decided]


@pytest.mark.parametrize("metric", ["mse", "rmse"])
@given(decimals=st.integers(1, 8), items=st.integers(2, 100), rng=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_digits_of_a_squared_error_are_numbers(metric: str, decimals: int, items: int, rng: random.Random) -> None:
    """Of whole numbers from 0 to 9, answers from 0 to 9: the difference of two errors is a sum of weighed gold."""
    gold = [float(rng.randint(0, 9)) for _ in range(items)]
    decided = AttackedColumn("k", metric, items, 10, 9.0).decided(2, decimals)
    answers = [0.0] * items
    for place in range(decided):
        answers[place] = 9.0 * 10.0**-place
    power = 2 if metric == "rmse" else 1
    errors = [
        round(mean_squared_error(gold, one) ** (1 / power), decimals) ** power for one in ([0.0] * items, answers)
    ]
    weighed = (sum(answer**2 for answer in answers) - (errors[1] - errors[0]) * items) / 18
    whole = round(weighed * 10 ** max(0, decided - 1))
    assert [whole // 10 ** (decided - 1 - place) % 10 for place in range(decided)] == [int(g) for g in gold[:decided]]


def learnt_one_by_one(
    shown: Callable[[Sequence[str]], float], formula: Score, labels: Sequence[str], items: int, left: int, step: float
) -> dict[int, str]:
    """Return item → label: all items get the first label, then one item at a time another.

    Args:
        shown: the score of answers, as participants see it.
        formula: the metric of gold and answers, which everybody knows.
        labels: which the gold has, in all.
        items: how many there are.
        left: how many submissions may be made.
        step: of the last decimal that is shown.
    """
    first, *others = labels
    base = [first] * items
    without = shown(base)
    golds = [[*[first] * n, *itertools.islice(itertools.cycle(others), items - n)] for n in range(1, items)]
    like = min(golds, key=lambda gold: abs(formula(gold, base) - without))  # as many have the first label
    known: dict[int, str] = {}
    left -= 1
    for item in range(items):
        candidates = list(others)
        while left and item not in known:
            left -= 1
            asked = candidates.pop(0)
            score = shown([*base[:item], asked, *base[item + 1 :]])
            another = [place for place, label in enumerate(like) if label not in (first, asked)]
            was_another = [formula(like, [*base[:at], asked, *base[at + 1 :]]) for at in another[:1]]
            if score < without:
                known[item] = first
            elif not any(abs(score - one) <= step / 2 for one in was_another):
                known[item] = asked
            elif len(candidates) == 1:
                known[item] = candidates[0]
    return known


@pytest.mark.slow
@pytest.mark.parametrize("metric", sweep(SCORES, ["accuracy", "f1"]))
@given(
    labels=st.integers(2, 5),
    items=st.integers(10, 40),
    decimals=st.integers(2, 9),
    rng=st.randoms(use_true_random=False),
)
@settings(max_examples=10)
def test_labels_are_learnt_one_by_one(metric: str, labels: int, items: int, decimals: int, rng: random.Random) -> None:
    names = "abcde"[:labels]
    gold = [*names, *names, *(rng.choice(names) for _ in range(items - 2 * labels))]
    rng.shuffle(gold)
    formula, limit, step = SCORES[metric], 3 * labels, 10.0**-decimals

    def shown(answers: Sequence[str]) -> float:
        return round(float(formula(gold, answers)), decimals)

    decided = AttackedColumn("k", metric, items, labels, sets=True).decided(limit, decimals)
    if labels > 2:
        decided = AttackedColumn("k", metric, items, labels).decided(limit, decimals)
    if decided:
        known = learnt_one_by_one(shown, formula, names, items, limit, step * 1.01)
        assert len(known) >= decided
        assert {item: gold[item] for item in known} == known


def test_three_weighings_tell_four_items_apart() -> None:
    assert AttackedColumn("k", "accuracy", 4, 2).decided(4, None) == 4
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
    assert {*DIGITS, *COUNTS} <= set(definitions())


def test_of_the_metrics_of_a_gold_column_the_one_that_tells_most_counts(tmp_path: Path) -> None:
    options = one_table([{"field": "x", "type": "number"}], {"root": "rmse", "square": "mse", "rank": "spearman"})
    gold = read_gold(options, csv_of("id,x", [[i, i % 2] for i in range(20)]), tmp_path)
    found = disclosed(plans(options)["t"], gold, 5, 2)
    assert found == {"items": 20, "decided": 20, "columns": ["square"], "unmeasured": ["rank"]}
