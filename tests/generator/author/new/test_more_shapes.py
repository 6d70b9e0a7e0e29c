"""Gold in shapes that spreadsheets, libraries and annotation tools write: read as what it means, or with a way out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.author.new.propose import Choices, doubts, propose
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.table import NoHeaderError
from tests.generator.author.new.making import proposed, read_gold, rows_of

LABELS = ["neg", "neu", "pos"]
OTHERWISE = "a scale: --answer label=ordinal; numbers: --answer label=number"
ROWS = range(24)


def table(header: str, row: str, between: str = ",") -> str:
    """A table whose rows are made of `{i}`, a `{label}`, a `{flag}`, a `{grade}` from 1 to 5 and a `{share}`."""
    lines = [header] if header else []
    for i in ROWS:
        values = {
            "i": i,
            "label": LABELS[i % 3],
            "flag": i * 7 // 2 % 2,
            "grade": i * 7 % 5 + 1,
            "share": i * 7 % 24 / 24,
        }
        lines.append(row.format(**values))
    return "".join(line.replace("|", between) + "\n" for line in lines)


def jsonl(record: Any) -> str:
    """JSON lines of what a function makes of a row's number."""
    return "".join(json.dumps(record(i)) + "\n" for i in ROWS)


LABELLED = "classification: label is label"
SHAPES: Mapping[str, tuple[str, str | bytes, str]] = {
    "UTF-16 of Excel": ("g.csv", table("id|label", "{i}|{label}", "\t").encode("utf-16"), LABELLED),
    "blanks after commas": ("g.csv", table("id|label", "{i}|{label}", ", "), LABELLED),
    "bars": ("g.txt", table("id|text|label", "{i}|a text, {i}|{label}", "|"), LABELLED),
    "ids of pandas": ("g.csv", table("|label", "t{i}|{label}"), LABELLED),
    "decimal commas": (
        "g.tsv",
        table("id|valence", "{i}|{share:.2f}", "\t").replace(".", ","),
        "regression: valence is number",
    ),
    "percent": ("g.csv", table("id|share", "{i}|{i}%"), "regression: share is number"),
    "sets of numbers": (
        "g.tsv",
        table("id|codes", "{i}|1,{grade}", "\t").replace("1,1", "1"),
        "multilabel: codes is labels",
    ),
    "ratings": ("g.csv", table("id|rating", "{i}|{grade}"), "classification: rating is ordinal"),
    "numbered labels": ("g.csv", table("id|class", "{i}|{grade} - some"), "classification: class is ordinal"),
    "levels": (
        "g.csv",
        table("id|cefr", "{i}|{label}").replace("ne", "B").replace("pos", "A2").replace("Bg", "B1").replace("Bu", "C2"),
        "classification: cefr is ordinal",
    ),
    "flags in words": (
        "g.csv",
        table("id|joy|fear|awe", "{i}|{flag}|{flag}|1").replace(",1", ",Yes").replace(",0", ",No"),
        "multilabel: labels is labels",
    ),
    "annotators": (
        "g.csv",
        table("id|text|ann1|ann2", "{i}|a text|{label}|{flag}").replace(",0", ",neg").replace(",1", ",pos"),
        LABELLED,
    ),
    "raters": ("g.csv", table("id|rater A|rater B", "{i}|{share}|{i}.5"), "regression: score is number"),
    "rows of annotators": (
        "g.csv",
        "".join(
            f"{a},{b},{c}\n"
            for a, b, c in [("item", "annotator", "label"), *((i // 3, f"a{i % 3}", LABELS[i % 2]) for i in ROWS)]
        ),
        LABELLED,
    ),
    "lists of Python": ("g.tsv", table("id|labels", "{i}|['a', '{label}']", "\t"), "multilabel: labels is labels"),
    "positions": ("g.jsonl", jsonl(lambda i: {"id": i, "spans": list(range(i, i + i % 5))}), "spans: spans is offsets"),
    "places in characters": (
        "g.jsonl",
        jsonl(lambda i: {"id": i, "marks": [{"start_char": i, "end_char": i + 2, "category": "a"}]}),
        "spans: marks is spans",
    ),
    "answers of SQuAD": (
        "g.jsonl",
        jsonl(lambda i: {"id": i, "answers": {"text": [f"answer {i}"], "answer_start": [i]}}),
        "generation: answers is texts",
    ),
    "objects in objects": (
        "g.jsonl",
        jsonl(lambda i: {"meta": {"id": i}, "gold": {"label": LABELS[i % 3]}}),
        "classification: gold.label is label",
    ),
    "shares of annotators": (
        "g.jsonl",
        jsonl(lambda i: {"id": i, "soft": {"a": i / 24, "b": 1 - i / 24}}),
        "regression: soft.a is number, soft.b is number",
    ),
    "key and answer a line": ("g.jsonl", jsonl(lambda i: {f"t{i}": LABELS[i % 3]}), "classification: answer is label"),
    "columns": ("g.json", json.dumps({"id": list(ROWS), "label": [LABELS[i % 3] for i in ROWS]}), LABELLED),
    "columns of pandas": (
        "g.json",
        json.dumps({"id": {str(i): f"t{i}" for i in ROWS}, "label": {str(i): LABELS[i % 3] for i in ROWS}}),
        LABELLED,
    ),
    "plain values": ("g.json", json.dumps([LABELS[i % 3] for i in ROWS]), "classification: answer is label"),
    "records below a name": (
        "g.json",
        json.dumps({"version": 1, "data": [{"id": i, "label": LABELS[i % 3]} for i in ROWS]}),
        LABELLED,
    ),
    "parts of speech": (
        "g.pos",
        "".join(f"the DT\ndog {LABELS[i % 3]}\n\n" for i in ROWS),
        "classification: tag is label",
    ),
    "CoNLL-U": (
        "g.conllu",
        "".join(f"# text\n1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tb{i}\tb\tNOUN\t_\t_\t0\troot\t_\t_\n\n" for i in ROWS),
        "classification: deprel is label",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_file_means(shape: str, tmp_path: Path) -> None:
    name, text, meaning = SHAPES[shape]
    proposal = proposed(tmp_path, name, text)
    answers = [f"{column.name} is {column.type}" for column in proposal.answers]
    assert f"{proposal.kind}: {', '.join(answers)}" == meaning
    assert len(proposal.gold) >= len(ROWS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.csv", "id;label\n1;größer\n".encode("cp1252"), r"or say what it is: --encoding cp1252"),
        (
            "g.json",
            json.dumps({"dev": [{"id": 1}], "test": [{"id": 2}]}),
            r"holds 2 tables\. .*: --at dev, --at test\.",
        ),
        (
            "g.json",
            json.dumps({"a": {"x": "1", "y": "2"}, "b": {"z": "1", "w": "2"}}),
            r"2 tables\. .*: --at a, --at b",
        ),
        (
            "g.json",
            json.dumps([["t1", "pos"], ["t2", "neg"]]),
            r"g\.json\[0\]: is not an object\. Expected \{name: value",
        ),
        ("g.csv", table("id|price", '{i}|"{grade},1{i:02}"'), r"price holds numbers such as .* whichever is meant\."),
        ("run.txt", table("", "q1 Q0 d{i} {i} 0.5 us"), r"is a run .*Expected the judgements: query, 0, item and rel"),
        ("g.xml", "<gold><row/></gold>", r"format is unknown\. .*--delimiter"),
        (
            "g.jsonl",
            jsonl(lambda i: {"id": i, "chains": [[[0, 1], [2, 3]]]}),
            r"chains holds .* such as \[\[\[0, 1\].*--package",
        ),
    ],
)
def test_the_way_out_is_named(name: str, text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        proposed(tmp_path, name, text)


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("id|rating", "{i}|{grade}", ["rating is read as a scale, from 1 to 5; if it is none: --answer rating=label"]),
        ("id|label", "{i}|{grade}", [f"label is read as labels without an order; {OTHERWISE}"]),
        ("id|a|b|c", "{i}|{flag}|1|0", ["a, b, c are read as one set of labels; an answer each: --answer a=label …"]),
        (
            "id|ann1|ann2",
            "{i}|{flag}|{label}",
            ["ann1, ann2 are read as one answer by several annotators; an answer each: --answer ann1=TYPE …"],
        ),
        (
            "id|day",
            "{i}|2026-01-{i}",
            ["day is read as a text; labels: --answer day=label; another column: --answer COLUMN"],
        ),
        ("id|label", "{i}|{label}", []),
    ],
)
def test_a_guess_is_said_with_its_option(header: str, row: str, said: list[str], tmp_path: Path) -> None:
    proposal = proposed(tmp_path, "g.csv", table(header, row))
    assert list(doubts(proposal, Choices())) == said


class TestFolders:
    def test_entities_of_brat(self, tmp_path: Path) -> None:
        for i in ROWS:
            (tmp_path / f"d{i}.txt").write_text("Ada Lind met Noor.\n", encoding="utf-8")
            (tmp_path / f"d{i}.ann").write_text(
                "T1\tPER 0 3;4 8\tAda Lind\nR1\tKnows Arg1:T1 Arg2:T1\n", encoding="utf-8"
            )
        (tmp_path / "d3.ann").write_text("", encoding="utf-8")
        gold = read_gold(tmp_path)
        assert gold.names == ["doc", "text", "spans"]
        spans = dict(zip(gold.columns["doc"], gold.columns["spans"], strict=True))
        assert (spans["d1"], spans["d3"]) == ([[0, 8, "PER"]], [])
        assert "23 annotations that are no entities are left out" in gold.notes[1]
        assert propose(gold, Choices()).kind == "spans"

    def test_a_table_for_each_document(self, tmp_path: Path) -> None:
        for i in ROWS:
            (tmp_path / f"a{i}.task.labels").write_text(f"{i}\t5\t1{i}\n{i}\t20\t3{i}\n", encoding="utf-8")
        gold = read_gold(tmp_path, ["article", "start", "end"])
        proposal = propose(gold, Choices())
        assert (proposal.kind, len(gold)) == ("extraction", 48)

    def test_an_object_for_each_document(self, tmp_path: Path) -> None:
        for i in ROWS:
            (tmp_path / f"d{i}.json").write_text(json.dumps({"label": LABELS[i % 3]}), encoding="utf-8")
        assert propose(read_gold(tmp_path), Choices()).key == ("doc",)

    def test_a_text_for_each_document(self, tmp_path: Path) -> None:
        for i in ROWS:
            (tmp_path / f"d{i}.txt").write_text(f"A summary of document {i}, in one line.\n", encoding="utf-8")
        assert propose(read_gold(tmp_path), Choices()).kind == "generation"

    @pytest.mark.parametrize(
        ("rows", "names", "first"),
        [
            (["1,{i},7,9,3", "2,{i},8,9,4"], "frame,track,x,y,conf", ["1", "0", "7", "9", "3"]),
            (["car 0.{i} 10 2", "dog 0.2 10 2"], "class,score,x,y", ["car", "0.0", "10", "2"]),
            (["0.5\t1.{i}\tdog", "2.5\t3.0\tspeech"], "onset,offset,event", ["0.5", "1.0", "dog"]),
        ],
    )
    def test_rows_of_numbers_are_no_texts(self, rows: list[str], names: str, first: list[str], tmp_path: Path) -> None:
        for i in range(9):
            (tmp_path / f"d{i}.txt").write_text("".join(f"{row}\n" for row in rows).replace("{i}", str(i)))
        (tmp_path / "none.txt").write_text("")
        with pytest.raises(NoHeaderError, match=r"d0\.txt:1: looks like a row and no header") as raised:
            read_gold(tmp_path)
        assert len(raised.value.names) == len(set(raised.value.names)) == len(names.split(","))
        gold = read_gold(tmp_path, names.split(","))
        assert (rows_of(gold)[0], len(gold)) == (["d0", *first], 18)
        assert "1 files are empty (none.txt)" in gold.notes[1]
        assert propose(gold, Choices()).kind == "extraction"

    def test_rows_of_numbers_that_differ_in_width(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("0.1 0.2 0.3\n0.4 0.5\n")
        (tmp_path / "b.txt").write_text("0.1 0.2\n")
        with pytest.raises(
            UserError, match=r"a\.txt: each line holds several numbers, not as many in all\. .*--recipe f"
        ):
            read_gold(tmp_path)

    def test_files_of_several_kinds(self, tmp_path: Path) -> None:
        for name in ("a.csv", "b.json"):
            (tmp_path / name).write_text("[]", encoding="utf-8")
        with pytest.raises(UserError, match=r"files of 2 kinds \(\.csv, \.json\)\. Expected one kind"):
            read_gold(tmp_path)


def test_another_encoding_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes("id;label\n1;größer\n".encode("cp1252"))
    gold = read_gold(path, encoding="cp1252")
    assert (rows_of(gold), gold.notes[0]) == ([["1", "größer"]], "g.csv: read as cp1252; what is written here is UTF-8")
    for encoding, message in {"cp9": "no such encoding", "ascii": "g.csv:2: holds bytes that are not ascii"}.items():
        with pytest.raises(UserError, match=message):
            read_gold(path, encoding=encoding)


def test_records_at_a_path(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"b": {"en": {"t1": "x", "t2": "y"}}, "a": {"en": {}}}), encoding="utf-8")
    assert rows_of(read_gold(path, at="b.en")) == [["t1", "x"], ["t2", "y"]]
    with pytest.raises(UserError, match=r"--at b\.de: g\.json has no 'de' there"):
        read_gold(path, at="b.de")
