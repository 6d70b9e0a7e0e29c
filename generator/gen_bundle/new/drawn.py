"""Numbers that a baseline answers with: drawn, and yet the same here and in the `model.py` that holds `drawn`, too."""

import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


def drawn(mean: float, deviation: float, *key: Any) -> float:
    """A number of a normal distribution, always the same for a key."""
    digest = hashlib.blake2b("\t".join(map(str, key)).encode(), digest_size=6).digest()
    share = (int.from_bytes(digest, "big") + 0.5) / 2**48
    return mean + deviation * statistics.NormalDist().inv_cdf(share)


@dataclass(frozen=True)
class Drawn:
    """Numbers of a normal distribution, different for each key and always the same for one."""

    mean: float
    deviation: float
    within_one: bool

    def number(self, key: Sequence[str]) -> float:
        number = drawn(self.mean, self.deviation, *key)
        return float(f"{min(1.0, max(0.0, number)) if self.within_one else number:.3g}")

    def numbers(self, keys: Sequence[Sequence[str]], *, as_text: bool) -> list[Any]:
        """A number for each key; in cells it is text."""
        found = map(self.number, keys)
        return [f"{number:g}" for number in found] if as_text else list(found)

    def source(self, key: str) -> str:
        """Python source of the number for the key whose parts another source gives; it calls `drawn`."""
        number = f"drawn({self.mean}, {self.deviation}, {key})"
        bounded = f"min(1.0, max(0.0, {number}))" if self.within_one else number
        return f'float(format({bounded}, ".3g"))'
