"""The units of a report are those that the ranking column scores."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.generator.after.report.declared_task import declared_task, reported, table
from tests.generator.after.report.unwritten import unwritten_figures as unwritten_figures

pytestmark = pytest.mark.usefixtures("kept_organisers", "unwritten_figures")

NUMBER = {"field": "x", "type": "number"}
LABEL = {"field": "l", "type": "label", "values": ["a", "b"]}
Rows = list[dict[str, Any]]


def numbers(rare: int, common: int) -> Rows:
    """Rows of two groups, the rare one between the others."""
    drawn = random.Random(1)
    groups = ["common"] * common
    for place in drawn.sample(range(common), rare):
        groups.insert(place, "rare")
    return [{"id": f"k{i}", "x": round(drawn.random(), 3), "g": group} for i, group in enumerate(groups)]


def near(rows: Rows, sigma: float, seed: int) -> Rows:
    drawn = random.Random(seed)
    return [{"id": row["id"], "x": round(row["x"] + drawn.gauss(0, sigma), 4)} for row in rows]


def report_of(folder: Path, gold: Rows, columns: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    competition = declared_task(
        folder, table("id", NUMBER, file="p.csv"), columns, reference={"file": "gold.csv"}, details_min_items=1
    )
    teams = {
        team: {"p.csv": near(gold, sigma, seed)} for seed, (team, sigma) in enumerate({"A": 0.1, "B": 0.4}.items())
    }
    return reported(competition, {"gold.csv": gold}, teams)


def figures(task: dict[str, Any]) -> dict[str, Any]:
    return {key: task[key] for key in ("unit", "units", "teams", "pairs", "stability")}


@pytest.mark.slow
@pytest.mark.parametrize("metric", [{"name": "ccc"}, {"name": "spearman"}, {"name": "pearson"}])
def test_a_column_of_some_rows_is_resampled_over_these_alone(tmp_path: Path, metric: dict[str, Any]) -> None:
    """The report is that of a competition which has no other rows."""
    gold = numbers(60, 70)
    some = [{"key": "c", "metric": {**metric, "field": "x", "where": {"g": ["rare"]}}}]
    every = {"key": "every", "metric": {**metric, "field": "x"}}
    teams = [near(gold, 0.1, 0), near(gold, 0.4, 1)]
    one = declared_task(
        tmp_path / "one", table("id", NUMBER, file="p.csv"), [*some, every], reference={"file": "gold.csv"}
    )
    two = declared_task(tmp_path / "two", table("id", NUMBER, file="p.csv"), some, reference={"file": "gold.csv"})
    rare = {row["id"] for row in gold if row["g"] == "rare"}
    whole, _ = reported(one, {"gold.csv": gold}, {t: {"p.csv": rows} for t, rows in zip("AB", teams, strict=True)})
    alone, _ = reported(
        two,
        {"gold.csv": [row for row in gold if row["id"] in rare]},
        {t: {"p.csv": [row for row in rows if row["id"] in rare]} for t, rows in zip("AB", teams, strict=True)},
    )
    assert (whole["unit"], whole["units"]) == ("row", 60)
    assert figures(whole) == figures(alone)
    assert any(team["low"] is not None for team in whole["teams"])


def test_few_scored_units_have_no_intervals_however_many_there_are(tmp_path: Path) -> None:
    columns = [
        {"key": "rare", "metric": {"name": "ccc", "field": "x", "where": {"g": ["rare"]}}},
        {"key": "every", "metric": {"name": "ccc", "field": "x"}},
    ]
    task, page = report_of(tmp_path / "c", numbers(3, 57), columns)
    assert task["units"] == 3
    assert all(team[key] is None for team in task["teams"] for key in ("low", "high", "rank_low", "rank_high"))
    assert task["pairs"][0]["low"] is None
    assert 0 < task["pairs"][0]["p"] <= 1
    assert task["stability"] == {"tau_mean": None, "wins": {}}
    for text in (page, (tmp_path / "c" / "report" / "report.tex").read_text()):
        assert "There are only 3 units; at least 50 make an interval." in text


def labels(key: str, number: int) -> Rows:
    drawn = random.Random(key)
    return [{key: f"{key}{i}", "l": drawn.choice("ab")} for i in range(number)]


def flipped(rows: Rows, share: float) -> Rows:
    drawn = random.Random(3)
    return [{**row, "l": row["l"] if drawn.random() > share else "a"} for row in rows]


ACCURACY = [{"key": t, "metric": {"name": "accuracy", "field": "l", "table": t}} for t in ("docs", "tokens")]
MEAN = {"key": "mean", "title": "Mean", "sort": "desc", "computation": "avg", "of": ["docs", "tokens"], "meaning": "-"}


@pytest.mark.parametrize(
    ("columns", "docs", "unit", "units", "note"),
    [
        (ACCURACY, 60, "doc", 60, None),
        (ACCURACY[::-1], 40, "token", 70, None),
        ([MEAN, *ACCURACY], 60, "doc or token", 130, None),
        ([MEAN, *ACCURACY], 40, "doc or token", 110, "There are only 40 units of the kind doc; at least 50"),
    ],
)
def test_tables_of_different_keys(
    tmp_path: Path, columns: list[dict[str, Any]], docs: int, unit: str, units: int, note: str | None
) -> None:
    gold = {"docs": labels("doc", docs), "tokens": labels("token", 70)}
    tables = {
        name: table(name[:-1], LABEL, file=f"{name}.csv", reference={"file": f"gold_{name}.csv"}) for name in gold
    }
    competition = declared_task(tmp_path / "c", {"tables": tables}, columns)
    teams = {
        team: {f"{name}.csv": flipped(rows, share) for name, rows in gold.items()}
        for team, share in (("A", 0.4), ("B", 0.9))
    }
    task, page = reported(competition, {f"gold_{name}.csv": rows for name, rows in gold.items()}, teams)
    assert (task["unit"], task["units"]) == (unit, units)
    assert all((team["low"] is None) == (note is not None) for team in task["teams"])
    assert note is None or note in page


def test_groups_and_labels_have_figures_with_intervals(tmp_path: Path) -> None:
    drawn = random.Random(2)
    gold = [
        {"id": f"k{i}", "l": "ab"[i % 3 == 0], "lang": ("swa", "hau", "yor")[(i >= 105) + (i >= 220)]}
        for i in range(223)
    ]
    answers = [{"id": row["id"], "l": row["l"] if drawn.random() < 0.7 else "a"} for row in gold]
    columns: list[dict[str, Any]] = [
        {"key": "f1", "metric": {"name": "f1", "by": "lang"}},
        {"key": "all", "metric": "f1"},
    ]
    competition = declared_task(
        tmp_path / "c", table("id", LABEL, file="p.csv"), columns, reference={"file": "gold.csv", "unit": "review"}
    )
    task, page = reported(competition, {"gold.csv": gold}, {"A": {"p.csv": answers}})
    assert (task["unit"], task["units"]) == ("review", 223)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index('id="groups"') : page.index('id="methods"')]))
    hau = _f1([pair for pair in zip(gold, answers, strict=True) if pair[0]["lang"] == "hau"])
    # yor has three rows, which could be computed from the whole if only they were left out
    assert re.search(rf"Macro F1, by lang Team hau swa yor A {hau:.4f} 0\.\d+ to 0\.\d+ F1", text), text
    assert re.search(r"F1 of each l Team a b A 0\.\d+ 0\.\d+ to 0\.\d+ 0\.\d+ 0\.\d+ to 0\.\d+", text), text
    assert "There are none" not in text


@pytest.mark.parametrize(("rows", "has_interval"), [(99, False), (100, True)])
def test_a_group_has_an_interval_where_a_column_of_its_size_would(
    tmp_path: Path, rows: int, has_interval: bool
) -> None:
    """A mean over labels, too, needs more units than an accuracy does."""
    gold = [{"id": f"k{i}", "l": "ab"[i % 2], "lang": "swa" if i < rows else "hau"} for i in range(300)]
    answers = [{"id": row["id"], "l": row["l"] if i % 5 else "a"} for i, row in enumerate(gold)]
    columns = [{"key": name, "metric": {"name": name, "field": "l", "by": "lang"}} for name in ("f1", "accuracy")]
    competition = declared_task(tmp_path / "c", table("id", LABEL, file="p.csv"), columns, reference={"file": "g.csv"})
    _, page = reported(competition, {"g.csv": gold}, {"A": {"p.csv": answers}})
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index('id="groups"') : page.index('id="methods"')]))
    ends = r"0\.\d+ to 0\.\d+ "
    expected = ends if has_interval else ""
    assert re.search(rf"Macro F1, by lang Team hau swa A 0\.\d+ {ends}0\.\d+ {expected}\w*Accuracy", text), text
    assert re.search(rf"Accuracy, by lang Team hau swa A 0\.\d+ {ends}0\.\d+ {ends}", text), text


def _f1(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score([a["l"] for a, _ in pairs], [b["l"] for _, b in pairs], average="macro"))
