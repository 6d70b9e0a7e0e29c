"""A running program's output and use of the machine: followed while it runs, its logs kept up to a bound."""

import shutil
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen_bundle.dry_run.engines import EngineError, LineListener, Usage
from gen_bundle.ground.starting import environment

if TYPE_CHECKING:
    from docker import DockerClient

KEPT_BYTES = 10 * 1024**2
READ_AT_ONCE = 1024**2
LINE_CHARACTERS = 500
MEASURE_SECONDS = 0.25
DRIVER_SECONDS = 5  # a time limit is enforced only so much later where the driver hangs


class LiveLines:
    """Hands the lines of growing files to a listener; invalid UTF-8 is shown as �, long lines are cut."""

    def __init__(self, files: tuple[Path, ...], on_line: LineListener) -> None:
        self._read = dict.fromkeys(files, 0)
        self._rest = dict.fromkeys(files, b"")
        self._on_line = on_line

    def follow(self, *, last: bool = False) -> None:
        """Hand on what came since the last call; with `last` also a line without end."""
        for file, position in self._read.items():
            with file.open("rb") as opened:
                opened.seek(position)
                new = opened.read(READ_AT_ONCE)
            self._read[file] = position + len(new)
            *lines, rest = (self._rest[file] + new).split(b"\n")
            self._rest[file] = rest[:READ_AT_ONCE]
            if last and rest:
                lines.append(rest)
            for line in lines:
                self._on_line(shown_line(line))


def shown_line(line: bytes) -> str:
    """Return a line as it is shown live; of one that was drawn over and over, as progress bars are, the last state."""
    return printable(line.rstrip(b"\r").rpartition(b"\r")[2][: 4 * LINE_CHARACTERS])[:LINE_CHARACTERS]


def printable(printed: bytes) -> str:
    """Return what a program printed, without what would steer a terminal."""
    text = printed.decode(errors="replace")
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)


def end_of_log(log: Path, most: int) -> str:
    """Return the last lines of a log that take no more than `most` bytes, as `printable` shows them."""
    size = log.stat().st_size
    with log.open("rb") as opened:
        opened.seek(max(size - most, 0))
        text = opened.read(most)
    _, line_end, whole = text.partition(b"\n")
    return printable(text) if size <= most or not line_end else f"…\n{printable(whole)}"


def keep_log(source: Path, target: Path) -> bool:
    """Copy a log up to the bound, with a last line that says what was left out.

    Returns:
        Whether it was kept in full.
    """
    size = source.stat().st_size if source.exists() else 0
    with target.open("wb") as out:
        if size:
            with source.open("rb") as opened:
                out.write(opened.read(KEPT_BYTES))
        if size > KEPT_BYTES:
            out.write(f"\n… {size - KEPT_BYTES} more bytes are not kept.\n".encode())
    return size <= KEPT_BYTES


class Meter(threading.Thread):
    """Asks the engine again and again what a container uses, on a connection of its own.

    A thread, because an answer can take a second. A container that ends before the first answer is not measured.

    Attributes:
        peak: The largest of each figure so far; of the processor the last.
    """

    def __init__(self, connect: "Callable[[], DockerClient]", running: str, *, gpu: bool) -> None:
        super().__init__(name=f"usage of {running}", daemon=True)
        self.peak = Usage()
        self._connect = connect
        self._running = running
        self._gpu = gpu
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Ask no more; an answer that is still to come is not waited for."""
        self._stopped.set()

    def run(self) -> None:
        """Measure until stopped or until the container is gone."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        gpu_before = (gpu_memory() or 0) if self._gpu else 0
        try:
            with closing(self._connect()) as client:
                while not self._stopped.is_set():
                    used = _usage_of(client.api.stats(self._running, stream=False, one_shot=True))
                    on_gpu = (gpu_memory() or 0) - gpu_before if self._gpu else None
                    self.peak = Usage.peak([self.peak, used, Usage(gpu_memory_bytes=on_gpu)])
                    self._stopped.wait(MEASURE_SECONDS)
        except (EngineError, DockerException, RequestException, ValueError):
            return


def _usage_of(stats: dict[str, Any]) -> Usage:
    """Memory without the page cache, and processor time, from the engine's statistics."""
    memory = stats.get("memory_stats") or {}
    used = memory.get("usage")
    details = memory.get("stats") or {}
    # cgroup v1 and v2 name the page cache differently; `docker stats` subtracts it as well.
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    processor = ((stats.get("cpu_stats") or {}).get("cpu_usage") or {}).get("total_usage")
    memory_bytes = max(used - cache, 0) if used else None
    cpu_seconds = processor / 1e9 if processor else None
    return Usage(memory_bytes, cpu_seconds)


def gpu_memory() -> int | None:
    """Bytes in use on all GPUs of this machine, None where nvidia-smi reports none in time."""
    if shutil.which("nvidia-smi") is None:
        return None
    try:
        printed = subprocess.run(
            ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=False,
            timeout=DRIVER_SECONDS,
            env=environment(),
        )
        return sum(int(line) for line in printed.stdout.split()) * 1024**2 or None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
