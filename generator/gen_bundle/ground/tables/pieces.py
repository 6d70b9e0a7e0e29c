"""The pieces of texts and names without a regular form, in their order."""

import re
from collections.abc import Iterator, Set

from gen_bundle.ground.tables.any_file import EDGE, MAX_TEXT, lines, without_tags
from gen_bundle.ground.tables.values import first_word, plain, words
from gen_bundle.ground.zips.tree import Node

NAME_MARKS = "_-. "
AROUND_A_PIECE = EDGE + ".!?"
# Where a stream is cut: at marks, at marks and blanks, at blanks alone.
CUTS = tuple(re.compile(cut) for cut in (r"[\t\n,;:|=<>\[\](){}\"'`*#]+", r"[\s,;:|=<>\[\](){}\"'`*#]+", r"\s+"))


def streams(text: str, ids: Set[str]) -> Iterator[list[tuple[int, str]]]:
    """The pieces of a text in their order, each with its line, cut in several ways; none where no id is among them."""
    bare = without_tags(text[:MAX_TEXT])
    for cut in CUTS:
        found: list[tuple[int, str]] = []
        different = {part.strip(AROUND_A_PIECE) for part in cut.split(bare)}
        if not ids.isdisjoint(map(plain, different)):
            for place, line in enumerate(bare.split("\n"), start=1):
                for part in cut.split(line):
                    piece = part.strip(AROUND_A_PIECE)
                    if piece and len(piece) < 100:
                        found.append((place, plain(piece)))
        yield found


def said_in_lines(node: Node, first: Set[str]) -> Iterator[tuple[str, ...]]:
    """The words of lines, and of what a line has after a colon, that begin with one of the `first` words."""
    for line in lines(node):
        for text in (line, line.partition(":")[2]):
            if first_word(text) in first:
                yield words(text)


def with_parts(name: str) -> list[str]:
    """A name, and what is before and after each mark in it."""
    parts = [part for mark in NAME_MARKS for part in (name.partition(mark)[0], name.rpartition(mark)[2])]
    return [name, *parts]
