"""The whole program: scores, details, exit status."""

from pathlib import Path

import pytest

from clarity2026.submission import EVASION_LABELS, TAXONOMY
from tests.scoring_programs.clarity2026.gold import DEV, PERFECT, annotated_gold, strict_gold, table
from tests.scoring_programs.framed import score


def test_a_perfect_file_on_single_labels(tmp_path: Path) -> None:
    """All three clarity labels occur, four of nine evasion labels do."""
    outcome = score(tmp_path, "clarity2026", {"gold.csv": DEV}, {"answers.csv": PERFECT})
    assert outcome.exit_code == 0
    assert outcome.scores == pytest.approx(
        {
            "clarity_macro_f1": 1.0,
            "evasion_macro_f1": 4 / 9,
            "evasion_majority_macro_f1": 4 / 9,
            "evasion_accuracy": 1.0,
        }
    )
    assert "evasion.gold:strict" in outcome.stdout


def test_three_annotators(tmp_path: Path) -> None:
    """Any-match: rows 1 and 2 right, row 3 skipped, row 4 missed (fall-back Deflection).

    F1: General 2·1/(2·1+0) = 1; Implicit 1; Dodging predicted once in vain 0; Deflection 0. Mean over nine: 2/9.
    Majority: golds Dodging, Implicit, –, General; hits: row 2 alone. F1 Implicit = 1, so 1/9. Accuracy 2/3.
    """
    gold = annotated_gold(
        {
            "1": ("Dodging", "General", "Dodging", "Ambivalent"),
            "2": ("Implicit", "implicit", "Explicit", "Ambivalent"),
            "3": ("N/A", "", "", "Clear Reply"),
            "4": ("General", "General", "Deflection", "Ambivalent"),
        }
    )
    answers = "id,evasion_pred\n1,General\n2,Implicit\n3,Explicit\n4,Dodging\n"
    outcome = score(tmp_path, "clarity2026", {"gold.csv": gold}, {"answers.csv": answers})
    assert outcome.scores == pytest.approx(
        {
            # Derived clarity is right everywhere; Clear Non-Reply does not occur: 2/3.
            "clarity_macro_f1": 2 / 3,
            "evasion_macro_f1": 2 / 9,
            "evasion_majority_macro_f1": 1 / 9,
            "evasion_accuracy": 2 / 3,
        }
    )
    details = outcome.details["tasks"]["evasion"]
    assert details["evasion_macro_f1"]["rows"] == 3
    assert "evasion.gold:any-match" in outcome.stdout


def test_details_hold_the_f1_of_each_label_and_the_rows(tmp_path: Path) -> None:
    labels = [EVASION_LABELS[i % 3] for i in range(30)]
    gold = annotated_gold({str(i): (label, "", "", TAXONOMY[label]) for i, label in enumerate(labels)})
    gold += "98,N/A,,,Clear Reply,\n99,,,,Clear Reply,\n"
    predicted = [*(labels[:28]), "Claims ignorance", "?", "Explicit", "Explicit"]
    answers = table(("id", "evasion_pred"), [*zip(map(str, [*range(30), 98, 99]), predicted, strict=True)])
    details = score(tmp_path, "clarity2026", {"gold.csv": gold}, {"answers.csv": answers}).details["tasks"]["evasion"]
    assert details["evasion_rows_scored"] == {"value": 30, "rows": 32}
    assert details["evasion_rows_skipped"] == {"value": 2, "rows": 32}
    # Item 28 is Clarification predicted as Claims ignorance, item 29 is Declining to answer predicted as no label.
    expected = {"Claims ignorance": 20 / 21, "Clarification": 18 / 19, "Declining to answer": 18 / 19}
    for label in EVASION_LABELS:
        for scoring in ("evasion_f1", "evasion_majority_f1"):
            assert details[f"{scoring}: {label}"]["value"] == pytest.approx(expected.get(label, 0.0))


def test_an_f1_that_tells_single_gold_labels_is_withheld(tmp_path: Path) -> None:
    """One prediction of Explicit: its F1 is above 0 just when that one item's gold is Explicit."""
    gold = strict_gold({str(i): ("Clear Reply", "Explicit" if i % 2 else "General") for i in range(20)})
    answers = table(("id", "evasion_pred"), [(str(i), "Explicit" if i == 1 else "General") for i in range(20)])
    details = score(tmp_path, "clarity2026", {"gold.csv": gold}, {"answers.csv": answers}).details["tasks"]["evasion"]
    assert details["evasion_f1: Explicit"] == {"value": None, "rows": None}
    assert details["evasion_f1: General"]["value"] is None  # with macro F1 it would tell that of Explicit
    assert details["evasion_f1: Dodging"]["value"] == 0.0  # never predicted: 0 whatever the gold is


SEPARATE = {
    "clarity": ("Clear Reply\nAmbivalent\nAmbivalent\nNon-Reply\n", {"clarity_macro_f1": 1.0}),
    "evasion": (
        "Explicit\nDodging\nGeneral\nClarification\n",
        {"evasion_macro_f1": 4 / 9, "evasion_majority_macro_f1": 4 / 9, "evasion_accuracy": 1.0},
    ),
}


@pytest.mark.parametrize("task", SEPARATE)
def test_separate_bundles(tmp_path: Path, task: str) -> None:
    lines, expected = SEPARATE[task]
    outcome = score(tmp_path, "clarity2026", {"gold.csv": DEV}, {"prediction": lines}, tasks=[task], layout="separate")
    assert {key: value for key, value in outcome.scores.items() if key in expected} == pytest.approx(expected)
