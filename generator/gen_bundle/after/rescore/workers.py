"""What runs the jobs: a desk, which keeps an engine and a loaded program from one job to the next, and local workers.

Workers of this machine are processes, each with a desk of its own. One that dies takes only its own job with it.
"""

import contextlib
import gc
import json
import math
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn, Protocol, Self

from gen_bundle.after.rescore.scoring_job import JobResult, Lost, Scorer, ScoringJob, differing, environment_of, score
from gen_bundle.after.rescore.submissions import is_plain
from gen_bundle.codabench.worker import JobFailedError, WorkerCrashError, read_metadata, read_scores
from gen_bundle.dry_run.engines import Container, Ended, Engine, EngineError, LineListener
from gen_bundle.dry_run.engines.choose import choose_engine, is_ours
from gen_bundle.dry_run.engines.process import ProcessEngine, program_environment
from gen_bundle.dry_run.layout import lay_out, scratch_folder, temporary_folder
from gen_bundle.ground.errors import UserError, bug_report
from gen_bundle.ground.starting import python
from gen_bundle.ground.zips.unpacking import ArchiveError

PROTOCOL = {"protocol": 1}
FRAME = Path("scoring_kit", "frame.py")
"""What every program of ours holds."""
MODELS = Path("scoring_kit", "models")
MANY_RUNS = Path(__file__).with_name("many_runs.py")
MOST_AHEAD = 32
"""So many jobs at most are handed over to a process at a time."""
AHEAD_SECONDS = 1.0
"""About so long those take that are handed over at a time."""
GRACE_SECONDS = 60.0
"""Beyond twice the limit of a submission, which `many_runs` itself watches, and may try twice."""
END_SECONDS = 10

ATTEMPTS = 3
"""How often a job is tried that gets lost."""
HOPELESS = 3
"""So many jobs given up, and none scored in between, mean that nothing here can score."""


