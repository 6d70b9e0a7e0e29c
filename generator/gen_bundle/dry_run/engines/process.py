"""The engine without containers: the same argv as a process of this machine's own Python.

Where the kernel allows it, each program is kept apart (`isolation`), so that it finds its folders at `/app` and nothing
else of this machine but the system.
"""

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from gen_bundle.dry_run.engines import (
    Container,
    Ended,
    EngineError,
    LineListener,
    Mount,
    Usage,
    is_machine_fault,
    model_mounts,
)
from gen_bundle.dry_run.engines.isolation import (
    NOBODY,
    Apart,
    Bind,
    asked,
    caches,
    environment_apart,
    launcher_command,
    other_user,
    why_not,
)
from gen_bundle.dry_run.engines.watching import MEASURE_SECONDS, READ_AT_ONCE, LiveLines, end_of_log, gpu_memory
from gen_bundle.dry_run.layout import entries
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.starting import environment

POLL_SECONDS = 0.05
OUR_MARK = "program.json"
CODE = {".py", ".sh", ".r", ".R", ".pl", ".jl", ".json", ".cfg", ".ini", ".toml"}
WORKERS_OWN = {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}
"""Variables that the worker sets: Codabench `compute_worker.py`, `create_container(environment=…)`."""
_APP = re.compile(rb"/app(?![\w.-])")
_NO_MODULE = re.compile(r"^(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'", re.MULTILINE)
LOG_END = 4000
NO_PROGRAM = (
    "no such program on this machine. Where the image has it, use --engine docker; there is no shell that would run a "
    "line of shell"
)
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

    def _launch(self, content: bytes, environment: Mapping[str, str], stdout: BinaryIO, stderr: BinaryIO) -> None:
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
                # Killed before it reads this, it says so by how it ended. The pipe may break only at its closing.
                with contextlib.suppress(BrokenPipeError), self._process.stdin as request:
                    request.write(content)
                number, _, words = reported.read().decode(errors="replace").partition(" ")
            except BaseException:
                self.end()
                raise
        if number:
            self.end()
            if int(number):
                raise OSError(int(number), words)
            raise EngineError(f"no program can be started: {words}")

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
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
            # What Windows has instead of groups: its own program that ends a process with its children.
            kill_tree = ["taskkill", "/T", "/F", "/PID", str(self._process.pid)]
            with contextlib.suppress(OSError):
                subprocess.run(kill_tree, capture_output=True, check=False, env=environment())
            self._process.kill()
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
            resident = sum(self._resident(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdigit())
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
    """Return the name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class ProcessEngine:
    """Runs programs as processes of this machine, without the image.

    Args:
        gpu: Measure the memory of the GPUs.
        network: Leave the network on for what is kept apart.
        python: The interpreter for `python` and `python3`; None: the running one.
        keep_apart: None where the kernel allows it.

    Attributes:
        together: Why programs are not kept apart; empty where they are.
        named_python: The interpreter, where one was named.
    """

    name = "process"

    def __init__(
        self, *, gpu: bool = False, network: bool = False, python: Path | None = None, keep_apart: bool | None = None
    ) -> None:
        self._gpu = gpu
        self._network = network
        self._python = _interpreter(python)
        self.named_python = None if python is None else self._python
        self._closed = threading.Event()
        self.together = ""
        if keep_apart is None:
            self.together = why_not(self._python)
        elif not keep_apart:
            self.together = "it was not asked for"

    def prepare(self, image: str) -> list[str]:
        """There is no image here."""
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        """See `Engine.run`; whatever the program left running is ended with it."""
        if not container.argv:
            return Ended(exit_code=127, seconds=0.0, problem="the command is empty")
        scratch = stdout.with_name("tmp")
        scratch.mkdir(exist_ok=True)
        began = time.monotonic()
        with stdout.open("wb") as out, stderr.open("wb") as err:
            try:
                if self.together:
                    group = self._on_this_machine(container, scratch, out, err)
                else:
                    group = self._kept_apart(container, scratch, out, err)
            except FileNotFoundError:
                return Ended(127, 0.0, problem=f"{container.argv[0]!r}: {NO_PROGRAM}")
            except (OSError, ValueError) as error:
                if is_machine_fault(error):
                    raise
                return Ended(126, 0.0, problem=f"{container.argv[0]!r} cannot be run: {error}")
            lines = LiveLines((stdout, stderr), on_line)
            ended = _watch(group, began, seconds, lines, self._closed, gpu=self._gpu)
        if self._closed.is_set():
            raise EngineError("the run was ended with its engine")
        return self._explained(ended, container, stderr)

    def close(self) -> None:
        """End what another thread runs here; of earlier runs nothing is left."""
        self._closed.set()

    def _kept_apart(self, container: Container, scratch: Path, out: BinaryIO, err: BinaryIO) -> ProcessGroup:
        of_models = model_mounts(container)
        if (owner := other_user()) is not None:
            # The job's own folders, and a cache that is ours; another's cache stays as it is, read and not added to.
            caches_of_ours = [mount.source for mount in of_models if mount.mode == "rw" and _is_roots(mount.source)]
            for place in (scratch, *(mount.source for mount in container.mounts), *caches_of_ours):
                _give(place, owner)
        mounts = [*container.mounts, *of_models]
        binds = [Bind(mount.source, mount.target, mount.mode != "ro") for mount in mounts]
        binds += [Bind(scratch, "/tmp", writable=True), *caches()]  # noqa: S108 - its own
        seen = {**environment_apart(), **WORKERS_OWN, **self._on_path(), **container.environment}
        apart = Apart(binds, self._network)
        argv = self._with_interpreter(container.argv)
        return ProcessGroup(argv, "/app/program", seen, out, err, apart, self._python)

    def _on_this_machine(self, container: Container, scratch: Path, out: BinaryIO, err: BinaryIO) -> ProcessGroup:
        argv = self._with_interpreter([_place_here(part, container.mounts) for part in container.argv])
        seen = {**program_environment(), **self._on_path(), **container.environment}
        if HAS_GROUPS:
            seen["TMPDIR"] = str(scratch)
        return ProcessGroup(argv, str(container.program), seen, out, err)

    def _on_path(self) -> dict[str, str]:
        """PATH, with an interpreter that was named first: what a program calls `python` is that one."""
        if self.named_python is None:
            return {}
        ours = environment().get("PATH", os.defpath)
        return {"PATH": f"{Path(self._python).parent}{os.pathsep}{ours}"}

    def _with_interpreter(self, argv: Sequence[str]) -> list[str]:
        return [self._python, *argv[1:]] if argv[0] in {"python", "python3"} else [*argv]

    def _explained(self, ended: Ended, container: Container, stderr: Path) -> Ended:
        """How a foreign program ended, with what it may have missed on this machine."""
        program = container.program
        if ended.timed_out or (program / OUR_MARK).exists():
            return ended
        hint = ""
        if lacking := _NO_MODULE.search(end_of_log(stderr, LOG_END)):
            hint = (
                f"{self._python} has no module {lacking[1]}, which the image may have: install it there, or name the "
                "interpreter that has the scorer's packages with --python"
            )
        elif self.together and (written := _app_written_in(program)):
            hint = f"{written} names /app, which only containers have: use --engine docker ({self.together})"
        if not hint:
            return ended
        # A program may swallow the error, and one that works may name /app as one place of several.
        if ended.exit_code == 0:
            return replace(ended, notes=(hint,))
        return replace(ended, problem=hint)


def _give(folder: Path, owner: int) -> None:
    """Make a job's own folder, and all below it, another user's; links themselves, never what they point at."""
    for path in (folder, *entries(folder)):
        with contextlib.suppress(FileNotFoundError):  # a cache's, which another run has replaced meanwhile
            os.chown(path, owner, owner, follow_symlinks=False)


def _is_roots(folder: Path) -> bool:
    return folder.stat().st_uid in {0, NOBODY}


def _interpreter(python: Path | None) -> str:
    """The interpreter's absolute path, its links not followed, since an environment is one.

    Raises:
        UserError: It is no program.
    """
    if python is None:
        return sys.executable
    found = shutil.which(python.expanduser())
    if found is None:
        raise UserError(f"--python {python}: no such program. Expected an interpreter, such as .venv/bin/python.")
    return str(Path(found).absolute())


def program_environment() -> dict[str, str]:
    """Return what a program of this machine sees of the environment: what passes of ours, and what the worker sets."""
    return environment() | WORKERS_OWN


def _app_written_in(program: Path) -> str | None:
    """The first file of a program that has `/app` in its code."""
    for file in entries(program):
        if file.suffix in CODE and file.is_file():
            with file.open("rb") as opened:
                if _APP.search(opened.read(READ_AT_ONCE)):
                    return str(file.relative_to(program))
    return None


def _place_here(part: str, mounts: tuple[Mount, ...]) -> str:
    """An argument with the folders under `/app` replaced by where they lie here, also within a `bash -c` text."""
    for mount in mounts:
        here = str(mount.source).replace("\\", r"\\")
        part = re.sub(rf"(?<![\w./-]){re.escape(mount.target)}(?![\w.-])", here, part)
    return part


def _watch(
    group: ProcessGroup, began: float, seconds: float, lines: LiveLines, closed: threading.Event, *, gpu: bool
) -> Ended:
    """Follow the program to its end, or end it at the limit, or when its engine is closed."""
    on_gpu, measured = Usage(), 0.0
    gpu_before = (gpu_memory() or 0) if gpu else 0
    timed_out = False
    try:
        while (code := group.poll()) is None and not timed_out and not closed.is_set():
            now = time.monotonic()
            timed_out = now - began > seconds
            if now - measured > MEASURE_SECONDS:
                group.measure()
                if gpu:
                    used = (gpu_memory() or 0) - gpu_before
                    on_gpu = Usage.peak([on_gpu, Usage(gpu_memory_bytes=used)])
                measured = now
            lines.follow()
            if not timed_out:
                group.wait(POLL_SECONDS)
    finally:
        # After Ctrl-C and the like, too: the program must not outlive us, nor may what it left running.
        group.end()
    took, usage = time.monotonic() - began, Usage.peak([group.usage, on_gpu])
    if code is None:
        return Ended(None, took, timed_out=True, usage=usage)
    lines.follow(last=True)
    if code >= 0:
        return Ended(code, took, usage=usage)
    # Killed by signal n shows as 128 + n, as in a container.
    return Ended(128 - code, took, problem=f"killed by {signal_name(-code)}", usage=usage)
