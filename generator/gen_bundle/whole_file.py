"""Writing a file so that a reader sees the old one or the new one, never half of it."""

import os
from pathlib import Path

from gen_bundle.errors import UserError


def write_whole(target: Path, content: bytes) -> None:
    """Write a file beside its place and move it there; its folder must exist.

    Raises:
        UserError: there is no room or leave to write it. What was there before is still there.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        try:
            unfinished.write_bytes(content)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"{target}: cannot be written ({error.strerror or error}). Expected: a folder with room and leave to write."
        ) from error
