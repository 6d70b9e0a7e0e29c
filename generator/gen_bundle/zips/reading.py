"""Opening a zip the way the platform does, without writing anything, and noting what is odd about it."""

import hashlib
import io
import math
import os
import stat
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Literal, cast

from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.tree import CHUNK, MAX_NAME_BYTES, Node, OnServer, Tree
from gen_bundle.zips.unpacking import UNREADABLE
from gen_bundle.zips.writing import JUNK

MAX_PATH_BYTES = 4078  # 4095 less the name of the temporary folder
ZIP64_EXTRA = b"\x01\x00"
# The small members of a zip are read many times: so many bytes of them stay in memory.
MOST_KEPT = 1024 * 1024
# Zips inside the bundle are copied to where they can be searched: in memory up to this size, then on disk.
IN_MEMORY = 16 * 1024 * 1024
Tick = Callable[[int], None]


def digest(stream: IO[bytes], tick: Tick) -> str:
    """SHA-256 of a stream, which also verifies a zip member's checksum; `tick` is given the size of each chunk."""
    state = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        state.update(chunk)
        tick(len(chunk))
    return state.hexdigest()


def sha256_of(node: Node) -> str:
    """SHA-256 of a file, computed once; empty for what cannot be opened."""
    if node.sha256 is None and node.open is not None:
        with node.open() as stream:
            node.sha256 = digest(stream, node.tick)
    return node.sha256 or ""


@dataclass
class Archive:
    """A zip's members and what unpacking it runs into.

    Attributes:
        failures: what makes unpacking fail, in the order of the members: (member or None, reason).
        replaced: files that a later member of the same name replaces with other content.
        bombs: members whose size is out of all proportion to their packed size.
        links: members that are symbolic links.
        kept: bytes of members that stay in memory.
    """

    members: list[zipfile.ZipInfo] = field(default_factory=list)
    tree: Tree = field(default_factory=Tree)
    failures: list[tuple[str | None, str]] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    bombs: list[str] = field(default_factory=list)
    zip64: bool = False
    links: list[str] = field(default_factory=list)
    kept: int = 0


def open_archive(source: IO[bytes], tick: Tick, held: ExitStack) -> Archive:
    """Read a zip: every member is streamed once, so that a broken one is found.

    The archive stays open, for its members to be read, until `held` is closed.
    """
    found = Archive()
    try:
        opened = held.enter_context(zipfile.ZipFile(source))
    except UNREADABLE as error:
        found.failures.append((None, str(error)))
        return found
    found.members = opened.infolist()
    found.zip64 = opened.start_dir > zipfile.ZIP64_LIMIT or any(
        member.extra[:2] == ZIP64_EXTRA or member.file_size > zipfile.ZIP64_LIMIT for member in found.members
    )
    _find_overlaps(found, opened)
    for member in found.members:
        _read_member(found, opened, member, tick)
    return found


def _find_overlaps(found: Archive, opened: zipfile.ZipFile) -> None:
    """Members that share bytes; newer versions of zipfile refuse them, older ones inflate them again and again."""
    placed = sorted(found.members, key=lambda member: member.header_offset)
    ends = [(member, member.header_offset + 30 + member.compress_size) for member in placed]
    for (member, end), following in zip(ends, placed[1:], strict=False):
        if end > following.header_offset:
            found.failures.append((member.filename, "it overlaps the next member"))
            return
    if ends and ends[-1][1] > opened.start_dir:
        found.failures.append((placed[-1].filename, "it overlaps the directory of the zip"))


def _read_member(found: Archive, opened: zipfile.ZipFile, member: zipfile.ZipInfo, tick: Tick) -> None:
    node: Node | None = None
    try:
        node, old = _place(found.tree.root, member, opened)
        node.tick = tick
        if BUNDLE.is_bomb(member.file_size, member.compress_size):
            found.bombs.append(member.filename)
            node.open = None
            return
        with opened.open(member) as stream:
            if node.is_folder or found.kept + node.size > MOST_KEPT:
                node.sha256 = digest(stream, tick)
            else:  # a small file, whose bytes are kept
                data = stream.read(MOST_KEPT + 1)  # more may be inflated than the zip says, if it is not bounded here
                found.kept += len(data)
                node.open = partial(io.BytesIO, data)
                node.sha256 = digest(io.BytesIO(data), tick)
        if old is not None and old.sha256 != node.sha256:
            found.replaced.append("/".join(_parts(member)))
    except (PlaceError, *UNREADABLE) as error:
        found.failures.append((member.filename, str(error)))
        if node is not None:
            node.open = None
        return
    if node.is_link:
        found.links.append(member.filename)


