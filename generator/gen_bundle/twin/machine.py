"""Faults of the machine or its engine, which another attempt may not meet, and not of what was run."""

import errno
from collections.abc import Iterator

from gen_bundle.twin.engines import EngineError

LIMITS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""A full or failing disk, too little memory, too many open files."""


def is_machine_fault(error: BaseException) -> bool:
    """Whether an error, or what led to it, is the machine's or its engine's."""
    return any(
        isinstance(each, EngineError) or (isinstance(each, OSError) and each.errno in LIMITS) for each in _chain(error)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
