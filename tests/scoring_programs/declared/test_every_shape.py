"""Every shape of table that a declaration can have: rows, missing rows, keys, types and formats, each in all others.

Gold is prepared and checked, and the template written and scored, as a build does it. Right answers score 1.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from declared import organiser
from tests.scoring_programs.declared.declaring import (
    cell,
    columns_of,
    csv_of,
    faults_of,
    jsonl_of,
    one_task,
    options_of,
    request_of,
    score,
    template_of,
)
from tests.scoring_programs.framed import write_files
from tests.sweeps import sweep

VALUES: dict[str, list[Any]] = {
    "string": ["one", "two, too", ""],
    "label": ["a", "b", "a"],
    "labels": [["a", "b"], [], ["b"]],
    "number": [1.5, -2, 0],
    "text": ["A text", 'with "quotes"', ""],
    "texts": [["one", "two"], [], ["three"]],
    "tags": [["O", "B-x"], ["O"], ["B-x", "I-x", "O"]],
    "spans": [[[0, 3, "x"]], [], [[1, 2, "y"], [4, 9, "x"]]],
}
METRICS = {
    "label": ["accuracy", "f1", "kappa"],
    "labels": ["f1", "jaccard", "set_f1"],
    "number": ["pearson", "r2"],
    "text": ["token_f1", "chrf"],
    "tags": ["span_f1"],
    "spans": ["set_f1"],
}
OWN = "def share(gold, predicted, **options):\n    return sum(map(len, gold)) / max(1, sum(map(len, gold)))\n"
Row = list[Any]


def text_of(rows: list[Row], names: list[str], suffix: str, *kinds: str) -> str:
    """The rows as a file of a format; the kinds are those of the last columns."""
    if suffix in ("json", "jsonl"):
        objects = [dict(zip(names, row, strict=True)) for row in rows]
        return json.dumps(objects) if suffix == "json" else jsonl_of(objects)
    every = [*["string"] * (len(names) - len(kinds)), *kinds]
    cells = [[cell(value, kind) for value, kind in zip(row, every, strict=True)] for row in rows]
    return csv_of(",".join(names), cells, "\t" if suffix == "tsv" else ",")


def rows_of(kinds: list[str], arity: int, many: bool) -> list[Row]:
    """Three keys; of many rows the first key has two."""
    keys = [[f"k{place}{part}" for part in range(arity)] for place in range(3)]
    owners = [0, 0, 1] if many else [0, 1, 2]
    places = range(3)
    return [
        [*keys[owner], *(VALUES[kind][place] for kind in kinds)] for owner, place in zip(owners, places, strict=True)
    ]


def declared(kinds: list[str], arity: int, suffix: str, metrics: list[dict[str, Any]], **keys: Any) -> dict[str, Any]:
    names = [f"part{part}" for part in range(arity)]
    fields = [{"field": name, "type": "string"} for name in names]
    required = keys.pop("required", True)
    fields += [{"field": f"f{i}", "type": kind, "required": required} for i, kind in enumerate(kinds)]
    sent = {"file": f"sent.{suffix}", "key": names[0] if arity == 1 else names, "fields": fields, **keys}
    columns = columns_of(**{f"c{i}": metric for i, metric in enumerate(metrics)})
    return one_task(sent, columns, {"file": f"gold.{suffix}"})


def tried(declaration: dict[str, Any], gold: str, answers: str, folder: Path) -> dict[str, float | None]:
    """The scores of `answers`, after everything that a build asks of the package, and those of the template."""
    source, ready = write_files(folder / "source", {declaration["reference"]["file"]: gold}), folder / "ref"
    write_files(ready, {})
    (folder / "metrics.py").write_text(OWN, encoding="utf-8")
    options = options_of(declaration, folder)
    organiser.prepare(request_of(options, source=source, out=ready, phases=[str(source)]))
    organiser.check_reference(request_of(options, reference=ready))
    for sent in (template_of(options, folder), {declaration["submission"]["file"]: answers}):
        (result,) = score(options, {}, sent, folder).results.values()
        assert result.units is not None
        result.units()
    return {key: metric.value for key, metric in result.metrics.items()}


SHAPES = list(itertools.product(["one", "many"], ["reject", "empty"], [1, 2, 3], ["csv", "tsv", "json", "jsonl"]))
PAIRS = list(itertools.combinations(VALUES, 2))


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("shape", sweep(SHAPES, SHAPES[::7]), ids=str)
def test_every_shape_builds(kind: str, shape: tuple[str, str, int, str], tmp_path: Path) -> None:
    rows, missing, arity, suffix = shape
    many = rows == "many"
    names = ["exact_match", *([] if many else METRICS.get(kind, []))]
    names += ["set_f1"] if many else []
    metrics = [{"name": name} for name in names] + [{"name": "metrics.py:share"}]
    declaration = declared([kind], arity, suffix, metrics, rows=rows, missing=missing)
    text = text_of(rows_of([kind], arity, many), [*(f"part{i}" for i in range(arity)), "f0"], suffix, kind)
    if not many and missing == "empty" and kind in ("number", "tags"):
        (tmp_path / "metrics.py").write_text(OWN, encoding="utf-8")
        found = faults_of(declaration, tmp_path)
        assert ["missing: empty would leave" in fault for fault in found] == [True] * len(metrics[:-1])
        return
    right = tried(declaration, text, text, tmp_path)
    assert right == pytest.approx({f"c{i}": 1 if one != {"name": "chrf"} else 100 for i, one in enumerate(metrics)})


@pytest.mark.parametrize(
    ("suffix", "missing", "required"),
    [("csv", "reject", True), ("csv", "empty", False), ("jsonl", "reject", False), ("jsonl", "empty", True)],
)
@pytest.mark.parametrize("kinds", sweep(PAIRS, PAIRS[:4]), ids="-".join)
def test_rows_of_two_fields(kinds: tuple[str, str], missing: str, suffix: str, required: bool, tmp_path: Path) -> None:
    metrics = [{"name": name, "fields": ["f0", "f1"]} for name in ("exact_match", "set_f1", "set_recall")]
    declaration = declared(list(kinds), 1, suffix, metrics, rows="many", missing=missing, required=required)
    rows = rows_of(list(kinds), 1, many=True)
    text = text_of(rows, ["part0", "f0", "f1"], suffix, *kinds)
    right = tried(declaration, text, text, tmp_path)
    assert right == {"c0": 1, "c1": 1, "c2": 1}


RANKINGS = list(itertools.product(["csv", "tsv", "json", "jsonl"], [1, 2], [True, False], ["reject", "empty"]))


@pytest.mark.parametrize(("suffix", "arity", "scored", "missing"), RANKINGS[::3])
def test_every_ranking(suffix: str, arity: int, scored: bool, missing: str, tmp_path: Path) -> None:
    names = [f"part{i}" for i in range(arity)]
    fields = [{"field": name} for name in [*names, "item"]]
    fields += [{"field": "score", "type": "number"}] if scored else []
    sent = {"file": f"sent.{suffix}", "key": names, "rows": "many", "missing": missing, "fields": fields}
    declaration = one_task(sent, columns_of(ap="ap", ndcg="ndcg", rr="rr"), {"file": f"gold.{suffix}"})
    keys = [[f"q{place}{part}" for part in range(arity)] for place in range(2)]
    gold = [[*key, item, relevance] for key in keys for item, relevance in (("x", 2), ("y", 1), ("z", 0))]
    answers = [[*row[:-1], *([9 - place] if scored else [])] for place, row in enumerate(gold)]
    texts = [text_of(gold, [*names, "item", "relevance"], suffix)]
    texts.append(text_of(answers, [*names, "item", *(["score"] if scored else [])], suffix))
    assert tried(declaration, texts[0], texts[1], tmp_path) == pytest.approx({"ap": 1, "ndcg": 1, "rr": 1})
