"""The journey as a whole: what runs, under which name, what is written, how it ends."""

import json
import os
import shlex
import shutil
import stat
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from gen_bundle.codabench.versions import PlatformVersion
from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.dry_run.engines.docker import docker_run_line
from gen_bundle.dry_run.report import Results
from gen_bundle.ground.errors import UserError
from tests.generator.dry_run.bundles import (
    ACCURACY,
    COLUMN,
    GOOD,
    HALF,
    Bundle,
    replay_one,
    write_files,
    write_zip,
    writes,
)
from tests.generator.dry_run.in_process import ScriptEngine

BAD_ZIP = "Submission failed: Bad or empty zip file. See logs for more details. (the submission: "
RUN_KEYS = {"phase", "task", "submission", "status", "exit_code", "seconds", "scores", "message"}


def command(*arguments: object) -> Result:
    return CliRunner().invoke(root, ["dry-run", "--engine", "process", "--trust", *map(str, arguments)])


def replay(bundle: Path, out: Path, submissions: Sequence[Path] = (), **wishes: Any) -> Results:
    return dry_run(DryRunRequest(bundle, out, submissions, **wishes), ScriptEngine())


def one(bundle: Bundle, tmp_path: Path, files: Mapping[str, str] = GOOD, **wishes: Any) -> Results:
    return replay_one(bundle, tmp_path, ScriptEngine(), files, **wishes)


def told(results: Results) -> list[tuple[str, str, str, str]]:
    return [(run.phase, run.task, run.submission, run.status) for run in results.runs]


def board(results: Results) -> list[tuple[str, int, str, dict[str, str]]]:
    return [(row.phase, row.rank, row.submission, row.cells) for row in results.board]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return Bundle().write(tmp_path / "bundle")


def two_phases(folder: Path, **second: Any) -> Path:
    """Phases dev and test with gold and solutions of their own; ids of tasks are the same in both, as our bundles
    have it."""
    write_zip(folder / "solutions/dev/lead.zip", HALF)
    write_zip(folder / "solutions/test/lead.zip", {"pred.txt": "0 0 0 0"})
    write_zip(folder / "solutions/dev/other.zip", GOOD)
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


def two_tasks(rule: str) -> Bundle:
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
    )


@pytest.mark.slow
@pytest.mark.usefixtures("runs_in_forks")
def test_results_on_disk_and_on_stdout(bundle: Path, tmp_path: Path) -> None:
    result = command(
        bundle, "--submission", write_zip(tmp_path / "team.zip", HALF), "--out", tmp_path / "out", "--json"
    )
    assert result.exit_code == 0
    assert "phase test" in result.stderr
    assert result.stdout == (tmp_path / "out/dry-run.json").read_text()
    content = json.loads(result.stdout)
    assert [set(run) for run in content["runs"]] == [RUN_KEYS]
    assert content["runs"][0]["scores"] == {"acc": 0.5}
    assert content["board"] == [{"phase": "test", "rank": 1, "submission": "team", "cells": {"acc": "0.5"}}]
    kept = tmp_path / "out/test/main/team"
    assert json.loads((kept / "output/scores.json").read_text()) == {"acc": 0.5}
    assert (kept / "stdout.txt").read_text() == ""


def test_the_kept_job_is_open_to_its_container_alone(tmp_path: Path) -> None:
    results = one(Bundle(), tmp_path, command_line=partial(docker_run_line, gpu=False, network=False))
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
    one(Bundle(scorer), tmp_path)
    output = tmp_path / "out/test/main/team/output"
    assert {"more", "scores.json"} < {path.name for path in output.iterdir()}
    assert not any(path.stat().st_mode & 0o022 for path in [output, *output.iterdir()])


