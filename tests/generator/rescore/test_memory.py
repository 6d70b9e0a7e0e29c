"""Memory stays flat over hundreds of submissions: what is kept of each is its scores."""

import sys
from pathlib import Path

import pytest

from tests.forks import Forks
from tests.generator.rescore.given import OPTIONS, submissions
from tests.generator.twin.bundles import Bundle

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the largest memory")]

# The command in a process of its own, with workers that have scored as soon as they are asked.
PROGRAM = """
import re, sys
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from gen_bundle.cli import root
from gen_bundle.rescore import rescoring
from gen_bundle.rescore.scoring_job import JobResult

class Instant:
    room = 4
    def __init__(self): self.jobs = deque()
    def submit(self, job): self.jobs.append(job)
    def wait(self): return self.jobs.popleft(), JobResult("Finished", 0, {"acc": 0.5}, "")

@contextmanager
def workers(*_):
    yield Instant()

rescoring._workers = workers
try:
    root(sys.argv[1:])
except SystemExit as ended:
    assert ended.code == 0, ended.code
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def peak(forks: Forks, tmp_path: Path, number: int) -> int:
    """KiB that rescoring so many submissions of 10 KB takes at most."""
    teams = submissions(tmp_path / str(number), {f"team{n:05}": f"{n} " + "1 0 1 1 " * 1250 for n in range(number)})
    arguments = [str(tmp_path / "bundle"), "--submissions", str(teams), *OPTIONS, "--out", str(tmp_path / f"o{number}")]
    stdout, stderr = tmp_path / "stdout", tmp_path / "stderr"
    run = forks.start(str(tmp_path / "rescore.py"), ["rescore", *arguments], stdout=stdout, stderr=stderr)
    assert forks.wait(run) == 0, stderr.read_text()
    return int(stdout.read_text().split()[-1])


def test_memory_is_flat(tmp_path: Path) -> None:
    Bundle().write(tmp_path / "bundle")
    (tmp_path / "rescore.py").write_text(PROGRAM)
    with Forks("gen_bundle.cli.rescore", "gen_bundle.rescore.rescoring") as forks:
        few, many = peak(forks, tmp_path, 50), peak(forks, tmp_path, 500)
    assert many - few < 4 * 1024, (few, many)  # 500 submissions hold 5 MB
