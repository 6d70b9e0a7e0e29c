"""Runs the ingestion and the scoring program on a submission's code as the worker does, without the twin.

Both run without a start of Python of their own; that the packed programs run by themselves is shown by dry runs.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ingestion_kit import ingestion
from scoring_kit import frame
from tests.forks import called, forked

Version = Literal["1.25", "1.32"]


@dataclass(frozen=True)
class Step:
    """How one of the two programs ended."""

    exit_code: int
    stdout: str
    stderr: str


class Steps:
    """The two steps of one submission.

    Args:
        parts: the fixture.
        folder: for the folders of the jobs.
        files: the submission.
    """

    def __init__(self, parts: Path, folder: Path, files: Mapping[str, str]) -> None:
        self.parts, self.folder = parts, folder
        self.submission, self.output = folder / "ingested_program", folder / "output"
        for name, content in files.items():
            (self.submission / name).parent.mkdir(parents=True, exist_ok=True)
            (self.submission / name).write_text(content, encoding="utf-8")
        self.submission.mkdir(parents=True, exist_ok=True)
        self.program = folder / "program"
        self.program.mkdir()
        shutil.copy(parts / "ingestion/program.json", self.program)

    def ingest(self, **environment: str) -> Step:
        """The prediction step."""
        self.output.mkdir(exist_ok=True)
        arguments = [str(self.parts / "input_data"), str(self.submission), str(self.output)]

        def run() -> int:
            os.environ.update(environment)
            return ingestion.main(self.program, arguments)

        return self._step(forked, run)

    def score(self, version: Version = "1.32") -> Step:
        """The scoring step, after the platform has laid out its folders."""
        scoring = self.folder / version
        shutil.copytree(self.parts / "ref", scoring / "input/ref")
        shutil.copytree(self.output, scoring / "input/res")
        if version == "1.32":
            shutil.copytree(self.submission, scoring / "ingested_program")
            shutil.copytree(self.submission, scoring / "input/res", dirs_exist_ok=True)
        (scoring / "input/res/metadata").write_text("exitCode: null\n")
        self.scores = scoring / "output/scores.json"
        arguments = [str(scoring / "input"), str(scoring / "output")]
        return self._step(called, lambda: frame.main(self.parts / "scoring", arguments))

    def _step(self, call: Callable[[Callable[[], int], Path, Path], int], main: Callable[[], int]) -> Step:
        stdout, stderr = self.folder / "stdout.txt", self.folder / "stderr.txt"
        exit_code = call(main, stdout, stderr)
        return Step(exit_code, stdout.read_text(encoding="utf-8"), stderr.read_text(encoding="utf-8"))

    @property
    def run_folder(self) -> Path:
        """The only thing in the output folder."""
        (only,) = self.output.iterdir()
        return only

    @property
    def record(self) -> dict[str, Any]:
        """metadata.json."""
        found: dict[str, Any] = json.loads((self.run_folder / "metadata.json").read_text(encoding="utf-8"))
        return found
