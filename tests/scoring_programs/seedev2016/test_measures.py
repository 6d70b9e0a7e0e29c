"""Measures, computed by hand; alternate scores; what is worth 0 and what is undefined."""

from itertools import chain

import pytest

from scoring_kit.results import CountBars
from seedev2016.evaluation import Measures, evaluate, measure, pair_events
from seedev2016.reference import TaskGold
from seedev2016.schema import EVENT_TYPES
from seedev2016.standoff import Event, by_key
from tests.scoring_programs.seedev2016.cases import events

A = "Binding Functional_Molecule:T2 Molecule:T1"
B = "Binding Functional_Molecule:T3 Molecule:T1"
C = "Localization Functional_Molecule:T2 Target_Tissue:T4"
D = "Interaction Agent:T2 Target:T1"

GOLD = events("full", f"{A} Tissue:T4 Hormone:T10", B, C)
PREDICTED = events("full", f"{A} Tissue:T4", B, B, D, "M1\tNegation Annotation:E2")
"""Pairs: A with S_p = 1/2; B with the second B (S_p = 1), which is not negated. M = 1.5.

Deletion: C. Insertions: the negated B, and D. S = (1 - 1/2) + 0.
"""


def counted_in(gold: list[Event], predicted: list[Event]) -> Measures:
    """The measures of one document."""
    return measure(len(gold), len(predicted), chain(*pair_events(by_key(gold), predicted).values()))


def test_measures_by_hand() -> None:
    counted = counted_in(GOLD, PREDICTED)
    assert counted == Measures(gold=3, predicted=4, pairs=2, matches=1, similarity=1.5)
    assert counted.recall == pytest.approx(1.5 / 3)
    assert counted.precision == pytest.approx(1.5 / 4)
    assert counted.f1 == pytest.approx(2 * (1.5 / 3) * (1.5 / 4) / (1.5 / 3 + 1.5 / 4))
    assert (counted.substitutions, counted.deletions, counted.insertions) == (0.5, 1, 2)
    assert counted.slot_error_rate == pytest.approx((0.5 + 1 + 2) / 3)
    assert counted.slot_error_rate == pytest.approx((3 + 4 - 1.5 - 2) / 3)


def test_events_of_other_documents_are_never_paired() -> None:
    metrics = evaluate("full", ("f1",), TaskGold.of({"D": GOLD, "E": []}), {"D": [], "E": GOLD}).metrics
    assert [metrics[name].value for name in ("full_f1", "deletions", "insertions")] == [0, len(GOLD), len(GOLD)]


def test_a_task_gives_columns_counts_alternate_scores_and_figures() -> None:
    result = evaluate("full", ("f1", "recall", "precision", "ser"), TaskGold.of({"D": GOLD}), {"D": PREDICTED})
    kinds = {name.split(".")[1] for name in result.metrics if "." in name}
    assert kinds == set(EVENT_TYPES["full"])
    there = ("Binding", "Interaction", "Localization")
    assert all(result.metrics[f"f1.{kind}"].rows == 0 for kind in kinds.difference(there))
    values = {
        name: metric.value for name, metric in result.metrics.items() if "." not in name or name.split(".")[1] in there
    }
    assert values == {
        "full_f1": pytest.approx(3 / 7),
        "full_recall": 0.5,
        "full_precision": 0.375,
        "full_ser": pytest.approx(3.5 / 3),
        "gold_events": 3,
        "predicted_events": 4,
        "matches": 1,
        "partial_matches": 1,
        "similarity": 1.5,
        "substitutions": 0.5,
        "deletions": 1,
        "insertions": 2,
        "f1.Binding": pytest.approx(3 / 5),
        "recall.Binding": 0.75,
        "precision.Binding": 0.5,
        "ser.Binding": pytest.approx((0.5 + 0 + 1) / 2),
        "f1.Interaction": 0.0,
        "recall.Interaction": 0.0,
        "precision.Interaction": 0.0,
        "ser.Interaction": None,
        "f1.Localization": 0.0,
        "recall.Localization": 0.0,
        "precision.Localization": 0.0,
        "ser.Localization": 1.0,
    }
    (counts,) = result.figures
    assert isinstance(counts, CountBars)
    assert counts.rows == [("Binding", 1.5, 1.5, 0.5), ("Interaction", 0.0, 1.0, 0.0), ("Localization", 0.0, 0.0, 1.0)]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ([], [], (0.0, 0.0, 0.0, None)),
        ([], PREDICTED, (0.0, 0.0, 0.0, None)),
        (GOLD, [], (0.0, 0.0, 0.0, 1.0)),
        (GOLD, GOLD, (1.0, 1.0, 1.0, 0.0)),
    ],
)
def test_without_gold_or_predictions(
    gold: list[Event], predicted: list[Event], expected: tuple[float | None, ...]
) -> None:
    counted = counted_in(gold, predicted)
    assert (counted.recall, counted.precision, counted.f1, counted.slot_error_rate) == expected
