"""Workers of this machine: how many there are changes nothing, and none that is killed takes a result with it."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.children import child
from tests.generator.after.rescore.given import (
    OPTIONS,
    bundles,
    content,
    outputs,
    rescored,
    runs_of,
    submissions,
    waiting,
)
from tests.generator.dry_run.bundles import ACCURACY, Bundle

pytestmark = pytest.mark.slow


def kill_programs(mark: Path) -> None:
    """Kill what runs the programs once one of them has left its mark."""
    while not mark.exists():
        time.sleep(0.02)
    for file in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        for process in file.read_text().split():
            os.kill(int(process), signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which processes there are")
def test_number_of_workers_and_the_death_of_one_change_no_byte(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    wait = (
        "import os, time\n"
        f"mark = {str(mark)!r}\n"
        "if not os.path.exists(mark):\n    open(mark, 'w').close()\n    time.sleep(300)\n"
    )
    old, new = bundles(tmp_path, scorer=wait + ACCURACY, sees=tmp_path)
    arguments = (new, "--submissions", submissions(tmp_path), *OPTIONS, "--against", old)
    killer = threading.Thread(target=kill_programs, args=(mark,))
    killer.start()
    done = rescored(*arguments, "--workers", 2, "--out", tmp_path / "two")
    killer.join()
    assert "the scoring program was killed (exit code 137)" in done.stderr
    assert [run["status"] for run in content(tmp_path / "two")["runs"]] == ["Finished"] * 4 + ["Failed"]
    done = rescored(*arguments, "--workers", 1, "--out", tmp_path / "one")
    assert "killed" not in done.stderr
    assert outputs(tmp_path / "one") == outputs(tmp_path / "two")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_a_run_that_is_ended_goes_on_where_it_was(tmp_path: Path, how: str) -> None:
    counter, go = tmp_path / "counter", tmp_path / "go"
    bundle = Bundle(waiting(counter, go), sees=tmp_path).write(tmp_path / "bundle")
    teams = submissions(tmp_path, {f"team{n}": f"0 0 {n % 2} {n}" for n in range(8)})
    arguments = [str(bundle), "--submissions", str(teams), *OPTIONS, "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "gen_bundle", "rescore", *arguments]
    with child(command) as process:
        deadline = time.monotonic() + 60
        while runs_of(counter) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.Signals[how])  # as a terminal does
        _, said = process.communicate(timeout=30)
        assert process.returncode == {"SIGINT": 130, "SIGKILL": -9}[how]
    assert ("What was scored is kept. Run the same command again to go on." in said) is (how == "SIGINT")
    assert "Traceback" not in said
    before = runs_of(counter)
    assert 3 <= before < 8
    assert not (tmp_path / "out" / "rescore.json").exists()
    go.touch()
    assert rescored(*arguments).exit_code == 0
    assert runs_of(counter) <= 9  # the one that was interrupted runs again
    assert [run["status"] for run in content(tmp_path / "out")["runs"]] == ["Finished"] * 8
