"""Gold that participants can see, and everything that only looks like it."""

import csv
import io
import json
import random
from pathlib import Path

import pytest

from gen_bundle.check import Elsewhere
from tests.generator.check.drafts import (
    Draft,
    Edit,
    both,
    delete,
    kit,
    leaks,
    new,
    public,
    put,
    secret,
    with_options,
    write,
)

IDS = [f"item-{number:03}" for number in range(20)]
LABELS = ["neutral" if number % 3 else "joyful" for number in range(20)]
GOLD = "".join(f"{one},{label}\n" for one, label in zip(IDS, LABELS, strict=True)).encode()
PAIRS = list(zip(IDS, LABELS, strict=True))
HEADED = b"id,text,language,label\n" + b"".join(
    f"{one},text {one},{'en' if number % 2 else 'de'},{label}\n".encode()
    for number, (one, label) in enumerate(zip(IDS, LABELS, strict=True))
)
SUMMARY = "The writer moves from despair over the lost job to a cautious hope for the spring."
GUESS = " (a guess: nobody says what is secret in this bundle)"
LABELLED = {"name": "gold.csv", "key": ["id"], "columns": ["label"]}


def own(gold: bytes = b"id,label\n" + GOLD) -> Edit:
    """Labels and a summary that the scoring program calls secret."""
    summarised = {"name": "summaries.csv", "key": ["id"], "columns": ["summary"]}
    return both(
        write("ref/gold.csv", gold),
        write("ref/summaries.csv", f'id,summary\nitem-000,"{SUMMARY}"\n'.encode()),
        secret(LABELLED, summarised),
    )


def task(*edits: Edit) -> Draft:
    """A bundle with a table of gold, and edits."""
    return new(delete("ref/truth.txt"), write("ref/gold.csv", GOLD), *edits)


def solution(data: bytes) -> Edit:
    """A solution of one file."""
    return both(put("solutions", [{"index": 0, "tasks": [0], "path": "sol"}]), write("sol/pred.csv", data))


def predictions(wrong: int) -> bytes:
    """An example submission that gets so many items wrong."""
    flipped = {"joyful": "neutral", "neutral": "joyful"}
    pairs = enumerate(zip(IDS, LABELS, strict=True))
    return "".join(f"{one},{flipped[label] if number < wrong else label}\n" for number, (one, label) in pairs).encode()


FOREIGN = [
    public("train.csv", GOLD),
    public("train.csv", GOLD.replace(b"\n", b"\r\n")),
    public("train.csv", b"id;gold\n" + GOLD.replace(b",", b";")),
    public(
        "train.json",
        json.dumps([{"id": one, "y": label} for one, label in PAIRS]).encode(),
    ),
    public(
        "train.jsonl",
        "\n".join(json.dumps({"id": one, "y": label}) for one, label in PAIRS).encode(),
    ),
    kit("example.csv", GOLD),
    solution(GOLD),
    solution(b"item,prediction\n" + GOLD),
    write("overview.md", b"# Data\n\n| id | label |\n|---|---|\n" + GOLD.replace(b",", b" | ").replace(b"\n", b" |\n")),
    write("overview.md", "\n".join(f"- {one}: {label}" for one, label in PAIRS).encode()),
    both(write("input/gold.csv", GOLD), put("tasks", 0, "input_data", "input")),
    both(write("scoring/gold.csv", GOLD), put("make_programs_available", True)),
    put("phases", 0, "public_data", "ref"),
]


@pytest.mark.parametrize("edit", FOREIGN)
def test_gold_of_any_bundle_is_found(edit: Edit, tmp_path: Path) -> None:
    assert len(leaks(task(edit), tmp_path)) == 1


