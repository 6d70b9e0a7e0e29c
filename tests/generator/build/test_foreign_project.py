"""Projects with programs of others: what lies there is packed as it is, and what cannot be packed is named."""

import re
import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.cli.diff import diff
from gen_bundle.dry_run.engines.choose import StrangersError, refuse_strangers
from gen_bundle.dry_run.engines.process import ProcessEngine
from tests.generator.build.looking import built, document, members, refused
from tests.generator.foreign_project import FILES, foreign_project

KEY = "5f3a7e1c-0d2b-4c6a-9b1e-2f4d6a8c0e13"
Change = Callable[[dict[str, Any]], object]


def test_everything_is_packed_as_it_lies_there(tmp_path: Path) -> None:
    one = built(foreign_project(tmp_path / "task"))
    packed = members(one.path)
    assert packed["pages/overview.md"] == FILES["pages/overview.md"]
    assert packed["pages/terms.html"] == FILES["pages/terms.html"]
    for folder in ("programs/score", "data/dev", "data/test", "solutions/guess"):
        held = {f"{folder}/{name}": content for name, content in members(packed[f"{folder}.zip"]).items()}
        assert held == {name: content for name, content in FILES.items() if name.startswith(f"{folder}/")}
    assert (one.errors, one.draft) == ((), ())


def test_dates_limits_rule_and_image_are_those_that_were_written(tmp_path: Path) -> None:
    declared = document(built(foreign_project(tmp_path / "task")).path)
    dev, test = declared["phases"]
    assert (dev["start"], dev["end"]) == ("2031-01-01 10:00:00", "2031-02-01")
    assert ("end" in test, test["max_submissions"]) == (False, 0)
    assert declared["docker_image"] == "codalab/codalab-legacy:py37"
    assert declared["registration_auto_approve"] is False
    assert declared["leaderboards"][0]["submission_rule"] == "Force_Last"
    assert declared["leaderboards"][0]["columns"][0]["key"] == "set1-acc"


COLUMN = "{key: set1-acc, title: Accuracy, sort: desc}"
ACCEPTED = {
    "one task in two phases": ["phases.test.tasks=[dev]"],
    "a task in no phase": ["phases.dev.tasks=[test]"],
    "two tasks with one name": ["tasks.test.name=Development"],
    "a gap between columns": [
        f"leaderboard.columns=[{COLUMN}, {{key: f1, title: F1, sort: desc, index: 7, precision: -1, hidden: true}}]"
    ],
    "another column ranks": [
        "leaderboard.primary_index=1",
        f"leaderboard.columns=[{COLUMN}, {{key: '5', title: '5', sort: asc}}]",
    ],
    "a mean of columns": [
        f"leaderboard.columns=[{COLUMN}, {{key: m, title: Mean, sort: desc, computation: avg, of: [set1-acc]}}]"
    ],
    "no pages": ["pages=[]"],
    "texts that say nothing": [f'{key}=""' for key in ("contact", "queue", "reward", "description")],
    "a question": [
        'fact_sheet.m={key: m, type: text, title: M, selection: "", is_required: "no", is_on_leaderboard: true}'
    ],
    "flags": ["make_programs_available=true", "auto_run_submissions=false", "forum=false"],
}


@pytest.mark.parametrize("overrides", ACCEPTED.values(), ids=ACCEPTED)
def test_what_the_platform_takes_is_written(tmp_path: Path, overrides: list[str]) -> None:
    assert built(foreign_project(tmp_path / "task"), overrides=tuple(overrides)).errors == ()


