"""The files that submitted code wrote: taken over one by one, regular files alone."""

import shutil
import stat
from pathlib import Path
from typing import Iterator, List, Tuple

from scoring_kit.base.submissions import MAX_BYTES, MAX_FILES
from scoring_kit.errors import Problems, shown
from scoring_kit.submission_files import MAX_FOLDERS, PROGRAM_FILES, TOO_DEEP


def take_over(written: Path, target: Path, problems: Problems) -> List[str]:
    """Copy what was written to the new folder `target`; all that is not taken goes into `problems`.

    The code that wrote it has ended, so that nothing changes meanwhile. Links are never followed.

    Returns:
        The names of the files, sorted, `/` between folders.
    """
    target.mkdir(parents=True)
    names: List[str] = []
    left = MAX_BYTES
    try:
        for name, path, size in _entries(written, problems):
            left -= size
            if len(names) >= MAX_FILES:
                problems.error("predictions", f"are more than {MAX_FILES} files", f"at most {MAX_FILES}")
                break
            if left < 0:
                problems.error("predictions", f"are more than {MAX_BYTES / 1e6:g} MB", "less")
                break
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(path), str(target / name))
            names.append(name)
    except OSError as error:
        problems.error("predictions", f"cannot be read ({error.strerror})", "files and folders that can be read")
    if not names and not problems.found:
        what = "are missing: the code ended without writing a file"
        problems.error("predictions", what, "files in the output folder")
    return sorted(names)


def _entries(folder: Path, problems: Problems) -> Iterator[Tuple[str, Path, int]]:
    """The regular files: name, place and size in bytes."""
    if folder.is_symlink():
        problems.error("the output folder", "is a link", "the folder that the code was given")
        return
    waiting = [folder]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            name = path.relative_to(folder).as_posix()
            status = path.lstat()
            if name in PROGRAM_FILES:
                problems.warn(name, "is a name that the platform uses itself; this file is left out")
            elif not _is_text(name):
                problems.error(shown(name), "has a name that is not UTF-8", "letters, digits, - and _")
            elif stat.S_ISDIR(status.st_mode) and name.count("/") < MAX_FOLDERS:
                waiting.append(path)
            elif stat.S_ISDIR(status.st_mode):
                problems.error(shown(name), *TOO_DEEP)
            elif not stat.S_ISREG(status.st_mode):
                what = "is a link" if stat.S_ISLNK(status.st_mode) else "is not a regular file"
                problems.error(shown(name), what, "only regular files and folders")
            else:
                yield name, path, status.st_size


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
