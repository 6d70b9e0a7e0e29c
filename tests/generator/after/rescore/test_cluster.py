"""Workers on other machines: a real scheduler and real worker processes, over TCP on loopback."""

import importlib
import re
import socket
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from gen_bundle.after.rescore import scoring_job
from gen_bundle.after.rescore.scoring_job import LostError, job_for, opened_bundle
from gen_bundle.dry_run.engines.process import ProcessEngine
from tests.generator.after.rescore.dask import Dask, until
from tests.generator.after.rescore.given import (
    NEW_GOLD,
    OPTIONS,
    TEAMS,
    bundles,
    content,
    outputs,
    rescored,
    runs_of,
    submissions,
    waiting,
)
from tests.generator.dry_run.bundles import ACCURACY, Bundle

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `cluster` is not installed"),
]

IMPORTED = (
    *("distributed.cli.dask_scheduler", "distributed.cli.dask_worker", "distributed.http.scheduler.info"),
    *("dask.distributed", "tornado.platform.asyncio", "dateutil.parser", "rich.table"),
    *("gen_bundle.cli.rescore", "gen_bundle.after.rescore.cluster", "gen_bundle.after.rescore.rescoring"),
    *("gen_bundle.codabench.settings", "gen_bundle.dry_run.engines.process"),
)
"""What the commands import, before they are forked."""


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their authors' own
        for module in IMPORTED:
            importlib.import_module(module)
    folder = tmp_path / "dask"
    folder.mkdir()
    started = Dask(folder)
    yield started
    started.close()


UNUSED = "tcp://127.0.0.1:9"
MANY = {f"team{n}": f"{n % 2} 0 {n // 2 % 2} {n}" for n in range(8)}


def begun(counter: Path, runs: int) -> None:
    until(lambda: runs_of(counter) >= runs, lambda: "the jobs do not run")


def test_the_same_table_as_on_one_machine_also_where_a_worker_is_killed(tmp_path: Path, dask: Dask) -> None:
    counter, go = tmp_path / "counter", tmp_path / "go"
    old = Bundle(folders={"gold": NEW_GOLD}).write(tmp_path / "old")
    new = Bundle(waiting(counter, go), sees=tmp_path).write(tmp_path / "new")
    teams = submissions(tmp_path, {**MANY, "eel": TEAMS["eel"]})
    (teams / "team0-again.zip").write_bytes((teams / "team0.zip").read_bytes())
    (teams / "fox").mkdir()
    (teams / "fox" / "pred.txt").symlink_to(new / "gold" / "truth.txt")
    arguments = (new, "--submissions", teams, *OPTIONS, "--against", old)
    dask.start_scheduler()
    first, _ = dask.start_worker(), dask.start_worker()
    running = dask.rescore(*arguments, "--out", tmp_path / "many", "--cluster", dask.address)
    begun(counter, 4)
    first.kill()
    go.touch()
    assert running.end() == 1, running.printed
    assert "Traceback" not in running.printed
    runs = runs_of(counter)
    assert 9 < runs <= 11, running.printed  # what the killed worker was at ran again; the duplicate never
    rescored(*arguments, "--out", tmp_path / "one")
    assert [run["status"] for run in content(tmp_path / "one")["runs"]] == ["Failed"] * 2 + ["Finished"] * 9
    assert outputs(tmp_path / "many") == outputs(tmp_path / "one")


def test_a_scheduler_that_is_gone_costs_no_result(tmp_path: Path, dask: Dask) -> None:
    counter, go = tmp_path / "counter", tmp_path / "go"
    bundle = Bundle(waiting(counter, go), sees=tmp_path).write(tmp_path / "bundle")
    arguments = (bundle, "--submissions", submissions(tmp_path, MANY), *OPTIONS, "--out", tmp_path / "many")
    scheduler = dask.start_scheduler()
    dask.start_worker()
    running = dask.rescore(*arguments, "--cluster", dask.address)
    begun(counter, 3)
    scheduler.kill()
    assert running.end() == 2, running.printed
    assert "The connection to the scheduler was lost. Start it again, and its workers" in running.printed
    go.touch()
    dask.start_scheduler()
    dask.start_worker()
    running = dask.rescore(*arguments, "--cluster", dask.address)
    assert running.end() == 0, running.printed
    assert "2 of 8 results are there already." in running.printed
    assert [run["status"] for run in content(tmp_path / "many")["runs"]] == ["Finished"] * 8


