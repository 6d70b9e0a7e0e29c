"""A running program with all that it starts: watched, measured and ended with what this system has for that."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from gen_bundle.starting import environment
from gen_bundle.twin.engines import EngineError, Usage
from gen_bundle.twin.engines.isolation import Apart, asked, launcher_command

# Elsewhere (Windows) a process has no group to be ended with, and what it used is not known in the end.
HAS_GROUPS = hasattr(os, "killpg") and hasattr(os, "wait4")
HAS_LAUNCHER = sys.platform == "linux"
PROC = Path("/proc")
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
END_SECONDS = 15


class ProcessGroup:
    """A program that was started in `folder`, and what belongs to it; `environment` is all that it sees of that.

    On Linux the launcher starts it, so that it ends with all that it started, and with us; elsewhere its process group
    is ended.

    Args:
        apart: what it sees of this machine, where it is kept apart; `folder` is then one of its world.
        python: the interpreter that it may need there.

    Attributes:
        usage: Its largest memory at the last `measure`, and its processor time once it has ended.

    Raises:
        EngineError: Its world cannot be made.
        OSError: There is no such program, or it cannot be run.
        ValueError: An argument that no program can be given.
    """

    def __init__(
        self,
        argv: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        stdout: BinaryIO,
        stderr: BinaryIO,
        apart: Apart | None = None,
        python: str = sys.executable,
    ) -> None:
        self.usage = Usage()
        self._launched = HAS_LAUNCHER
        if self._launched:
            self._launch(asked(argv, folder, apart, python), environment, stdout, stderr)
            return
        self._process = subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=HAS_GROUPS,
        )

    def _launch(self, told: bytes, environment: Mapping[str, str], stdout: BinaryIO, stderr: BinaryIO) -> None:
        reading, report = os.pipe()
        with os.fdopen(reading, "rb") as reported:
            try:
                self._process = subprocess.Popen(
                    launcher_command(report),
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=stdout,
                    stderr=stderr,
                    pass_fds=[report],
                    start_new_session=True,
                )
            finally:
                os.close(report)
            try:
                assert self._process.stdin is not None  # noqa: S101 - it is a pipe
                with self._process.stdin as request, contextlib.suppress(BrokenPipeError):
                    request.write(told)
                number, _, words = reported.read().decode(errors="replace").partition(" ")
            except BaseException:
                self.end()
                raise
        if number:
            self.end()
            raise OSError(int(number), words) if int(number) else EngineError(f"no program can be started: {words}")

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        if not HAS_GROUPS:
            return self._process.poll()
        if self._process.returncode is None:
            self._reap(os.WNOHANG)
        return self._process.returncode

    def wait(self, seconds: float) -> None:
        """Wait so long, or until it has ended where the system reports that (Linux)."""
        try:
            end = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):
            time.sleep(seconds)
            return
        try:
            ended = select.poll()
            ended.register(end, select.POLLIN)
            ended.poll(seconds * 1000)
        finally:
            os.close(end)

    def end(self) -> None:
        """End it, if it still runs, and all that it started; without the launcher what did not leave its group."""
        if not HAS_GROUPS:
            _kill_tree(self._process)
            self._process.wait()
            return
        if self._launched and self.poll() is None:
            self._process.terminate()  # the launcher ends when all else has
            until = time.monotonic() + END_SECONDS
            while self.poll() is None and time.monotonic() < until:
                self.wait(END_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.returncode is None:
            self._reap(0)

    def measure(self) -> None:
        """Look at the memory that the whole session has now, where the system shows it (`/proc`)."""
        if HAS_GROUPS and PROC.is_dir():
            entries = (entry for entry in PROC.iterdir() if entry.name.isdigit())
            resident = sum(self._resident(int(entry.name)) for entry in entries)
            self.usage = Usage.peak([self.usage, Usage(resident or None)])

    def _resident(self, process: int) -> int:
        """The memory in bytes of a process; 0 where it has ended, is another program's, or the launcher's own."""
        try:
            if os.getsid(process) != self._process.pid:
                return 0
            if self._launched and os.getpgid(process) == self._process.pid:
                return 0
            pages = (PROC / str(process) / "statm").read_text(encoding="ascii").split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _reap(self, options: int) -> None:
        pid, status, spent = os.wait4(self._process.pid, options)
        if pid == 0:
            return
        self._process.returncode = os.waitstatus_to_exitcode(status)
        # Without /proc (macOS) there is the largest memory of the program alone.
        memory = None if PROC.is_dir() else spent.ru_maxrss * MAXRSS_UNIT
        self.usage = Usage.peak([self.usage, Usage(memory, spent.ru_utime + spent.ru_stime)])


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """What Windows has instead of groups: its own program that ends a process with its children."""
    with contextlib.suppress(OSError):
        subprocess.run(
            ["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False, env=environment()
        )
    process.kill()