class ScoringDesk:
    """A place where jobs are scored one after the other; what is kept is for the scorer of the last one."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._of_scorer = ExitStack()
        self._scorer = ""
        self._engine: Engine | None = None
        self._warm: WarmProcess | None = None
        self._work = self._in_place = Path()

    def __enter__(self) -> Self:
        self._work = self._held.enter_context(scratch_folder())
        self._in_place = self._held.enter_context(scratch_folder(in_memory=True))
        return self

    def __exit__(self, *_: object) -> None:
        with self._held:
            self._of_scorer.close()

    @property
    def serves(self) -> int | None:
        """The process of a program that scores many; None where each job has one of its own."""
        return self._warm.pid if self._warm else None

    def score(self, job: ScoringJob) -> JobResult | Lost:
        """Run a job, if this machine is one for it."""
        (ended,) = self.score_all([job])
        return ended

    def score_all(self, jobs: Sequence[ScoringJob]) -> Iterator[JobResult | Lost]:
        """Run jobs of one scorer, if this machine is one for them; how they end, in their order."""
        for job, scores in zip(jobs, self._scores_in_place(jobs), strict=True):
            if scores is not None:
                yield JobResult("Finished", 0, scores, "")
                continue
            try:
                yield self._score(job)
            except Exception as bug:  # of ours, which one job meets and the others need not
                yield Lost(bug_report(bug), final=True)

    def _scores_in_place(self, jobs: Sequence[ScoringJob]) -> Sequence[object]:
        """What a program that is loaded sends of the submissions that it scores where they are; None of all others."""
        if self._warm is not None and self._scorer == jobs[0].scorer.digest:
            try:
                return self._warm.scores_in_place([job.submission for job in jobs])
            except Exception:  # each job gets a run of its own, which says what is wrong
                self._forget()
        return [None] * len(jobs)

    def _score(self, job: ScoringJob) -> JobResult | Lost:
        try:
            engine = self._ready(job.scorer)
        except (EngineError, UserError, OSError) as error:
            self._forget()
            return Lost(str(error))
        if self._warm is not None:
            ended = self._warm.score(job, self._work)
            if not isinstance(ended, Lost):
                return ended
            self._forget()  # its process has died: the next job starts a new one, and this one gets a run of its own
            engine = self._engine_of(job.scorer)
        return score(job, engine, self._work)

    def _ready(self, scorer: Scorer) -> Engine:
        if self._engine is None or self._scorer != scorer.digest:
            self._forget()
            if differs := differing(scorer.environment, environment_of(scorer.engine)):
                raise EngineError(f"versions do not match: {differs}. Install the same ones on all machines")
            self._engine = self._engine_of(scorer)
            self._engine.prepare(scorer.image)
            place = self._of_scorer.enter_context(temporary_folder("warm-", self._work))
            self._warm = serve(scorer, place, self._in_place)
            if self._warm is not None:
                self._of_scorer.callback(self._warm.close)
            self._scorer = scorer.digest
        return self._engine

    def _engine_of(self, scorer: Scorer) -> Engine:
        """An engine that is closed when this scorer is done with; an image that is named by its digest is fetched."""
        chosen_python = Path(scorer.python) if scorer.python else None
        pull = scorer.engine == "docker" and "@sha256:" in scorer.image
        engine = choose_engine(scorer.engine, lambda _: None, gpu=scorer.gpu, pull=pull, python=chosen_python)
        self._of_scorer.callback(engine.close)
        return engine

    def _forget(self) -> None:
        self._of_scorer.close()
        self._of_scorer = ExitStack()
        self._engine = self._warm = None


class WarmProcess:
    """The `Engine` of a scorer whose program stays loaded; its submissions run in forks of that one process.

    An ingestion program is run for each submission.

    Attributes:
        scorer: the scorer, its task without the data that the process has already.
        pid: of the process.
    """

    name = "process"

    def __init__(self, scorer: Scorer, program: Path, reference: Path, stub: Path, in_place: Path) -> None:
        task = scorer.task.with_file("scoring_program", stub).with_file("reference_data", None)
        self.scorer = replace(scorer, task=task)
        self._alone = ProcessEngine(gpu=scorer.gpu)
        self._reads_in_place = keeps_nothing(program) and task.file("ingestion_program") is None
        self._in_place = in_place
        self._process = subprocess.Popen(
            python(MANY_RUNS, program, reference),
            cwd=program,
            env=program_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.pid = self._process.pid

    def is_loaded(self) -> bool:
        """Wait for the program to be loaded; whether it speaks as we do."""
        return bool(self._answer(self.scorer.seconds + GRACE_SECONDS) == PROTOCOL)

    def score(self, job: ScoringJob, work: Path) -> JobResult | Lost:
        """Run a job in a fork of its own; see `scoring_job.score`."""
        return score(replace(job, scorer=self.scorer), self, work)

    def scores_in_place(self, submissions: Sequence[Path]) -> Sequence[object]:
        """The scores of submissions that are scored together; None of one without, and a run like any other says why.

        A program that is but ours reads plain folders where they are, which spares laying them out. Outputs of an
        earlier run may lie there: our programs remove them before they score.

        Raises:
            EngineError: the process has ended, or does not answer: a late answer would be taken for that of the next
                request.
        """
        scores: list[object] = [None] * len(submissions)
        unread = Path(os.devnull)
        outputs: dict[int, Path] = {}
        requests = []
        for place, submission in enumerate(submissions):
            folder = self._in_place / str(place)
            with suppress(OSError):  # there is no room: it is laid out elsewhere
                if self._reads_in_place and is_plain(submission):
                    folder.mkdir(exist_ok=True)
                    (folder / "res").unlink(missing_ok=True)
                    (folder / "res").symlink_to(submission.absolute())
                    outputs[place] = folder / "output"
                    requests.append(_request(folder, outputs[place], self.scorer.seconds, unread, unread))
        for (place, output), ended in zip(outputs.items(), self._ask(requests), strict=True):
            if ended.exit_code == 0:
                with suppress(JobFailedError, WorkerCrashError, OSError):
                    scores[place] = read_scores(output)
        return scores

    def prepare(self, image: str) -> list[str]:
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        """See `Engine.run`; its process that ends, or does not answer, is an EngineError."""
        if container.kind == "ingestion":
            return self._alone.run(container, seconds=seconds, stdout=stdout, stderr=stderr, on_line=on_line)
        folders = {mount.target: mount.source for mount in container.mounts}
        (ended,) = self._ask([_request(folders["/app/input"], folders["/app/output"], seconds, stdout, stderr)])
        return ended

    def _ask(self, requests: Sequence[Mapping[str, Any]]) -> list[Ended]:
        """Let the process score submissions; raises EngineError."""
        if not requests:
            return []
        assert self._process.stdin is not None  # noqa: S101 it is a pipe
        try:
            self._process.stdin.write(json.dumps(requests).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise EngineError("the scoring program that was kept loaded has ended") from error
        answers = self._answer(sum(2 * request["seconds"] for request in requests) + GRACE_SECONDS)
        return [Ended(one["exit_code"], one["seconds"], timed_out=one["timed_out"]) for one in answers]

    def close(self) -> None:
        """End the process, and with it its forks and its models."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _answer(self, seconds: float) -> Any:
        assert self._process.stdout is not None  # noqa: S101 it is a pipe
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else b""
        try:
            return json.loads(line)
        except ValueError as error:
            raise EngineError("the scoring program that is kept loaded has ended, or does not answer") from error


