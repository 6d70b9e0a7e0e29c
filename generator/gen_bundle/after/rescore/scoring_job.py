"""One submission scored for one task: the job that a worker gets, what it answers, and the address of the answer."""

import hashlib
import json
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gen_bundle.codabench.board import time_limit
from gen_bundle.codabench.competition import Competition, Leaderboard, Phase, Task
from gen_bundle.codabench.runnable import column_owners, open_bundle, read_competition
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST
from gen_bundle.dry_run.engines import Engine, EngineError
from gen_bundle.dry_run.engines.choose import refuse_strangers
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.dry_run.jobs import Jobs, JobSetting, run_jobs
from gen_bundle.dry_run.layout import as_upload, entries, temporary_folder
from gen_bundle.dry_run.report import Status
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import file_digest, write_whole
from scoring_kit.base.submissions import is_zip

if TYPE_CHECKING:
    from gen_bundle.dry_run.engines.docker import DockerEngine

EngineName = Literal["docker", "process"]
OURS = "gen-bundle"
SCORES = re.compile(r"""extra == ['"](score|models)['"]""")
KILLED = 128 + 9
"""The exit code of a program that was killed: for want of memory, or by somebody on this machine."""
LITTLE_ROOM = 4 * 1024 * 1024
"""With less free space on the disk, in bytes, a program that fails may have failed for it."""


@dataclass(frozen=True)
class Scorer:
    """The program and data that score the submissions to one task, and how they are run.

    Attributes:
        task: its program and data, as folders or zips.
        files: a digest of all these files.
        seconds: the limit of each job.
        image: the image by its digest; `process` with the engine that uses none.
        detailed_results: whether the competition asks for them, which is a matter of waiting for them.
        environment: the versions with which it is to be scored.
        python: the interpreter of the process engine, where it is not the running one.
    """

    task: Task
    files: str
    seconds: int
    image: str
    detailed_results: bool
    engine: EngineName
    gpu: bool
    environment: Mapping[str, str]
    python: str | None = None
    lays_over: bool = True

    @cached_property
    def digest(self) -> str:
        """Of all that a result depends on, but for the submission."""
        own = [self.task.ingestion_only_during_scoring, self.seconds, self.detailed_results, self.image, self.python]
        return digest_of_value([NEWEST.value, self.files, *own, dict(self.environment)])


@dataclass(frozen=True)
class ScoringJob:
    """A submission (a zip, a folder or a file) to be scored; two jobs with the same digest have the same result."""

    digest: str
    scorer: Scorer
    submission: Path


@dataclass(frozen=True)
class JobResult:
    """How a submission ended; the same whenever and wherever the job runs.

    Attributes:
        exit_code: of the scoring program; None where it did not run or was stopped.
        sent: what the worker would send as scores; None where it sends none.
        message: why it failed; empty where it did not.
    """

    status: Status
    exit_code: int | None
    sent: object
    message: str


class LostError(Exception):
    """A job without a result by fault of engine, worker or disk.

    Attributes:
        final: another try would not help.
        killed: its program ran and was killed, which says nothing of other jobs.
    """

    def __init__(self, reason: str, final: bool = False, killed: bool = False) -> None:
        super().__init__(reason, final, killed)
        self.reason, self.final, self.killed = reason, final, killed


def job_for(scorer: Scorer, submission: Path, submission_digest: str) -> ScoringJob:
    """Return the job of a submission, addressed by what it depends on."""
    return ScoringJob(digest_of_value([scorer.digest, submission_digest]), scorer, submission)


def score(job: ScoringJob, engine: Engine, work: Path) -> JobResult:
    """Run a job by an engine that has looked at the image already, in a folder `work` that keeps nothing of it.

    Raises:
        LostError: it has no result.
        OSError, UserError: it has none either: the disk is full, or the submission is there no more.
    """
    scorer = job.scorer
    setting = JobSetting(
        engine, scorer.image, scorer.detailed_results, lambda _: None, DIFFERENCES[NEWEST], lays_over=scorer.lays_over
    )
    with temporary_folder("job-", work) as folder:
        upload = as_upload(job.submission, folder / "submission")
        jobs = run_jobs(upload, scorer.task, scorer.seconds, folder, setting)
        result = _result(jobs, folder)
    if killed := _killed(jobs):
        raise LostError(f"the {killed} was killed (exit code 137), perhaps for want of memory", killed=True)
    if reason := _fault(jobs, result, work):
        raise LostError(reason)
    return result


def _result(jobs: Jobs, folder: Path) -> JobResult:
    message, scorer = jobs.failure or jobs.crash, jobs.scoring.of("program")
    exit_code = scorer.ended.exit_code if scorer else None
    sent = jobs.scores if jobs.sends_scores else None
    for part in ("scoring", "prediction"):  # the folder has another name each time, and /app in a container
        message = message.replace(f"{folder}/{part}", "/app")
    status: Status = "Failed" if jobs.failure else "Finished"
    return JobResult(status, exit_code, sent, message)


def _killed(jobs: Jobs) -> str:
    """Return which program was killed; empty where none was. The platform scores what a killed ingestion has left."""
    for job in jobs.both:
        for run in job.runs:
            if run.ended.exit_code == KILLED:
                return "ingestion program" if run.container.kind == "ingestion" else "scoring program"
    return ""


