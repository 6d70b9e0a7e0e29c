"""Symbolic links, which zips can hold and unpacking turns into small text files."""

from __future__ import annotations

from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import ZIPFILE, Effect, Problem, rule
from gen_bundle.check.rules.data_files import where
from gen_bundle.zips.tree import Node


@rule(
    "link-used",
    Effect.TRAP,
    title="a symbolic link among programs, data or pages that are used",
    consequence="It is unpacked as a small text file that holds the link's target, and taken as such.",
    repair="Pack the file itself (zip without -y).",
    source=ZIPFILE,
    reads="both",
)
def _link_used(bundle: Bundle) -> Iterator[Problem]:
    for at, path, _, _ in page_files(bundle):
        found = bundle.tree.find(path) if isinstance(path, str) else None
        if isinstance(found, Node) and found.is_link:
            yield Problem(f"the page {path} is a symbolic link", at)
    for use in bundle.competition.uses():
        package = bundle.package(use)
        linked = [name for name, node in package.tree.root.files() if node.is_link] if package else []
        if linked:
            yield Problem(f"{where(use)} holds the symbolic link {linked[0]!r}", use.at)


@rule(
    "zip-link",
    Effect.NOTE,
    title="a symbolic link in the zip",
    consequence="It is unpacked as a small text file that holds the link's target.",
    repair="Pack the file itself.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_link(bundle: Bundle) -> Iterator[Problem]:
    for name in bundle.archive.links if bundle.archive else ():
        yield Problem(f"{name!r} is a symbolic link", file=name)