def _request(given: Path, output: Path, seconds: float, stdout: Path, stderr: Path) -> dict[str, Any]:
    """What `many_runs` is asked, for the submission in the folder `given`."""
    files = {"input": given, "output": output, "stdout": stdout, "stderr": stderr}
    return {**{name: str(file) for name, file in files.items()}, "seconds": seconds}


def serve(scorer: Scorer, work: Path, in_place: Path) -> WarmProcess | None:
    """Load the program of a scorer for many submissions; None where it must score them one by one.

    Args:
        scorer: the scorer.
        work: where its program and reference data are unpacked, and stay.
        in_place: where submissions are scored that are read in place.
    """
    from gen_bundle.build.package.programs import COMMAND

    if not scorer.trusted or scorer.python or scorer.task.ingestion_only_during_scoring:
        return None
    if scorer.engine != "process" or sys.platform != "linux":
        return None
    program, reference, stub = (work / name for name in ("program", "reference", "stub"))
    try:
        lay_out(scorer.task.file("scoring_program"), program)
        if not (program / FRAME).is_file() or read_metadata(program).command != COMMAND:
            return None
        reference.mkdir()
        if data := scorer.task.file("reference_data"):
            lay_out(data, reference)
        stub.mkdir()
        (stub / "metadata.yaml").write_text(f"command: {COMMAND}\n", encoding="utf-8")
        with ExitStack() as held:
            warm = WarmProcess(scorer, program, reference, stub, in_place)
            held.callback(warm.close)
            if not warm.is_loaded():
                return None
            held.pop_all()
            return warm
    except (ArchiveError, EngineError, OSError):  # what is wrong with it, a single run says
        return None


def keeps_nothing(program: Path) -> bool:
    """Whether a program is but the code that comes with the tool, which keeps nothing of a submission.

    One with models does: they have a process that remembers what it has computed.
    """
    return is_ours(program) and not (program / MODELS).is_dir()


class Workers(Protocol):
    """Processes that score, here or elsewhere.

    Attributes:
        room: how many jobs are worth handing over before the first of them has ended.
    """

    @property
    def room(self) -> int: ...

    def submit(self, job: ScoringJob) -> None:
        """Hand a job over."""
        ...

    def wait(self) -> tuple[ScoringJob, JobResult | Lost]:
        """Wait for any of the jobs that were handed over to end."""
        ...


def run(
    jobs: Iterable[ScoringJob], workers: Workers, announce: Callable[[str], None]
) -> Iterator[tuple[ScoringJob, JobResult | Lost]]:
    """Run all jobs, in whatever order they end; one that gets lost is tried again, and lost only when that failed, too.

    Raises:
        UserError: job after job gets lost, so that the rest need not be tried.
    """
    waiting, tries, in_flight, given_up = deque(jobs), Counter[str](), 0, 0
    while waiting or in_flight:
        while waiting and in_flight < workers.room:
            job = waiting.popleft()
            tries[job.digest] += 1
            workers.submit(job)
            in_flight += 1
        job, ended = workers.wait()
        in_flight -= 1
        if not isinstance(ended, Lost):
            given_up = 0
        elif not ended.final and tries[job.digest] < ATTEMPTS:
            announce(f"{job.submission.name}: {ended.reason}. It is tried again.")
            waiting.append(job)
            continue
        else:
            given_up += 1
            attempts = "1 attempt" if tries[job.digest] == 1 else f"{tries[job.digest]} attempts"
            announce(f"{job.submission.name}: {ended.reason}. Given up after {attempts}.")
        yield job, ended
        if given_up == HOPELESS and isinstance(ended, Lost):
            raise UserError(
                f"{HOPELESS} jobs in a row could not be run, the last one because: {ended.reason}. Fix that, and "
                "run the same command again: what was scored is kept."
            )


