"""Engines that run our own programs without a start of Python, where the libraries are imported already.

For tests of what a bundle scores. That packed programs run by themselves is shown with `ProcessEngine`.
"""

import runpy
import sys
import time
import warnings
from contextlib import chdir
from functools import partial
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest

from gen_bundle.dry_run.engines import Container, Ended, LineListener
from gen_bundle.dry_run.engines.process import _place_here, program_environment
from ingestion_kit import ingestion
from scoring_kit import frame
from tests.forks import called, forked, run_script


class InProcessEngine:
    """Calls what `score.py` and `ingest.py` call, with the folders of the job."""

    name = "process"
    together = "it runs in the test's own process"

    def __init__(self, **_: object) -> None:
        """Take what `ProcessEngine` does, whose place it may have."""

    def prepare(self, image: str) -> list[str]:
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        here = {mount.target: str(mount.source) for mount in container.mounts}
        program, arguments = Path(here["/app/program"]), [here.get(part, part) for part in container.argv[2:]]
        began = time.monotonic()
        if container.kind == "ingestion":
            # It becomes the parent of what the code leaves running, and ends all its children.
            exit_code = forked(lambda: ingestion.main(program, arguments), stdout, stderr)
        else:
            exit_code = called(lambda: frame.main(program, arguments), stdout, stderr)
        return Ended(exit_code, time.monotonic() - began)

    def close(self) -> None:
        pass


class ForkedEngine(InProcessEngine):
    """Runs any program of Python as it is packed, in a fork that has the libraries."""

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        import_module("sklearn.metrics")
        began = time.monotonic()
        arguments = [_place_here(part, container.mounts) for part in container.argv[1:]]
        seen = {**program_environment(), **container.environment}
        exit_code = forked(partial(run_script, arguments), stdout, stderr, cwd=container.program, env=seen)
        return Ended(exit_code, time.monotonic() - began)


class ScriptEngine(InProcessEngine):
    """Runs a script that changes nothing of its process in the test's own."""

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        began = time.monotonic()
        arguments = [_place_here(part, container.mounts) for part in container.argv[1:]]
        with chdir(container.program), patch.object(sys, "argv", arguments):
            exit_code = called(partial(_exit_code, arguments[0]), stdout, stderr)
        return Ended(exit_code, time.monotonic() - began)


def _exit_code(script: str) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a script leaves closing its files to its end
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
                return 1
            return int(end.code or 0)
    return 0


@pytest.fixture
def runs_in_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the programs of a dry run in forks, where processes are asked for."""
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "ProcessEngine", ForkedEngine)
