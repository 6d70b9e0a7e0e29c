"""Gold of several formats and shapes becomes a competition that builds without a leak and scores as it must."""

import csv
import itertools
import json
import time
from pathlib import Path

import numpy as np
import pytest

from gen_bundle.author.new.data import write_data
from gen_bundle.author.new.project import Place, new_declared
from gen_bundle.author.new.propose import Choices, propose
from gen_bundle.author.new.split import divide, ids_that_say_answers, is_sorted_by_answer
from gen_bundle.cli.messages import say_error
from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.errors import UserError
from tests.generator.author.new.making import (
    bundled,
    csv_text,
    files,
    gold_at,
    made,
    proposed,
    read_gold,
    scores,
    sentiment,
)
from tests.generator.check.drafts import packed
from tests.scoring_programs.declared.arrays_as_files import nifti, npy, png

pytestmark = pytest.mark.usefixtures("kept_organisers")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.slow
def test_a_csv_is_divided_by_label_and_its_answers_stay_secret(tmp_path: Path) -> None:
    folder = made(tmp_path, "gold.csv", sentiment(60), split="20:80")
    dev, test = (rows_of(folder / f"data/{phase}/gold.csv") for phase in ("dev", "test"))
    assert [sum(row["label"] == label for row in dev) for label in ("negative", "neutral", "positive")] == [4, 4, 4]
    assert {row["id"] for row in dev} | {row["id"] for row in test} == {f"t{i}" for i in range(60)}
    assert not {row["id"] for row in dev} & {row["id"] for row in test}
    assert list(rows_of(folder / "data/public/test/inputs.csv")[0]) == ["id", "text"]
    found = scores(bundled(folder).path)
    assert found["test", "majority"] == {"accuracy": 0.3333, "macro_f1": 0.1667}
    assert "/data/\n" in (folder / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.slow
def test_raw_tweets_in_a_tsv_are_read_without_quoting(tmp_path: Path) -> None:
    tweets = ['"so good', 'he said "no"', "plain", '"""'] * 5
    text = "id\ttweet\tlabel\n" + "".join(f"t{i}\t{tweet}\t{'ab'[i % 2]}\r\n" for i, tweet in enumerate(tweets))
    folder = made(tmp_path, "gold.tsv", text)
    declaration = (folder / "bundle.yaml").read_text(encoding="utf-8")
    assert declaration.count("quoting: none") == 2
    inputs = (folder / "data/public/test/inputs.tsv").read_text(encoding="utf-8").splitlines()
    assert inputs[:2] == ["id\ttweet", 't0\t"so good']
    assert scores(bundled(folder).path)["test", "majority"]["accuracy"] == 0.5


def test_a_quoted_tsv_keeps_its_quotation(tmp_path: Path) -> None:
    rows = [[f"t{i}", f'line one\nline "{i}"\twith a tab', "ab"[i % 2]] for i in range(6)]
    folder = made(tmp_path, "gold.tsv", csv_text("id,text,label", rows, "\t"))
    assert "quoting" not in (folder / "bundle.yaml").read_text(encoding="utf-8")
    assert [row["text"] for row in rows_of(folder / "data/public/test/inputs.tsv")] == [row[1] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", "keyed .json"])
def test_json_of_every_form(suffix: str, tmp_path: Path) -> None:
    rows = [{"id": f"t{i}", "text": f"Text {i}", "stars": i % 4 + 1, "label": [True, False][i % 2]} for i in range(16)]
    if suffix == ".jsonl":
        text = "".join(json.dumps(row) + "\n\n" for row in rows)
    else:
        text = json.dumps({row.pop("id"): row for row in rows})
    folder = made(tmp_path, f"gold{suffix.split()[-1]}", text, answers=[("stars", "label"), ("label", None)])
    found = scores(bundled(folder).path)["test", "majority"]
    assert found["stars_accuracy"] == 0.25
    assert found["label_accuracy"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "column", "value"), [("yes\nno\nno\nyes\nno\n", "accuracy", 0.6), ("1.5\n2.5\n", "rmse", 0.5952)]
)
def test_lines_of_labels_or_numbers(lines: str, column: str, value: float, tmp_path: Path) -> None:
    folder = made(tmp_path, "gold.txt", lines)
    assert not (folder / "data/public").exists()
    (found,) = scores(bundled(folder).path).values()
    assert found[column] == value


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_many_columns_of_numbers_are_one_answer(suffix: str, tmp_path: Path) -> None:
    rows = [{"id": f"c{i}", "cell": "TB"[i % 2], **{f"gene{j}": i * j % 7 / 8 for j in range(11)}} for i in range(12)]
    text = csv_text(",".join(rows[0]), [list(row.values()) for row in rows])
    if suffix == ".jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    folder = made(tmp_path, f"gold{suffix}", text)
    (field,) = read_competition(folder).submission.fields[1:]
    assert (field.type, len(field.columns or ())) == ("numbers", 11)
    assert list(scores(bundled(folder).path)["test", "random"]) == ["rmse", "mae"]


@pytest.mark.slow
def test_rows_of_many_a_key(tmp_path: Path) -> None:
    rows = [[f"d{i // 3}", f"Text of {i // 3}", i % 3 * 5, i % 3 * 5 + 4, ["PER", "LOC"][i % 2]] for i in range(30)]
    text = csv_text("doc_id,text,start,end,type", rows)
    answers = [(name, None) for name in ("start", "end", "type")]
    folder = made(tmp_path, "gold.csv", text, split="40:60", answers=answers)
    inputs = rows_of(folder / "data/public/test/inputs.csv")
    assert [list(row) for row in inputs] == [["doc_id", "text"]] * 6
    assert scores(bundled(folder).path)["test", "constant"] == {"f1": 0, "precision": 0, "recall": 0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "meaning"), [(["id"], "Which row it is, each once."), (["id", "at"], "Which row it is.")]
)
def test_of_a_key_of_several_columns_none_is_there_once(key: list[str], meaning: str, tmp_path: Path) -> None:
    rows = [[f"t{number}", number % 2, "ab"[number % 2]] for number in range(12)]
    folder = made(tmp_path, "gold.csv", csv_text("id,at,label", rows), key=key)
    submission = read_competition(folder).submission
    assert submission is not None
    assert submission.fields[0].meaning == meaning


