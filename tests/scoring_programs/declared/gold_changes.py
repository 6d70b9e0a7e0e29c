"""Changes of a declared competition's gold, each with whether a score may differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.scoring_programs.declared.arrays_as_files import npy
from tests.scoring_programs.declared.declaring import AnyFiles, options_of

CODE = "def mine(gold, predicted):\n    return sum(g['label'] == p['label'] for g, p in zip(gold, predicted)) / {}\n"
LABEL: dict[str, Any] = {"field": "label", "type": "label"}
LANG_LAST = "id,label,doc,lang\n1,a,x,eng\n2,b,x,swa\n3,a,y,eng\n"
BY_LINE = {"key": "line", "fields": [LABEL]}
MASK = {"file": "{id}.npy", "fields": [{"field": "mask", "type": "array"}]}
CLUSTER = {"reference": {"file": "gold.csv", "cluster": "doc"}}
CELLS = {"mask": npy([[0, 1]]), "other": npy([[1, 1]])}
# The keys of `submission` and `reference`, the metric, the gold before and after, and whether scores may differ.
GOLD_CHANGES: dict[str, tuple[dict[str, Any], Any, AnyFiles, AnyFiles, bool]] = {
    "a column that nothing reads": (
        {},
        "accuracy",
        {"gold.csv": LANG_LAST},
        {"gold.csv": LANG_LAST.replace("y", "z")},
        False,
    ),
    "a column more": ({}, "accuracy", {"gold.csv": "id,label\n1,a\n"}, {"gold.csv": "id,label,x\n1,a,9\n"}, False),
    "what results are resampled by": (
        CLUSTER,
        "accuracy",
        {"gold.csv": LANG_LAST},
        {"gold.csv": LANG_LAST.replace("y", "x")},
        False,
    ),
    "what is resampled by and grouped": (
        CLUSTER,
        {"name": "accuracy", "by": "doc"},
        {"gold.csv": LANG_LAST},
        {"gold.csv": LANG_LAST.replace("y", "x")},
        True,
    ),
    "a group": (
        {},
        {"name": "accuracy", "by": "lang"},
        {"gold.csv": LANG_LAST},
        {"gold.csv": LANG_LAST.replace("swa", "eng")},
        True,
    ),
    "an answer": ({}, "accuracy", {"gold.csv": LANG_LAST}, {"gold.csv": LANG_LAST.replace("b,", "a,")}, True),
    "an id": ({}, "accuracy", {"gold.csv": LANG_LAST}, {"gold.csv": LANG_LAST.replace("3,", "4,")}, True),
    "the order of rows": (
        {},
        "accuracy",
        {"gold.csv": "id,label\n1,a\n2,b\n"},
        {"gold.csv": "id,label\n2,b\n1,a\n"},
        False,
    ),
    "the order that says which row it is": (
        BY_LINE,
        "accuracy",
        {"gold.csv": "label\na\nb\n"},
        {"gold.csv": "label\nb\na\n"},
        True,
    ),
    "the order of texts, each of which occurs once": (
        BY_LINE,
        "accuracy",
        {"gold.csv": "label,note\na,x\nb,y\n"},
        {"gold.csv": "label,note\nb,y\na,x\n"},
        True,
    ),
    "a field that no metric reads": (
        {"fields": [LABEL, {"field": "more", "type": "text"}], "reference": {"file": "gold.csv"}},
        {"name": "accuracy", "field": "label"},
        {"gold.csv": "id,label,more\n1,a,x\n2,b,y\n"},
        {"gold.csv": "id,label,more\n1,a,x\n2,b,z\n"},
        False,
    ),
    "a column that the gold calls by another name": (
        {"reference": {"file": "gold.csv", "fields": {"label": {"column": "y"}}}},
        "accuracy",
        {"gold.csv": "id,y\n1,a\n2,b\n"},
        {"gold.csv": "id,y\n1,a\n2,c\n"},
        True,
    ),
    "what weighs keys": (
        {},
        {"name": "accuracy", "weight": "w"},
        {"gold.csv": "id,label,w\n1,a,1\n2,b,1\n"},
        {"gold.csv": "id,label,w\n1,a,1\n2,b,2\n"},
        True,
    ),
    "the order of columns": ({}, "accuracy", {"gold.csv": "id,label\n1,a\n"}, {"gold.csv": "label,id\na,1\n"}, False),
    "a file that nothing reads": (
        {},
        "accuracy",
        {"gold.csv": LANG_LAST},
        {"gold.csv": LANG_LAST, "notes.txt": "x"},
        False,
    ),
    "what a function may read": (
        {},
        "metrics.py:mine",
        {"gold.csv": LANG_LAST},
        {"gold.csv": LANG_LAST.replace("y", "z")},
        True,
    ),
    "an order that a function may read": (
        {},
        "metrics.py:mine",
        {"gold.csv": "id,label\n1,a\n2,b\n"},
        {"gold.csv": "id,label\n2,b\n1,a\n"},
        True,
    ),
    "a file of numbers": (MASK, "dice", {"1.npy": CELLS["mask"]}, {"1.npy": CELLS["other"]}, True),
    "where a file lies": (MASK, "dice", {"1.npy": CELLS["mask"]}, {"1.npy": CELLS["mask"], "1.txt": ""}, False),
}


def options_of_change(name: str, folder: Path) -> dict[str, Any]:
    """The options of the competition whose gold changes."""
    says, metric, *_ = GOLD_CHANGES[name]
    (folder / "metrics.py").write_text(CODE.format(1))
    column = {"key": "c", "metric": metric, "sort": "desc", "worst": 0}
    submission = {"file": "p.csv", "key": "id", "fields": [LABEL], **says}
    gold = submission.pop("reference", {"file": submission["file"].replace("p.csv", "gold.csv")})
    if submission["key"] == "id" and "{" not in submission["file"]:
        submission["fields"] = [{"field": "id", "type": "string"}, *submission["fields"]]
    declaration = {"submission": submission, "reference": gold, "tasks": [{"id": "t", "columns": [column]}]}
    return options_of(declaration, folder)