class PlaceError(Exception):
    """A member that cannot be written to disk; the upload fails there."""


def _parts(member: zipfile.ZipInfo) -> list[str]:
    """Where zipfile puts a member: without root, empty, `.` and `..` parts."""
    return [part for part in member.filename.split("/") if part not in ("", ".", "..")]


def _place(root: Node, member: zipfile.ZipInfo, archive: zipfile.ZipFile) -> tuple[Node, Node | None]:
    """Put a member where unpacking would put it; returns it, and the file that it replaces, if any.

    Raises:
        PlaceError: the name is too long, or is a file where a folder is needed or the reverse.
    """
    parts = _parts(member)
    sizes = [len(os.fsencode(part)) for part in parts]
    if max(sizes, default=0) > MAX_NAME_BYTES or sum(sizes) + len(sizes) > MAX_PATH_BYTES:
        raise PlaceError("its name is too long for a file system")
    node = root
    for part in parts if member.is_dir() else parts[:-1]:
        node = _children(node).setdefault(part, Node(children={}))
    siblings = _children(node)
    if member.is_dir():
        return node, None
    if not parts:
        raise PlaceError("its name has only dots")
    old = siblings.get(parts[-1])
    if old is not None and old.is_folder:
        raise PlaceError("a folder of that name exists already")
    is_link = stat.S_ISLNK(member.external_attr >> 16)
    new = Node(size=member.file_size, open=lambda: archive.open(member), is_link=is_link)
    siblings[parts[-1]] = new
    return new, old


def _children(node: Node) -> dict[str, Node]:
    if node.children is None:
        raise PlaceError("a file is in the place of a folder that it needs")
    return node.children


@dataclass
class Unpacked:
    """A program or data as the worker unpacks them: a folder (which the upload zips), a zip, or something else."""

    form: Literal["folder", "zip", "no zip", "server"]
    tree: Tree = field(default_factory=Tree)
    fault: str | None = None

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.tree.root.files()]

    @property
    def wrapping_folder(self) -> str | None:
        """The one folder that holds everything, where there is one (junk aside)."""
        tops = {name: node for name, node in (self.tree.root.children or {}).items() if name not in JUNK}
        folders = [name for name, node in tops.items() if node.is_folder]
        return folders[0] if len(tops) == len(folders) == 1 else None


def unpack(found: Node | OnServer, tick: Tick, held: ExitStack) -> Unpacked:
    """Unpack what a path leads to; what is opened stays so until `held` is closed."""
    if isinstance(found, OnServer):
        return Unpacked("server")
    if found.is_folder:
        return Unpacked("folder", Tree(found))
    if found.open is None:
        return Unpacked("no zip", fault="it is not read, since it is inflated out of all proportion")
    if found.is_link:
        fault = "it is a symbolic link, which is unpacked as a text file with the link's target"
        return Unpacked("no zip", fault=fault)
    if not found.size:
        return Unpacked("no zip", fault="it is empty")
    with found.open() as stream:
        archive = open_archive(searchable(stream, held), tick, held)
    if archive.bombs:
        return Unpacked("zip", archive.tree, f"{archive.bombs[0]} is inflated out of all proportion")
    if BUNDLE.is_bomb(sum(member.file_size for member in archive.members), found.size):
        return Unpacked("zip", archive.tree, "it is inflated out of all proportion")
    if not archive.failures:
        return Unpacked("zip", archive.tree)
    member, reason = archive.failures[0]
    if member is None:
        return Unpacked("no zip", archive.tree, reason)
    named = f"{member}: " if member else ""
    return Unpacked("zip", archive.tree, f"{named}{reason}")


def searchable(stream: IO[bytes], held: ExitStack, most: float = math.inf) -> IO[bytes]:
    """A copy that can be read from any place; it lasts until `held` is closed.

    Raises:
        ValueError: it is larger than the number of bytes allowed.
    """
    copy = cast("IO[bytes]", tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115 - `held` closes it
    held.callback(copy.close)
    while chunk := stream.read(CHUNK):
        copy.write(chunk)
        if copy.tell() > most:
            raise ValueError("inflated out of all proportion")
    copy.seek(0)
    return copy
