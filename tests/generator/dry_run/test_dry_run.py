"""The journey as a whole: what runs, under which name, what is written, how it ends."""

import json
import os
import shlex
import shutil
import stat
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.docker import docker_run_line
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.dry_run.report import Results
from gen_bundle.ground.errors import UserError
from tests.generator.dry_run.bundles import ACCURACY, COLUMN, GOOD, HALF, Bundle, write_files, write_zip, writes
from tests.generator.dry_run.in_process import ScriptEngine

BAD_ZIP = "Submission failed: Bad or empty zip file. See logs for more details. (the submission: "
RUN_KEYS = {"phase", "task", "submission", "status", "exit_code", "seconds", "scores", "message"}


def command(*arguments: object) -> Result:
    return CliRunner().invoke(root, ["dry-run", "--engine", "process", "--trust", *map(str, arguments)])


def replay(bundle: Path, out: Path, submissions: Sequence[Path] = (), **wishes: Any) -> Results:
    return dry_run(DryRunRequest(bundle, out, submissions, **wishes), ScriptEngine())


def told(results: Results) -> list[tuple[str, str, str, str]]:
    return [(run.phase, run.task, run.submission, run.status) for run in results.runs]


def board(results: Results) -> list[tuple[str, int, str, dict[str, str]]]:
    return [(row.phase, row.rank, row.submission, row.cells) for row in results.board]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return Bundle().write(tmp_path / "bundle")


def two_phases(folder: Path, **second: Any) -> Path:
    """Phases dev and test with gold and a solution of their own; ids of tasks are the same in both, as our bundles
    have it."""
    task = {"name": "Main", "id": "joint", "scoring_program": "program"}
    return Bundle(
        top={
            "tasks": [
                {**task, "index": 0, "reference_data": "gold"},
                {**task, "index": 1, "reference_data": "gold-test"},
            ],
            "solutions": [
                {"index": 0, "tasks": [0], "path": "solutions/dev/lead.zip"},
                {"index": 1, "tasks": [1], "path": "solutions/test/lead.zip"},
                {"index": 2, "tasks": [0], "path": "solutions/dev/other.zip"},
            ],
            "phases": [
                {"index": 0, "id": "dev", "name": "D", "start": "2020-01-01", "end": "2020-02-01", "tasks": [0]},
                {"index": 1, "id": "test", "name": "T", "start": "2020-02-02", "tasks": [1], **second},
            ],
        },
        folders={"gold-test": {"truth.txt": "0 0 0 0"}},
    ).write(folder)


def with_solutions(folder: Path) -> Path:
    write_zip(folder / "solutions/dev/lead.zip", HALF)
    write_zip(folder / "solutions/test/lead.zip", {"pred.txt": "0 0 0 0"})
    write_zip(folder / "solutions/dev/other.zip", GOOD)
    return folder


def two_tasks(folder: Path, rule: str = "Force_Latest_Multiple") -> Path:
    task = {"scoring_program": "program"}
    return Bundle(
        top={
            "tasks": [
                {**task, "index": 0, "id": "a", "name": "A", "reference_data": "gold"},
                {**task, "index": 1, "id": "b", "name": "B", "reference_data": "gold-b"},
            ]
        },
        phase={"tasks": [1, 0]},
        leaderboard={"submission_rule": rule},
        folders={"gold-b": {"truth.txt": "1 1 1 1"}},
    ).write(folder)


