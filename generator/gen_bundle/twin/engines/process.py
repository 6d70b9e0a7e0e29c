"""The engine without containers: the same argv as a process of this machine's own Python.

Where the kernel allows it, each program is kept apart (`isolation`), so that it finds its folders at `/app` and nothing
else of this machine but the system.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from gen_bundle.errors import UserError
from gen_bundle.starting import environment
from gen_bundle.twin.engines import Container, Ended, LineListener, Mount, Usage
from gen_bundle.twin.engines.isolation import Apart, Bind, caches, environment_apart, why_not
from gen_bundle.twin.engines.logs import READ_AT_ONCE, LiveLines, end_of_log
from gen_bundle.twin.engines.models import model_mounts
from gen_bundle.twin.engines.process_group import HAS_GROUPS, ProcessGroup, signal_name
from gen_bundle.twin.engines.usage import gpu_memory
from gen_bundle.twin.layout import entries

POLL_SECONDS = 0.05
MEASURE_SECONDS = 0.25
OUR_MARK = "program.json"
CODE = {".py", ".sh", ".r", ".R", ".pl", ".jl", ".json", ".cfg", ".ini", ".toml"}
WORKERS_OWN = {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}
"""What the worker sets: Codabench `compute_worker.py`, `create_container(environment=…)`."""
_APP = re.compile(rb"/app(?![\w.-])")
_NO_MODULE = re.compile(r"^(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'", re.MULTILINE)
LOG_END = 4000


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
        self.together = why_not(self._python) if keep_apart is None else "" if keep_apart else "it was not asked for"

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
                return Ended(127, 0.0, problem=f"{container.argv[0]!r}: no such program (there is no shell in between)")
            except (OSError, ValueError) as error:
                return Ended(126, 0.0, problem=f"{container.argv[0]!r} cannot be run: {error}")
            ended = _watch(group, began, seconds, LiveLines((stdout, stderr), on_line), gpu=self._gpu)
        return self._explained(ended, container, stderr)

    def close(self) -> None:
        """Nothing is left: each run ends all that it started."""

    def _kept_apart(self, container: Container, scratch: Path, out: BinaryIO, err: BinaryIO) -> ProcessGroup:
        mounts = [*container.mounts, *model_mounts(container)]
        binds = [Bind(mount.source, mount.target, mount.mode != "ro") for mount in mounts]
        binds += [Bind(scratch, "/tmp", writable=True), *caches()]  # noqa: S108 - its own
        seen = {**environment_apart(), **WORKERS_OWN, **self._on_path(), **container.environment}
        apart = Apart(binds, self._network)
        argv = self._with_interpreter(container.argv)
        return ProcessGroup(argv, "/app/program", seen, out, err, apart, self._python)

    def _on_this_machine(self, container: Container, scratch: Path, out: BinaryIO, err: BinaryIO) -> ProcessGroup:
        argv = self._with_interpreter([_place_here(part, container.mounts) for part in container.argv])
        program = next(mount.source for mount in container.mounts if mount.target == "/app/program")
        seen = {**program_environment(), **self._on_path(), **container.environment}
        if HAS_GROUPS:
            seen["TMPDIR"] = str(scratch)
        return ProcessGroup(argv, str(program), seen, out, err)

    def _on_path(self) -> dict[str, str]:
        """PATH, with an interpreter that was named first: what a program calls `python` is that one."""
        ours = environment().get("PATH", os.defpath)
        return {} if self.named_python is None else {"PATH": f"{Path(self._python).parent}{os.pathsep}{ours}"}

    def _with_interpreter(self, argv: Sequence[str]) -> list[str]:
        return [self._python, *argv[1:]] if argv[0] in {"python", "python3"} else [*argv]

    def _explained(self, ended: Ended, container: Container, stderr: Path) -> Ended:
        """How a foreign program ended, with what it may have missed on this machine."""
        program = next(mount.source for mount in container.mounts if mount.target == "/app/program")
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
        return replace(ended, problem=hint) if ended.exit_code != 0 else replace(ended, notes=(hint,))


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
    """What a program of this machine sees of the environment: what passes of ours, and what the worker sets."""
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


def _watch(group: ProcessGroup, began: float, seconds: float, lines: LiveLines, *, gpu: bool) -> Ended:
    """Follow the program to its end, or end it at the limit."""
    on_gpu, measured = Usage(), 0.0
    gpu_before = (gpu_memory() or 0) if gpu else 0
    timed_out = False
    try:
        while (code := group.poll()) is None and not timed_out:
            now = time.monotonic()
            timed_out = now - began > seconds
            if now - measured > MEASURE_SECONDS:
                group.measure()
                on_gpu = Usage.peak([on_gpu, Usage(gpu_memory_bytes=(gpu_memory() or 0) - gpu_before if gpu else None)])
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
    return Ended(
        exit_code=code if code >= 0 else 128 - code,  # killed by signal n shows as 128 + n, as in a container
        seconds=took,
        problem="" if code >= 0 else f"killed by {signal_name(-code)}",
        usage=usage,
    )