def test_what_the_platform_refuses_is_written_with_force_alone(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task", lambda one: one["phases"][1].update(start="2031-01-05"))
    (message,) = refused(folder)
    assert "phase Test starts 2031-01-05" in message
    assert document(built(folder, force=True).path)["phases"][1]["start"] == "2031-01-05"


SCORE, INGEST, OTHER = "programs/score.zip", "programs/ingest.zip", "programs/other.zip"
OVERRIDDEN: dict[str, tuple[list[str], list[tuple[str | None, str | None]]]] = {
    "at the top": ([], [(SCORE, INGEST), (SCORE, INGEST)]),
    "of a phase": ([f"phases.test.programs.scoring={OTHER}"], [(SCORE, INGEST), (OTHER, INGEST)]),
    "of a task": ([f"tasks.dev.programs.scoring={OTHER}"], [(OTHER, INGEST), (SCORE, INGEST)]),
    "none of a task": (["tasks.dev.programs.ingestion=null"], [(SCORE, None), (SCORE, INGEST)]),
    "none of a phase": (["phases.dev.programs.ingestion=null"], [(SCORE, None), (SCORE, INGEST)]),
    "a task before its phase": (
        [f"phases.test.programs={{scoring: {OTHER}, ingestion: null}}", "tasks.test.programs.scoring=programs/score"],
        [(SCORE, INGEST), (SCORE, None)],
    ),
}


@pytest.mark.parametrize(("overrides", "expected"), OVERRIDDEN.values(), ids=OVERRIDDEN)
def test_programs_come_from_the_task_then_the_phase_then_the_top(
    tmp_path: Path, overrides: list[str], expected: list[tuple[str | None, str | None]]
) -> None:
    folder = foreign_project(tmp_path / "task")
    for name in ("ingest", "other"):
        with zipfile.ZipFile(folder / f"programs/{name}.zip", "w") as archive:
            archive.writestr("metadata", "command: python3 score.py\n")
            archive.writestr("score.py", f"# {name}\n")
    top = "programs={scoring: programs/score, ingestion: programs/ingest.zip}"
    one = built(folder, force=True, overrides=(top, *overrides))
    tasks = document(one.path)["tasks"]
    assert [(task.get("scoring_program"), task.get("ingestion_program")) for task in tasks] == expected
    packed = members(one.path)
    for name in {place for pair in expected for place in pair if place not in (None, SCORE)}:
        assert packed[str(name)] == (folder / str(name)).read_bytes()


def minimal(folder: Path, change: Change = lambda _: None) -> Path:
    """A project as it is written by hand: its columns with its task, and data in the usual places."""

    def declare(one: dict[str, Any]) -> None:
        for key in ("description", "docker_image", "registration", "submission_rule", "solutions", "leaderboard"):
            del one[key]
        one["tasks"] = [{"id": "main", "name": "Main", "columns": [{"key": "set1-acc", "title": "A", "sort": "desc"}]}]
        one["phases"] = [{"id": "test", "name": "Test", "start": "2031-01-01 AoE"}]
        change(one)

    return foreign_project(folder, declare)


def written(folder: Path, **files: str) -> Path:
    """Write further files, named with `__` for `/`."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_what_is_not_named_comes_from_the_usual_places(tmp_path: Path) -> None:
    folder = minimal(tmp_path / "task")
    written(folder, data__input__test__items="1", public__items="2", kits__test__readme="3")
    declared = document(built(folder).path)
    (task,), (phase,), (solution,) = declared["tasks"], declared["phases"], declared["solutions"]
    assert task["reference_data"] == "data/test.zip"
    assert task["input_data"] == "data/input/test.zip"
    assert (phase["public_data"], phase["starting_kit"]) == ("public.zip", "kits/test.zip")
    assert phase["start"] == "2031-01-01 12:00:00"
    assert (solution["path"], solution["name"], solution["tasks"]) == ("solutions/guess.zip", "guess", [0])
    assert [column["key"] for column in declared["leaderboards"][0]["columns"]] == ["set1-acc"]


def two_phases(one: dict[str, Any], **changes: Any) -> None:
    one["phases"][0] |= changes
    one["phases"].insert(0, {"id": "dev", "name": "Dev", "start": "2030-01-01 AoE", "end": "2030-02-01 AoE"})


def two_tasks(one: dict[str, Any], **changes: Any) -> None:
    one["phases"][0] |= changes
    one["tasks"].append({"id": "more", "name": "More", "columns": [{"key": "b", "title": "B", "sort": "asc"}]})


Held = list[tuple[str, str | None, list[int]]]
USUAL: dict[str, tuple[Change, dict[str, str], Held]] = {
    "data of each phase": (
        two_phases,
        {},
        [("Main (Dev)", "data/dev.zip", [0]), ("Main (Test)", "data/test.zip", [1])],
    ),
    "the data of another phase": (
        lambda one: two_phases(one, data="dev"),
        {},
        [("Main", "data/dev.zip", [0, 1])],
    ),
    "tasks that share the data": (
        two_tasks,
        {},
        [("Main", "data/test.zip", [0]), ("More", "data/test.zip", [0])],
    ),
    "data of each task": (
        two_tasks,
        {"data__test__main__gold": "1", "data__test__more.zip": "2"},
        [("Main", "data/test/main.zip", [0]), ("More", "data/test/more.zip", [0])],
    ),
    "data of one task alone": (
        two_tasks,
        {"data__test__main__gold": "1"},
        [("Main", "data/test/main.zip", [0]), ("More", None, [0])],
    ),
    "none": (
        lambda one: one["tasks"][0].update(reference_data=None),
        {},
        [("Main", None, [0])],
    ),
    "a task in no phase": (
        lambda one: two_tasks(one, tasks=["more"]),
        {},
        [("Main", None, []), ("More", "data/test.zip", [0])],
    ),
    "a program of one phase": (
        lambda one: two_phases(one, data="dev", programs={"scoring": "data/test"}),
        {},
        [("Main (Dev)", "data/dev.zip", [0]), ("Main (Test)", "data/dev.zip", [1])],
    ),
}


@pytest.mark.parametrize(("change", "files", "expected"), USUAL.values(), ids=USUAL)
def test_a_task_becomes_one_for_each_kind_of_data_and_programs(
    tmp_path: Path, change: Change, files: dict[str, str], expected: Held
) -> None:
    declared = document(built(written(minimal(tmp_path / "task", change), **files), force=True).path)
    held = []
    for task in declared["tasks"]:
        phases = [at for at, phase in enumerate(declared["phases"]) if task["index"] in phase["tasks"]]
        held.append((task["name"], task.get("reference_data"), phases))
    assert held == expected


def test_what_is_written_by_hand_as_elsewhere_is_taken(tmp_path: Path) -> None:
    def declare(one: dict[str, Any]) -> None:
        one["raw"] = False
        one["pages"] = [{"title": "Overview", "file": "pages/page.md.j2"}]
        one["phases"][0] |= {"start": "2031-01-01 10:00 +02:00", "end": "2031-02-01 UTC"}
        one["fact_sheet"] = {"size": {"type": "select", "title": "Size", "choices": ["small", "large"]}}
        one["milestones"] = [{"name": "Papers due", "date": "2031-03-01 AoE"}]
        one["submission_rule"] = "best"
        field = {"field": "answer", "type": "text", "required": True, "meaning": "The answer."}
        one["submission"] = {"file": "answers.txt", "fields": [field]}
        one["tasks"][0]["columns"][0] |= {"worst": 0, "meaning": "Share of right answers."}

    folder = minimal(tmp_path / "task", declare)
    (folder / "pages" / "page.md.j2").write_text(
        "# {{ competition.title }}: {{ competition.submission.file }}\n", encoding="utf-8"
    )
    one = built(folder)
    declared = document(one.path)
    assert members(one.path)["pages/page.md"] == b"# Somebody's task: answers.txt\n"
    assert members(one.path)["terms.md"] == FILES["pages/terms.html"]
    (phase,) = declared["phases"]
    assert (phase["start"], phase["end"]) == ("2031-01-01 08:00:00", "2031-02-01 23:59:59")
    assert declared["fact_sheet"]["size"]["selection"] == ["small", "large"]
    assert declared["milestones"] == [{"name": "Papers due", "date": "2031-03-02 11:59:59"}]
    assert declared["leaderboards"][0]["submission_rule"] == "Force_Best"


REFUSED: dict[str, tuple[str, str]] = {
    "no such folder": (
        "tasks.dev.reference_data=data/dve",
        "tasks.dev.reference_data: nothing is at data/dve. Expected the reference data there",
    ),
    "outside": (
        "tasks.dev.input_data=../private",
        "tasks.dev.input_data: '../private' does not lead to a part of the project",
    ),
    "of the machine": ("programs.scoring=/etc", "programs.scoring: '/etc' does not lead"),
    "the project": ("tasks.dev.input_data=./", "'./' does not lead to a part of the project"),
    "a name that is too long": (f"tasks.dev.input_data={500 * 'x'}", "nothing is at xxx"),
    "a zip": ("tasks.dev.input_data=data/some", "Did you mean data/some.zip?"),
    "two in one place": ("tasks.dev.input_data=data/dev.zip", "would be data/dev.zip in the bundle"),
    "no such task": ("phases.dev.tasks=[dve]", "no task 'dve'. Did you mean 'dev'?"),
    "no such column": (
        f"leaderboard.columns=[{COLUMN}, {{key: m, title: M, sort: desc, computation: avg, of: [set1acc]}}]",
        "leaderboard.columns.m.of.0: no column 'set1acc'. Did you mean 'set1-acc'?",
    ),
    "a column twice": (f"leaderboard.columns=[{COLUMN}, {COLUMN}]", "'set1-acc' is used twice"),
    "no such page": ("pages.Overview.file=pages/x.md", "no file 'pages/x.md'"),
    "a template": ("raw=false", "pages/overview.md:2: expected token"),
    "columns in two places": (
        "tasks.dev.columns=[{key: f1, title: F1, sort: desc}]",
        "leaderboard.columns: tasks have columns, too",
    ),
    "no columns": ("leaderboard.columns=null", "columns is missing"),
}


@pytest.mark.parametrize(("override", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_packed_is_named(tmp_path: Path, override: str, said: str) -> None:
    (tmp_path / "private").mkdir()
    folder = foreign_project(tmp_path / "task")
    for name in ("dev", "some"):
        (folder / "data" / f"{name}.zip").write_bytes(b"no zip")
    assert said in "\n".join(refused(folder, overrides=(override,)))


def test_keys_that_are_not_read_are_named_at_their_places(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task", lambda one: one.update(options={"profile": "x"}, colour="red"))
    options, colour = refused(folder)
    assert re.match(r"bundle\.yaml:\d+:1: options: is read with a scoring package alone", options)
    assert re.match(r"bundle\.yaml:\d+:1: colour: unknown key", colour)


def test_a_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("secret", encoding="utf-8")
    folder = foreign_project(tmp_path / "task")
    (folder / "programs" / "score" / "key.txt").symlink_to("../../../key.txt")
    (message,) = refused(folder)
    assert message.startswith("programs/score/key.txt: leads to")


@pytest.mark.parametrize(
    ("asked", "option"),
    [({"layout": "joint"}, "--layout joint"), ({"task": "dev"}, "--task dev"), ({"platform": "codalab"}, "--platform")],
)
def test_options_that_need_a_scoring_package_are_refused(tmp_path: Path, asked: dict[str, str], option: str) -> None:
    (message,) = refused(foreign_project(tmp_path / "task"), **asked)
    assert message.startswith(option)


def test_files_travel_byte_for_byte_and_keys_of_the_server_as_they_are(tmp_path: Path) -> None:
    def declare(one: dict[str, Any]) -> None:
        one["tasks"][0] |= {"reference_data": "data/dev.bin", "input_data": KEY}
        one["tasks"][1] = {"id": "test", "name": "Test", "key": KEY}

    folder = foreign_project(tmp_path / "task", declare)
    (folder / "data" / "dev.bin").write_bytes(b"\0 no zip")
    one = built(folder, force=True)
    first, second = document(one.path)["tasks"]
    assert (first["reference_data"], first["input_data"]) == ("data/dev.bin", KEY)
    assert members(one.path)["data/dev.bin"] == b"\0 no zip"
    assert second == {"index": 1, "id": "test", "name": "Test", "key": KEY}


def test_own_data_take_the_place_of_data(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task", lambda one: one["tasks"][1].update(reference_data="./data/test"))
    for name in ("dev", "test"):
        (tmp_path / "real" / name).mkdir(parents=True)
        (tmp_path / "real" / name / "gold.txt").write_text(f"real {name}", encoding="utf-8")
    packed = members(built(folder, data=tmp_path / "real").path)
    for name in ("dev", "test"):
        assert members(packed[f"data/{name}.zip"]) == {"gold.txt": f"real {name}".encode()}
    (tmp_path / "bundle.zip").unlink()
    shutil.rmtree(tmp_path / "real" / "test")
    (message,) = refused(folder, data=tmp_path / "real")
    assert f"tasks.test.reference_data: nothing is at {tmp_path / 'real' / 'test'}." in message


def test_any_value_can_be_overridden(tmp_path: Path) -> None:
    overrides = (
        "phases.test.end=2031-05-01 12:00:00",
        "leaderboard.columns.set1-acc.precision=1",
        "programs.ingestion=null",
    )
    declared = document(built(foreign_project(tmp_path / "task"), overrides=overrides).path)
    assert declared["phases"][1]["end"] == "2031-05-01 12:00:00"
    assert declared["leaderboards"][0]["columns"][0]["precision"] == 1
    (tmp_path / "bundle.zip").unlink()
    (message,) = refused(tmp_path / "task", overrides=("option.x=1",))
    assert message.startswith("--set option.x=1: no key 'option'.")


def test_gold_where_participants_can_read_it_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"q{number},{number % 7}{number % 5}\n" for number in range(60))
    folder = foreign_project(tmp_path / "task", lambda one: one["phases"][1].update(public_data="data/public"))
    (folder / "data" / "public").mkdir()
    for place in ("test", "public"):
        (folder / "data" / place / "labels.csv").write_text(f"id,label\n{rows}", encoding="utf-8")
    assert any("participants would see" in message or "labels.csv" in message for message in refused(folder))
    assert built(folder, force=True).leaks


def test_phases_that_are_over_make_it_a_draft(tmp_path: Path) -> None:
    one = built(foreign_project(tmp_path / "task"), now=datetime(2031, 6, 1, tzinfo=UTC))
    assert [lack.id for lack in one.draft] == ["dates-past"]


def test_a_bundle_is_compared_with_its_project_and_not_trusted(tmp_path: Path) -> None:
    folder = foreign_project(tmp_path / "task")
    bundle = built(folder).path
    assert diff(str(bundle), str(folder)) == []
    (folder / "programs" / "score" / "score.py").write_text("raise SystemExit\n", encoding="utf-8")
    assert [one.part for one in diff(str(bundle), str(folder))] == ["programs", "programs"]
    # and programs of others are not trusted for being packed
    with pytest.raises(StrangersError, match=r"packs programs of others: score\.zip would run"):
        refuse_strangers(bundle, ProcessEngine(keep_apart=False), trust=False)


def test_data_that_nothing_names_are_pointed_out(tmp_path: Path) -> None:
    folder = written(minimal(tmp_path / "task"), data__tset__gold="1", data__public__test__items="2")
    notes = [note for note in built(folder).notes if "is not packed" in note]
    assert [Path(note.partition(":")[0]).name for note in notes] == ["dev", "tset"]