def test_results_on_disk(bundle: Path, tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", HALF)
    results = replay(bundle, tmp_path / "out", [team])
    content = json.loads((tmp_path / "out/dry-run.json").read_text())
    assert [set(run) for run in content["runs"]] == [RUN_KEYS]
    assert content["runs"][0]["scores"] == {"acc": 0.5}
    assert content["board"] == [{"phase": "test", "rank": 1, "submission": "team", "cells": {"acc": "0.5"}}]
    kept = tmp_path / "out/test/main/team"
    assert json.loads((kept / "output/scores.json").read_text()) == {"acc": 0.5}
    assert (kept / "stdout.txt").read_text() == ""
    assert results.good


def test_the_kept_job_is_open_to_its_container_alone(bundle: Path, tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", GOOD)
    results = replay(bundle, tmp_path / "out", [team], command_line=partial(docker_run_line, gpu=False, network=False))
    job = tmp_path / "out/test/main/team/job"
    assert stat.S_IMODE(job.stat().st_mode) == 0o700
    [line] = results.commands
    mounted = [Path(part.split("=")[1].split(":")[0]) for part in shlex.split(line) if part.startswith("--volume=")]
    assert {job / "program", job / "output"} < set(mounted)
    for folder in mounted:
        assert job in folder.parents
        assert all(path.stat().st_mode & 0o004 for path in [folder, *folder.rglob("*")])


def test_kept_outputs_can_be_changed_by_nobody_else(tmp_path: Path) -> None:
    scorer = ACCURACY + "import os\nos.mkdir('../output/more')\n"
    scorer += "for name in ('../output', '../output/more', '../output/scores.json'): os.chmod(name, 0o777)\n"
    replay(Bundle(scorer).write(tmp_path / "bundle"), tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    output = tmp_path / "out/test/main/team/output"
    assert {"more", "scores.json"} < {path.name for path in output.iterdir()}
    assert not any(path.stat().st_mode & 0o022 for path in [output, *output.iterdir()])


def test_zip_and_folder_are_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    zipped = Path(shutil.make_archive(str(tmp_path / "zipped"), "zip", bundle))
    team = write_zip(tmp_path / "team.zip", HALF)
    assert board(replay(zipped, tmp_path / "a", [team])) == board(replay(bundle, tmp_path / "b", [team]))


def test_programs_and_data_may_be_zips(tmp_path: Path) -> None:
    bundle = Bundle(task={"scoring_program": "program.zip", "reference_data": "gold.zip"}).write(tmp_path / "bundle")
    for name in ("program", "gold"):
        shutil.make_archive(str(bundle / name), "zip", bundle / name)
        shutil.rmtree(bundle / name)
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    assert results.runs[0].scores == {"acc": 1.0}


@pytest.mark.slow
def test_submissions_are_zips_folders_and_single_files(bundle: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "folder", GOOD)
    single = write_files(tmp_path / "bare", HALF) / "pred.txt"
    results = replay(bundle, tmp_path / "out", [folder, single])
    assert [(run.submission, run.scores) for run in results.runs] == [("folder", {"acc": 1.0}), ("pred", {"acc": 0.5})]


def test_old_files_are_zipped_as_a_participant_would(bundle: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "team", {**GOOD, "sub/x.txt": "1"})
    os.utime(folder / "pred.txt", (0, 0))  # a zip knows no time before 1980
    assert replay(bundle, tmp_path / "out", [folder]).good


def test_a_submission_itself_may_be_a_link(bundle: Path, tmp_path: Path) -> None:
    write_files(tmp_path / "team", {"answers.txt": GOOD["pred.txt"]})
    (tmp_path / "pred.txt").symlink_to("team/answers.txt")
    assert replay(bundle, tmp_path / "out", [tmp_path / "pred.txt"]).runs[0].scores == {"acc": 1.0}


@pytest.mark.parametrize("target", ["bundle/gold/truth.txt", "bundle/gold", "nowhere"])
def test_a_link_in_a_submissions_folder_reads_no_file_of_this_machine(
    bundle: Path, tmp_path: Path, target: str
) -> None:
    folder = write_files(tmp_path / "team", {**GOOD, "sub/x.txt": "1"})
    (folder / "sub/link").symlink_to(tmp_path / target)
    (run,) = replay(bundle, tmp_path / "out", [folder]).runs
    assert (run.status, run.scores) == ("Failed", None)
    assert "'sub/link' is a link; only files and folders are unpacked" in run.message


def test_links_and_pipes_in_a_bundles_folder(bundle: Path, tmp_path: Path) -> None:
    (bundle / "gold/truth.txt").rename(bundle / "truth.txt")
    (bundle / "gold/truth.txt").symlink_to("../truth.txt")
    (bundle / "gold/dangling").symlink_to("nowhere")
    os.mkfifo(bundle / "gold/pipe")
    assert replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)]).good


