"""What is accepted, what is ignored with a warning, and what is refused with file, line and expectation."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from process2025.organiser import team_name
from process2025.submission import ProcessSubmission, read
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.submission_files import SubmissionFiles
from tests.scoring_programs.framed import Files, write_files
from tests.scoring_programs.process2025.gold import CLASSES, HEADER, NAME, PERFECT, SCORES, answers

IDS = ["a", "b", "c", "d"]
BOTH = ("classification", "regression")


def judged(
    folder: Path, files: Files, tasks: tuple[str, ...] = BOTH, layout: str = "joint"
) -> tuple[ProcessSubmission | None, Problems]:
    write_files(folder, files)
    problems = Problems()
    manifest = Manifest("process2025", tasks, BOTH, layout, {}, {"ids": IDS})
    submission = read(SubmissionFiles(folder, BOTH, problems), manifest, problems)
    return submission, problems


def accepted(
    folder: Path, text: str, tasks: tuple[str, ...] = BOTH, layout: str = "joint", name: str = NAME
) -> tuple[ProcessSubmission, Problems]:
    submission, problems = judged(folder, {name: text}, tasks, layout)
    assert problems.errors == []
    assert submission is not None
    return submission, problems


@pytest.mark.parametrize(
    "text",
    [
        PERFECT,
        "\ufeff" + PERFECT.replace("\n", "\r\n"),
        "\n".join([HEADER, *reversed(PERFECT.splitlines()[1:])]),
        PERFECT.replace("HC", " HC ").replace("26", " 26.0 ").replace("18", "1.8e1"),
    ],
    ids=["plain", "BOM, CRLF", "other order", "blanks and number forms"],
)
def test_the_same_answers_in_other_clothes(tmp_path: Path, text: str) -> None:
    submission, problems = accepted(tmp_path, text)
    assert problems.warnings == []
    assert submission.entered == set(BOTH)
    for task, expected in (("classification", CLASSES), ("regression", SCORES)):
        first, *others = submission.models[task]
        assert first.status == "scored"
        assert list(first.answers) == list(expected)
        assert [model.status for model in others] == ["absent", "absent"]


def test_a_partly_filled_column_is_ignored_and_its_cells_are_named(tmp_path: Path) -> None:
    columns = {"Model1_class": CLASSES, "Model2_class": ("HC", "", "MCI", ""), "Model3_MMSE": (30, 20, "", 10)}
    submission, problems = accepted(tmp_path, answers(columns))
    assert [model.status for model in submission.models["classification"]] == ["scored", "ignored", "absent"]
    assert [model.status for model in submission.models["regression"]] == ["absent", "absent", "ignored"]
    assert submission.entered == {"classification"}
    assert problems.warnings == [
        f'{NAME} (Model2_class): ignored, because 2 of 4 cells are empty: line 3 "b", line 5 "d".',
        f'{NAME} (Model3_MMSE): ignored, because 1 of 4 cells are empty: line 4 "c".',
    ]


def test_a_column_that_is_not_there_counts_as_empty(tmp_path: Path) -> None:
    submission, problems = accepted(tmp_path, "Test_ID,Model2_class\na,HC\nb,HC\nc,HC\nd,HC\n")
    assert [model.status for model in submission.models["classification"]] == ["absent", "scored", "absent"]
    assert any("lacks the columns Model1_class, Model3_class, Model1_MMSE" in text for text in problems.warnings)


def test_scores_outside_the_range_of_the_mmse_are_remarked_on(tmp_path: Path) -> None:
    submission, problems = accepted(tmp_path, answers({"Model1_MMSE": (31, -1000, 1000, 30)}))
    assert list(submission.models["regression"][0].answers) == [31.0, -1000.0, 1000.0, 30.0]
    assert problems.warnings == [
        f'{NAME} (Model1_MMSE): outside the MMSE\'s range of 0 to 30: line 2 "31", line 3 "-1000", line 4 "1000".'
    ]


def test_in_layout_tasks_a_file_for_the_other_task_is_fine(tmp_path: Path) -> None:
    text = answers({"Model1_MMSE": SCORES})
    assert accepted(tmp_path, text, ("classification",), "tasks")[0].entered == frozenset()


@pytest.mark.parametrize(
    ("name", "team"),
    [
        ("PROCESS_submission_Lab_Town.csv", "Lab_Town"),
        ("PROCESS_submission_My_Own-Lab_Univ._of_X.CSV", "My_Own-Lab_Univ._of_X"),
        ("PROCESS_submission_É_大学.csv", "É_大学"),
    ],
)
def test_the_team_is_what_follows_in_the_name(tmp_path: Path, name: str, team: str) -> None:
    assert accepted(tmp_path, PERFECT, name=name)[1].warnings == []
    assert team_name("entry", [name], Problems()) == team


def test_a_file_under_the_templates_name_is_remarked_on(tmp_path: Path) -> None:
    _, problems = accepted(tmp_path, PERFECT, name="PROCESS_submission_GROUP_AFFILIATION.csv")
    assert len(problems.warnings) == 1
    assert "still has the name of the template" in problems.warnings[0]


@pytest.mark.parametrize(
    "name",
    [
        "submission.csv",
        "PROCESS_submission_.csv",
        "PROCESS_submission__.csv",
        "PROCESS_submission_ _ .csv",
        "PROCESS_submission_Lab.csv",
        "PROCESS_submission_Lab_.csv",
        "PROCESS_submission__Town.csv",
        "process_submission_Lab_Town.csv",
        "PROCESS submission_Lab_Town.csv",
        "My_PROCESS_submission_Lab_Town.csv",
    ],
)
def test_a_file_that_was_not_renamed_by_the_rule_is_refused(tmp_path: Path, name: str) -> None:
    _, problems = judged(tmp_path, {name: PERFECT})
    assert [error for error in problems.errors if error.startswith(f"{name}: does not follow the naming rule.")]
    assert "PROCESS_submission_<group>_<affiliation>.csv" in problems.errors[0]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            answers({"Model2_class": ("HC", "hc", "Healthy", "HC")}),
            [f'{NAME}:3 (Model2_class): "hc" is not a class. Expected: one of Dementia, MCI, HC, spelled', f"{NAME}:4"],
        ),
        (answers({"Model1_MMSE": ("nan", "inf", "x", "1_0")}), [f'{NAME}:{n} (Model1_MMSE): "' for n in (2, 3, 4, 5)]),
        (answers({"Model3_MMSE": (30, "1e999", 20, 20)}), [f'{NAME}:3 (Model3_MMSE): "1e999" is not a finite number.']),
        (
            answers({"Model3_MMSE": (30, "1000.5", -1001, 20)}),
            [f'{NAME}:3 (Model3_MMSE): "1000.5" is far out of', f"{NAME}:4"],
        ),
        (answers({"Model1_MMSE": ('"24,5"', 20, 20, 20)}), [f'{NAME}:2 (Model1_MMSE): "24,5" is not a finite number.']),
        (PERFECT.replace("Model1_class", "model1_class"), [f'{NAME}:1: unknown column "model1_class".']),
        (PERFECT.replace("Test_ID", "ID"), [f"{NAME}:1: the column Test_ID is missing."]),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, messages: list[str]) -> None:
    _, problems = judged(tmp_path, {NAME: text})
    assert len(problems.errors) >= len(messages)
    for message in messages:
        assert any(error.startswith(message) for error in problems.errors), problems.errors


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "submission: holds no CSV file."),
        ({"results.xlsx": b"PK"}, 'submission: holds no CSV file; found "results.xlsx".'),
        ({NAME: PERFECT, "PROCESS_submission_A_B.csv": PERFECT}, '"PROCESS_submission_A_B.csv", '),
    ],
)
def test_which_files_are_refused(tmp_path: Path, files: Files, message: str) -> None:
    _, problems = judged(tmp_path, files)
    assert [error for error in problems.errors if error.startswith(message)], problems.errors


@pytest.mark.parametrize(
    ("columns", "statuses"),
    [
        ({}, {"absent"}),
        ({"Model1_class": ("HC", "", "MCI", ""), "Model2_MMSE": ("", 20, 20, 20)}, {"absent", "ignored"}),
    ],
    ids=["empty", "with gaps"],
)
@pytest.mark.parametrize(("tasks", "layout"), [(BOTH, "joint"), (BOTH[:1], "tasks"), (BOTH[1:], "separate")])
def test_a_file_without_a_filled_column_enters_nothing(
    tmp_path: Path, columns: dict[str, Sequence[object]], statuses: set[str], tasks: tuple[str, ...], layout: str
) -> None:
    submission, problems = accepted(tmp_path, answers(columns), tasks, layout)
    assert submission.entered == frozenset()
    assert {model.status for models in submission.models.values() for model in models} == statuses
    assert any("enters no task and gets the worst scores" in warning for warning in problems.warnings)
    for column in columns:
        assert any(f"({column}): ignored, because" in warning for warning in problems.warnings)


def test_in_a_separate_bundle_a_file_for_the_other_task_enters_nothing(tmp_path: Path) -> None:
    submission, problems = accepted(tmp_path, answers({"Model1_MMSE": SCORES}), ("classification",), "separate")
    assert submission.entered == frozenset()
    assert problems.warnings == [
        f"{NAME}: enters no task and gets the worst scores, because none of Model1_class, Model2_class, Model3_class "
        "is filled from top to bottom."
    ]


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = answers({"Model1_class": ("HC", "x", "y", "HC"), "Model1_MMSE": (1, "z", 3, 4)}) + "a,,,,,,\n"
    _, problems = judged(tmp_path, {"my.csv": text})
    assert len(problems.errors) == 5
