"""Which submissions a folder holds: every one that was made, in the layouts that the ranking reads."""

import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.after.rescore.submissions import submissions_in
from gen_bundle.dry_run.layout import as_upload
from gen_bundle.ground.errors import UserError
from scoring_kit.base.submissions import JUNK
from scoring_kit.team_results import read_entries
from tests.generator.dry_run.bundles import write_files, write_zip

FILES = {"pred.txt": "1"}
# The end of a zip of several disks, at which Python's zipfile.is_zipfile raises BadZipFile.
SPANNED = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 2) + struct.pack("<4s4H2LH", b"PK\x05\x06", *[0] * 7)


def test_zips_folders_and_files(tmp_path: Path) -> None:
    write_zip(tmp_path / "ant.zip", FILES)
    write_files(tmp_path / "bee", FILES)
    (tmp_path / "cat.txt").write_text("1")
    write_files(tmp_path / "__MACOSX", FILES)
    (tmp_path / ".DS_Store").write_text("")
    found = submissions_in(tmp_path)
    assert [(one.name, one.team, one.path.name) for one in found] == [
        ("ant", "ant", "ant.zip"),
        ("bee", "bee", "bee"),
        ("cat", "cat", "cat.txt"),
    ]


def test_names_are_never_the_same(tmp_path: Path) -> None:
    write_zip(tmp_path / "ant.zip", FILES)
    (tmp_path / "ant.csv").write_text("1")
    (tmp_path / "bee.csv").write_text("1")
    assert [(one.name, one.team) for one in submissions_in(tmp_path)] == [
        ("ant.csv", "ant"),
        ("ant.zip", "ant"),
        ("bee", "bee"),
    ]


def test_all_dates_are_read_where_the_ranking_takes_the_latest(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    write_zip(folder / "ant" / "2030-01-02T03-04-05" / "first.zip", FILES)
    write_zip(folder / "ant" / "2030-01-03" / "second.zip", FILES)
    write_files(folder / "bee" / "2030-01-01T00-00", {"a.txt": "1", "b.txt": "2"})
    write_zip(folder / "2029-12-31" / "cat.zip", FILES)
    found = submissions_in(folder)
    assert [(one.name, one.team) for one in found] == [
        ("2029-12-31/cat", "cat"),
        ("bee/2030-01-01T00-00", "bee"),
        ("ant/2030-01-02T03-04-05", "ant"),
        ("ant/2030-01-03", "ant"),
    ]
    ranked = {entry.team: entry.shown for entry in read_entries(folder, tmp_path / "work", ())}
    latest = {one.team: one.path.relative_to(folder).as_posix() for one in found}
    assert ranked == latest


def test_the_ranking_reads_the_same_folder_alike(tmp_path: Path) -> None:
    """Whatever lies in a folder, the ranking scores what a rescoring scores last."""
    folder = tmp_path / "all"
    for name in ("ant.zip", "bee.ZIP", "cat", "dog.v2", "2025-02-31.zip", "2025-01-29/eel.zip", "2025-01-29/fox"):
        write_zip(folder / name, FILES)
    for name in ("gnu/2025-01-30/first.zip", "gnu/2025-01-31/last", "hen/2025-01-31/pred.zip", "ibis/a.zip"):
        write_zip(folder / name, FILES)
    for name in ("jay", "kiwi/2025-02-31", "2025-01-29/lynx", "mole/2025-01-31", "2025-01-29/newt/2025-01-31T18-00"):
        write_files(folder / name, {**FILES, "more.txt": "2"})
    write_files(folder, {"owl.txt": "1", "pig/20250131/pred.txt": "1", "2025-01-29/2025-01-30/ram.csv": "1"})
    (folder / "span.bin").write_bytes(SPANNED)
    for place in ("", "2025-01-29", "gnu", "gnu/2025-01-31", "mole/2025-01-31", "jay"):
        for pattern in JUNK:
            name = re.sub(r"\[(.).*?\]", r"\1", pattern).replace("*", "ant")
            (folder / place / f"{name}.zip~").write_text("")
            write_files(folder / place / name, FILES)
        write_files(folder / place / ".hidden", FILES)
    ranked = {
        entry.team: (entry.shown, sorted(file.relative_to(entry.files).as_posix() for file in all_files(entry.files)))
        for entry in read_entries(folder, tmp_path / "work", ())
    }
    rescored = {one.team: one.path for one in submissions_in(folder)}
    assert ranked == {
        team: (path.relative_to(folder).as_posix(), uploaded(path, tmp_path / "uploads" / team))
        for team, path in rescored.items()
    }
    animals = "ant bee cat dog eel fox gnu hen ibis jay kiwi lynx mole newt owl pig ram"
    assert set(ranked) == {"2025-02-31", "span", *animals.split()}


def all_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def uploaded(path: Path, scratch: Path) -> list[str]:
    """The names of the files that a rescoring unpacks; none of a zip that cannot be read."""
    try:
        with zipfile.ZipFile(as_upload(path, scratch)) as opened:
            return sorted(opened.namelist())
    except zipfile.BadZipFile:
        return []


def record(number: int, file: str | None, status: str = "Finished", **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "owner": file.split("/")[1] if file else "ant",
        "parent": None,
        "task": None,
        "status": status,
        "on_leaderboard": False,
        "scores": {},
        "file": file,
        "bytes": None,
        "complete": True,
        **more,
    }


def test_a_fetched_phase(tmp_path: Path) -> None:
    records = [
        record(1, "submissions/bee/2030-01-02T03-04-07/a.zip", on_leaderboard=True),
        record(2, "submissions/ant/2030-01-02T03-04-06/a.zip"),
        record(3, "other/ant/2030-01-02T03-04-05/a.zip", "Failed"),
        record(4, "other/ant/2030-01-02T03-04-04/a.zip", "Deleted"),
        record(5, None, parent=2, on_leaderboard=True),
    ]
    for one in records:
        if one["file"]:
            write_zip(tmp_path / one["file"], FILES)
    (tmp_path / "submissions.json").write_text(json.dumps(records))
    assert [(one.name, one.team, one.chosen) for one in submissions_in(tmp_path)] == [
        ("ant/2030-01-02T03-04-05", "ant", False),  # it failed, and may not any more
        ("ant/2030-01-02T03-04-06", "ant", True),  # for one of its tasks
        ("bee/2030-01-02T03-04-07", "bee", True),
    ]
    scored = submissions_in(tmp_path / "submissions")  # as it is given to the ranking
    assert [one.name for one in scored] == ["ant/2030-01-02T03-04-06", "bee/2030-01-02T03-04-07"]


@pytest.mark.parametrize("file", ["../../gold/ant/a.zip", "submissions/../../../gold/ant/a.zip", "/etc/passwd", "link"])
def test_records_do_not_lead_out_of_a_fetched_phase(tmp_path: Path, file: str) -> None:
    phase = tmp_path / "fetched" / "0-test"
    write_zip(tmp_path / "gold" / "ant" / "a.zip", FILES)
    write_zip(phase / "submissions" / "bee" / "2030-01-02T03-04-07" / "a.zip", FILES)
    (phase / "link").symlink_to(tmp_path / "gold")
    records = [record(1, "submissions/bee/2030-01-02T03-04-07/a.zip"), record(2, None) | {"file": file}]
    (phase / "submissions.json").write_text(json.dumps(records))
    with pytest.raises(UserError, match=r"submissions\.json: '.*' leads out of the folder\. Fetch into a new folder\."):
        submissions_in(phase)


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_no_submissions(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=name):
        submissions_in(tmp_path / name)