def test_a_submission_that_is_no_file(bundle: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="expected a zip, a folder or a file"):
        replay(bundle, tmp_path / "out", [tmp_path / "pipe"])


@pytest.mark.slow
def test_repeated_stems_get_a_number(bundle: Path, tmp_path: Path) -> None:
    submissions = [write_zip(tmp_path / name / "team.zip", GOOD) for name in "xyz"]
    submissions.append(write_zip(tmp_path / "TEAM.zip", GOOD))
    results = replay(bundle, tmp_path / "out", submissions)
    assert [run.submission for run in results.runs] == ["team", "team-2", "team-3", "TEAM-4"]
    assert len(results.board) == 4


@pytest.mark.slow
def test_own_solutions_run_where_they_are_attached(tmp_path: Path) -> None:
    results = replay(with_solutions(two_phases(tmp_path / "bundle")), tmp_path / "out")
    assert told(results) == [
        ("dev", "joint", "lead", "Finished"),
        ("dev", "joint", "other", "Finished"),
        ("test", "joint", "lead", "Finished"),
    ]
    assert board(results) == [
        ("dev", 1, "other", {"acc": "1.0"}),
        ("dev", 2, "lead", {"acc": "0.5"}),
        ("test", 1, "lead", {"acc": "1.0"}),
    ]


@pytest.mark.slow
def test_migration_runs_what_is_on_the_board_again(tmp_path: Path) -> None:
    bundle = with_solutions(two_phases(tmp_path / "bundle", auto_migrate_to_this_phase=True))
    results = replay(bundle, tmp_path / "out")
    assert told(results)[2:] == [("test", "joint", "other", "Finished"), ("test", "joint", "lead", "Finished")]
    assert board(results)[2:] == [("test", 1, "lead", {"acc": "1.0"}), ("test", 2, "other", {"acc": "0.25"})]


@pytest.mark.slow
def test_one_phase(tmp_path: Path) -> None:
    bundle = with_solutions(two_phases(tmp_path / "bundle"))
    assert {run[0] for run in told(replay(bundle, tmp_path / "out", phases=["test"]))} == {"test"}
    assert {run[0] for run in told(replay(bundle, tmp_path / "out", phases=["T"]))} == {"test"}
    with pytest.raises(UserError, match="--phase final: no such phase; the bundle has dev, test"):
        replay(bundle, tmp_path / "out", phases=["final"])


def test_foreign_bundles_are_named_by_index(tmp_path: Path) -> None:
    bundle = Bundle(task={"id": "not a name"}, phase={"id": "../evil"}).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    assert told(results) == [("0", "0", "team", "Finished")]


def test_several_tasks_make_a_parent_with_children(tmp_path: Path) -> None:
    results = replay(two_tasks(tmp_path / "bundle"), tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    assert told(results) == [("test", "a", "team", "Finished"), ("test", "b", "team", "Finished")]
    [row] = results.board
    assert row.tasks == {"a": {"acc": "1.0"}, "b": {"acc": "0.75"}}
    assert row.cells == {"acc": "1.0"}


def test_last_of_several_tasks_blanks_the_others(tmp_path: Path) -> None:
    bundle = two_tasks(tmp_path / "bundle", rule="Force_Last")
    [row] = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)]).board
    assert row.tasks == {"a": {"acc": "n/a"}, "b": {"acc": "0.75"}}


