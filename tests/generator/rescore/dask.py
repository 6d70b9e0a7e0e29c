"""A scheduler and workers as an organiser starts them: the real commands, in processes of their own."""

import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.forks import NOTHING, Forks

START_SECONDS = 60
NOTICED_SOON = {"gen_bundle.rescore.cluster:NOTICE_SECONDS": 0.2}
GIVEN_UP_SOON = {"gen_bundle.rescore.cluster:CONNECT_SECONDS": 0.5}
"""How long the command waits for somebody who does not come, where a test waits for that."""


class Running:
    """A command in a process of its own, and what it prints."""

    def __init__(self, forks: Forks, log: Path, run: str, arguments: list[object], **more: Any) -> None:
        self._forks = forks
        self._log = log
        log.touch()
        self.process = forks.start(run, arguments, stdout=log, stderr=log, **more)
        self.ended: int | None = None

    @property
    def printed(self) -> str:
        """What it has printed so far."""
        return self._log.read_text(encoding="utf-8")

    def prints(self, words: str) -> None:
        """Wait until it prints this."""
        until(lambda: words in self.printed, lambda: f"{words!r} is not in: {self.printed}")

    def end(self) -> int:
        """Wait for its end; its exit code."""
        if self.ended is None:
            self.ended = self._forks.wait(self.process)
        return self.ended

    def kill(self) -> None:
        """End it, if it runs."""
        if self.ended is None:
            os.kill(self.process, signal.SIGKILL)
            self.end()


class Dask:
    """A scheduler, its workers, and `gen-bundle rescore` that uses them."""

    def __init__(self, forks: Forks, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._forks = forks
        self._folder = folder
        self._running: list[Running] = []

    def start_scheduler(self) -> Running:
        """`dask scheduler`, which listens."""
        started = self._start("dask_scheduler", ["--host", "127.0.0.1", "--port", self.port, "--no-dashboard"])
        until(self._listens, lambda: started.printed)
        return started

    def start_worker(self, *options: object, environment: Mapping[str, str] = NOTHING) -> Running:
        """`dask worker`, which the scheduler knows."""
        place = self._folder / f"worker-{len(self._running)}"
        own = ["--no-nanny", "--local-directory", place, "--nthreads", "1", "--no-dashboard"]
        started = self._start("dask_worker", [self.address, *own, *options], environment=environment)
        started.prints("Registered to")
        return started

    def rescore(self, *arguments: object, constants: Mapping[str, float] = NOTHING) -> Running:
        """`gen-bundle rescore` with these arguments."""
        return self._run("gen_bundle.cli:main", ["rescore", *arguments], constants=constants)

    def close(self) -> None:
        """End everything."""
        for one in self._running:
            one.kill()

    def _start(self, command: str, arguments: list[object], **more: Any) -> Running:
        return self._run(f"distributed.cli.{command}:main", arguments, **more)

    def _run(self, run: str, arguments: list[object], **more: Any) -> Running:
        started = Running(self._forks, self._folder / f"{len(self._running)}.log", run, arguments, **more)
        self._running.append(started)
        return started

    def _listens(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.port)) == 0


def until(happens: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    """Wait until something happens; `otherwise` says what is wrong where it does not."""
    deadline = time.monotonic() + START_SECONDS
    while not happens():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.02)
