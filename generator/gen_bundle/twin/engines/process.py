"""The engine without containers: the same argv as a process of this machine's own Python."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from gen_bundle.twin.engines import Container, Ended, LineListener, Mount, Usage
from gen_bundle.twin.engines.logs import LiveLines
from gen_bundle.twin.engines.usage import gpu_memory

POLL_SECONDS = 0.05
MEASURE_SECONDS = 0.25
OUR_MARK = "program.json"
CODE = {".py", ".sh", ".r", ".R", ".pl", ".jl", ".json", ".cfg", ".ini", ".toml"}
KEPT_VARIABLES = ("PATH", "HOME", "NLTK_DATA", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
KEPT_PREFIX = "HF_"
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
                process = subprocess.Popen(
                    argv,
                    cwd=program,
                    env={**program_environment(os.environ), **container.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
            except FileNotFoundError:
                return Ended(127, 0.0, problem=f"{container.argv[0]!r}: no such program (there is no shell in between)")
            except (OSError, ValueError) as error:
                return Ended(126, 0.0, problem=f"{container.argv[0]!r} cannot be run: {error}")
            ended = _wait(process, began, seconds, LiveLines((stdout, stderr), on_line), gpu=self._gpu)
        if ended.timed_out or not (written := _app_written_in(program)):
            return ended
        told = f"{written} names /app, which a container alone has: use --engine docker"
        # A program may swallow the error, and one that works may name /app as one place of several.
        return replace(ended, problem=told) if ended.exit_code != 0 else replace(ended, notes=(told,))

    def close(self) -> None:
        """Nothing is left: each run ends its own process group."""


def program_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """What a program sees of the environment: what finds interpreters and models, and what the worker sets.

    The worker's own three variables: Codabench `compute_worker.py`, `create_container(environment=…)`.
    """
    kept = {name: value for name, value in ours.items() if name in KEPT_VARIABLES or name.startswith(KEPT_PREFIX)}
    return kept | {"PYTHONUNBUFFERED": "1", "http_proxy": "", "https_proxy": ""}


def _app_written_in(program: Path) -> str | None:
    """The first file of a foreign program that has `/app` in its code; ours are told their folders as arguments."""
    if (program / OUR_MARK).exists():
        return None
    for file in sorted(program.rglob("*")):
        if file.suffix in CODE and file.is_file() and _APP.search(file.read_bytes()):
            return str(file.relative_to(program))
    return None


def _on_this_machine(part: str, mounts: tuple[Mount, ...]) -> str:
    """An argument with the folders under `/app` replaced by where they lie here, also within a `bash -c` text."""
    for mount in mounts:
        here = str(mount.source).replace("\\", r"\\")
        part = re.sub(rf"(?<![\w./-]){re.escape(mount.target)}(?![\w.-])", here, part)
    return part


def _wait(process: subprocess.Popen[bytes], began: float, seconds: float, lines: LiveLines, *, gpu: bool) -> Ended:
    usage, measured = Usage(), 0.0
    gpu_before = (gpu_memory() or 0) if gpu else 0
    try:
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            now = time.monotonic()
            if now - began > seconds:
                _kill_group(process.pid)
                _, _, spent = os.wait4(process.pid, 0)
                process.returncode = -signal.SIGKILL
                return Ended(None, now - began, timed_out=True, usage=_with_processor(usage, spent))
            if now - measured > MEASURE_SECONDS:
                on_gpu = (gpu_memory() or 0) - gpu_before if gpu else None
                usage = Usage.peak([usage, Usage(_group_memory(process.pid) or None, None, on_gpu)])
                measured = now
            lines.follow()
            time.sleep(POLL_SECONDS)
        _, status, spent = ended
    except BaseException:
        # Ctrl-C and the like: the program must not outlive us.
        _kill_group(process.pid)
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    _kill_group(process.pid)
    lines.follow(last=True)
    code = process.returncode
    return Ended(
        exit_code=code if code >= 0 else 128 - code,  # killed by signal n shows as 128 + n, as in a container
        seconds=time.monotonic() - began,
        problem="" if code >= 0 else f"killed by {signal.Signals(-code).name}",
        usage=_with_processor(usage, spent),
    )


def _with_processor(usage: Usage, spent: resource.struct_rusage) -> Usage:
    return replace(usage, cpu_seconds=spent.ru_utime + spent.ru_stime)


def _kill_group(leader: int) -> None:
    """Kill a process and all that it started and that did not leave its group."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _group_memory(leader: int) -> int:
    """Resident bytes of a process group now; 0 where `/proc` does not tell."""
    return sum(_resident(entry) for entry in _processes() if _group(entry) == leader)


def _processes() -> Iterator[Path]:
    proc = Path("/proc")
    if proc.is_dir():
        yield from (entry for entry in proc.iterdir() if entry.name.isdigit())


def _group(entry: Path) -> int:
    try:
        # The name in parentheses may hold blanks; the group is the third field after it.
        return int((entry / "stat").read_text().rpartition(")")[2].split()[2])
    except (OSError, IndexError, ValueError):
        return -1


def _resident(entry: Path) -> int:
    try:
        found = re.search(r"^VmRSS:\s+(\d+) kB", (entry / "status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