def test_cells_of_several_tasks_come_from_the_task_that_owns_the_column(tmp_path: Path) -> None:
    """In our layout `tasks` a program writes the other tasks' columns at their worst."""
    columns = ({"title": "A", "key": "a_f1", "index": 0}, {"title": "B", "key": "b_f1", "index": 1})
    owned = [{"key": "a_f1", "task": "a"}, {"key": "b_f1", "task": "b"}]
    tasks = [
        {"index": n, "id": name, "name": name, "scoring_program": f"program-{name}"}
        for n, name in enumerate(("a", "b"))
    ]
    bundle = Bundle(
        top={"tasks": tasks},
        phase={"tasks": [0, 1]},
        columns=columns,
        folders={
            f"program-{name}": {
                "score.py": writes(json.dumps({key["key"]: 0.9 if key["task"] == name else 0 for key in owned})),
                "metadata.yaml": "command: python3 score.py",
                "program.json": json.dumps({"tasks": [name], "columns": owned}),
            }
            for name in ("a", "b")
        },
    ).write(tmp_path / "bundle")
    [row] = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)]).board
    assert row.cells == {"a_f1": "0.9", "b_f1": "0.9"}
    assert row.tasks == {"a": {"a_f1": "0.9", "b_f1": "0.0"}, "b": {"a_f1": "0.0", "b_f1": "0.9"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("Force_Best", [("good", "1.0")]),
        ("Force_Last", [("half", "0.5")]),
        ("Force_Latest_Multiple", [("good", "1.0"), ("half", "0.5")]),
        ("Add", [("half", "0.5")]),
        ("Add_And_Delete_Multiple", [("good", "1.0"), ("half", "0.5")]),
    ],
)
def test_submission_rules_of_one_team(tmp_path: Path, rule: str, rows: list[tuple[str, str]]) -> None:
    bundle = Bundle(leaderboard={"submission_rule": rule}).write(tmp_path / "bundle")
    submissions = [write_zip(tmp_path / "good.zip", GOOD), write_zip(tmp_path / "half.zip", HALF)]
    results = replay(bundle, tmp_path / "out", submissions, team="ann")
    assert [(row.submission, row.cells["acc"]) for row in results.board] == rows


def test_a_failed_submission_is_written_down_and_does_not_lead(tmp_path: Path) -> None:
    bundle = Bundle(scorer="raise SystemExit(1)\n" + ACCURACY).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    assert results.board == []
    assert not results.good
    assert json.loads((tmp_path / "out/dry-run.json").read_text())["runs"][0]["status"] == "Failed"


@pytest.mark.parametrize("page", [False, True])
def test_an_early_end_without_a_page_may_lose_its_log(page: bool, tmp_path: Path) -> None:
    program = "raise SystemExit(1)\n"
    if page:
        program = writes("why", "detailed_results.html") + program
    bundle = Bundle(scorer=program).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    assert any("write the reason to detailed_results.html" in note for note in results.notes) != page


def test_a_submission_that_is_no_zip_fails_as_on_the_platform(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "team.zip").write_bytes(b"no zip")
    (tmp_path / "evil.zip").write_bytes(write_zip(tmp_path / "x.zip", {"../evil": "x"}).read_bytes())
    results = replay(bundle, tmp_path / "out", [tmp_path / "team.zip", tmp_path / "evil.zip"])
    assert [run.status for run in results.runs] == ["Failed", "Failed"]
    assert all(run.message.startswith(BAD_ZIP) for run in results.runs)
    assert "leaves the folder" in results.runs[1].message


@pytest.mark.slow
def test_dates_and_quotas_count_when_asked(tmp_path: Path) -> None:
    submissions = [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "abc"]
    over = Bundle(phase={"end": "2020-02-01 00:00:00"}).write(tmp_path / "over")
    assert [run.status for run in replay(over, tmp_path / "1", submissions).runs] == ["Finished"] * 3
    late = replay(over, tmp_path / "2", submissions[:1], enforce_limits=True).runs[0]
    assert (late.status, late.message) == ("Failed", "not taken: phase test is over: it ended 2020-02-01 00:00 UTC")
    early = Bundle(phase={"start": "2999-01-01 00:00:00"}).write(tmp_path / "early")
    assert "not open yet" in replay(early, tmp_path / "3", submissions[:1], enforce_limits=True).runs[0].message
    running = Bundle(phase={"end": "2999-01-01 00:00:00"}).write(tmp_path / "running")
    assert replay(running, tmp_path / "6", submissions[:1], enforce_limits=True).runs[0].status == "Finished"
    limited = Bundle(phase={"max_submissions_per_day": 2}).write(tmp_path / "limited")
    ours = replay(limited, tmp_path / "4", submissions, enforce_limits=True, team="ann").runs
    assert [run.status for run in ours] == ["Finished", "Finished", "Failed"]
    assert "Reached maximum allowed submissions for today for this phase" in ours[2].message
    theirs = replay(limited, tmp_path / "5", submissions, enforce_limits=True).runs
    assert [run.status for run in theirs] == ["Finished"] * 3


