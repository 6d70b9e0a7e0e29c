"""CodaLab 1.5 bundles become Codabench ones; what could not be carried over is named."""

import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.author.importing.old_format import html_as_markdown, in_new_format
from gen_bundle.author.importing.opening import Imported, open_any
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.check import check_path
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.writing import write_zip
from tests.generator.author.importing.bundles import OLD, old_bundle
from tests.generator.check.drafts import packed
from tests.generator.competition import small_competition

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def converted(path: Path) -> tuple[Mapping[str, Any], Imported]:
    """What competition.yaml says in the new format, and what is said of the bundle."""
    imported = Imported()
    with ExitStack() as held:
        bundle = in_new_format(open_any(path, NOW, held, imported), held, imported)
        return bundle.yaml, imported


def built(tmp_path: Path, path: Path) -> Path:
    """The bundle that the project of an old one builds."""
    import_bundle(path, tmp_path / "project")
    build(BuildRequest(str(tmp_path / "project"), tmp_path / "new.zip", force=True))
    return tmp_path / "new.zip"


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_an_old_bundle(tmp_path: Path) -> None:
    new, imported = converted(old_bundle(tmp_path))
    assert (new["version"], new["registration_auto_approve"], new["docker_image"]) == (2, False, "someone/image:1")
    assert [(phase["name"], phase["start"], phase["end"]) for phase in new["phases"]] == [
        ("Practice", "2031-01-01 00:00:00", "2031-03-01 18:29:59"),
        ("Final", "2031-03-01 18:30:00", "2031-03-31 12:00:00"),
    ]
    assert new["phases"][1]["auto_migrate_to_this_phase"] is True
    rank, f1, seconds = new["leaderboards"][0]["columns"]
    assert (rank["computation"], rank["computation_indexes"], rank["sorting"]) == ("avg_rank", [f1["index"]], "asc")
    assert new["leaderboards"][0]["submission_rule"] == "Force_Last"
    assert (seconds["title"], seconds["index"], seconds["sorting"]) == ("More: Seconds", 2, "asc")
    assert imported.lost == ["anonymous_leaderboard: has no counterpart"]
    assert "leaderboards: Codabench shows one; 1 column of 'More' stand on 'Results'" in imported.changed


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
    imported = import_bundle(of_folders(tmp_path, PROGRAM), tmp_path / "project")
    assert files_below(tmp_path / "project" / "programs" / "score") == ["metadata", "score.py"]
    assert "scoring_program: program is taken for program.zip" in imported.changed


def test_the_zip_of_a_program_is_taken_for_its_missing_folder(tmp_path: Path) -> None:
    text = OLD.replace("reference_data: ref.zip", "reference_data: ./ref/")
    import_bundle(of_folders(tmp_path, PROGRAM, text), tmp_path / "project")
    assert files_below(tmp_path / "project" / "data") == ["practice/truth.txt"]


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
    imported = import_bundle(old, tmp_path / "project")
    found = files_below(tmp_path / "project" / "programs" / "score")
    assert [name for name in found if "__MACOSX" not in name] == kept
    assert any("the folder in it was taken off" in text for text in imported.changed) == (sorted(inside) != kept)


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
    new, result = converted(old_bundle(tmp_path, OLD.replace("\nleaderboard:", pause, 1)))
    assert [(phase["name"], phase["end"]) for phase in new["phases"]] == [
        ("Practice", "2031-01-31 23:59:59"),
        ("Final", "2031-03-31 12:00:00"),
    ]
    assert [task["name"] for task in new["tasks"]] == ["Practice Task", "Final Task"]
    assert any(text.startswith("phase 'Pause': submissions are closed") for text in result.changed)


def phases(*changes: Mapping[str, Any], **top: Any) -> str:
    """The old bundle with these phases, each changed in some keys."""
    document = yaml.safe_load(OLD) | top
    whole = document["phases"][1]
    del whole["input_data"]
    document["phases"] = {}
    for number, change in enumerate(changes, start=1):
        document["phases"][number] = {**whole, "phasenumber": number, "label": f"Track {number}", **change}
    return str(yaml.safe_dump(document, sort_keys=False))


ENDLESS = {"phase_never_ends": True, "description": "A track."}


def test_tracks_that_never_end_are_tasks_of_one_phase(tmp_path: Path) -> None:
    new, imported = converted(old_bundle(tmp_path, phases(ENDLESS, ENDLESS, {**ENDLESS, "start_date": "2031-05-01"})))
    assert [(phase["name"], phase.get("end"), phase["tasks"]) for phase in new["phases"]] == [
        ("Track 1, Track 2", "2031-04-30 23:59:59", [0, 1]),
        ("Track 3", None, [2]),
    ]
    assert [task.get("description") for task in new["tasks"]] == ["A track.", "A track.", None]
    assert "phases 'Track 1', 'Track 2': ran side by side, and are tasks of one phase now" in imported.changed
    (fault,) = imported.faults
    assert fault.startswith(
        "phase 'Track 1', 'Track 2': never ended on CodaLab (phase_never_ends), and ends when 'Track"
    )


def test_what_a_phase_has_once_is_decided_by_the_organiser(tmp_path: Path) -> None:
    text = phases({**ENDLESS, "max_submissions": 9}, {**ENDLESS, "public_data": "ref.zip"})
    new, imported = converted(old_bundle(tmp_path, text))
    assert new["phases"][0]["max_submissions"] == 9
    assert [fault.partition(". They")[0] for fault in imported.faults] == [
        "max_submissions of the phases 'Track 1', 'Track 2': 9, none",
        "public_data of the phases 'Track 1', 'Track 2': none, ref.zip",
    ]


