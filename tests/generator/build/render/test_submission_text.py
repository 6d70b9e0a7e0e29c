"""Pages and kits say what the declaration and the data say, in the format of the file, also after a change."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.render.submission_text import example_text, format_text, rows_text, task_text
from gen_bundle.declaration.model import DeclaredSubmission, SubmittedTable
from tests.generator.author.new.making import bundled, made, sentiment
from tests.generator.build.looking import kit_of, members
from tests.yaml_text import loaded

FIELDS = loaded("""
- {field: id, type: string, required: true, meaning: Which row it is.}
- {field: mood, type: label, values: [a, b|c], required: true, meaning: Your label.}
- {field: topics, type: labels, values: [x, 'y'], separator: ;, required: false, meaning: All.}
- {field: score, type: number, min: 0, max: 1, required: true, meaning: How much.}
- {field: tags, type: tags, required: true, meaning: One for each token.}
- {field: spans, type: spans, required: true, meaning: Each with its type.}
- {field: refs, type: texts, required: true, meaning: Several.}
""")


def submission(file: str, **more: Any) -> list[DeclaredSubmission]:
    return [DeclaredSubmission.model_validate({"file": file, "key": "id", "fields": FIELDS, **more})]


def test_types_are_described_in_the_form_of_the_file() -> None:
    cells, objects = (format_text(submission(f"answers{suffix}")) for suffix in (".csv", ".jsonl"))
    assert "| `topics` | any of `x`, `y`, separated by `;`; empty for none | no | All. |" in cells
    assert "| `topics` | a list of any of `x`, `y`; `[]` for none | no | All. |" in objects
    assert "| `tags` | `O`, `B-x` or `I-x` for each token, separated by spaces | yes |" in cells
    assert "| `tags` | a list of `O`, `B-x` or `I-x`, one for each token | yes |" in objects
    assert "| `score` | a number from 0 to 1 | yes | How much. |" in cells
    assert "| `mood` | one of `a`, <code>b&#124;c</code> | yes | Your label. |" in cells


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"type": "ordinal", "values": ["low", "mid", "high"]}, "one of `low`, `mid`, `high`"),
        (
            {"type": "probabilities", "values": ["no", "yes"], "columns": ["p_no", "p_yes"]},
            "a number from 0 to 1 in each of the columns `p_no`, `p_yes`; they add up to 1",
        ),
        ({"type": "numbers", "length": 2}, "2 numbers, separated by blanks, or as a JSON list"),
        ({"type": "offsets"}, "a JSON list of whole numbers from 0; empty for none"),
        (
            {"type": "labels", "columns": ["joy", "anger"], "positive": "yes", "negative": "no"},
            "`yes` or `no` in each of the columns `joy`, `anger`",
        ),
        (
            {"type": "labels", "values": "any"},
            "any texts, without blanks around them, separated by `\\|`; empty for none",
        ),
        (
            {"type": "tags", "scheme": "none", "values": ["0", "1"]},
            "one of `0`, `1` for each place, separated by spaces",
        ),
    ],
)
def test_a_field_of_a_file_with_cells(field: dict[str, Any], said: str) -> None:
    one = {"field": "x", "required": True, "meaning": "Yours.", **field}
    assert f"\n| `x` | {said} | yes | Yours. |" in format_text(submission("a.csv", fields=[FIELDS[0], one]))


def block(text: str) -> str:
    return text.split("```")[1].strip("\n")


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t"), (".csv", ";")])
def test_an_example_of_cells_is_read_as_such(suffix: str, delimiter: str) -> None:
    given = {"delimiter": delimiter} if delimiter == ";" else {}
    text = block(example_text(submission(f"a{suffix}", **given)))
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    assert [row["id"] for row in rows] == ["id-1", "id-2", "id-3"]
    assert rows[1] == {
        "id": "id-2",
        "mood": "b|c",
        "topics": "x;y",
        "score": "0.5",
        "tags": "O B-X I-X",
        "spans": '[[1, 5, "TYPE"]]',
        "refs": '["An example answer", "another one"]',
    }


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_an_example_of_json_is_read_as_such(suffix: str) -> None:
    text = block(example_text(submission(f"a{suffix}")))
    rows = json.loads(text) if suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    assert (rows[1]["topics"], rows[1]["tags"], rows[1]["spans"]) == (["x", "y"], ["O", "B-X", "I-X"], [[1, 5, "TYPE"]])


def test_many_rows_have_one_key_and_several_fields_of_a_key_differ_in_the_last() -> None:
    def keys(key: Any, rows: str) -> list[str]:
        text = block(example_text(submission("a.csv", key=key, rows=rows)))
        return [",".join(row[: len(key)]) for row in csv.reader(text.splitlines())][1:]

    assert keys(["id"], "many") == ["id-1"] * 3
    assert keys(["id", "mood"], "one") == ["id-1,mood-1", "id-1,mood-2", "id-1,mood-3"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "Rows are matched by `id`, in any order. A missing, repeated or unknown row is refused"),
        ({"missing": "empty"}, "A missing `id` counts as an empty answer; an unknown one is refused."),
        ({"rows": "many"}, "A missing `id` counts as an empty answer"),
        ({"rows": "many", "missing": "reject"}, "A missing or unknown row is refused"),
        ({"key": None}, "Line *n* answers input *n*; a file with any other number of lines is refused."),
    ],
)
def test_what_becomes_of_rows(more: dict[str, Any], said: str) -> None:
    assert said in rows_text(submission("a.csv", **more))


def test_records_of_one_file_are_told_apart() -> None:
    tables = [*submission("a.json", key=None, at="means"), *submission("a.json", key=None, at="bars")]
    expected = "Record *n* of `a.json` at `bars` answers input *n*; a file with any other number of records is refused."
    assert rows_text(tables).splitlines()[-1] == expected


def test_cells_between_blanks_are_no_csv() -> None:
    (table,) = submission("{id}.rttm", format="csv", delimiter="blanks", header="none", fields=FIELDS[:2])
    assert "CSV" not in format_text([table])


def test_every_answer_is_asked_for() -> None:
    text = task_text(submission("a.csv"))
    assert "Give each row one label in `mood`: `a`, <code>b&#124;c</code>." in text
    assert all(f"`{field['field']}`" in text for field in FIELDS[1:])
    assert task_text(submission("a.csv", rows="many")).startswith("For each `id`, give any number of rows: `mood`,")


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_the_kit_names_the_columns_of_gold_and_says_whose_fault_other_gold_is(tmp_path: Path) -> None:
    rows = "".join(f"{i},text {i},d{i // 4},{'ab'[i % 2]}\n" for i in range(24))
    folder = made(tmp_path, "gold.csv", f"id,text,doc,label\n{rows}")
    kit = kit_of(bundled(folder).path, tmp_path / "kit")
    assert "- `gold.csv` with `id`, `label`, `doc`\n" in (kit / "README.md").read_text(encoding="utf-8")
    assert "```\nid,label\nid-1,a\n" in (kit / "FORMAT.md").read_text(encoding="utf-8")
    own = tmp_path / "own"
    own.mkdir()
    (own / "gold.csv").write_text("id,label\n1,a\n", encoding="utf-8")
    command = [sys.executable, "score_locally.py", "--gold", str(own), "--submission", "examples/valid.zip"]
    done = subprocess.run(command, cwd=kit, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"--gold {own}: cannot be used.\ngold.csv:1: ")
    assert "organisers must act" not in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_pages_follow_a_changed_declaration(tmp_path: Path) -> None:
    folder = made(tmp_path, "gold.csv", sentiment(30), split="40:60")
    page = members(bundled(folder).path)["pages/data.md"].decode()
    assert "| Development | 12 | `dev/inputs.csv` (12 rows: `id`, `text`) |" in page
    for path in folder.rglob("*.csv"):
        path.write_text(path.read_text(encoding="utf-8").replace("label\n", "mood\n"), encoding="utf-8")
    declaration = (folder / "bundle.yaml").read_text(encoding="utf-8").replace("predictions.csv", "answers.csv")
    (folder / "bundle.yaml").write_text(declaration.replace("field: label", "field: mood"), encoding="utf-8")
    for path in folder.rglob("predictions.csv"):
        path.rename(path.with_name("answers.csv"))
    (folder / "data/baselines/test/majority").rename(folder / "data/baselines/test/best")
    whole = members(bundled(folder).path)
    after = {name: text.decode() for name, text in whole.items() if name.startswith("pages/")}
    assert "Give each row one label in `mood`: `negative`, `neutral`, `positive`." in after["pages/overview.md"]
    assert "```\nid,mood\nid-1,negative\n" in after["pages/submission.md"]
    assert "Upload a zip with `answers.csv`" in after["pages/submission.md"]
    assert "Baselines: `best`, `majority`." in after["pages/evaluation.md"]
    assert not [name for name, text in after.items() if "`label`" in text or "predictions.csv" in text]


def test_a_file_without_a_header_line_is_described_and_shown_as_it_is() -> None:
    fields = [{"field": name, "type": "string", "required": True, "meaning": "A field."} for name in ("id", "label")]
    table = SubmittedTable.model_validate(
        {"file": "p.csv", "key": "id", "header": "none", "delimiter": ";", "skip": 2, "fields": fields}
    )
    said = format_text([table])
    assert said.endswith(
        "The first 2 lines are not read. Cells are separated by semicolons. "
        "There is no header line: each row holds `id`, `label`, in this order."
    )
    skipped = ["line 1, which is not read", "line 2, which is not read"]
    assert example_text([table]).splitlines()[1:5] == [*skipped, "id-1;label-1", "id-2;label-2"]