def test_failed_submissions_use_no_quota(tmp_path: Path) -> None:
    bundle = Bundle(phase={"max_submissions": 1}).write(tmp_path / "bundle")
    submissions = [write_zip(tmp_path / "bad.zip", {"x": ""}), write_zip(tmp_path / "good.zip", GOOD)]
    runs = replay(bundle, tmp_path / "out", submissions, enforce_limits=True, team="ann").runs
    assert [run.status for run in runs] == ["Failed", "Finished"]


def test_an_earlier_dry_run_is_replaced_and_nothing_else(bundle: Path, tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", GOOD)
    replay(bundle, tmp_path / "out", [team])
    replay(bundle, tmp_path / "out", [write_zip(tmp_path / "other.zip", GOOD)])
    assert [path.name for path in (tmp_path / "out/test/main").iterdir()] == ["other"]
    mine = write_files(tmp_path / "out", {"thesis.txt": "mine"}) / "thesis.txt"
    with pytest.raises(UserError, match=r"holds files that no dry run wrote \(thesis.txt\)"):
        replay(bundle, tmp_path / "out", [team])
    with pytest.raises(UserError, match=r"holds files that no dry run wrote \(competition.yaml, gold/, program/\)"):
        replay(bundle, tmp_path / "bundle", [team])
    assert mine.read_text() == "mine"


def test_results_are_written_also_when_we_are_interrupted(bundle: Path, tmp_path: Path) -> None:
    def interrupt(step: str) -> None:
        if "submission 2/2: b" in step:
            raise KeyboardInterrupt

    submissions = [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "ab"]
    with pytest.raises(KeyboardInterrupt):
        replay(bundle, tmp_path / "out", submissions, on_step=interrupt)
    content = json.loads((tmp_path / "out/dry-run.json").read_text())
    assert [run["submission"] for run in content["runs"]] == ["a"]


@pytest.mark.slow
def test_an_interrupted_run_says_so(tmp_path: Path) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    slow = Bundle("import time\nprint('started', flush=True)\ntime.sleep(60)\n").write(tmp_path / "bundle")
    submissions = [write_zip(tmp_path / "a.zip", GOOD)]
    with pytest.raises(KeyboardInterrupt):
        dry_run(DryRunRequest(slow, tmp_path / "out", submissions, on_line=interrupt), ProcessEngine())
    [run] = json.loads((tmp_path / "out/dry-run.json").read_text())["runs"]
    assert (run["status"], run["message"]) == ("Failed", "the dry run was interrupted here")


@pytest.mark.slow
def test_files_beside_those_of_an_earlier_run_are_kept(bundle: Path, tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", GOOD)
    for place in ("test/NOTES.txt", "test/main/NOTES.txt", "test/main/team/NOTES.txt", "test/mine/x"):
        replay(bundle, tmp_path / "out", [team])
        write_files(tmp_path / "out", {place: "mine"})
        with pytest.raises(UserError, match="holds files that no dry run wrote"):
            replay(bundle, tmp_path / "out", [team])
        assert (tmp_path / "out" / place).read_text() == "mine"
        shutil.rmtree(tmp_path / "out")


def test_an_out_that_cannot_be_used_is_said(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    for out in ("dangling", "file", "file/below"):
        result = command(bundle, "--submission", write_zip(tmp_path / "a.zip", GOOD), "--out", tmp_path / out)
        assert (result.exit_code, result.exception.__class__) == (2, SystemExit), result.output


def test_what_a_run_leaves_is_lost_without_the_rest(bundle: Path, tmp_path: Path) -> None:
    submissions = [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "ab"]

    def occupy(step: str) -> None:
        if "submission 1/2: a" in step:
            write_files(tmp_path / "out/test/main/a", {"output": "somebody else's"})

    results = replay(bundle, tmp_path / "out", submissions, on_step=occupy)
    assert [run.status for run in results.runs] == ["Finished", "Finished"]
    assert "test/main/a: what the run left could not be kept" in results.findings[0]


def test_names_that_are_no_names_of_folders(bundle: Path, tmp_path: Path) -> None:
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "...zip", GOOD)])
    assert told(results) == [("test", "main", "submission", "Finished")]
    assert (tmp_path / "out/test/main/submission/output/scores.json").exists()


