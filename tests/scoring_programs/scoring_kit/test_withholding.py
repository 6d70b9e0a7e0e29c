"""No part of a figure stands on too few items, nor can a withheld part be computed from the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring_kit.results import Bar, ConfusionMatrix, CountBars, Metric
from scoring_kit.results_page.withholding import OTHERS, open_bars, open_counts, open_matrix, open_metrics

MIN = 5
counts = st.integers(0, 12)


def test_a_rarely_predicted_label_gives_no_gold_label_away() -> None:
    # One item was predicted to be C: its column would say what its gold label is.
    shown = open_matrix(ConfusionMatrix("m", "ABC", "ABC", [[20, 6, 0], [3, 9, 1], [0, 2, 30]]), MIN)
    assert shown is not None
    assert shown.predicted_labels == ["A", "B", "C"]
    shown = open_matrix(ConfusionMatrix("m", "AB", "ABC", [[20, 6, 0], [3, 9, 1]]), MIN)
    assert shown is not None
    assert shown.predicted_labels == ["A", OTHERS]
    assert shown.counts == [(20, 6), (3, 10)]


def test_a_rare_gold_label_stands_with_the_next_rarest() -> None:
    shown = open_matrix(ConfusionMatrix("m", "ABC", "AB", [[10, 10], [6, 6], [1, 1]]), MIN)
    assert shown is not None
    assert (shown.gold_labels, shown.counts) == (["A", OTHERS], [(10, 10), (7, 7)])


def test_a_matrix_with_all_gold_labels_in_one_row_is_not_shown() -> None:
    """The row would be the numbers of predictions, which participants know."""
    assert open_matrix(ConfusionMatrix("m", "AB", "AB", [[20, 6], [1, 1]]), MIN) is None
    assert open_matrix(ConfusionMatrix("m", "AB", "AB", [[20, 6], [4, 1]]), MIN) is not None


def test_a_lone_small_bar_takes_a_second_one_with_it() -> None:
    bars = [Bar("large", 0.5, 50), Bar("small", 0.1, 1), Bar("middle", 0.9, 7)]
    assert [bar.label for bar in open_bars(bars, MIN)] == ["large"]
    together = [*bars, Bar("also small", 0.2, 4)]
    assert [bar.label for bar in open_bars(together, MIN)] == ["large", "middle"]


def test_a_metric_that_follows_from_its_family_is_withheld_too() -> None:
    metrics = {
        "macro_f1": Metric(0.5, 60),
        "accuracy": Metric(0.5, 60),
        "rare": Metric(0.5, 3),
        "f1: A": Metric(0.9, 60, items=40),
        "f1: B": Metric(0.4, 60, items=18),
        "f1: C": Metric(0.2, 60, items=2),
    }
    # Three times macro F1 less two of the three would be the third.
    assert open_metrics(metrics, {"macro_f1"}, MIN) == {"accuracy", "f1: A"}


def test_a_column_under_another_name_is_shown() -> None:
    error = Metric(0.5, 2)
    metrics = {"mse_serious": error, "column": error, "own": Metric(0.5, 2)}
    assert open_metrics(metrics, {"column"}, MIN) == {"mse_serious"}


def test_rare_types_stand_together() -> None:
    shown = open_counts(CountBars("c", [("A", 6, 1, 1), ("B", 1, 0, 0), ("C", 2, 2, 3), ("D", 0, 0, 0)]), MIN)
    assert shown is not None
    assert list(shown.rows) == [("A", 6, 1, 1), (OTHERS, 3, 2, 3)]


@pytest.mark.slow
@given(st.lists(st.integers(0, 30), max_size=8))
def test_withheld_bars_hold_enough_items_together(items: list[int]) -> None:
    bars = [Bar(str(i), 0.5, n) for i, n in enumerate(items)]
    shown = open_bars(bars, MIN)
    assert all(bar.items >= MIN for bar in shown)
    assert shown == [bar for bar in bars if bar in shown]
    withheld = sum(items) - sum(bar.items for bar in shown)
    assert withheld == 0 or withheld >= MIN or not shown


@pytest.mark.slow
@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(counts, min_size=n, max_size=n), min_size=1, max_size=4)))
def test_a_matrix_keeps_its_items_and_shows_no_small_line(rows: list[list[int]]) -> None:
    matrix = ConfusionMatrix("m", [f"g{i}" for i in range(len(rows))], [f"p{i}" for i in range(len(rows[0]))], rows)
    shown = open_matrix(matrix, MIN)
    if shown is not None:
        assert sum(map(sum, shown.counts)) == sum(map(sum, rows))
        lines = [*shown.counts, *zip(*shown.counts, strict=True)]
        assert all(sum(line) == 0 or sum(line) >= MIN for line in lines)


@pytest.mark.slow
@given(st.lists(st.tuples(counts, counts, counts), max_size=8))
def test_counts_keep_their_sums_and_show_no_small_type(rows: list[tuple[int, int, int]]) -> None:
    shown = open_counts(CountBars("c", [(str(i), *row) for i, row in enumerate(rows)]), MIN)
    if shown is not None:
        sums = [sum(count) for count in zip(*(row[1:] for row in shown.rows), strict=True)]
        assert sums == [sum(count) for count in zip(*rows, strict=True)]
        for _, tp, fp, fn in shown.rows:
            assert tp + fp == 0 or tp + fp >= MIN
            assert tp + fn == 0 or tp + fn >= MIN