def test_the_parent_of_parallel_phases_is_none(tmp_path: Path) -> None:
    child = {"parent_phasenumber": 1}
    new, imported = converted(old_bundle(tmp_path, phases({"is_parallel_parent": True}, child, child)))
    assert [(phase["name"], phase["tasks"]) for phase in new["phases"]] == [("Track 2, Track 3", [0, 1])]
    assert imported.faults == []


def test_phases_with_one_start_have_no_date_that_is_right(tmp_path: Path) -> None:
    found = import_bundle(old_bundle(tmp_path, phases({}, {})), tmp_path / "project").faults
    assert found[0].startswith("phase 'Track 1': starts together with 'Track 2', so that no date is its end")


def test_an_end_that_never_comes_is_written_nowhere(tmp_path: Path) -> None:
    new, imported = converted(old_bundle(tmp_path, phases(ENDLESS, end_date="2031-12-01")))
    assert "end" not in new["phases"][0]
    assert imported.faults == []


def test_ingestion_during_scoring_stays(tmp_path: Path) -> None:
    new, imported = converted(old_bundle(tmp_path, phases({"ingestion_program_only_during_scoring": True}, {})))
    assert [task.get("ingestion_only_during_scoring") for task in new["tasks"]] == [True, None]
    assert not any("ingestion" in line for line in imported.lost)


def test_data_by_their_key_on_the_old_server_are_absent(tmp_path: Path) -> None:
    key = "9b9d75b1-4d2f-4b5c-8d3c-0e4c9a1b2c3d"
    absent = import_bundle(old_bundle(tmp_path, phases({"scoring_program": key})), tmp_path / "project").absent
    assert absent == [f"tasks[0].scoring_program: {key}; put its files into programs/score/"]


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
    new, result = converted(old_bundle(tmp_path, text))
    assert any(line.startswith("column 'rank'") for line in result.lost) == lost
    (rank, *_) = new["leaderboards"][0]["columns"]
    assert ("computation" not in rank) == lost


def test_a_program_in_python_2_gets_the_old_image_where_none_is_named(tmp_path: Path) -> None:
    text = OLD.replace("competition_docker_image: someone/image:1\n", "")
    files = {"metadata": b"command: python $program/score.py", "score.py": b'print "score: 1"'}
    new, result = converted(old_bundle(tmp_path, text, **{**REFERENCE, "program.zip": packed(files)}))
    assert new["docker_image"] == "codalab/codalab-legacy:py2"
    assert not any("legacy Python 3.7" in text for text in result.lost)


def test_a_missing_program_is_absent_and_a_place_is_made(tmp_path: Path) -> None:
    imported = import_bundle(of_folders(tmp_path, {}), tmp_path / "project")
    assert "tasks[0].scoring_program: program.zip; put its files into programs/score/" in imported.absent


def test_a_day_without_limit_stays_one(tmp_path: Path) -> None:
    text = OLD.replace("max_submissions: 3", "max_submissions_per_day: '7'")
    new, result = converted(old_bundle(tmp_path, text))
    assert [phase["max_submissions_per_day"] for phase in new["phases"]] == [999, 7]
    said = [text for text in result.changed if text.startswith("max_submissions_per_day")]
    assert len(said) == 1
    assert "'Practice': none was given, which is 999 on CodaLab and 5 on Codabench" in said[0]


@pytest.mark.parametrize(("given", "approved"), [("'no'", True), ("'false'", True), ("'yes'", False), ("false", True)])
def test_truth_values_written_as_texts_mean_what_they_say(tmp_path: Path, given: str, approved: bool) -> None:
    text = OLD.replace("has_registration: true", f"has_registration: {given}")
    new, _ = converted(old_bundle(tmp_path, text))
    assert new["registration_auto_approve"] is approved


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_our_own_older_bundles_come_back(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    build(BuildRequest(str(folder), tmp_path / "old.zip", platform="codalab"))
    report = check_path(built(tmp_path, tmp_path / "old.zip"), now=NOW)
    assert report.accepted
    new, _ = converted(tmp_path / "old.zip")
    assert [phase["name"] for phase in new["phases"]] == ["Development", "Test"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title: x\n", "html, phases, leaderboard is missing"),
        (OLD.replace("phases:\n", "phases: []\nother:\n"), "phases is missing"),
        (OLD.replace("phases:\n", "phases: [1]\nother:\n"), "phases is missing or of another kind"),
    ],
)
def test_what_is_no_old_bundle(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        import_bundle(old_bundle(tmp_path, text), tmp_path / "project")
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan", "many", "1" + "0" * 400])
def test_decimals_that_are_no_number_are_to_be_set(tmp_path: Path, number: str) -> None:
    old = old_bundle(tmp_path, OLD.replace("numeric_format: 4", f"numeric_format: {number}"))
    assert any("precision" in line for line in import_bundle(old, tmp_path / "project").faults)


@pytest.mark.parametrize("date", ["0001-01-01", "0001-01-01 00:00:00 +14:00", "9999-12-31 23:00:00 -05:00"])
def test_dates_beyond_the_calendar_are_to_be_set(tmp_path: Path, date: str) -> None:
    imported = import_bundle(old_bundle(tmp_path, OLD.replace("2031-03-01 18:30:00", date)), tmp_path / "project")
    assert any("start" in line for line in imported.faults)


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
