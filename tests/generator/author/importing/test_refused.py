"""What Codabench refuses is named with its place, and neither put right nor lost without a word."""

import zipfile
from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli.diff import diff
from gen_bundle.codabench.worker import PLATFORM_IMAGE
from gen_bundle.ground.errors import UserError
from tests.generator.author.importing.round_trip import imported, round_trip, written
from tests.generator.check import drafts
from tests.generator.check.drafts import Draft, Edit, drop, packed, put, replace
from tests.generator.cli.running import gen_bundle

COLUMN = ("leaderboards", 0, "columns", 0)


def edited(*edits: Edit) -> Draft:
    draft = drafts.new()
    for edit in edits:
        edit(draft)
    return draft


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        ((*COLUMN, "sorting"), "ascending", "leaderboard.columns.points.sort"),
        ((*COLUMN, "sorting"), "ASC", "leaderboard.columns.points.sort"),
        ((*COLUMN, "sorting"), True, "leaderboard.columns.points.sort"),
        ((*COLUMN, "precision"), "three", "leaderboard.columns.points.precision"),
        ((*COLUMN, "hidden"), "maybe", "leaderboard.columns.points.hidden"),
        ((*COLUMN, "index"), "first", "leaderboard.columns.points.index"),
        (("leaderboards", 0, "primary_index"), "first", "leaderboard.primary_index"),
        (("leaderboards", 0, "hidden"), "maybe", "leaderboard.hidden"),
        (("leaderboards", 0, "submission_rule"), "Best", "submission_rule"),
        (("phases", 0, "max_submissions"), "fifty", "phases.main.max_submissions"),
        (("phases", 0, "max_submissions_per_day"), [5], "phases.main.max_submissions_per_day"),
        (("phases", 0, "execution_time_limit"), "an hour", "phases.main.execution_time_limit"),
        (("phases", 0, "hide_output"), "perhaps", "phases.main.hide_output"),
        (("phases", 0, "auto_migrate_to_this_phase"), "perhaps", "phases.main.auto_migrate"),
        (("phases", 0, "tasks"), ["0"], "phases.main.tasks.0"),
        (("phases", 0, "tasks"), [0, 7], "phases.main.tasks.1"),
        (("tasks", 0, "ingestion_only_during_scoring"), "often", "tasks.main.ingestion_only_during_scoring"),
        (("registration_auto_approve",), "maybe", "registration"),
        (("registration_auto_approve",), ["yes"], "registration"),
        (("forum_enabled",), "maybe", "forum"),
        (("make_programs_available",), "maybe", "make_programs_available"),
        (("competition_type",), "race", "competition_type"),
        (("contact_email",), ["me"], "contact"),
        (("reward",), ["a cup"], "reward"),
        (("queue",), ["mine"], "queue"),
    ],
)
def test_a_wrong_value_stays_and_is_refused_twice(
    at: tuple[str | int, ...], value: object, said: str, tmp_path: Path
) -> None:
    faults = imported(edited(put(*at, value)), tmp_path).faults
    assert faults[0].startswith("competition.yaml:")
    assert str(at[-1]) in faults[0] or "task" in faults[0]
    assert any(fault.startswith("bundle.yaml:") and f" {said}: " in fault for fault in faults)
    with pytest.raises(UserError, match=f"{said}: "):
        build(BuildRequest(str(tmp_path / "project"), tmp_path / "again.zip", force=True))


TWICE = replace("title: A small task", "title: First\ntitle: A small task")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (drop("version"), "`version: 2` is missing"),
        (put("version", 3), "competition.yaml:"),
        (put("version", "2.0"), "competition.yaml:"),
        (TWICE, "title occurs twice in the same mapping"),
        (put("tasks", [{"index": 0, "name": "A"}, {"index": 0, "name": "B"}]), "index"),
        (put("solutions", [{"index": 0, "path": "ref", "tasks": [9]}]), "refers to the task 9"),
    ],
)
def test_what_no_project_can_say_is_named_with_its_line(edit: Edit, said: str, tmp_path: Path) -> None:
    assert any(
        said in fault and fault.startswith("competition.yaml:") for fault in imported(edited(edit), tmp_path).faults
    )


def test_a_bundle_that_is_refused_is_not_the_same(tmp_path: Path) -> None:
    good, wrong = written(drafts.new(), tmp_path / "a"), written(edited(drop("version")), tmp_path / "b")
    (found,) = diff(str(wrong), str(good))
    assert (found.what, found.new) == ("what Codabench makes of it", "accepted")
    assert str(found.old).startswith("refused: ")
    assert diff(str(wrong), str(wrong)) == []


@pytest.mark.parametrize(
    "path", ["/etc/", "..", ".", "", None, ["ref"], "missing//", "/missing/ref", "a\\b", "../ref2"]
)
@pytest.mark.parametrize(("role", "place"), [("scoring_program", "programs/score"), ("reference_data", "data/main")])
def test_a_path_that_leads_nowhere_has_a_place(path: object, role: str, place: str, tmp_path: Path) -> None:
    found = imported(edited(put("tasks", 0, role, path)), tmp_path)
    (absent,) = found.absent
    assert absent.startswith(f"tasks[0].{role}: ")
    assert absent.endswith(f"; put its files into {place}/")
    assert found.lost == []