def test_one_gpu_is_never_used_by_two_jobs_which_wait_for_workers_that_come_later(tmp_path: Path, dask: Dask) -> None:
    times = tmp_path / "times"
    timed = (
        "import time\nbegan = time.time()\n"
        f"{ACCURACY}time.sleep(0.1)\n"
        f"with open({str(times)!r}, 'a') as out: out.write(f'{{began}} {{time.time()}}\\n')\n"
    )
    bundle = Bundle(timed, sees=tmp_path).write(tmp_path / "bundle")
    dask.start_scheduler()
    arguments = (bundle, "--submissions", submissions(tmp_path, MANY), *OPTIONS, "--out", tmp_path / "out")
    running = dask.rescore(*arguments, "--cluster", dask.address, "--gpu")
    running.prints("has no workers yet: start some")
    running.prints("each job waits for a worker that was started with --resources GPU=1")
    dask.start_worker("--nthreads", "2")
    dask.start_worker("--nthreads", "3", "--resources", "GPU=1")
    assert running.end() == 0, running.printed
    spans = sorted(tuple(map(float, line.split())) for line in times.read_text().splitlines())
    assert len(spans) == 8
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))


def test_versions_that_do_not_match(tmp_path: Path, dask: Dask) -> None:
    other = tmp_path / "other" / "gen_bundle-9.9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: gen-bundle\nVersion: 9.9.9\n")
    (bundle, _), teams = bundles(tmp_path), submissions(tmp_path, {"ant": TEAMS["ant"]})
    scoring_job.environment_of.cache_clear()  # a fork has what we have learnt
    dask.start_scheduler()
    dask.start_worker(PYTHONPATH=str(other.parent))
    done = dask.rescore(bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--cluster", dask.address)
    assert done.end() == 1
    assert re.search(r"ant.zip: versions do not match: .*gen-bundle 0.1.0 here, 9.9.9 there", done.printed)
    assert "Install the same ones on all machines. Given up after 3 attempts." in done.printed
    assert "Traceback" not in done.printed


def test_a_failed_transfer_leaves_no_gold_on_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = importlib.import_module("gen_bundle.after.rescore.cluster")
    bundle = opened_bundle(
        Bundle().write(tmp_path / "bundle"), "test", tmp_path / "opened", ProcessEngine(), trust=True
    )
    job = job_for(bundle.scorers[0], submissions(tmp_path, {"ant": TEAMS["ant"]}) / "ant.zip", "ant")
    worker = tmp_path / "worker"
    monkeypatch.setattr(cluster, "get_worker", lambda: SimpleNamespace(local_directory=str(worker)))
    with pytest.raises(LostError, match="cannot/be"):
        cluster.score_here(job, b"", {"reference_data": b"1 0", "cannot/be": b"written"})
    assert not [path for path in worker.rglob("*") if path.is_file()]


@pytest.mark.parametrize("address", [UNUSED, "nowhere", "tcp://127.0.0.1"])
def test_no_scheduler(tmp_path: Path, dask: Dask, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr("gen_bundle.after.rescore.cluster.CONNECT_SECONDS", 0.5)
    (bundle, _), teams = bundles(tmp_path), submissions(tmp_path, {"ant": TEAMS["ant"]})
    arguments = (bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--cluster", address)
    done = dask.rescore(*arguments)
    assert done.end() == 2, done.printed
    assert f"--cluster {address}: no scheduler answers" in done.printed
    assert "such as tcp://head:8786" in done.printed
    assert "Traceback" not in done.printed


@pytest.mark.parametrize("words", [b"", b"SSH-2.0-OpenSSH_9.2\r\n"], ids=["a web server waits", "another greets"])
def test_another_service_is_no_scheduler(
    tmp_path: Path, dask: Dask, monkeypatch: pytest.MonkeyPatch, words: bytes
) -> None:
    monkeypatch.setattr("gen_bundle.after.rescore.cluster.ANSWER_SECONDS", 3 if words == b"" else 60)
    (bundle, _), teams = bundles(tmp_path), submissions(tmp_path, {"ant": TEAMS["ant"]})
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        arguments = (bundle, "--submissions", teams, *OPTIONS, "--out", tmp_path / "out", "--cluster", address)
        done = dask.rescore(*arguments)
        connection, _ = server.accept()
        with connection:
            connection.sendall(words)
            assert done.end() == 2, done.printed
    assert f"--cluster {address}: what answers there is no scheduler. Expected the address" in done.printed
