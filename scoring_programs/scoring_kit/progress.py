"""Progress of long steps as plain lines on stderr, which Codabench shows in its log panel. Never holds a text."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST_AFTER = 1.0  # seconds: quicker steps print nothing
EVERY = 5.0
PAUSE = 0.25  # of the time so far, so that a long step prints little more than a short one: long logs get lost


@contextmanager
def progress(
    step: str, total: int, unit: str, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[int], None]]:
    """Report a step that may take long.

    `with progress("Embedding", 900, "texts") as advance:` and then `advance(1)` after each of the 900.

    Args:
        step: what is being done, in words.
        total: how many units there are.
        unit: what is counted, in the plural.
        clock: seconds that only grow.

    Yields:
        A function that takes the number of units just finished.
    """
    started = clock()
    last_line = started + FIRST_AFTER - EVERY
    done = 0

    def advance(units: int) -> None:
        nonlocal done, last_line
        done += units
        now = clock()
        if now - last_line >= max(EVERY, PAUSE * (now - started)) and done < total:
            last_line = now
            remaining = (now - started) * (total - done) / done if done else 0.0
            _say(f"{step}: {done} of {total} {unit}, about {remaining:.0f} s left")

    yield advance
    seconds = clock() - started
    if seconds >= FIRST_AFTER:
        _say(f"{step}: {done} of {total} {unit} in {seconds:.1f} s")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def say_if_long(what: str, started: float) -> None:
    """Report a step that could not be followed, once it is over, if it took longer than a second.

    Args:
        what: what was done.
        started: `time.monotonic()` before it.
    """
    seconds = time.monotonic() - started
    if seconds >= FIRST_AFTER:
        _say(f"{what} in {seconds:.1f} s")
