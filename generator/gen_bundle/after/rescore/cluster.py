"""Workers on other machines: those of a Dask scheduler. The files travel with the jobs, so nothing need be shared."""

import io
import re
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from gen_bundle.after.rescore.scoring_job import Lost, Scorer, ScoringJob
from gen_bundle.after.rescore.workers import Desk, Ended, Workers
from gen_bundle.dry_run.layout import as_upload, temporary_folder
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import install_command

try:
    from distributed import Client, get_worker
    from distributed import Future as DaskFuture
except ImportError as error:
    raise UserError(
        f"--cluster: distributed is not installed. Expected the extra `cluster`: {install_command('cluster')}."
    ) from error

CONNECT_SECONDS = 10
JOBS_PER_THREAD = 2
FEWEST_JOBS = 8
FILES = ("scoring_program", "reference_data", "input_data", "ingestion_program")
EXPECTED = "Expected the address that `dask scheduler` prints, such as tcp://head:8786."
GPU = {"GPU": 1}
"""The resources that a worker with one GPU declares: `dask worker … --resources GPU=1`."""


class Cluster:
    """See `Workers`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._jobs = client.get_executor(pure=False)
        self._files: dict[str, DaskFuture] = {}
        self._threads = 0

    def room(self) -> int:
        """So many that no worker waits for its next job; more would only fill the scheduler's memory."""
        with suppress(OSError):  # the scheduler is gone, which ends what is running
            self._threads = sum(self._client.nthreads().values())
        return max(FEWEST_JOBS, JOBS_PER_THREAD * self._threads)

    def submit(self, job: ScoringJob) -> Future[Ended]:
        ended: Future[Ended] = Future()
        try:
            with tempfile.TemporaryDirectory() as work:
                submission = _packed({"submission": as_upload(job.submission, Path(work, "submission"))})
        except (OSError, UserError) as error:
            ended.set_result(Lost(str(error)))
            return ended
        resources = GPU if job.scorer.gpu else None
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # the submission itself
                ended = self._jobs.submit(score_here, job, submission, self._files_of(job.scorer), resources=resources)
        except (OSError, ValueError, CancelledError):  # the scheduler is gone
            ended.cancel()
            ended.set_running_or_notify_cancel()
        return ended

    def _files_of(self, scorer: Scorer) -> DaskFuture:
        """The scorer's files on the workers: sent once, passed on between them, and made again where they got lost."""
        if scorer.files not in self._files:
            parts = {role: path for role in FILES if (path := scorer.task.file(role)) is not None}
            self._files[scorer.files] = self._client.submit(bytes, _packed(parts), pure=False)
        return self._files[scorer.files]


@contextmanager
def cluster(address: str, announce: Callable[[str], None], *, gpu: bool) -> Iterator[Workers]:
    """The workers of a scheduler, which is left however the block ends; each job compares versions with ours.

    Raises:
        UserError: there is no scheduler.
    """
    if not re.fullmatch(r"\w+://\S+:\d+/?", address):
        raise UserError(f"--cluster {address}: not an address. {EXPECTED}")
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"--cluster {address}: no scheduler answers ({error}). {EXPECTED}") from error
    with client:
        if not client.nthreads():
            announce(f"the scheduler at {address} has no workers yet: start some")
        if gpu:
            announce("each job waits for a worker that was started with --resources GPU=1")
        opened = Cluster(client)
        yield Workers(opened.submit, opened.room)


def _packed(parts: Mapping[str, Path]) -> bytes:
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


def _unpacked(content: bytes, into: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        opened.extractall(into)


def _parts(unpacked: Path) -> dict[str, Path]:
    """Return the files and folders that `_packed` packed, by their names."""
    return {folder.name: next(folder.iterdir()) for folder in unpacked.iterdir()}


_desks: dict[int, Desk] = {}
"""Those of a worker's threads; a program that one has loaded ends with the worker."""
_unpacking = threading.Lock()


def score_here(job: ScoringJob, submission: bytes, files: bytes) -> Ended:
    """Run a job; this is what a worker does.

    Args:
        job: the job, with the paths of the machine that asks.
        submission: the submission, packed.
        files: the files of its scorer, packed.
    """
    work = Path(get_worker().local_directory) / "gen-bundle"
    place = work / job.scorer.files
    try:
        with _unpacking:
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                with temporary_folder("unpacking-", work) as unfinished:
                    _unpacked(files, unfinished)
                    unfinished.replace(place)
        desk = _desks.setdefault(threading.get_ident(), Desk(work))
        task = job.scorer.task
        for role, file in _parts(place).items():
            task = task.with_file(role, file)
        with temporary_folder("sent-", work) as own:
            _unpacked(submission, own)
            path = _parts(own)["submission"]
            return desk.score(replace(job, scorer=replace(job.scorer, task=task), submission=path))
    except OSError as error:
        return Lost(f"{error.filename or place}: {error.strerror or error}")
