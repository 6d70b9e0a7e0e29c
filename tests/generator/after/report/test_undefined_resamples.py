"""Resamples that hold no unit of a rare class: too many of them, and there are no intervals."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring_kit.resampling.task import Resampling, resampled
from tests.generator.after.report.declared_task import declared_task, reported, table
from tests.generator.after.report.unwritten import unwritten_figures as unwritten_figures
from tests.scoring_programs.scoring_kit.resampling.made_up import mean_of, team

pytestmark = pytest.mark.usefixtures("kept_organisers", "unwritten_figures")

LABEL = {"field": "l", "type": "label", "values": ["a", "b"]}


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [{}, {"weights": "linear"}], ids=["kappa", "weighted kappa"])
@pytest.mark.parametrize(("rare", "is_rare"), [(3, True), (20, False)])
def test_a_rare_class(tmp_path: Path, weighted: dict[str, Any], rare: int, is_rare: bool) -> None:
    """Of 100 rows, e^-3 of the resamples have none of 3, and e^-20 none of 20."""
    gold = [{"id": f"k{i}", "l": "b" if i < rare else "a"} for i in range(100)]
    drawn = random.Random(5)
    wrong = [{**row, "l": drawn.choice(["a", "b", row["l"]])} for row in gold]
    columns = [{"key": "c", "metric": {"name": "kappa", "field": "l", **weighted}}]
    competition = declared_task(tmp_path / "c", table("id", LABEL, file="p.csv"), columns, reference={"file": "g.csv"})
    teams = {"exact": {"p.csv": gold}, "wrong": {"p.csv": wrong}}
    task, page = reported(competition, {"g.csv": gold}, teams, 1000)
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
    nothing = mean_of(values)
    nothing.sums[:, 1] = 0
    teams = {"A": team(mean_of(values)), "B": team(nothing, worst=-9.0)}
    found = resampled(teams, {"A": 1, "B": 2}, 40, Resampling(500, 0))
    assert found.without is None
    assert "B" not in found.intervals, "a single value"
    assert found.intervals["A"][0] < values.mean() < found.intervals["A"][1]
