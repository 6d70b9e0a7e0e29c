"""How time and memory grow: the same work at several sizes, with the exponent of growth."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

STATUS = Path("/proc/self/status")


def grow(title: str, sizes: Sequence[int], prepare: Callable[[int], Callable[[], object]]) -> None:
    """Print what the work costs at each size, and how it grows.

    Args:
        title: what is measured.
        sizes: number of items, ascending.
        prepare: makes the work for a size; only the work itself is measured.
    """
    print(title)
    costs = []
    for size in sizes:
        work = prepare(size)
        gc.collect()
        before = _reset_peak()
        cpu = time.process_time()
        result = work()
        cpu = time.process_time() - cpu
        peak = (_memory("VmHWM") - before) / 1024
        del result, work
        costs.append((cpu, peak))
        print(f"  {size:>9,} items: {cpu:6.2f} s CPU, +{peak:5.0f} MiB")
    for (small, (cpu, peak)), (large, (more_cpu, more_peak)) in pairwise(zip(sizes, costs, strict=True)):
        print(
            f"  {small:,} → {large:,}: time grows with exponent {_exponent(small, large, cpu, more_cpu)}, "
            f"memory with {_exponent(small, large, peak, more_peak)}"
        )


def _exponent(small: int, large: int, cost: float, more: float) -> str:
    """The e for which cost grows like size to the power of e; too small costs tell nothing."""
    if min(cost, more) <= 0:
        return "?"
    return f"{math.log(more / cost) / math.log(large / small):.2f}"


def _reset_peak() -> int:
    """Let the system forget the highest use of memory so far; returns the present use in KiB."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return 0
    return _memory("VmRSS")


def _memory(field: str) -> int:
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)
