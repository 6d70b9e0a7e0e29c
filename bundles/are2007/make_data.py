"""Writes the synthetic data of ARE, always the same: `data/dev`, `data/test` (gold) and `data/public`.

People, places and events in them are invented. Run it from anywhere: `python make_data.py`.
"""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

DATA = Path(__file__).resolve().parent / "data"
SEED = 2007
TEXTS = {"dev": 3, "test": 4}
TASKS = ("task1", "task2", "task3", "task4")
SENTENCES = 12


class Actor(NamedTuple):
    """Someone or something that a text speaks of again and again; [x] marks an entity inside an entity."""

    first: str
    again: tuple[str, ...]
    pronouns: tuple[str, str, str]


SHE, HE, IT, THEY = ("she", "her", "her"), ("he", "him", "his"), ("it", "it", "its"), ("they", "them", "their")
PEOPLE = (
    Actor("Marta Lindqvist , the mayor of [Harrow Bay]", ("the mayor", "Lindqvist"), SHE),
    Actor("the harbour master Josef Ebner", ("Ebner", "the harbour master"), HE),
    Actor("Ines Carrow , a retired judge", ("Carrow", "the judge"), SHE),
    Actor("a young engineer from [Tolm]", ("the engineer",), HE),
    Actor("the poet Aldo Prisch", ("Prisch", "the poet"), HE),
    Actor("Vera Sond , head of [the regional bank]", ("Sond",), SHE),
)
THINGS = (
    Actor("the ferry company Norvik Lines", ("Norvik", "the company"), IT),
    Actor("a cargo ship with timber from [Ostia Minor]", ("the ship",), IT),
    Actor("the government of [Velaria]", ("the government",), IT),
    Actor("the old lighthouse on [Cape Merrow]", ("the lighthouse",), IT),
)
GROUPS = (
    Actor("about forty dock workers", ("the workers",), THEY),
    Actor("the residents of [the lower town]", ("the residents",), THEY),
    Actor("three fishermen", ("the fishermen",), THEY),
)

# A and B are people, T is a thing, G a group. A:n is a noun phrase, A:s, A:o and A:p the pronoun as subject, object and
# possessive. What stands in [ ] is an entity that is mentioned once.
OPENINGS = (
    "{A:n} told [reporters] on Monday that {A:s} would meet {G:n} .",
    "In [a short statement] , {A:n} thanked {G:n} and said that {A:s} had trusted {G:o} .",
)
TEMPLATES = (
    "{T:n} had lost [much money] , and {A:n} wanted to save {T:o} .",
    "{G:n} said that {G:s} had waited for weeks .",
    "{A:n} called {B:n} on Tuesday and asked {B:o} for [help] .",
    "It rained all night .",
    "{B:s} answered that {T:n} had [{T:p} own plans] .",
    "When {G:n} arrived , [nobody] met {G:o} .",
    "{A:s} later blamed {T:n} , which {B:n} defended .",
    "[{B:p} lawyer] said that {B:n} knew nothing of {T:o} .",
    "{G:s} left [{G:p} tools] behind and went home .",
    "{T:n} is old , and {A:n} has often praised {T:o} .",
    "It is not clear when {B:n} will return .",
    "[Two newspapers] wrote that {A:n} and {G:n} had known of [the letter] .",
    "{A:n} denied it in [an interview] , but {B:s} did not believe {A:o} .",
)
# A speaker without a name: a chain of pronouns alone.
VOICE = '" {I} heard [a noise] and {I} ran , " one voice on the radio said .'


class Mention(NamedTuple):
    """A mention: its tokens (start, end), the chain it belongs to (None: mentioned once), whether it is a pronoun."""

    start: int
    end: int
    chain: str | None
    is_pronoun: bool


