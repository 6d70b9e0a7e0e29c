"""Scores many submissions with one scoring program of ours: run as `python many_runs.py PROGRAM REFERENCE`.

The program's modules and its gold are loaded once; submissions are scored in forks by the code of a single run. Those
that are asked for together, which a program may be that keeps nothing of a submission, are scored in turn by one fork,
because a fork copies all that it touches; one that fails there, other than by being refused, is scored again in a fork
that has scored no other. What a run imports beyond what is loaded is imported here before the next fork. Models run in
a process of their own, which remembers what it has computed. Linux only.

Its first line is `{"protocol": 1}`, once everything is loaded. For each line with a list such as

    [{"input": "/job/input", "output": "/job/output", "stdout": "/job/out.txt", "stderr": "/job/err.txt",
      "seconds": 600}]

it scores these submissions, and answers with a line such as

    [{"exit_code": 0, "seconds": 0.03, "timed_out": false}]

Paths are absolute. `stdout` and `stderr` are files for what the run prints. `seconds` is the limit on the clock.
`exit_code` is null for a run that was ended at its limit, and 128 + n for one that signal n ended.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

STREAMS = {1: "stdout", 2: "stderr"}
"""Standard output and standard error, by what a request calls them."""
WRITTEN_ANEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
JUDGED = (0, 1)
"""The exit statuses of a submission that is scored, and of one that is refused."""
RECORD = struct.Struct("=Bd")
"""What a fork writes of a submission before it goes on to the next: its exit status, and when it was done."""
CANNOT_FLUSH = 120
"""Python's own exit status where standard output cannot be written."""
PR_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when its parent ends."""
MODELS, SHARED = Path("scoring_kit", "models", "shared.py"), "scoring_kit.models.shared"
"""What a program with models holds."""
libc = ctypes.CDLL(None)


def main(program: Path, reference: Path) -> None:
    """Load the program and its gold, then score what is asked for until there are no more requests."""
    # Away from where a library or a scorer reads and prints.
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.path[:0] = [str(program)]  # as score.py does
    sys.path.append(str(program / "site"))
    if os.environ.get("SCORING_DEBUG") != "1":
        warnings.showwarning = lambda *_, **__: None
    runs = Runs(program, reference, (requests.fileno(), answers.fileno()))
    _say(answers, {"protocol": 1})
    for line in requests:
        _say(answers, runs.run(json.loads(line)))
        runs.import_as_the_last_runs()


class Runs:
    """Everything that is loaded for all runs, which are made in forks of it.

    Args:
        program: the folder of the unpacked program.
        reference: the folder of its gold.
        not_here: file descriptors that no other process may hold.
    """

    def __init__(self, program: Path, reference: Path, not_here: Collection[int]) -> None:
        self._program, self._not_here = program, not_here
        self._models = Models(not_here) if (program / MODELS).is_file() else None
        self._imported, self._records = os.memfd_create("imported"), os.memfd_create("records")
        self._tried: set[str] = set()
        self._printed = (b"", b"")  # by loading, to either stream, which a single run prints, too
        with self._loading():
            self._frame = importlib.import_module("scoring_kit.frame")
            self._frame.escape_what_cannot_be_printed()
            gc.set_threshold(*self._frame.THRESHOLDS)
            self._gold = self._frame.read_gold(self._frame.program_of(program, None), reference)
            self._frame.submission_module(self._gold.program.package)

    def run(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
        """Score submissions; how each ended."""
        answers: list[dict[str, object]] = []
        while len(answers) < len(requests):
            ended = self._run_in_a_fork(requests[len(answers) :])
            if len(ended) > 1 and ended[-1]["exit_code"] not in JUDGED:
                ended.pop()  # the next fork begins with it
            answers += ended
        return answers

    def _run_in_a_fork(self, requests: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
        """Score submissions in turn, until one fails; how each ended, and that one."""
        if self._models is not None:
            self._models.revive()
        os.truncate(self._imported, 0)
        os.truncate(self._records, 0)
        for request in requests:
            for stream in STREAMS.values():
                os.close(os.open(request[stream], WRITTEN_ANEW, 0o644))
        began = time.monotonic()
        fork = Fork(partial(self._score_in_turn, requests))
        in_time, records = self._watched(fork, requests, began)
        last = fork.end()
        if not in_time and self._models is not None:
            self._models.replace()  # it may be busy for that run
        statuses = [*(status for status, _ in records), last if in_time else None]
        times = [began, *(done for _, done in records), time.monotonic()]
        answers: list[dict[str, object]] = []
        for status, (start, end) in zip(statuses, pairwise(times), strict=True):
            answers.append({"exit_code": status, "seconds": end - start, "timed_out": status is None})
        return answers

    def _watched(
        self, fork: "Fork", requests: Sequence[dict[str, Any]], began: float
    ) -> tuple[bool, list[tuple[int, float]]]:
        """Wait for a fork's end, or until one of its runs takes too long: whether none does, and what is recorded."""
        records: list[tuple[int, float]] = []
        while True:
            since = records[-1][1] if records else began
            in_time = fork.ends_by(since + requests[len(records)]["seconds"])
            known, records = len(records), self._recorded(len(requests) - 1)
            if in_time or len(records) == known:
                return in_time, records

    def _recorded(self, most: int) -> list[tuple[int, float]]:
        """The exit statuses of the submissions that the fork has gone on from, and when.

        Code of others, which is asked for one submission at a time, may write there what it likes: nothing is read.
        """
        return [*RECORD.iter_unpack(os.pread(self._records, most * RECORD.size, 0))]

    def import_as_the_last_runs(self) -> None:
        """Import what the last fork has imported, so that no later one has to."""
        text = os.pread(self._imported, os.fstat(self._imported).st_size, 0)
        try:
            names = set(json.loads(text or "[]")) - self._tried
        except (ValueError, TypeError):  # a run may write what it likes there
            return
        if names:
            self._tried |= names
            with self._loading():
                for name in names:
                    with suppress(Exception):  # it may have come to be otherwise than by an import of that name
                        importlib.import_module(name)

    def _score_in_turn(self, requests: Sequence[dict[str, Any]]) -> int:
        """In a fork: score submissions, until one fails; the exit status of the last one that was scored."""
        for descriptor in self._not_here:
            os.close(descriptor)
        if self._models is not None:
            importlib.import_module(SHARED).ask_through(cache(self._models.connect))
        *others, last = requests
        for number, request in enumerate(others):
            status = self._score(request)
            if status not in JUDGED:
                return status
            os.pwrite(self._records, RECORD.pack(status, time.monotonic()), number * RECORD.size)
        return self._score(last)

    def _score(self, request: dict[str, Any]) -> int:
        """In a fork: the exit status, as Python makes it of what scoring returns or raises."""
        for printed, (standard, name) in zip(self._printed, STREAMS.items(), strict=True):
            stream = os.open(request[name], os.O_WRONLY)
            os.write(stream, printed)
            os.dup2(stream, standard)
            os.close(stream)
        known = len(sys.modules)
        sys.argv[1:] = [request["input"], request["output"]]
        score = partial(self._frame.score_once, self._program, Path(request["input"]), Path(request["output"]))
        try:
            status = score(None, self._gold)
        except SystemExit as end:
            if end.code is not None and not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
            status = 1
        with suppress(Exception):  # a run may have closed what is open, or broken what it is written with
            if len(sys.modules) > known:  # new ones are last
                os.pwrite(self._imported, json.dumps(list(sys.modules)[known:]).encode(), 0)
        try:
            _flush()
        except OSError:
            return CANNOT_FLUSH
        return int(status) & 0xFF

    @contextmanager
    def _loading(self) -> Iterator[None]:
        """While something is loaded for all runs: keep what that prints, also past Python."""
        standard = [os.dup(stream) for stream in STREAMS]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            _flush()
            for file, stream in zip((out, err), STREAMS, strict=True):
                os.dup2(file.fileno(), stream)
            try:
                yield
            finally:
                _flush()
                for own, stream in zip(standard, STREAMS, strict=True):
                    os.dup2(own, stream)
                    os.close(own)
            self._printed = (self._printed[0] + _content(out), self._printed[1] + _content(err))
        # A collection in a fork would write to all that is loaded, and so copy it.
        gc.collect()
        gc.freeze()


