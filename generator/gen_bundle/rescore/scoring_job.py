"""One submission scored for one task: the job that a worker gets, and what it answers."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from gen_bundle.codabench.competition import Task
from gen_bundle.codabench.versions import DIFFERENCES, NEWEST
from gen_bundle.errors import UserError
from gen_bundle.rescore.digests import digest_of_value
from gen_bundle.twin.engines import Engine
from gen_bundle.twin.jobs import Jobs, JobSetting, run_jobs
from gen_bundle.twin.layout import temporary_folder
from gen_bundle.twin.plan import as_upload
from gen_bundle.twin.report import Status

EngineName = Literal["docker", "process"]
KILLED = 128 + 9
"""The exit code of a program that was killed: for want of memory, or by somebody on this machine."""
LITTLE_ROOM = 4 * 1024 * 1024
"""With less free space on the disk, in bytes, a program that fails may have failed for it."""


@dataclass(frozen=True)
class Scorer:
    """What scores the submissions to one task; the same for all of them.

    Attributes:
        task: its program and data, as folders or zips.
        files: a digest of all these files.
        seconds: the limit of each job.
        image: the image by its digest, with the process engine the one that is not used.
        detailed_results: whether the competition asks for them, which is a matter of waiting for them.
        environment: the versions with which it is to be scored.
        trusted: its program is the user's own work, ours, or one that the user trusts.
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
    trusted: bool = False
    python: str | None = None

    @cached_property
    def digest(self) -> str:
        """Of all that a result depends on, but for the submission."""
        image = self.image if self.engine == "docker" else "process"
        own = [self.task.ingestion_only_during_scoring, self.seconds, self.detailed_results, image, self.python]
        return digest_of_value([NEWEST.value, self.files, *own, dict(self.environment)])


@dataclass(frozen=True)
class ScoringJob:
    """A submission to be scored.

    Attributes:
        digest: of all that the result depends on; two jobs with the same digest have the same result.
        submission: a zip, a folder or a single file.
    """

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


@dataclass(frozen=True)
class Lost:
    """A job without a result, for which the submission is not to blame: the engine, the worker or the disk is.

    Attributes:
        final: it was tried often enough already.
    """

    reason: str
    final: bool = False


def job_for(scorer: Scorer, submission: Path, submission_digest: str) -> ScoringJob:
    """The job of a submission, addressed by what it depends on."""
    return ScoringJob(digest_of_value([scorer.digest, submission_digest]), scorer, submission)


def score(job: ScoringJob, engine: Engine, work: Path) -> JobResult | Lost:
    """Run a job.

    Args:
        job: the job.
        engine: has looked at the image already.
        work: a folder for what is not kept.
    """
    scorer = job.scorer
    setting = JobSetting(engine, scorer.image, scorer.detailed_results, lambda _: None, DIFFERENCES[NEWEST])
    try:
        with temporary_folder("job-", work) as folder:
            upload = as_upload(job.submission, folder / "submission")
            jobs = run_jobs(upload, scorer.task, scorer.seconds, folder, setting)
            result = _result(jobs, folder)
            if reason := _fault(jobs, result, work):
                return Lost(reason)
            return result
    except OSError as error:
        return Lost(f"{error.filename or work}: {error.strerror or error}")
    except UserError as error:  # the submission is there no more
        return Lost(str(error))


def _result(jobs: Jobs, folder: Path) -> JobResult:
    scorer = jobs.scoring.of("program")
    return JobResult(
        "Failed" if jobs.failure else "Finished",
        scorer.ended.exit_code if scorer else None,
        jobs.scores if jobs.sends_scores else None,
        # The folder has another name each time, and /app in a container.
        (jobs.failure or jobs.crash).replace(f"{folder}/scoring", "/app").replace(f"{folder}/prediction", "/app"),
    )


def _fault(jobs: Jobs, result: JobResult, work: Path) -> str:
    """Why this is not the submission's own failure; empty where it is, or where there is none."""
    if result.status == "Finished":
        return ""
    if jobs.machine_fault:
        return result.message
    if result.exit_code == KILLED:
        return "the scoring program was killed (exit code 137), perhaps for want of memory"
    if shutil.disk_usage(work).free < LITTLE_ROOM:
        return f"{work}: no space left on the disk"
    return ""
