"""Gold in the disguises that accidents and haste give it, and what only looks like gold; each planted alone."""

import csv
import io
import json
import pickle
import random
import struct
import zlib
from pathlib import Path

import pytest

from tests.generator.check.drafts import Draft, Edit, both, delete, kit, new, packed, png, public, put, secret, write

DRAW = random.Random(5)
IDS = [f"r{number:03}" for number in DRAW.sample(range(1000), 120)]
MOODS = [DRAW.choice(["joyful", "neutral", "sad"]) for _ in IDS]
CODES = {"joyful": "0", "neutral": "1", "sad": "2"}
NOUNS = ["river", "garden", "train", "market", "harbour", "window", "letter", "mountain", "kitchen", "winter"]
TEXTS = [" ".join(DRAW.choice(NOUNS) for _ in range(DRAW.randint(5, 12))) for _ in IDS]
POINTS = [f"{DRAW.uniform(0, 30):.3f}" for _ in IDS]
PAIRS = list(zip(IDS, MOODS, strict=True))
NUMBERS = list(zip(IDS, POINTS, strict=True))
SHUFFLED = DRAW.sample(PAIRS, len(PAIRS))


def table(*columns: list[str], names: str) -> bytes:
    """Columns as CSV; names are separated by blanks."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names.split())
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


GOLD = table(IDS, TEXTS, MOODS, names="id text mood")
REGRESSION = table(IDS, TEXTS, POINTS, names="id text points")
INPUT = table(IDS, TEXTS, names="id text")


def bundle(gold: bytes, column: str, *edits: Edit) -> Draft:
    """A bundle with this gold, of which one column is secret, and inputs in its public data."""
    return new(
        delete("ref/truth.txt"),
        write("ref/gold.csv", gold),
        secret({"name": "gold.csv", "key": ["id"], "columns": [column]}),
        public("items.csv", INPUT),
        *edits,
    )


def said(draft: Draft, folder: Path) -> dict[str, list[str]]:
    """What the check says, by rule."""
    found: dict[str, list[str]] = {}
    for finding in draft.check(folder).findings:
        found.setdefault(finding.id, []).append(finding.what)
    return found


def page(text: str) -> Edit:
    return write("overview.md", f"# Data\n\n{text}\n".encode())


def html(pairs: list[tuple[str, str]]) -> str:
    """A table as pandas shows it."""
    rows = "".join(
        f"    <tr>\n      <th>{n}</th>\n      <td>{i}</td>\n      <td>{y}</td>\n    </tr>\n"
        for n, (i, y) in enumerate(pairs)
    )
    return f'<div>\n<table border="1" class="dataframe">\n  <tbody>\n{rows}  </tbody>\n</table>\n</div>'


def notebook(*, shown: str = "", source: str = "frame") -> str:
    """A notebook with a cell that shows HTML."""
    data = {"text/html": shown.splitlines(keepends=True), "text/plain": ["..."]}
    cell = {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": [{"data": data}]}
    return json.dumps({"cells": [cell], "nbformat": 4})


STUDIO = [
    {
        "id": number,
        "data": {"ref": one, "text": text},
        "annotations": [{"id": 7 * number, "result": [{"value": {"choices": [mood]}, "type": "choices"}]}],
    }
    for number, (one, text, mood) in enumerate(zip(IDS, TEXTS, MOODS, strict=True))
]
ONE_LINE = "GOLD = {" + ", ".join(f"'{one}': '{mood}'" for one, mood in PAIRS) + "}"
CODE_LIST = f"GOLD = [{', '.join(CODES[mood] for mood in MOODS)}]\n"
SORTED = sorted(zip(IDS, TEXTS, MOODS, strict=True), key=lambda row: row[2])
POSITIVES = [one for one, mood in SHUFFLED if mood == "joyful"]
WRONG = {"joyful": "sad", "sad": "neutral", "neutral": "joyful"}
NOISY = [WRONG[mood] if place % 14 == 5 else mood for place, mood in enumerate(MOODS)]  # 93 % are right
CHANCES = [{"joyful": 0.1, "neutral": 0.5, "sad": 0.9}[mood] + DRAW.uniform(-0.09, 0.09) for mood in MOODS]
VALUES = [float(points) for points in POINTS]
RANKED = sorted(range(120), key=lambda place: VALUES[place])


def each(text: str, name: str) -> Edit:
    """A file for each item, of which the label is all or a part."""
    items = zip(IDS, TEXTS, MOODS, strict=True)
    return both(*(public(name.format(one), text.format(text=one_text, mood=mood)) for one, one_text, mood in items))


def conll(comment: str) -> str:
    return "\n\n".join(
        comment.format(one, mood) + "".join(f"\n{n}\t{word}\tNOUN" for n, word in enumerate(text.split(), start=1))
        for one, text, mood in zip(IDS, TEXTS, MOODS, strict=True)
    )


def npz() -> bytes:
    """Labels as NumPy saves texts, compressed in a zip."""
    header = b"{'descr': '<U7', 'fortran_order': False, 'shape': (120,), }".ljust(117) + b"\n"
    cells = b"".join(mood.ljust(7, "\0").encode("utf-32-le") for mood in MOODS)
    return packed({"mood.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + cells})


TABLE = "\n".join(f"{one},{mood}" for one, mood in PAIRS)
DISGUISES: dict[str, Edit] = {
    "a notebook with an HTML table": public("look.ipynb", notebook(shown=html(PAIRS))),
    "HTML in JSON": public("page.json", json.dumps({"shown": html(SHUFFLED)})),
    "an export of Label Studio": public("export.json", json.dumps(STUDIO)),
    "labels in a list of objects": public(
        "a.json", json.dumps([{"id": one, "ann": [{"tag": mood}]} for one, mood in SHUFFLED])
    ),
    "rows of JSON": public("a.json", json.dumps([[one, "a text", mood] for one, mood in SHUFFLED])),
    "a dict on a line of code": public("load.py", ONE_LINE),
    "a dict in a notebook": public("load.ipynb", notebook(source=ONE_LINE)),
    "a dict on a page": page(f"`{ONE_LINE}`"),
    "a dict of codes": public("load.py", "G = {" + ",".join(f'"{one}":{CODES[mood]}' for one, mood in SHUFFLED) + "}"),
    "a list of codes in code": public("load.py", CODE_LIST),
    "the competition's description": put("description", "; ".join(f"{one} is {mood}" for one, mood in PAIRS)),
    "a phase's description": put("phases", 0, "description", "\n".join(f"- {one}: {mood}" for one, mood in PAIRS)),
    "blocks of YAML": public("a.yaml", "".join(f"- id: {one}\n  text: a b\n  mood: {mood}\n" for one, mood in PAIRS)),
    "nested YAML": public("a.yml", "".join(f"{one}:\n  gold:\n    mood: {mood}\n" for one, mood in SHUFFLED)),
    "INI": public("a.ini", "".join(f"[{one}]\nlanguage = en\nmood = {mood}\n\n" for one, mood in PAIRS)),
    "id and label on two lines": public("a.txt", "".join(f"{one}\n{mood}\n" for one, mood in SHUFFLED)),
    "comments of CoNLL-U": public("a.conllu", conll("# sent_id = {}\n# mood = {}")),
    "CoNLL": public("a.conll", conll("#\t{}\n#\t{}")),
    "inputs sorted by label": write(
        "public/items.csv", table([row[0] for row in SORTED], [row[1] for row in SORTED], names="id text")
    ),
    "ids and labels in two files": both(
        public("ids.txt", "\n".join(one for one, _ in SHUFFLED)),
        public("labels.txt", "\n".join(m for _, m in SHUFFLED)),
    ),
    "folders of codes": both(
        *(public(f"{CODES[mood]}/{one}.txt", text) for one, text, mood in zip(IDS, TEXTS, MOODS, strict=True))
    ),
    "addresses and labels": public(
        "a.csv", "".join(f"https://a.org/t/{one}.html?v=1,{mood}\n" for one, mood in SHUFFLED)
    ),
    "labels in addresses": public("a.txt", "".join(f"https://a.org/{mood}/{one}.html\n" for one, mood in SHUFFLED)),
    "labels in links": page("\n".join(f"- [text](https://a.org/{mood}/{one}.html)" for one, mood in SHUFFLED)),
    "paths and labels": public("list.csv", "file,mood\n" + "".join(f"img\\{one}.png,{mood}\n" for one, mood in PAIRS)),
    "labels glued to ids": public("a.txt", "\n".join(f"{mood}.{one}" for one, mood in SHUFFLED)),
    "a file for each label": each("{mood}\n", "each/{}.txt"),
    "a folder for each label": each("{mood}", "each/{}/label.txt"),
    "the label below the text": each("{text}\n{mood}\n", "each/{}.txt"),
    "YAML for each": each("text: {text}\nmood: {mood}\n", "each/{}.yaml"),
    "XML for each": each("<doc><text>{text}</text><mood>{mood}</mood></doc>", "each/{}.xml"),
    "front matter": each("---\nmood: {mood}\n---\n\n{text}\n", "each/{}.md"),
    "ids by code": public(
        "a.json", json.dumps({code: [one for one, mood in PAIRS if CODES[mood] == code] for code in "012"})
    ),
    "the positives": public("hard.txt", "\n".join(POSITIVES)),
    "93 % of the labels": public("features.csv", table(IDS, NOISY, names="id pred")),
    "probabilities": public("features.csv", table(IDS, [f"{chance:.4f}" for chance in CHANCES], names="id p")),
    "an array of NumPy": public("y.npy", b"\x93NUMPY\x01\x00" + struct.pack("<120q", *(int(CODES[m]) for m in MOODS))),
    "arrays of NumPy in a zip": public("y.npz", npz()),
    "a pickle of texts": public("y.pkl", pickle.dumps(dict(PAIRS), protocol=0)),
    "a stream of PDF": public("a.pdf", b"%PDF-1.7\nstream\n" + zlib.compress(TABLE.encode()) + b"\nendstream\x00"),
    "EXIF of a photo": public("a.jpg", b"\xff\xd8\xff\xe1\x00\x00Exif\0\0" + TABLE.encode() + b"\xff\xd9"),
    "text after the logo's end": write("logo.png", png() + TABLE.encode()),
    "a byte stream": public("a.bin", zlib.compress(TABLE.encode()) + b"\0"),
    "EBCDIC": public("a.txt", TABLE.encode("cp037")),
}
REGRESSION_DISGUISES: dict[str, Edit] = {
    "whole numbers": public("a.csv", table(IDS, [f"{value:.0f}" for value in VALUES], names="id age")),
    "three bins": public("a.csv", table(IDS, ["abc"[int(value // 10.001)] for value in VALUES], names="id group")),
    "ids in order of the gold": write(
        "public/items.csv", table([IDS[place] for place in RANKED], [TEXTS[place] for place in RANKED], names="id text")
    ),
    "two annotators": public(
        "a.csv", table(IDS, [f"{v + d:.3f}" for v, d in zip(VALUES, [0.5, -0.25] * 60, strict=True)], names="id one")
    ),
    "a little noise": public("a.csv", table(IDS, [f"{v + DRAW.gauss(0, 0.5):.3f}" for v in VALUES], names="id f")),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_gold_in_disguise(name: str, tmp_path: Path) -> None:
    found = said(bundle(GOLD, "mood", DISGUISES[name]), tmp_path)
    assert found.keys() & {"leak", "leak-suspected", "not-looked-into"}, found


@pytest.mark.parametrize("name", REGRESSION_DISGUISES)
def test_numbers_in_disguise(name: str, tmp_path: Path) -> None:
    found = said(bundle(REGRESSION, "points", REGRESSION_DISGUISES[name]), tmp_path)
    assert found.keys() & {"leak", "leak-suspected"}, found


def right(share: float) -> bytes:
    """Predictions of which a share is right."""
    some = random.Random(3)
    return table(IDS, [mood if some.random() < share else WRONG[mood] for mood in MOODS], names="id mood")


def features(seed: int, highest: int, width: int = 8) -> list[list[str]]:
    """Columns of small numbers that have nothing to do with the gold."""
    some = random.Random(seed)
    return [[str(some.randint(0, highest)) for _ in IDS] for _ in range(width)]


def embeddings() -> bytes:
    some = random.Random(9)
    columns = [[f"{some.gauss(0, 1):.4f}" for _ in IDS] for _ in range(64)]
    return table(IDS, *columns, names=" ".join(["id", *map(str, range(64))]))


def answers(*predictions: bytes) -> Edit:
    """Example submissions."""
    entries = [{"index": n, "tasks": [0], "path": f"sol{n}"} for n in range(len(predictions))]
    files = (write(f"sol{n}/pred.csv", data) for n, data in enumerate(predictions))
    return both(put("solutions", entries), *files)


OTHERS = [(f"d{one}", mood) for one, (_, mood) in zip(IDS, SHUFFLED, strict=True)]
TRAIN = table([f"t{one}" for one in IDS], TEXTS, MOODS[::-1], names="id text mood")
LEXICON = "".join(f"{noun}\t{mood}\t0.{n}\n" for n, (noun, mood) in enumerate(zip(NOUNS, MOODS, strict=False)))
OPTIONS = [
    {"id": one, "text": text, "options": ["joyful", "neutral", "sad"]} for one, text in zip(IDS, TEXTS, strict=True)
]
INNOCENTS: dict[str, Edit] = {
    "training data": public("train.csv", TRAIN),
    "training data as JSON": public(
        "train.json", json.dumps([{"id": f"t{one}", "mood": mood} for one, mood in OTHERS])
    ),
    "a lexicon": public("lexicon.tsv", LEXICON),
    "a baseline, 80 % right": answers(right(0.8)),
    "a baseline, 90 % right": answers(right(0.9)),
    "a public baseline, 80 % right": public("baseline.csv", right(0.8)),
    "the most frequent label": answers(table(IDS, ["neutral"] * 120, names="id mood")),
    "a skeleton": public("skeleton.csv", table(IDS, [""] * 120, names="id mood")),
    "a skeleton with one label": kit("example.csv", table(IDS, ["neutral"] * 120, names="id mood")),
    "labels at random": kit("example.csv", table(IDS, features(2, 2, 1)[0], names="id mood")),
    "the options": public("options.json", json.dumps(OPTIONS)),
    "the labels": page("Answer `joyful`, `neutral` or `sad`: a line such as `x001,joyful` for each text."),
    "an example of an answer": page("| id | mood |\n| --- | --- |\n| x1 | joyful |\n| x2 | sad |"),
    **{
        f"features {seed}": public(
            "features.csv", table(IDS, *features(seed, 1 + seed % 4), names="id a b c d e f g h")
        )
        for seed in range(4)
    },
    "embeddings": public("vectors.csv", embeddings()),
    "speakers": public("who.csv", table(IDS, [f"{mood}-{n % 40}" for n, mood in enumerate(MOODS)], names="id speaker")),
    "lengths": public("length.csv", table(IDS, [str(len(text)) for text in TEXTS], names="id length")),
    "texts one by one": both(*(public(f"texts/{one}.txt", text) for one, text in zip(IDS, TEXTS, strict=True))),
    "YAML for each": each("text: {text}\nlang: en\n", "each/{}.yaml"),
    "texts as JSON": both(
        *(public(f"{one}.json", json.dumps({"id": one, "text": text})) for one, text in zip(IDS, TEXTS, strict=True))
    ),
    "ids in a random split": both(public("fold1.txt", "\n".join(IDS[:60])), public("fold2.txt", "\n".join(IDS[60:]))),
    "addresses": public("list.csv", "url,of\n" + "".join(f"https://a.org/t/{one}.html,web\n" for one in IDS)),
    "a notebook without gold": public(
        "a.ipynb", notebook(shown=html([(one, str(n % 7)) for n, one in enumerate(IDS)]))
    ),
    "code that reads": public("a.py", "LABELS = ['joyful', 'neutral', 'sad']\nfor one in rows:\n    print(one)\n"),
    "other gold": public("dev.csv", table(*map(list, zip(*OTHERS, strict=True)), names="id mood")),
    "dates and sources": public(
        "more.dat", table(IDS, [f"2026-01-{1 + n % 28:02}" for n in range(120)], ["web", "app"] * 60, names="id d s")
    ),
    "the schedule": put("description", "The test phase ends on 12 May 2031. Labels are joyful, neutral and sad."),
}


@pytest.mark.parametrize("name", INNOCENTS)
def test_what_only_looks_like_gold(name: str, tmp_path: Path) -> None:
    found = said(bundle(GOLD, "mood", INNOCENTS[name]), tmp_path)
    assert found.keys() & {"leak", "leak-suspected"} == set(), found
