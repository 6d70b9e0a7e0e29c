"""What a file is recognised by, however it is written."""

import hashlib
import io
import json
from collections.abc import Container, Mapping
from itertools import islice
from xml.etree import ElementTree

from gen_bundle.ground.tables.any_file import (
    MAX_DEPTH,
    MAX_JSON_BYTES,
    MAX_TEXT,
    MOST_LINES,
    encoding_of,
    first_line,
    json_value,
    lines,
)
from gen_bundle.ground.zips.tree import Node, sha256_of


def content_digest(node: Node) -> str:
    """SHA-256 of a file, which is the same for a text in UTF-16 and in UTF-8."""
    encoding = encoding_of(node)
    if not encoding.startswith("utf-16") or node.size > MAX_TEXT:
        return sha256_of(node)
    return hashlib.sha256(node.read(node.size).decode(encoding, "replace").encode("utf-8", "replace")).hexdigest()


def digests(node: Node, starts: Container[str] | None = None) -> set[str]:
    """What a file is recognised by however it is written: its lines without outer blanks, its XML, its JSON.

    The lines are left out where the first of them is not among `starts`.
    """
    found: set[str] = set()
    if starts is None or first_line(node).strip() in starts:
        state = hashlib.sha256()
        different: set[str] = set()
        some = lines(node)
        while taken := list(islice(some, MOST_LINES)):
            bare = list(filter(None, map(str.strip, taken)))
            state.update("\n".join([*bare, ""]).encode("utf-8", "replace"))
            if len(different) < 2:
                different.update(bare)
        if len(different) > 1:
            found.add(state.hexdigest())
    value = json_value(node)
    if value is None:
        written, too_few = _canonical_xml(node), 2
    else:
        written, too_few = json.dumps(value, sort_keys=True), 1
    # one flat list or a lone element say too little
    if sum(map(written.count, "[{<")) > too_few:
        found.add(hashlib.sha256(written.encode()).hexdigest())
    return found


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