def _fault(jobs: Jobs, result: JobResult, work: Path) -> str:
    """Return why this is not the submission's own failure; empty where it is, or where there is none."""
    if result.status == "Finished":
        return ""
    if jobs.machine_fault:
        return result.message
    if shutil.disk_usage(work).free < LITTLE_ROOM:
        return f"{work}: no space left on the disk"
    return ""


@dataclass(frozen=True)
class ResultStore:
    """A folder of results by their address, each a file that is there as a whole or not at all.

    What was scored is not scored again, by whatever run, worker or machine it was.
    """

    folder: Path

    def result(self, digest: str) -> JobResult | None:
        """Return the result of a job; None where there is none, or its file is damaged."""
        try:
            return JobResult(**json.loads(self._file(digest).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, digest: str, result: JobResult) -> None:
        """Keep the result of a job.

        Raises:
            UserError: it cannot be written: no permission, or no space.
        """
        content = json.dumps(asdict(result), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self._file(digest), f"{content}\n".encode(errors="backslashreplace"))

    def _file(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"


@cache
def environment_of(engine: EngineName) -> Mapping[str, str]:
    """Return the versions on which a result depends: with containers that of gen-bundle alone.

    Else also those of Python and of what the extras for scoring bring, as far as they are installed.
    """
    names, versions = {OURS}, dict[str, str]()
    if engine == "process":
        versions["python"] = platform.python_version()
        for requirement in metadata.requires(OURS) or ():
            if SCORES.search(requirement):
                names.add(re.split(r"[^\w.-]", requirement)[0])
    for name in sorted(names):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def differing(scorer: Scorer) -> str:
    """In which versions this machine is another than the one that asks, in words of that one; empty where in none."""
    found, own = [], environment_of(scorer.engine)
    for name in sorted({*scorer.environment, *own}):
        here, there = scorer.environment.get(name, "none"), own.get(name, "none")
        if here != there:
            found.append(f"{name} {here} here, {there} there")
    return ", ".join(found)


def digest_of(path: Path) -> str:
    """SHA-256 of a zip's bytes, or of the names and contents of a folder's files or of another single file.

    A file that is not a zip is uploaded under its name, so the name counts; a zip's name does not. What is neither file
    nor folder is like nothing else.

    Raises:
        OSError: something cannot be read.
    """
    if is_zip(path):
        return file_digest(path)
    if path.is_file():
        return digest_of_value({path.name: file_digest(path)})
    if path.is_dir():
        return digest_of_value(dict(_digests_in(path)))
    return digest_of_value(str(path.absolute()))


def digest_of_value(value: object) -> str:
    """SHA-256 of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _digests_in(top: Path) -> Iterator[tuple[str, str]]:
    """The files below a folder by their names; a link differs from its file, since a submission with one is refused."""
    for path in entries(top):
        name = path.as_posix()[len(top.as_posix()) :]
        if path.is_symlink():
            yield name, f"link {file_digest(path) if path.is_file() else ''}"
        elif path.is_file():
            yield name, file_digest(path)


@dataclass(frozen=True)
class OpenedBundle:
    """A bundle, one of its phases, and what scores each task there, in the order in which they run."""

    competition: Competition
    phase: Phase
    scorers: tuple[Scorer, ...]

    @property
    def leaderboard(self) -> Leaderboard:
        return self.competition.leaderboard

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.phase.tasks)

    @property
    def owners(self) -> Mapping[str, str]:
        """Column → the task that fills it, in a phase of several tasks and as far as programs say so."""
        return column_owners(self.phase)


def opened_bundle(
    path: Path,
    phase: str,
    work: Path,
    engine: "DockerEngine | ProcessEngine",
    *,
    gpu: bool = False,
    trust: bool = False,
    named: str | None = None,
) -> OpenedBundle:
    """Open a bundle's zip, which is unpacked into the folder `work`, or folder; messages call it as it was `named`.

    Raises:
        UserError: it cannot be read, has no such phase, or the engine does not have its image.
    """
    refuse_strangers(path, engine, trust=trust)
    competition = read_competition(open_bundle(path, work))
    chosen = next((one for one in competition.phases if phase in (one.id, one.name)), None)
    if chosen is None:
        known = ", ".join(one.id for one in competition.phases)
        raise UserError(f"--phase {phase}: no such phase in {named or path}. Expected one of {known}.")
    if not chosen.tasks:
        raise UserError(f"--phase {phase}: has no task in {named or path}. Expected a phase with at least one.")
    name: EngineName = "process"
    image, python = "process", None
    if isinstance(engine, ProcessEngine):
        python = engine.named_python
    else:
        try:
            name, image = "docker", engine.pinned(competition.image)
        except EngineError as error:
            raise UserError(str(error)) from error
    scorers = []
    for task in chosen.tasks:
        scorer = Scorer(
            task=task,
            files=digest_of_value({role: digest_of(use.path) for role, use in task.files.items()}),
            seconds=time_limit(chosen.limit_s, own_queue=competition.queue),
            image=image,
            detailed_results=competition.detailed_results,
            engine=name,
            gpu=gpu,
            environment=environment_of(name),
            python=python,
        )
        scorers.append(scorer)
    return OpenedBundle(competition, chosen, tuple(scorers))
