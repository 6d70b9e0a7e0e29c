"""CodaLab 1.5 bundles become Codabench ones; what could not be carried over is named."""

import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gen_bundle.author.convert import convert, html_as_markdown
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.cli import root
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.writing import write_zip
from tests.generator.check.drafts import packed
from tests.generator.competition import small_competition
from tests.shared import recorded_uploads

NOW = datetime(2026, 1, 1, tzinfo=UTC)

OLD = """
title: An old task
description: From 2015.
image: logo.png
has_registration: true
end_date: 2031-03-31 12:00:00
competition_docker_image: someone/image:1
force_submission_to_leaderboard: true
anonymous_leaderboard: true
html: {overview: overview.html, evaluation: evaluation.html, terms: terms.html, data: data.html}
phases:
  2:
    phasenumber: 2
    label: Final
    start_date: 2031-03-01 18:30:00
    scoring_program: program.zip
    reference_data: ref.zip
    auto_migration: true
    max_submissions: 3
  1:
    phasenumber: 1
    label: Practice
    start_date: 2031-01-01
    scoring_program: program.zip
    reference_data: ref.zip
    input_data: 01234567-89ab-cdef-0123-456789abcdef
    color: white
leaderboard:
  leaderboards:
    RESULTS: &R {label: Results, rank: 1}
    EXTRA: &E {label: More, rank: 2}
  column_groups: {}
  columns:
    f1: {leaderboard: *R, label: F1, rank: 2, sort: desc, numeric_format: 4}
    rank: {leaderboard: *R, label: Mean rank, rank: 1, computed: {operation: Avg, fields: f1}}
    time: {leaderboard: *E, label: Seconds, rank: 1, sort: asc}
"""


def old_bundle(tmp_path: Path, text: str = OLD, **files: bytes) -> Path:
    members: dict[str, bytes | Path] = {f"{name}.html": b"<h1>A page</h1>" for name in ("overview", "terms", "data")}
    members |= {"evaluation.html": b"", "competition.yaml": text.encode()}
    members |= {"logo.png": small_competition(tmp_path) / "logo.png"}
    members |= {"program.zip": b"PK\5\6" + bytes(18), "ref.zip": b"PK\5\6" + bytes(18), **files}
    write_zip(tmp_path / "old.zip", members)
    return tmp_path / "old.zip"


def converted(path: Path) -> Mapping[str, Any]:
    with zipfile.ZipFile(path) as archive:
        document: Mapping[str, Any] = yaml.safe_load(archive.read("competition.yaml"))
    return document


def test_an_old_bundle(tmp_path: Path) -> None:
    lost = convert(old_bundle(tmp_path), tmp_path / "new.zip").lost
    new = converted(tmp_path / "new.zip")
    assert (new["version"], new["registration_auto_approve"], new["docker_image"]) == (2, False, "someone/image:1")
    assert [(phase["name"], phase["start"], phase["end"]) for phase in new["phases"]] == [
        ("Practice", "2031-01-01 00:00:00", "2031-03-01 18:29:59"),
        ("Final", "2031-03-01 18:30:00", "2031-03-31 12:00:00"),
    ]
    assert new["phases"][1]["auto_migrate_to_this_phase"] is True
    rank, f1 = new["leaderboards"][0]["columns"]
    assert (rank["computation"], rank["computation_indexes"], rank["sorting"]) == ("avg_rank", [f1["index"]], "asc")
    assert new["leaderboards"][0]["submission_rule"] == "Force_Last"
    assert [text.split(":")[0] for text in lost] == [
        "input_data of phase 'Practice'",
        "column 'time'",
        "anonymous_leaderboard",
    ]


PROGRAM = {"program/metadata": b"command: python3 /app/program/score.py", "program/score.py": b"print()"}
REFERENCE = {"ref.zip": packed({"truth.txt": b"a"})}


def of_folders(tmp_path: Path, program: Mapping[str, bytes], text: str = OLD) -> Path:
    """The old bundle as it is often kept: program.zip is named, and the folder program/ lies there."""
    path = old_bundle(tmp_path, text, **{**REFERENCE, **program})
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if name != "program.zip"}
    write_zip(path, kept)
    return path


def test_the_folder_of_a_program_is_taken_for_its_missing_zip(tmp_path: Path) -> None:
    result = convert(of_folders(tmp_path, PROGRAM), tmp_path / "new.zip")
    assert [task["scoring_program"] for task in converted(tmp_path / "new.zip")["tasks"]] == ["program", "program"]
    assert result.faults == []
    assert "scoring_program of phase 'Practice': 'program' is taken for 'program.zip'" in result.changed


def test_the_zip_of_a_program_is_taken_for_its_missing_folder(tmp_path: Path) -> None:
    text = OLD.replace("reference_data: ref.zip", "reference_data: ./ref/")
    convert(of_folders(tmp_path, PROGRAM, text), tmp_path / "new.zip")
    assert [task["reference_data"] for task in converted(tmp_path / "new.zip")["tasks"]] == ["ref.zip", "ref.zip"]


