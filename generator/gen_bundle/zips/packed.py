"""Programs and data as the worker unpacks them: a folder (which the upload zips), a zip, or something else."""

import math
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Literal, cast

from gen_bundle.zips.reading import open_archive
from gen_bundle.zips.tree import CHUNK, Node, OnServer, Tree
from gen_bundle.zips.writing import JUNK

# Zips inside the bundle are copied to where they can be searched: in memory up to this size, then on disk.
IN_MEMORY = 16 * 1024 * 1024
Form = Literal["folder", "zip", "no zip", "server"]


@dataclass
class Unpacked:
    """What a data path of competition.yaml leads to, unpacked."""

    form: Form
    tree: Tree
    fault: str | None = None

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.tree.root.files()]

    @property
    def wrapping_folder(self) -> str | None:
        """The one folder that holds everything, where there is one (junk aside)."""
        tops = {name: node for name, node in (self.tree.root.children or {}).items() if name not in JUNK}
        if len(tops) == 1:
            name, node = next(iter(tops.items()))
            return name if node.is_folder else None
        return None


def unpack(found: Node | OnServer, tick: Callable[[int], None], held: ExitStack) -> Unpacked:
    """Unpack what a path leads to; what is opened stays so until `held` is closed."""
    if isinstance(found, OnServer):
        return Unpacked("server", Tree())
    if found.is_folder:
        return Unpacked("folder", Tree(found))
    if found.open is None:
        return Unpacked("no zip", Tree(), "it is not read, since it is inflated out of all proportion")
    if found.is_link:
        return Unpacked(
            "no zip", Tree(), "it is a symbolic link, which is unpacked as a text file with the link's target"
        )
    if not found.size:
        return Unpacked("no zip", Tree(), "it is empty")
    with found.open() as stream:
        archive = open_archive(searchable(stream, held), tick, held)
    if archive.bombs:
        return Unpacked("zip", archive.tree, f"{archive.bombs[0]} is inflated out of all proportion")
    if archive.failures:
        member, reason = archive.failures[0]
        where = f"{member}: " if member else ""
        return Unpacked("no zip" if member is None else "zip", archive.tree, f"{where}{reason}")
    return Unpacked("zip", archive.tree)


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
