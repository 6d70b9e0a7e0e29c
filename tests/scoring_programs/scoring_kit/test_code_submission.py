"""The digest that names a run's folder, and what the scoring program believes of what lies there."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scoring_kit.code_submission import RUN_FOLDER, handed_over, run_folder_name
from scoring_kit.errors import OrganiserError, Problems, SubmissionError

GOOD: dict[str, Any] = {"fault": None, "errors": [], "warnings": [], "duration": 1.5, "files": {}}


def written(folder: Path, files: dict[str, bytes]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


FILES = {"a": b"12", "b/c": b"3", "d": b"4", "e": b"5"}


@pytest.mark.parametrize(
    ("without", "more"),
    [
        ("a", {}),
        ("a", {"ax": b"12"}),
        ("a", {"b/a": b"12"}),
        ("a", {"a": b"12\0"}),
        ("a", {"a": b"2?"}),
        ("", {"more": b""}),
    ],
    ids=["left out", "renamed", "moved", "longer", "changed", "one more"],
)
def test_every_change_of_a_submission_changes_the_name(without: str, more: dict[str, bytes], tmp_path: Path) -> None:
    name = run_folder_name(written(tmp_path / "one", FILES))
    assert RUN_FOLDER.fullmatch(name)
    assert run_folder_name(written(tmp_path / "two", dict(reversed(FILES.items())))) == name
    other = {file: content for file, content in FILES.items() if file != without}
    assert run_folder_name(written(tmp_path / "two", {**other, **more})) != name


def test_bytes_cannot_move_between_name_and_content(tmp_path: Path) -> None:
    names = {
        run_folder_name(written(tmp_path / "x", one)) for one in ({"a": b"bc"}, {"ab": b"c"}, {"a": b"", "b": b"c"})
    }
    assert len(names) == 3


def test_a_submission_cannot_hold_the_folder_of_its_own_run(tmp_path: Path) -> None:
    """With the folder it is another submission, whose run has another folder."""
    folder = written(tmp_path, {"model.py": b"x"})
    for _ in range(3):
        before = run_folder_name(folder)
        (folder / before).mkdir()
        (folder / before / "metadata.json").write_text(json.dumps(GOOD))
        assert run_folder_name(folder) != before


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = written(tmp_path / "one", {"model.py": b"x"})
    name = run_folder_name(folder)
    (folder / "linked.py").symlink_to(folder / "model.py")
    (folder / "up").symlink_to(tmp_path)
    assert run_folder_name(folder) == name


def job(folder: Path, record: object, files: dict[str, bytes] | None = None) -> Path:
    """The predictions' folder of a scoring job whose only run left `record`."""
    run = folder / "res" / f"run-{'0' * 64}"
    written(run / "predictions", files or {})
    (run / "metadata.json").write_text(record if isinstance(record, str) else json.dumps(record))
    return folder / "res"


def test_a_good_record_is_believed(tmp_path: Path) -> None:
    problems = Problems()
    predictions, seconds = handed_over(job(tmp_path, {**GOOD, "warnings": ["x: ignored."]}), None, problems)
    assert seconds == 1.5
    assert predictions == tmp_path / "res" / f"run-{'0' * 64}" / "predictions"
    assert problems.warning_lines() == ["warning: x: ignored."]


@pytest.mark.parametrize(
    "record",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        {},
        {**GOOD, "duration": None},
        {**GOOD, "duration": "fast"},
        {**GOOD, "duration": float("nan")},
        {**GOOD, "duration": float("inf")},
        {**GOOD, "errors": None},
        {**GOOD, "errors": [1]},
        {**GOOD, "fault": "submission", "errors": {"a": "b"}},
        {**GOOD, "warnings": "ab"},
        {**GOOD, "warnings": {"a": 1}, "files": []},
        {**GOOD, "files": {"a": None}},
        {**GOOD, "fault": ["submission"]},
    ],
)
def test_a_record_that_the_ingestion_program_would_not_write_is_no_run(record: object, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="the code: has not run to its end"):
        handed_over(job(tmp_path, record), None, Problems())