class Fork:
    """A process that does something, a fork of this one, which ends with it.

    Args:
        work: what it calls; returns the exit status.
    """

    def __init__(self, work: Callable[[], int]) -> None:
        ours = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                _die_with(ours)
                os.setpgid(0, 0)
                status = work()
            except BaseException:
                os.kill(ours, signal.SIGKILL)  # this machine's fault, which must not look like a result
            finally:
                os._exit(status)

    def ends_by(self, until: float) -> bool:
        """Wait for the end of the process, up to this time of the monotonic clock; whether it has ended."""
        watched = os.pidfd_open(self._pid)
        try:
            ready = select.poll()
            ready.register(watched, select.POLLIN)
            return bool(ready.poll(max(until - time.monotonic(), 0) * 1000))
        finally:
            os.close(watched)

    def end(self) -> int:
        """End the process, and what it left running; its exit status, 128 + n where signal n ended it."""
        for end in (os.killpg, os.kill):  # not waited for yet, its number is its own
            with suppress(OSError):
                end(self._pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return code if code >= 0 else 128 - code


class Models:
    """The process that runs the models, so that what one run had computed is there for the next.

    Forks of a process that has run a model cannot run one themselves: threads and a GPU's context stay behind. So the
    process above never does, and its forks ask here, each over a connection of its own, which ends with it. A model is
    loaded when one is first asked for.

    Args:
        not_here: file descriptors that this process may not hold.
    """

    def __init__(self, not_here: Collection[int]) -> None:
        self._not_here = not_here
        self._start()

    def connect(self) -> Any:
        """A new connection to the process, made in a fork.

        Raises:
            OSError: the process has died.
        """
        import socket  # here, because what is loaded costs each fork
        from multiprocessing.connection import Connection

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
        """End the process, and start a new one."""
        self._control.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        self._start()

    def _start(self) -> None:
        import socket
        from multiprocessing.connection import Connection

        self._control, theirs = socket.socketpair()
        _flush()
        ours = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _die_with(ours)
                for descriptor in (*self._not_here, self._control.fileno()):
                    os.close(descriptor)
                engines = importlib.import_module(SHARED).Engines()
                while received := socket.recv_fds(theirs, 1, 1)[1]:
                    with Connection(received[0]) as connection:
                        engines.answer(connection)
            finally:
                os._exit(0)
        theirs.close()


def _die_with(parent: int) -> None:
    """Let the system kill this process when `parent` ends, of which it is a fork."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _say(answers: IO[str], content: object) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


def _flush() -> None:
    """Write what Python still holds of standard output and standard error."""
    sys.stdout.flush()
    sys.stderr.flush()


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
