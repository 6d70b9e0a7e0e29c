"""Workers on other machines: a real scheduler and real worker processes, over TCP on loopback."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

from tests.generator.rescore.given import (
    OPTIONS,
    TEAMS,
    bundles,
    content,
    counting,
    outputs,
    rescored,
    runs_of,
    submissions,
)
from tests.generator.twin.bundles import ACCURACY, Bundle

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `cluster` is not installed"),
]

START_SECONDS = 60


class Dask:
    """A scheduler and workers, as an organiser starts them."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> "subprocess.Popen[bytes]":
        started = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        self._wait(self._listens)
        return started

    def start_worker(self, *options: str, environment: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
        place = self.folder / f"worker-{len(self.processes)}"
        own = ["--no-nanny", "--local-directory", str(place), "--nthreads", "1"]
        started = self._start("dask_worker", self.address, *own, *options, environment=environment)
        log = self._log(len(self.processes) - 1)
        self._wait(lambda: b"Registered to" in log.read_bytes())
        return started

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def _start(
        self, module: str, *arguments: str, environment: dict[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
        with self._log(len(self.processes)).open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
            )
        self.processes.append(process)
        return process

    def _log(self, number: int) -> Path:
        return self.folder / f"{number}.log"

    def _listens(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.port)) == 0

    def _wait(self, happens: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not happens():
            assert time.monotonic() < deadline, self._log(len(self.processes) - 1).read_text()
            time.sleep(0.1)


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    folder = tmp_path / "dask"
    folder.mkdir()
    started = Dask(folder)
    yield started
    started.close()


MANY = {f"team{n:02}": f"{n % 2} 0 {n // 2 % 2} {n}" for n in range(16)}


def in_background(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "gen_bundle", "rescore", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def until(counter: Path, runs: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while runs_of(counter) < runs:
        assert time.monotonic() < deadline, "the jobs do not run"
        time.sleep(0.05)


def test_the_same_table_as_on_one_machine(tmp_path: Path, dask: Dask) -> None:
    old, new = bundles(tmp_path)
    arguments = (new, "--submissions", submissions(tmp_path), *OPTIONS, "--against", old)
    dask.start_scheduler()
    for _ in range(2):
        dask.start_worker()
    done = rescored(*arguments, "--out", tmp_path / "many", "--cluster", dask.address)
    assert "Traceback" not in done.output
    rescored(*arguments, "--out", tmp_path / "one")
    assert [run["status"] for run in content(tmp_path / "one")["runs"]] == ["Finished"] * 4 + ["Failed"]
    assert outputs(tmp_path / "many") == outputs(tmp_path / "one")


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, dask: Dask) -> None:
    counter = tmp_path / "counter"
    slow = "import time\ntime.sleep(0.4)\n"
    bundle = Bundle(counting(counter, slow + ACCURACY)).write(tmp_path / "bundle")
    teams = submissions(tmp_path, MANY)
    (teams / "team00-again.zip").write_bytes((teams / "team00.zip").read_bytes())
    arguments = (bundle, "--submissions", teams, *OPTIONS)
    dask.start_scheduler()
    first, _ = dask.start_worker(), dask.start_worker()
    running = in_background(*arguments, "--out", tmp_path / "many", "--cluster", dask.address)
    until(counter, 4)
    first.send_signal(signal.SIGKILL)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    runs = runs_of(counter)
    assert 16 <= runs <= 18, said  # what the killed worker was at ran again; the duplicate never
    rescored(*arguments, "--out", tmp_path / "one")
    assert outputs(tmp_path / "many") == outputs(tmp_path / "one")


def test_a_scheduler_that_is_started_again_is_gone_on_with(tmp_path: Path, dask: Dask) -> None:
    counter = tmp_path / "counter"
    slow = "import time\ntime.sleep(0.4)\n"
    bundle = Bundle(counting(counter, slow + ACCURACY)).write(tmp_path / "bundle")
    arguments = (bundle, "--submissions", submissions(tmp_path, MANY), *OPTIONS)
    scheduler = dask.start_scheduler()
    dask.start_worker()
    running = in_background(*arguments, "--out", tmp_path / "many", "--cluster", dask.address)
    until(counter, 4)
    scheduler.kill()
    scheduler.wait()
    dask.start_scheduler()
    dask.start_worker()
    _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert "is gone: waiting for it to be back" in said
    assert "Traceback" not in said
    assert runs_of(counter) < 32  # what had been scored was not scored again
    assert [run["status"] for run in content(tmp_path / "many")["runs"]] == ["Finished"] * 16


def test_one_gpu_is_never_used_by_two_jobs(tmp_path: Path, dask: Dask) -> None:
    times = tmp_path / "times"
    timed = (
        "import time\nbegan = time.time()\n"
        f"{ACCURACY}time.sleep(0.2)\n"
        f"with open({str(times)!r}, 'a') as out: out.write(f'{{began}} {{time.time()}}\\n')\n"
    )
    bundle = Bundle(timed).write(tmp_path / "bundle")
    dask.start_scheduler()
    dask.start_worker("--nthreads", "3", "--resources", "GPU=1")
    dask.start_worker("--nthreads", "2")
    arguments = (bundle, "--submissions", submissions(tmp_path, MANY), *OPTIONS, "--out", tmp_path / "out")
    done = rescored(*arguments, "--cluster", dask.address, "--gpu")
    assert done.exit_code == 0, done.output
    spans = sorted(tuple(map(float, line.split())) for line in times.read_text().splitlines())
    assert len(spans) == 16
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))


def test_workers_that_come_later_are_waited_for(tmp_path: Path, dask: Dask) -> None:
    (bundle, _), teams = bundles(tmp_path), submissions(tmp_path, {"ant": TEAMS["ant"]})
    dask.start_scheduler()
    arguments = (bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--cluster", dask.address)
    running = in_background(*arguments, "--gpu")
    assert running.stderr is not None
    assert "has no workers: waiting for one" in running.stderr.readline()
    dask.start_worker()
    assert "has a GPU: waiting for one that is started with --resources GPU=1" in running.stderr.readline()
    dask.start_worker("--resources", "GPU=1")
    _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said


def test_versions_that_do_not_match(tmp_path: Path, dask: Dask) -> None:
    other = tmp_path / "other" / "gen_bundle-9.9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: gen-bundle\nVersion: 9.9.9\n")
    (bundle, _), teams = bundles(tmp_path), submissions(tmp_path, {"ant": TEAMS["ant"]})
    dask.start_scheduler()
    dask.start_worker(environment={"PYTHONPATH": str(other.parent)})
    done = rescored(bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--cluster", dask.address)
    assert done.exit_code == 2
    assert re.search(r"tcp://\S+: versions do not match: .*gen-bundle 0\.1\.0 here, 9\.9\.9 there", done.stderr)
    assert "install the same versions on all machines" in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("address", "words"),
    [("tcp://127.0.0.1:9", "no scheduler answers"), ("head", "not an address"), ("tcp://head", "not an address")],
)
def test_no_scheduler(tmp_path: Path, address: str, words: str) -> None:
    (bundle, _), teams = bundles(tmp_path), submissions(tmp_path, {"ant": TEAMS["ant"]})
    done = rescored(bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--cluster", address)
    assert done.exit_code == 2, done.output
    assert f"--cluster {address}: {words}" in done.stderr
    assert "such as tcp://head:8786" in done.stderr
    assert "Traceback" not in done.output
