"""What an organiser asks of a dry run to see more: the whole traceback, all details."""

import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gen_bundle.cli import root
from tests.generator.dry_run.bundles import GOOD, Bundle, write_zip, writes

pytestmark = pytest.mark.slow

BROKEN = """
def deep(left):
    return deep(left - 1) if left else {}["CANARY"]

import os, traceback
try:
    deep(100)
except KeyError as error:
    traceback.print_exception(error, chain=False) if os.environ.get("SCORING_DEBUG") == "1" else print("a bug")
    for line in range(200):
        print("the end of a long log", file=__import__("sys").stderr)
raise SystemExit(3)
"""
SEEN = """
import os, pathlib
seen = {name: value for name, value in sorted(os.environ.items()) if name.startswith("SCORING_")}
pathlib.Path("../output/seen.txt").write_text(repr(seen))
"""


def replayed(
    bundle: Bundle,
    tmp_path: Path,
    *options: str,
    env: Mapping[str, str] | None = None,
    submission: Mapping[str, str] = GOOD,
) -> Result:
    team = write_zip(tmp_path / "team.zip", submission)
    given = [str(bundle.write(tmp_path / "bundle")), "--submission", str(team), "--out", str(tmp_path / "out")]
    runner = CliRunner(env={"SCORING_DEBUG": None, "SCORING_DETAILS": None, **(env or {})})
    return runner.invoke(root, ["dry-run", *given, "--engine", "process", "--trust", *options])


@pytest.mark.parametrize(
    ("options", "env", "debugging"),
    [((), {}, False), (("--debug",), {}, True), ((), {"SCORING_DEBUG": "1"}, True)],
)
def test_a_traceback_is_shown_whole_where_it_is_asked_for(
    tmp_path: Path, options: tuple[str, ...], env: dict[str, str], debugging: bool
) -> None:
    done = replayed(Bundle(BROKEN), tmp_path, *options, env=env)
    assert done.exit_code == 1
    assert ("Traceback (most recent call last)" in done.stderr) == debugging
    assert ("KeyError: 'CANARY'" in done.stderr) == debugging


ENORMOUS = """
import os
for place in (2, os.open("notes.json", os.O_RDWR | os.O_CREAT)):
    os.ftruncate(place, 200_000_000)
    os.lseek(place, 0, os.SEEK_END)
os.write(2, b"the reason")
raise SystemExit(3)
"""


@pytest.mark.parametrize("debugging", [False, True])
def test_what_a_program_writes_is_never_in_memory_as_a_whole(tmp_path: Path, debugging: bool) -> None:
    tracemalloc.start()
    try:
        done = replayed(Bundle(ENORMOUS), tmp_path, *(["--debug"] if debugging else []))
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert "the reason" in done.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {}),
        (("--debug", "--all-details"), {"SCORING_DEBUG": "1", "SCORING_DETAILS": "all"}),
    ],
)
def test_the_scoring_program_is_told(tmp_path: Path, options: tuple[str, ...], expected: dict[str, str]) -> None:
    done = replayed(Bundle(writes('{"acc": 1}') + SEEN), tmp_path, *options)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "out/test/main/team/output/seen.txt").read_text() == repr(expected)


def test_submitted_code_is_not_told(tmp_path: Path) -> None:
    code = {"metadata.yaml": "command: python3 /app/program/run.py", "run.py": SEEN}
    bundle = Bundle("import shutil; shutil.copy('../input/res/seen.txt', '../output')\n" + writes('{"acc": 1}'))
    older = ("--platform-version", "1.25")  # which starts submissions
    done = replayed(bundle, tmp_path, "--all-details", *older, submission=code)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "out/test/main/team/output/seen.txt").read_text() == "{}"
