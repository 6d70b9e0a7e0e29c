"""The gold, and the organiser's verbs as the press calls them."""

import re
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from process2025.reference import read
from scoring_kit.errors import OrganiserError
from tests.scoring_programs.framed import score, write_files
from tests.scoring_programs.process2025.gold import GOLD
from tests.scoring_programs.read_secrets import read_secrets

pytestmark = [pytest.mark.usefixtures("kept_organisers")]

PACKAGE = ScoringPackage("process2025", resource("scoring_programs"))
BOTH = ("classification", "regression")
ASK: dict[str, Any] = {"tasks": list(BOTH), "all_tasks": list(BOTH), "layout": "joint", "options": {}}


def folder(path: Path, text: str) -> Path:
    return write_files(path, {"gold.csv": text})


def test_gold(tmp_path: Path) -> None:
    reference = read(folder(tmp_path, GOLD), BOTH, {})
    assert reference.ids == ["a", "b", "c", "d"]
    assert reference.classes == ["HC", "MCI", "Dementia", "HC"]
    assert reference.mmse == [30.0, 26.0, 18.0, None]


def test_only_the_asked_task_need_be_there(tmp_path: Path) -> None:
    assert read(folder(tmp_path, "Test_ID,Class\na,HC\n"), ("classification",), {}).classes == ["HC"]
    assert read(folder(tmp_path, "MMSE,Test_ID\n7,a\n"), ("regression",), {}).mmse == [7.0]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (GOLD + "e,SECRET,30\n", ["gold.csv:6 (Test_ID e): Class is not one of the classes."]),
        (GOLD + "e,,30\n", ["gold.csv:6 (Test_ID e): Class is not one of the classes."]),
        (
            GOLD + "e,HC,31\nf,HC,x\ng,HC,nan\n",
            [f"gold.csv:{n} (Test_ID {i}): MMSE is not a number" for n, i in ((6, "e"), (7, "f"), (8, "g"))],
        ),
        ("Test_ID,Class,MMSE\n", ["gold.csv: has no rows."]),
        ("Test_ID,Class,MMSE\na,HC,\n", ["gold.csv: no speaker has an MMSE."]),
        ("ID,Class\na,HC\n", ["gold.csv:1: the column Test_ID is missing.", "gold.csv:1: the column MMSE is missing."]),
    ],
)
def test_what_the_organisers_must_mend(tmp_path: Path, text: str, messages: list[str]) -> None:
    with pytest.raises(OrganiserError) as caught:
        read(folder(tmp_path, text), BOTH, {})
    for message in messages:
        assert any(told.startswith(message) for told in caught.value.messages), caught.value.messages
    assert "SECRET" not in str(caught.value)


def test_a_missing_file_and_an_unknown_option_are_told(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match=r"gold.csv: missing."):
        read(tmp_path, BOTH, {})
    with pytest.raises(OrganiserError, match=r"^options.any: unknown option."):
        read(folder(tmp_path, GOLD), BOTH, {"any": 1})


RELEASED = (
    "Record-ID,TrainOrDev,Class,Gender,Age,Converted-MMSE\n"
    "Process-rec-001,train,MCI,Female,70,27\n"
    "Process-rec-002,dev,HC,Male,68,29.0\n"
    "Process-rec-003,Dev,Dementia,Female,81,17.185\n"
    "Process-rec-004,dev,HC,Male,75,\n"
)


def prepared(tmp_path: Path, files: dict[str, str], tasks: tuple[str, ...] = BOTH) -> tuple[list[str], str]:
    """The warnings of `prepare`, and the gold.csv that it wrote."""
    out, source = write_files(tmp_path / "out", {}), write_files(tmp_path / "source", files)
    answer = PACKAGE.call("prepare", {**ASK, "tasks": list(tasks), "source": str(source), "out": str(out)})
    assert [path.name for path in out.iterdir()] == ["gold.csv"]
    return answer["warnings"], (out / "gold.csv").read_text(encoding="utf-8")


def test_prepare_copies_valid_gold(tmp_path: Path) -> None:
    warning = "gold.csv: 1 of 4 speakers have no MMSE and are left out of the RMSE."
    assert prepared(tmp_path, {"gold.csv": GOLD}) == ([warning], GOLD)


