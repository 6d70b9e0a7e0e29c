"""Reading the gold: what it means, and what the organisers must mend."""

from pathlib import Path

import numpy as np
import pytest

from clarity2026.clarity import clarity_units
from clarity2026.reference import ClarityReference, manifest, read
from scoring_kit.errors import OrganiserError
from tests.scoring_programs.clarity2026.gold import ANNOTATED, DEV, annotated_gold, table

BOTH = ("clarity", "evasion")


def gold(folder: Path, text: str, tasks: tuple[str, ...] = BOTH) -> ClarityReference:
    (folder / "gold.csv").write_text(text, encoding="utf-8")
    return read(folder, tasks, {})


def test_single_labels(tmp_path: Path) -> None:
    reference = gold(tmp_path, DEV)
    assert reference.ids == ["1", "2", "3", "4"]
    assert reference.clarity == ["Clear Reply", "Ambivalent Reply", "Ambivalent Reply", "Clear Non-Reply"]
    assert reference.evasion == ["Explicit", "Dodging", "General", "Clarification"]
    assert not reference.annotated


def test_annotators_count_as_soon_as_one_cell_is_filled(tmp_path: Path) -> None:
    text = annotated_gold(
        {
            "1": ("Explicit", "partial", "", "Clear Reply"),
            "2": ("", "", "", "Ambivalent"),
            "3": ("N/A", "", "", "Ambivalent"),
        }
    )
    reference = gold(tmp_path, text)
    assert reference.annotated
    assert reference.annotations == [("Explicit", "Partial/half-answer"), (), ()]
    assert reference.evasion == []


def test_clarity_is_derived_where_a_row_has_none(tmp_path: Path) -> None:
    text = "index,evasion_label\n1,Explicit\n2,Partial\n3,claims ignorance\n"
    assert gold(tmp_path, text).clarity == ["Clear Reply", "Ambivalent Reply", "Clear Non-Reply"]
    text = "index,clarity_label,evasion_label\n1,,Explicit\n2,Ambivalent,Explicit\n"
    assert gold(tmp_path, text).clarity == ["Clear Reply", "Ambivalent Reply"]


def test_only_the_asked_task_need_be_there(tmp_path: Path) -> None:
    assert gold(tmp_path, "index,clarity_label\n1,Ambivalent\n", ("clarity",)).clarity == ["Ambivalent Reply"]
    assert gold(tmp_path, "index,annotator1\n1,Dodging\n", ("evasion",)).annotations == [("Dodging",)]


def test_participants_may_know_the_ids_alone(tmp_path: Path) -> None:
    assert manifest(gold(tmp_path, DEV), BOTH) == {"ids": ["1", "2", "3", "4"]}


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (DEV + "4,,,,Ambivalent,Dodging\n", ["gold.csv:6: index 4 already occurs in line 5."]),
        (DEV + ",,,,Ambivalent,Dodging\n", ["gold.csv:6: index is empty."]),
        (DEV + "5,,,,SECRET,Dodging\n", ["gold.csv:6 (index 5): clarity_label is not a clarity label."]),
        (DEV + "5,,,,Ambivalent,SECRET\n", ["gold.csv:6 (index 5): evasion_label is not an evasion label."]),
        (DEV + "5,,,,Ambivalent,\n", ["gold.csv:6 (index 5): no evasion_label, and no annotator column holds data."]),
        (DEV + "5,,,,,\n", ["gold.csv:6 (index 5): no clarity_label, and no evasion_label to derive it from."]),
        (table(ANNOTATED, []), ["gold.csv: has no rows."]),
        ("id,clarity_label\n1,Ambivalent\n", ["gold.csv:1: the column index is missing."]),
        (
            "index,question\n1,Why?\n",
            ["gold.csv:1: neither clarity_label nor evasion_label is there.", "gold.csv:1: neither"],
        ),
    ],
)
def test_what_the_organisers_must_mend(tmp_path: Path, text: str, messages: list[str]) -> None:
    with pytest.raises(OrganiserError) as caught:
        gold(tmp_path, text)
    for message in messages:
        assert any(told.startswith(message) for told in caught.value.messages), caught.value.messages
    assert "SECRET" not in str(caught.value)


def test_a_missing_file_and_an_unknown_option_are_told(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"gold.csv: missing."):
        read(tmp_path, BOTH, {})
    (tmp_path / "gold.csv").write_text(DEV, encoding="utf-8")
    with pytest.raises(OrganiserError, match=r"^options.any: unknown option."):
        read(tmp_path, BOTH, {"any": 1})


def test_rows_of_an_interview_question_are_one_unit(tmp_path: Path) -> None:
    header = ("index", "url", "interview_question", "clarity_label", "evasion_label")
    rows = [
        ("1", "a", "How?", "Clear Reply", "Explicit"),
        ("2", "a", "How?", "Ambivalent", "Dodging"),
        ("3", "b", "How?", "Ambivalent", "General"),
    ]
    (tmp_path / "gold.csv").write_text(table(header, rows), encoding="utf-8")
    units = clarity_units(read(tmp_path, ["clarity"], {}), ["Clear Reply", "Clear Reply", "Ambivalent Reply"])
    assert (units.unit, list(units.names)) == ("interview question", ["1", "3"])
    counts = np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    assert units.statistics["clarity_accuracy"].over(counts) == pytest.approx([2 / 3, 1 / 2, 1])
    assert sorted(units.classes["clarity_macro_f1"]) == [0, 1, 2], "the list of labels is fixed"
    assert list(units.classes) == ["clarity_macro_f1"]


def test_without_the_question_each_row_is_a_unit(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(DEV, encoding="utf-8")
    units = clarity_units(read(tmp_path, ["clarity"], {}), ["Ambivalent"] * 4)
    assert (units.unit, list(units.names)) == ("row", ["1", "2", "3", "4"])
