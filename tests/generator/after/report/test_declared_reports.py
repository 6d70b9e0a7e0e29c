"""Reports of declared tasks: which units are resampled, how often, and where there is no interval."""

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.ground.errors import UserError
from scoring_kit.resampling.final_report import within_time
from scoring_kit.resampling.task import Resampling, resampled
from tests.generator.after.report.declared_task import declared_task, ranked, reported, table
from tests.scoring_programs.scoring_kit.resampling import made_up

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


def of_one_table(folder: Path, field: dict[str, Any], columns: list[dict[str, Any]], **more: Any) -> Path:
    """A competition with a field in p.csv, and its gold in gold.csv."""
    reference = {"file": "gold.csv", **more.pop("reference", {})}
    return declared_task(folder, table("id", field, file="p.csv"), columns, reference=reference, **more)


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
    one = of_one_table(tmp_path / "one", NUMBER, [*some, every])
    two = of_one_table(tmp_path / "two", NUMBER, some)
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
    gold = numbers(3, 57)
    competition = of_one_table(tmp_path / "c", NUMBER, columns, details_min_items=1)
    teams = {"A": {"p.csv": near(gold, 0.1, 0)}, "B": {"p.csv": near(gold, 0.4, 1)}}
    task, page = reported(competition, {"gold.csv": gold}, teams)
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


def text_of_groups(page: str) -> str:
    section = page[page.index('id="groups"') : page.index('id="methods"')]
    return " ".join(re.sub(r"<[^>]+>", " ", section).split())


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
    competition = of_one_table(tmp_path / "c", LABEL, columns, reference={"unit": "review"})
    task, page = reported(competition, {"gold.csv": gold}, {"A": {"p.csv": answers}})
    assert (task["unit"], task["units"]) == ("review", 223)
    text = text_of_groups(page)
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
    competition = of_one_table(tmp_path / "c", LABEL, columns)
    _, page = reported(competition, {"gold.csv": gold}, {"A": {"p.csv": answers}})
    text = text_of_groups(page)
    ends = r"0\.\d+ to 0\.\d+ "
    expected = ends if has_interval else ""
    assert re.search(rf"Macro F1, by lang Team hau swa A 0\.\d+ {ends}0\.\d+ {expected}\w*Accuracy", text), text
    assert re.search(rf"Accuracy, by lang Team hau swa A 0\.\d+ {ends}0\.\d+ {ends}", text), text


def _f1(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score([a["l"] for a, _ in pairs], [b["l"] for _, b in pairs], average="macro"))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [{}, {"weights": "linear"}], ids=["kappa", "weighted kappa"])
@pytest.mark.parametrize(("rare", "is_rare"), [(3, True), (20, False)])
def test_a_rare_class(tmp_path: Path, weighted: dict[str, Any], rare: int, is_rare: bool) -> None:
    """Of 100 rows, e^-3 of the resamples have none of 3, and e^-20 none of 20."""
    gold = [{"id": f"k{i}", "l": "b" if i < rare else "a"} for i in range(100)]
    drawn = random.Random(5)
    wrong = [{**row, "l": drawn.choice(["a", "b", row["l"]])} for row in gold]
    columns = [{"key": "c", "metric": {"name": "kappa", "field": "l", **weighted}}]
    competition = of_one_table(tmp_path / "c", LABEL, columns)
    teams = {"exact": {"p.csv": gold}, "wrong": {"p.csv": wrong}}
    task, page = reported(competition, {"gold.csv": gold}, teams, 1000)
    assert task["units"] == 100
    assert 0 < task["pairs"][0]["p"] <= 1
    assert ("No intervals: " in page) == is_rare
    if is_rare:
        assert "is undefined in 4" in page
        assert "of 1,000 resamples" in page
        assert all(one[key] is None for one in task["teams"] for key in ("low", "high", "rank_low", "rank_high"))
        assert task["pairs"][0]["low"] is None
        assert task["stability"] == {"tau_mean": None, "wins": {}}
    else:
        by_name = {one["team"]: one for one in task["teams"]}
        assert by_name["wrong"]["low"] < by_name["wrong"]["score"] < by_name["wrong"]["high"]
        assert by_name["exact"]["low"] is None, "all resamples are right"
        assert "No interval for exact" in page


