"""What is accepted, what is remarked on, and what is refused with file, line and expectation."""

from pathlib import Path

import pytest

from clarity2026.submission import ClaritySubmission, read
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles
from tests.scoring_programs.framed import Files, write_files

IDS = ["1", "2", "3"]
GOOD = (
    "id,clarity_pred,evasion_pred\n"
    "1,Clear Reply,Explicit\n"
    "2,Ambivalent Reply,Dodging\n"
    "3,Clear Non-Reply,Clarification\n"
)
BOTH = ("clarity", "evasion")


def judged(
    folder: Path, files: Files, tasks: tuple[str, ...] = BOTH, layout: str = "joint"
) -> tuple[ClaritySubmission | None, Problems]:
    write_files(folder, files)
    problems = Problems()
    manifest = Manifest("clarity2026", tasks, BOTH, layout, {}, {"ids": IDS})
    submission = read(SubmissionFiles(folder, BOTH, problems), manifest, problems)
    return submission, problems


def accepted(folder: Path, files: Files, tasks: tuple[str, ...] = BOTH, layout: str = "joint") -> ClaritySubmission:
    submission, problems = judged(folder, files, tasks, layout)
    assert problems.errors == []
    assert submission is not None
    return submission


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.rstrip("\n"),
        GOOD + "\n ,,\n",
        "evasion_pred,id,clarity_pred\n Dodging , 2 ,ambivalent\nclarification,3,NON-REPLY\nexplicit,1,Clear Reply\n",
        'id,clarity_pred,evasion_pred,why\n"1",Clear Reply,Explicit,"a, b"\n2,Ambivalent,Dodging,\n'
        "3,Clear Nonreply,Clarification,\n",
    ],
    ids=["plain", "BOM", "CRLF", "CR", "no last line end", "blank lines", "order and spelling", "further column"],
)
def test_the_same_answers_in_other_clothes(tmp_path: Path, text: str) -> None:
    submission = accepted(tmp_path, {"answers.csv": text})
    assert submission.predictions == {
        "clarity": ["Clear Reply", "Ambivalent Reply", "Clear Non-Reply"],
        "evasion": ["Explicit", "Dodging", "Clarification"],
    }
    assert submission.entered == set(BOTH)


def test_clarity_is_derived_from_evasion_where_its_column_is_absent(tmp_path: Path) -> None:
    submission, problems = judged(tmp_path, {"a.csv": "id,evasion_pred\n1,Explicit\n2,Partial\n3,nonsense\n"})
    assert submission is not None
    assert submission.predictions["clarity"] == ["Clear Reply", "Ambivalent Reply", ""]
    assert submission.entered == set(BOTH)
    assert any("derived" in warning for warning in problems.warnings)


@pytest.mark.parametrize(("tasks", "layout"), [(BOTH, "joint"), (("clarity",), "tasks"), (("clarity",), "separate")])
def test_only_an_evasion_label_has_a_parent(tmp_path: Path, tasks: tuple[str, ...], layout: str) -> None:
    text = "id,evasion_pred\n1,Clear Reply\n2,ambivalent\n3,Clarification\n"
    submission, problems = judged(tmp_path, {"a.csv": text}, tasks, layout)
    assert submission is not None
    assert submission.predictions["clarity"] == ["", "", "Clear Non-Reply"]
    assert any("2 answers are none of the 9 labels and counted as wrong" in warning for warning in problems.warnings)


def test_without_evasion_column_only_clarity_is_entered(tmp_path: Path) -> None:
    submission = accepted(tmp_path, {"a.csv": "id,clarity_pred\n1,Clear Reply\n2,Clear Reply\n3,Clear Reply\n"})
    assert submission.entered == {"clarity"}


def test_in_layout_tasks_a_file_for_the_other_task_is_fine(tmp_path: Path) -> None:
    files = {"a.csv": "id,clarity_pred\n1,Clear Reply\n2,Clear Reply\n3,Clear Reply\n"}
    assert accepted(tmp_path, files, ("evasion",), "tasks").entered == frozenset()


def test_a_column_without_any_label_is_the_templates_and_absent(tmp_path: Path) -> None:
    text = "id,clarity_pred,evasion_pred\n1,,Explicit\n2,,Dodging\n3,,Dodging\n"
    submission, problems = judged(tmp_path, {"a.csv": text})
    assert submission is not None
    assert submission.predictions["clarity"] == ["Clear Reply", "Ambivalent Reply", "Ambivalent Reply"]
    assert any("clarity_pred has no label at all" in warning for warning in problems.warnings)


def test_the_whole_template_is_valid(tmp_path: Path) -> None:
    submission = accepted(tmp_path, {"a.csv": "id,clarity_pred,evasion_pred\n1,,\n2,,\n3,,\n"})
    assert submission.predictions == {"clarity": ["", "", ""], "evasion": ["", "", ""]}