@pytest.mark.parametrize(
    "path", ["/scoring/", "scoring/ ", " scoring", "./scoring//", "SCORING", "scoring.zip", ".\\scoring"]
)
def test_a_path_that_is_meant_well_is_taken(path: str, tmp_path: Path) -> None:
    found = imported(edited(put("tasks", 0, "scoring_program", path)), tmp_path)
    assert (found.absent, found.lost, found.faults) == ([], [], [])
    assert sorted(file.name for file in (tmp_path / "project" / "programs" / "score").iterdir()) == [
        "metadata.yaml",
        "score.py",
    ]


def test_a_zip_of_windows(tmp_path: Path) -> None:
    draft = edited(put("pages", 0, "file", "pages\\overview.md"))
    draft.files["pages\\overview.md"] = draft.files.pop("overview.md")
    for name in ("scoring/score.py", "scoring/metadata.yaml", "ref/truth.txt"):
        draft.files[name.replace("/", "\\")] = draft.files.pop(name)
    found = imported(draft, tmp_path)
    assert (found.absent, found.faults) == ([], [])
    assert found.changed[0] == "pages\\overview.md: a backslash in a name is taken for a slash, as in 3 others"
    assert (tmp_path / "project" / "data" / "main" / "truth.txt").is_file()


def test_a_solution_of_a_dump_brings_its_file(tmp_path: Path) -> None:
    key = "0b6b2f3e-6a0e-4a9b-9d0a-6f6f0d9c1a11"
    draft = edited(put("solutions", [{"index": 0, "key": key, "path": "solution.zip", "tasks": [0]}]))
    draft.files["solution.zip"] = packed({"truth.txt": b"a\n"})
    found, differences = round_trip(written(draft, tmp_path), tmp_path)
    assert (found.lost, found.faults) == ([], [])
    assert (tmp_path / "project" / "solutions" / "solution" / "truth.txt").is_file()
    assert [(one.part, one.what) for one in differences] == [("solutions", "path")]


def test_a_solution_by_its_key_alone_is_a_difference_once_it_is_gone(tmp_path: Path) -> None:
    draft = edited(put("solutions", [{"index": 0, "key": "0b6b2f3e-6a0e-4a9b-9d0a-6f6f0d9c1a11", "tasks": [0]}]))
    found, differences = round_trip(written(draft, tmp_path), tmp_path)
    assert found.lost == ["solutions[0]: a solution that is on the server, by its key"]
    assert [(one.part, one.what) for one in differences] == [("solutions", "removed")]


def test_a_list_under_leaderboard_is_taken(tmp_path: Path) -> None:
    draft = drafts.new()
    draft.yaml["leaderboard"] = draft.yaml.pop("leaderboards")
    found = imported(draft, tmp_path)
    assert (found.changed, found.lost, found.faults) == (["leaderboard: its list is taken for leaderboards"], [], [])


def test_the_comments_are_kept_beside(tmp_path: Path) -> None:
    draft = edited(replace("version: 2", "# Month/Day/Year\nversion: 2"))
    imported(draft, tmp_path)
    original = (tmp_path / "project" / "original" / "competition.yaml").read_bytes()
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        assert original == archive.read("competition.yaml")


def test_keys_that_several_columns_have_are_one_line(tmp_path: Path) -> None:
    edits = [put("leaderboards", 0, "columns", place, "sort", "asc") for place in (0, 1)]
    assert imported(edited(*edits), tmp_path).lost == ["sort in 2 columns: Codabench ignores it, too"]


def test_an_unchanged_import_is_a_draft_with_its_faults(tmp_path: Path) -> None:
    draft = drafts.new()
    del draft.yaml["tasks"][0]["reference_data"]
    draft.files["scoring/metadata.yaml"] = b"description: no command\n"
    imported(draft, tmp_path)
    bundle = tmp_path / "again.zip"
    (one,) = build(BuildRequest(str(tmp_path / "project"), bundle))
    assert one.errors == ()
    assert any(lack.what.startswith("As imported: ") for lack in one.draft)
    assert gen_bundle("./project", "--out", "released.zip", "--release", cwd=tmp_path).returncode == 1
    page = tmp_path / "project" / "pages" / "overview.md"
    page.write_text(page.read_text() + "More.\n")
    with pytest.raises(UserError, match="--force"):
        build(BuildRequest(str(tmp_path / "project"), bundle))


def test_what_its_image_has_not_keeps_it_a_draft_whatever_is_changed(tmp_path: Path) -> None:
    draft = drafts.new()
    draft.yaml["docker_image"] = PLATFORM_IMAGE
    draft.files["scoring/score.py"] = b"import torch\n"
    draft.files["scoring/metadata.yaml"] = b"command: python3 score.py\n"
    imported(draft, tmp_path)
    page = tmp_path / "project" / "pages" / "overview.md"
    page.write_text(page.read_text() + "More.\n")
    (one,) = build(BuildRequest(str(tmp_path / "project"), tmp_path / "again.zip"))
    assert one.errors == ()
    (lack,) = (lack for lack in one.draft if lack.id == "library-missing")
    assert lack.what.endswith(f" needs torch, which {PLATFORM_IMAGE} has not.")


def test_what_participants_would_see_is_never_a_draft(tmp_path: Path) -> None:
    draft = edited(put("phases", 0, "public_data", "public"))
    gold = "".join(f"row{number} label{number % 3} {number * 7919}\n" for number in range(40)).encode()
    draft.files |= {"ref/truth.txt": gold, "public/truth.txt": gold}
    imported(draft, tmp_path)
    with pytest.raises(UserError):
        build(BuildRequest(str(tmp_path / "project"), tmp_path / "again.zip"))
