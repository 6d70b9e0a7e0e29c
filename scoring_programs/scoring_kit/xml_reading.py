"""XML read safely and with line numbers, by expat: a document type, and with it every entity, is refused."""

from typing import Callable, Dict, FrozenSet, Mapping, NamedTuple
from xml.parsers import expat

from scoring_kit.errors import Fault, shown


class Element(NamedTuple):
    """An element's start tag: its line, name and attributes."""

    line: int
    name: str
    attributes: Dict[str, str]


class Shape(NamedTuple):
    """A kind of file.

    Attributes:
        root: its root element.
        children: which elements may be directly in which.
        texts: the elements that hold running text, in which markup of other names (`<p>`, `<b>` …) is looked through.
        refused: other names that are refused there nevertheless.
    """

    root: str
    children: Mapping[str, FrozenSet[str]]
    texts: FrozenSet[str] = frozenset()
    refused: FrozenSet[str] = frozenset()


def read_elements(text: str, file: str, shape: Shape, fault: Fault, handle: Callable[[Element], None]) -> bool:
    """Hand on the elements inside the root, in the order of their start tags.

    Args:
        text: the file's content, already decoded, whatever encoding it declares.
        file: its name in messages.
        shape: what is expected.
        fault: called with what is not well-formed, where reading ends, and with every element in a wrong place, which
            is left out with its content.
        handle: called with each element.

    Returns:
        Whether the file was read to its end.
    """
    reader = _ElementReader(file, shape, fault, handle)
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError as error:
        rule = f"not well-formed XML ({expat.ErrorString(error.code)})"
        fault(f"{file}:{error.lineno}", rule, "", "well-formed XML")
        return False
    except _RefusedError:
        where = f"{file}:{reader.parser.CurrentLineNumber}"
        fault(where, "a document type (<!DOCTYPE …>)", "", "no document type, and no entities")
        return False
    return True


class _RefusedError(Exception):
    """Raised out of the parser at what is refused."""


class _ElementReader:
    """Follows the parser through the elements."""

    def __init__(self, file: str, shape: Shape, fault: Fault, handle: Callable[[Element], None]) -> None:
        self.file = file
        self.children = {**shape.children, "": frozenset({shape.root})}
        self.texts = shape.texts
        self.names = shape.refused.union({shape.root}, *shape.children.values())
        self.fault = fault
        self.handle = handle
        self.open = [""]
        self.skipped = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse

    def start(self, name: str, attributes: Dict[str, str]) -> None:
        if self.skipped:
            self.skipped += 1
            return
        parent = self.open[-1]
        line = self.parser.CurrentLineNumber
        allowed = self.children.get(parent, frozenset())
        if name in allowed:
            self.open.append(name)
            if parent:
                self.handle(Element(line, name, attributes))
            return
        if parent in self.texts and name not in self.names:
            self.open.append(parent)  # its content is read as the parent's
            return
        self.skipped = 1
        place = f"inside <{parent}>" if parent else "as the root"
        expected = " or ".join(f"<{child}>" for child in sorted(allowed)) or "nothing"
        self.fault(f"{self.file}:{line}", f"<{shown(name)[1:-1]}> {place}", "", f"{expected} {place}")

    def end(self, name: str) -> None:
        if self.skipped:
            self.skipped -= 1
        else:
            self.open.pop()

    def refuse(self, *declaration: object) -> None:
        raise _RefusedError