def test_unknown_and_blank_labels_are_named_with_their_lines(tmp_path: Path) -> None:
    submission, problems = judged(tmp_path, {"a.csv": "id,clarity_pred\n1,Clear\n2,\n3,Clear Reply\n"})
    assert submission is not None
    assert submission.predictions["clarity"] == ["Clear", "", "Clear Reply"]
    assert problems.warnings == [
        'a.csv (clarity_pred): 2 answers are none of the 3 labels and counted as wrong: line 2 "Clear", line 3 "".'
    ]


@pytest.mark.parametrize(
    "text",
    ["Dodging\nExplicit\nPartial", "Dodging\nExplicit\nPartial\n", "Dodging\r\nExplicit\r\nPartial\r\n\r\n\n"],
    ids=["no last line end", "LF", "CRLF and blank lines at the end"],
)
def test_the_line_format(tmp_path: Path, text: str) -> None:
    submission = accepted(tmp_path, {"prediction": text}, ("evasion",), "separate")
    assert submission.predictions["evasion"] == ["Dodging", "Explicit", "Partial/half-answer"]
    assert submission.entered == {"evasion"}


def test_a_blank_line_in_the_middle_is_a_wrong_answer(tmp_path: Path) -> None:
    submission = accepted(tmp_path, {"prediction": "Clear Reply\n\nClear Reply\n"}, ("clarity",), "separate")
    assert submission.predictions["clarity"] == ["Clear Reply", "", "Clear Reply"]


def test_csv_in_a_separate_bundle(tmp_path: Path) -> None:
    submission = accepted(tmp_path, {"a.csv": GOOD}, ("evasion",), "separate")
    assert submission.entered == {"evasion"}


@pytest.mark.parametrize(
    ("files", "messages"),
    [
        ({"a.csv": "id,evasion_pred\n1,Explicit\n2,Dodging\n"}, ['a.csv: no row for 1 of 3 ids: "3".']),
        ({"a.csv": GOOD + "3,Clear Reply,Explicit\n"}, ['a.csv:5: the id "3" already occurs in line 4.']),
        ({"a.csv": GOOD + "9,Clear Reply,Explicit\n"}, ['a.csv:5: unknown id "9".']),
        ({"a.csv": GOOD + ",Clear Reply,Explicit\n"}, ["a.csv:5: id is empty."]),
        (
            {"a.csv": GOOD.replace("id,", "ID,", 1)},
            ['a.csv:1: unknown column "ID".', "a.csv:1: the column id is missing."],
        ),
        ({"a.csv": "id,label\n1,x\n2,x\n3,x\n"}, ["a.csv:1: neither clarity_pred nor evasion_pred is there."]),
        ({"a.csv": GOOD.encode() + b"\xff"}, ["a.csv:5: contains bytes that are not UTF-8."]),
        ({"a.csv": GOOD, "b.csv": GOOD}, ['"a.csv", "b.csv": 2 CSV files.']),
        ({"a.csv": GOOD, "prediction": "x"}, ['"a.csv", prediction: two files with predictions.']),
        ({"prediction": "a\nb\nc\n"}, ["prediction: the line format is for competitions with one task"]),
        ({"notes.txt": "x"}, ['submission: holds no file with predictions; found "notes.txt".']),
        ({}, ["submission: holds no file with predictions."]),
        ({"sub/a.csv": GOOD, "notes.txt": "x"}, ["submission: holds no file with predictions; found"]),
    ],
)
def test_what_is_refused(tmp_path: Path, files: Files, messages: list[str]) -> None:
    _, problems = judged(tmp_path, files)
    assert len(problems.errors) >= len(messages)
    for message in messages:
        assert any(error.startswith(message) for error in problems.errors), problems.errors
    assert all("expected" in error.lower() for error in problems.errors)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"prediction": "Dodging\nDodging\n"}, "prediction: has 2 lines."),
        ({"prediction": "label\nDodging\nDodging\nDodging\n"}, "prediction: has 4 lines."),
        ({"prediction": ""}, "prediction: has 0 lines."),
        ({"prediction": "x\nx\nx\n", "a.csv": GOOD}, '"a.csv", prediction: two files with predictions.'),
        ({"a.csv": "id,clarity_pred\n1,x\n2,x\n3,x\n"}, "a.csv: has no column evasion_pred."),
        ({"prediction.txt": "x\nx\nx\n"}, 'submission: holds no file with predictions; found "prediction.txt".'),
    ],
)
def test_what_a_separate_bundle_refuses(tmp_path: Path, files: Files, message: str) -> None:
    _, problems = judged(tmp_path, files, ("evasion",), "separate")
    assert [error for error in problems.errors if error.startswith(message)], problems.errors


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = "id,evasion_pred\n1,Explicit\n1,Explicit\n8,Explicit\n,Explicit\n2\n"
    _, problems = judged(tmp_path, {"a.csv": text})
    assert [error.split(" ")[0] for error in problems.errors] == [
        "a.csv:3:",
        "a.csv:5:",
        "a.csv:6:",
        "a.csv:4:",
        "a.csv:",
    ]
