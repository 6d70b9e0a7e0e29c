"""A warm worker (`score.py --serve`), asked over its pipes as whoever rescores many submissions asks it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any


class WarmWorker:
    """A running worker of the unpacked `program` with the gold in `reference`; ended when the context is left."""

    def __init__(
        self, program: Path, reference: Path, *more: str, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, str(program / "score.py"), "--serve", str(reference), *more],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=program,
                env={**os.environ, **(environment or {})},
                encoding="utf-8",
                start_new_session=True,
            )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline()

    def ask(self, job: Path, seconds: float | None = 120.0) -> dict[str, Any] | None:
        """Score the submission in `job/input`; None where the worker ended instead of answering."""
        files = {name: str(job / name) for name in ("input", "output", "stdout", "stderr")}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({**files, "seconds": seconds}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else None

    def __enter__(self) -> "WarmWorker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if kind is None:
            self.process.stdin.close()
        else:
            self.process.kill()
        self.process.wait(60)
        self.process.stdout.close()
