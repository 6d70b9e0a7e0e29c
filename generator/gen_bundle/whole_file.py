"""Writing a file so that a reader sees the old one or the new one, never half of it."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gen_bundle.errors import UserError


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A path beside `target`, whose folder is made: what is written there is to replace `target`, or is removed.

    An OSError about that path names `target`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield unfinished
    except OSError as error:
        if error.filename == str(unfinished):
            error.filename = str(target)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(target: Path, content: bytes) -> None:
    """Write a file beside its place and move it there.

    Raises:
        UserError: it cannot be written. The file that was there before is unchanged.
    """
    try:
        with beside(target) as unfinished:
            unfinished.write_bytes(content)
            unfinished.replace(target)
    except OSError as error:
        raise UserError(
            f"{target}: cannot be written ({error.strerror or error}). Expected a writable folder with free space."
        ) from error
