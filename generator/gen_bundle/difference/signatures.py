"""Published results: signatures, taken apart and compared, as scoring_kit's `signature` writes them; and figures."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

# The parts that every signature has; the others are the scorers' settings and the versions of libraries.
MEANINGS = {
    "competition": "the competition",
    "tasks": "the tasks that were scored",
    "version": "the version of the scoring program",
    "program": "the code of the scoring program",
    "reference": "the reference data (gold)",
}
SIGNATURE = re.compile(r"competition:[^\s|]+(?:\|[^\s|:]+:[^\s|]*)*\|reference:\w+")
VERSION = re.compile(r"v?\d+(\.\d+)+\S*")


def parse_signature(line: str) -> dict[str, str]:
    """The parts of a signature by name, in its order.

    Raises:
        ValueError: it is not a signature.
    """
    if not SIGNATURE.fullmatch(line.strip()):
        raise ValueError("expected a signature: competition:NAME|tasks:…|…|reference:…")
    return dict(part.split(":", 1) for part in line.strip().split("|"))


@dataclass(frozen=True)
class Setting:
    """A part of the signature that differs; None where one of the two does not have it."""

    name: str
    old: str | None
    new: str | None

    @property
    def meaning(self) -> str:
        """What the part is, in words."""
        if self.name in MEANINGS:
            return MEANINGS[self.name]
        if "." not in self.name and all(VERSION.fullmatch(value) for value in (self.old, self.new) if value):
            return f"the library {self.name}"
        return f"the setting {self.name}"


def differing_settings(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Setting]:
    """The parts that differ: the common ones first, in the order of a signature, then the scorers' and libraries'."""
    for name in dict.fromkeys([*MEANINGS, *old, *new]):
        if old.get(name) != new.get(name):
            yield Setting(name, old.get(name), new.get(name))


def allowance(number: str) -> float:
    """How far a printed figure may be off: half a unit of its last digit.

    Raises:
        decimal.InvalidOperation: it is not a number.
    """
    return 0.5 * 10.0 ** int(Decimal(number).as_tuple().exponent) + 1e-9
