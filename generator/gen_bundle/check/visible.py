"""Everything that participants can read or download, file by file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gen_bundle.check.package import Package, unpack
from gen_bundle.check.pages import page_files
from gen_bundle.check.rules import Path
from gen_bundle.check.tree import Node

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

Channel = Literal["page", "logo", "public data", "starting kit", "solution", "input data", "program"]
MAX_NESTING = 2
CHANNELS: dict[str, Channel] = {
    "public_data": "public data",
    "starting_kit": "starting kit",
    "solution": "solution",
    "input_data": "input data",
    "scoring_program": "program",
    "ingestion_program": "program",
}


@dataclass(frozen=True)
class Seen:
    """A file that participants may see: how, where it is named, its name, and whether it is an example submission."""

    channel: Channel
    at: Path
    name: str
    node: Node
    is_answer: bool = False


def visible_files(bundle: Bundle) -> Iterator[Seen]:
    """All files that participants can read; zips inside them are opened, too."""
    for at, path, _, _ in page_files(bundle):
        found = bundle.tree.find(path) if isinstance(path, str) else None
        if isinstance(found, Node) and not found.is_folder:
            yield Seen("page", at, str(path), found)
    logo = bundle.yaml.get("image")
    found = bundle.tree.find(logo) if isinstance(logo, str) else None
    if isinstance(found, Node) and not found.is_folder:
        yield Seen("logo", ("image",), str(logo), found)
    done: set[tuple[str, int]] = set()
    for use in bundle.competition.uses():
        channel = CHANNELS.get(use.role)
        package = bundle.package(use) if channel else None
        if channel is None or package is None or (channel, id(package)) in done:
            continue
        done.add((channel, id(package)))
        if package.kind == "no zip":
            single = bundle.tree.find(use.path)
            if isinstance(single, Node):
                yield Seen(channel, use.at, str(use.path), single, channel == "solution")
        else:
            yield from _inside(bundle, channel, use.at, str(use.path), package, channel == "solution", 1)


def _inside(
    bundle: Bundle, channel: Channel, at: Path, prefix: str, package: Package, is_answer: bool, depth: int
) -> Iterator[Seen]:
    for name, node in package.tree.root.files():
        yield Seen(channel, at, f"{prefix}/{name}", node, is_answer)
        if name.lower().endswith(".zip") and depth < MAX_NESTING:
            inner = unpack(node, bundle.tick, bundle.held)
            if inner.kind == "zip":
                # a zip in a starting kit is an example of what to hand in
                answer = is_answer or channel == "starting kit"
                yield from _inside(bundle, channel, at, f"{prefix}/{name}", inner, answer, depth + 1)
