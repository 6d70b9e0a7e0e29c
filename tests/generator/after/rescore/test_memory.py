"""Memory stays flat over hundreds of submissions: what is kept of each is its scores."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generator.after.rescore.given import OPTIONS, submissions
from tests.generator.dry_run.bundles import Bundle

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the largest memory")]

# The commands in a process of their own, with workers that have scored as soon as they are asked.
PROGRAM = """
import json, re, sys
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from gen_bundle.cli import root
from gen_bundle.after.rescore import rescoring
from gen_bundle.after.rescore.scoring_job import JobResult

class Instant:
    def room(self):
        return 4
    def submit(self, job):
        ended = Future()
        ended.set_result(JobResult("Finished", 0, {"acc": 0.5}, ""))
        return ended

@contextmanager
def workers(*_):
    yield Instant()

rescoring.local_workers = workers
for arguments in json.loads(sys.argv[1]):
    try:
        root(["rescore", *arguments])
    except SystemExit as ended:
        assert ended.code == 0, ended.code
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def test_memory_is_flat(tmp_path: Path) -> None:
    bundle = Bundle().write(tmp_path / "bundle")
    runs = []
    for number in (50, 500):
        place = tmp_path / str(number)
        teams = submissions(place, {f"team{n:05}": f"{n} " + "1 0 1 1 " * 1250 for n in range(number)})  # of 10 KB
        runs.append([str(bundle), "--submissions", str(teams), *OPTIONS, "--out", str(place / "out")])
    command = [sys.executable, "-c", PROGRAM, json.dumps(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    few, many = (int(line) for line in done.stdout.splitlines() if line.isdigit())  # KiB at most, so far
    assert many - few < 4 * 1024, (few, many)  # 500 submissions hold 5 MB