def test_a_bundle_its_programs_and_its_data_may_be_zips(tmp_path: Path) -> None:
    bundle = Bundle(task={"scoring_program": "program.zip", "reference_data": "gold.zip"}).write(tmp_path / "bundle")
    for name in ("program", "gold"):
        shutil.make_archive(str(bundle / name), "zip", bundle / name)
        shutil.rmtree(bundle / name)
    zipped = Path(shutil.make_archive(str(tmp_path / "zipped"), "zip", bundle))
    team = write_zip(tmp_path / "team.zip", HALF)
    for place in (bundle, zipped):
        assert board(replay(place, tmp_path / "out", [team])) == [("test", 1, "team", {"acc": "0.5"})]


def test_submissions_are_folders_single_files_and_links(bundle: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "folder", {**GOOD, "sub/x.txt": "1"})
    os.utime(folder / "pred.txt", (0, 0))  # a zip knows no time before 1980
    single = write_files(tmp_path / "bare", {**HALF, "answers.txt": GOOD["pred.txt"]}) / "pred.txt"
    link = tmp_path / "pred.txt"
    link.symlink_to("bare/answers.txt")
    results = replay(bundle, tmp_path / "out", [folder, single, link])
    assert [(run.submission, run.scores) for run in results.runs] == [
        ("folder", {"acc": 1.0}),
        ("pred", {"acc": 0.5}),
        ("pred-2", {"acc": 1.0}),
    ]


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


def test_a_submission_that_cannot_be_read_is_said(bundle: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    folder = write_files(tmp_path / "team", GOOD)
    (folder / os.fsdecode(b"\xff.txt")).touch()
    for path, said in ((tmp_path / "pipe", "expected a zip, a folder or a file"), (folder, "team: cannot be read")):
        with pytest.raises(UserError, match=rf"--submission .*{said}"):
            replay(bundle, tmp_path / "out", [path])


@pytest.mark.slow
def test_repeated_stems_get_a_number(bundle: Path, tmp_path: Path) -> None:
    submissions = [write_zip(tmp_path / name / "team.zip", GOOD) for name in "xyz"]
    submissions.append(write_zip(tmp_path / "TEAM.zip", GOOD))
    results = replay(bundle, tmp_path / "out", submissions)
    assert [run.submission for run in results.runs] == ["team", "team-2", "team-3", "TEAM-4"]
    assert len(results.board) == 4


@pytest.mark.slow
def test_own_solutions_run_where_they_are_attached(tmp_path: Path) -> None:
    results = replay(two_phases(tmp_path / "bundle"), tmp_path / "out")
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
    bundle = two_phases(tmp_path / "bundle", auto_migrate_to_this_phase=True)
    results = replay(bundle, tmp_path / "out")
    assert told(results)[2:] == [("test", "joint", "other", "Finished"), ("test", "joint", "lead", "Finished")]
    assert board(results)[2:] == [("test", 1, "lead", {"acc": "1.0"}), ("test", 2, "other", {"acc": "0.25"})]


@pytest.mark.slow
def test_one_phase(tmp_path: Path) -> None:
    bundle = two_phases(tmp_path / "bundle")
    assert {run[0] for run in told(replay(bundle, tmp_path / "out", phases=["test"]))} == {"test"}
    assert {run[0] for run in told(replay(bundle, tmp_path / "out", phases=["T"]))} == {"test"}
    with pytest.raises(UserError, match="--phase final: no such phase; the bundle has dev, test"):
        replay(bundle, tmp_path / "out", phases=["final"])


def test_names_that_are_no_names_of_folders_are_replaced(tmp_path: Path) -> None:
    bundle = Bundle(task={"id": "not a name"}, phase={"id": "../evil"}).write(tmp_path / "bundle")
    results = replay(bundle, tmp_path / "out", [write_zip(tmp_path / "...zip", GOOD)])
    assert told(results) == [("0", "0", "submission", "Finished")]
    assert (tmp_path / "out/0/0/submission/output/scores.json").exists()


@pytest.mark.parametrize(
    ("rule", "first", "whole"), [("Force_Latest_Multiple", "1.0", "1.0"), ("Force_Last", "n/a", "0.75")]
)
def test_several_tasks_make_a_parent_with_children(rule: str, first: str, whole: str, tmp_path: Path) -> None:
    results = one(two_tasks(rule), tmp_path)
    assert told(results) == [("test", "a", "team", "Finished"), ("test", "b", "team", "Finished")]
    [row] = results.board
    assert row.tasks == {"a": {"acc": first}, "b": {"acc": "0.75"}}
    assert row.cells == {"acc": whole}


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
    )
    [row] = one(bundle, tmp_path).board
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


