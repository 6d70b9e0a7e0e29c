"""Columns of gold in what participants get, however they are written; and columns that only look like it."""

import csv
import io
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.generator.check.drafts import Draft, Edit, delete, leaks, new, packed, put, secret, write

DRAW = random.Random(7)
ITEMS = [f"item-{number:03}" for number in range(40)]
MOODS = [DRAW.choice(["joyful", "neutral", "sad"]) for _ in ITEMS]
POINTS = [DRAW.choice(["7", "12.5", "20", "28"]) for _ in ITEMS]
LANGUAGES = [DRAW.choice(["de", "en"]) for _ in ITEMS]
TEXTS = [f"the text of number {number} in full" for number in range(40)]
Table = dict[str, list[str]]
GOLD: Table = {"id": ITEMS, "text": TEXTS, "language": LANGUAGES, "label": MOODS}
INPUT: Table = {"id": ITEMS, "text": TEXTS, "language": LANGUAGES}
NAMED = secret({"name": "gold.csv", "key": ["id"], "columns": ["label"]})
UNNAMED = write("x", b"")
FOREIGN_OR_OWN = pytest.mark.parametrize("named", [UNNAMED, NAMED], ids=["foreign", "own"])


def written(table: Table, delimiter: str = ",", order: Callable[[list[int]], object] = lambda _: None) -> bytes:
    """A table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(table)
    places = list(range(len(next(iter(table.values())))))
    order(places)
    writer.writerows([cells[place] for cells in table.values()] for place in places)
    return out.getvalue().encode()


def objects(table: Table) -> list[dict[str, str]]:
    """A table as one object a row."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def bundle(gold: Table, *edits: Edit, named: Edit = UNNAMED) -> Draft:
    """A bundle with this gold, and files in its public data."""
    return new(
        delete("ref/truth.txt"),
        write("ref/gold.csv", written(gold)),
        put("phases", 0, "public_data", "public"),
        named,
        *edits,
    )


def renamed(cells: list[str]) -> list[str]:
    """Labels under other names."""
    return [{"joyful": "plus", "neutral": "none", "sad": "minus"}[cell] for cell in cells]


def bits(cells: list[str], one: str = "joyful") -> list[str]:
    """Labels as yes and no."""
    return [str(int(cell == one)) for cell in cells]


def backwards(places: list[int]) -> None:
    """Rows from the last to the first."""
    places.reverse()