class Story:
    """One text as tokens and mentions."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        people = rng.sample(PEOPLE, 2)
        self.actors = {"A": people[0], "B": people[1], "T": rng.choice(THINGS), "G": rng.choice(GROUPS)}
        self.introduced: set[str] = set()
        self.tokens: list[str] = []
        self.mentions: list[Mention] = []

    def add(self, sentence: str) -> None:
        """Add a sentence of the templates."""
        start = len(self.tokens)
        self._expand(sentence)
        first = self.tokens[start]
        self.tokens[start] = first[0].upper() + first[1:]

    def _expand(self, text: str) -> None:
        open_at: list[int] = []
        for part in re.findall(r"\{[^}]*\}|\[|\]|[^\s\[\]{}]+", text):
            if part == "[":
                open_at.append(len(self.tokens))
            elif part == "]":
                self.mentions.append(Mention(open_at.pop(), len(self.tokens), None, is_pronoun=False))
            elif part.startswith("{"):
                self._mention(*part[1:-1].partition(":")[::2])
            else:
                self.tokens.append(part)

    def _mention(self, name: str, form: str) -> None:
        start = len(self.tokens)
        if name == "I":
            self.tokens.append("I")
        elif form == "n" or name not in self.introduced:
            actor = self.actors[name]
            called = self.rng.choice(actor.again) if name in self.introduced else actor.first
            self._expand(called)
            self.introduced.add(name)
            self.mentions.append(Mention(start, len(self.tokens), name, is_pronoun=False))
            return
        else:
            self.tokens.append(self.actors[name].pronouns["sop".index(form)])
        self.mentions.append(Mention(start, len(self.tokens), name, is_pronoun=True))

    def chains(self) -> list[list[Mention]]:
        """Mentions of one actor together, in the order of the text; only chains of at least two."""
        chains: dict[str, list[Mention]] = {}
        for mention in self.sorted():
            if mention.chain:
                chains.setdefault(mention.chain, []).append(mention)
        return [chain for chain in chains.values() if len(chain) > 1]

    def pronouns(self) -> list[Mention]:
        """Those in chains, in the order of the text."""
        chained = {mention for chain in self.chains() for mention in chain}
        return [mention for mention in self.sorted() if mention.is_pronoun and mention in chained]

    def sorted(self) -> list[Mention]:
        """Mentions by their place, the longer before those inside."""
        return sorted(self.mentions, key=lambda mention: (mention.start, -mention.end))

    def words(self, mention: Mention) -> str:
        """The words of a mention."""
        return " ".join(self.tokens[mention.start : mention.end])


def story(rng: random.Random, number: int) -> Story:
    """A story of twelve sentences."""
    made = Story(rng)
    made.add(rng.choice(OPENINGS))
    for index in sorted(rng.sample(range(len(TEMPLATES)), SENTENCES - 2)):
        made.add(TEMPLATES[index])
        if number % 2 and index == 5:
            made.add(VOICE)
    return made


def with_entities(made: Story) -> tuple[str, str, str]:
    """The text with its entities, its pronouns, and the chains, as tasks 1 and 2 have them."""
    ids = {mention: str(number) for number, mention in enumerate(made.sorted(), 1)}
    pieces: list[str] = []
    for place, word in enumerate(made.tokens):
        opened = "".join(f'<entity id="{ids[m]}">' for m in made.sorted() if m.start == place)
        closed = "".join("</entity>" for m in made.mentions if m.end == place + 1)
        pieces.append(opened + escape(word) + closed + ("\n" if word == "." else " "))
    pronouns = "".join(f'  <pronoun id="{ids[m]}" value={quoteattr(made.words(m))}/>\n' for m in made.pronouns())
    return (
        f"<text>\n{''.join(pieces)}</text>\n",
        f"<anaphoric_pronouns>\n{pronouns}</anaphoric_pronouns>\n",
        _chains(made, lambda m: f'id="{ids[m]}"'),
    )


def with_nodes(made: Story) -> tuple[str, str, str]:
    """The text with its nodes, its pronouns, and the chains, as tasks 3 and 4 have them."""
    pieces = [
        f'<node id="{place}"/>{escape(word)}' + ("\n" if word == "." else " ") for place, word in enumerate(made.tokens)
    ]
    pronouns = "".join(f'  <pronoun start="{m.start}" end="{m.end}"/>\n' for m in made.pronouns())
    return (
        f'<text>\n{"".join(pieces)}<node id="{len(made.tokens)}"/>\n</text>\n',
        f"<anaphoric_pronouns>\n{pronouns}</anaphoric_pronouns>\n",
        _chains(made, lambda m: f'start="{m.start}" end="{m.end}"'),
    )


def _chains(made: Story, place: Callable[[Mention], str]) -> str:
    lines = []
    for number, chain in enumerate(made.chains(), 1):
        lines.append(f'<chain id="c{number}">\n')
        lines += [f"  <node {place(mention)} value={quoteattr(made.words(mention))}/>\n" for mention in chain]
        lines.append("</chain>\n")
    return "".join(lines)


def main() -> None:
    """Write gold and public data of both phases, other texts for each task."""
    rng = random.Random(SEED)  # noqa: S311 (invented data, no secret)
    for phase, count in TEXTS.items():
        for task in TASKS:
            for number in range(1, count + 1):
                text, pronouns, chains = (with_entities if task in ("task1", "task2") else with_nodes)(
                    story(rng, number)
                )
                name = f"{phase}-{task}-news-{number}"
                given = _document(text + (pronouns if task == "task1" else ""))
                _write(DATA / phase / task / f"{name}-input.xml", given)
                _write(DATA / "public" / phase / task / f"{name}-input.xml", given)
                key = _document(chains + (pronouns if task in ("task1", "task3") else ""))
                _write(DATA / phase / task / f"{name}-key.xml", key)


def _document(inside: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<document>\n{inside}</document>\n'


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