@pytest.mark.parametrize("packed_in", ["zip", "folder"])
@pytest.mark.parametrize(
    ("inside", "kept"),
    [
        (["program/metadata", "program/score.py", "program/data/a.txt"], ["data/a.txt", "metadata", "score.py"]),
        (["program/metadata.yaml", "__MACOSX/program/metadata.yaml"], ["metadata.yaml"]),
        (["metadata", "program/score.py"], ["metadata", "program/score.py"]),
        (["program/score.py"], ["program/score.py"]),  # without metadata CodaLab left it
        (["a/metadata", "b/metadata"], ["a/metadata", "b/metadata"]),
    ],
)
def test_the_only_folder_with_metadata_is_taken_off(
    tmp_path: Path, packed_in: str, inside: list[str], kept: list[str]
) -> None:
    files = dict.fromkeys(inside, b"command: python3 /app/program/score.py")
    if packed_in == "zip":
        old = old_bundle(tmp_path, OLD, **{**REFERENCE, "program.zip": packed(files)})
    else:
        old = of_folders(tmp_path, {f"program/{name}": content for name, content in files.items()})
    result = convert(old, tmp_path / "new.zip")
    with zipfile.ZipFile(tmp_path / "new.zip") as archive:
        names = [name for name in archive.namelist() if "__MACOSX" not in name]
        if packed_in == "zip":
            with zipfile.ZipFile(archive.open("program.zip")) as program:
                found = [name for name in program.namelist() if "__MACOSX" not in name]
        else:
            found = [name.removeprefix("program/") for name in names if name.startswith("program/")]
    assert sorted(found) == kept
    assert any("the folder in it was taken off" in text for text in result.changed) == (sorted(inside) != kept)


def test_a_phase_in_which_nobody_may_submit_is_a_time_without_a_phase(tmp_path: Path) -> None:
    pause = """
  3:
    phasenumber: 1.5
    label: Pause
    start_date: 2031-02-01
    max_submissions: 0
    scoring_program: program.zip
    reference_data: ref.zip
leaderboard:"""
    result = convert(old_bundle(tmp_path, OLD.replace("\nleaderboard:", pause, 1)), tmp_path / "new.zip")
    new = converted(tmp_path / "new.zip")
    assert [(phase["name"], phase["end"]) for phase in new["phases"]] == [
        ("Practice", "2031-01-31 23:59:59"),
        ("Final", "2031-03-31 12:00:00"),
    ]
    assert [task["name"] for task in new["tasks"]] == ["Practice Task", "Final Task"]
    assert any(text.startswith("phase 'Pause': submissions are closed") for text in result.changed)


@pytest.mark.parametrize(
    ("computed", "lost"),
    [
        ("{operation: Avg, fields: [f1]}", False),
        ("{operation: Sum, fields: f1}", True),
        ("{operation: Avg, fields: other}", True),
        ("yes", True),
    ],
)
def test_a_computed_column_is_computed_or_named(tmp_path: Path, computed: str, lost: bool) -> None:
    text = OLD.replace("{operation: Avg, fields: f1}", computed)
    result = convert(old_bundle(tmp_path, text), tmp_path / "new.zip")
    assert any(line.startswith("column 'rank'") for line in result.lost) == lost
    (rank, _) = converted(tmp_path / "new.zip")["leaderboards"][0]["columns"]
    assert ("computation" not in rank) == lost


def test_a_program_in_python_2_gets_the_old_image_where_none_is_named(tmp_path: Path) -> None:
    text = OLD.replace("competition_docker_image: someone/image:1\n", "")
    files = {"metadata": b"command: python $program/score.py", "score.py": b'print "score: 1"'}
    result = convert(old_bundle(tmp_path, text, **{**REFERENCE, "program.zip": packed(files)}), tmp_path / "new.zip")
    assert converted(tmp_path / "new.zip")["docker_image"] == "codalab/codalab-legacy:py2"
    assert not any("legacy Python 3.7" in text for text in result.lost)
    assert "program-not-python-3" not in {fault.id for fault in result.faults}


def test_a_missing_program_is_said_with_what_comes_of_it(tmp_path: Path) -> None:
    old = of_folders(tmp_path, {})
    result = CliRunner().invoke(root, ["convert", str(old), "--out", str(tmp_path / "new.zip"), "--json"])
    assert result.exit_code == 1
    assert "to fix: task 'Practice Task' has no scoring_program. The upload ends with `ERROR: Task" in result.stderr
    assert {fault["id"] for fault in json.loads(result.stdout)["faults"]} == {"task-without-scoring-program"}
    assert (tmp_path / "new.zip").exists()


def test_a_bundle_that_works_ends_with_0(tmp_path: Path) -> None:
    old = of_folders(tmp_path, PROGRAM)
    assert CliRunner().invoke(root, ["convert", str(old), "--out", str(tmp_path / "new.zip")]).exit_code == 0