def database(table: Table) -> bytes:
    """A table in SQLite."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE answers ({', '.join(table)})")
        marks = ", ".join("?" for _ in table)
        base.executemany(f"INSERT INTO answers VALUES ({marks})", zip(*table.values(), strict=True))
        base.commit()
        data: bytes = base.serialize()
    return data


RIGHT = [str(int(DRAW.random() < 0.6)) for _ in ITEMS]
GUESSES = [
    mood if right == "1" else {"joyful": "sad"}.get(mood, "joyful") for mood, right in zip(MOODS, RIGHT, strict=True)
]
FORMS = {
    "turned round": "\n".join([",".join(["mood", *ITEMS]), ",".join(["x", *renamed(MOODS)])]).encode(),
    "one row a label": "\n".join(
        [",".join(["mood", *ITEMS]), *(",".join([mood, *bits(MOODS, mood)]) for mood in ("joyful", "neutral", "sad"))]
    ).encode(),
    "guesses, and which are right": written({"i": ITEMS, "guess": GUESSES, "right": RIGHT}),
    "a database": database({"i": ITEMS, "x": renamed(MOODS)}),
    "appended": written({**INPUT, "x": MOODS}),
    "all appended": written({**INPUT, **{f"gold {name}": cells for name, cells in GOLD.items()}}),
    "appended, tabs": written({**INPUT, "x": MOODS}, "\t"),
    "renamed": written({**INPUT, "x": renamed(MOODS)}),
    "renamed, reordered": written({**INPUT, "x": renamed(MOODS)}, order=backwards),
    "as bits": written({**INPUT, "x": bits(MOODS)}),
    "as bits, reordered": written({**INPUT, "x": bits(MOODS)}, order=backwards),
    "as truth values": written({**INPUT, "x": ["True" if bit == "1" else "False" for bit in bits(MOODS, "sad")]}),
    "joined by the text": written({"text": TEXTS, "x": bits(MOODS)}, order=random.Random(1).shuffle),
    "by order alone": written({"features": [str(number % 7) for number in range(40)], "x": renamed(MOODS)}),
    "a column alone": "\n".join(bits(MOODS)).encode(),
    "with a head": "\n".join(["y", *renamed(MOODS)]).encode(),
    "objects": json.dumps(
        [{"i": item, "more": {"z": 1}, "x": bit} for item, bit in zip(ITEMS, bits(MOODS), strict=True)]
    ).encode(),
    "truth values of JSON": json.dumps(
        {i: {"x": bit == "1"} for i, bit in zip(ITEMS, bits(MOODS), strict=True)}
    ).encode(),
    "a mapping": json.dumps(dict(zip(ITEMS, renamed(MOODS), strict=True))).encode(),
    "columns of JSON": json.dumps({"i": ITEMS, "x": renamed(MOODS)}).encode(),
    "lines of JSON": "\n".join(map(json.dumps, objects({"i": ITEMS, "x": bits(MOODS)}))).encode(),
    "in a zip": packed({"a/b.csv": written({"i": ITEMS, "x": bits(MOODS)})}),
    "a part of the items": b"\n".join(written({**INPUT, "x": bits(MOODS)}).splitlines()[:31]),
}


@FOREIGN_OR_OWN
@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_labels_is_found_however_it_is_written(form: str, named: Edit, tmp_path: Path) -> None:
    draft = bundle(GOLD, write("public/more.dat", FORMS[form]), write("public/items.csv", written(INPUT)), named=named)
    assert [what.partition(" ")[2].split()[1] for what in leaks(draft, tmp_path)][:1] == [
        "public/more.dat" + {"in a zip": "/a/b.csv", "a database": "/answers.csv"}.get(form, "")
    ]


def test_a_table_in_several_files_of_a_folder_is_one(tmp_path: Path) -> None:
    files = [
        write(
            f"public/part-{start}.json",
            json.dumps(objects({"i": ITEMS[start : start + 4], "x": bits(MOODS)[start : start + 4]})).encode(),
        )
        for start in range(0, 40, 4)
    ]
    assert leaks(bundle(GOLD, *files), tmp_path)


def test_a_measure_is_no_key_though_some_of_it_is_whole(tmp_path: Path) -> None:
    panel: Table = {"country": [f"c{n // 10}" for n in range(40)], "year": [str(2000 + n % 10) for n in range(40)]}
    growth = [f"{n / 4:g}" for n in random.Random(4).sample(range(40), 40)]
    gold = {**panel, "growth": growth}
    assert leaks(bundle(gold, write("public/a.csv", written({**panel, "x": growth}, order=backwards))), tmp_path)
    assert leaks(bundle(gold, write("public/a.csv", written(panel, order=backwards))), tmp_path) == []


def test_of_two_columns_without_a_key_the_last_one_is_secret(tmp_path: Path) -> None:
    gold: Table = {"part": LANGUAGES, "mmse": POINTS}
    for shown, found in ((POINTS, True), (LANGUAGES, False)):
        public = written({"features": [str(number % 7) for number in range(40)], "x": shown})
        assert bool(leaks(bundle(gold, write("public/a.csv", public)), tmp_path)) is found


@pytest.mark.parametrize(("others", "found"), [(39, True), (40, False)])
def test_an_order_says_something_where_half_of_the_rows_are_items(others: int, found: bool, tmp_path: Path) -> None:
    """The head is a row as well."""
    ordered = sorted(ITEMS, key=dict(zip(ITEMS, MOODS, strict=True)).__getitem__)
    rows = [*ordered, *(f"other {number}" for number in range(others))]
    shown = written({"i": rows, "place": [str(number) for number in range(len(rows))]})
    draft = bundle(GOLD, write("public/a.csv", shown), write("public/items.csv", written(INPUT)), named=NAMED)
    said = [finding.what for finding in draft.check(tmp_path).findings]
    assert any("in the order of label" in what for what in said) is found


UNKNOWN: Table = {"item": ITEMS, "stanza": [str(len(text) % 3) for text in TEXTS], "mmse": POINTS}


def test_of_a_table_that_nobody_describes_the_last_column_is_secret(tmp_path: Path) -> None:
    gold: Table = {"item": ITEMS, "language": LANGUAGES, "mmse": POINTS}
    assert leaks(bundle(gold, write("public/a.csv", written({**INPUT, "x": POINTS}))), tmp_path)
    assert leaks(bundle(gold, write("public/a.csv", written(INPUT))), tmp_path) == []


@FOREIGN_OR_OWN
@pytest.mark.parametrize("name", ["public/notes.bin", "public/a/b.txt", "public/pack.zip"])
def test_a_copy_of_a_reference_file_is_found_under_any_name(name: str, named: Edit, tmp_path: Path) -> None:
    data = packed({"inner": written(GOLD)}) if name.endswith("zip") else written(GOLD)
    assert len(leaks(bundle(GOLD, write(name, data), named=named), tmp_path)) == 1


def test_json_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    gold = {"documents": [{"spans": [[1, 2], [5, 9]]}, {"spans": [[0, 3]]}]}
    edits = [
        write("ref/gold.json", json.dumps(gold).encode()),
        write("public/x.txt", json.dumps(gold, indent=4).encode()),
    ]
    assert leaks(bundle(GOLD, *edits), tmp_path) == ["public data public/x.txt is the reference file gold.json"]


def numbers(seed: int, most: int) -> list[str]:
    draw = random.Random(seed)
    return [str(draw.randint(0, most)) for _ in ITEMS]


SOUND = {
    "the input": written(INPUT),
    # each speaker has one label, and there are many speakers
    "a speaker": written({**INPUT, "speaker": [f"{mood}-{number % 9}" for number, mood in enumerate(MOODS)]}),
    "few rows": b"\n".join(written({**INPUT, "x": bits(MOODS)}).splitlines()[:6]),
    **{f"features {seed}": written({**INPUT, "a": numbers(seed, 1), "b": numbers(seed + 50, 2)}) for seed in range(6)},
    "other items": written({"id": [f"train-{item}" for item in ITEMS], "label": MOODS[::-1]}),
    "one label": written({**INPUT, "x": ["0"] * 40}),
    # as many rows, and sorted by label as the gold is not
    "sorted": written({"x": sorted(MOODS)}),
}


@FOREIGN_OR_OWN
@pytest.mark.parametrize("form", SOUND)
def test_a_column_that_only_looks_like_gold_is_not_reported(form: str, named: Edit, tmp_path: Path) -> None:
    assert leaks(bundle(GOLD, write("public/more.csv", SOUND[form]), named=named), tmp_path) == []


def test_sorted_columns_agree_without_saying_anything(tmp_path: Path) -> None:
    gold: Table = {"id": ITEMS, "label": ["a"] * 20 + ["b"] * 20}
    shown = written({"word": [f"w{number}" for number in range(40)], "x": ["yes"] * 20 + ["no"] * 20})
    assert leaks(bundle(gold, write("public/more.csv", shown)), tmp_path) == []


def test_of_columns_that_are_called_like_labels_the_named_ones_are_secret(tmp_path: Path) -> None:
    targets = random.Random(8).choices(["north", "south"], k=len(ITEMS))
    gold: Table = {"id": ITEMS, "target": targets, "label": MOODS}
    shown = write("public/items.csv", written({**INPUT, "target": targets}))
    assert leaks(bundle(gold, shown, named=NAMED), tmp_path) == []
    assert leaks(bundle(gold, shown), tmp_path) != []


def test_gold_that_a_program_calls_public_is_no_leak(tmp_path: Path) -> None:
    released = write("public/released.csv", written(GOLD))
    assert leaks(bundle(GOLD, released, named=secret()), tmp_path) == []
    assert leaks(bundle(GOLD, released), tmp_path) != []


PLACES = sorted(range(40), key=lambda place: MOODS[place])
IDS_THAT_SAY = {
    "a part": [f"{mood[:3]}_{number:03}" for number, mood in enumerate(MOODS)],
    "their order": [f"x{PLACES.index(number):03}" for number in range(40)],
}


@pytest.mark.parametrize(("way", "is_noted"), [("a part", True), ("their order", True), ("nothing", False)])
def test_ids_that_say_their_gold_are_noted(way: str, is_noted: bool, tmp_path: Path) -> None:
    ids = IDS_THAT_SAY.get(way, ITEMS)
    draft = bundle({"id": ids, "label": MOODS}, write("public/a.csv", written({"id": sorted(ids)})), named=NAMED)
    noted = [one.what for one in draft.check(tmp_path).findings if one.what.startswith("ids of gold.csv")]
    assert len(noted) == is_noted
