"""The process that runs the models of a warm worker, so that what one run had computed is there for the next.

Forks of a process that has run a model cannot run one themselves: threads and a GPU's context stay behind. So the
worker itself never does, and its forks ask here, each over a connection of its own, which ends with it.
"""

import os
import signal
import socket
from collections.abc import Collection
from contextlib import suppress
from multiprocessing.connection import Connection

from scoring_kit.models.shared import Engines
from scoring_kit.warm.processes import die_with, flush


class ModelProcess:
    """The process, started at once; it loads a model when one is first asked for.

    Args:
        not_here: file descriptors of the worker that no other process may hold.
    """

    def __init__(self, not_here: Collection[int]) -> None:
        self._not_here = not_here
        self._start()

    def connect(self) -> Connection:
        """A new connection to the process, made in a fork of the worker.

        Raises:
            OSError: the process has died.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"\0"], [theirs.fileno()])
        return Connection(ours.detach())

    def revive(self) -> None:
        """Start a new process where it has died; what that knew is computed again."""
        if os.waitpid(self._pid, os.WNOHANG)[0]:
            self._control.close()
            self._start()

    def replace(self) -> None:
        """End the process, which may be busy, and start a new one."""
        self._end()
        self._start()

    def leave_in_fork(self) -> None:
        """Close in a fork of the worker what is the worker's alone."""
        for descriptor in self._not_here:
            os.close(descriptor)

    def __enter__(self) -> "ModelProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        flush()
        worker = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                die_with(worker)
                self.leave_in_fork()
                self._control.close()
                _answer(theirs)
            finally:
                os._exit(0)
        theirs.close()

    def _end(self) -> None:
        self._control.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _answer(control: socket.socket) -> None:
    """Serve one connection after the other, until the worker closes its end."""
    engines = Engines()
    while True:
        _, received, *_ = socket.recv_fds(control, 1, 1)
        if not received:
            return
        with Connection(received[0]) as connection:
            engines.answer(connection)
