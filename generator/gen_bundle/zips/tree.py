"""The files of a bundle as they lie on the platform's disk once it is unpacked."""

import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from gen_bundle.zips.bounds import BUNDLE

CHUNK = 1024 * 1024
# What exists on any Linux server; a bundle that names such a path gets the server's file.
_TOP = ("app", "bin", "boot", "dev", "etc", "home", "lib", "media", "mnt", "opt", "proc", "root", "run", "sbin", "tmp")
SERVER_FILES = {"/dev/null", "/dev/zero", "/proc/version"}
SERVER_FILES |= {f"/etc/{name}" for name in ("group", "hostname", "hosts", "os-release", "passwd", "resolv.conf")}
SERVER_FOLDERS = {"/", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/share"}
SERVER_FOLDERS |= {"/var", "/var/lib", "/var/log", "/var/tmp", *(f"/{name}" for name in _TOP)}  # noqa: S108 - names
# The bundle is unpacked into a folder of any name below /tmp.
ABOVE_THE_BUNDLE = "/tmp"  # noqa: S108 - a path of the server, nothing is written there
MAX_NAME_BYTES = 255


def ignore_count(_: int) -> None:
    """Ignore how much has been read."""


@dataclass
class Node:
    """A file or folder: files have a size and can be opened, folders have children by name.

    `sha256` is known once the file has been read as a whole; `tick` is given how much of it is read again.
    """

    size: int = 0
    open: Callable[[], IO[bytes]] | None = None
    children: "dict[str, Node] | None" = None
    is_link: bool = False
    sha256: str | None = None
    tick: Callable[[int], None] = ignore_count

    @property
    def is_folder(self) -> bool:
        return self.children is not None

    def read(self, limit: int) -> bytes:
        if self.open is None:
            return b""
        with self.open() as stream:
            return stream.read(limit)

    def walk(self) -> Iterator[tuple[str, "Node"]]:
        """Everything below in the order of names, which are relative to here; paths may be thousands of levels deep."""
        waiting = [("", self)]
        while waiting:
            name, node = waiting.pop()
            if name:
                yield name, node
            below = sorted((node.children or {}).items(), reverse=True)
            waiting += [(f"{name}/{child}" if name else child, found) for child, found in below]

    def files(self) -> Iterator[tuple[str, "Node"]]:
        """All files below, with names relative to here."""
        return ((name, node) for name, node in self.walk() if not node.is_folder)


def file_of(data: bytes) -> Node:
    """A file of these bytes."""
    return Node(size=len(data), open=partial(io.BytesIO, data))


@dataclass(frozen=True)
class OnServer:
    """A path that leads out of the bundle, to a file or folder of the server itself."""

    path: str

    @property
    def is_folder(self) -> bool:
        return self.path in SERVER_FOLDERS


def _on_server(path: str) -> OnServer | None:
    plain = os.path.normpath(path).replace("//", "/")
    return OnServer(plain) if plain in SERVER_FILES or plain in SERVER_FOLDERS else None


@dataclass
class Tree:
    """The unpacked bundle."""

    root: Node = field(default_factory=lambda: Node(children={}))

    def find(self, name: str) -> Node | OnServer | None:
        """What `os.path.join(folder of the bundle, name)` leads to; None when there is nothing."""
        if _impossible(name):
            return None
        if name.startswith("/"):
            return _on_server(name)
        walked = [self.root]
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
        """Why opening the name as a file fails other than by its absence; None when it does not."""
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
        """A file or folder whose name differs from this one only in case, or in the extension .zip."""
        wanted = name.strip("/").lower()
        alike = (wanted, f"{wanted}.zip", wanted.removesuffix(".zip"))
        return next((path for path in self.names() if path.lower() in alike), None)

    def names(self) -> Iterator[str]:
        return (name for name, _ in self.root.walk())


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
    """Whether a text has no lone surrogates, which YAML can write and UTF-8 cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def folder_tree(folder: Path, tick: Callable[[int], None]) -> Tree:
    """The tree of an unpacked bundle; links that leave the folder, and sockets and the like, are left out.

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
                children[entry.name] = Node(size=entry.stat().st_size, open=partial(_opened, entry), tick=tick)
    return Tree(Node(children=top))


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def write_files(node: Node, target: Path) -> None:
    """Write a file, or all files of a folder, which is made even where it is empty.

    Raises:
        OSError: they cannot be read or written, or are more than a bundle may hold.
    """
    files = list(node.files()) if node.is_folder else [("", node)]
    if sum(file.size for _, file in files) > BUNDLE.total_bytes:
        raise OSError(f"more than {BUNDLE.total_bytes / 2**30:g} GiB")
    if node.is_folder:
        target.mkdir(parents=True, exist_ok=True)
    for name, file in files:
        path = target / name if name else target
        path.parent.mkdir(parents=True, exist_ok=True)
        with file.open() if file.open else io.BytesIO() as source, path.open("wb") as out:
            shutil.copyfileobj(source, out)