SOUND = [
    public("items.csv", b"".join(f"{one},a text\n".encode() for one in IDS)),
    public("train.csv", b"".join(f"train-{number},joyful\ntrain-{number}b,neutral\n".encode() for number in range(20))),
    public("labels.txt", b"joyful\nneutral\n"),
    kit("example.csv", b"".join(f"{one},neutral\n".encode() for one in IDS)),
    solution(b"".join(f"{one},neutral\n".encode() for one in IDS)),
    solution(predictions(1)),
    write(
        "overview.md",
        b"Item-003 may be joyful or neutral; answer `item-003,joyful` or `item-003,neutral`.\n",
    ),
    both(write("ref/README.md", b"About\nus\n"), public("README.md", b"About\nus\n")),
    both(
        write("ref/inputs.csv", b"item-000,some text\nitem-001,more text\n"),
        public("inputs.csv", b"item-000,some text\nitem-001,more text\n"),
    ),
    both(
        write("ref/gold.csv", HEADED),
        public("items.csv", b"\n".join(line.rpartition(b",")[0] for line in HEADED.splitlines())),
    ),
]


@pytest.mark.parametrize("edit", SOUND)
def test_what_only_looks_like_gold_is_not_reported(edit: Edit, tmp_path: Path) -> None:
    assert leaks(task(edit), tmp_path) == []


QUERIES = random.Random(4)
RELEVANT = [(f"query-{number // 2}", f"page-{QUERIES.randrange(10**6)}") for number in range(40)]
OTHERS = [(f"query-{number // 2}", f"page-{QUERIES.randrange(10**6)}") for number in range(40)]
JUDGED = {"name": "qrels.csv", "key": ["query", "item"], "columns": ["relevance"], "choice": True}


def ranked(pairs: list[tuple[str, str]], more: str = "") -> bytes:
    """A table of queries and items, in any order but the gold's."""
    rows = random.Random(1).sample(pairs, len(pairs))
    return f"query,item{',relevance' * bool(more)}\n".encode() + b"".join(f"{q},{i}{more}\n".encode() for q, i in rows)


@pytest.mark.parametrize("relevance", ["", ",1"])
@pytest.mark.parametrize(
    ("shown", "is_found"),
    [(RELEVANT, True), (RELEVANT[:12], True), ([*RELEVANT, *OTHERS], False), (OTHERS, False), (RELEVANT[:2], False)],
)
def test_the_choice_of_relevant_items_is_secret_and_candidates_are_none(
    shown: list[tuple[str, str]], is_found: bool, relevance: str, tmp_path: Path
) -> None:
    judged = {**JUDGED, "columns": ["relevance"] if relevance else []}
    gold = ranked(RELEVANT[::-1], relevance)
    found = leaks(task(write("ref/qrels.csv", gold), secret(judged), public("candidates.csv", ranked(shown))), tmp_path)
    assert [f"lists {len(shown)} of the 40 rows of query and item" in what for what in found] == [True] * is_found


def test_graded_relevance_is_not_given_away_by_the_candidates(tmp_path: Path) -> None:
    grades = b"query,item,relevance\n" + b"".join(f"{q},{i},{len(i + q) % 3 + 1}\n".encode() for q, i in RELEVANT)
    draft = task(write("ref/qrels.csv", grades), secret(JUDGED), public("candidates.csv", ranked(RELEVANT)))
    assert leaks(draft, tmp_path) == []


def test_only_the_label_column_of_a_headed_table_is_secret(tmp_path: Path) -> None:
    draft = task(write("ref/gold.csv", HEADED), public("items.csv", b"".join(GOLD.splitlines(keepends=True))))
    assert leaks(draft, tmp_path) == [
        "public data public/items.csv shows label of gold.csv for 20 of 20 items (column 2), from line 1" + GUESS
    ]


NAMED = [
    write("overview.md", f"# Example\n\n{SUMMARY}\n".encode()),
    write("overview.md", SUMMARY.upper().replace(" ", "\n").encode()),
    kit("example.csv", GOLD[:300]),
    public("notes.json", f'{{"summary": "{SUMMARY}"}}'.encode()),
    public("notes.txt", f"Summary: {SUMMARY}\n".encode()),
    kit("examples/valid.txt", f"They say that {SUMMARY}".encode()),
    write("scoring/notes.py", f'NOTE = "{SUMMARY}"\n'.encode()),
    public("copy.bin", GOLD),
    solution(GOLD),
    *(public("a.json", text) for text in (json.dumps(LABELS), json.dumps(LABELS, indent=1), ",".join(LABELS))),
    *(public(f"{label}.txt", "\n".join(one for one, own in PAIRS if own == label)) for label in ("neutral", "joyful")),
]


