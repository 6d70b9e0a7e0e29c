"""Which submissions count: zips, folders and bare files, the latest of dated folders."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from scoring_kit.errors import OrganiserError, Problems
from scoring_kit.team_results import TeamName, entry_name, read_entries
from tests.scoring_programs.framed import Files, write_files, zipped


def by_first_line(stem: str, names: Sequence[str], problems: Problems) -> str | None:
    """A rule for teams: the part of the file's name before its first `-`."""
    if not names:
        problems.error(stem, "is empty", "a file")
        return None
    return names[0].split("-")[0]


def read(tmp_path: Path, files: Files, rule: TeamName = entry_name) -> dict[str, dict[str, str]]:
    """Team → its submission's files with their text."""
    entries = read_entries(write_files(tmp_path / "all", files), tmp_path / "work", [], rule)
    faults = [fault for entry in entries for fault in entry.problems]
    if faults:
        raise OrganiserError(*faults)
    return {
        entry.team: {path.relative_to(entry.files).as_posix(): path.read_text() for path in entry.files.rglob("*.csv")}
        for entry in entries
    }


def test_zips_folders_and_files(tmp_path: Path) -> None:
    files: Files = {
        "B.zip": zipped({"x/answers.csv": "b"}),
        "A/answers.csv": "a",
        "C.csv": "c",
        ".DS_Store": "",
        "__MACOSX/._C.csv": "",
        ".hidden/answers.csv": "",
    }
    assert read(tmp_path, files) == {"A": {"answers.csv": "a"}, "B": {"x/answers.csv": "b"}, "C": {"C.csv": "c"}}


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("2025-01-09", "2025-01-10"),
        ("20250109", "2025-01-10"),
        ("2025-01-09", "2025-01-09T00-01"),
        ("2025-01-09T18-00", "2025-01-09 18:01"),
        ("2025-01-09_1800", "2025-01-09_18-00-01"),
    ],
)
def test_the_latest_dated_folder_counts(tmp_path: Path, early: str, late: str) -> None:
    files: Files = {f"{late}/A.csv": "late", f"{early}/A.csv": "early", f"{early}/B.zip": zipped({"B.csv": "b"})}
    assert read(tmp_path, files) == {"A": {"A.csv": "late"}, "B": {"B.csv": "b"}}


def test_a_zip_with_backslashes_is_read_like_by_the_scoring_program(tmp_path: Path) -> None:
    files: Files = {"A.zip": zipped({"sub\\": "", "sub\\answers.csv": "a"})}
    assert read(tmp_path, files) == {"A": {"sub/answers.csv": "a"}}


def test_dated_folders_in_a_folder_of_the_team(tmp_path: Path) -> None:
    files = {"team/2025-01-01/A-1.csv": "early", "team/2025-01-02/A-2.csv": "late", "B-1.csv": "b"}
    assert read(tmp_path, files, by_first_line) == {"A": {"A-2.csv": "late"}, "B": {"B-1.csv": "b"}}


def test_what_lies_in_a_teams_own_dated_folders_is_the_teams(tmp_path: Path) -> None:
    files: Files = {
        "A/2025-01-30/submission.csv": "a, early",
        "A/2025-01-31/submission.csv": "a",
        "B/2025-01-31/submission.zip": zipped({"answers.csv": "b"}),
        "B/2025-01-31/.DS_Store": "",
        "C/2025-01-31/binary/d.csv": "c",
        "C/2025-01-31/full/d.csv": "c",
        "2025-01-29/D/2025-01-31/d.csv": "d",
    }
    assert read(tmp_path, files) == {
        "A": {"submission.csv": "a"},
        "B": {"answers.csv": "b"},
        "C": {"binary/d.csv": "c", "full/d.csv": "c"},
        "D": {"d.csv": "d"},
    }


def test_a_submission_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    write_files(tmp_path / "all", {"A.csv": "a", "2025-01-31/C.csv": "c", "D.zip": b"no zip"})
    (tmp_path / "all" / "2025-01-31" / "B.csv").symlink_to(tmp_path / "nowhere")
    entries = {entry.team: entry.problems for entry in read_entries(tmp_path / "all", tmp_path / "work", [])}
    assert {team for team, problems in entries.items() if problems} == {"B", "D"}
    assert entries["B"] == ["B.csv: cannot be read, as it is no file. Expected: a zip, a folder, or the file itself."]
    assert entries["D"][0].startswith("D.zip: cannot be read as a zip")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"A-1.csv": "", "A-2.csv": ""},
            "team A: has 2 submissions (A-1.csv, A-2.csv). Expected: one, or all of them in",
        ),
        ({"A-1.csv": "", "2025-01-01/A-2.csv": ""}, "team A: has 2 submissions (2025-01-01/A-2.csv, A-1.csv)."),
        ({"2025-01-01/A-1.csv": "", "2025-01-01/A-2.csv": ""}, "team A: has 2 submissions of the same date"),
        ({"2025-01-01/A-1.csv": "", "20250101/A-2.csv": ""}, "team A: has 2 submissions of the same date"),
        ({"A/2025-01-01/A-1.csv": "", "A/A-2.csv": ""}, "team A: has 2 submissions (A/2025-01-01, A/A-2.csv)."),
        ({"2025-02-30/A-1.csv": "", "2025-02-31/A-2.csv": ""}, "team A: has 2 submissions ("),
        ({"A.zip": b"no zip"}, "A.zip: cannot be read as a zip"),
        ({"2025-01-31/A.zip": zipped({"../A-1.csv": ""})}, '"../A-1.csv": is not a valid name for a file in a zip.'),
    ],
)
def test_what_is_not_clear_is_an_error(tmp_path: Path, files: Files, message: str) -> None:
    with pytest.raises(OrganiserError) as caught:
        read(tmp_path, files, by_first_line)
    assert caught.value.messages[0].startswith(message), caught.value.messages


def test_all_unclear_teams_are_named(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError) as caught:
        read(tmp_path, {"A-1.csv": "", "A-2.csv": "", "B-1.csv": "", "B-2.csv": "", "C-1.csv": ""}, by_first_line)
    assert len(caught.value.messages) == 2


def test_nothing_to_rank(tmp_path: Path) -> None:
    with pytest.raises(OrganiserError, match="no such folder"):
        read_entries(tmp_path / "nowhere", tmp_path / "work", [])
    (tmp_path / "empty").mkdir()
    with pytest.raises(OrganiserError, match="holds no submission"):
        read_entries(tmp_path / "empty", tmp_path / "work", [])
