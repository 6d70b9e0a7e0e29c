"""The pieces of texts and names without a regular form, in their order."""

import re
from collections.abc import Iterator, Set

from gen_bundle.ground.tables.any_file import EDGE, MAX_TEXT, Block, is_table, lines, text_of, without_tags
from gen_bundle.ground.tables.values import first_word, plain, words
from gen_bundle.ground.zips.tree import Node

NAME_MARKS = "_-. "
ENDS_ADDRESS = re.compile("[?#]")
AROUND_A_PIECE = EDGE + ".!?"
FIRST, LAST = 8, 2
# Where a stream is cut: at marks, at marks and blanks, at blanks alone.
CUTS = tuple(re.compile(cut) for cut in (r"[\t\n,;:|=<>\[\](){}\"'`*#]+", r"[\s,;:|=<>\[\](){}\"'`*#]+", r"\s+"))


def streams(node: Node, ids: Set[str]) -> Iterator[list[tuple[int, str]]]:
    """The pieces of a text that is no table, each with its line, in each way of cutting that finds ids among them."""
    if is_table(node):
        return
    bare = without_tags(text_of(node)[:MAX_TEXT])
    for cut in CUTS:
        different = {part.strip(AROUND_A_PIECE) for part in cut.split(bare)}
        if not ids.isdisjoint(map(plain, different)):
            yield list(_pieces(bare, cut))


def _pieces(text: str, cut: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    for place, line in enumerate(text.split("\n"), start=1):
        for part in cut.split(line):
            piece = part.strip(AROUND_A_PIECE)
            if piece and len(piece) < 100:
                yield place, plain(piece)


def ends_of(node: Node) -> Block:
    """The first and the last pieces of a text, as a table of one row."""
    found = [piece for _, piece in _pieces(without_tags(text_of(node)[:MAX_TEXT]), CUTS[0])]
    columns = {}
    for place in (*range(min(FIRST, len(found))), *range(-min(LAST, len(found)), 0)):
        columns[f"piece {place + 1}" if place >= 0 else f"piece {-place} from the end"] = [found[place]]
    return Block("its pieces", columns, [1])


def said_in_lines(node: Node, first: Set[str]) -> Iterator[tuple[str, ...]]:
    """The words of lines, and of what a line has after a colon, that begin with one of the `first` words."""
    for line in lines(node):
        for text in (line, line.partition(":")[2]):
            if first_word(text) in first:
                yield words(text)


def parts_of_name(name: str) -> list[str]:
    """Return the parts of an id, a path or an address: the name itself, what is around each mark in it, its folders."""
    *folders, own = re.split(r"[/\\]", ENDS_ADDRESS.split(name)[0].strip())
    stem = own.rpartition(".")[0]
    parts = [own, stem]
    for mark in NAME_MARKS:
        parts += [own.partition(mark)[0], own.rpartition(mark)[2], stem.rpartition(mark)[2]]
    return [*parts, *["", "", "", *folders][-3:]]
