"""The simulation of `power`: the press is asked for it, and `scoring_kit.resampling.power` does it."""

from __future__ import annotations

from dataclasses import dataclass

FOUND = 0.8
"""The smallest difference is found in so many of the test sets."""
FOUND_IN = f"{10 * FOUND:.0f} of 10 test sets"

WHOLE = 1.0
"""The size of the test set as it is."""


@dataclass(frozen=True)
class PowerSettings:
    """Which teams and test sets are simulated.

    Attributes:
        teams: how many there will be.
        gaps: differences between systems, in the ranking column; none: 1, 2 and 5 % of its scale.
        sizes: of test sets, as multiples of what there is; that itself is always among them.
        level: the better system's score; None: half-way between the best baseline and the gold's own answers.
        common: which share of their errors systems have in common.
        seed: of all random numbers.
    """

    teams: int = 15
    gaps: tuple[float, ...] = ()
    sizes: tuple[float, ...] = (0.5, 1.0, 2.0)
    level: float | None = None
    common: float = 0.7
    seed: int = 0
