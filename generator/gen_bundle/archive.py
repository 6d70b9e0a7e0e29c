"""Writes zips whose bytes depend on their content alone: sorted members, fixed times and modes."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from repro_zipfile import ReproducibleZipFile

Members = Mapping[str, bytes | Path]


def write_zip(target: Path | IO[bytes], members: Members) -> None:
    """Write a zip with `members` (name in the zip → content, or the file that holds it), sorted by name.

    Times are `SOURCE_DATE_EPOCH` where that is set, else 1980-01-01; files are 0644.
    """
    with ReproducibleZipFile(target, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            content = members[name]
            if isinstance(content, Path):
                archive.write(content, name)
            else:
                archive.writestr(name, content)


def zipped(members: Members) -> bytes:
    """The bytes of a zip with `members`."""
    buffer = io.BytesIO()
    write_zip(buffer, members)
    return buffer.getvalue()


def all_files(folder: Path) -> dict[str, bytes | Path]:
    """Every file below `folder` as zip members, nothing left out."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def folder_members(folder: Path, prefix: str = "") -> dict[str, bytes | Path]:
    """All regular files below `folder` as zip members; operating systems' and Python's litter is left out."""
    litter = {".DS_Store", "Thumbs.db", "__pycache__", "__MACOSX", ".gitkeep"}
    return {
        prefix + path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not litter.intersection(path.relative_to(folder).parts)
    }


def move_into_place(unfinished: Path, target: Path) -> None:
    """Put a finished file where it belongs, at once: a reader sees the old one or the new one, never half a file."""
    unfinished.replace(target)
