"""Task A.2 against tables worked by hand."""

import pytest

from clpsych2025 import a2
from scoring_kit.results import BarChart
from scoring_kit.results_page.withholding import open_metrics
from tests.scoring_programs.clpsych2025.cases import AS_RUN, OPTIONS, gold_scores, scores

THIRD = 1 / 3

# gold by timeline, predictions, then MSE of all, serious, impaired and minimal posts, macro F1, abstentions
PUBLISHED = {
    "all exact": ([[2, 6, 9]], [[2, 6, 9]], (0, 0, 0, 0, 1.0, 0)),
    "nulls get the largest error of the timeline": ([[2, 6, 9]], [[4, None, None]], (4, 4, 4, 4, THIRD, 2)),
    "known weakness: one exact score and nulls": ([[2, 6, 9]], [[None, 6, None]], (0, 0, 0, 0, THIRD, 2)),
    "only nulls: the error is 9": ([[2, 6], [10]], [[None, None], [None]], (81, 81, 81, 81, 0.0, 3)),
    "the largest error is looked for in each timeline": (
        [[2, 2], [6, 6]],
        [[5, None], [7, None]],
        # t0: 9 and 9, t1: 1 and 1
        (5, 9, 1, None, 0.0, 2),
    ),
    "fractions keep their value and have a class": ([[4, 5]], [[4.9, 6.5]], (1.53, 0.81, 2.25, None, THIRD, 0)),
    "the penalty is not truncated": ([[2, 6]], [[4.9, None]], (8.41, 8.41, 8.41, None, THIRD, 1)),
    "posts without gold are ignored": ([[None, 6]], [[1, 6]], (0, None, 0, None, THIRD, 0)),
    "a prediction without gold is no answer": ([[None, 6]], [[1, None]], (81, None, 81, None, 0.0, 1)),
    "a timeline without gold is left out": ([[None], [6]], [[1], [8]], (4, None, 4, None, 0.0, 0)),
    "timelines weigh the same, F1 is pooled": ([[2, 6], [9]], [[3, 6], [7]], (2.25, 1, 0, 4, 1.0, 0)),
    "bins: the timelines that have one": ([[1, 1, 8], [4]], [[2, 3, 8], [4]], (5 / 6, 1.25, None, 0, 2 * THIRD, 0)),
    "an abstention is no false positive": ([[8, 8, 8, 8]], [[8, 8, None, None]], (0, None, None, 0, 2 / 9, 2)),
}  # fmt: skip


@pytest.mark.parametrize(("gold", "predicted", "expected"), PUBLISHED.values(), ids=PUBLISHED)
def test_published(
    gold: list[list[int | None]], predicted: list[list[float | None]], expected: tuple[float | None, ...]
) -> None:
    metrics = a2.score(gold_scores(*gold), scores(*predicted), OPTIONS).metrics
    names = ("a2_mse", "a2_mse_serious", "a2_mse_impaired", "a2_mse_minimal", "a2_macro_f1", "a2_abstentions")
    assert tuple(metrics) == names
    assert [metrics[name].value for name in names] == pytest.approx(expected, abs=1e-12)


# gold, predictions, then mse, f1_macro, f1_class_0 to f1_class_2
AS_RUN_CASES = {
    "perfect with three classes": ([[2, 6, 9]], [[2, 6, 9]], (0, 0.75, 1, 1, 1)),
    "perfect with two classes": ([[2, 9]], [[2, 9]], (0, 0.5, 1, 0, 1)),
    "perfect with one class": ([[9, 8]], [[9, 8]], (0, 0.25, 0, 0, 1)),
    "the penalty is truncated": ([[2, 6]], [[4.9, None]], ((8.41 + 4) / 2, 0, 0, 0, 0)),
    "the penalty is truncated towards zero": ([[2, 6]], [[-0.9, None]], ((2.9**2 + 4) / 2, 0.25, 1, 0, 0)),
    "between the ranges is not a class": ([[4, 5]], [[4.5, 6.5]], (1.25, 0, 0, 0, 0)),
    "within a range fractions count": ([[3, 6]], [[3.5, 5.5]], (0.25, 0.5, 1, 1, 0)),
    "what truncates to 0 is serious": ([[2, 8]], [[0.9, -0.9]], ((1.21 + 79.21) / 2, 1 / 6, 2 / 3, 0, 0)),
    "far outside is not a class": ([[2, 8]], [[-3, 11]], ((25 + 9) / 2, 0, 0, 0, 0)),
    "only nulls": ([[2, 6]], [[None, None]], (81, 0, 0, 0, 0)),
    "predictions without gold are no answer": ([[None, 6]], [[3, None]], (81, 0, 0, 0, 0)),
    "penalised values may exceed the scale": ([[10, 1]], [[None, 10]], (81, 0, 0, 0, 0)),
    "one exact score and nulls": ([[2, 6, 9]], [[None, 6, None]], (0, 0.25, 0, 1, 0)),
    "the mean over timelines": ([[2, 6], [9]], [[3, 6], [7]], (2.25, 0.375, 0.5, 0.5, 0.5)),
}  # fmt: skip