def test_a_team_that_is_always_undefined_takes_no_interval_from_the_others() -> None:
    values = np.random.default_rng(1).normal(size=40)
    nothing = made_up.mean_of(values)
    nothing.sums[:, 1] = 0
    teams = {"A": made_up.team(made_up.mean_of(values)), "B": made_up.team(nothing, worst=-9.0)}
    found = resampled(teams, {"A": 1, "B": 2}, 40, Resampling(500, 0))
    assert found.without is None
    assert "B" not in found.intervals, "a single value"
    assert found.intervals["A"][0] < values.mean() < found.intervals["A"][1]


SHARE = """
def share(gold, predicted):
    return sum(one["l"] == other["l"] for one, other in zip(gold, predicted)) / len(gold)
"""


@pytest.mark.parametrize(
    ("resamples", "seconds", "is_asked", "taken", "said"),
    [
        (10_000, 0.0, False, 10_000, ""),
        (10_000, 0.001, False, 10_000, "about 10 s for 10,000."),
        (10_000, 0.012, False, 10_000, "about 2 minutes for 10,000."),
        (10_000, 0.06, False, 2000, "about 10 minutes for 10,000, so that only 2,000 are taken, about 2 minutes."),
        (10_000, 3.0, False, 200, "about 500 minutes for 10,000, so that only 200 are taken, about 10 minutes."),
        (10_000, 3.0, True, 10_000, "about 500 minutes for 10,000."),
        (150, 3.0, True, 150, "about 8 minutes for 150."),
    ],
)
def test_as_many_resamples_as_fit(resamples: int, seconds: float, is_asked: bool, taken: int, said: str) -> None:
    found, told = within_time(resamples, seconds, is_asked=is_asked)
    assert found == taken
    assert told.endswith(said)
    assert bool(told) == bool(said)


@pytest.mark.slow
@pytest.mark.parametrize(("per", "is_said"), [({}, True), ({"per": "key"}, False)])
def test_how_long_it_will_take_is_said_first(tmp_path: Path, per: dict[str, str], is_said: bool) -> None:
    drawn = random.Random(1)
    gold = [{"id": f"k{i}", "l": drawn.choice("ab")} for i in range(60)]
    teams = {}
    for team in "AB":
        teams[team] = {"p.csv": [{**row, "l": drawn.choice(["a", "b", row["l"]])} for row in gold]}
    column = {"key": "c", "metric": {"name": "metrics.py:share", **per}, "title": "Share", "sort": "desc", "worst": 0}
    competition = of_one_table(tmp_path / "c", LABEL, [column])
    text = SHARE if not per else "def share(gold, predicted):\n    return float(gold['l'] == predicted['l'])\n"
    (competition / "metrics.py").write_text(text, encoding="utf-8")
    done = ranked(competition, {"gold.csv": gold}, teams, "--report", tmp_path / "report", "--resamples", 200)
    assert done.exit_code == 0, done.output
    assert ("A function of your own is called for each resample: about 1 s for 200." in done.stderr) == is_said


def test_gold_that_leaves_a_column_undefined_is_refused_in_the_words_of_the_build(tmp_path: Path) -> None:
    field = {"field": "text", "type": "text"}
    columns = [{"key": "wer", "metric": {"name": "wer", "field": "text", "by": "g"}}]
    competition = of_one_table(tmp_path / "c", field, columns)
    gold = [{"id": f"k{i}", "text": "a word" if i < 10 else "", "g": "x" if i < 10 else "y"} for i in range(20)]
    done = ranked(competition, {"gold.csv": gold}, {"A": {"p.csv": [{"id": row["id"], "text": "a"} for row in gold]}})
    assert done.exit_code == 2
    with pytest.raises(UserError) as caught:
        build(BuildRequest(str(competition), tmp_path / "bundle.zip"))
    (message,) = caught.value.messages
    assert "no gold text has a word in the group y" in message
    assert message.removeprefix("test: ") in " ".join(done.stderr.split())
