"""Reads pairs (tasks 1 and 3) and chains (tasks 2 and 4; keys of all tasks)."""

from __future__ import annotations

from typing import Collection, Dict, List, NamedTuple, Optional, Set

from are2007.mentions import Mention, Places, as_written
from scoring_kit.xml_reading import Element, read_elements

ROOT = "document"
_PAIRS = {ROOT: frozenset({"pair"}), "pair": frozenset({"pronoun", "antecedent"})}
_CHAINS = {ROOT: frozenset({"chain"}), "chain": frozenset({"node"})}
_KEY = {
    **_CHAINS,
    ROOT: frozenset({"chain", "anaphoric_pronouns"}),
    "anaphoric_pronouns": frozenset({"pronoun"}),
}


class Key(NamedTuple):
    """The gold of one text: its chains, and the pronouns to resolve."""

    chains: List[List[Mention]]
    pronouns: List[Mention]


def read_pairs(text: str, places: Places, asked: Optional[Collection[Mention]]) -> Dict[Mention, Mention]:
    """Pronoun → antecedent. Every fault is told, and its pair left out.

    Args:
        text: the file's content.
        places: of the text that it answers.
        asked: the pronouns to resolve, where the input lists them (task 1).
    """
    answers: Dict[Mention, Mention] = {}
    line = 0
    parts: Dict[str, Element] = {}
    for element in read_elements(text, places.file, _PAIRS, ROOT, places.fault):
        if element.name == "pair":
            if line:
                _add_answer(answers, line, parts, places, asked)
            line, parts = element.line, {}
        elif element.name in parts:
            places.tell(element.line, f"a second <{element.name}> in one pair", "", f"one <{element.name}>")
        else:
            parts[element.name] = element
    if line:
        _add_answer(answers, line, parts, places, asked)
    return answers


def _add_answer(
    answers: Dict[Mention, Mention],
    line: int,
    parts: Dict[str, Element],
    places: Places,
    asked: Optional[Collection[Mention]],
) -> None:
    for name in ("pronoun", "antecedent"):
        if name not in parts:
            places.tell(line, f"a pair without <{name}>", "", f"one <{name}> in each pair")
    mentions = {name: places.mention(part) for name, part in parts.items()}
    pronoun, antecedent = mentions.get("pronoun"), mentions.get("antecedent")
    if pronoun is None:
        return
    value = as_written(parts["pronoun"])
    if asked is not None and pronoun not in asked:
        expected = "a pronoun that <anaphoric_pronouns> of the input lists"
        places.tell(line, "a pronoun that is not to be resolved", value, expected)
    elif pronoun in answers:
        places.tell(line, "a second answer for one pronoun", value, "one pair for a pronoun")
    elif antecedent is not None:
        answers[pronoun] = antecedent


def read_chains(text: str, places: Places) -> List[List[Mention]]:
    """The chains of a response. Every fault is told, and its mention left out."""
    chains = _Chains(places)
    for element in read_elements(text, places.file, _CHAINS, ROOT, places.fault):
        chains.add(element)
    return chains.finished()


def read_key(text: str, places: Places) -> Key:
    """The chains of a key and its anaphoric pronouns, each of which must be in a chain."""
    chains = _Chains(places)
    lines: Dict[Mention, int] = {}
    for element in read_elements(text, places.file, _KEY, ROOT, places.fault):
        if element.name in ("chain", "node"):
            chains.add(element)
        elif element.name == "pronoun":
            mention = places.mention(element)
            if mention in lines:
                places.tell(element.line, "a repeated pronoun", as_written(element), "each pronoun once")
            elif mention is not None:
                lines[mention] = element.line
    for mention, line in lines.items():
        if mention not in chains.placed:
            places.tell(line, "a pronoun that is in no chain", "", "every anaphoric pronoun in a chain")
    return Key(chains.finished(), list(lines))


class _Chains:
    """Collects chains, each mention of which stands once in the file."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.chains: List[List[Mention]] = []
        self.placed: Set[Mention] = set()
        self.line_without_node = 0

    def add(self, element: Element) -> None:
        if element.name == "chain":
            self._tell_empty()
            self.line_without_node = element.line
            self.chains.append([])
            return
        self.line_without_node = 0
        mention = self.places.mention(element)
        if mention in self.placed:
            rule = "a mention that stands in a chain already"
            self.places.tell(element.line, rule, as_written(element), "each mention once, in one chain")
        elif mention is not None:
            self.placed.add(mention)
            self.chains[-1].append(mention)

    def finished(self) -> List[List[Mention]]:
        self._tell_empty()
        return self.chains

    def _tell_empty(self) -> None:
        if self.line_without_node:
            self.places.tell(self.line_without_node, "a chain without <node>", "", "at least one <node>")
