"""Reads pairs (tasks 1 and 3) and chains (tasks 2 and 4; keys of all tasks) of mentions.

A mention is an entity of the input (tasks 1 and 2) or a span between its nodes (tasks 3 and 4). Only ids and positions
count, never the string in a `value` attribute (ARE, "Evaluation metrics").
"""

from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Set, Tuple
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
    children = {**shape.children, "": frozenset({shape.root})}
    names = shape.refused.union({shape.root}, *shape.children.values())
    opened = [""]
    skipped = 0

    def start(name: str, attributes: Dict[str, str]) -> None:
        nonlocal skipped
        parent = opened[-1]
        if skipped:
            skipped += 1
        elif name in children.get(parent, ()):
            opened.append(name)
            if parent:
                handle(Element(parser.CurrentLineNumber, name, attributes))
        elif parent in shape.texts and name not in names:
            opened.append(parent)  # its content is read as the parent's
        else:
            skipped = 1
            place = f"inside <{parent}>" if parent else "as the root"
            expected = " or ".join(f"<{child}>" for child in sorted(children.get(parent, ()))) or "nothing"
            where = f"{file}:{parser.CurrentLineNumber}"
            fault(where, f"<{shown(name)[1:-1]}> {place}", "", f"{expected} {place}")

    def end(_: str) -> None:
        nonlocal skipped
        if skipped:
            skipped -= 1
        else:
            opened.pop()

    def refuse(*_: object) -> None:
        raise _RefusedError

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        rule = f"not well-formed XML ({expat.ErrorString(error.code)})"
        fault(f"{file}:{error.lineno}", rule, "", "well-formed XML")
        return False
    except _RefusedError:
        where = f"{file}:{parser.CurrentLineNumber}"
        fault(where, "a document type (<!DOCTYPE …>)", "", "no document type, and no entities")
        return False
    return True


class _RefusedError(Exception):
    """Raised out of the parser at what is refused."""


ROOT = "document"
_PAIRS = Shape(ROOT, {ROOT: frozenset({"pair"}), "pair": frozenset({"pronoun", "antecedent"})})
_CHAINS = Shape(ROOT, {ROOT: frozenset({"chain"}), "chain": frozenset({"node"})})
_KEY = Shape(
    ROOT,
    {
        ROOT: frozenset({"chain", "anaphoric_pronouns"}),
        "chain": frozenset({"node"}),
        "anaphoric_pronouns": frozenset({"pronoun"}),
    },
)

Mention = Tuple[int, int]
"""First token and token after the last, counted from 0 in document order; an entity counts as one token."""

BY_SPAN = frozenset({"task3", "task4"})
"""Tasks whose mentions are spans."""


class Places:
    """The places of one input text, by which the mentions of one file about it are read.

    Args:
        task: its id.
        expected: `entities` (ids) and, in task 1, `pronouns` (ids), or `nodes` (ids in document order) of the text.
        file: name of the file that refers to them, for messages.
        fault: called with each reference to nothing.

    Attributes:
        asked: the pronouns to resolve, where the input lists them (task 1).
    """

    def __init__(self, task: str, expected: Mapping[str, List[str]], file: str, fault: Fault) -> None:
        self.file = file
        self.fault = fault
        self.by_span = task in BY_SPAN
        known = expected["nodes"] if self.by_span else expected["entities"]
        self.known = {identifier: index for index, identifier in enumerate(known)}
        self.asked: Optional[FrozenSet[Mention]] = None
        if "pronouns" in expected:
            asked = map(self.known.__getitem__, expected["pronouns"])
            self.asked = frozenset((entity, entity + 1) for entity in asked)

    def mention(self, element: Element) -> Optional[Mention]:
        """The mention that an element names; None, with the fault recorded, where there is none."""
        if not self.by_span:
            entity = self._place(element, "id")
            return None if entity is None else (entity, entity + 1)
        start, end = self._place(element, "start"), self._place(element, "end")
        if start is None or end is None:
            return None
        if start < end:
            return start, end
        value = f"{element.attributes['start']} to {element.attributes['end']}"
        self.record(element.line, "a span that does not end after its start", value, "end after start")
        return None

    def _place(self, element: Element, attribute: str) -> Optional[int]:
        value = element.attributes.get(attribute)
        expected = "the id of a node of the input" if self.by_span else "the id of an entity of the input"
        if value is None:
            self.record(element.line, f"<{element.name}> without {attribute}", "", f'{attribute}="…", {expected}')
            return None
        place = self.known.get(value.strip())
        if place is None:
            self.record(element.line, f"unknown {attribute} in <{element.name}>", value.strip(), expected)
        return place

    def record(self, line: int, rule: str, value: str, expected: str) -> None:
        self.fault(f"{self.file}:{line}", rule, value, expected)


