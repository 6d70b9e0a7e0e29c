"""Gold files as other people's scoring programs have them: read by what they are, and no row is lost."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.author.new.gold_of_phases import joined
from gen_bundle.author.new.propose import Choices, propose
from gen_bundle.author.new.split import divide
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.table import FileTable, NoHeaderError
from tests.generator.author.new.making import gold_at, proposed, read_gold, rows_of

LABELS = ["negative", "neutral", "positive"]
WITHOUT_HEADER = {
    "ids and labels": [f"{100 + i}\t{LABELS[i % 3]}" for i in range(12)],
    "ids with letters": [f"t{i}\t{LABELS[i % 3]}" for i in range(12)],
    "file names and binary labels": [f"{1000 + i}.jpg\t{i % 2}\t{i // 2 % 2}" for i in range(12)],
    "ids of passages": [f"{1000 + i // 3}\t{i % 3}\t{7067 + 31 * i}\t1" for i in range(12)],
    "texts and labels": [f"Ein Text, der {'sehr ' * i}lang ist\t{LABELS[i % 2]}" for i in range(12)],
    "words of capitals": [f"test-{i}\t{str(i % 3 == 0).upper()}\tTRUE" for i in range(12)],
    "spans": [f"{i}\t[[{i}, {i + 4}]]" for i in range(12)],
    "codes of documents": [f"S{1000 + i // 4}-1\tn{i % 5}.{i}" for i in range(12)],
    "relations": [f"{1700 + i // 4}\t{['INHIBITOR', 'AGONIST'][i % 2]}\tArg1:T{i}\tArg2:T{i + 3}" for i in range(12)],
    "numbers": [f"{i}\t{i * 7 % 12 / 12}" for i in range(12)],
    "one column of labels": [f"{LABELS[i % 3]}\t{LABELS[i % 2]}" for i in range(12)],
}
WITH_HEADER = {
    "years as names": ["country\t2019\t2020", *(f"land {chr(97 + i)}\t{i / 3}\t{i / 4}" for i in range(12))],
    "a token that is called as its column": ["position\tword\ttag", *(f"{i}\tword\tO" for i in range(9))],
    "emotions as names": ["id\tjoy\tfear", *(f"t{i}\t{i % 2}\t{i // 2 % 2}" for i in range(12))],
    "ids with the name of a question": ["q\tlabel", *(f"q{i}\t{LABELS[i % 3]}" for i in range(12))],
    "texts alone": ["prompt\tresponse", *(f"Say {'so ' * i}\tWell {'so ' * i}" for i in range(12))],
    "a label that occurs nowhere else": ["id\tlabel", *(f"{i}\t{LABELS[i % 3]}" for i in range(12))],
    "an index without a name": ["\tlabel", *(f"{i}\t{LABELS[i % 3]}" for i in range(12))],
    "names of annotators": ["id\tanna\tben", *(f"{i}\t{LABELS[i % 3]}\t{LABELS[i % 2]}" for i in range(12))],
    "dates": ["date\tvalue", *(f"2026-01-{i + 10}\t{i / 3}" for i in range(12))],
}


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".csv"])
@pytest.mark.parametrize("lines", WITHOUT_HEADER.values(), ids=WITHOUT_HEADER)
def test_a_row_in_place_of_the_header_is_not_lost(lines: list[str], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"gold{suffix}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(NoHeaderError, match=rf"gold{suffix}:1: looks like a row and no header: .* --columns ") as error:
        read_gold(path)
    assert len(set(error.value.names)) == len(error.value.names) == lines[0].count("\t") + 1
    gold = read_gold(path, error.value.names)
    assert ["\t".join(row) for row in rows_of(gold)] == lines
    first = lines[0].split("\t")
    if len(set(first)) == len(first):
        header = read_gold(path, first)
        assert ["\t".join(row) for row in rows_of(header)] == lines[1:]


@pytest.mark.parametrize("lines", WITH_HEADER.values(), ids=WITH_HEADER)
def test_a_header_is_none_of_the_rows(lines: list[str], tmp_path: Path) -> None:
    gold = gold_at(tmp_path, "gold.tsv", "\n".join(lines))
    assert len(gold) == len(lines) - 1


@given(
    st.lists(
        st.tuples(st.integers(1, 9999), st.sampled_from(LABELS)), min_size=9, max_size=30, unique_by=lambda r: r[0]
    )
)
def test_labels_that_repeat_are_never_names(rows: list[tuple[int, str]]) -> None:
    repeated = [label for _, label in rows[1:]].count(rows[0][1]) > 0
    is_near = min(n for n, _ in rows[1:]) <= rows[0][0] <= max(n for n, _ in rows[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gold.csv"
        path.write_text("".join(f"{number},{label}\n" for number, label in rows), encoding="utf-8")
        if repeated and is_near:
            with pytest.raises(NoHeaderError):
                read_gold(path)


def test_names_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"gold\.csv:1: has 2 cells\. Expected 3, as many as --columns"):
        read_gold(path, ["x", "y", "z"])
    path.with_suffix(".jsonl").write_text('{"id": 1, "label": "a"}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"--columns: gold\.jsonl has the columns id, label"):
        read_gold(path.with_suffix(".jsonl"), ["x"])


@pytest.mark.parametrize(
    ("name", "text", "suffix", "rows"),
    [
        ("gold.csv", "id;label\na;x\nb;y\n", ".csv", [["a", "x"], ["b", "y"]]),
        ("gold.csv", "id\tlabel\na\tx\nb\ty\n", ".csv", [["a", "x"], ["b", "y"]]),
        ("gold.tsv", "id,label\na,x\nb,y\n", ".tsv", [["a", "x"], ["b", "y"]]),
        ("gold.csv", "id;price\na;0,5\nb;7\n", ".csv", [["a", "0.5"], ["b", "7"]]),
        ("gold.csv", '\ufeff"id";"text"\r\n"a";"x, y"\r\n"b";"z"\r\n', ".csv", [["a", "x, y"], ["b", "z"]]),
        ("gold.csv", '[{"id": 1, "label": "a"}]', ".json", [[1, "a"]]),
        ("gold.txt", '{"id": 1, "label": "a"}\n{"id": 2, "label": "b"}\n', ".jsonl", [[1, "a"], [2, "b"]]),
        ("gold.json", '{"id": 1, "label": "a"}\n{"id": 2, "label": "b"}\n', ".jsonl", [[1, "a"], [2, "b"]]),
        ("gold.jsonl", '[\n{"id": 1, "label": "a"}\n]', ".json", [[1, "a"]]),
        ("gold.json", '{"a": "support", "b": "deny"}', ".json", [["a", "support"], ["b", "deny"]]),
        (
            "gold.txt",
            "-DOCSTART- O\n\nAda NNP B-PER\nmet VBD O\n\n\nNoor NNP B-PER\n",
            ".jsonl",
            [["s1", ["Ada", "met"], ["B-PER", "O"]], ["s2", ["Noor"], ["B-PER"]]],
        ),
    ],
)
def test_a_file_is_what_it_holds(name: str, text: str, suffix: str, rows: list[object], tmp_path: Path) -> None:
    gold = gold_at(tmp_path, name, text)
    assert (gold.suffix, rows_of(gold)) == (suffix, rows)


def test_a_delimiter_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "gold.qrels"
    path.write_text("".join(f"{i // 3} 0 d{i} {int(i % 3 == 0)}\n" for i in range(9)), encoding="utf-8")
    gold = read_gold(path, ["query", "iteration", "item", "relevance"], " ")
    assert propose(gold, Choices()).kind == "ranking"
    (note,) = gold.notes
    assert note == "gold.qrels: separated by blanks; what is written here has commas"


def phases_of(dev: str, test: str, folder: Path) -> FileTable:
    return joined({"dev": gold_at(folder, "dev.csv", dev), "test": gold_at(folder, "test.csv", test)})


def test_every_phase_may_have_a_file(tmp_path: Path) -> None:
    """Both number their rows from 1, and one has its columns in another order."""
    dev = "id,text,label\n" + "".join(f"{i},Dev {i},{LABELS[i % 3]}\n" for i in range(1, 7))
    test = "label,id,text\n" + "".join(f"{LABELS[i % 3]},{i},Test {i}\n" for i in range(1, 13))
    proposal = propose(phases_of(dev, test, tmp_path), Choices())
    assert proposal.key == ("id",)
    phases = divide(proposal, None)
    assert [len(rows) for rows in phases.values()] == [6, 12]
    assert {proposal.gold.columns["text"][at] for at in phases["dev"]} == {f"Dev {i}" for i in range(1, 7)}
    assert proposal.gold.place(6) == "test.csv:2"
    with pytest.raises(UserError, match=r"--split 20:80: not where --gold names the phases"):
        divide(proposal, "20:80")


def test_files_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"test\.csv: has the columns id, stance\. Expected those of dev\.csv: id, l"):
        phases_of("id,label\na,x\n", "id,stance\na,x\n", tmp_path)


def test_a_phase_whose_answers_are_all_equal(tmp_path: Path) -> None:
    proposal = propose(phases_of("id,label\na,x\nb,x\nc,x\n", "id,label\na,x\nb,y\nc,y\n", tmp_path), Choices())
    with pytest.raises(UserError, match="label has one value in all rows of dev"):
        divide(proposal, None)


def test_rows_can_be_numbered(tmp_path: Path) -> None:
    text = "text\tlabel\n" + "".join(f"Text\t{LABELS[i % 3]}\n" for i in range(6))
    with pytest.raises(UserError, match=r"no column identifies its rows.* number the rows with --key line"):
        proposed(tmp_path, "gold.tsv", text)
    proposal = proposed(tmp_path, "gold.tsv", text, key=("line",))
    assert (proposal.key, proposal.gold.columns["id"]) == (("id",), ["1", "2", "3", "4", "5", "6"])


class TestClusters:
    TEXT = "id,doc_id,text,label\n" + "".join(f"{i},d{i // 4},Text {i},{LABELS[i * 7 % 3]}\n" for i in range(40))

    def test_a_column_of_repeated_ids_is_offered(self, tmp_path: Path) -> None:
        proposal = proposed(tmp_path, "gold.csv", self.TEXT)
        assert proposal.cluster == "doc_id"
        phases = divide(proposal, "30:70")
        documents = [{proposal.gold.columns["doc_id"][at] for at in rows} for rows in phases.values()]
        assert [len(some) for some in documents] == [3, 7]
        assert not documents[0] & documents[1]

    def test_the_first_part_of_a_key(self, tmp_path: Path) -> None:
        rows = "".join(f"d{i // 4},{i % 4},{LABELS[i % 3]}\n" for i in range(40))
        assert proposed(tmp_path, "gold.csv", "doc,sentence,label\n" + rows).cluster == "doc"

    def test_a_column_with_a_blank_is_none(self, tmp_path: Path) -> None:
        assert proposed(tmp_path, "gold.csv", self.TEXT.replace("0,d0,", "0,,", 1)).cluster is None

    def test_none_is_an_answer(self, tmp_path: Path) -> None:
        assert proposed(tmp_path, "gold.csv", self.TEXT, cluster="-").cluster is None

    @pytest.mark.parametrize("name", ["language", "text", "source text", "label2"])
    def test_groups_and_texts_are_none(self, name: str, tmp_path: Path) -> None:
        cells = "".join(f"{i},an example {i // 4},{LABELS[i % 3]}\n" for i in range(40))
        assert proposed(tmp_path, "gold.csv", f"id,{name},answer\n{cells}", answers=[("answer", None)]).cluster is None

    def test_another_column_is_taken(self, tmp_path: Path) -> None:
        text = "id,batch,label\n" + "".join(f"{i},{i % 5},{LABELS[i % 3]}\n" for i in range(40))
        assert proposed(tmp_path, "gold.csv", text).cluster is None
        assert proposed(tmp_path, "gold.csv", text, cluster="batch").cluster == "batch"


def test_a_probability_needs_two_labels(tmp_path: Path) -> None:
    text = "".join(json.dumps({"id": i, "label": i % 3}) + "\n" for i in range(12))
    with pytest.raises(UserError, match=r"label has 3 labels \(0, 1, 2\)\. Expected two for type probability"):
        proposed(tmp_path, "gold.jsonl", text, answers=[("label", "probability")])
