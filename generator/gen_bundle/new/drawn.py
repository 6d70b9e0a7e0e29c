"""Numbers that a baseline answers with: drawn, and yet the same here and in the `model.py` that holds `drawn`, too."""

import statistics
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


def place_of(*key: Any) -> int:
    """Where in a distribution a key is, from 0 to 999; always the same."""
    return zlib.crc32("\t".join(map(str, key)).encode()) % 1000


def drawn(mean: float, deviation: float, place: int) -> float:
    """The number at a place in a normal distribution."""
    return mean + deviation * statistics.NormalDist().inv_cdf((place + 0.5) / 1000)


@dataclass(frozen=True)
class Drawn:
    """Numbers of a normal distribution, always the same for a key."""

    mean: float
    deviation: float
    within_one: bool

    def numbers(self, keys: Sequence[Sequence[str]], *, as_text: bool) -> list[Any]:
        """A number for each key; in cells it is text."""
        known: list[Any] = []
        for place in range(1000):
            number = drawn(self.mean, self.deviation, place)
            if self.within_one:
                number = min(1.0, max(0.0, number))
            known.append(float(f"{number:.3g}"))
        if as_text:
            known = [f"{number:g}" for number in known]
        return [known[place_of(*key)] for key in keys]

    def source(self, key: str) -> str:
        """Python source of the number for the key whose parts another source gives; it calls `drawn`."""
        number = f"drawn({self.mean}, {self.deviation}, place_of({key}))"
        bounded = f"min(1.0, max(0.0, {number}))" if self.within_one else number
        return f'float(format({bounded}, ".3g"))'
