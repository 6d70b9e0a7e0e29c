"""Changes of a declared competition's gold, each with whether a score may differ."""

from pathlib import Path
from typing import Any

from tests.scoring_programs.declared.arrays_as_files import npy
from tests.scoring_programs.declared.declaring import AnyFiles, one_task, options_of

CODE = "def mine(gold, predicted):\n    return sum(g['label'] == p['label'] for g, p in zip(gold, predicted)) / {}\n"
LABEL: dict[str, Any] = {"field": "label", "type": "label"}
LANG_LAST = "id,label,doc,lang\n1,a,x,eng\n2,b,x,swa\n3,a,y,eng\n"
BY_LINE = {"key": "line", "fields": [LABEL]}
MASK = {"file": "{id}.npy", "fields": [{"field": "mask", "type": "array"}]}
CLUSTER = {"reference": {"file": "gold.csv", "cluster": "doc"}}
CELLS = {"mask": npy([[0, 1]]), "other": npy([[1, 1]])}
# Keys of `submission`, `reference` and a metric, the gold before and after (of gold.csv the text alone), and whether
# scores may differ.
GOLD_CHANGES: dict[str, tuple[dict[str, Any], AnyFiles | str, AnyFiles | str, bool]] = {
    "a column that nothing reads": ({}, LANG_LAST, LANG_LAST.replace("y", "z"), False),
    "a column more": ({}, "id,label\n1,a\n", "id,label,x\n1,a,9\n", False),
    "what results are resampled by": (CLUSTER, LANG_LAST, LANG_LAST.replace("y", "x"), False),
    "what is resampled by and grouped": (
        {**CLUSTER, "metric": {"name": "accuracy", "by": "doc"}},
        LANG_LAST,
        LANG_LAST.replace("y", "x"),
        True,
    ),
    "a group": ({"metric": {"name": "accuracy", "by": "lang"}}, LANG_LAST, LANG_LAST.replace("swa", "eng"), True),
    "an answer": ({}, LANG_LAST, LANG_LAST.replace("b,", "a,"), True),
    "an id": ({}, LANG_LAST, LANG_LAST.replace("3,", "4,"), True),
    "the order of rows": ({}, "id,label\n1,a\n2,b\n", "id,label\n2,b\n1,a\n", False),
    "the order that says which row it is": (BY_LINE, "label\na\nb\n", "label\nb\na\n", True),
    "the order of texts, each of which occurs once": (
        BY_LINE,
        "label,note\na,x\nb,y\n",
        "label,note\nb,y\na,x\n",
        True,
    ),
    "a field that no metric reads": (
        {"fields": [LABEL, {"field": "more", "type": "text"}], "metric": {"name": "accuracy", "field": "label"}},
        "id,label,more\n1,a,x\n2,b,y\n",
        "id,label,more\n1,a,x\n2,b,z\n",
        False,
    ),
    "a column that the gold calls by another name": (
        {"reference": {"file": "gold.csv", "fields": {"label": {"column": "y"}}}},
        "id,y\n1,a\n2,b\n",
        "id,y\n1,a\n2,c\n",
        True,
    ),
    "what weighs keys": (
        {"metric": {"name": "accuracy", "weight": "w"}},
        "id,label,w\n1,a,1\n2,b,1\n",
        "id,label,w\n1,a,1\n2,b,2\n",
        True,
    ),
    "the order of columns": ({}, "id,label\n1,a\n", "label,id\na,1\n", False),
    "a file that nothing reads": ({}, LANG_LAST, {"gold.csv": LANG_LAST, "notes.txt": "x"}, False),
    "what a function may read": ({"metric": "metrics.py:mine"}, LANG_LAST, LANG_LAST.replace("y", "z"), True),
    "an order that a function may read": (
        {"metric": "metrics.py:mine"},
        "id,label\n1,a\n2,b\n",
        "id,label\n2,b\n1,a\n",
        True,
    ),
    "a file of numbers": ({**MASK, "metric": "dice"}, {"1.npy": CELLS["mask"]}, {"1.npy": CELLS["other"]}, True),
    "where a file lies": (
        {**MASK, "metric": "dice"},
        {"1.npy": CELLS["mask"]},
        {"1.npy": CELLS["mask"], "1.txt": ""},
        False,
    ),
}


def gold_of_change(name: str) -> tuple[AnyFiles, AnyFiles]:
    """The files of gold before and after a change."""
    before, after = [{"gold.csv": one} if isinstance(one, str) else one for one in GOLD_CHANGES[name][1:3]]
    return before, after


def options_of_change(name: str, folder: Path) -> dict[str, Any]:
    """The options of the competition whose gold changes."""
    (folder / "metrics.py").write_text(CODE.format(1))
    submission = {"file": "p.csv", "key": "id", "fields": [LABEL], **GOLD_CHANGES[name][0]}
    column = {"key": "c", "metric": submission.pop("metric", "accuracy"), "sort": "desc", "worst": 0}
    gold = submission.pop("reference", {"file": submission["file"].replace("p.csv", "gold.csv")})
    if submission["key"] == "id" and "{" not in submission["file"]:
        submission["fields"] = [{"field": "id", "type": "string"}, *submission["fields"]]
    return options_of(one_task(submission, [column], gold), folder)
