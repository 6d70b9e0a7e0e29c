"""What every fork of the worker needs."""

import ctypes
import os
import signal
import sys

STREAMS = (1, 2)
"""Standard output and standard error."""
_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when its parent ends."""
_libc = ctypes.CDLL(None)


def die_with(parent: int) -> None:
    """Let the system kill this process when `parent` ends, of which it is a fork."""
    _libc.prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def flush() -> None:
    """Write what Python still holds of standard output and standard error."""
    sys.stdout.flush()
    sys.stderr.flush()
