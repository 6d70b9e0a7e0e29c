"""The engine without containers: the same argv as a process of this machine's own Python."""

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from gen_bundle.starting import environment
from gen_bundle.twin.engines import Container, Ended, LineListener, Mount, Usage
from gen_bundle.twin.engines.logs import READ_AT_ONCE, LiveLines
from gen_bundle.twin.engines.process_group import ProcessGroup, signal_name
from gen_bundle.twin.engines.usage import gpu_memory
from gen_bundle.twin.layout import entries

POLL_SECONDS = 0.05
MEASURE_SECONDS = 0.25
OUR_MARK = "program.json"
CODE = {".py", ".sh", ".r", ".R", ".pl", ".jl", ".json", ".cfg", ".ini", ".toml"}
_APP = re.compile(rb"/app(?![\w.-])")


class ProcessEngine:
    """Runs programs as processes: no isolation, no image; for programs that take their folders as arguments."""

    name = "process"

    def __init__(self, *, gpu: bool = False) -> None:
        self._gpu = gpu

    def prepare(self, image: str) -> list[str]:
        """There is no image here."""
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        """See `Engine.run`.

        The whole process group is killed at the limit, and what the program left running when it ends.
        """
        argv = [_on_this_machine(part, container.mounts) for part in container.argv]
        if not argv:
            return Ended(exit_code=127, seconds=0.0, problem="the command is empty")
        if argv[0] in {"python", "python3"}:
            argv[0] = sys.executable
        program = next(mount.source for mount in container.mounts if mount.target == "/app/program")
        began = time.monotonic()
        with stdout.open("wb") as out, stderr.open("wb") as err:
            try:
                seen = {**program_environment(), **container.environment}
                group = ProcessGroup(argv, program, seen, out, err)
            except FileNotFoundError:
                return Ended(127, 0.0, problem=f"{container.argv[0]!r}: no such program (there is no shell in between)")
            except (OSError, ValueError) as error:
                return Ended(126, 0.0, problem=f"{container.argv[0]!r} cannot be run: {error}")
            ended = _watch(group, began, seconds, LiveLines((stdout, stderr), on_line), gpu=self._gpu)
        if ended.timed_out or not (written := _app_written_in(program)):
            return ended
        hint = f"{written} names /app, which only containers have: use --engine docker"
        # A program may swallow the error, and one that works may name /app as one place of several.
        return replace(ended, problem=hint) if ended.exit_code != 0 else replace(ended, notes=(hint,))

    def close(self) -> None:
        """Nothing is left: each run ends its own process group."""


def program_environment() -> dict[str, str]:
    """What a program sees of the environment: what passes of ours, and what the worker sets.

    The worker's own three variables: Codabench `compute_worker.py`, `create_container(environment=…)`.
    """
    return environment() | {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}


def _app_written_in(program: Path) -> str | None:
    """The first file of a foreign program that has `/app` in its code; ours get their folders as arguments."""
    if (program / OUR_MARK).exists():
        return None
    for file in entries(program):
        if file.suffix in CODE and file.is_file():
            with file.open("rb") as opened:
                if _APP.search(opened.read(READ_AT_ONCE)):
                    return str(file.relative_to(program))
    return None


def _on_this_machine(part: str, mounts: tuple[Mount, ...]) -> str:
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
