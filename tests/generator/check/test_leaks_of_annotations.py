"""Gold tags and spans are found in the forms in which people write them down; their texts alone are no gold."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.generator.check.drafts import delete, new, put, secret, write
from tests.generator.check.test_leaks_disguises import said

DRAW = random.Random(3)
NAMES = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Paris", "Oslo", "Rome"]
WORDS = ["met", "saw", "the", "river", "and", "left", "for", "a", "long", "winter"]
IDS = [f"d-{number:04x}" for number in DRAW.sample(range(65536), 40)]


def sentence() -> list[tuple[str, str]]:
    pairs = []
    for _ in range(3):
        pairs += [(word, "O") for word in DRAW.sample(WORDS, 2)]
        if DRAW.random() < 0.6:
            first, *rest = DRAW.choice(NAMES).split()
            pairs += [(first, "B-X"), *((word, "I-X") for word in rest)]
    return pairs


SENTENCES = [sentence() for _ in IDS]
TOKENS = [[word for word, _ in pairs] for pairs in SENTENCES]
TAGS = [[tag for _, tag in pairs] for pairs in SENTENCES]


def marked(text: str, places: list[list[object]], begin: str, end: str) -> str:
    for first, last, _ in reversed(places):
        at, to = int(str(first)), int(str(last))
        text = f"{text[:at]}{begin}{text[at:to]}{end}{text[to:]}"
    return text


def spans(pairs: list[tuple[str, str]]) -> list[list[object]]:
    found: list[list[object]] = []
    at = 0
    for word, tag in pairs:
        if tag == "B-X":
            found.append([at, at + len(word), "X"])
        elif tag == "I-X":
            found[-1][1] = at + len(word)
        at += len(word) + 1
    return found


def rows(*columns: list[str]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True)).encode()


def records(**columns: Sequence[object]) -> bytes:
    found = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(record) + "\n" for record in found).encode()


TEXTS = [" ".join(tokens) for tokens in TOKENS]
SPANS = [spans(pairs) for pairs in SENTENCES]
GOLDS = {
    "tags": ("gold.jsonl", records(id=IDS, tokens=TOKENS, gold=TAGS)),
    "spans": ("gold.jsonl", records(id=IDS, text=TEXTS, gold=SPANS)),
    "tags in cells": (
        "gold.csv",
        b"id,tokens,gold\n"
        + b"".join(
            f"{one},{text},{' '.join(tags)}\n".encode() for one, text, tags in zip(IDS, TEXTS, TAGS, strict=True)
        ),
    ),
}
WAYS = {
    "<X>": rows(IDS, [marked(*one, "<X>", "</X>") for one in zip(TEXTS, SPANS, strict=True)]),
    "[]": rows(IDS, [marked(*one, "[", "]") for one in zip(TEXTS, SPANS, strict=True)]),
    "word/TAG": rows(IDS, [" ".join(f"{word}/{tag[-1]}" for word, tag in pairs) for pairs in SENTENCES]),
    "numbers for tags": records(
        id=IDS, tokens=TOKENS, ner_tags=[[["O", "B-X", "I-X"].index(tag) for tag in tags] for tags in TAGS]
    ),
    "spans": records(id=IDS, text=TEXTS, found=SPANS),
    "objects": records(
        id=IDS,
        text=TEXTS,
        ents=[[dict(zip(("start", "end", "label"), span, strict=True)) for span in found] for found in SPANS],
    ),
    "tags": records(id=IDS, words=TEXTS, bio=TAGS),
}


def rules(gold: str, files: dict[str, bytes], folder: Path) -> set[str]:
    name, data = GOLDS[gold]
    draft = new(
        delete("ref/truth.txt"),
        write(f"ref/{name}", data),
        secret({"name": name, "key": ["id"], "columns": ["gold"], "public": ["text", "tokens"]}),
        put("phases", 0, "public_data", "public"),
        *(write(f"public/{file}", content) for file, content in files.items()),
    )
    return set(said(draft, folder))


@pytest.mark.parametrize("gold", GOLDS)
@pytest.mark.parametrize("way", WAYS)
def test_marks_of_entities_are_found_in_any_form(gold: str, way: str, tmp_path: Path) -> None:
    data = WAYS[way]
    assert "leak" in rules(gold, {f"sample.{'jsonl' if data[:1] == b'{' else 'tsv'}": data}, tmp_path)


@pytest.mark.parametrize("gold", GOLDS)
def test_files_of_brat_are_found(gold: str, tmp_path: Path) -> None:
    files = {}
    for one, text, found in zip(IDS, TEXTS, SPANS, strict=True):
        lines = [f"T{at}\tX {s} {e}\t{text[int(str(s)) : int(str(e))]}\n" for at, (s, e, _) in enumerate(found, 1)]
        files[f"ann/{one}.ann"] = "".join(lines).encode()
    assert "leak" in rules(gold, files, tmp_path)


@pytest.mark.parametrize("gold", GOLDS)
def test_texts_alone_are_no_gold(gold: str, tmp_path: Path) -> None:
    pos = rows(IDS, [" ".join(f"{word}/{DRAW.choice('NVO')}" for word in tokens) for tokens in TOKENS])
    cited = rows(IDS, [f"{text} [{DRAW.randint(1, 9)}] <b>{text.split()[0]}</b>" for text in TEXTS])
    inputs = records(id=IDS, text=TEXTS, lengths=[[len(word) for word in tokens] for tokens in TOKENS])
    found = rules(gold, {"pos.tsv": pos, "cited.tsv": cited, "inputs.jsonl": inputs}, tmp_path)
    assert not {rule for rule in found if "gold" in rule or "leak" in rule}