def test_a_day_without_limit_stays_one(tmp_path: Path) -> None:
    text = OLD.replace("max_submissions: 3", "max_submissions_per_day: '7'")
    result = convert(old_bundle(tmp_path, text), tmp_path / "new.zip")
    phases = converted(tmp_path / "new.zip")["phases"]
    assert [phase["max_submissions_per_day"] for phase in phases] == [999, 7]
    said = [text for text in result.changed if text.startswith("max_submissions_per_day")]
    assert len(said) == 1
    assert "'Practice': none was given, which is 999 on CodaLab and 5 on Codabench" in said[0]


@pytest.mark.parametrize(("given", "approved"), [("'no'", True), ("'false'", True), ("'yes'", False), ("false", True)])
def test_truth_values_written_as_texts_mean_what_they_say(tmp_path: Path, given: str, approved: bool) -> None:
    text = OLD.replace("has_registration: true", f"has_registration: {given}")
    convert(old_bundle(tmp_path, text), tmp_path / "new.zip")
    assert converted(tmp_path / "new.zip")["registration_auto_approve"] is approved


def test_a_converted_bundle_is_accepted(tmp_path: Path) -> None:
    convert(old_bundle(tmp_path), tmp_path / "new.zip")
    assert check_path(tmp_path / "new.zip", now=NOW).accepted


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_our_own_older_bundles_come_back(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    build(BuildRequest(str(folder), tmp_path / "old.zip", platform="codalab"))
    convert(tmp_path / "old.zip", tmp_path / "new.zip")
    report = check_path(tmp_path / "new.zip", now=NOW)
    assert report.accepted
    assert [phase["name"] for phase in converted(tmp_path / "new.zip")["phases"]] == ["Development", "Test"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version: 2\ntitle: x\n", "only CodaLab 1.5"),
        ("title: x\n", "html is missing"),
        ("- a\n", "is not a mapping"),
        ("a: [\n", "competition.yaml:1 is not valid YAML: the text ends before a bracket"),
        (OLD.replace("title: An old task", "title: [*x]"), "is not valid YAML: a text may not begin with"),
        (OLD.replace("data: data.html", "data: ../../etc/passwd"), "is not in the bundle"),
        (OLD.replace("phases:\n", "phases: []\nother:\n"), "phases is missing"),
    ],
)
def test_what_is_no_old_bundle(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        convert(old_bundle(tmp_path, text), tmp_path / "new.zip")
    assert not (tmp_path / "new.zip").exists()


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    (tmp_path / "new.zip").write_text("precious", encoding="utf-8")
    with pytest.raises(UserError, match="exists already"):
        convert(old_bundle(tmp_path), tmp_path / "new.zip")


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("old.zip/new.zip", "old.zip"),
        ("x" * 300 + ".zip", "File name too long"),
        ("folder", "is a folder"),
        ("/proc/new.zip", "^/proc/new.zip: No such file or directory"),
    ],
)
def test_where_nothing_can_be_written_the_reason_is_told(tmp_path: Path, out: str, expected: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=expected):
        convert(old_bundle(tmp_path), tmp_path / out, force=True)


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan", "1" + "0" * 400])
def test_decimals_that_are_no_number_are_none(tmp_path: Path, number: str) -> None:
    convert(old_bundle(tmp_path, OLD.replace("numeric_format: 4", f"numeric_format: {number}")), tmp_path / "new.zip")
    assert converted(tmp_path / "new.zip")["leaderboards"][0]["columns"][1]["precision"] == 0


@pytest.mark.parametrize("date", ["0001-01-01", "0001-01-01 00:00:00 +14:00", "9999-12-31 23:00:00 -05:00"])
def test_dates_beyond_the_calendar_are_to_be_set(tmp_path: Path, date: str) -> None:
    lost = convert(old_bundle(tmp_path, OLD.replace("2031-03-01 18:30:00", date)), tmp_path / "new.zip").lost
    assert any("start_date of phase 'Final': not a readable date" in text for text in lost)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a\n\n    b</p>", "<p>a\nb</p>"),
        ("<pre>  a\n\n  b</pre>", "<pre>  a\n\n  b</pre>"),
        ("<p>$5 and $6</p>", "<p>&#36;5 and &#36;6</p>"),
        ("", "# Data"),
    ],
)
def test_html_that_markdown_leaves_alone(html: str, markdown: str) -> None:
    assert html_as_markdown(html, "Data") == markdown


@pytest.mark.slow
def test_every_old_bundle_of_the_corpus_that_works_stays_acceptable(tmp_path: Path) -> None:
    working = [
        case for case in recorded_uploads() if case["format"] == "v1" and case["accepted"] and case["later"] == "ok"
    ]
    assert len(working) >= 5
    for case in working:
        out = tmp_path / f"{case['id']}.zip"
        convert(case["path"], out)
        report = check_path(out, now=NOW)
        assert report.accepted, (case["id"], [f.what for f in report.findings])