class LocalPool:
    """So many processes of this machine; see `Workers`.

    Each is handed over several jobs at a time where these are quick: to wake it for each takes up to a third of theirs.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: deque[ScoringJob] = deque()
        self._busy: dict[Connection, _Process] = {}
        self._idle: deque[_Process] = deque()

    @property
    def room(self) -> int:
        return self._size * MOST_AHEAD

    def submit(self, job: ScoringJob) -> None:
        self._waiting.append(job)

    def wait(self) -> tuple[ScoringJob, JobResult | Lost]:
        """See `Workers`; a process that dies closes its end of the pipe."""
        while self._waiting and len(self._busy) < self._size:
            process = self._idle.popleft() if self._idle else _Process()
            process.take(self._waiting, math.ceil(len(self._waiting) / (self._size - len(self._busy))))
            self._busy[process.pipe] = process
        pipe = next(one for one in wait([*self._busy]) if isinstance(one, Connection))
        process = self._busy[pipe]
        job = process.jobs.popleft()
        try:
            ended: JobResult | Lost = pipe.recv()
        except (EOFError, OSError):
            del self._busy[pipe]
            self._waiting.extendleft(reversed(process.jobs))  # the others are not to blame
            return job, Lost(f"its worker {process.end()}")
        if not process.jobs:
            process.rest()
            self._idle.append(self._busy.pop(pipe))
        return job, ended

    def close(self) -> None:
        """End all processes, and what they run."""
        processes = [*self._idle, *self._busy.values()]
        for process in processes:
            process.stop()
        for process in processes:
            process.end()


def local_pool(size: int) -> closing[LocalPool]:
    """Workers that are ended, with what they run, however the block ends."""
    return closing(LocalPool(size))


class _Process:
    """A process and our end of the pipe to it.

    Attributes:
        jobs: those that it was handed over last and has not answered, in their order.
        ahead: how many jobs of the last ones' length it runs in `AHEAD_SECONDS`.
    """

    def __init__(self) -> None:
        self.jobs: deque[ScoringJob] = deque()
        self.ahead = 1
        self._began, self._given = 0.0, 0
        os.environ["PYTHONSAFEPATH"] = "1"  # it starts `python -c`, which would import from the current folder
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=False)
        self._process.start()
        theirs.close()

    def take(self, waiting: deque[ScoringJob], most: int) -> None:
        """Hand over the next jobs, those of one scorer."""
        scorer = waiting[0].scorer.digest
        while waiting and len(self.jobs) < min(most, self.ahead) and waiting[0].scorer.digest == scorer:
            self.jobs.append(waiting.popleft())
        self._began, self._given = time.monotonic(), len(self.jobs)
        with suppress(OSError):  # it has died meanwhile, which `wait` finds
            self.pipe.send([*self.jobs])

    def rest(self) -> None:
        """Note how long its last jobs took, which are all answered."""
        each = (time.monotonic() - self._began) / self._given
        self.ahead = max(1, min(MOST_AHEAD, int(AHEAD_SECONDS / each)))

    def stop(self) -> None:
        """Ask it to end, which ends what it runs."""
        self._process.terminate()

    def end(self) -> str:
        """Wait for its end, or make it; how it ended, in words."""
        self.pipe.close()
        self._process.join(END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode
        self._process.close()
        return f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"


def _work(pipe: Connection) -> None:
    """What a process does: it answers lists of jobs, a job after the other, until nobody sends one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; ours end us
    signal.signal(signal.SIGTERM, _leave)
    gc.freeze()  # what is loaded stays
    with ScoringDesk() as desk, suppress(EOFError, OSError):
        while True:
            for ended in desk.score_all(pipe.recv()):
                pipe.send(ended)


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)
