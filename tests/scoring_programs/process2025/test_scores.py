"""The scores by hand, and the whole program."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import strategies as st

from process2025 import classification, regression
from process2025.reference import ProcessReference
from process2025.submission import CLASSES, ModelAnswers, ProcessSubmission
from tests.scoring_programs.framed import score
from tests.scoring_programs.process2025 import gold
from tests.scoring_programs.process2025.gold import GOLD, NAME, answers

KEYS = ("macro_f1", "macro_precision", "macro_recall")
labels = st.sampled_from(CLASSES)


def entered(task: str, columns: Mapping[int, Sequence[object]]) -> ProcessSubmission:
    """A submission whose models of the given numbers are scored; the others are absent."""
    models = [
        ModelAnswers(
            number, f"Model{number}", "scored" if number in columns else "absent", list(columns.get(number, []))
        )
        for number in (1, 2, 3)
    ]
    return ProcessSubmission({task: models}, frozenset([task]))


def test_macro_f1_is_the_mean_of_the_classes_f1_not_a_harmonic_mean() -> None:
    """Golds HC HC MCI Dementia, predicted HC MCI MCI MCI.

    HC: P 1, R 1/2, F 2/3. MCI: P 1/3, R 1, F 1/2. Dementia: 0, 0, 0. Means: P 4/9, R 1/2, F 7/18;
    the harmonic mean of 4/9 and 1/2 would be 8/17.
    """
    reference = ProcessReference(list("abcd"), ["HC", "HC", "MCI", "Dementia"], [])
    metrics = classification.score(reference, entered("classification", {1: ["HC", "MCI", "MCI", "MCI"]}), {}).metrics
    assert [metrics[key].value for key in KEYS] == pytest.approx([7 / 18, 4 / 9, 1 / 2])


def test_of_equal_models_the_first_is_the_best() -> None:
    reference = ProcessReference(list("ab"), ["HC", "MCI"], [])
    metrics = classification.score(
        reference, entered("classification", {2: ["HC", "HC"], 3: ["MCI", "MCI"]}), {}
    ).metrics
    assert [metrics[f"model{number}_macro_f1"].status for number in (1, 2, 3)] == ["absent", "scored", "scored"]
    assert metrics["classification_best_model"].value == 2
    reference = ProcessReference(list("ab"), [], [20, 24])
    metrics = regression.score(reference, entered("regression", {2: [22, 24], 3: [20, 26]}), {}).metrics
    assert [metrics[f"model{number}_rmse"].status for number in (1, 2, 3)] == ["absent", "scored", "scored"]
    assert metrics["regression_best_model"].value == 2


def test_details_tell_what_became_of_every_model(tmp_path: Path) -> None:
    speakers = [f"s{i}" for i in range(12)]
    scores = [*(20 + i % 3 for i in range(11)), ""]
    truth = "Test_ID,Class,MMSE\n" + "".join(f"{s},{CLASSES[i % 3]},{scores[i]}\n" for i, s in enumerate(speakers))
    right = [CLASSES[i % 3] for i in range(12)]
    columns: dict[str, Sequence[object]] = {
        "Model1_class": ["HC"] * 12,
        "Model2_class": right,
        "Model3_class": [*right[:11], ""],
        "Model2_MMSE": [21] * 12,
        "Model3_MMSE": [22] * 12,
    }
    outcome = score(tmp_path, "process2025", {"gold.csv": truth}, {NAME: answers(columns, speakers)})
    assert outcome.scores == {
        "macro_f1": 1.0,
        "macro_precision": 1.0,
        "macro_recall": 1.0,
        "rmse": pytest.approx(math.sqrt(7 / 11)),
    }
    details = outcome.details["tasks"]
    assert details["classification"]["model1_macro_f1"] == {
        "value": pytest.approx(1 / 6),
        "rows": 12,
        "status": "scored",
    }
    assert details["classification"]["model2_macro_f1"] == {"value": 1.0, "rows": 12, "status": "scored"}
    assert details["classification"]["model3_macro_f1"] == {"value": None, "rows": None, "status": "ignored"}
    assert details["regression"]["model1_rmse"] == {"value": None, "rows": None, "status": "absent"}
    assert details["regression"]["model2_rmse"] == {
        "value": pytest.approx(math.sqrt(7 / 11)),
        "rows": 11,
        "status": "scored",
    }
    assert details["regression"]["model3_rmse"]["value"] == pytest.approx(math.sqrt(20 / 11))
    assert any("Model3_class" in warning for warning in outcome.details["warnings"])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"Model1_class": gold.CLASSES, "Model1_MMSE": gold.SCORES},
            {"macro_f1": 1.0, "macro_precision": 1.0, "macro_recall": 1.0, "rmse": 0.0},
        ),
        (
            {"Model1_class": gold.CLASSES},
            {"macro_f1": 1.0, "macro_precision": 1.0, "macro_recall": 1.0, "rmse": 1000.0},
        ),
        ({"Model3_MMSE": gold.SCORES}, {"macro_f1": 0.0, "macro_precision": 0.0, "macro_recall": 0.0, "rmse": 0.0}),
        ({"Model1_MMSE": (-1000, -1000, -1000, 0)}, {"rmse": 1000.0}),  # beyond the worst: the worst on the board
    ],
)
def test_perfect_answers_and_worst_values(
    tmp_path: Path, columns: dict[str, Sequence[object]], expected: dict[str, float]
) -> None:
    outcome = score(tmp_path, "process2025", {"gold.csv": GOLD}, {NAME: answers(columns)})
    assert {key: outcome.scores[key] for key in expected} == expected