def overlap(one: Mention, other: Mention) -> float:
    """Common tokens over the tokens of the longer span, from 0 to 1 (exactly the same span).

    Source: ARE, "Evaluation metrics": overlap = length of the overlap / max(length of one, length of the other).
    """
    common = min(one[1], other[1]) - max(one[0], other[0])
    return max(common, 0) / max(one[1] - one[0], other[1] - other[0])


def trimmed(element: Element, attribute: str) -> Optional[str]:
    """An attribute without the blanks around it; None where the element has none of that name."""
    value = element.attributes.get(attribute)
    return value and value.strip()


def as_written(element: Element) -> str:
    """What an element refers to, for messages."""
    return " ".join(element.attributes[name] for name in ("id", "start", "end") if name in element.attributes)


class AnswerKey(NamedTuple):
    """The gold of one text: its chains, and the pronouns to resolve."""

    chains: List[List[Mention]]
    pronouns: List[Mention]


def read_pairs(text: str, places: Places) -> Dict[Mention, Mention]:
    """Pronoun → antecedent, of a file's content. Every fault is recorded, and its pair left out."""
    pairs = _Pairs(places)
    if read_elements(text, places.file, _PAIRS, places.fault, pairs.add):
        pairs.close()
    return pairs.answers


def read_chains(text: str, places: Places) -> List[List[Mention]]:
    """The chains of a response. Every fault is recorded, and its mention left out."""
    chains = _Chains(places)
    if read_elements(text, places.file, _CHAINS, places.fault, chains.add):
        chains.close()
    return chains.chains


def read_key(text: str, places: Places) -> AnswerKey:
    """The chains of a key and its anaphoric pronouns, each of which must be in a chain."""
    chains = _Chains(places)
    lines: Dict[Mention, int] = {}

    def add(element: Element) -> None:
        if element.name in ("chain", "node"):
            chains.add(element)
        elif element.name == "pronoun":
            mention = places.mention(element)
            if mention in lines:
                places.record(element.line, "a repeated pronoun", as_written(element), "each pronoun once")
            elif mention is not None:
                lines[mention] = element.line

    if read_elements(text, places.file, _KEY, places.fault, add):
        chains.close()
        for mention, line in lines.items():
            if mention not in chains.placed:
                places.record(line, "a pronoun that is not in any chain", "", "every anaphoric pronoun in a chain")
    return AnswerKey(chains.chains, list(lines))


class _Pairs:
    """Collects pairs, one for each pronoun."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.answers: Dict[Mention, Mention] = {}
        self.pair: Optional[Element] = None
        self.parts: Dict[str, Optional[Mention]] = {}
        self.value = ""

    def add(self, element: Element) -> None:
        if element.name == "pair":
            self.close()
            self.pair = element
        elif element.name in self.parts:
            rule = f"a second <{element.name}> in one pair"
            self.places.record(element.line, rule, "", f"one <{element.name}>")
        else:
            self.parts[element.name] = self.places.mention(element)
            if element.name == "pronoun":
                self.value = as_written(element)

    def close(self) -> None:
        """Put the pair that was read last among the answers."""
        pair, parts = self.pair, self.parts
        self.pair, self.parts = None, {}
        if pair is None:
            return
        for name in ("pronoun", "antecedent"):
            if name not in parts:
                self.places.record(pair.line, f"a pair without <{name}>", "", f"one <{name}> in each pair")
        pronoun, antecedent = parts.get("pronoun"), parts.get("antecedent")
        if pronoun is None:
            return
        if self.places.asked is not None and pronoun not in self.places.asked:
            expected = "a pronoun that <anaphoric_pronouns> of the input lists"
            self.places.record(pair.line, "a pronoun that is not to be resolved", self.value, expected)
        elif pronoun in self.answers:
            self.places.record(pair.line, "a second answer for one pronoun", self.value, "one pair for a pronoun")
        elif antecedent is not None:
            self.answers[pronoun] = antecedent


class _Chains:
    """Collects chains, each mention of which may occur once in the file."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.chains: List[List[Mention]] = []
        self.placed: Set[Mention] = set()
        self.without_node: Optional[Element] = None

    def add(self, element: Element) -> None:
        if element.name == "chain":
            self.close()
            self.without_node = element
            self.chains.append([])
            return
        self.without_node = None
        mention = self.places.mention(element)
        if mention in self.placed:
            rule = "a mention that is already in a chain"
            self.places.record(element.line, rule, as_written(element), "each mention once, in one chain")
        elif mention is not None:
            self.placed.add(mention)
            self.chains[-1].append(mention)

    def close(self) -> None:
        """Record a fault when the chain that was read last is empty."""
        if self.without_node is not None:
            self.places.record(self.without_node.line, "a chain without <node>", "", "at least one <node>")
