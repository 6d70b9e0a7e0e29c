"""The declaration, synthetic data and baselines of CLARITY, and the whole way through the built zip."""

from functools import partial
from pathlib import Path

import pytest

from gen_bundle.ground.resources import resource
from tests.bundles.replayed import columns_of, files_of, pages, rows_of
from tests.scoring_programs.framed import score

NAME = "clarity2026"
FOLDER = resource("bundles") / NAME
SECRET = {"annotator_id", "annotator1", "annotator2", "annotator3", "clarity_label", "evasion_label"}


rows = partial(rows_of, NAME)


def test_the_columns_are_the_tasks_metrics() -> None:
    assert list(columns_of(NAME).items()) == [
        ("clarity_macro_f1", ("desc", 0)),
        ("evasion_macro_f1", ("desc", 0)),
        ("evasion_majority_macro_f1", ("desc", 0)),
        ("evasion_accuracy", ("desc", 0)),
    ]


def test_the_development_phase_has_single_labels_and_the_evaluation_phase_annotators() -> None:
    for row in rows("dev", "gold.csv"):
        assert row["evasion_label"]
        assert not row["annotator1"]
    test = rows("test", "gold.csv")
    assert not any(row["evasion_label"] for row in test)
    assert any(row["annotator1"] != row["annotator2"] for row in test)
    assert any(row["annotator3"] == "N/A" for row in test)
    assert any(not row["annotator1"] for row in test)
    assert {row["clarity_label"] for row in test} == {"Clear Reply", "Ambivalent", "Clear Non-Reply"}


@pytest.mark.parametrize("phase", ["dev", "test"])
def test_participants_get_the_questions_without_labels(phase: str) -> None:
    gold, public = rows(phase, "gold.csv"), rows("public", phase, "questions.csv")
    assert public == [{name: cell for name, cell in row.items() if name not in SECRET} for row in gold]
    train = {row["index"] for row in rows("public", "train.csv")}
    assert train.isdisjoint(row["index"] for row in gold)


def test_an_oracle_is_perfect_against_any_annotator(tmp_path: Path) -> None:
    """It says what the first annotator said, and what nobody can score where none said anything."""
    lines = ["id,clarity_pred,evasion_pred"]
    lines += [f"{r['index']},{r['clarity_label']},{r['annotator1']}" for r in rows("test", "gold.csv")]
    gold = files_of(FOLDER / "data" / "test")
    scores = score(tmp_path, NAME, gold, {"oracle.csv": "\n".join(lines)}).scores
    assert scores["clarity_macro_f1"] == scores["evasion_macro_f1"] == scores["evasion_accuracy"] == 1.0
    assert scores["evasion_majority_macro_f1"] < 1.0


@pytest.mark.parametrize("layout", ["joint", "tasks", "separate"])
def test_pages(layout: str) -> None:
    rendered = pages(NAME, layout)
    evaluation = rendered["pages/evaluation.md"]
    choices = [" ".join(text.split()) for text in evaluation.split("**Choice:**")[1:]]
    assert len(choices) == (7 if layout == "separate" else 8)
    assert any("the **accuracy** is the share" in choice for choice in choices)
    assert any("column to sort by, which is Clarity macro F1." in choice for choice in choices) == (
        layout != "separate"
    )
    for label in (
        "Claims ignorance, Clarification, Declining to answer",
        "Clear Reply, Ambivalent Reply, Clear Non-Reply",
    ):
        assert label in " ".join(evaluation.split())
    assert ("The line format" in rendered["pages/submission.md"]) == (layout == "separate")
