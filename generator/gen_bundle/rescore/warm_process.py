"""A scoring program of ours that loads its gold and models once and then scores one submission after the other."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from gen_bundle.codabench.worker import read_metadata
from gen_bundle.rescore.scoring_job import Scorer
from gen_bundle.starting import python
from gen_bundle.twin.engines import Container, Ended, EngineError, LineListener
from gen_bundle.twin.engines.process import ProcessEngine, program_environment
from gen_bundle.twin.layout import copy_tree
from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.unpacking import ArchiveError, unpack

PROTOCOL = {"protocol": 1}
DOOR = Path("scoring_kit", "warm", "__init__.py")
"""What a program with models holds, which serves by itself: they stay loaded, too."""
FRAME = Path("scoring_kit", "frame.py")
"""What every program of ours holds."""
MANY_RUNS = Path(__file__).with_name("many_runs.py")
GRACE_SECONDS = 60.0
"""Beyond the limit of a submission, which the program itself watches."""
END_SECONDS = 5


class WarmProcess:
    """The `Engine` of a scorer whose program serves; its submissions run in forked children of that one process.

    An ingestion program is run for each submission.

    Attributes:
        scorer: the scorer, its task without the data that the process has already.
        pid: of the process.
    """

    name = "process"

    def __init__(self, scorer: Scorer, program: Path, reference: Path, stub: Path) -> None:
        serves = (program / "score.py", "--serve", reference) if (program / DOOR).is_file() else None
        task = scorer.task.with_file("scoring_program", stub).with_file("reference_data", None)
        self.scorer = replace(scorer, task=task)
        self._alone = ProcessEngine(gpu=scorer.gpu)
        self._process = subprocess.Popen(
            python(*(serves or (MANY_RUNS, program, reference))),
            cwd=program,
            env=program_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            greeting = self._answer(scorer.seconds + GRACE_SECONDS)
        except BaseException:
            self.close()
            raise
        if greeting != PROTOCOL:
            self.close()
            raise EngineError(f"the scoring program cannot be served: it began with {greeting}")

    def prepare(self, image: str) -> list[str]:
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        """See `Engine.run`; its process that ends, or does not answer, is an EngineError."""
        if container.kind == "ingestion":
            return self._alone.run(container, seconds=seconds, stdout=stdout, stderr=stderr, on_line=on_line)
        folders = {mount.target: str(mount.source) for mount in container.mounts}
        request = {
            "input": folders["/app/input"],
            "output": folders["/app/output"],
            "stdout": str(stdout),
            "stderr": str(stderr),
            "seconds": seconds,
        }
        assert self._process.stdin is not None  # noqa: S101 it is a pipe
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise EngineError("the serving scoring program has ended") from error
        answer = self._answer(seconds + GRACE_SECONDS)
        return Ended(answer["exit_code"], answer["seconds"], timed_out=answer["timed_out"])

    def close(self) -> None:
        """End the process; its own signal handler ends its children and its models."""
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
            raise EngineError("the serving scoring program has ended, or does not answer") from error


def serve(scorer: Scorer, work: Path) -> WarmProcess | None:
    """Start serving with the program of a scorer; None where it must score submissions one by one.

    Args:
        scorer: the scorer.
        work: where its program and reference data are unpacked, and stay.
    """
    from gen_bundle.package.programs import COMMAND

    if not scorer.trusted or scorer.python or scorer.task.ingestion_only_during_scoring:
        return None
    if scorer.engine != "process" or sys.platform != "linux":
        return None
    program, reference, stub = (work / name for name in ("program", "reference", "stub"))
    try:
        _lay_out(scorer.task.file("scoring_program"), program)
        if not (program / FRAME).is_file() or read_metadata(program).command != COMMAND:
            return None
        reference.mkdir()
        if data := scorer.task.file("reference_data"):
            _lay_out(data, reference)
        stub.mkdir()
        (stub / "metadata.yaml").write_text(f"command: {COMMAND}\n", encoding="utf-8")
        return WarmProcess(scorer, program, reference, stub)
    except (ArchiveError, EngineError, OSError):  # what is wrong with it, a single run says
        return None


def _lay_out(source: Path, target: Path) -> None:
    if source.is_dir():
        copy_tree(source, target)
    else:
        unpack(source, target, BUNDLE)
