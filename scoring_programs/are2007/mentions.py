"""Where mentions are: an entity of the input (tasks 1 and 2) or a span between its nodes (tasks 3 and 4).

Only ids and positions count, never the string in a `value` attribute (ARE, "Evaluation metrics").
"""

from typing import Collection, FrozenSet, List, Mapping, Optional, Tuple

from scoring_kit.faults import Fault
from scoring_kit.xml_reading import Element

Mention = Tuple[int, int]
"""First token and token after the last, counted from 0 in document order; an entity counts as one token."""

BY_SPAN = frozenset({"task3", "task4"})
"""Tasks whose mentions are spans."""


class Places:
    """The places of one input text, by which the mentions of one file about it are read.

    Args:
        task: its id.
        expected: `entities` (ids), or `nodes` (ids in document order) of the text.
        file: name of the file that refers to them, for messages.
        fault: called with each reference to nothing.
    """

    def __init__(self, task: str, expected: Mapping[str, List[str]], file: str, fault: Fault) -> None:
        self.file = file
        self.fault = fault
        self.by_span = task in BY_SPAN
        self.known: Mapping[str, int] = {
            identifier: index for index, identifier in enumerate(expected["nodes" if self.by_span else "entities"])
        }

    def listed(self, ids: Collection[str]) -> FrozenSet[Mention]:
        """The mentions of entity ids that are known to be sound."""
        return frozenset(self._entity(identifier) for identifier in ids)

    def mention(self, element: Element) -> Optional[Mention]:
        """The mention that an element names; None, with the fault recorded, where there is none."""
        if self.by_span:
            return self._span(element)
        identifier = trimmed(element, "id")
        if identifier is not None and identifier in self.known:
            return self._entity(identifier)
        self._record_unknown(element, "id", identifier, "the id of an entity of the input")
        return None

    def _entity(self, identifier: str) -> Mention:
        return self.known[identifier], self.known[identifier] + 1

    def _span(self, element: Element) -> Optional[Mention]:
        edges = []
        for name in ("start", "end"):
            node = trimmed(element, name)
            if node is not None and node in self.known:
                edges.append(self.known[node])
            else:
                self._record_unknown(element, name, node, "the id of a node of the input")
        if len(edges) < 2:
            return None
        start, end = edges
        if start < end:
            return start, end
        value = f"{element.attributes['start']} to {element.attributes['end']}"
        self.record(element.line, "a span that does not end after its start", value, "end after start")
        return None

    def _record_unknown(self, element: Element, attribute: str, value: Optional[str], expected: str) -> None:
        if value is None:
            self.record(element.line, f"<{element.name}> without {attribute}", "", f'{attribute}="…", {expected}')
        else:
            self.record(element.line, f"unknown {attribute} in <{element.name}>", value, expected)

    def record(self, line: int, rule: str, value: str, expected: str) -> None:
        self.fault(f"{self.file}:{line}", rule, value, expected)


def trimmed(element: Element, attribute: str) -> Optional[str]:
    """An attribute without the blanks around it; None where the element has none of that name."""
    value = element.attributes.get(attribute)
    return None if value is None else value.strip()


def as_written(element: Element) -> str:
    """What an element refers to, for messages."""
    return " ".join(element.attributes[name] for name in ("id", "start", "end") if name in element.attributes)