@pytest.mark.parametrize("edit", NAMED)
def test_named_secrets_are_found(edit: Edit, tmp_path: Path) -> None:
    assert len(leaks(task(own(), edit), tmp_path)) == 1


@pytest.mark.parametrize("written", ["{}", '"{}"'])
def test_a_column_by_itself_is_told_by_its_order(written: str, tmp_path: Path) -> None:
    """Gold whose row n is the answer to row n: a file of one column has no separator that makes it a table."""
    labels = [written.format(label) for label in ["label", *random.Random(5).choices(["a", "b", "c"], k=60)]]
    gold = "\n".join(labels).encode()
    together = "".join(f"text {n}\t{label}\n" for n, label in enumerate(labels)).encode()
    shuffled = "\n".join(random.Random(1).sample(labels, len(labels))).encode()
    by_line = secret({"name": "gold.csv", "columns": ["label"]})
    for public_data, is_found in ((together, True), (shuffled, False)):
        draft = task(write("ref/gold.csv", gold), by_line, public("data.tsv", public_data))
        assert bool(leaks(draft, tmp_path)) == is_found


@pytest.fixture(params=[128 * 1024, 1 << 27])
def longest_cell(request: pytest.FixtureRequest) -> None:
    """What was read before in this process may have raised csv's own limit."""
    csv.field_size_limit(request.param)


@pytest.mark.usefixtures("longest_cell")
def test_a_column_with_an_open_quotation_mark_is_searched_for_up_to_there(tmp_path: Path) -> None:
    labels = random.Random(5).choices(["a", "b", "c"], k=60)
    gold = "\n".join(["label", *labels, '"' + "x" * 200_000]).encode()
    shown = "".join(f"text {n}\t{label}\n" for n, label in enumerate(["label", *labels])).encode()
    draft = task(
        write("ref/gold.csv", gold), secret({"name": "gold.csv", "columns": ["label"]}), public("d.tsv", shown)
    )
    assert leaks(draft, tmp_path)


@pytest.mark.usefixtures("longest_cell")
def test_gold_is_read_beyond_a_very_long_text(tmp_path: Path) -> None:
    labels = random.Random(5).choices(["a", "b", "c"], k=60)
    texts = ["long " * 40_000, *["short"] * 59]
    rows = (f'{n},"{text}",{label}' for n, (text, label) in enumerate(zip(texts, labels, strict=True)))
    gold = "\n".join(["id,text,label", *rows]).encode()
    shown = "\n".join(["id,label", *(f"{n},{label}" for n, label in enumerate(labels))]).encode()
    assert leaks(task(write("ref/gold.csv", gold), secret(LABELLED), public("d.csv", shown)), tmp_path)


def test_a_secret_that_nothing_has_is_named(tmp_path: Path) -> None:
    misspelt = {**LABELLED, "columns": ["lable"]}
    optional = {**LABELLED, "columns": ["label", "reason"]}
    draft = task(write("ref/gold.csv", HEADED), secret(misspelt, optional, {"name": "glod.csv"}, {"name": "*.csv"}))
    report = draft.check(tmp_path)
    assert [finding.what for finding in report.findings if finding.id == "secret-not-there"] == [
        "named as secret, and not in the reference data: 'lable' in gold.csv",
        "named as secret, and not in the reference data: glod.csv",
    ]


NAMED_SOUND = [
    write("terms.md", b"For example `item-003` is joyful:\n\nitem-003,joyful\n"),
    public("one.csv", b"item-003,joyful\n"),
    write("overview.md", b"Summaries tell how the writer moves from despair to hope.\n"),
    public("posts.json", f'{{"post": "I read this: {SUMMARY} And then I wept."}}'.encode()),
    both(
        public("posts.json", f'{{"post": "I read this: {SUMMARY} And then I wept."}}'.encode()),
        solution(f"item-000,{SUMMARY}\n".encode()),
    ),
    solution(predictions(3)),
    kit("example.csv", predictions(1)),
    public("other.csv", b"a,b\n"),
]