def test_a_file_name_that_is_no_text_is_said(bundle: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "team", GOOD)
    (folder / os.fsdecode(b"\xff.txt")).touch()
    with pytest.raises(UserError, match=r"--submission .*team: cannot be read"):
        replay(bundle, tmp_path / "out", [folder])


def test_a_solution_that_is_a_file_is_taken_as_it_is(tmp_path: Path) -> None:
    solutions = [{"index": 0, "tasks": [0], "path": "solutions/pred.txt"}]
    bundle = Bundle(top={"solutions": solutions}, folders={"solutions": GOOD}).write(tmp_path / "bundle")
    [run] = replay(bundle, tmp_path / "out").runs
    assert (run.status, run.message.startswith(BAD_ZIP)) == ("Failed", True)


LISTS_PREDICTIONS = """\
import json, pathlib
found = sorted(path.name for path in pathlib.Path("../input/res").iterdir())
pathlib.Path("../output/scores.json").write_text(json.dumps({"acc": float(found == ["metadata"])}))
"""


@pytest.mark.parametrize(
    ("version", "status", "scores", "message"),
    [
        (PlatformVersion.V1_25, "Failed", None, "Bad or empty zip file"),
        (PlatformVersion.V1_32, "Finished", {"acc": 1.0}, ""),
    ],
)
def test_a_zip_without_members_is_scored_by_newer_versions_alone(
    tmp_path: Path, version: PlatformVersion, status: str, scores: dict[str, float] | None, message: str
) -> None:
    bundle = Bundle(LISTS_PREDICTIONS).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "a.zip", {})], version=version)
    [run] = results.runs
    assert (run.status, run.scores, run.message) == (status, scores, message)
    [note] = results.notes
    assert "version 1.32 runs the scoring program all the same; one of 1.25 is blocked" in note


def test_dates_are_read_as_the_platform_reads_them(tmp_path: Path) -> None:
    bundle = Bundle(phase={"start": "31-12-2020", "end": "1.2.2021"}).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "a.zip", GOOD)], enforce_limits=True)
    assert results.runs[0].message == "not taken: phase test is over: it ended 2021-01-02 00:00 UTC"


