"""The bounds hold for every gold: all golds of small tasks show no more values than the bounds count."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import pytest

from research.disclosure.bounds import Gold, Shown, doubles, numbers, parts
from research.disclosure.golds import label_f1, macro_f1, matrix
from research.disclosure.oracle import Setting
from scoring_kit.metrics.classification import f1_scores, score_labels

LABELS = ["a", "b", "c"]


def _matrix(predicted: Sequence[str], gold: Sequence[str]) -> tuple[int, ...]:
    return tuple(count for line in score_labels(predicted, gold, LABELS).confusion for count in line[:-1])


def _macro(predicted: Sequence[str], gold: Sequence[str]) -> float:
    return score_labels(predicted, gold, LABELS).macro_f1


def _f1(predicted: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    return tuple(f1_scores(predicted, gold, LABELS))


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize(
    ("shown", "figure"),
    [(macro_f1("macro F1", 6, 3), _macro), (label_f1("F1", 6, 3), _f1), (matrix("matrix", 6, 3), _matrix)],
)
def test_all_golds_together_show_no_more_values_than_are_counted(
    shown: Shown, figure: Callable[[Sequence[str], Sequence[str]], object], files: int
) -> None:
    submissions = ["abcabc", "aabbcc", "aaabbb", "aaaaaa", "abc---"]
    golds = list(product(LABELS, repeat=6))
    seen = [list(map(partial(figure, one), golds)) for one in submissions]
    for chosen in product(seen, repeat=files):
        assert math.log2(len(set(zip(*chosen, strict=True)))) <= shown.bits([None] * files)


def test_digits_count_where_they_are_fewer_than_the_counts() -> None:
    rate = Shown("rate", counts=numbers(1000))
    assert rate.bits([None]) == pytest.approx(math.log2(1001))
    assert rate.bits([2]) == pytest.approx(math.log2(101))
    assert rate.bits([2, None]) == pytest.approx(math.log2(101) + math.log2(1001))


def test_an_exact_score_has_as_many_values_as_there_are_doubles() -> None:
    assert Shown("error", (81.0,)).bits([None]) == doubles(81.0)
    # doubles of an exponent are 2^52, and there are 1023 exponents below that of 1, the subnormal numbers among them
    assert doubles(1.0, -1.0) == pytest.approx(53 + math.log2(1023))
    assert doubles(1.0) == pytest.approx(52 + math.log2(1023))


def test_figures_that_rise_with_one_number_show_few_combinations() -> None:
    both = Shown("f1 and recall", (1.0, 1.0), counts=doubles(30.0), rising=True)
    seen = {(round(total / 30_000, 1), round(total / 50_000, 1)) for total in range(30_001)}
    assert math.log2(len(seen)) <= both.bits([1]) < 2 * math.log2(11)


def test_a_label_is_one_of_the_ways_to_divide_items() -> None:
    assert parts(6, 3) == math.log2(len({tuple(map(gold.count, LABELS)) for gold in product(LABELS, repeat=6)}))


def test_items_are_decided_while_bits_are_left() -> None:
    gold = Gold("task, items", [3.0, 1.0, 2.0], submissions=1, baselines=0, board_decimals=4)
    assert [gold.at_most(bits) for bits in (0.5, 1.0, 3.5, 6.0)] == [0, 1, 2, "no bound"]


def test_all_that_a_phase_shows_is_counted_once() -> None:
    column = Shown("column", counts=1.0)
    gold = Gold("task, items", [1.0] * 9, 3, baselines=2, board_decimals=4, board=[column], full=[column, column])
    assert gold.bits(Setting("headline")) == pytest.approx(16 + 3 + 2)
    assert gold.bits(Setting("full")) == pytest.approx(16 + 3 + 3 + 2)
