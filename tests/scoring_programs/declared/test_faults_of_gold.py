"""What is undefined whatever is submitted, or cannot be taken, is found in the gold: one table of all such faults."""

from pathlib import Path
from typing import Any

import pytest

from tests.scoring_programs.declared.declaring import csv_of, gold_faults, one_table

X = {"field": "x", "type": "number"}
LABEL = {"field": "x", "type": "label", "values": ["a", "b"]}
TEXT = {"field": "x", "type": "text"}
SHARES = {"field": "p", "type": "probabilities", "values": ["a", "b"]}
OWN = {"name": "metrics.py:mine", "per": "key", "weight": "w", "by": "g"}
SKIP = {"reference": {"file": "gold.csv", "empty": "skip"}}
NOT_A_NUMBER = "w, the weight, is not everywhere a number from 0"
MEANS = {"name": "mae", "mean_by": "s", "by": "g"}
OPEN = {"field": "x", "type": "label"}
MANY: dict[str, Any] = {**TEXT, "rows": "many"}
ITEMS = {"field": "item", "type": "string", "rows": "many"}
FAULTS: list[tuple[Any, dict[str, Any], str, list[list[Any]], str | None]] = [
    ("pearson", X, "id,x", [[1, 1], [2, 1]], "all gold values are equal, so that no correlation is defined"),
    ("ccc", X, "id,x", [[1, 1], [2, 1]], "all gold values are equal, so that ccc is 0 or undefined"),
    ("mape", X, "id,x", [[1, 1], [2, 0]], "a gold value is 0, to which no error is relative"),
    ({"name": "pearson", "by": "g"}, X, "id,x,g", [[1, 1, "u"], [2, 2, "u"], [3, 1, "v"]], "in the group v"),
    (MEANS, X, "id,x,s,g", [[1, 1, *"au"], [2, 2, *"bu"], [3, 3, *"av"]], "s has fewer than two groups in the group v"),
    ({"name": "mae", "weight": "w"}, X, "id,x,w", [["k", 1, -1]], NOT_A_NUMBER),
    ({"name": "mae", "weight": "w"}, X, "id,x,w", [["k", 1, "much"]], NOT_A_NUMBER),
    ({"name": "mae", "weight": "w"}, X, "id,x,w", [["k", 1, 0]], "w is 0 for every key"),
    ({"name": "mae", "weight": "w", "by": "g"}, X, "id,x,w,g", [[1, 1, 0, "u"], [2, 1, 1, "v"]], "key in the group u"),
    (OWN, X, "id,x,w,g", [[1, 1, 1, "u"], [2, 2, 0, "v"]], "w is 0 for every key in the group v"),
    ({"name": "mase", "scale": "w"}, X, "id,x,w", [["k", 1, 2], ["l", 1, 0]], "errors are divided by, is 0 for a key"),
    ({"name": "points", "matrix": {"a": {"a": 0, "b": 1}}}, LABEL, "id,x", [[1, "a"]], "the gold itself gets no"),
    ({"name": "points", "matrix": {"a": {"a": 0.5, "b": 1}}}, LABEL, "id,x", [[1, "a"]], None),
    ({"name": "f1", "labels": ["b", "z"]}, OPEN, "id,x", [[1, "a"], [2, "b"]], "no gold label is z"),
    ({"name": "accuracy", "where": {"g": "zz"}}, LABEL, "id,x,g", [[1, "a", "u"]], "no key is scored: no row has g"),
    ("accuracy", {**LABEL, **SKIP}, "id,x", [[1, ""], [2, ""]], "no key is scored"),
    ("kappa", LABEL, "id,x", [[1, "a"], [2, "a"]], "all gold labels are equal, so that kappa is 0 or undefined"),
    (
        {"name": "kappa", "weights": "linear", "by": "g"},
        LABEL,
        "id,x,g",
        [[1, "a", "u"], [2, "b", "u"], [3, "a", "v"], [4, "a", "v"]],
        "in the group v",
    ),
    ({"name": "roc_auc", "positive": "b", "gold": "y"}, X, "id,y", [[1, "a"]], "no gold label is b"),
    ({"name": "roc_auc", "gold": "y"}, SHARES, "id,y", [[1, "a"], [2, "a"]], "all gold labels are a"),
    ({"name": "roc_auc", "gold": "y", "average": "weighted"}, SHARES, "id,y", [[1, "a"]], "all gold labels are a"),
    ("lcs_f1", TEXT, "id,x", [[1, '["a", "b"]']], "lcs_f1 compares with one text"),
    ("wer", TEXT, "id,x", [[1, '["x", "y"]']], "wer compares with one text"),
    ("wer", TEXT, "id,x", [[1, " "], [2, ""]], "no gold text has a word"),
    ("ap", ITEMS, "id,item", [["q", "d"]], None),
    ({"name": "ap", "items": "all"}, ITEMS, "id,item", [["q", "d"]], "items: all tells participants"),
    ("set_f1", MANY, "id,x", [[1, '["one", "uno"]'], [1, '["two"]']], "x has lists of texts"),
    ("exact_match", MANY, "id,x", [[1, '["one", "uno"]']], "x has lists of texts"),
    ("exact_match", MANY, "id,x", [[1, "one"], [1, '["two"]']], None),
]
"""Metric, field with further keys of `submission`, header, gold, and what is said of it."""


@pytest.mark.parametrize(("metric", "field", "header", "rows", "said"), FAULTS)
def test_a_fault_of_the_gold_is_found(
    metric: Any, field: dict[str, Any], header: str, rows: list[list[Any]], said: str | None, tmp_path: Path
) -> None:
    keys = {key: value for key, value in field.items() if key in ("rows", "reference")}
    own = {key: value for key, value in field.items() if key not in keys}
    options = one_table([own], {"c": metric}, folder=tmp_path, code="", **keys)
    faults = gold_faults(options, csv_of(header, rows), tmp_path)
    if said is None:
        assert faults == []
        return
    fault, *others = faults
    assert fault.startswith("gold.csv (c): ")
    assert said in fault
    assert others == [] or metric["name"] == "roc_auc"  # of which each label is a fault of its own
