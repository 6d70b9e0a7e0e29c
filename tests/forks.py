"""Programs in processes of their own that need not import anything anew; see `tests/fork_server.py`."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NOTHING: Mapping[str, Any] = {}


class Forks:
    """A process that has imported `modules`, and its forks; `path` is a further folder with modules, for it alone."""

    def __init__(self, *modules: str, path: Path | str = "") -> None:
        script = Path(__file__).with_name("fork_server.py")
        self._server = subprocess.Popen(
            [sys.executable, str(script), str(path), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(
        self,
        run: str,
        arguments: Sequence[object],
        *,
        stdout: Path,
        stderr: Path,
        folder: Path | str = ".",
        environment: Mapping[str, str] = NOTHING,
        constants: Mapping[str, Any] = NOTHING,
    ) -> int:
        """Start a program; returns its process.

        Args:
            run: a script's path, or "package.module:function".
            arguments: what `sys.argv` holds after the program.
            stdout: the file for its output; `stderr` may be the same one.
            stderr: the file for its errors.
            folder: its working directory.
            environment: variables besides our own.
            constants: "package.module:NAME" → another value for this process.
        """
        return self._ask(
            run=run,
            arguments=[*map(str, arguments)],
            stdout=str(stdout.absolute()),
            stderr=str(stderr.absolute()),
            folder=str(folder),
            environment={**os.environ, **environment},
            constants=dict(constants),
        )

    def wait(self, process: int) -> int:
        """The exit code of a process, as soon as it has ended; negative for the signal that killed it."""
        return self._ask(wait=process)

    def close(self) -> None:
        """End; a fork that still runs goes on."""
        self._server.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, **request: Any) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())
