"""How much a decoder can find out at most: the number of values that all shown figures can take.

N submissions show one of at most V1 · V2 · … · VN outcomes, for any questions, which may depend on the answers to
earlier ones. So they reveal at most B = log2 V1 + … + log2 VN bits. Where a gold item has c equally possible
values, each independent of the others, every decided item takes log2 c bits of these, so no decoder decides more than
B / log2 c items in the mean over all golds (the entropy of the gold falls by no more than that of what is shown).
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from research.disclosure.oracle import Setting

SIGNATURE = 16.0
"""Bits of the reference data's digest that the signature shows."""

PAGE_DECIMALS = 2
"""With which bars on the page are written."""


def doubles(top: float, lowest: float = 0.0) -> float:
    """log2 of how many doubles there are from `lowest`, 0 or below, to `top`."""
    above, below = struct.unpack("<2q", struct.pack("<2d", top, abs(lowest)))
    return math.log2(above + 1 + below)


def numbers(*largest: int) -> float:
    """log2 of how many ways there are to choose a number from 0 to each of these."""
    return math.fsum(math.log2(count + 1) for count in largest)


def parts(whole: int, number: int) -> float:
    """log2 of how many ways there are to divide `whole` items among `number` labels."""
    return math.log2(math.comb(whole + number - 1, number - 1))


@dataclass(frozen=True)
class Shown:
    """Figures of a submission that depend on the same counts, so that these are not counted twice.

    Attributes:
        name: for the table.
        tops: the largest value of each figure; the smallest is `lowest`.
        counts: log2 of how many values the counts can take from which all the figures follow; None: any double.
        once: log2 of how many values the sizes of the gold can take that these figures show: the same each time.
        rising: whether all the figures rise with a single number, so that few combinations of their digits occur.
        number: how many of such figures there are, each with values of its own.
        lowest: 0 or below.
        page: whether only the page shows it, with few decimals.
    """

    name: str
    tops: Sequence[float] = (1.0,)
    counts: float | None = None
    once: float = 0.0
    rising: bool = False
    number: int = 1
    lowest: float = 0.0
    page: bool = False

    def bits(self, files: Sequence[int | None]) -> float:
        """What all files together reveal at most, in bits, each with so many decimals (None: exact)."""
        digits = [self._digits(decimals) for decimals in files]
        if self.counts is None:
            return self.number * (self.once + math.fsum(digits))
        counted = self.once + math.fsum(min(bits, self.counts) for bits in digits)
        return self.number * (counted if self.rising else min(counted, math.fsum(digits)))

    def _digits(self, decimals: int | None) -> float:
        """log2 of how many values the digits of one file's figures can take."""
        if self.page:
            decimals = PAGE_DECIMALS if decimals is None else min(decimals, PAGE_DECIMALS)
        if decimals is None:
            return math.fsum(doubles(top, self.lowest) for top in self.tops)
        steps = [round((top - self.lowest) * 10**decimals) for top in self.tops]
        return numbers(sum(steps)) if self.rising else numbers(*steps)


@dataclass(frozen=True)
class Gold:
    """The gold items of a task, and all that is shown which depends on them.

    Attributes:
        name: of the task, a comma, and what the items are.
        items: log2 of how many values each item can take.
        submissions: how many the test phase takes.
        baselines: of how many further files the page shows the columns, with `board_decimals`.
        board: what follows from the columns, which `headline` shows.
        full: what `full` shows instead: everything, but for what follows from something else.
        follow: of what is left out there, figures that the table shows by themselves.
    """

    name: str
    items: Sequence[float]
    submissions: int
    baselines: int
    board_decimals: int
    board: Sequence[Shown] = field(default=())
    full: Sequence[Shown] = field(default=())
    follow: Sequence[Shown] = field(default=())

    @property
    def task(self) -> str:
        """The task's name, with which the names of its figures begin."""
        return self.name.partition(",")[0]

    def bits(self, setting: Setting) -> float:
        """What the phase reveals at most in this setting, in bits."""
        own = [setting.decimals] * self.submissions
        board = self.board_decimals if setting.decimals is None else min(setting.decimals, self.board_decimals)
        baselines = [board] * self.baselines
        if setting.details == "full":
            of_baselines = math.fsum(shown.bits(baselines) for shown in self.board)
            return SIGNATURE + of_baselines + math.fsum(shown.bits(own) for shown in self.full)
        return SIGNATURE + math.fsum(shown.bits([*own, *baselines]) for shown in self.board)

    def at_most(self, bits: float) -> int | Literal["no bound"]:
        """How many items so many bits decide at most; no bound where that would be all of them."""
        left = bits
        for number, needed in enumerate(sorted(self.items)):
            left -= needed
            if left < 0:
                return number
        return "no bound"
