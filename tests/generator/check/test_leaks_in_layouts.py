"""Gold in the layouts that other programs, annotation tools and hurried people write it in."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.generator.author.new.making import csv_text
from tests.generator.check.drafts import Edit, both, delete, kit, leaks, packed, public, secret, write
from tests.generator.check.test_leaks import GOLD, IDS, LABELS, PAIRS, SUMMARY, own, solution, task

Lists = Sequence[Sequence[Any]]
SPANS: Lists = [[[number % 7, 9 + number % 5, "PER" if number % 3 else "LOC"]] for number in range(20)]
TAGS: Lists = [["neutral"] if number % 3 else ["joyful", "calm"] for number in range(20)]


def by_label(label: str) -> list[str]:
    return [one for one, own in PAIRS if own == label]


def as_json(value: object, indent: int | None = None) -> bytes:
    return json.dumps(value, indent=indent).encode()


def printed(text: str) -> bytes:
    """A notebook that printed a text."""
    return as_json({"cells": [{"source": ["show()"], "outputs": [{"text": text.splitlines(True)}]}]})


def joined(template: str) -> bytes:
    return "".join(template.format(i=one, y=label) for one, label in PAIRS).encode()


NESTED = as_json({"data": [{"item": {"id": one}, "annotation": {"label": label}} for one, label in PAIRS]})
LAYOUTS = {
    "nested": public("a.json", NESTED),
    "nested, lines": public("a.jsonl", joined('{{"item": {{"id": "{i}"}}, "annotation": {{"label": "{y}"}}}}\n')),
    "by id, nested": public("a.json", as_json({one: {"annotation": {"label": label}} for one, label in PAIRS})),
    "ids by label": public("a.json", as_json({label: by_label(label) for label in set(LABELS)})),
    "ids by label, indented": public("a.json", as_json({label: by_label(label) for label in set(LABELS)}, indent=1)),
    "a notebook": public("a.ipynb", printed(GOLD.decode())),
    "lines of Python": public("a.txt", b"GOLD = {\n" + joined('    "{i}": "{y}",\n') + b"}\n"),
    "attributes": public("a.xml", b"<r>\n" + joined('<item id="{i}" label="{y}"/>\n') + b"</r>"),
    "attributes, no XML": public("a.txt", joined('<item id="{i}" label="{y}">\n')),
    "elements in lines": public("a.xml", b"<r>" + joined("<x>\n<id>{i}</id>\n<y>{y}</y>\n</x>\n") + b"</r>"),
    "a table in one line": write(
        "overview.md", b"# Data\n\n<table>" + joined("<tr><td>{i}</td><td>{y}</td></tr>") + b"</table>\n"
    ),
    "names of files": both(*(public(f"split/{one}_{label}.txt", one.encode()) for one, label in PAIRS)),
    "names of folders": both(*(public(f"{label}/{one}.txt", one.encode()) for one, label in PAIRS)),
    "names in a zip": public("a.zip", packed({f"{label}/{one}.txt": one.encode() for one, label in PAIRS})),
    "names of files in a kit": both(*(kit(f"{label}/{one}.png", one.encode()) for one, label in PAIRS)),
    "UTF-16 without a mark": public("a.txt", GOLD.decode().encode("utf-16-le")),
    "big-endian UTF-16 without a mark": public("a.txt", GOLD.decode().encode("utf-16-be")),
    "UTF-32": public("a.txt", GOLD.decode().encode("utf-32")),
}


@pytest.mark.parametrize("edit", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("named", [write("x", b""), own()], ids=["foreign", "own"])
def test_gold_is_found_in_any_layout(named: Edit, edit: Edit, tmp_path: Path) -> None:
    (what,) = leaks(task(named, edit), tmp_path)
    assert "20 of 20 items" in what or "items with " in what or "the reference file gold.csv" in what


def gold_of(values: Lists) -> Edit:
    """Reference data whose answers are lists, which a declared competition calls secret."""
    rows = [{"id": one, "text": f"a text of {one}", "answer": value} for one, value in zip(IDS, values, strict=True)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return both(
        delete("ref/gold.csv"),
        write("ref/gold.jsonl", lines),
        secret({"name": "gold.jsonl", "key": ["id"], "columns": ["answer"]}),
    )


def lists(values: Lists) -> dict[str, bytes]:
    """The gold again, as others would write it."""
    pairs = list(zip(IDS, values, strict=True))
    return {
        "all but a row": "\n".join(json.dumps({"id": one, "answer": value}) for one, value in pairs[1:]).encode(),
        "other names": as_json([{"k": one, "t": "a text", "v": value} for one, value in pairs]),
        "by id": as_json(dict(pairs)),
        "CSV": csv_text("id,answer", [[one, json.dumps(value)] for one, value in pairs]).encode(),
        "TSV": "".join(f"{one}\t{json.dumps(value)}\n" for one, value in pairs).encode(),
        "nested": as_json({"data": [{"doc": {"id": one}, "gold": {"answer": value}} for one, value in pairs]}),
    }


@pytest.mark.parametrize("values", [SPANS, TAGS], ids=["spans", "sets"])
@pytest.mark.parametrize("layout", lists(SPANS))
@pytest.mark.parametrize("place", [lambda data: public("a.json", data), solution], ids=["public", "solution"])
def test_gold_that_is_a_list_is_found(
    place: Callable[[bytes], Edit], values: Lists, layout: str, tmp_path: Path
) -> None:
    assert len(leaks(task(gold_of(values), place(lists(values)[layout])), tmp_path)) == 1


INNOCENT = {
    "inputs": public("a.jsonl", "".join(json.dumps({"id": one, "text": "a text"}) + "\n" for one in IDS).encode()),
    "all labels": public(
        "a.json", as_json([{"id": one, "options": ["joyful", "neutral"], "text": "a text"} for one in IDS])
    ),
    "other items": public("a.json", as_json([{"x": {"id": f"t{n}"}, "y": {"l": "joyful"}} for n in range(9)])),
    "others' ids by label": public("a.json", as_json({"joyful": ["t1", "t2"], "neutral": ["t3"]})),
    "names": both(*(public(f"texts/{one}.txt", b"a text") for one in IDS)),
    "a wrong answer": solution(
        as_json([{"id": one, "answer": {"label": "joyful"}} for one in IDS]),
    ),
    "a page with tags": write("overview.md", b'<p class="joyful">item-000</p><p class="joyful">item-001</p>\n'),
}


@pytest.mark.parametrize("edit", INNOCENT.values(), ids=INNOCENT)
@pytest.mark.parametrize("named", [write("x", b""), own()], ids=["foreign", "own"])
def test_layouts_without_gold_are_not_reported(named: Edit, edit: Edit, tmp_path: Path) -> None:
    assert leaks(task(named, edit), tmp_path) == []


@pytest.mark.parametrize(("gold", "written"), [("1.{}", "1,{}"), ("1.{}", "1.{}e+00"), ("2{}", "2.{}e1")])
def test_numbers_of_other_countries_and_programs(gold: str, written: str, tmp_path: Path) -> None:
    scores = "id;label\n" + "".join(f"{one};{gold.format(1 + number % 7)}\n" for number, one in enumerate(IDS))
    shown = "".join(f"{one};{written.format(1 + number % 7)}\n" for number, one in enumerate(IDS)).encode()
    (what,) = leaks(task(own(scores.encode()), public("items.csv", shown)), tmp_path)
    assert what == "public data public/items.csv shows label of gold.csv for 20 of 20 items (column 2), from line 1"


def nested_zip(levels: int) -> bytes:
    data = GOLD
    for _ in range(levels):
        data = packed({"inner": data})
    return data


def database(folder: Path) -> bytes:
    with sqlite3.connect(folder / "gold.db") as opened:
        opened.execute("create table gold (id, label)")
        opened.executemany("insert into gold values (?, ?)", PAIRS)
    opened.close()
    return (folder / "gold.db").read_bytes()


def test_what_cannot_be_looked_into_is_noted(tmp_path: Path) -> None:
    files = {"deep.zip": nested_zip(6), "broken.db": database(tmp_path)[:4096], "gold.arrow": b"ARROW1\0\0"}
    draft = task(*(public(name, data) for name, data in files.items()))
    noted = [finding.what for finding in draft.check(tmp_path).findings if finding.id == "not-looked-into"]
    assert len(noted) == len(files)


def test_a_database_is_looked_into(tmp_path: Path) -> None:
    (what,) = leaks(task(public("gold.db", database(tmp_path))), tmp_path)
    assert what == "public data public/gold.db/gold.csv holds all lines of the reference file gold.csv"


@pytest.mark.parametrize(
    "data",
    [
        as_json([{"id": "item-000", "text": "a, " + "b" * 200_000}]),
        b'a,[1]"' + b"b" * 200_000 + b"\n",
        b"a" + b"[" * 500_000,
        *(b'{"a":' * depth + b"[" * depth + b"]" * depth + b"}" * depth for depth in (300, 470, 480, 490)),
    ],
    ids=["long text", "long cell", "brackets", "300 deep", "470 deep", "480 deep", "490 deep"],
)
def test_odd_files_are_searched_like_others(data: bytes, tmp_path: Path) -> None:
    draft = task(own(), public("a.json", data), public("b.csv", GOLD))
    assert [what.split()[2] for what in leaks(draft, tmp_path)] == ["public/b.csv"]


MANY = [("joyful", "neutral", "calm")[number * number % 7 % 3] for number in range(60)]
MANY_ITEMS = "".join(f"item-{number:03},{label}\n" for number, label in enumerate(MANY))


@pytest.mark.parametrize(
    ("head", "is_found"),
    [("", True), ("| label |\n", True), ("| label |\n| --- |\n", True), ("| a |\n| b |\n| c |\n", False)],
    ids=["no head", "a head", "a head and a rule", "other rows"],
)
def test_a_column_of_markdown_in_the_order_of_the_gold(head: str, is_found: bool, tmp_path: Path) -> None:
    rows = "".join(f"| {label} |\n" for label in MANY)
    draft = task(own(f"id,label\n{MANY_ITEMS}".encode()), public("a.md", f"{head}{rows}".encode()))
    assert ["in the order of the items" in what for what in leaks(draft, tmp_path)] == [True] * is_found


@pytest.mark.parametrize(("items", "rare", "expected"), [(200, 2, []), (200, 3, ["leak"]), (25, 3, ["leak-suspected"])])
def test_few_items_unlike_the_others_say_little(items: int, rare: int, expected: list[str], tmp_path: Path) -> None:
    rarely = [items // 5 * number for number in range(rare)]
    labels = [f"item-{number:03},{'joyful' if number in rarely else 'neutral'}\n" for number in range(items)]
    shown = "".join(f"{number},{line}" for number, line in enumerate(labels))
    draft = task(own(f"id,label\n{''.join(labels)}".encode()), public("a.csv", f"n,id,label\n{shown}".encode()))
    assert [one.id for one in draft.check(tmp_path).findings if one.id.startswith("leak")] == expected


@pytest.mark.parametrize(("items", "is_found"), [(8, False), (20, True)])
def test_a_short_example_submission_may_be_right(items: int, is_found: bool, tmp_path: Path) -> None:
    gold = "".join(f"{one},{label}\n" for one, label in PAIRS[:items])
    draft = task(own(f"id,label\n{gold}".encode()), solution(f"id,label\n{gold}".encode()))
    assert ["is the reference file gold.csv" in what for what in leaks(draft, tmp_path)] == [True] * is_found


def test_lines_without_an_answer_are_lines(tmp_path: Path) -> None:
    """An example submission with the gold's empty sets, too, is right in more lines than say something."""
    gold = "".join(f"topic-{number}\n" + "\n" * (number % 3) for number in range(9))
    draft = task(own(gold.encode()), solution(gold.encode()))
    assert ["is the reference file gold.csv" in what for what in leaks(draft, tmp_path)] == [True]


