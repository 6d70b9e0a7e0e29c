"""One fault of a file, recorded in two ways: for its sender with the value, for the organisers without it.

Formats that gold and submissions share have one reader, which passes each fault to a function made here.
"""

from typing import Callable

from scoring_kit.errors import Problems, shown

Fault = Callable[[str, str, str, str], None]
"""Called with where it is (`file:line`), the broken rule, the value that breaks it (or ""), and what is expected."""


def participant_faults(problems: Problems) -> Fault:
    """A fault of a submission: rule, value and expectation."""

    def record(where: str, rule: str, value: str, expected: str) -> None:
        problems.error(where, f"{rule} {shown(value)}" if value else rule, expected)

    return record


def organiser_faults(problems: Problems) -> Fault:
    """A fault of the reference data: place and rule alone, because participants read this message in their log."""

    def record(where: str, rule: str, value: str, expected: str) -> None:
        problems.error(where, rule, "Look at this line of the reference data")

    return record