def test_a_baseline_of_shares_stays_between_zero_and_one(tmp_path: Path) -> None:
    rows = [[f"t{number}", (number % 12 == 0) * 0.9] for number in range(60)]
    folder = made(tmp_path, "gold.csv", csv_text("id,share", rows))
    (baseline,) = folder.glob("data/baselines/test/*/predictions.csv")
    shares = [float(row["share"]) for row in rows_of(baseline)]
    assert min(shares) == 0
    assert max(shares) <= 1


@pytest.mark.slow
def test_names_that_mean_something_to_yaml_jinja_and_markdown(tmp_path: Path) -> None:
    label, text = "{{ 7*7 }} {% x %}: | `a` $b$ # no", "<b>text</b>: {{ y }}"
    rows = [[f"t{i}", f"Text {i}", ["no", "1e3", "a: b", "{{ z }}", "é\u2028ü", '"'][i % 6]] for i in range(12)]
    folder = made(tmp_path, "gold.csv", csv_text("id,text,label", rows).replace("text,label", f'"{text}","{label}"', 1))
    found = scores(bundled(folder).path)["test", "majority"]
    assert found["accuracy"] == 0.1667
    assert "49" not in (folder / "pages/overview.md.j2").read_text(encoding="utf-8")


@pytest.mark.slow
def test_one_label_for_nearly_all_is_no_leak(tmp_path: Path) -> None:
    rows = [[f"t{i}", f"Text {i}", "rare" if i % 50 == 7 else "usual"] for i in range(200)]
    folder = made(tmp_path, "gold.csv", csv_text("id,text,label", rows), split="50:50")
    assert scores(bundled(folder).path)["test", "majority"]["accuracy"] == pytest.approx(0.98)


@pytest.mark.parametrize(
    ("values", "kind"), [(["x", "x", "x", "y"], "label"), (["0.5", "0.5", "0.5", "0.7"], "number")]
)
def test_a_phase_must_have_something_to_tell_apart(values: list[str], kind: str, tmp_path: Path) -> None:
    rows = [[f"t{i}", value] for i, value in enumerate(values)]
    proposal = proposed(tmp_path, "gold.csv", csv_text("id,answer", rows), answers=[("answer", kind)])
    with pytest.raises(UserError, match=r"--split 50:50: answer has one value in all rows of (dev|test)"):
        divide(proposal, "50:50")


