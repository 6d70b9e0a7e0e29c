"""A program that is loaded for many runs, asked over its pipes, and the single run that each must equal."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from gen_bundle.after.rescore.workers import MANY_RUNS
from tests.scoring_programs.packed import run_unpacked

ENVIRONMENT = {"SOURCE_DATE_EPOCH": "1767225600"}
BY_NATURE = re.compile(r"^(scored in [\d.]+ s|(Embedding texts|Classifying sentence pairs|Loaded ).*)\n", re.MULTILINE)
"""Lines with times: when a run prints them, and what they say, differs from run to run."""


@dataclass(frozen=True)
class Left:
    """All that a run leaves; `files` by their names."""

    exit_code: int | None
    stdout: str
    stderr: str
    files: Mapping[str, bytes]


class WarmWorker:
    """A running `many_runs` of the unpacked `program` with the gold in `reference`; ended when the context is left."""

    def __init__(
        self,
        program: Path,
        reference: Path,
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, str(MANY_RUNS), str(program), str(reference)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=program,
                env={**os.environ, **ENVIRONMENT, **(environment or {})},
                encoding="utf-8",
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests, self.answers = self.process.stdin, self.process.stdout
        self.first_line = self.answers.readline()

    def ask(self, job: Path, seconds: float = 120.0) -> dict[str, Any] | None:
        """Score the submission in `job/input`; None where the worker ended instead of answering."""
        self.send([job], seconds)
        answer = self.answers.readline()
        return json.loads(answer)[0] if answer else None

    def send(self, jobs: Sequence[Path], seconds: float) -> None:
        """Ask for submissions that are scored together, without waiting for the answer."""
        requests = []
        for job in jobs:
            files = {name: str(job / name) for name in ("input", "output", "stdout", "stderr")}
            requests.append({**files, "seconds": seconds})
        self.requests.write(json.dumps(requests) + "\n")
        self.requests.flush()

    def score(self, job: Path) -> Left:
        """Score a submission; what that left."""
        (left,) = self.score_together([job])
        return left

    def score_together(self, jobs: Sequence[Path]) -> list[Left]:
        """Score submissions that are asked for together; what each left."""
        self.send(jobs, 120.0)
        answers = json.loads(self.answers.readline())
        return [_left(answer["exit_code"], job) for answer, job in zip(answers, jobs, strict=True)]

    def __enter__(self) -> "WarmWorker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.requests.close()
        else:
            self.process.kill()
        self.process.wait(60)
        self.answers.close()


def score_in_a_fork(program: Path, job: Path) -> Left:
    """`score_alone`, by a process that has imported the kit, but nothing of the competition."""
    exit_code = run_unpacked(program, [job / "input", job / "output"], job / "stdout", job / "stderr", ENVIRONMENT)
    return _left(exit_code, job)


def score_alone(program: Path, job: Path, environment: Mapping[str, str] | None = None) -> Left:
    """Score the submission in `job/input`, where the gold is, too, by a run of its own."""
    with (job / "stdout").open("wb") as out, (job / "stderr").open("wb") as err:
        done = subprocess.run(
            [sys.executable, str(program / "score.py"), str(job / "input"), str(job / "output")],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=program,
            env={**os.environ, **ENVIRONMENT, **(environment or {})},
            check=False,
        )
    return _left(done.returncode, job)


def write_job(folder: Path, reference: Path, files: Mapping[str, bytes]) -> Path:
    """Lay out a submission as for a single run; returns `folder`."""
    (folder / "input" / "res").mkdir(parents=True)
    for name, content in files.items():
        path = folder / "input" / "res" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "input" / "ref").symlink_to(reference)
    return folder


def _left(exit_code: int | None, job: Path) -> Left:
    """What is there after a run; a signal that ended it (-n) counts as 128 + n."""
    if exit_code is not None and exit_code < 0:
        exit_code = 128 - exit_code
    printed = [(job / name).read_bytes().decode() for name in ("stdout", "stderr")]
    stdout, stderr = (BY_NATURE.sub("", text) for text in printed)
    output = job / "output"
    files = {path.name: path.read_bytes() for path in output.iterdir()} if output.is_dir() else {}
    return Left(exit_code, stdout, stderr, files)
