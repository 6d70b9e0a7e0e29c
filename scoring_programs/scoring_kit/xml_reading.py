"""XML read safely and with line numbers, by expat: a document type, and with it every entity, is refused."""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterator, List, Mapping, NamedTuple
from xml.parsers import expat

from scoring_kit.errors import shown
from scoring_kit.faults import Fault

_CHUNK = 1 << 16


class Element(NamedTuple):
    """An element's start tag: its line, name, attributes, and the name of the element it lies in ("" for the root)."""

    line: int
    name: str
    attributes: Dict[str, str]
    parent: str


def read_elements(
    text: str, file: str, children: Mapping[str, FrozenSet[str]], root: str, fault: Fault
) -> Iterator[Element]:
    """The elements in the order of their start tags; memory does not grow with the file.

    Args:
        text: the file's content; whatever encoding it declares has already been undone.
        file: its name in messages.
        children: element → the elements that may lie directly in it.
        root: the root element.
        fault: told of what is not well-formed (reading ends there), and of every element in a wrong place (left out
            with all that lies in it).
    """
    reader = _Reader(file, children, root, fault)
    for start in range(0, max(len(text), 1), _CHUNK):
        is_readable = reader.feed(text[start : start + _CHUNK], start + _CHUNK >= len(text))
        yield from reader.elements
        reader.elements.clear()
        if not is_readable:
            return


class _RefusedError(Exception):
    """Raised out of the parser at what is refused."""


class _Reader:
    def __init__(self, file: str, children: Mapping[str, FrozenSet[str]], root: str, fault: Fault) -> None:
        self.file = file
        self.children = {**children, "": frozenset({root})}
        self.fault = fault
        self.elements: List[Element] = []
        self.open = [""]
        self.skipped = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse

    def feed(self, chunk: str, is_final: bool) -> bool:
        """Parse the next part; False where nothing after it can be read."""
        try:
            self.parser.Parse(chunk, is_final)
        except expat.ExpatError as error:
            where = f"{self.file}:{error.lineno}"
            self.fault(where, f"not well-formed XML ({expat.ErrorString(error.code)})", "", "well-formed XML")
            return False
        except _RefusedError:
            where = f"{self.file}:{self.parser.CurrentLineNumber}"
            self.fault(where, "a document type (<!DOCTYPE …>)", "", "no document type, and no entities")
            return False
        return True

    def start(self, name: str, attributes: Dict[str, str]) -> None:
        if self.skipped:
            self.skipped += 1
            return
        parent = self.open[-1]
        line = self.parser.CurrentLineNumber
        if name in self.children.get(parent, ()):
            self.elements.append(Element(line, name, attributes, parent))
            self.open.append(name)
        else:
            self.skipped = 1
            allowed = " or ".join(f"<{child}>" for child in sorted(self.children.get(parent, ()))) or "nothing"
            place = f"inside <{parent}>" if parent else "as the root"
            self.fault(f"{self.file}:{line}", f"<{shown(name)[1:-1]}> {place}", "", f"{allowed} {place}")

    def end(self, name: str) -> None:
        if self.skipped:
            self.skipped -= 1
        else:
            self.open.pop()

    def refuse(self, *declaration: object) -> None:
        raise _RefusedError
