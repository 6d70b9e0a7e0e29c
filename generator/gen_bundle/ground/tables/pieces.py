"""The pieces of a text without a regular form, in their order."""

import re
from collections.abc import Iterator, Set

from gen_bundle.ground.tables.any_file import EDGE, MAX_TEXT, without_tags
from gen_bundle.ground.tables.values import plain

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
