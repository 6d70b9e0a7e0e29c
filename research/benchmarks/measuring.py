"""What a piece of work costs: CPU time, wall time, memory, and tokens put through an encoder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Cost:
    """What one piece of work took.

    Attributes:
        cpu: CPU seconds of this process, the fair unit on a machine that others use too (with one thread).
        wall: seconds on the clock.
        peak: MiB of memory at the highest, above what was in use before; None where the system does not say.
        tokens: tokens that went through an encoder, padding included.
    """

    cpu: float
    wall: float
    peak: float | None
    tokens: int

    def __str__(self) -> str:
        rate = f", {self.tokens / self.cpu:,.0f} tokens/s" if self.tokens else ""
        peak = "" if self.peak is None else f", +{self.peak:.0f} MiB"
        return f"{self.cpu:.2f} s CPU ({self.wall:.2f} s wall), {self.tokens:,} padded tokens{rate}{peak}"


def measured(work: Callable[[], Result]) -> tuple[Result, Cost]:
    """Do the work once and say what it cost."""
    before = _reset_peak()
    with encoder_tokens() as tokens:
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = None if before is None else (_memory("VmHWM") - before) / 1024
    return result, Cost(cpu, wall, peak, sum(tokens))


@contextmanager
def encoder_tokens() -> Iterator[list[int]]:
    """Count what goes through embedding layers (rows times columns of each batch), whoever calls the model."""
    from torch.nn.modules.module import register_module_forward_hook

    counted: list[int] = []

    def count(module: Any, _arguments: Any, output: Any) -> None:
        if type(module).__name__.endswith("Embeddings"):
            counted.append(output.shape[0] * output.shape[1])

    hook = register_module_forward_hook(count)
    try:
        yield counted
    finally:
        hook.remove()


def _reset_peak() -> int | None:
    """Let the system forget the process's highest use of memory so far; returns the present use in KiB."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _memory("VmRSS")
    except OSError:
        return None


def _memory(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise OSError(field)
