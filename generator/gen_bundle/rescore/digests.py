"""What files hold, in a few characters: the address of a result is made of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from gen_bundle.zips.reading import digest
from gen_bundle.zips.tree import ignore_count
from gen_bundle.zips.unpacking import is_zip


def digest_of(path: Path | None) -> str | None:
    """SHA-256 of a zip's bytes, or of the names and contents of a folder's files or of another single file.

    A file that is not a zip is uploaded under its name, so the name counts; a zip's name does not.

    Raises:
        OSError: something cannot be read.
    """
    if path is None:
        return None
    if is_zip(path):
        return _of_file(path)
    files = {path.name: path} if path.is_file() else _files(path)
    return digest_of_value({name: _of_file(file) for name, file in files.items()})


def digest_of_value(value: object) -> str:
    """SHA-256 of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _files(folder: Path) -> dict[str, Path]:
    return {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}


def _of_file(file: Path) -> str:
    with file.open("rb") as opened:
        return digest(opened, ignore_count)
