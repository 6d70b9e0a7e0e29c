"""Where models run: CPU with the threads this container may use, or a GPU in full float32; and how much at once.

Token sequences go through a model in batches: alike in length, so that little is padding, and of bounded cost, so that
memory is.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scoring_kit.errors import OrganiserError

if TYPE_CHECKING:
    import torch

CGROUP = Path("/sys/fs/cgroup")
# Padded tokens a batch. On a CPU larger batches gain nothing and pad more; a GPU needs many to be busy.
BATCH_TOKENS = {"cpu": 1024, "cuda": 16384}


@dataclass(frozen=True)
class Placement:
    """Where and how exactly a model runs.

    Attributes:
        device: `cpu` or `cuda`.
        precision: `fp32`, or `bf16` where the organisers asked for it: faster, and different from the third digit on.
        batch_tokens: how many tokens, padding included, go through the model at once.
    """

    device: str
    precision: str
    batch_tokens: int

    @property
    def dtype(self) -> torch.dtype:
        import torch

        return torch.bfloat16 if self.precision == "bf16" else torch.float32


def place(device: str = "auto", precision: str = "fp32", batch_tokens: int | None = None) -> Placement:
    """Choose device, precision and batch size from the options of the same names, and set torch up for them.

    Raises OrganiserError: an option has a value it cannot have, or no GPU is there although one was asked for.
    """
    import torch

    if device not in ("auto", "cpu", "cuda"):
        raise OrganiserError(f'options.device: "{device}" is not one of auto, cpu, cuda.')
    if precision not in ("fp32", "bf16"):
        raise OrganiserError(f'options.precision: "{precision}" is not one of fp32, bf16.')
    if batch_tokens is not None and batch_tokens < 1:
        raise OrganiserError(f"options.batch_tokens: {batch_tokens} is not a positive number of tokens.")
    if device == "cuda" and not torch.cuda.is_available():
        raise OrganiserError("options.device: cuda was asked for, but torch finds no GPU here. Use auto or cpu.")
    chosen = "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"
    os.environ.setdefault("RAYON_NUM_THREADS", str(usable_threads()))  # read by the tokenizers when they first start
    if chosen == "cpu":
        torch.set_num_threads(usable_threads())
    else:
        torch.set_float32_matmul_precision("highest")  # no TF32, which keeps only 10 bits of the mantissa
        torch.backends.cudnn.allow_tf32 = False
    return Placement(chosen, precision, batch_tokens or BATCH_TOKENS[chosen])


@contextmanager
def inference(place: Placement) -> Iterator[None]:
    """Run a model without what only training needs; raises OrganiserError where the GPU is too small for a batch."""
    import torch

    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError as error:
        raise OrganiserError(
            f"options.batch_tokens: a batch of {place.batch_tokens} tokens does not fit into the memory of this GPU. "
            "Choose fewer, a larger GPU, or options.device: cpu."
        ) from error


def usable_threads(cgroup: Path = CGROUP) -> int:
    """Return how many CPU threads are worth starting here: OMP_NUM_THREADS, else what affinity and CPU quota allow.

    torch counts the host's cores, not the container's share: with more threads than CPU time, each small matrix
    product waits for threads that are not running.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(cores, _cpu_quota(cgroup))))


def _cpu_quota(cgroup: Path) -> float:
    """CPUs that the control group may use (Linux cgroup v2 `cpu.max`, v1 `cpu.cfs_quota_us`); infinite without one."""
    try:
        quota, period = (cgroup / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        try:
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text(encoding="ascii").strip()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            return math.inf
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0:
        return math.inf  # "max" in v2, -1 in v1: no limit
    return int(quota) / int(period)


# From this length on the attention scores (length²) weigh more than the hidden states (length), so they are counted.
LONG = 512


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Group sequences into batches of indices, longest first, so that memory peaks at once and not at the end.

    A batch of n sequences of which the longest has L tokens holds n·L ≤ `batch_tokens`, padding included
    (n·L²/512 for L above 512), or is a single sequence. Ties keep the given order.
    """
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not batch:
            longest = max(lengths[index], 1)
        if batch and (len(batch) + 1) * longest * max(longest, LONG) > batch_tokens * LONG:
            yield batch
            batch, longest = [], max(lengths[index], 1)
        batch.append(index)
    if batch:
        yield batch


def padded_batches(
    sequences: Sequence[Sequence[int]], pad_id: int, place: Placement
) -> Iterator[tuple[list[int], dict[str, torch.Tensor]]]:
    """Go through sequences in batches: the indices of each, and it as a model's arguments, see `padded`."""
    for batch in batches_by_length([len(sequence) for sequence in sequences], place.batch_tokens):
        yield batch, padded([sequences[index] for index in batch], pad_id, place.device)


def padded(sequences: Sequence[Sequence[int]], pad_id: int, device: str) -> dict[str, torch.Tensor]:
    """Return a batch as a model's arguments: `input_ids`, and `attention_mask` only where something is padded.

    Without a mask the attention takes its faster way, and a model is called exactly as with one text alone. Token
    types are never passed, so every model takes its default (zero).
    """
    import numpy as np
    import torch

    length = max(len(sequence) for sequence in sequences)
    ids = np.full((len(sequences), length), pad_id, dtype=np.int64)
    mask = np.zeros((len(sequences), length), dtype=np.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    arguments = {"input_ids": torch.from_numpy(ids).to(device)}
    if not mask.all():
        arguments["attention_mask"] = torch.from_numpy(mask).to(device)
    return arguments