def test_prepare_refuses_faulty_gold(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        prepared(tmp_path, {"gold.csv": GOLD + "a,HC,1\nx,y,z\n"})
    assert len(caught.value.messages) == 3


def test_the_labels_as_the_challenge_released_them_are_gold(tmp_path: Path) -> None:
    warnings, gold = prepared(tmp_path, {"dem-info.csv": RELEASED})
    assert gold == (
        "Test_ID,Class,MMSE\nProcess-rec-002,HC,29.0\nProcess-rec-003,Dementia,17.185\nProcess-rec-004,HC,\n"
    )
    assert warnings == [
        "dem-info.csv: 1 of 4 speakers are not development speakers and not scored.",
        "dem-info.csv: 1 of 3 speakers have no Converted-MMSE and are left out of the RMSE.",
    ]


@pytest.mark.parametrize("part", ["train", "test"])
def test_released_labels_of_one_kind_of_speakers_are_all_gold(tmp_path: Path, part: str) -> None:
    warnings, gold = prepared(tmp_path, {"dem-info.csv": re.sub("train|dev", part, RELEASED, flags=re.IGNORECASE)})
    assert gold.count("Process-rec-") == 4
    assert len(warnings) == 1


def test_released_labels_need_only_the_columns_of_the_tasks(tmp_path: Path) -> None:
    text = "\ufeffRecord-ID,Class\nProcess-rec-001,MCI\n"
    assert prepared(tmp_path, {"dem-info.csv": text}, BOTH[:1]) == ([], "Test_ID,Class\nProcess-rec-001,MCI\n")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"dem-info.csv": RELEASED.replace("HC", "Healthy")}, "dem-info.csv:3 (Record-ID Process-rec-002): Class is"),
        ({"dem-info.csv": RELEASED.replace("29.0", "31")}, "dem-info.csv:3 (Record-ID Process-rec-002): Converted-"),
        ({"dem-info.csv": GOLD}, "dem-info.csv:1: the column Record-ID is missing. Expected: the columns Record-ID,"),
        ({"dem-info.csv": RELEASED, "gold.csv": GOLD}, "source: holds gold.csv and dem-info.csv. Expected: one or"),
        ({"gold.csv": RELEASED}, "; the file as it was released keeps its name dem-info.csv."),
        ({}, "gold.csv: missing. Expected a CSV file with the columns Test_ID, Class, MMSE, or dem-info.csv as it was"),
    ],
)
def test_which_gold_is_refused_at_prepare(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        prepared(tmp_path, files)
    assert any(message in told for told in caught.value.messages), caught.value.messages


def test_the_template_is_valid_and_enters_nothing(tmp_path: Path) -> None:
    out = write_files(tmp_path / "out", {})
    PACKAGE.call("template", {**ASK, "reference": str(folder(tmp_path / "ref", GOLD)), "out": str(out)})
    (path,) = out.iterdir()
    assert path.name == "PROCESS_submission_GROUP_AFFILIATION.csv"
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[1:] == [f"{item},,,,,," for item in "abcd"]
    outcome = score(tmp_path / "run", "process2025", {"gold.csv": GOLD}, {path.name: text})
    assert outcome.exit_code == 0
    assert outcome.scores == {"macro_f1": 0.0, "macro_precision": 0.0, "macro_recall": 0.0, "rmse": 1000.0}
    assert outcome.details["tasks"] == {}
    assert any("enters no task and gets the worst scores" in warning for warning in outcome.details["warnings"])


def test_secrets_and_manifest(tmp_path: Path) -> None:
    request = {**ASK, "reference": str(folder(tmp_path, GOLD))}
    found = read_secrets(tmp_path, PACKAGE.call("secrets", request))
    classes = [("a", "Class", "hc"), ("b", "Class", "mci"), ("c", "Class", "dementia"), ("d", "Class", "hc")]
    assert {*found.labels} == {*classes, ("a", "MMSE", "30"), ("b", "MMSE", "26"), ("c", "MMSE", "18")}
    assert PACKAGE.call("manifest", request) == {"ids": ["a", "b", "c", "d"]}
