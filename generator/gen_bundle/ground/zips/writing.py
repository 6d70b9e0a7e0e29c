"""Writes zips whose bytes depend on their content alone: sorted members, fixed times and modes."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Literal, TypeVar

from repro_zipfile import ReproducibleZipFile

from gen_bundle.ground.errors import UserError
from scoring_kit.base.submissions import is_junk

Members = Mapping[str, bytes | Path]
T = TypeVar("T")
KEEPER = ".gitkeep"
"""A file that only keeps an empty folder in git."""
LEVEL = 4
"""Of compression: a table takes a third of the default level's time, and an eighth more room."""
EARLIEST, LATEST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)


class _DatedZip(ReproducibleZipFile):
    """Keeps the fixed time of its members within what a zip can hold; `SOURCE_DATE_EPOCH=0` is before that."""

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        if isinstance(name, zipfile.ZipInfo):
            name.date_time = min(max(name.date_time, EARLIEST), LATEST)
        return super().open(name, mode, pwd, force_zip64=force_zip64)


def write_zip(target: Path | IO[bytes], members: Members, *, deflated: bool = True) -> None:
    """Write a zip with `members` (name in the zip → content, or the file that holds it), sorted by name.

    Times are `SOURCE_DATE_EPOCH` where that is set (as near as a zip can hold it), else 1980-01-01; files are 0644.
    What nobody keeps need not be `deflated`.
    """
    with _DatedZip(target, "w", compresslevel=LEVEL) as archive:
        for name in sorted(members):
            content = members[name]
            how = zipfile.ZIP_DEFLATED
            if not deflated or name.endswith(".zip"):  # of a zip, only headers shrink
                how = zipfile.ZIP_STORED
            if isinstance(content, Path):
                archive.write(content, name, how)
            else:
                archive.writestr(name, content, how)


def zipped(members: Members) -> bytes:
    """Return the bytes of a zip with `members`."""
    buffer = io.BytesIO()
    write_zip(buffer, members)
    return buffer.getvalue()


def all_files(folder: Path) -> dict[str, bytes | Path]:
    """Return every file below `folder` as zip members, sorted, nothing left out.

    Raises:
        UserError: a name that no zip can hold, or a link to a folder or to nothing, which would be left out in silence.
    """
    found: dict[str, bytes | Path] = {}
    for path in sorted(folder.rglob("*")):
        try:
            path.name.encode()
        except UnicodeEncodeError as error:
            raise UserError(f"{str(path)!a}: this name is not UTF-8. Give it another one.") from error
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path
        elif path.is_symlink():
            kind = "a link to a folder, which is not followed" if path.is_dir() else "a link that leads nowhere"
            raise UserError(f"{path}: is {kind}. Expected files and folders themselves; links to files are fine.")
    return found


def folder_members(folder: Path, prefix: str = "") -> dict[str, bytes | Path]:
    """Return all regular files below `folder` as zip members; junk is left out."""
    found = all_files(folder).items()
    return {prefix + name: path for name, path in found if not is_junk(name) and KEEPER not in name.split("/")}


def below(folder: str, members: Mapping[str, T]) -> dict[str, T]:
    """Return the members in a folder of the zip."""
    return {f"{folder}/{name}": content for name, content in members.items()}
