"""Opening a zip the way the platform does, without writing anything, and noting what is odd about it."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import IO

from gen_bundle.zips.bounds import BUNDLE
from gen_bundle.zips.tree import CHUNK, Node, PlaceError, Tree, place, unpacked_name
from gen_bundle.zips.unpacking import UNREADABLE

ZIP64_EXTRA = b"\x01\x00"
# The small members of a zip are read many times: so many bytes of them stay in memory.
MOST_KEPT = 1024 * 1024


@dataclass
class Archive:
    """A zip's members and what unpacking it runs into.

    Attributes:
        failures: what makes unpacking fail, in the order of the members: (member or None, reason).
        replaced: files that a later member of the same name replaces with other content.
        kept: bytes of members that stay in memory.
        bombs: members whose size is out of all proportion to their packed size.
    """

    members: list[zipfile.ZipInfo] = field(default_factory=list)
    tree: Tree = field(default_factory=Tree)
    failures: list[tuple[str | None, str]] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    bombs: list[str] = field(default_factory=list)
    zip64: bool = False
    links: list[str] = field(default_factory=list)
    kept: int = 0


def digest(stream: IO[bytes], tick: Callable[[int], None]) -> str:
    """SHA-256 of a stream, which also verifies a zip member's checksum; `tick` hears of every chunk."""
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


def open_archive(source: IO[bytes], tick: Callable[[int], None], held: ExitStack) -> Archive:
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
        _unpack(found, opened, member, tick)
    return found


def _unpack(found: Archive, opened: zipfile.ZipFile, member: zipfile.ZipInfo, tick: Callable[[int], None]) -> None:
    node: Node | None = None
    try:
        node, old = place(found.tree.root, member, opened)
        node.tick = tick
        if BUNDLE.is_bomb(member.file_size, member.compress_size):
            found.bombs.append(member.filename)
            node.open = None
            return
        with opened.open(member) as stream:
            node.sha256 = _kept(found, node, stream, tick) or digest(stream, tick)
        if old is not None and old.sha256 != node.sha256:
            found.replaced.append(unpacked_name(member))
    except (PlaceError, *UNREADABLE) as error:
        found.failures.append((member.filename, str(error)))
        if node is not None:
            node.open = None
        return
    if (member.external_attr >> 28) == 0o12 and not member.is_dir():
        found.links.append(member.filename)


def _kept(found: Archive, node: Node, stream: IO[bytes], tick: Callable[[int], None]) -> str | None:
    """The SHA-256 of a small file, whose bytes are kept; None for a folder, and where there is no room for them."""
    if node.is_folder or found.kept + node.size > MOST_KEPT:
        return None
    data = stream.read(MOST_KEPT + 1)  # more may be inflated than the zip says, if it is not bounded here
    found.kept += len(data)
    tick(len(data))
    node.open = partial(io.BytesIO, data)
    return hashlib.sha256(data).hexdigest()


def _find_overlaps(found: Archive, opened: zipfile.ZipFile) -> None:
    """Members that share bytes; newer versions of zipfile refuse them, older ones inflate them again and again."""
    placed = sorted(found.members, key=lambda member: member.header_offset)
    for one, following in pairwise(placed):
        if one.header_offset + 30 + one.compress_size > following.header_offset:
            found.failures.append((one.filename, "it overlaps the next member"))
            return
    if placed and placed[-1].header_offset + 30 + placed[-1].compress_size > opened.start_dir:
        found.failures.append((placed[-1].filename, "it overlaps the directory of the zip"))
