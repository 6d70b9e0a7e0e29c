"""The figures of a declared task's results page: what they count, and what they withhold."""

import html
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from declared.figures import bin_edges, bin_names
from tests.scoring_programs.declared.declaring import csv_of
from tests.scoring_programs.declared.whole import run_declared

LABEL = {"field": "label", "type": "label", "values": ["a", "b"]}


def figures(page: str | None) -> dict[str, str]:
    """The page's figures by their title, as text: one line for each row."""
    assert page is not None
    found = {}
    for figure in re.findall(r"<figure>(.*?)</figure>", page, re.DOTALL):
        title, body = re.fullmatch(r"<figcaption>(.*?)</figcaption>(.*)", figure, re.DOTALL).groups()  # type: ignore[union-attr]
        rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
        lines = [" | ".join(re.findall(r">([^<>\n]+)<", row)) for row in rows]
        found[html.unescape(title)] = html.unescape("\n".join(lines))
    return found


def pages(
    folder: Path, fields: list[dict[str, Any]], metrics: dict[str, Any], gold: str, answers: str, **keys: Any
) -> dict[str, str]:
    outcome = run_declared(folder, fields, metrics, gold, answers, **keys)
    assert outcome.exit_code == 0, outcome.stderr
    return figures(outcome.page)


def test_each_gold_column_has_a_matrix_of_its_own(tmp_path: Path) -> None:
    metrics = {
        "acc": {"name": "accuracy", "field": "label"},
        "f1": {"name": "f1", "field": "label", "by": "lang"},
        "strict": {"name": "accuracy", "field": "label", "gold": "strict"},
    }
    rows = [[i, "ab"[i % 2], "a" if i < 15 else "b", "xy"[i % 2]] for i in range(20)]
    answers = csv_of("id,label", [[i, "a"] for i in range(20)])
    found = pages(tmp_path, [LABEL], metrics, csv_of("id,label,strict,lang", rows), answers)
    assert list(found) == [
        "label: gold and predicted labels",
        "Macro F1, by lang",
        "label against strict: gold and predicted labels",
    ]
    assert found["label: gold and predicted labels"].splitlines()[1:] == ["a | 10 | 0 | 10", "b | 10 | 0 | 10"]
    assert found["label against strict: gold and predicted labels"].splitlines()[1:] == [
        "a | 15 | 0 | 15",
        "b | 5 | 0 | 5",
    ]
    assert found["Macro F1, by lang"].splitlines() == ["Lang | Value | Rows", "x | 1.00 | 10", "y | 0.00 | 10"]


def test_numbers_are_shown_in_bins_and_never_by_themselves(tmp_path: Path) -> None:
    gold = [i % 4 * 10 + 0.123 for i in range(40)] + [777.125]  # one far from all others
    sides = [csv_of("id,x", list(enumerate(side))) for side in (gold, [value + 1 for value in gold])]
    found = pages(tmp_path, [{"field": "x", "type": "number"}], {"mae": "mae", "r": "pearson"}, *sides)
    assert list(found) == ["x: gold and predicted numbers"]
    (text,) = found.values()
    assert "below 5 | 10 | 0" in text
    assert "10 to 15 | 0" in text
    assert "from 30 |" in text
    assert text.splitlines()[-1].endswith("| 11 | 11")  # the far one is with the others of its bin
    assert "777" not in text


@pytest.mark.parametrize(
    ("low", "high", "edges"),
    [
        (0.0, 1.0, [0.2, 0.4, 0.6, 0.8]),
        (1.0, 5.0, [2, 3, 4]),
        (-3.7, 42.0, [0, 10, 20, 30, 40]),
        (0.0, 6e-7, [1e-7, 2e-7, 3e-7, 4e-7, 5e-7]),
        (2.0, 2.0, []),
    ],
)
def test_bins_meet_at_round_numbers(low: float, high: float, edges: list[float]) -> None:
    assert bin_edges(low, high) == edges


def test_names_of_bins() -> None:
    assert bin_names([1, 2.5]) == ["below 1", "1 to 2.5", "from 2.5"]


def test_probabilities_are_shown_by_gold_label(tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [[i, "yes" if i < 12 else "no"] for i in range(30)]
    answers = [[i, round(0.7 * (i < 12) + 0.25 * rng.random(), 3)] for i in range(30)]
    fields = [{"field": "p", "type": "number", "min": 0, "max": 1}]
    auc = {"auc": {"name": "roc_auc", "positive": "yes", "gold": "answer"}}
    found = pages(tmp_path, fields, auc, csv_of("id,answer", rows), csv_of("id,p", answers))
    text = found["p against answer: gold labels and the probability of yes"]
    assert text.splitlines()[1].startswith("yes | 0 |")
    assert text.splitlines()[2].endswith("| 18")


@pytest.mark.parametrize(
    "metric", [{"name": "set_f1"}, {"name": "set_f1", "match": "characters"}, {"name": "span_iou"}], ids=str
)
def test_spans_are_counted_by_type_and_few_of_them_together(metric: dict[str, str], tmp_path: Path) -> None:
    """A single span of ten characters is one item, however it is matched."""
    spans = [[[0, 4, "per"], [5, 9, "loc"]] for _ in range(8)]
    spans[0].append([10, 20, "rare"])
    answers = [[[0, 4, "per"], [5, 8, "loc"]] for _ in range(8)]
    sides = [csv_of("id,s", [[i, json.dumps(one)] for i, one in enumerate(side)]) for side in (spans, answers)]
    text = pages(tmp_path, [{"field": "s", "type": "spans"}], {"c": metric}, *sides)["s: whole spans by type"]
    assert "per | 8 | 0 | 0 | 1.00" in text
    assert "rare" not in text
    assert "(others together) | 0 | 8 | 9 | 0.00" in text


def test_rows_of_a_key_are_counted_by_their_label(tmp_path: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"field": "start", "type": "number"},
        {"field": "kind", "type": "label", "values": ["x", "y"]},
    ]
    rows = [[f"d{i // 4}", i, "xy"[i % 2]] for i in range(40)]
    metrics = {"c": {"name": "set_f1", "fields": ["start", "kind"]}}
    sides = [csv_of("id,start,kind", side) for side in (rows, rows[:30])]
    text = pages(tmp_path, fields, metrics, *sides, rows="many")["start+kind: labels"]
    assert text.splitlines()[1:] == ["x | 15 | 0 | 5 | 0.86", "y | 15 | 0 | 5 | 0.86"]


def test_a_phase_that_shows_no_figure_computes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("declared.tasks.figures_of_fields", None)
    phases = [{"id": "test", "name": "Test", "start": "2096-01-01 AoE"}]  # secret gold: details are headline
    gold = csv_of("id,label", [[i, "a"] for i in range(9)])
    overrides = {"phases": phases}
    outcome = run_declared(tmp_path, [LABEL], {"acc": "accuracy"}, gold, gold, overrides=overrides)
    assert outcome.scores == {"acc": 1.0}
    assert "<figure>" not in (outcome.page or "")
