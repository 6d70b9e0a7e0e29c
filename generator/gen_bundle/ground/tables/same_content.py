"""Digests by which a file is recognised, however it is written."""

import hashlib
import io
import json
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.etree import ElementTree

from gen_bundle.ground.tables.any_file import (
    MAX_DEPTH,
    MAX_JSON_BYTES,
    MAX_TEXT,
    MOST_IN_MEMORY,
    encoding_of,
    first_line,
    json_value,
    lines,
)
from gen_bundle.ground.tables.values import words
from gen_bundle.ground.zips.arrays import array_digests
from gen_bundle.ground.zips.tree import Node, sha256_of

WORDS_A_LINE = 2  # such as an id and its label
MOST_TRIES = 1000
"""So often a gold file is compared from a line like its first one on."""


def content_digest(node: Node) -> str:
    """SHA-256 of a file, which is the same for a text in UTF-16 and in UTF-8."""
    encoding = encoding_of(node)
    if not encoding.startswith("utf-16") or node.size > MAX_TEXT:
        return sha256_of(node)
    return hashlib.sha256(node.read(node.size).decode(encoding, "replace").encode("utf-8", "replace")).hexdigest()


def arrays_of(node: Node) -> set[str]:
    """Return what the arrays in a file are recognised by, whatever its format."""
    return array_digests(node.read(MOST_IN_MEMORY))


def digests(node: Node) -> set[str]:
    """Return what a file of XML or JSON is recognised by however it is written; empty for others."""
    value = json_value(node)
    if value is None:
        written, too_few = _canonical_xml(node), 2
    else:
        written, too_few = json.dumps(value, sort_keys=True), 1
    parts = written.count("[") + written.count("{") + written.count("<")
    # one flat list or a lone element say too little
    return {hashlib.sha256(written.encode()).hexdigest()} if parts > too_few else set()


class Passage(NamedTuple):
    """A gold file that a text has as a whole.

    Attributes:
        name: of the gold file.
        lines: how many it has.
        said: how much that says, in lines: one long line says as much as many short ones.
        is_all: whether the text has no other lines.
    """

    name: str
    lines: int
    said: int
    is_all: bool


class Passages:
    """The lines of gold files, to be found in a row within other texts; outer blanks and blank lines do not count."""

    def __init__(self) -> None:
        self._of_first: dict[int, list[tuple[str, array[int], int]]] = {}

    def add(self, name: str, node: Node, says_something: bool) -> bool:
        """Note a file of two different lines, or of one where that is known to say something; returns whether it is."""
        coded = array("q", _coded(node))
        said = len(coded)
        if said == 1 and says_something:
            said = max(2, len(words(first_line(node))) // WORDS_A_LINE)
        elif len(set(coded)) < 2:
            return False
        self._of_first.setdefault(coded[0], []).append((name, coded, said))
        return True

    def within(self, node: Node) -> Passage | None:
        """Return the first gold file that a text has as a whole."""
        coded = array("q", _coded(node)) if self._of_first else array("q")
        tries: Counter[str] = Counter()
        for at, code in enumerate(coded):
            for name, gold, said in self._of_first.get(code, ()):
                tries[name] += 1
                if tries[name] <= MOST_TRIES and coded[at : at + len(gold)] == gold:
                    return Passage(name, len(gold), said, len(gold) == len(coded))
        return None


def _coded(node: Node) -> Iterator[int]:
    for line in lines(node):
        if bare := line.strip():
            yield hash(bare)


def _canonical_xml(node: Node) -> str:
    """Canonical XML 2.0 (W3C) without comments and the blanks around texts.

    Empty for other files, for those that define entities, and for elements nested deeper than 200.
    """
    data = node.read(MAX_JSON_BYTES + 1) if b"<" in node.read(64) else b""
    if not data or len(data) > MAX_JSON_BYTES or b"<!ENTITY" in data:
        return ""
    writer = _Canonical()
    parser = ElementTree.XMLParser(target=writer)  # noqa: S314 - without entities
    try:
        parser.feed(data)
        parser.close()
    except (ElementTree.ParseError, ValueError, LookupError):
        return ""
    return writer.text.getvalue()


class _Canonical(ElementTree.C14NWriterTarget):
    """Writes the canonical form of XML; it would take too long on deeply nested elements."""

    depth = 0

    def __init__(self) -> None:
        self.text = io.StringIO()
        super().__init__(self.text.write, strip_text=True)

    def start(self, tag: str, attrs: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        super().start(tag, attrs)

    def end(self, tag: str) -> None:
        self.depth -= 1
        super().end(tag)