def test_rounded_numbers_are_found(tmp_path: Path) -> None:
    scores = [number * 37 % 100 / 10 for number in range(100)]
    gold = "".join(f"item-{number:03},{score}\n" for number, score in enumerate(scores))
    shown = "".join(f"item-{number:03},{round(score)}\n" for number, score in enumerate(scores))
    draft = task(own(f"id,label\n{gold}".encode()), public("a.csv", f"id,strength\n{shown}".encode()))
    (what,) = leaks(draft, tmp_path)
    assert "shows label of gold.csv rounded for 100 of 100 items" in what


def test_a_gold_text_with_escaped_line_ends_is_found(tmp_path: Path) -> None:
    words = SUMMARY.split()
    wrapped = "\\n".join(" ".join(words[start : start + 4]) for start in range(0, len(words), 4))
    (what,) = leaks(task(own(), kit("run.py", f'SHOWN = "{wrapped}"\n'.encode())), tmp_path)
    assert "holds words of 1 of 1 gold texts" in what


def test_lists_of_numbers_are_no_texts(tmp_path: Path) -> None:
    """A label spread over columns of 0 and 1 is no text: so many zeros stand in a row in any example."""
    draft = task()
    rows = []
    for number, one in enumerate(IDS):
        rows.append([one, json.dumps([number >> bit & 1 for bit in range(12)])])
    both(own(csv_text("id,label", rows).encode()), kit("run.py", f"ZEROS = {[0] * 12}\n".encode()))(draft)
    assert leaks(draft, tmp_path) == []
