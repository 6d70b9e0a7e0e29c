"""Labels of Hugging Face's data sets by their names, which lie beside the file or, of Parquet, in it."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gen_bundle.ground.errors import UserError
from gen_bundle.ground.tables.reading import read_table
from gen_bundle.ground.tables.table import FileTable

NAMES = ["neg", "neu", "pos"]
LABEL = {"names": NAMES, "_type": "ClassLabel"}
CARD = """---
license: mit
dataset_info:
- config_name: plain
  features:
  - name: label
    dtype:
      class_label:
        names:
          '0': neg
          '1': neu
          '2': pos
  - name: tags
    sequence:
      class_label:
        names: [O, B-PER]
---
# A data set
"""
ROWS = [{"id": f"r{i}", "label": i % 3, "tags": [0, i % 2], "size": i} for i in range(6)]


def read(folder: Path, rows: list[dict[str, Any]]) -> FileTable:
    file = folder / "data" / "test.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_table(file)


def of_info(features: object) -> str:
    return json.dumps({"features": features, "splits": {}})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", CARD),
        ("data/README.md", CARD),
        ("dataset_info.json", of_info({"label": LABEL, "tags": {"feature": {"names": ["O", "B-PER"]}}})),
        ("data/dataset_info.json", of_info({"label": LABEL, "tags": [{"names": ["O", "B-PER"]}]})),
    ],
)
def test_numbers_of_labels_are_their_names(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    table = read(tmp_path, ROWS)
    assert table.columns["label"] == NAMES * 2
    assert table.columns["tags"] == [["O", "O"], ["O", "B-PER"]] * 3
    assert list(table.columns["size"]) == [0, 1, 2, 3, 4, 5]
    where = name.rpartition("/")[2]
    assert f"the numbers of label are written as the labels that {where} names (neg, neu, pos)" in " ".join(table.notes)


def test_no_label_is_none_and_any_other_value_leaves_a_column_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CARD, encoding="utf-8")
    rows = [{"label": -1, "tags": [2]}, {"label": 1, "tags": [0]}]
    table = read(tmp_path, rows)
    assert table.columns["label"] == [None, "neu"]
    assert list(table.columns["tags"]) == [[2], [0]]


@pytest.mark.parametrize("text", ["# No head", "---\n: [\n---\n", "---\ndataset_info: 3\n---\n", "---\n- 1\n---\n"])
def test_a_page_that_names_no_labels_changes_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    table = read(tmp_path, ROWS)
    assert (list(table.columns["label"]), table.notes) == ([0, 1, 2] * 2, ())


def test_parquet_names_its_labels_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pyarrow reads it, which is none of our packages."""
    columns = {"label": [0, 2], "tags": [[0], [1]], "image": [b"1", b"2"]}
    features = {"label": LABEL, "tags": {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}}}
    schema = SimpleNamespace(metadata={b"huggingface": json.dumps({"info": {"features": features}}).encode()})
    found = SimpleNamespace(schema=schema, num_rows=2, to_pydict=lambda: columns)
    pyarrow: Any = ModuleType("pyarrow")
    pyarrow.parquet, pyarrow.ArrowException = SimpleNamespace(read_table=lambda path: found), ValueError
    monkeypatch.setitem(sys.modules, "pyarrow", pyarrow)
    table = read_table(tmp_path / "x.parquet")
    assert table.columns == {"label": ["neg", "pos"], "tags": [["O"], ["B-PER"]]}
    assert "x.parquet: left out, since JSON has no form for their values: image" in table.notes
    with pytest.raises(UserError, match=r"x\.parquet: a Parquet file says itself how it is read"):
        read_table(tmp_path / "x.parquet", ["a"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"Install it \(python -m pip install pyarrow\), or write JSON lines"):
        read_table(tmp_path / "x.parquet")
