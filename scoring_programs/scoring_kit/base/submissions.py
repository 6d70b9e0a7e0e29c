"""A folder of many submissions: which there are, whose, and when they were sent; how much one of them may hold.

The press scores again what the scoring kit ranks, so both read such a folder here. Runs on Python 3.9 with the standard
library alone.
"""

import csv
import re
import struct
import zipfile
import zlib
from datetime import datetime
from fnmatch import translate
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

MAX_FILES = 10_000
MAX_BYTES = 1_000_000_000
"""Most files and folders in a submission's zip, and most bytes of them when unpacked: at home and in a dry run."""
LONGEST_CELL = 1 << 27
"""Most characters in a cell of a table, which may be a whole document."""
JUNK = (
    *(".DS_Store", "._*", "__MACOSX", "Icon\r", "Thumbs.db", "desktop.ini", ".directory", "$RECYCLE.BIN"),
    *("__pycache__", "*.py[co]", "*.egg-info", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    *(".git", ".hg", ".svn", ".idea", ".vscode", "*~", ".*.sw[a-p]", "~$*", ".~lock.*#"),
)
"""Names that systems, Python, pip, version control and editors leave beside files: never content of a competition."""
_JUNK_NAME = re.compile("|".join([translate(pattern) for pattern in JUNK]))
try:
    from lzma import LZMAError
except ImportError:  # a Python without it, whose zipfile refuses such members by itself
    LZMAError = zlib.error  # type: ignore[assignment,misc]
# NotImplementedError is a RuntimeError, a name that is not UTF-8 a ValueError; sizes beyond machine numbers overflow.
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, LZMAError, struct.error, EOFError, MemoryError),
    *(OSError, OverflowError, RuntimeError, ValueError),
)
"""Errors that zipfile raises at damaged, encrypted or unknown archives and members."""
DATED = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[ T_-]?(\d\d)[-:.h]?(\d\d)(?:[-:.m]?(\d\d))?)?")


def is_junk(path: str) -> bool:
    """Tell whether a path with slashes is, or lies in, something that `JUNK` names.

    >>> is_junk("__MACOSX/._answers.csv"), is_junk("answers.csv")
    (True, False)
    """
    return any(_JUNK_NAME.match(part) for part in path.split("/"))


def allow_long_cells() -> None:
    """Let `csv` read them: its own limit is 128 KiB, and belongs to the process, so it is set before each reading."""
    csv.field_size_limit(LONGEST_CELL)


def is_zip(path: Path) -> bool:
    """Return whether a path is a zip, by its name or its content; arrays in one are a file of their own."""
    if path.suffix.lower() == ".npz":
        return False
    try:
        return path.is_file() and (path.suffix.lower() == ".zip" or zipfile.is_zipfile(str(path)))
    except zipfile.BadZipFile:  # one of several disks; what unpacks it says so
        return True


def moment_of(name: str) -> Optional[datetime]:
    """Return the moment that the name of a folder gives, such as 2025-01-31T18-00; None where it is called otherwise.

    >>> moment_of("2025-01-31T18-00")
    datetime.datetime(2025, 1, 31, 18, 0)
    """
    match = DATED.fullmatch(name)
    try:
        return datetime.strptime("".join(match.groups("00")), "%Y%m%d%H%M%S") if match else None
    except ValueError:  # 2025-02-31
        return None


def submissions_below(
    folder: Path, team: Optional[str] = None, moment: Optional[datetime] = None
) -> Iterator[Tuple[Path, str, Optional[datetime]]]:
    """Yield every submission with the name of its zip, folder or file, and the moment of the dated folder it is in.

    A dated folder holds the entries of all teams; in a folder of a team's own, it is what that team sent then.
    """
    for path in _listed(folder):
        own = moment_of(path.name) if path.is_dir() else None
        if own is not None and team is not None:
            yield _sent(path), team, own
        elif own is not None:
            yield from submissions_below(path, None, own)
        elif team is None and path.is_dir() and _holds_dated(path):
            yield from submissions_below(path, path.name, moment)
        else:
            yield path, team or (path.name if path.is_dir() else path.stem), moment


def _holds_dated(folder: Path) -> bool:
    return any(inner.is_dir() and moment_of(inner.name) for inner in folder.iterdir())


def _sent(folder: Path) -> Path:
    """The only zip in a folder that holds nothing else, or else the folder."""
    listed = _listed(folder)
    return listed[0] if len(listed) == 1 and is_zip(listed[0]) else folder


def _listed(folder: Path) -> List[Path]:
    """Return what somebody put into a folder, by name; not what a system left there."""
    return [path for path in sorted(folder.iterdir()) if not path.name.startswith(".") and not is_junk(path.name)]
