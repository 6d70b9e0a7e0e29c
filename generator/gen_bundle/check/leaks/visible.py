"""Everything that participants can read or download, file by file."""

import hashlib
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from gen_bundle.check.bundle import Bundle, once_a_bundle, page_files
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.ground.resources import KITS, packages_text, resource
from gen_bundle.ground.tables.any_file import is_binary
from gen_bundle.ground.tables.pieces import parts_of_name
from gen_bundle.ground.yaml_document import Path, texts_in
from gen_bundle.ground.zips.containers import Contents, contents, holds_files
from gen_bundle.ground.zips.tree import Node, file_of, sha256_of
from scoring_kit.base.submissions import is_junk

Channel = Literal["page", "logo", "public data", "starting kit", "solution", "input data", "program", "ids of"]
INPUT_CHANNELS = ("public data", "input data")
# A zip in a folder, a tar in it, and a compressed file in that.
MAX_NESTING = 4
BYTES = "a file of bytes"
"""Why the check cannot look into a file that is neither text nor holds others."""
ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.[a-z0-9]+)(/content)?$")
LIBRARY = re.compile(r"(?P<program>.*)/site/(?P<package>[\w.]+)(-[^/]+)?\.(dist|egg)-info/")
DECLARED = b'"package": "declared"'
"""In the program.json of a program that we wrote."""
CHANNELS: dict[str, Channel] = {
    "public_data": "public data",
    "starting_kit": "starting kit",
    "solution": "solution",
    "input_data": "input data",
    "scoring_program": "program",
    "ingestion_program": "program",
}


class Seen(NamedTuple):
    """A file that participants may see.

    Attributes:
        channel: how they get it.
        at: where competition.yaml names it.
        name: its own name.
        node: the file.
        is_answer: whether it is an example submission, or part of one.
        closed: why the check cannot look into it; empty if it can.
        opened: whether what is in it follows.
    """

    channel: Channel
    at: Path
    name: str
    node: Node
    is_answer: bool = False
    closed: str = ""
    opened: bool = False

    @property
    def place(self) -> str:
        """The archive that it is in, else its folder: where files are of one kind, or of one submission."""
        return self.name.rpartition(".zip/")[0] or self.name.rpartition("/")[0]


@once_a_bundle
def visible_files(bundle: Bundle) -> Iterator[Seen]:
    """Yield all files that participants can read, with those inside archives, and the texts of competition.yaml."""
    said = [text for text in texts_in(bundle.yaml) if " " in text.strip()]  # and shown to everyone
    yield Seen("page", (), YAML_NAME, file_of("\n".join(said).encode("utf-8", "replace")))
    for page in page_files(bundle):
        if isinstance(page.found, Node) and not page.found.is_folder:
            yield Seen("page", page.at, str(page.path), page.found)
    logo = bundle.yaml.get("image")
    found = bundle.find(logo)
    if isinstance(found, Node) and not found.is_folder:
        yield Seen("logo", ("image",), str(logo), found)
    yield from _files_of_uses(bundle)


def _files_of_uses(bundle: Bundle) -> Iterator[Seen]:
    """The files of programs and data that participants get, with those inside archives."""
    done: set[tuple[str, int]] = set()
    for use in bundle.competition.uses():
        channel = CHANNELS.get(use.role)
        unpacked = bundle.unpacked(use) if channel else None
        if channel is None or unpacked is None or (channel, id(unpacked)) in done:
            continue
        done.add((channel, id(unpacked)))
        files = {f"{use.path}/{name}": node for name, node in unpacked.tree.files()}
        single = bundle.tree.find(use.path)
        if unpacked.form == "no zip" and isinstance(single, Node):
            files = {str(use.path): single}
        for name, node in files.items():
            yield from _with_contents(bundle, Seen(channel, use.at, name, node, channel == "solution"), 1)


def _with_contents(bundle: Bundle, seen: Seen, depth: int) -> Iterator[Seen]:
    """A file, and what is inside it."""
    inside = Contents()
    if depth < MAX_NESTING:
        inside = contents(seen.node, bundle.held)
    elif holds_files(seen.node):
        inside = Contents(closed=f"an archive inside {MAX_NESTING - 1} others")
    closed = inside.closed
    if not closed and not inside.files and is_binary(seen.node):
        closed = BYTES
    yield seen._replace(closed=closed, opened=bool(inside.files))
    # an archive in a starting kit is an example submission
    is_answer = seen.is_answer or (seen.channel == "starting kit" and ARCHIVE.search(seen.name) is not None)
    for name, node in inside.files:
        inner = seen._replace(name=f"{seen.name}/{name}", node=node, is_answer=is_answer)
        yield from _with_contents(bundle, inner, depth + 1)


def foreign_files(bundle: Bundle) -> list[Seen]:
    """Return all visible files but ours, which are never gold: programs, libraries and locks, empty templates."""
    found = list(visible_files(bundle))
    own = _own_files().union(_templates(found))
    # the libraries, as published, that travel in the programs of declared metrics, and that this machine keeps
    programs: dict[str, set[str]] = {}
    for seen in found:
        if library := LIBRARY.match(seen.name):
            programs.setdefault(library["program"], set()).add(library["package"])
    if programs:
        from gen_bundle.build.package.libraries import kept_site

        for packages in programs.values():
            if site := kept_site(packages):
                own |= _files_below(site)
    return [seen for seen in found if sha256_of(seen.node) not in own]


def _templates(found: Sequence[Seen]) -> set[str]:
    """The digests of the templates in kits that a build of a declared competition writes: the emptiest answers."""
    kits: set[str] = set()
    for seen in found:
        kit, scorer, name = seen.name.partition("/scorer/")
        if scorer and name.endswith("/program.json") and DECLARED in seen.node.read(4096):
            kits.add(kit)
    return {sha256_of(seen.node) for seen in found if seen.name.partition("/template/")[0] in kits}


@cache
def _own_files() -> frozenset[str]:
    locks = [hashlib.sha256(packages_text(locks).encode()).hexdigest() for locks in KITS]
    return _files_below(resource("scoring_programs")).union(locks)


@cache
def _files_below(folder: pathlib.Path) -> frozenset[str]:
    """The digests of the files in a folder."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file() and not is_junk(path.name):
            found.add(hashlib.sha256(path.read_bytes()).hexdigest())
    return frozenset(found)


def listings(seen_files: Iterable[Seen]) -> Iterator[Seen]:
    """Yield the names of all files of a kind, as a table of their parts."""
    names: dict[Channel, list[str]] = {}
    first: dict[Channel, Seen] = {}
    for seen in seen_files:
        if seen.channel in (*INPUT_CHANNELS, "starting kit") and not seen.is_answer:
            names.setdefault(seen.channel, []).append(seen.name)
            first.setdefault(seen.channel, seen)
    for channel, found in names.items():
        yield first[channel]._replace(name="by its file names", node=table_of_names(found), opened=False)


def table_of_names(names: Iterable[str]) -> Node:
    """Return a table of the parts of names."""
    rows = ["\t".join(parts_of_name(name)) for name in names]
    return file_of("\n".join(rows).encode("utf-8", "replace"))