@pytest.mark.parametrize("value", ["x", "0.5"])
def test_one_value_in_all_rows_is_nothing_to_predict(value: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gold\.csv: the column label has one value in all rows"):
        proposed(tmp_path, "gold.csv", csv_text("id,label", [["a", value], ["b", value]]))


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([f"{'ab'[i % 2]}-{i * 37 % 61}" for i in range(60)], ["has 60 items in the order of label in gold.csv"]),
        ([f"d{i * 37 % 61:02}-{'xy'[i % 2]}" for i in range(60)], ["shows label of gold.csv"]),
        ([f"t{i % 2 * 30 + i // 2:02}" for i in range(60)], ["has 60 items in the order of label in gold.csv"]),
        ([f"t{i * 37 % 61:02}" for i in range(60)], []),
    ],
)
def test_ids_that_say_their_answers_are_noted(ids: list[str], said: list[str], tmp_path: Path) -> None:
    rows = [[one, f"Text {i}", ["neg", "pos"][i % 2]] for i, one in enumerate(ids)]
    found = list(ids_that_say_answers(proposed(tmp_path, "gold.csv", csv_text("id,text,label", rows))))
    assert len(found) == len(said)
    assert all(one in line for one, line in zip(said, found, strict=True))


def test_the_order_of_sorted_gold_is_not_given_away(tmp_path: Path) -> None:
    rows = [[f"t{i}", f"Text {i}", ["neg", "pos"][i // 20]] for i in range(40)]
    assert is_sorted_by_answer(proposed(tmp_path, "gold.csv", csv_text("id,text,label", rows)))
    folder = made(tmp_path, "gold.csv", csv_text("id,text,label", rows))
    labels = [row["label"] for row in rows_of(folder / "data/test/gold.csv")]
    ids = [row["id"] for row in rows_of(folder / "data/public/test/inputs.csv")]
    assert sum(a != b for a, b in itertools.pairwise(labels)) > 5
    assert ids == [row["id"] for row in rows_of(folder / "data/test/gold.csv")]


def test_no_row_of_the_gold_is_in_what_git_takes(tmp_path: Path) -> None:
    folder = made(tmp_path, "gold.csv", sentiment(30), split="20:80")
    kept = [folder / name for name in files(folder) if not name.startswith("data/") and not name.endswith(".png")]
    assert len(kept) > 10
    for path in kept:
        text = path.read_text(encoding="utf-8")
        assert not any(f"t{i}," in text or f"day {i}" in text for i in range(30)), path


def test_the_same_gold_is_always_divided_in_the_same_way(tmp_path: Path) -> None:
    proposal = proposed(tmp_path, "gold.csv", sentiment(50))
    assert divide(proposal, "1:4") == divide(proposal, "20:80")


@pytest.mark.parametrize("split", ["0:1", "1", "dev:test", "50%", "-1:2", "1:99"])
def test_a_split_that_cannot_be(split: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"--split {split}"):
        divide(proposed(tmp_path, "gold.csv", sentiment(12)), split)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gold.csv", "", r"gold\.csv: is empty"),
        ("gold.csv", " \n\n", r"gold\.csv: is empty"),
        ("gold.csv", "id,label\n", r"gold\.csv: has no rows"),
        ("gold.csv", "id\na\nb\n", r"gold\.csv: has the key alone"),
        (
            "gold.csv",
            "id,label\na,x,y\nb\nc,z\n",
            r"gold\.csv:2: has 3 cells\. Expected 2.*\n.*gold\.csv:3: has 1 cells",
        ),
        ("gold.csv", "id,id\na,x\n", r"gold\.csv:1: the column 'id' is there more than once"),
        ("gold.csv", ",,\n,,\n", r"gold\.csv:1: names no column"),
        ("truth.txt", "1 [0,1,0]\n2 [1,0]\n3 [0,0,1]\n", r"truth\.txt: each line holds several numbers"),
        ("test.tags", "OK BAD OK\nOK OK\nBAD\nBAD OK\n", r"test\.tags: each line holds the labels of several words"),
        ("boxes.txt", "car 0.9 10 20 30 40\ndog 0.8 1 2 3 4\n", r"boxes\.txt: each line holds several numbers"),
        ("gold.csv", '\ufeff"id";"label"\r\n"a";"x";"y"\r\n', r"^gold\.csv:2: has 3 cells\. .* by semicolons\."),
        ("gold.csv", 'id,label\na,"x"y\n"b,z\n', r"gold\.csv:2: cannot be read"),
        ("gold.csv", b"id,label\na,\xe9\n", r"gold\.csv:2: holds bytes that are not UTF-8"),
        ("gold.csv", "id,label\na,x\0\n", r"gold\.csv:2: holds a NUL"),
        ("gold.jsonl", '{"id": 1}\n[1]\n"x"\n', r"gold\.jsonl:2: is not an object.*\n.*gold\.jsonl:3"),
        ("gold.jsonl", '{"id": 1, "id": 2}\n', r"gold\.jsonl:1: the name 'id' is there more than once"),
        ("gold.jsonl", '{"id": 1,}\n', r"gold\.jsonl:1:\d+: not valid JSON"),
        ("gold.jsonl", '{"id": NaN}\n', r"gold\.jsonl:1: NaN is not a JSON value"),
        ("gold.jsonl", '{"id": "a", "x": "\\ud800"}\n', r"gold\.jsonl:1: holds half of a surrogate pair"),
        ("gold.json", "{}", r"gold\.json: has no rows"),
        ("gold.json", '{"a": 1, "b": {"x": 2}}', r"gold\.json: is an object of which some values are objects, and"),
        ("gold.json", "3", r"gold\.json: is neither a list nor an object"),
        (
            "gold.xlsx",
            packed({"xl/workbook.xml": b""}),
            r"gold\.xlsx: is an Excel workbook\. Expected text; in Excel: Sa",
        ),
        ("gold.csv", b"PK\x03\x04\0", r"gold\.csv: is a zip\. Expected what is in it: unpack it"),
        (
            "gold.npz",
            packed({"gts.npy": b""}),
            r"gold\.npz: is arrays of numpy\. Expected a folder with such a file for each",
        ),
        ("gold.npy", npy(np.zeros(3)), r"gold\.npy: is an array of numpy\. Expected a folder .* case: --gold FOLDER"),
        ("m.nii.gz", nifti(np.zeros((2, 2))), r"m\.nii\.gz: is a NIfTI image\. Expected a folder"),
        ("m.png", png(np.zeros((2, 2), "u1")), r"m\.png: is a PNG image\. Expected a folder"),
        (
            "a.wav",
            b"RIFF\xff\0\0\0WAVEfmt ",
            r"a\.wav: is no text\. Expected .* a file: --recipe files",
        ),
        ("a.pickle", b"\x80\x04\x95\0", r"a\.pickle: is a pickle of Python\. Expected text, such as JSON lines"),
        ("a.pdf", b"%PDF-1.7\n%\xe2", r"a\.pdf: is a PDF"),
        ("gold.csv", b"\x1f\x8b\x08", r"gold\.csv: is compressed by gzip"),
    ],
)
def test_what_is_wrong_with_a_gold_file(name: str, text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        proposed(tmp_path, name, text)


def test_what_is_shown_and_the_rest_are_counted_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "id,label\n" + "a\n" * 120
    with pytest.raises(UserError) as error:
        proposed(tmp_path, "gold.csv", text)
    say_error(error.value)
    assert capsys.readouterr().err.splitlines()[20:] == ["… and 100 more.", "120 errors."]


def test_what_the_scoring_program_refuses_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = gold_at(tmp_path, "gold.csv", sentiment())
    proposal = propose(gold, Choices())

    def spoil(folder: Path, *arguments: object) -> None:
        write_data(folder, *arguments)  # type: ignore[arg-type]
        if folder.name == "data":
            with (folder / "test/gold.csv").open("a", encoding="utf-8") as file:
                file.write("t0,again,positive,\n")

    monkeypatch.setattr("gen_bundle.author.new.project.write_data", spoil)
    with pytest.raises(UserError, match=r"test: gold\.csv:14: has 4 cells"):
        new_declared(Place("made", tmp_path), proposal, divide(proposal, "none"))
    assert {path.name for path in tmp_path.iterdir()} == {"gold.csv"}


@pytest.mark.slow
def test_twenty_thousand_rows_take_seconds(tmp_path: Path) -> None:
    rows = [
        [f"t{i}", f"Text number {i} of many", ["neg", "neu", "pos"][i * 7919 % 3], i % 1000 / 1000]
        for i in range(20_000)
    ]
    path = tmp_path / "gold.csv"
    path.write_text(csv_text("id,text,label,intensity", rows), encoding="utf-8")
    start = time.process_time()
    proposal = propose(read_gold(path), Choices())
    folder = new_declared(Place("made", tmp_path), proposal, divide(proposal, "20:80"), check=False)
    assert time.process_time() - start < 4  # measured: about 0.6
    assert len(rows_of(folder / "data/test/gold.csv")) == 16_000


def test_a_ranking_whose_gold_has_no_scores_says_nothing_by_its_ids(tmp_path: Path) -> None:
    judged = "".join(f"q{query} 0 d{query}{item} {item % 2}\n" for query in range(20) for item in range(8))
    assert list(ids_that_say_answers(proposed(tmp_path, "gold.qrels", judged))) == []
