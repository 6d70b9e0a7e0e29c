"""Garbage collection in a program that reads millions of small objects and makes hardly a cycle.

Runs on Python 3.9 with the standard library alone.
"""

import gc
from contextlib import contextmanager
from typing import Iterator

THRESHOLDS = (50_000, 10, 10)
"""For a whole job: looking for cycles as often as Python does by itself would take a fifth of its time."""


@contextmanager
def not_collecting() -> Iterator[None]:
    """Pause collection while a file is read: each pass goes over all that was read before, and would find nothing.

    With those passes a row would cost the more, the more rows there are.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
