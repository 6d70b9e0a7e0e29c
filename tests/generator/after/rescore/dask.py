"""A scheduler and workers as an organiser starts them: the real commands, in processes of their own."""

import logging
import os
import pkgutil
import socket
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.forks import Fork

START_SECONDS = 60
SCHEDULER, WORKER = "distributed.cli.dask_scheduler:main", "distributed.cli.dask_worker:main"


class Running:
    """A command in a fork of the test's process, and what it prints."""

    def __init__(self, log: Path, name: str, arguments: list[object], environment: Mapping[str, str]) -> None:
        self._log = log
        main = partial(command, name, [*map(str, arguments)])
        with log.open("wb") as out:
            self.process = Fork(main, stdout=out, stderr=out, env={**os.environ, **environment})
        self.end, self.kill = self.process.wait, self.process.kill

    @property
    def printed(self) -> str:
        """What it has printed so far."""
        return self._log.read_text(encoding="utf-8")

    def prints(self, words: str) -> None:
        """Wait until it prints this."""
        until(lambda: words in self.printed, lambda: f"{words!r} is not in: {self.printed}")


def command(name: str, arguments: list[str]) -> None:
    """What the command of a function does."""
    sys.argv = [name, *arguments]
    logging.root.handlers = [logging.StreamHandler()]  # in place of the test's
    pkgutil.resolve_name(name)()


class Dask:
    """A scheduler, its workers, and `gen-bundle rescore` that uses them."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._folder = folder
        self._running: list[Running] = []

    def start_scheduler(self) -> Running:
        """`dask scheduler`, which listens."""
        started = self._start(SCHEDULER, ["--host", "127.0.0.1", "--port", self.port, "--no-dashboard"], {})
        until(self._listens, lambda: started.printed)
        return started

    def start_worker(self, *options: object, **environment: str) -> Running:
        """`dask worker`, which the scheduler knows."""
        place = self._folder / f"worker-{len(self._running)}"
        own = ["--no-nanny", "--local-directory", place, "--nthreads", "1", "--no-dashboard"]
        started = self._start(WORKER, [self.address, *own, *options], environment)
        started.prints("Registered to")
        return started

    def rescore(self, *arguments: object) -> Running:
        """`gen-bundle rescore` with these arguments."""
        return self._start("gen_bundle.cli:main", ["rescore", *arguments], {})

    def close(self) -> None:
        """End everything."""
        for one in self._running:
            one.kill()
            one.end()

    def _start(self, name: str, arguments: list[object], environment: Mapping[str, str]) -> Running:
        started = Running(self._folder / f"{len(self._running)}.log", name, arguments, environment)
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
