"""Reads pairs (tasks 1 and 3) and chains (tasks 2 and 4; keys of all tasks)."""

from typing import Collection, Dict, List, NamedTuple, Optional, Set

from are2007.mentions import Mention, Places, as_written
from scoring_kit.xml_reading import Element, Shape, read_elements

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


class AnswerKey(NamedTuple):
    """The gold of one text: its chains, and the pronouns to resolve."""

    chains: List[List[Mention]]
    pronouns: List[Mention]


def read_pairs(text: str, places: Places, asked: Optional[Collection[Mention]]) -> Dict[Mention, Mention]:
    """Pronoun → antecedent. Every fault is recorded, and its pair left out.

    Args:
        text: the file's content.
        places: of the text that it answers.
        asked: the pronouns to resolve, where the input lists them (task 1).
    """
    pairs = _Pairs(places, asked)
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

    def __init__(self, places: Places, asked: Optional[Collection[Mention]]) -> None:
        self.places = places
        self.asked = asked
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
        if self.asked is not None and pronoun not in self.asked:
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
