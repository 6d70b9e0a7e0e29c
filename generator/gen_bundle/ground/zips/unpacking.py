"""Unpacking zips from strangers: no links, no names that leave the folder, and bounds counted while reading.

The sizes in a zip's directory are claims of its sender, so nothing here relies on them: every byte is counted as
it is decompressed, and the unpacking stops at the bound.
"""

import re
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

from scoring_kit.base.submissions import MAX_BYTES, MAX_FILES, UNREADABLE

MIB = 1024**2


@dataclass(frozen=True)
class Bounds:
    """How much a zip may hold.

    Attributes:
        members: Files and folders.
        total_bytes: Bytes of all files together, decompressed.
        ratio: Decompressed bytes for each compressed one; None: any.
        ratio_from: Bytes decompressed before the ratio counts: small files of one repeated character are honest
            (deflate reaches 1032).
    """

    members: int
    total_bytes: int
    ratio: int | None = None
    ratio_from: int = 0

    def is_bomb(self, plain: int, packed: int) -> bool:
        """Return whether more bytes came out of the packed ones than honest data would give."""
        return self.ratio is not None and plain > self.ratio_from and plain > self.ratio * max(packed, 1)


# An organiser's bundle and what is packed in it, in a dry run and in the check. Codabench's default quota for a user is
# 15 GB.
BUNDLE = Bounds(members=200_000, total_bytes=15 * 1024 * MIB, ratio=200, ratio_from=2 * 1024 * MIB)
# A participant's submission: the same as at home.
SUBMISSION = Bounds(members=MAX_FILES, total_bytes=MAX_BYTES)
# Of both: the platform's worker copies folders by recursion, which ends below five hundred inside each other.
MAX_FOLDERS = 400


CHUNK = 64 * 1024


class ArchiveError(Exception):
    """A zip that is not unpacked; the text says which member and why."""


_DRIVE = re.compile(r"[A-Za-z]:")


def unpack(archive: Path, into: Path, bounds: Bounds) -> None:
    """Unpack a zip into a folder, which is made. Permissions in the zip are dropped, as Python's zipfile does.

    Args:
        archive: The zip.
        into: The folder; names in it are overwritten by later members of the same name.
        bounds: Where to stop.

    Raises:
        ArchiveError: The file is not a zip or is damaged, a member is a link, a device or encrypted, a name is
            absolute, holds `..` or is not a name here, or a bound is exceeded. What was unpacked so far stays.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            _unpack_members(opened, into, bounds)
    except UNREADABLE as error:
        raise ArchiveError(f"{archive.name} cannot be read as a zip: {error}") from error


def _unpack_members(opened: zipfile.ZipFile, into: Path, bounds: Bounds) -> None:
    members = opened.infolist()
    if len(members) > bounds.members:
        raise ArchiveError(f"{len(members)} files and folders; at most {bounds.members} are unpacked")
    problems = [problem for member in members if (problem := _hostile(member))]
    if problems:
        if len(problems) > 10:
            problems[10:] = [f"and {len(problems) - 10} more"]
        raise ArchiveError("\n".join(problems))
    into.mkdir(parents=True, exist_ok=True)
    written = compressed = 0
    made = {str(into)}
    for member in members:
        # Texts, since submissions are many and of many files: as paths they would take half of the time.
        folder, _, name = "/".join([str(into), *parts_of(member.filename)]).rpartition("/")
        if member.is_dir():
            folder = f"{folder}/{name}"
        if folder not in made:
            Path(folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        if member.is_dir():
            continue
        compressed += member.compress_size
        with opened.open(member) as source, open(f"{folder}/{name}", "wb") as out:  # noqa: PTH123
            while chunk := source.read(CHUNK):
                written += len(chunk)
                if written > bounds.total_bytes:
                    most = f"{bounds.total_bytes / 1e6:g} MB"
                    raise ArchiveError(f"{member.filename!r}: the zip holds more than {most} when unpacked")
                if bounds.is_bomb(written, compressed):
                    what = f"more than {bounds.ratio} bytes come out for each byte of the zip (a zip bomb)"
                    raise ArchiveError(f"{member.filename!r}: {what}; stopped there")
                out.write(chunk)


def _hostile(member: zipfile.ZipInfo) -> str | None:
    """Why a member must not be unpacked, or None."""
    name = member.filename
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return f"{name!r} is {'a link' if kind == stat.S_IFLNK else 'not a file'}; only files and folders are unpacked"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return f"{name!r} is an absolute name; names must be relative to the zip"
    if ".." in re.split(r"[/\\]", name):
        return f"{name!r} leaves the folder with '..'"
    parts = parts_of(name)
    if "\0" in name or not parts:
        return f"{name!r} is not a file name"
    if len(parts) > MAX_FOLDERS:
        return f"{name[:60]!r}…: more than {MAX_FOLDERS} folders inside each other, more than the worker can copy"
    return None


def parts_of(name: str) -> list[str]:
    """Return the folders of a member and its own name, where zipfile puts it: without root and parts of dots alone."""
    return [part for part in name.split("/") if part not in ("", ".", "..")]
