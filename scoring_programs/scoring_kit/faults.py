"""One fault of a file, told in two ways: to its sender with the value, to the organisers without any.

Formats that gold and submissions share are read by one reader; it tells each fault to whoever must mend it.
"""

from __future__ import annotations

from typing import Callable

from scoring_kit.errors import Problems, shown

Fault = Callable[[str, str, str, str], None]
"""Called with where it is (`file:line`), the broken rule, the value that breaks it (or ""), and what is expected."""


def told_to_participant(problems: Problems) -> Fault:
    """A fault of a submission: rule, value and expectation."""

    def tell(where: str, rule: str, value: str, expected: str) -> None:
        problems.error(where, f"{rule} {shown(value)}" if value else rule, expected)

    return tell


def told_to_organiser(problems: Problems) -> Fault:
    """A fault of the reference data: place and rule alone, because participants read this message in their log."""

    def tell(where: str, rule: str, value: str, expected: str) -> None:
        problems.error(where, rule, "Look at this line of the reference data")

    return tell
