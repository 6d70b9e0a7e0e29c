"""The files of a bundle as they lie on the platform's disk once it is unpacked, opened without writing anything."""

import hashlib
import io
import math
import os
import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import IO, Literal, NamedTuple, cast

from gen_bundle.ground.zips.unpacking import BUNDLE, parts_of
from scoring_kit.base.submissions import UNREADABLE, is_junk

CHUNK = 1024 * 1024
# What exists on any Linux server; a bundle that names such a path gets the server's file.
SERVER_FILES = {
    *("/dev/null", "/dev/zero", "/proc/version"),
    *("/etc/group", "/etc/hostname", "/etc/hosts", "/etc/os-release", "/etc/passwd", "/etc/resolv.conf"),
}
SERVER_FOLDERS = {
    *("/", "/app", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/proc", "/root"),
    *("/run", "/sbin", "/sys", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/share"),  # noqa: S108 - names
    *("/var", "/var/lib", "/var/log", "/var/tmp"),  # noqa: S108 - names
}
# The bundle is unpacked into a folder of any name below /tmp.
ABOVE_THE_BUNDLE = "/tmp"  # noqa: S108 - a path of the server, nothing is written there
MAX_NAME_BYTES = 255
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Node:
    """A file or folder, such as the bundle itself: files have a size and can be opened, folders have children by name.

    `sha256` is known once the file has been read as a whole.
    """

    size: int = 0
    open: Callable[[], IO[bytes]] | None = None
    children: "dict[str, Node] | None" = None
    is_link: bool = False
    sha256: str | None = None

    @property
    def is_folder(self) -> bool:
        return self.children is not None

    def read(self, limit: int) -> bytes:
        if self.open is None:
            return b""
        with self.open() as stream:
            return stream.read(limit)

    def walk(self) -> Iterator[tuple[str, "Node"]]:
        """Yield everything below by its name from here, in order; paths may be thousands of levels deep."""
        waiting = [("", self)]
        while waiting:
            name, node = waiting.pop()
            if name:
                yield name, node
            below = sorted((node.children or {}).items(), reverse=True)
            waiting += [(f"{name}/{child}" if name else child, found) for child, found in below]

    def files(self) -> Iterator[tuple[str, "Node"]]:
        """Yield all files below, with names relative to here."""
        for name, node in self.walk():
            if not node.is_folder:
                yield name, node

    def find(self, name: str) -> "Node | OnServer | None":
        """Return what `os.path.join(this folder, name)` leads to; None when there is nothing."""
        if _impossible(name):
            return None
        if name.startswith("/"):
            return _on_server(name)
        walked = [self]
        parts = name.split("/")
        for place_in_name, part in enumerate(parts):
            here = walked[-1]
            if here.children is None:
                return None
            if part == "..":
                if len(walked) == 1:
                    return _on_server("/".join([ABOVE_THE_BUNDLE, *parts[place_in_name + 1 :]]))
                walked.pop()
            elif part not in ("", "."):
                child = here.children.get(part)
                if child is None:
                    return None
                walked.append(child)
        return walked[-1]

    def open_error(self, name: str) -> str | None:
        """Return why opening the name as a file fails other than by its absence; None when it does not."""
        impossible = _impossible(name)
        if impossible:
            return impossible
        found = self.find(name)
        if found is not None:
            return "is a folder" if found.is_folder else None
        parts = [part for part in name.split("/") if part not in ("", ".")]
        for end in range(1, len(parts)):
            parent = self.find("/".join(parts[:end]))
            if isinstance(parent, Node) and not parent.is_folder:
                return f"goes through {'/'.join(parts[:end])}, which is a file"
        return None

    def nearest(self, name: str) -> str | None:
        """Return a file or folder whose name differs from this one only in case, or in the extension .zip."""
        wanted = name.strip("/").lower()
        alike = (wanted, f"{wanted}.zip", wanted.removesuffix(".zip"))
        for path in self.names():
            if path.lower() in alike:
                return path
        return None

    def names(self) -> Iterator[str]:
        return (name for name, _ in self.walk())


def file_of(data: bytes) -> Node:
    """Return a file of these bytes."""
    return Node(size=len(data), open=lambda: io.BytesIO(data))


class OnServer(NamedTuple):
    """A path that leads out of the bundle, to a file or folder of the server itself."""

    path: str

    @property
    def is_folder(self) -> bool:
        return self.path in SERVER_FOLDERS


def _on_server(path: str) -> OnServer | None:
    plain = os.path.normpath(path).replace("//", "/")
    if plain in SERVER_FILES or plain in SERVER_FOLDERS:
        return OnServer(plain)
    return None


def _impossible(name: str) -> str | None:
    """Why no file system can hold the name."""
    if "\0" in name:
        return "holds a NUL character"
    if not is_encodable(name):
        return "holds an unpaired surrogate, which no file name can hold"
    if any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in name.split("/")):
        return "is too long for a file name (a text instead of a path?)"
    return None


def is_encodable(text: str) -> bool:
    """Return whether a text has no lone surrogates, which YAML can write and UTF-8 cannot."""
    return text.isascii() or SURROGATE.search(text) is None


def folder_tree(folder: Path) -> Node:
    """Return the tree of an unpacked bundle; links that leave the folder, and sockets and the like, are left out.

    Raises:
        OSError: it cannot be read, or holds more than a bundle may; what a link leads to counts each time.
    """
    top: dict[str, Node] = {}
    waiting: list[tuple[Path, dict[str, Node], tuple[str, ...]]] = [(folder, top, (os.path.realpath(folder),))]
    left = BUNDLE.members
    while waiting:
        path, children, above = waiting.pop()
        for entry in sorted(path.iterdir()):
            left -= 1
            if left < 0:
                raise OSError(f"more than {BUNDLE.members} files and folders")
            real = os.path.realpath(entry) if entry.is_symlink() else f"{above[-1]}/{entry.name}"
            if real in above or os.path.commonpath([real, above[0]]) != above[0]:
                continue
            if entry.is_dir():
                below: dict[str, Node] = {}
                children[entry.name] = Node(children=below)
                waiting.append((entry, below, (*above, real)))
            elif entry.is_file():
                children[entry.name] = _file_at(entry)
    return Node(children=top)


def _file_at(path: Path) -> Node:
    return Node(size=path.stat().st_size, open=lambda: path.open("rb"))


def write_files(node: Node, target: Path) -> None:
    """Write a file, or all files of a folder, which is made even where it is empty.

    Raises:
        OSError: they cannot be read or written, or are more than a bundle may hold.
    """
    files = [(target, node)]
    if node.is_folder:
        files = [(target / name, file) for name, file in node.files()]
    if sum(file.size for _, file in files) > BUNDLE.total_bytes:
        raise OSError(f"more than {BUNDLE.total_bytes / 2**30:g} GiB")
    if node.is_folder:
        target.mkdir(parents=True, exist_ok=True)
    for path, file in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        with file.open() if file.open else io.BytesIO() as source, path.open("wb") as out:
            shutil.copyfileobj(source, out)


MAX_PATH_BYTES = 4078  # 4095 less the name of the temporary folder
# The small members of a zip are read many times: so many bytes of them stay in memory.
MOST_KEPT = 1024 * 1024
# Zips inside the bundle are copied to where they can be searched: in memory up to this size, then on disk.
IN_MEMORY = 16 * 1024 * 1024


def digest(stream: IO[bytes], count: Callable[[int], None] = lambda _: None) -> str:
    """SHA-256 of a stream, which also verifies a zip member's checksum; `count` is given the size of each chunk."""
    state = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        state.update(chunk)
        count(len(chunk))
    return state.hexdigest()


def sha256_of(node: Node) -> str:
    """SHA-256 of a file, computed once; empty for what cannot be opened."""
    if node.sha256 is None and node.open is not None:
        with node.open() as stream:
            node.sha256 = digest(stream)
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
    tree: Node = field(default_factory=lambda: Node(children={}))
    failures: list[tuple[str | None, str]] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    bombs: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    kept: int = 0

    def is_bomb(self, packed: int) -> bool:
        """Return whether all members together are out of all proportion to the size of the zip."""
        return BUNDLE.is_bomb(sum(member.file_size for member in self.members), packed)


def open_archive(source: IO[bytes], held: ExitStack) -> Archive:
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
    # members that share bytes; newer versions of zipfile refuse them, older ones inflate them again and again
    placed = sorted(found.members, key=lambda member: member.header_offset)
    for member, following in zip_longest(placed, placed[1:]):
        start = following.header_offset if following else opened.start_dir
        if member.header_offset + 30 + member.compress_size > start:
            what = "the next member" if following else "the directory of the zip"
            found.failures.append((member.filename, f"it overlaps {what}"))
            break
    for member in found.members:
        _read_member(found, opened, member)
    return found


def _read_member(found: Archive, opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    node: Node | None = None
    try:
        node, old = _place(found.tree, member, opened)
        if BUNDLE.is_bomb(member.file_size, member.compress_size):
            found.bombs.append(member.filename)
            node.open = None
            return
        with opened.open(member) as stream:
            if node.is_folder or found.kept + node.size > MOST_KEPT:
                node.sha256 = digest(stream)
            else:  # a small file, whose bytes are kept
                data = stream.read(MOST_KEPT + 1)  # more may be inflated than the zip says, if it is not bounded here
                found.kept += len(data)
                node.open = lambda: io.BytesIO(data)
                node.sha256 = digest(io.BytesIO(data))
        if old is not None and old.sha256 != node.sha256:
            found.replaced.append("/".join(parts_of(member.filename)))
    except (PlaceError, *UNREADABLE) as error:
        found.failures.append((member.filename, str(error)))
        if node is not None:
            node.open = None
        return
    if node.is_link:
        found.links.append(member.filename)


class PlaceError(Exception):
    """A member that cannot be written to disk; the upload fails there."""


def _place(root: Node, member: zipfile.ZipInfo, archive: zipfile.ZipFile) -> tuple[Node, Node | None]:
    """Put a member where unpacking would put it; returns it, and the file that it replaces, if any.

    Raises:
        PlaceError: the name is too long, or is a file where a folder is needed or the reverse.
    """
    parts = parts_of(member.filename)
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
    tree: Node = field(default_factory=lambda: Node(children={}))
    fault: str | None = None

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.tree.files()]

    @property
    def wrapping_folder(self) -> str | None:
        """The one folder that holds everything, where there is one (junk aside)."""
        tops = [(name, node) for name, node in (self.tree.children or {}).items() if not is_junk(name)]
        if len(tops) != 1:
            return None
        name, node = tops[0]
        return name if node.is_folder else None


def unpack(found: Node | OnServer, held: ExitStack) -> Unpacked:
    """Unpack what a path leads to; what is opened stays so until `held` is closed."""
    if isinstance(found, OnServer):
        return Unpacked("server")
    if found.is_folder:
        return Unpacked("folder", found)
    if found.open is None:
        return Unpacked("no zip", fault="it is not read, since it is inflated out of all proportion")
    if found.is_link:
        fault = "it is a symbolic link, which is unpacked as a text file with the link's target"
        return Unpacked("no zip", fault=fault)
    if not found.size:
        return Unpacked("no zip", fault="it is empty")
    with found.open() as stream:
        archive = open_archive(searchable(stream, held), held)
    if archive.bombs:
        return Unpacked("zip", archive.tree, f"{archive.bombs[0]} is inflated out of all proportion")
    if archive.is_bomb(found.size):
        return Unpacked("zip", archive.tree, "it is inflated out of all proportion")
    if not archive.failures:
        return Unpacked("zip", archive.tree)
    member, reason = archive.failures[0]
    if member is None:
        return Unpacked("no zip", archive.tree, reason)
    named = f"{member}: " if member else ""
    return Unpacked("zip", archive.tree, f"{named}{reason}")


def searchable(stream: IO[bytes], held: ExitStack, most: float = math.inf) -> IO[bytes]:
    """Return a copy that can be read from any place; it lasts until `held` is closed.

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