@pytest.mark.parametrize(("gold", "predicted", "expected"), AS_RUN_CASES.values(), ids=AS_RUN_CASES)
def test_as_run(gold: list[list[int | None]], predicted: list[list[float | None]], expected: tuple[float, ...]) -> None:
    metrics = a2.score(gold_scores(*gold), scores(*predicted), AS_RUN).metrics
    names = ("mse", "f1_macro", "f1_class_0", "f1_class_1", "f1_class_2")
    assert [metrics[name].value for name in names] == pytest.approx(expected, abs=1e-12)
    assert metrics["a2_mse"] == metrics["mse"]
    assert metrics["a2_macro_f1"] == metrics["f1_macro"]


def test_rows_say_over_what_a_metric_is_averaged() -> None:
    gold, predicted = gold_scores([1, 1, 8], [4, None], [None]), scores([2, 3, 8], [4, 4], [1])
    metrics = a2.score(gold, predicted, AS_RUN).metrics
    counts = {name: (metric.rows, metric.items) for name, metric in metrics.items() if not name.startswith("a2_")}
    assert counts == {
        "mse": (2, 4),
        "mse_serious": (2, 3),
        "mse_impaired": (0, 0),
        "mse_minimal": (1, 1),
        "f1_macro": (2, 4),
        "f1_class_0": (2, 1),
        "f1_class_1": (2, 1),
        "f1_class_2": (2, 1),
    }


F1_ITEMS = {
    "one prediction of each class": ([[2, 6, 9] * 5], [[2, 6, 9] + [None] * 12], 1),
    "one gold of a class": ([[2] * 9 + [6]], [[2] * 5 + [6] * 5], 1),
    "many of each": ([[2, 6, 9] * 5], [[2, 6, 9] * 5], 5),
    "a class that is never predicted tells nothing": ([[2, 6, 9] * 5], [[9] * 15], 5),
    "only abstentions tell nothing": ([[2, 6, 9] * 5], [[None] * 15], 15),
    "what is no class tells nothing of one": ([[2, 6, 9] * 5], [[2] * 14 + [4.5]], 5),
}  # fmt: skip


@pytest.mark.parametrize(("gold", "predicted", "items"), F1_ITEMS.values(), ids=F1_ITEMS)
def test_the_f1_of_classes_is_withheld_where_it_would_give_single_labels_away(
    gold: list[list[int | None]], predicted: list[list[float | None]], items: int
) -> None:
    metrics = a2.score(gold_scores(*gold), scores(*predicted), AS_RUN).metrics
    names = {"f1_class_0", "f1_class_1", "f1_class_2"}
    assert {metrics[name].items for name in names} == {items}
    board = {name for name in metrics if name.startswith("a2_")}
    assert open_metrics(metrics, board, 5) & names == (names if items >= 5 else set())


def test_abstentions_are_said_beside_the_score() -> None:
    result = a2.score(gold_scores([2, 6, 9, None]), scores([None, 6, None, None]), OPTIONS)
    assert result.metrics["a2_abstentions"].value == 3
    assert result.warnings == [
        "3 of the 4 posts carry no well-being score. Where such a post is scored, its error is derived from the "
        "timeline's other answers, so a low error beside many abstentions says little."
    ]
    assert not a2.score(gold_scores([2, None]), scores([2, 3]), OPTIONS).warnings


@pytest.mark.parametrize("options", [OPTIONS, AS_RUN], ids=["published", "as-run"])
def test_abstentions_do_not_tell_which_posts_have_a_gold_score(options: dict[str, object]) -> None:
    answer = scores([2, None, 9])
    with_gold, without = (a2.score(gold_scores([2, gold, 9]), answer, options) for gold in (9, None))
    assert with_gold.warnings == without.warnings
    assert with_gold.metrics["a2_abstentions"] == without.metrics["a2_abstentions"]


def test_the_figure_counts_the_posts_behind_each_bar() -> None:
    (figure,) = a2.score(gold_scores([2, 6], [9]), scores([3, 6], [7]), OPTIONS).figures
    assert isinstance(figure, BarChart)
    assert [(bar.label, bar.value, bar.items) for bar in figure.bars] == [("t0", 0.5, 2), ("t1", 4.0, 1)]
    assert figure.better == "lower"
