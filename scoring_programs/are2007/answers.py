"""Reads pairs (tasks 1 and 3) and chains (tasks 2 and 4; keys of all tasks) of mentions.

A mention is an entity of the input (tasks 1 and 2) or a span between its nodes (tasks 3 and 4). Only ids and positions
count, never the string in a `value` attribute (ARE, "Evaluation metrics").
"""

from functools import cache
from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Set, Tuple
from xml.parsers import expat

from scoring_kit.errors import Fault, shown

Attributes = Dict[str, str]
Handle = Callable[[str, Attributes, int], None]
"""Called with an element: its name, its attributes and the line of its start tag."""


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


def read_elements(text: str, file: str, shape: Shape, fault: Fault, handle: Handle) -> bool:
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

    def start(name: str, attributes: Attributes) -> None:
        nonlocal skipped
        parent = opened[-1]
        if skipped:
            skipped += 1
        elif name in children.get(parent, ()):
            opened.append(name)
            if parent:
                handle(name, attributes, parser.CurrentLineNumber)
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
    finally:  # else the parser and its handlers hold each other, and all that was read
        parser.StartElementHandler = parser.EndElementHandler = parser.StartDoctypeDeclHandler = None
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
        self.known = _numbered(tuple(known))
        self.asked: Optional[FrozenSet[Mention]] = None
        if "pronouns" in expected:
            asked = [self.known[pronoun] for pronoun in expected["pronouns"]]
            self.asked = frozenset((entity, entity + 1) for entity in asked)

    def mention(self, name: str, attributes: Attributes, line: int) -> Optional[Mention]:
        """Return the mention that an element names; None, with the fault recorded, where there is none."""
        known = self.known
        try:
            if not self.by_span:
                entity = known[attributes["id"].strip()]
                return entity, entity + 1
            start, end = known[attributes["start"].strip()], known[attributes["end"].strip()]
        except KeyError:
            self._record_unknown(name, attributes, line)
            return None
        if start < end:
            return start, end
        value = f"{attributes['start']} to {attributes['end']}"
        self.record(line, "a span that does not end after its start", value, "end after start")
        return None

    def _record_unknown(self, name: str, attributes: Attributes, line: int) -> None:
        expected = "the id of a node of the input" if self.by_span else "the id of an entity of the input"
        for attribute in ("start", "end") if self.by_span else ("id",):
            if attribute not in attributes:
                self.record(line, f"<{name}> without {attribute}", "", f'{attribute}="…", {expected}')
                continue
            value = attributes[attribute].strip()
            if value not in self.known:
                self.record(line, f"unknown {attribute} in <{name}>", value, expected)

    def record(self, line: int, rule: str, value: str, expected: str) -> None:
        self.fault(f"{self.file}:{line}", rule, value, expected)


@cache
def _numbered(ids: Tuple[str, ...]) -> Mapping[str, int]:
    """Id → its place among the ids of a text: made once for all submissions that a process scores."""
    return {identifier: index for index, identifier in enumerate(ids)}


def overlap(one: Mention, other: Mention) -> float:
    """Common tokens over the tokens of the longer span, from 0 to 1 (exactly the same span).

    Source: ARE, "Evaluation metrics": overlap = length of the overlap / max(length of one, length of the other).
    """
    if one == other:
        return 1.0
    common = min(one[1], other[1]) - max(one[0], other[0])
    return max(common, 0) / max(one[1] - one[0], other[1] - other[0])


def as_written(attributes: Attributes) -> str:
    """Return what an element refers to, for messages."""
    return " ".join(attributes[name] for name in ("id", "start", "end") if name in attributes)


class AnswerKey(NamedTuple):
    """The gold of one text: its chains, and the pronouns to resolve."""

    chains: List[List[Mention]]
    pronouns: List[Mention]


def read_pairs(text: str, places: Places) -> Dict[Mention, Mention]:
    """Return pronoun → antecedent, of a file's content. Every fault is recorded, and its pair left out."""
    pairs = _Pairs(places)
    if read_elements(text, places.file, _PAIRS, places.fault, pairs.add):
        pairs.close()
    return pairs.answers


def read_chains(text: str, places: Places) -> List[List[Mention]]:
    """Return the chains of a response. Every fault is recorded, and its mention left out."""
    chains = _Chains(places)
    if read_elements(text, places.file, _CHAINS, places.fault, chains.add):
        chains.close()
    return chains.chains


def read_key(text: str, places: Places) -> AnswerKey:
    """Return the chains of a key and its anaphoric pronouns, each of which must be in a chain."""
    chains = _Chains(places)
    lines: Dict[Mention, int] = {}

    def add(name: str, attributes: Attributes, line: int) -> None:
        if name in ("chain", "node"):
            chains.add(name, attributes, line)
        elif name == "pronoun":
            mention = places.mention(name, attributes, line)
            if mention in lines:
                places.record(line, "a repeated pronoun", as_written(attributes), "each pronoun once")
            elif mention is not None:
                lines[mention] = line

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
        self.line = 0  # of the pair that is being read
        self.parts: Dict[str, Optional[Mention]] = {}
        self.pronoun: Attributes = {}

    def add(self, name: str, attributes: Attributes, line: int) -> None:
        if name == "pair":
            self.close()
            self.line = line
        elif name in self.parts:
            self.places.record(line, f"a second <{name}> in one pair", "", f"one <{name}>")
        else:
            self.parts[name] = self.places.mention(name, attributes, line)
            if name == "pronoun":
                self.pronoun = attributes

    def close(self) -> None:
        """Put the pair that was read last among the answers."""
        line, parts = self.line, self.parts
        self.line, self.parts = 0, {}
        if not line:
            return
        for name in ("pronoun", "antecedent"):
            if name not in parts:
                self.places.record(line, f"a pair without <{name}>", "", f"one <{name}> in each pair")
        pronoun, antecedent = parts.get("pronoun"), parts.get("antecedent")
        if pronoun is None:
            return
        if self.places.asked is not None and pronoun not in self.places.asked:
            expected = "a pronoun that <anaphoric_pronouns> of the input lists"
            self.places.record(line, "a pronoun that is not to be resolved", as_written(self.pronoun), expected)
        elif pronoun in self.answers:
            value = as_written(self.pronoun)
            self.places.record(line, "a second answer for one pronoun", value, "one pair for a pronoun")
        elif antecedent is not None:
            self.answers[pronoun] = antecedent


class _Chains:
    """Collects chains, each mention of which may occur once in the file."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.chains: List[List[Mention]] = []
        self.placed: Set[Mention] = set()
        self.without_node = 0  # the line of a chain of which no node has been read so far

    def add(self, name: str, attributes: Attributes, line: int) -> None:
        if name == "chain":
            self.close()
            self.without_node = line
            self.chains.append([])
            return
        self.without_node = 0
        mention = self.places.mention(name, attributes, line)
        if mention in self.placed:
            value = as_written(attributes)
            self.places.record(line, "a mention that is already in a chain", value, "each mention once, in one chain")
        elif mention is not None:
            self.placed.add(mention)
            self.chains[-1].append(mention)

    def close(self) -> None:
        """Record a fault when the chain that was read last is empty."""
        if self.without_node:
            self.places.record(self.without_node, "a chain without <node>", "", "at least one <node>")
