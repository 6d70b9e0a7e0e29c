"""Token sequences to batches: alike in length, so that little is padding, and of bounded cost, so that memory is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

# From this length on the attention scores (length²) weigh more than the hidden states (length), so they are counted.
LONG = 512


def batches_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Group sequences into batches, longest first, so that memory peaks at once and not at the end.

    A batch of n sequences of which the longest has L tokens holds n·L ≤ `batch_tokens`, padding included
    (n·L²/512 for L above 512), or is a single sequence. Ties keep the given order.

    Yields:
        The indices of one batch.
    """
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        longest = longest if batch else max(lengths[index], 1)
        if batch and (len(batch) + 1) * longest * max(longest, LONG) > batch_tokens * LONG:
            yield batch
            batch, longest = [], max(lengths[index], 1)
        batch.append(index)
    if batch:
        yield batch


def padded(sequences: Sequence[Sequence[int]], pad_id: int, device: str) -> dict[str, torch.Tensor]:
    """A batch as a model's arguments: `input_ids`, and `attention_mask` only where something is padded.

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
