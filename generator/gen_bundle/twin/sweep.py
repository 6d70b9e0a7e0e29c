"""Leaving nothing behind: what a dry run owns carries a mark, and what a dead one left is removed by the next."""

import contextlib
import os
import secrets
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.twin.layout import our_user, remove_tree, temporary_folder

LABEL = "gen-bundle.dry-run"
OWNER_LABEL = "gen-bundle.dry-run.owner"
PREFIX = "gen-bundle-dry-run-"
_OWNER_FILE = "owner"


def new_run_id() -> str:
    """A name for this dry run that no other has."""
    return secrets.token_hex(6)


def owner_text() -> str:
    """Who owns what this dry run makes: machine, process and when that process began."""
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def is_abandoned(owner: str) -> bool:
    """Whether the owning process is certainly gone; not certain is no."""
    machine, _, rest = owner.rpartition(":")[0].rpartition(":")
    began = owner.rpartition(":")[2]
    if machine != socket.gethostname() or not rest.isdecimal():
        return False
    return _began(int(rest)) != began


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder that is removed at the end; those of dry runs that were killed are removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            if _is_our_folder(left) and is_abandoned((left / _OWNER_FILE).read_text(encoding="utf-8")):
                remove_tree(left)
    with contextlib.ExitStack() as held:
        try:
            folder = held.enter_context(temporary_folder(PREFIX))
            (folder / _OWNER_FILE).write_text(owner_text(), encoding="utf-8")
        except OSError as error:
            raise UserError(
                f"{error.filename or tempfile.gettempdir()}: no temporary folder can be made ({error.strerror}). "
                "Free some space, allow writing there, or name another folder in the environment variable TMPDIR."
            ) from error
        yield folder


def _is_our_folder(path: Path) -> bool:
    """Whether a dry run of ours made it; anybody may write into the folder of temporary files."""
    status = path.lstat()
    ours = stat.S_ISDIR(status.st_mode) and our_user() in (None, status.st_uid)
    return ours and (path / _OWNER_FILE).is_file()


def _began(process: int) -> str:
    """When a process began, in the kernel's own count; `gone`, or `alive` where the system does not show it."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        pass
    if not hasattr(os, "killpg"):
        return "alive"  # on Windows there is no signal 0: the number of Ctrl-C is
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return "gone"
    except PermissionError:
        return "alive"
    return "alive"
