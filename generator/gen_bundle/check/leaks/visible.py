"""Everything that participants can read or download, file by file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from gen_bundle.check.bundle import Bundle, once_a_bundle, page_files
from gen_bundle.codabench.yaml_document import Path
from gen_bundle.zips.containers import Contents, contents, holds_files
from gen_bundle.zips.tree import Node

Channel = Literal["page", "logo", "public data", "starting kit", "solution", "input data", "program"]
# A zip in a folder, a tar in it, and a compressed file in that.
MAX_NESTING = 4
ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.[a-z0-9]+)(/content)?$")
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
    """A file that participants may see.

    Attributes:
        channel: how they get it.
        at: where competition.yaml names it.
        name: its own name.
        node: the file.
        is_answer: whether it is an example submission, or part of one.
        closed: why the check cannot look into it; empty if it can.
    """

    channel: Channel
    at: Path
    name: str
    node: Node
    is_answer: bool = False
    closed: str = ""


@once_a_bundle
def visible_files(bundle: Bundle) -> Iterator[Seen]:
    """All files that participants can read, with those inside archives."""
    for page in page_files(bundle):
        if isinstance(page.found, Node) and not page.found.is_folder:
            yield Seen("page", page.at, str(page.path), page.found)
    logo = bundle.yaml.get("image")
    found = bundle.find(logo)
    if isinstance(found, Node) and not found.is_folder:
        yield Seen("logo", ("image",), str(logo), found)
    done: set[tuple[str, int]] = set()
    for use in bundle.competition.uses():
        channel = CHANNELS.get(use.role)
        unpacked = bundle.unpacked(use) if channel else None
        if channel is None or unpacked is None or (channel, id(unpacked)) in done:
            continue
        done.add((channel, id(unpacked)))
        single = bundle.tree.find(use.path) if unpacked.form == "no zip" else None
        files = [(f"{use.path}/{name}", node) for name, node in unpacked.tree.root.files()]
        for name, node in [(str(use.path), single)] if isinstance(single, Node) else files:
            yield from with_contents(bundle, Seen(channel, use.at, name, node, channel == "solution"), 1)


def _too_deep(node: Node) -> Contents:
    return Contents(closed=f"an archive inside {MAX_NESTING - 1} others" if holds_files(node) else "")


def with_contents(bundle: Bundle, seen: Seen, depth: int) -> Iterator[Seen]:
    """A file, and what is inside it."""
    inside = contents(seen.node, bundle.tick, bundle.held) if depth < MAX_NESTING else _too_deep(seen.node)
    yield replace(seen, closed=inside.closed)
    # an archive in a starting kit is an example submission
    is_answer = seen.is_answer or (seen.channel == "starting kit" and ARCHIVE.search(seen.name) is not None)
    for name, node in inside.files:
        yield from with_contents(
            bundle, replace(seen, name=f"{seen.name}/{name}", node=node, is_answer=is_answer), depth + 1
        )
