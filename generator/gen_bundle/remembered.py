"""What gen-bundle remembers between its runs: below $XDG_STATE_HOME, for this user alone."""

import contextlib
import hashlib
import os
from pathlib import Path

KNOWN = "known.txt"


def state_folder() -> Path:
    """Where it is remembered.

    Raises:
        RuntimeError: this user has no home folder.
    """
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "gen-bundle"


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_known(digest: str) -> bool:
    """Whether this user has built it, or let it run, on this machine."""
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
