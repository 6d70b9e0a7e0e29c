"""Workers on other machines: those of a Dask scheduler. The files travel with the jobs, so nothing need be shared."""

import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from gen_bundle.after.rescore.scoring_job import JobResult, LostError, Scorer, ScoringJob
from gen_bundle.after.rescore.workers import Desk, Workers
from gen_bundle.dry_run.layout import as_upload, copy_tree, temporary_folder
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import install_command

try:
    from distributed import Client, get_worker
    from distributed import Future as DaskFuture
except ImportError as error:
    raise UserError(
        f"--cluster: distributed is not installed. Expected the extra `cluster`: {install_command('cluster')}."
    ) from error

CONNECT_SECONDS, ANSWER_SECONDS = 10, 20
JOBS_PER_THREAD = 2
FEWEST_JOBS = 8
EXPECTED = "Expected the address that `dask scheduler` prints, such as tcp://head:8786."
GPU = {"GPU": 1}
"""The resources that a worker with one GPU declares: `dask worker … --resources GPU=1`."""


class Cluster:
    """See `Workers`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._jobs = client.get_executor(pure=False)
        self._files: dict[str, DaskFuture] = {}

    def room(self) -> int:
        """So many that no worker waits for its next job; more would only fill the scheduler's memory."""
        with suppress(OSError):  # the scheduler is gone, which ends what is running
            threads: int = sum(self._client.nthreads().values())
            return max(FEWEST_JOBS, JOBS_PER_THREAD * threads)
        return FEWEST_JOBS

    def submit(self, job: ScoringJob) -> Future[JobResult]:
        ended: Future[JobResult] = Future()
        try:
            with tempfile.TemporaryDirectory() as work:
                submission = as_upload(job.submission, Path(work, "submission")).read_bytes()
        except (OSError, UserError) as error:
            ended.set_exception(LostError(str(error)))
            return ended
        resources = GPU if job.scorer.gpu else None
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # the submission itself
                ended = self._jobs.submit(score_here, job, submission, self._files_of(job.scorer), resources=resources)
        except (OSError, ValueError, CancelledError) as error:  # the scheduler is gone
            ended.set_exception(CancelledError(str(error)))
        return ended

    def _files_of(self, scorer: Scorer) -> DaskFuture:
        """The scorer's files on the workers: sent once, passed on between them, and made again where they got lost."""
        if scorer.files not in self._files:
            with tempfile.TemporaryDirectory() as work:
                zips = {role: _zip_of(use.path, Path(work, role)) for role, use in scorer.task.files.items()}
            self._files[scorer.files] = self._client.submit(dict, zips, pure=False)
        return self._files[scorer.files]


@contextmanager
def cluster(address: str, announce: Callable[[str], None], *, gpu: bool) -> Iterator[Workers]:
    """The workers of a scheduler, which is left however the block ends; each job compares versions with ours.

    Raises:
        UserError: there is no scheduler.
    """
    with _connected(address) as client:
        if not client.nthreads():
            announce(f"the scheduler at {address} has no workers yet: start some")
        if gpu:
            announce("each job waits for a worker that was started with --resources GPU=1")
        opened = Cluster(client)
        yield Workers(opened.submit, opened.room)


def _connected(address: str) -> Client:
    """Return a connection to a scheduler.

    Raises:
        UserError: none answers there, or something else does. A web server, as the dashboard is one, waits for words
            that Dask never says, and Dask for its, without an end: so another thread tries.
    """
    trying: Future[Client] = Future()

    def connect() -> None:
        try:
            trying.set_result(Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
        except Exception as error:
            trying.set_exception(error)

    threading.Thread(target=connect, daemon=True).start()
    try:
        return trying.result(ANSWER_SECONDS)
    except (OSError, ValueError, MemoryError) as error:  # for a length that the first words of others seem to be
        found = f"no scheduler answers ({error})"
        if isinstance(error, MemoryError) or not trying.done():
            found = "what answers there is no scheduler"
        raise UserError(f"--cluster {address}: {found}. {EXPECTED}") from error


def _zip_of(file: Path, work: Path) -> bytes:
    """Return a file of a task as it is, or a folder as a zip; links become what they point at."""
    if file.is_dir():
        copy_tree(file, work)
        file = as_upload(work, work)
    return file.read_bytes()


_desks: dict[int, Desk] = {}
"""Those of a worker's threads; a program that one has loaded ends with the worker."""
_writing = threading.Lock()


def score_here(job: ScoringJob, submission: bytes, files: Mapping[str, bytes]) -> JobResult:
    """Run a job; this is what a worker does.

    Args:
        job: the job, with the paths of the machine that asks.
        submission: the submission's zip.
        files: role → the zip of its scorer.

    Raises:
        LostError: it has no result.
    """
    work = Path(get_worker().local_directory) / "gen-bundle"
    place = work / job.scorer.files
    try:
        with _writing:
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                with temporary_folder("unfinished-", work) as unfinished:
                    for role, content in files.items():
                        (unfinished / f"{role}.zip").write_bytes(content)
                    unfinished.replace(place)
        desk = _desks.setdefault(threading.get_ident(), Desk(work))
        task = job.scorer.task
        for file in place.iterdir():
            task = task.with_file(file.stem, file)
        with temporary_folder("sent-", work) as own:
            path = own / "submission.zip"
            path.write_bytes(submission)
            return desk.score(replace(job, scorer=replace(job.scorer, task=task), submission=path))
    except OSError as error:
        raise LostError(f"{error.filename or place}: {error.strerror or error}") from error
