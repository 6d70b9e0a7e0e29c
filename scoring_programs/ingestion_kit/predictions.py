"""The files that submitted code wrote: taken over one by one, regular files alone."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Iterator, List, Tuple

from scoring_kit.errors import Problems, shown
from scoring_kit.submission_files import MAX_FOLDERS, PROGRAM_FILES, TOO_DEEP
from scoring_kit.submission_zip import MAX_BYTES, MAX_FILES


def take_over(written: Path, target: Path, problems: Problems) -> List[str]:
    """Copy what was written to the new folder `target`; all that is not taken goes into `problems`.

    The code that wrote it has ended, so that nothing changes meanwhile. Links are never followed.

    Returns:
        The names of the files, sorted, `/` between folders.
    """
    target.mkdir(parents=True)
    names: List[str] = []
    left = MAX_BYTES
    for name, path, status in _entries(written, problems):
        left -= status.st_size
        if len(names) >= MAX_FILES:
            problems.error("predictions", f"are more than {MAX_FILES} files", f"at most {MAX_FILES}")
            break
        if left < 0:
            problems.error("predictions", f"are more than {MAX_BYTES / 1e6:g} MB", "less")
            break
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with _opened(path) as source, place.open("xb") as out:
            shutil.copyfileobj(source, out)
        names.append(name)
    if not names and not problems.found:
        problems.error(
            "predictions", "are missing: the code ended without writing a file", "files in the output folder"
        )
    return sorted(names)


def _entries(folder: Path, problems: Problems) -> Iterator[Tuple[str, Path, os.stat_result]]:
    """The regular files, with their names."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        for entry in sorted(os.scandir(str(here)), key=lambda one: one.name):
            path = here / entry.name
            name = path.relative_to(folder).as_posix()
            status = entry.stat(follow_symlinks=False)
            if name in PROGRAM_FILES:
                problems.warn(name, "is a name that the platform uses itself; this file is left out")
            elif not _is_text(name):
                problems.error(shown(name), "has a name that is not UTF-8", "letters, digits, - and _")
            elif stat.S_ISDIR(status.st_mode):
                if name.count("/") >= MAX_FOLDERS:
                    problems.error(shown(name), *TOO_DEEP)
                else:
                    waiting.append(path)
            elif not stat.S_ISREG(status.st_mode):
                kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"
                problems.error(shown(name), f"is {kind}", "only regular files and folders")
            else:
                yield name, path, status


def _opened(path: Path):  # type: ignore[no-untyped-def]
    return os.fdopen(os.open(str(path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
