"""Faults of the machine or its engine, which another attempt may not meet, and not of what was run."""

import errno

from gen_bundle.twin.engines import EngineError

LIMITS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""A full or failing disk, too little memory, too many open files."""


def is_machine_fault(error: BaseException) -> bool:
    """Whether an error, or what led to it, is the machine's or its engine's."""
    if isinstance(error, EngineError) or (isinstance(error, OSError) and error.errno in LIMITS):
        return True
    return error.__cause__ is not None and is_machine_fault(error.__cause__)
