"""What an attack finds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """What an attack claims: how many items it decided, of how many, and whether each claim is true."""

    items: int
    of: int
    all_true: bool
