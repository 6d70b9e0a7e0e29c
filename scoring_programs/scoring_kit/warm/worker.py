"""The worker: what it loads, and the lines by which it is asked and answers.

Its first line is `{"protocol": 1}`, once everything is loaded. For each line such as

    {"input": "/job/input", "output": "/job/output", "stdout": "/job/out.txt", "stderr": "/job/err.txt", "seconds": 600}

it then scores that submission, and answers with a line such as

    {"exit_code": 0, "seconds": 0.03, "timed_out": false}

Paths are absolute. `input` holds the submission as for a single run; the gold is the worker's own. `stdout` and
`stderr` are files for what the run prints. `seconds` is the limit on the clock, null for none. `exit_code` is null for
a run that was ended at its limit, and 128 + n for one that signal n ended. The worker ends with its last line.
"""

import gc
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from scoring_kit.frame import PhaseGold, failure_of, print_failure, program_of, read_gold, score_once
from scoring_kit.package import submission_module
from scoring_kit.warm.job import Job, run_job
from scoring_kit.warm.model_process import ModelProcess
from scoring_kit.warm.processes import STREAMS, flush

Loaded = TypeVar("Loaded")

PROTOCOL = 1
WRONG_USE = 2


def serve(program_folder: Path, reference_folder: Path, task: str | None) -> int:
    """Score submissions until there are no more requests; returns the worker's exit status.

    Where the program or its gold cannot be loaded, it is the status of a single run, and nothing is answered.
    """
    requests, answers = _protocol_streams()
    with requests, answers, ModelProcess({requests.fileno(), answers.fileno()}) as models:
        loading = _Loading()
        try:
            gold = loading.watched(lambda: _read(program_folder, reference_folder, task))
        except Exception as error:
            failure = failure_of(error)
            print_failure(failure)
            return failure.status

        def score(job: Job) -> int:
            sys.argv[1:] = [job.input, job.output]
            return score_once(program_folder, Path(job.input), Path(job.output), task, gold)

        _answer(answers, {"protocol": PROTOCOL})
        for line in requests:
            try:
                end = run_job(Job(**json.loads(line)), loading.printed, score, models)
            except (ValueError, TypeError, OSError) as error:
                print(f"--serve: a request cannot be met: {error}", file=sys.stderr)
                return WRONG_USE
            _answer(answers, {"exit_code": end.exit_code, "seconds": end.seconds, "timed_out": end.timed_out})
            loading.imports(end.imported)
    return 0


def _read(program_folder: Path, reference_folder: Path, task: str | None) -> PhaseGold:
    program = program_of(program_folder, task)
    submission_module(program.package)
    return read_gold(program, reference_folder)


def _protocol_streams() -> tuple[IO[str], IO[str]]:
    """The requests and the answers, away from where a library or a scorer reads and prints."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(requests, encoding="utf-8"), os.fdopen(answers, "w", encoding="utf-8")


def _answer(answers: IO[str], content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


class _Loading:
    """What is loaded for all runs.

    Attributes:
        printed: what loading printed to standard output and to standard error, which a single run prints, too.
    """

    def __init__(self) -> None:
        self.printed = b"", b""
        self._tried: set[str] = set()

    def watched(self, load: Callable[[], Loaded]) -> Loaded:
        """Load something, and keep what that prints."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with _redirected(out.fileno(), err.fileno()):
                loaded = load()
            self.printed = self.printed[0] + _content(out), self.printed[1] + _content(err)
        # A collection in a fork would write to all that is loaded, and so copy it.
        gc.collect()
        gc.freeze()
        return loaded

    def imports(self, modules: Sequence[str]) -> None:
        """Import what a run has imported, so that no later one has to."""
        new = [name for name in modules if name not in self._tried]
        if new:
            self._tried.update(new)
            self.watched(lambda: _import(new))


def _import(modules: Sequence[str]) -> None:
    for name in modules:
        with suppress(Exception):  # it may have come to be otherwise than by an import of that name
            importlib.import_module(name)


@contextmanager
def _redirected(*targets: int) -> Iterator[None]:
    """Let standard output and standard error be these files for a while, also for what is not written in Python."""
    kept = [os.dup(stream) for stream in STREAMS]
    flush()
    for target, stream in zip(targets, STREAMS, strict=True):
        os.dup2(target, stream)
    try:
        yield
    finally:
        flush()
        for own, stream in zip(kept, STREAMS, strict=True):
            os.dup2(own, stream)
            os.close(own)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
