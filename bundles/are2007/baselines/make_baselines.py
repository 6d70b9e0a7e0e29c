"""Writes the baselines of ARE from what participants have: the inputs in `data/public`.

- `good`: a pronoun refers to the nearest earlier mention that may be meant – a pronoun of its kind, or a noun phrase
  whose words speak of a person, a group or a thing; noun phrases with the same last word are one chain. Where mentions
  are not given (tasks 3 and 4), they are names, and "the", "a" or a number with the words that follow.
- `weak`: a pronoun refers to the mention before it; two neighbouring mentions are a chain.

Run it from anywhere: `python make_baselines.py`.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).resolve().parents[1] / "data"

KINDS = {
    **dict.fromkeys(("she", "her"), "woman"),
    **dict.fromkeys(("he", "him", "his"), "man"),
    **dict.fromkeys(("it", "its"), "thing"),
    **dict.fromkeys(("they", "them", "their"), "group"),
    "i": "speaker",
}
PERSON = re.compile(r"mayor|master|judge|engineer|poet|head|^[A-Z]\w+$|^[A-Z]\w+ [A-Z]\w+")
PLURAL = re.compile(r"workers|residents|fishermen|reporters|newspapers")
DETERMINERS = {"the", "a", "an", "about", "two", "three"}
STOP = re.compile(
    r"^(\W|of|on|in|from|for|had|has|is|was|said|told|called|thanked|wanted|knew|left|wrote|denied|met|and|but|when|that"
    r"|arrived|answered|later|did|will)$"
)


class Mention(NamedTuple):
    """A mention: the attributes that name it, its words, its first and last token."""

    place: str
    words: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """What it may stand for; noun phrases may be several things, written together."""
        if self.words.lower() in KINDS:
            return KINDS[self.words.lower()]
        if PLURAL.search(self.words):
            return "group"
        return "woman man" if PERSON.search(self.words) else "thing"

    @property
    def is_pronoun(self) -> bool:
        """Whether it is one of the pronouns that are resolved."""
        return self.words.lower() in KINDS


Resolve = Callable[[Mention, Sequence[Mention]], Mention | None]


def nearest_fitting(pronoun: Mention, mentions: Sequence[Mention]) -> Mention | None:
    """The good baseline's antecedent."""
    before = [mention for mention in mentions if mention.end <= pronoun.start and pronoun.kind in mention.kind.split()]
    return max(before, key=lambda mention: mention.end, default=None)


def nearest(pronoun: Mention, mentions: Sequence[Mention]) -> Mention | None:
    """The weak baseline's antecedent."""
    before = [mention for mention in mentions if mention.end <= pronoun.start]
    return max(before, key=lambda mention: mention.end, default=None)


def by_last_word(mentions: Sequence[Mention]) -> list[list[Mention]]:
    """The good baseline's chains: noun phrases with the same last word before a comma, and their pronouns."""
    chains: dict[str, list[Mention]] = {}
    name_of: dict[Mention, str] = {}
    for mention in mentions:
        antecedent = nearest_fitting(mention, mentions) if mention.is_pronoun else None
        head = re.split(r" (?:,|of|on|with|from) ", mention.words)[0].split()[-1].lower()
        name_of[mention] = name_of.get(antecedent, head) if antecedent else head
        chains.setdefault(name_of[mention], []).append(mention)
    return [chain for chain in chains.values() if len(chain) > 1]


def by_neighbourhood(mentions: Sequence[Mention]) -> list[list[Mention]]:
    """The weak baseline's chains."""
    return [list(mentions[place : place + 2]) for place in range(0, len(mentions), 2)]


def given(root: ET.Element) -> list[Mention]:
    """The entities of an input of tasks 1 and 2, in the order of the text."""
    mentions = []
    length = 0

    def visit(element: ET.Element) -> None:
        nonlocal length
        start = length
        length += len((element.text or "").split())
        for child in element:
            visit(child)
            length += len((child.tail or "").split())
        if element.tag == "entity":
            words = " ".join("".join(element.itertext()).split())
            mentions.append(Mention(f'id="{element.get("id")}"', words, start, length))

    for text in root.iter("text"):
        visit(text)
    return sorted(mentions, key=lambda mention: (mention.start, -mention.end))


def found(root: ET.Element) -> list[Mention]:
    """The mentions that simple patterns find in an input of tasks 3 and 4."""
    nodes = [node.get("id") for node in root.iter("node")]
    tokens = [(node.tail or "").strip() for node in root.iter("node")][:-1]
    mentions, place = [], 0
    while place < len(tokens):
        end = place + 1
        if tokens[place].lower() in DETERMINERS or (tokens[place][:1].isupper() and tokens[place - 1] != "."):
            while end < len(tokens) and not STOP.match(tokens[end].lower()):
                end += 1
        elif tokens[place].lower() not in KINDS:
            place = end
            continue
        words = " ".join(tokens[place:end])
        mentions.append(Mention(f'start="{nodes[place]}" end="{nodes[end]}"', words, place, end))
        place = end
    return mentions


def pairs(mentions: Sequence[Mention], asked: Sequence[Mention], resolve: Resolve) -> str:
    """The answer to tasks 1 and 3."""
    lines = []
    for number, pronoun in enumerate(asked, 1):
        antecedent = resolve(pronoun, mentions)
        if antecedent:
            lines.append(f'<pair id="p{number}"><pronoun {pronoun.place}/><antecedent {antecedent.place}/></pair>\n')
    return "".join(lines)


def chains(groups: Sequence[Sequence[Mention]]) -> str:
    """The answer to tasks 2 and 4."""
    lines = []
    for number, group in enumerate(groups, 1):
        nodes = "".join(f"<node {mention.place}/>" for mention in group)
        lines.append(f'<chain id="c{number}">{nodes}</chain>\n')
    return "".join(lines)


def answer(task: str, root: ET.Element, baseline: str) -> str:
    """What stands inside the answer's root."""
    is_good = baseline == "good"
    mentions = given(root) if task in ("task1", "task2") else found(root)
    if task in ("task2", "task4"):
        grouped = by_last_word if is_good else by_neighbourhood
        return chains(grouped(mentions))
    listed = {f'id="{pronoun.get("id")}"' for pronoun in root.iter("pronoun")}
    if task == "task1":
        asked = [mention for mention in mentions if mention.place in listed]
    else:
        asked = [mention for mention in mentions if mention.is_pronoun]
    resolve = nearest_fitting if is_good else nearest
    return pairs(mentions, asked, resolve)


def main() -> None:
    """Write both baselines for all phases and tasks."""
    for path in sorted((DATA / "public").glob("*/*/*-input.xml")):
        phase, task = path.parts[-3:-1]
        root = ET.parse(path).getroot()  # noqa: S314 (the project's own data)
        for baseline in ("good", "weak"):
            folder = DATA / "baselines" / phase / baseline / task
            folder.mkdir(parents=True, exist_ok=True)
            content = f"<document>\n{answer(task, root, baseline)}</document>\n"
            name = path.name.replace("-input.xml", "-output.xml")
            (folder / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