@pytest.mark.parametrize("page", [False, True])
def test_an_early_end_without_a_page_may_lose_its_log(page: bool, tmp_path: Path) -> None:
    program = "raise SystemExit(1)\n"
    if page:
        program = writes("why", "detailed_results.html") + program
    results = one(Bundle(program), tmp_path)
    assert any("write the reason to detailed_results.html" in note for note in results.notes) != page


def test_a_submission_that_is_no_zip_fails_as_on_the_platform(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "team.zip").write_bytes(b"no zip")
    (tmp_path / "evil.zip").write_bytes(write_zip(tmp_path / "x.zip", {"../evil": "x"}).read_bytes())
    results = replay(bundle, tmp_path / "out", [tmp_path / "team.zip", tmp_path / "evil.zip"])
    assert [run.status for run in results.runs] == ["Failed", "Failed"]
    assert all(run.message.startswith(BAD_ZIP) for run in results.runs)
    assert "leaves the folder" in results.runs[1].message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "team", "reason"),
    [
        ({"end": "2020-02-01 00:00:00"}, None, "phase test is over: it ended 2020-02-01 00:00 UTC"),
        ({"start": "31-12-2020", "end": "1.2.2021"}, None, "phase test is over: it ended 2021-01-02 00:00 UTC"),
        ({"start": "2999-01-01 00:00:00"}, None, "phase test is not open yet: it starts 2999-01-01 00:00 UTC"),
        ({"end": "2999-01-01 00:00:00"}, None, None),
        ({"max_submissions_per_day": 1}, "ann", "Reached maximum allowed submissions for today for this phase"),
        ({"max_submissions_per_day": 1}, None, None),
        ({"max_submissions": 1}, "ann", "Reached maximum allowed submissions for this phase"),
    ],
)
def test_dates_and_quotas_count_when_asked(
    phase: dict[str, Any], team: str | None, reason: str | None, tmp_path: Path
) -> None:
    bundle = Bundle(phase=phase).write(tmp_path / "bundle")
    submissions = [write_zip(tmp_path / "failing.zip", {"x": ""})]  # which uses no quota
    submissions += [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "ab"]
    for asked in (False, True):
        _, *runs = replay(bundle, tmp_path / "out", submissions, enforce_limits=asked, team=team).runs
        taken = 2 if reason is None or not asked else 1 if team else 0
        ends = [("Finished", "")] * taken + [("Failed", f"not taken: {reason}")] * (2 - taken)
        assert [(run.status, run.message) for run in runs] == ends


def test_an_earlier_dry_run_is_replaced(bundle: Path, tmp_path: Path) -> None:
    for name in ("team", "other"):
        replay(bundle, tmp_path / "out", [write_zip(tmp_path / f"{name}.zip", GOOD)])
    assert [path.name for path in (tmp_path / "out/test/main").iterdir()] == ["other"]


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
def test_files_beside_those_of_an_earlier_run_are_kept(bundle: Path, tmp_path: Path) -> None:
    team = write_zip(tmp_path / "team.zip", GOOD)
    for place in ("thesis.txt", "test/NOTES.txt", "test/main/NOTES.txt", "test/main/team/NOTES.txt", "test/mine/x"):
        replay(bundle, tmp_path / "out", [team])
        write_files(tmp_path / "out", {place: "mine"})
        with pytest.raises(UserError, match="holds files that no dry run wrote"):
            replay(bundle, tmp_path / "out", [team])
        assert (tmp_path / "out" / place).read_text() == "mine"
        shutil.rmtree(tmp_path / "out")
    with pytest.raises(UserError, match=r"holds files that no dry run wrote \(competition.yaml, gold/, program/\)"):
        replay(bundle, bundle, [team])


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
    results = one(Bundle(LISTS_PREDICTIONS), tmp_path, {}, version=version)
    [run] = results.runs
    assert (run.status, run.scores, run.message) == (status, scores, message)
    [note] = results.notes
    assert "version 1.32 runs the scoring program all the same; one of 1.25 is blocked" in note


