"""Files on this machine: written whole or not at all, and what is kept there between runs, for this user alone."""

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gen_bundle.ground.errors import UserError


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


KNOWN = "known.txt"


def state_folder() -> Path:
    """Return where it is remembered.

    Raises:
        RuntimeError: this user has no home folder.
    """
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "gen-bundle"


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_known(digest: str) -> bool:
    """Return whether this user has built it, or let it run, on this machine."""
    try:
        return digest in (state_folder() / KNOWN).read_text(encoding="ascii").split()
    except (OSError, RuntimeError, UnicodeDecodeError):
        return False


def remember(digest: str) -> None:
    """Keep a digest for `is_known`; where nothing can be kept, the user is asked again."""
    if is_known(digest):
        return
    with contextlib.suppress(OSError, RuntimeError):
        append_line(state_folder() / KNOWN, digest)


def append_line(file: Path, line: str) -> None:
    """Add a line to a file that only this user can read; an OSError where that is not possible."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as lines:
        lines.write(f"{line}\n".encode())


def state_file(kind: str, server: str, competition: int) -> Path:
    """Return the file of a kind for one competition on one server."""
    return state_folder() / kind / f"{urlsplit(server).netloc.replace(':', '-')}-{competition}.json"


@contextmanager
def private() -> Iterator[None]:
    """Files and folders that are made meanwhile are their owner's alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_json(file: Path, content: Any) -> None:
    """Write a file, and the folders that lead to it; a UserError where that is not possible."""
    with private():
        write_whole(file, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read_json(file: Path, shape: Any, advice: str = "Fetch into a new folder.", missing: Any = None) -> Any:
    """Return what a file of an earlier run holds, as it is there.

    Args:
        file: the file.
        shape: the type that it must be valid for.
        advice: what to do when it is damaged.
        missing: what counts where there is no file; None: the file must be there.

    Raises:
        UserError: it cannot be read, or has another shape.
    """
    from pydantic import TypeAdapter  # here, since it takes long to import

    if missing is not None and not file.exists():
        return missing
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        TypeAdapter(shape).validate_python(content)
    except (OSError, ValueError, RecursionError):
        raise UserError(f"{file}: is damaged. {advice}") from None
    return content
