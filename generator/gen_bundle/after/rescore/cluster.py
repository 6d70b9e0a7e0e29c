"""Workers on other machines: those of a Dask scheduler. The files travel with the jobs, so nothing need be shared."""

import atexit
import io
import logging
import queue
import re
import tempfile
import threading
import time
import warnings
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gen_bundle.after.rescore.scoring_job import (
    EngineName,
    JobResult,
    Lost,
    Scorer,
    ScoringJob,
    differing,
    environment_of,
)
from gen_bundle.after.rescore.workers import ScoringDesk
from gen_bundle.dry_run.layout import as_upload, temporary_folder
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import install_command

try:
    from distributed import Client, Future, KilledWorker, get_worker
    from distributed.client import CancelledError, ClosedClientError
except ImportError as error:
    raise UserError(
        f"--cluster: distributed is not installed. Expected the extra `cluster`: {install_command('cluster')}."
    ) from error

GONE = (OSError, CancelledError, ClosedClientError)
"""What a client raises when its scheduler goes."""
LOST = "the connection to the scheduler was lost"
CONNECT_SECONDS = 10
RECONNECT_SECONDS = 120
"""A scheduler that is started again is waited for so long."""
NOTICE_SECONDS = 15
"""After so long without an end, it is looked whether there is a worker at all."""
JOBS_PER_THREAD = 2
FEWEST_JOBS = 8
FILES = ("scoring_program", "reference_data", "input_data", "ingestion_program")
EXPECTED = "Expected the address that `dask scheduler` prints, such as tcp://head:8786."
GPU = {"GPU": 1}
"""What a worker with one GPU declares: `dask worker … --resources GPU=1`."""

Ended = tuple[ScoringJob, JobResult | Lost]


class Cluster:
    """The workers of a scheduler; see `Workers`."""

    def __init__(self, address: str, engine: EngineName, announce: Callable[[str], None]) -> None:
        self._address = address
        self._engine = engine
        self._announce = announce
        self._count = self._threads = 0
        self._jobs: dict[str, tuple[Future, ScoringJob]] = {}
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._lost: deque[tuple[ScoringJob, str]] = deque()
        self._files: dict[str, Future] = {}
        self._client = self._connected(CONNECT_SECONDS)

    @property
    def room(self) -> int:
        """So many that no worker waits for its next job; more would only fill the scheduler's memory."""
        with suppress(*GONE):
            self._threads = sum(self._client.nthreads().values())
        return max(FEWEST_JOBS, JOBS_PER_THREAD * self._threads)

    def submit(self, job: ScoringJob) -> None:
        self._count += 1
        key, resources = f"rescore-{job.digest}-{self._count}", GPU if job.scorer.gpu else None
        try:
            with tempfile.TemporaryDirectory() as work:
                submission = packed({"submission": as_upload(job.submission, Path(work, "submission"))})
        except (OSError, UserError) as error:
            self._lost.append((job, str(error)))
            return
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # the submission itself
                future = self._client.submit(
                    score_here,
                    job,
                    submission,
                    self._files_of(job.scorer),
                    key=key,
                    pure=False,
                    resources=resources,
                )
        except GONE:
            self._lost.append((job, LOST))
            self._reconnect()
            return
        self._jobs[key] = (future, job)
        future.add_done_callback(self._ended.put)

    def wait(self) -> Ended:
        while True:
            if self._lost:
                job, reason = self._lost.popleft()
                return job, Lost(reason)
            try:
                future = self._ended.get(timeout=NOTICE_SECONDS)
            except queue.Empty:
                self._notice()
                continue
            if future.key not in self._jobs:  # of a scheduler that is gone
                continue
            try:
                ended = _result(future)
            except GONE:
                self._reconnect()
                continue
            _, job = self._jobs.pop(future.key)
            return job, ended

    def close(self) -> None:
        """Leave the scheduler; what has not begun there is cancelled."""
        with suppress(*GONE):
            self._client.close(timeout=CONNECT_SECONDS)

    def _files_of(self, scorer: Scorer) -> Future:
        """The scorer's files on the workers: sent once, passed on between them, and made again where they got lost."""
        if scorer.files not in self._files:
            parts = {role: path for role in FILES if (path := scorer.task.file(role)) is not None}
            key = f"rescore-files-{scorer.files}-{self._count}"
            self._files[scorer.files] = self._client.submit(bytes, packed(parts), key=key, pure=False)
        return self._files[scorer.files]

    def _connected(self, seconds: float) -> Client:
        deadline = time.monotonic() + seconds
        while True:
            try:
                client = Client(self._address, timeout=CONNECT_SECONDS, set_as_default=False)
            except (OSError, ValueError) as error:
                if time.monotonic() > deadline:
                    raise UserError(f"--cluster {self._address}: no scheduler answers ({error}). {EXPECTED}") from error
                time.sleep(1)
                continue
            try:
                self._check_versions(client)
            except BaseException:
                client.close(timeout=CONNECT_SECONDS)
                raise
            return client

    def _reconnect(self) -> None:
        """Wait for the scheduler to be back; everything that it had is to be submitted again."""
        self._announce(f"the scheduler at {self._address} is gone: start it again, and its workers")
        self.close()
        self._lost += [(job, LOST) for _, job in self._jobs.values()]
        self._jobs.clear()
        self._files.clear()
        self._client = self._connected(RECONNECT_SECONDS)

    def _check_versions(self, client: Client) -> None:
        """Versions must match before anything is sent; workers that come later are checked by each job.

        Raises:
            UserError: they do not.
        """
        versions = client.get_versions()
        ours = _needed(versions["client"])
        others = {"the scheduler": versions["scheduler"], **versions["workers"]}
        problems = {name: differing(ours, _needed(one)) for name, one in others.items()}
        try:
            environments = client.run(environment_of, self._engine)
        except Exception as error:  # whatever a worker without, or with another, gen-bundle raises
            raise UserError(f"--cluster {self._address}: a worker cannot load gen-bundle: {error}") from error
        here = environment_of(self._engine)
        for name, there in environments.items():
            problems[name] = ", ".join(filter(None, [problems.get(name, ""), differing(here, there)]))
        if any(problems.values()):
            raise UserError(
                *(f"{name}: versions do not match: {text}" for name, text in problems.items() if text),
                advice=f"--cluster {self._address}: install the same versions on all machines.",
            )

    def _notice(self) -> None:
        """Announce why nothing happens, where that is so."""
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except GONE:  # which ends what it was asked for
            return
        if not workers:
            self._announce(
                f"the scheduler at {self._address} has no workers: start some (they end with their scheduler)"
            )
        elif not any(worker["resources"].get("GPU") for worker in workers.values()) and any(
            job.scorer.gpu for _, job in self._jobs.values()
        ):
            self._announce(
                f"no worker at {self._address} has a GPU: waiting for one that is started with --resources GPU=1"
            )


