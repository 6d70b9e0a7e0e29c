"""The random draws: bootstrap samples of the units, and which units two teams exchange. In blocks, to save memory."""

from collections.abc import Iterator

import numpy as np

from scoring_kit.units import Array

CELLS = 2**21
"""Most cells of a block: 16 MB of float64."""
SAMPLES, EXCHANGES = 0, 1
"""Which sequence of random numbers: each purpose has its own."""


def bootstrap_counts(units: int, resamples: int, seed: int, width: int = 1) -> Iterator[Array]:
    """How often each unit is in each bootstrap sample, drawn with replacement: blocks of shape [some, units].

    Args:
        units: how many there are; each sample has as many.
        resamples: how many samples, over all blocks.
        seed: the same seed gives the same samples.
        width: cells for each sample that the caller makes besides.
    """
    random = np.random.default_rng([seed, SAMPLES])
    for size in _blocks(resamples, max(units, width)):
        drawn = random.integers(units, size=(size, units))
        drawn += units * np.arange(size)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=size * units)
        yield counts.reshape(size, units).astype(np.float64)


def exchanges(units: int, resamples: int, seed: int, width: int = 1) -> Iterator[Array]:
    """Which units are exchanged between two teams, each with probability 1/2: blocks of 0 and 1, [some, units]."""
    random = np.random.default_rng([seed, EXCHANGES])
    for size in _blocks(resamples, max(units, width)):
        yield random.integers(2, size=(size, units), dtype=np.uint8).astype(np.float64)


def _blocks(resamples: int, width: int) -> Iterator[int]:
    size = max(1, CELLS // width)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)