@pytest.mark.parametrize("files", [{"a.csv": b"2"}, {"a.csv": b"1", "b/a.csv": b""}, {}, {"b.csv": b"1"}])
def test_files_that_are_not_those_of_the_record_are_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    record = {**GOOD, "files": {"a.csv": hashlib.sha256(b"1").hexdigest()}}
    assert handed_over(job(tmp_path / "as they were", record, {"a.csv": b"1"}), None, Problems())[1] == 1.5
    with pytest.raises(SubmissionError, match="predictions: are not those that the ingestion program checked"):
        handed_over(job(tmp_path / "otherwise", record, files), None, Problems())


def test_two_runs_are_none(tmp_path: Path) -> None:
    folder = job(tmp_path, GOOD)
    shutil.copytree(folder / f"run-{'0' * 64}", folder / f"run-{'1' * 64}")
    with pytest.raises(SubmissionError, match="has not run"):
        handed_over(folder, None, Problems())


def test_a_fault_comes_with_its_lines(tmp_path: Path) -> None:
    record = {**GOOD, "fault": "submission", "errors": ["a.csv:2: is odd."], "found": 125, "duration": None}
    with pytest.raises(SubmissionError) as caught:
        handed_over(job(tmp_path, record), None, Problems())
    assert caught.value.messages == ["a.csv:2: is odd."]
    assert caught.value.report().splitlines() == [
        "The submission cannot be scored: 125 problems found.",
        "a.csv:2: is odd.",
        "… and 124 more.",
        "125 problems found, so nothing was scored.",
    ]
    shutil.rmtree(tmp_path / "res")
    with pytest.raises(SubmissionError, match="has not run to its end"):
        handed_over(job(tmp_path, {**record, "found": "many"}), None, Problems())
    shutil.rmtree(tmp_path / "res")
    with pytest.raises(OrganiserError, match="a bug"):
        handed_over(job(tmp_path, {**GOOD, "fault": "program", "errors": ["a bug"]}), None, Problems())


WORKERS = "elapsedTime: null\nexitCode: null\ningestionElapsedTime: {}\ningestionExitCode: {}\n"


@pytest.mark.parametrize(
    ("elapsed", "exit_code", "refused"),
    [
        (1.7, 0, ""),
        (1.5, 0, ""),
        (121, 0, ""),
        ("null", "null", ""),  # where the worker has none
        (1.7, 137, "has not run to its end"),
        (1.7, 1, "has not run to its end"),
        (1.7, -9, "has not run to its end"),
        (0.2, 0, "is said to have run 1.5 s, and the platform saw 0.2 s of it"),
        ("2.0e-05", 0, "the platform saw 0.0 s"),
        (500.25, 0, "is said to have run 1.5 s, and the platform saw 500.2 s of it"),
    ],
)
def test_a_run_that_the_worker_saw_otherwise_is_refused(
    elapsed: object, exit_code: object, refused: str, tmp_path: Path
) -> None:
    folder = job(tmp_path, GOOD)
    (folder / "metadata").write_text(WORKERS.format(elapsed, exit_code))
    if not refused:
        assert handed_over(folder, None, Problems())[1] == 1.5
        return
    with pytest.raises(SubmissionError, match=refused):
        handed_over(folder, None, Problems())


def test_the_fault_of_a_run_is_said_whatever_the_worker_saw(tmp_path: Path) -> None:
    record = {**GOOD, "fault": "submission", "errors": ["model.py: is missing."], "found": 1, "duration": None}
    folder = job(tmp_path, record)
    (folder / "metadata").write_text(WORKERS.format(0.3, 1))
    with pytest.raises(SubmissionError) as caught:
        handed_over(folder, None, Problems())
    assert caught.value.messages == ["model.py: is missing."]
