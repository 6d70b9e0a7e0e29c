"""gen-bundle check as people call it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.check.drafts import Edit, drop, new, nothing, put


def bundle(folder: Path, edit: Edit = nothing, name: str = "bundle.zip") -> str:
    """A bundle's zip with an edit."""
    path = folder / name
    path.write_bytes(new(edit).as_zip())
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["check", *arguments])


@pytest.mark.parametrize(
    ("edit", "options", "status"),
    [
        (nothing, [], 0),
        (put("reward", "TODO"), [], 0),
        (put("reward", "TODO"), ["--strict"], 1),
        (put("phases", 0, "tasks", []), [], 1),
        (drop("terms"), [], 1),
    ],
)
def test_exit_status_follows_the_verdict(edit: Edit, options: list[str], status: int, tmp_path: Path) -> None:
    assert run(bundle(tmp_path, edit), *options).exit_code == status


def test_gold_that_participants_see_is_said_first_and_fails(tmp_path: Path) -> None:
    path = bundle(tmp_path, put("phases", 0, "public_data", "ref"))
    result = run(path)
    assert result.exit_code == 1
    assert result.stdout.startswith(
        f"{path}: DO NOT UPLOAD IT: participants would see gold; accepted by Codabench 1.32: "
    )
    coloured = CliRunner(env={"NO_COLOR": ""}).invoke(root, ["check", path], color=True)
    assert coloured.stdout.startswith("\x1b[31m")
    assert run(path, "--json").exit_code == 1


def test_json_is_one_line_for_each_path(tmp_path: Path) -> None:
    result = run(bundle(tmp_path), bundle(tmp_path, drop("terms"), "second.zip"), "--json")
    said = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["accepted"] for one in said] == [True, False]
    assert result.exit_code == 1


def test_a_path_that_cannot_be_read_is_wrong_use_and_the_others_are_checked(tmp_path: Path) -> None:
    result = run(str(tmp_path / "none.zip"), bundle(tmp_path), "--json")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 1
    assert "none.zip cannot be read" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "no PATH"), (["--explain", "nothing-such"], "no rule"), (["x.zip", "--now", "soon"], "--now soon")],
)
def test_wrong_use_is_said_on_stderr(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_dates_are_judged_against_now(tmp_path: Path) -> None:
    path = bundle(tmp_path)
    assert "competition-over" not in run(path, "--now", "2031-06-01").stdout
    over = run(path, "--now", "2032-01-01T00:00")
    assert "competition-over" in over.stdout
    assert over.exit_code == 0


def after(folder: Path, **dry_run: object) -> Result:
    """The check of a bundle, with what a dry run said of it."""
    (folder / "dry-run.json").write_text(json.dumps({"board": [], **dry_run}))
    return run(bundle(folder), "--dry-run", str(folder), "--json", "--now", "2031-06-01")


def test_scores_of_a_dry_run_are_compared_with_the_columns(tmp_path: Path) -> None:
    result = after(tmp_path, runs=[{"scores": {"more": 1.0}}, {"scores": None}])
    assert [one["id"] for one in json.loads(result.stdout)["findings"]] == ["primary-never-written"]
    assert result.exit_code == 1


def test_logs_of_a_dry_run_are_held_against_what_the_platform_keeps(tmp_path: Path) -> None:
    measured = [{"log_lines": 1000, "log_bytes": 9000}]
    result = after(tmp_path, runs=[{"scores": {"points": 1.0, "more": 2.0}}], measured=measured)
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["id"] == "log-too-long"
    assert "1,000 lines, 9,000 bytes" in finding["what"]


def test_an_unreadable_dry_run_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "dry-run.json").write_text("[]")
    result = run(bundle(tmp_path), "--dry-run", str(tmp_path))
    assert result.exit_code == 2
    assert "--dry-run" in result.stderr


def test_a_known_key_is_taken_for_granted(tmp_path: Path) -> None:
    key = "7183bff5-a48f-42fa-b6c2-14d345f8772b"
    path = bundle(tmp_path, put("queue", key))
    assert run(path).exit_code == 1
    assert run(path, "--known-key", key).exit_code == 0


def test_explain_needs_no_path() -> None:
    result = run("--explain", "leak")
    assert result.exit_code == 0
    assert "reference data where participants can read them" in result.stdout


@pytest.mark.slow
def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gen_bundle.check import check_path; "
        f"check_path(Path({bundle(tmp_path)!r})); "
        "print(sorted({'numpy', 'pandas', 'sklearn', 'torch', 'pydantic', 'docker', 'rich'} & set(sys.modules)))"
    )
    started = time.process_time()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert time.process_time() - started < 5