@pytest.mark.parametrize("edit", NAMED_SOUND)
def test_what_participants_hold_is_no_named_secret(edit: Edit, tmp_path: Path) -> None:
    assert leaks(task(own(), edit), tmp_path) == []


def documents(*shown: str) -> Edit:
    """Reference data in three files a document, of which the public data hold some."""
    parts = {end: f"text of a document in .{end}\nand a second line of it in .{end}\n" for end in ("txt", "a1", "a2")}
    edits = [delete("ref/gold.csv"), put("phases", 0, "public_data", "public")]
    for number in range(4):
        for end, text in parts.items():
            data = f"{number} {text}".encode()
            edits += [write(f"ref/report-{number}.{end}", data)]
            edits += [write(f"public/report-{number}.{end}", data)] if end in shown else []
    return both(*edits)


@pytest.mark.parametrize(("shown", "expected"), [(("txt", "a1"), "ok"), (("txt", "a1", "a2"), "trap")])
def test_input_that_lies_beside_its_annotations_is_no_leak(
    shown: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    assert task(documents(*shown)).check(tmp_path).later == expected


FIELDS = ["title", "answer", "order", "by", "index", "first", "second"]


def table(*, quoted: bool = False, **changes: str) -> bytes:
    """A wide table: ids late in it, answers of two lines, and bars in them."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow(FIELDS)
    for number, (one, label) in enumerate(PAIRS):
        row = {"title": "a, b", "answer": f"so | {number}\nand <i>on</i>", "order": str(number), "by": ""}
        row |= {"index": one, "first": label, "second": ""} | changes
        writer.writerow([row[name] for name in FIELDS])
    return out.getvalue().encode()


WIDE = [
    public("test.csv", table()),
    public("test.csv", table(quoted=True)),
    public("test.csv", table(answer="")),
    # one of the gold's labels in a column of its own is no reason to overlook the others
    public("test.csv", table(title="joyful")),
    public("test.csv", b"\n".join(reversed(table(answer="", title="").split(b"\n")))),
    public("test.txt", json.dumps([dict.fromkeys("abcdef", "x") | {"id": i, "y": y} for i, y in PAIRS]).encode()),
    public("test.dat", "\n".join(json.dumps(dict.fromkeys("abcdef", 1) | {"i": i, "y": y}) for i, y in PAIRS).encode()),
    public("test.json", json.dumps({"a": ["x"] * 20, "y": LABELS, "id": IDS}).encode()),
    public(
        "test.json",
        json.dumps(
            {"y": dict(enumerate(LABELS)), "a": dict.fromkeys(range(20), "neutral"), "id": dict(enumerate(IDS))}
        ).encode(),
    ),
    kit("test.csv", table()),
]


@pytest.mark.parametrize("edit", WIDE)
def test_labels_tied_to_ids_are_found_wherever_the_id_stands(edit: Edit, tmp_path: Path) -> None:
    (what,) = leaks(task(own(), edit), tmp_path)
    assert "shows label of gold.csv for 20 of 20 items" in what


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        (
            ["index", "gold_label"],
            [
                "public data public/test.csv shows gold_label of gold.csv for 20 of 20 items (column 2), from line 2"
                + GUESS
            ],
        ),
        (["by", "answer", "index"], []),
    ],
)
def test_a_table_with_texts_and_empty_cells_shows_what_is_secret(
    shown: list[str], found: list[str], tmp_path: Path
) -> None:
    gold = table().replace(b"first", b"gold_label")
    rows = list(csv.DictReader(io.StringIO(gold.decode(), newline="")))
    out = io.StringIO()
    writer = csv.DictWriter(out, shown, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    assert leaks(task(write("ref/gold.csv", gold), public("test.csv", out.getvalue().encode())), tmp_path) == found


NUMBERS = [(str(1 + number * 7 % 20), "01"[number % 3 == 0]) for number in range(20)]


def features(seed: int, size: int) -> bytes:
    """Other items, whose features and labels are small numbers like the gold's ids and labels."""
    draw = random.Random(seed)
    rows = [[f"x{one}", *(str(draw.randint(0, 20)) for _ in range(8)), str(draw.randint(0, 1))] for one in range(size)]
    return "\n".join(",".join(row) for row in rows).encode()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("\n".join(f"a,b,c,d,{y},7,{i}" for i, y in NUMBERS).encode(), True),
        *((features(seed, 4 + seed), False) for seed in range(4)),
        (features(1, 400), False),
    ],
)
def test_small_numbers_are_ids_only_where_a_column_agrees(data: bytes, found: bool, tmp_path: Path) -> None:
    gold = "id,label\n" + "".join(f"{i},{y}\n" for i, y in NUMBERS)
    assert bool(leaks(task(own(gold.encode()), public("train.csv", data)), tmp_path)) == found


