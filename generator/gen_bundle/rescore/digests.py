"""What files hold, in a few characters: the address of a result is made of them."""

import hashlib
import json
from pathlib import Path

from gen_bundle.zips.reading import digest
from gen_bundle.zips.tree import ignore_count
from scoring_kit.base.submissions import is_zip


def digest_of(path: Path | None) -> str | None:
    """SHA-256 of a zip's bytes, or of the names and contents of a folder's files or of another single file.

    A file that is not a zip is uploaded under its name, so the name counts; a zip's name does not. What is neither file
    nor folder is like nothing else.

    Raises:
        OSError: something cannot be read.
    """
    if path is None:
        return None
    if is_zip(path):
        return _of_file(path)
    if path.is_file():
        return digest_of_value({path.name: _of_file(path)})
    return digest_of_value(_of_folder(path) if path.is_dir() else str(path.absolute()))


def digest_of_value(value: object) -> str:
    """SHA-256 of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _of_folder(folder: Path) -> dict[str, str]:
    found = [file for file in sorted(folder.rglob("*")) if file.is_file() or file.is_symlink()]
    return {file.relative_to(folder).as_posix(): _of_entry(file) for file in found}


def _of_entry(file: Path) -> str:
    """The digest of a file; that of a link to it differs, because a submission with links is refused."""
    content = _of_file(file) if file.is_file() else ""
    return f"link {content}" if file.is_symlink() else content


def _of_file(file: Path) -> str:
    with file.open("rb") as opened:
        return digest(opened, ignore_count)
