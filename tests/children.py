"""Programs that a test starts in the background: none outlives it."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def child(
    command: Sequence[str], *, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A program in a process group of its own, which is killed at the end; its errors can be read from `stderr`."""
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