@pytest.mark.parametrize(("gold", "written"), [("{}", "{}.0"), ("{}.0", "{}"), ("{}.5", "{}.50")])
def test_a_number_is_the_same_however_its_decimals_are_written(gold: str, written: str, tmp_path: Path) -> None:
    scores = "id,label\n" + "".join(f"{one},{gold.format(20 + number % 5)}\n" for number, one in enumerate(IDS))
    shown = "".join(f"{one},75,{written.format(20 + number % 5)}\n" for number, one in enumerate(IDS)).encode()
    (what,) = leaks(task(own(scores.encode()), public("items.csv", shown)), tmp_path)
    assert what == "public data public/items.csv shows label of gold.csv for 20 of 20 items (column 3), from line 1"


KEY = (
    b'<?xml version="1.0"?>\n<key>\n  <chain id="c1"><node id="1" value="he"/>\n<node id="4" value="a"/></chain></key>'
)
ANEW = b"<key><!-- gold --><chain id='c1'><node value='he' id='1' /><node value='&#97;' id='4'></node></chain></key>\n"


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (public("key.xml", ANEW), ["public data public/key.xml is the reference file key.xml"]),
        (public("key.xml", ANEW.replace(b"he", b"she")), []),
        # an example submission may well be right on a text
        (solution(ANEW), []),
        (public("key.xml", b"<key>"), []),
        (public("deep.xml", b"<a>" * 500_000 + b"</a>" * 500_000), []),
    ],
)
@pytest.mark.parametrize("named", [write("x", b""), secret({"name": "key.xml"})], ids=["foreign", "own"])
def test_xml_is_the_same_however_it_is_written(edit: Edit, found: list[str], named: Edit, tmp_path: Path) -> None:
    assert leaks(task(delete("ref/gold.csv"), write("ref/key.xml", KEY), named, edit), tmp_path) == found


@pytest.mark.parametrize(("indent", "is_found"), [(b" " * 100, True), (b" " * 200, False)])
def test_a_large_file_is_the_same_up_to_five_times_as_large(indent: bytes, is_found: bool, tmp_path: Path) -> None:
    nodes = [b'<node id="%d" value="%s"/>' % (number, b"he" * (number % 3)) for number in range(9_000)]
    key, shown = (b"<key>" + space.join(nodes) + b"</key>" for space in (b"\n", b" " + indent))
    draft = task(delete("ref/gold.csv"), write("ref/key.xml", key), secret({"name": "key.xml"}), public("a.xml", shown))
    assert leaks(draft, tmp_path) == ["public data public/a.xml is the reference file key.xml"] * is_found


@pytest.mark.parametrize(("name", "is_found"), [("score_attack.rb", False), ("scoring.md", False), ("gold.py", True)])
def test_a_program_that_participants_have_too_is_no_gold(name: str, is_found: bool, tmp_path: Path) -> None:
    program = b"".join(b"puts rank(%d)\n" % number for number in range(40))
    draft = task(write("x", b""), write(f"ref/{name}", program), public(name, program))
    assert leaks(draft, tmp_path) == [f"public data public/{name} is the reference file {name}"] * is_found


@pytest.mark.parametrize("shown", [KEY, ANEW])
def test_gold_that_is_not_in_the_bundle_is_found(shown: bytes, tmp_path: Path) -> None:
    draft = task(with_options(elsewhere=[Elsewhere([{"name": "key.xml"}], {"key.xml": KEY})]), public("x.xml", shown))
    assert leaks(draft, tmp_path) == ["public data public/x.xml is the reference file key.xml"]
