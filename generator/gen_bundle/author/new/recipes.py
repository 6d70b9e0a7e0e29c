"""Small made-up gold data of each kind of task, for a start without a gold file."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gen_bundle.author.new.propose import Choices
from gen_bundle.ground.tables.table import FileTable

ITEMS = 60
PLACES = ("harbour", "library", "station", "market", "museum", "garden")
PEOPLE = ("Ada Lind", "Noor Haas", "Tomas Vale", "Ines Roca", "Karl Brandt")
PRAISE = {"positive": "a delight", "neutral": "as expected", "negative": "a disappointment"}
TOPICS = {"food": "the food", "staff": "the staff", "price": "the prices", "noise": "the noise"}
DEGREES = ("hardly", "somewhat", "rather", "very", "extremely")
Row = list[Any]


def recipe_gold(kind: str) -> tuple[FileTable, Choices]:
    """The made-up gold of a recipe, and what its columns are for."""
    names, suffix, make, answers = RECIPES[kind]
    choices = Choices(names[:1], answers, names[1:2])
    if not answers:
        choices = replace(choices, rows="many")
    chance = random.Random(kind)  # noqa: S311 - data, not secrets
    rows: list[Row] = []
    for number in range(1, ITEMS + 1):
        rows += make(number, chance)
    return FileTable.of_rows(f"gold{suffix}", suffix, names, list(enumerate(rows, 1))), choices


def _classification(number: int, chance: random.Random) -> list[Row]:
    label = chance.choice(list(PRAISE))
    return [[f"r{number}", f"The {chance.choice(PLACES)} was {PRAISE[label]}.", label]]


def _multilabel(number: int, chance: random.Random) -> list[Row]:
    topics = sorted(chance.sample(list(TOPICS), chance.randint(0, 3)))
    named = " and ".join(TOPICS[topic] for topic in topics) or "nothing in particular"
    return [[f"r{number}", f"At the {chance.choice(PLACES)} we noticed {named}.", "|".join(topics)]]


def _regression(number: int, chance: random.Random) -> list[Row]:
    degree = chance.randrange(len(DEGREES))
    value = (degree + chance.random()) / len(DEGREES)
    return [[f"r{number}", f"I was {DEGREES[degree]} pleased with the {chance.choice(PLACES)}.", f"{value:.2f}"]]


def _sentence(chance: random.Random) -> tuple[list[str], list[str]]:
    """Tokens of a sentence, and their tags."""
    person, place = chance.choice(PEOPLE).split(), chance.choice(PLACES).capitalize()
    tokens = [*person, "met", *chance.choice([["nobody"], ["Ada", "Lind"]]), "at", place, "Square", "."]
    tags = ["B-PER", "I-PER", "O", *(["O"] if "nobody" in tokens else ["B-PER", "I-PER"]), "O", "B-LOC", "I-LOC", "O"]
    return tokens, tags


def _tagging(number: int, chance: random.Random) -> list[Row]:
    tokens, tags = _sentence(chance)
    return [[f"s{number}", tokens, tags]]


def _spans(number: int, chance: random.Random) -> list[Row]:
    tokens, tags = _sentence(chance)
    spans: list[Row] = []
    start = 0
    for token, tag in zip(tokens, tags, strict=True):
        end = start + len(token)
        if tag.startswith("B-"):
            spans.append([start, end, tag[2:]])
        elif tag.startswith("I-"):
            spans[-1][1] = end
        start = end + 1
    return [[f"s{number}", " ".join(tokens), spans]]


def _ranking(number: int, chance: random.Random) -> list[Row]:
    wanted = chance.choice(PLACES)
    best = {wanted: 2, chance.choice([place for place in PLACES if place != wanted]): 1}
    return [
        [f"q{number}", f"opening hours of the {wanted}", f"page-{place}", str(best.get(place, 0))] for place in PLACES
    ]


def _generation(number: int, chance: random.Random) -> list[Row]:
    person, place = chance.choice(PEOPLE), chance.choice(PLACES)
    notes = f"{person}; {place}; opened on day {number}"
    references = [
        f"{person} opened the {place} on day {number}.",
        f"On day {number} the {place} was opened by {person}.",
    ]
    return [[f"g{number}", notes, references]]


Answers = Sequence[tuple[str, str | None]]

RECIPES: dict[str, tuple[Sequence[str], str, Callable[[int, random.Random], list[Row]], Answers]] = {
    "classification": (["id", "text", "label"], ".csv", _classification, [("label", None)]),
    "multilabel": (["id", "text", "topics"], ".csv", _multilabel, [("topics", None)]),
    "regression": (["id", "text", "pleasure"], ".csv", _regression, [("pleasure", None)]),
    "spans": (["id", "text", "spans"], ".jsonl", _spans, [("spans", None)]),
    "tagging": (["id", "tokens", "tags"], ".jsonl", _tagging, [("tags", None)]),
    "ranking": (["query_id", "query", "item", "relevance"], ".tsv", _ranking, []),
    "generation": (["id", "notes", "text"], ".jsonl", _generation, [("text", "texts")]),
}
"""Recipe → columns, the key first and then what participants are given; format; a key's rows; answers."""