def test_no_visible_column_and_no_primary_column(tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", GOOD)
    hidden = Bundle(columns=({**COLUMN, "hidden": True},)).write(tmp_path / "hidden")
    assert "No columns exist on the leaderboard" in replay(hidden, tmp_path / "1", [team]).findings[0]
    no_primary = Bundle(columns=({**COLUMN, "index": 1},)).write(tmp_path / "no-primary")
    assert "no column has the index 0" in replay(no_primary, tmp_path / "2", [team]).findings[0]


def test_a_phase_without_tasks_is_told(tmp_path: Path) -> None:
    bundle = Bundle(phase={"tasks": []}).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "team.zip", GOOD)])
    assert results.runs == []
    assert results.findings == ["phase test has no task: submissions would stay in Submitting for ever"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["good.zip"], 0), (["bad.zip"], 1), (["good.zip", "bad.zip"], 1), (["missing.zip"], 2)],
)
def test_exit_status(bundle: Path, tmp_path: Path, arguments: list[str], status: int) -> None:
    write_zip(tmp_path / "good.zip", GOOD)
    write_zip(tmp_path / "bad.zip", {"pred.txt": "1"})
    options = [part for name in arguments for part in ("--submission", tmp_path / name)]
    assert command(bundle, *options, "--out", tmp_path / "out").exit_code == status


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such bundle"),
        ("", "expected a mapping with title"),
        ("version: 1", "gen-bundle import"),
        ("a: [", "is not valid YAML"),
        ("version: 2", "tasks: expected a list with at least one mapping"),
    ],
)
def test_unreadable_bundles_end_with_2(tmp_path: Path, content: str | None, message: str) -> None:
    bundle = tmp_path / "bundle"
    if content is not None:
        write_files(bundle, {"competition.yaml": content})
    result = command(bundle, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_all_problems_of_a_bundle_are_told_at_once(tmp_path: Path) -> None:
    bundle = Bundle(task={"scoring_program": "nix", "reference_data": "../gold"}, phase={"tasks": [0, 7]})
    result = command(bundle.write(tmp_path / "bundle"), "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "tasks[0].scoring_program: 'nix' is not in the bundle" in result.stderr
    assert "tasks[0].reference_data: '../gold' leaves the bundle" in result.stderr
    assert "phases[0].tasks: no task has the index 7" in result.stderr
    columns = Bundle(columns=({"title": "x", "index": -1.5},), phase={"tasks": None})
    result = command(columns.write(tmp_path / "columns"), "--out", tmp_path / "out")
    assert "leaderboards[0].columns[0].key is missing" in result.stderr
    assert "phases[0].tasks: expected a list of the tasks' indexes" in result.stderr


def test_nothing_to_run(bundle: Path, tmp_path: Path) -> None:
    result = command(bundle, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "give a submission with --submission" in result.stderr


def test_hostile_bundles_are_not_unpacked(tmp_path: Path) -> None:
    result = command(write_zip(tmp_path / "bundle.zip", {"../evil": "x"}), "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "leaves the folder" in result.stderr
    assert not (tmp_path / "evil").exists()


@pytest.mark.slow
def test_json_on_stdout_is_the_file(bundle: Path, tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", GOOD)
    result = command(bundle, "--submission", team, "--out", tmp_path / "out", "--json")
    assert result.stdout == (tmp_path / "out/dry-run.json").read_text()
    assert "phase test" in result.stderr


def test_options_that_need_containers(bundle: Path, tmp_path: Path) -> None:
    result = command(bundle, "--out", tmp_path / "out", "--pull")
    assert result.exit_code == 2
    assert "--pull: only with --engine docker" in result.stderr


def test_the_bundle_itself_is_not_changed(bundle: Path, tmp_path: Path) -> None:
    scorer = ACCURACY + "import os\nopen('written-here', 'w').close()\nos.remove('../input/ref/truth.txt')\n"
    (bundle / "program/score.py").write_text(scorer)
    before = sorted(path.relative_to(bundle) for path in bundle.rglob("*"))
    submissions = [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "ab"]
    assert replay(bundle, tmp_path / "out", submissions).good
    assert sorted(path.relative_to(bundle) for path in bundle.rglob("*")) == before


def test_a_wrapping_folder_in_the_bundle_is_told(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as opened:
        opened.write(bundle / "competition.yaml", "bundle/competition.yaml")
    result = command(tmp_path / "b.zip", "--out", tmp_path / "out")
    said = " ".join(result.stderr.split())
    assert "There is bundle/competition.yaml: a wrapping folder is not looked into" in said


def test_a_declaration_is_to_be_built_first(tmp_path: Path) -> None:
    result = command(write_files(tmp_path / "task", {"bundle.yaml": "title: x"}), "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"This is a declaration: build it first, gen-bundle {tmp_path / 'task'} --out bundle.zip" in result.stderr