@contextmanager
def cluster(address: str, engine: EngineName, announce: Callable[[str], None]) -> Iterator[Cluster]:
    """The workers of a scheduler, which is left however the block ends.

    Raises:
        UserError: there is no scheduler, or versions do not match.
    """
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what it reports is said in our own words
    if not re.fullmatch(r"\w+://\S+:\d+/?", address):
        raise UserError(f"--cluster {address}: not an address. {EXPECTED}")
    with closing(Cluster(address, engine, announce)) as workers:
        yield workers


def packed(parts: Mapping[str, Path]) -> bytes:
    """Files and folders as one zip; below the name of each lies one file under its own name, or one folder."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as opened:
        for name, path in parts.items():
            if path.is_file():
                opened.write(path, f"{name}/{path.name}")
                continue
            opened.mkdir(f"{name}/folder")
            for file in sorted(path.rglob("*")):
                if file.is_file():
                    opened.write(file, f"{name}/folder/{file.relative_to(path).as_posix()}")
    return out.getvalue()


def _unpacked(content: bytes, into: Path) -> dict[str, Path]:
    """What `packed` packed: name → the file or folder."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        opened.extractall(into)
    return _parts(into)


def _parts(unpacked: Path) -> dict[str, Path]:
    return {folder.name: next(folder.iterdir()) for folder in unpacked.iterdir()}


def _needed(host: Mapping[str, Any]) -> dict[str, str]:
    """The versions that must match for jobs to get from one process to another."""
    names = ("dask", "distributed", "cloudpickle", "msgpack", "tornado")
    python = ".".join(str(host["host"]["python"]).split(".")[:2])
    return {"python": python, **{name: str(host["packages"].get(name)) for name in names}}


def _result(future: Future) -> JobResult | Lost:
    error = future.exception()  # waits once more for a result that got lost with its worker
    if error is None:
        ended: JobResult | Lost = future.result()
        return ended
    if isinstance(error, KilledWorker):  # the scheduler itself has tried it again on others
        return Lost("every worker that ran it died", final=True)
    return Lost(f"{type(error).__name__}: {error}")


class _Here(threading.local):
    """What each thread of a worker keeps from one job to the next."""

    desk: ScoringDesk | None = None


_here = _Here()
_unpacking = threading.Lock()


def score_here(job: ScoringJob, submission: bytes, files: bytes) -> JobResult | Lost:
    """Run a job; this is what a worker does.

    Args:
        job: the job, with the paths of the machine that asks.
        submission: the submission, packed.
        files: the files of its scorer, packed.
    """
    if _here.desk is None:
        _here.desk = ScoringDesk().__enter__()
        atexit.register(_here.desk.__exit__, None, None, None)
    place = Path(get_worker().local_directory) / "gen-bundle" / job.scorer.files
    try:
        with _unpacking:
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                with temporary_folder("unpacking-", place.parent) as unfinished:
                    _unpacked(files, unfinished)
                    unfinished.replace(place)
        task = job.scorer.task
        for role, file in _parts(place).items():
            task = task.with_file(role, file)
        with tempfile.TemporaryDirectory(dir=place.parent) as own:
            path = _unpacked(submission, Path(own))["submission"]
            return _here.desk.score(replace(job, scorer=replace(job.scorer, task=task), submission=path))
    except OSError as error:
        return Lost(f"{error.filename or place}: {error.strerror or error}")