@pytest.mark.parametrize(
    ("column", "finding"),
    [
        ({"hidden": True}, "No columns exist on the leaderboard"),
        ({"index": 1}, "no column has the index 0"),
    ],
)
def test_no_visible_column_and_no_primary_column(column: dict[str, Any], finding: str, tmp_path: Path) -> None:
    assert finding in one(Bundle(columns=({**COLUMN, **column},)), tmp_path).findings[0]


def test_a_phase_without_tasks_is_told(tmp_path: Path) -> None:
    results = one(Bundle(phase={"tasks": []}), tmp_path)
    assert results.runs == []
    assert results.findings == ["phase test has no task: submissions would stay in Submitting for ever"]


MISSING = {"scoring_program": "nix", "reference_data": "../gold"}
KEYLESS = {"title": "x", "index": -1.5}


@pytest.mark.parametrize(
    ("bundle", "options", "messages"),
    [
        (None, "", ["no such bundle"]),
        ({"competition.yaml": ""}, "", ["expected a mapping with title"]),
        ({"competition.yaml": "version: 1"}, "", ["gen-bundle import"]),
        ({"competition.yaml": "a: ["}, "", ["is not valid YAML"]),
        ({"competition.yaml": "version: 2"}, "", ["tasks: expected a list with at least one mapping"]),
        (
            {"bundle.yaml": "title: x"},
            "",
            ["This is a declaration: build it first, gen-bundle ", "bundle --out bundle.zip"],
        ),
        (
            Bundle(task=MISSING, phase={"tasks": [0, 7]}),
            "",
            [
                "tasks[0].scoring_program: 'nix' is not in the bundle",
                "tasks[0].reference_data: '../gold' leaves the bundle",
                "phases[0].tasks: no task has the index 7",
            ],
        ),
        (
            Bundle(columns=(KEYLESS,), phase={"tasks": None}),
            "",
            [
                "leaderboards[0].columns[0].key is missing",
                "phases[0].tasks: expected a list of the tasks' indexes",
            ],
        ),
        (Bundle(), "", ["give a submission with --submission"]),
        (Bundle(), "--submission missing.zip", ["--submission missing.zip: no such file or folder"]),
        (Bundle(), "--pull", ["--pull: only with --engine docker"]),
    ],
)
def test_what_cannot_be_run_ends_with_2(
    bundle: Bundle | dict[str, str] | None, options: str, messages: list[str], tmp_path: Path
) -> None:
    if isinstance(bundle, Bundle):
        bundle.write(tmp_path / "bundle")
    elif bundle is not None:
        write_files(tmp_path / "bundle", bundle)
    result = command(tmp_path / "bundle", "--out", tmp_path / "out", *options.split())
    assert result.exit_code == 2
    assert [message for message in messages if message not in result.stderr] == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("../evil", "leaves the folder"),
        ("bundle/competition.yaml", "There is bundle/competition.yaml: a wrapping folder is not looked into"),
    ],
)
def test_a_zip_that_is_no_bundle_ends_with_2(member: str, message: str, tmp_path: Path) -> None:
    result = command(write_zip(tmp_path / "bundle.zip", {member: "x"}), "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "evil").exists()


def test_the_bundle_itself_is_not_changed(bundle: Path, tmp_path: Path) -> None:
    scorer = ACCURACY + "import os\nopen('written-here', 'w').close()\nos.remove('../input/ref/truth.txt')\n"
    (bundle / "program/score.py").write_text(scorer)
    before = sorted(path.relative_to(bundle) for path in bundle.rglob("*"))
    submissions = [write_zip(tmp_path / f"{name}.zip", GOOD) for name in "ab"]
    assert replay(bundle, tmp_path / "out", submissions).good
    assert sorted(path.relative_to(bundle) for path in bundle.rglob("*")) == before
