"""Functions of the organisers' own in the final report: measured before they are called for each resample."""

import random
from pathlib import Path

import pytest

from scoring_kit.resampling.final_report import within_time
from tests.generator.after.report.declared_task import declared_task, ranked, table

LABEL = {"field": "l", "type": "label", "values": ["a", "b"]}
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
@pytest.mark.usefixtures("kept_organisers")
@pytest.mark.parametrize(("per", "is_said"), [({}, True), ({"per": "key"}, False)])
def test_how_long_it_will_take_is_said_first(tmp_path: Path, per: dict[str, str], is_said: bool) -> None:
    drawn = random.Random(1)
    gold = [{"id": f"k{i}", "l": drawn.choice("ab")} for i in range(60)]
    teams = {}
    for team in "AB":
        teams[team] = {"p.csv": [{**row, "l": drawn.choice(["a", "b", row["l"]])} for row in gold]}
    column = {"key": "c", "metric": {"name": "metrics.py:share", **per}, "title": "Share", "sort": "desc", "worst": 0}
    competition = declared_task(tmp_path / "c", table("id", LABEL, file="p.csv"), [column], reference={"file": "g.csv"})
    text = SHARE if not per else "def share(gold, predicted):\n    return float(gold['l'] == predicted['l'])\n"
    (competition / "metrics.py").write_text(text, encoding="utf-8")
    done = ranked(competition, {"g.csv": gold}, teams, "--report", tmp_path / "report", "--resamples", 200)
    assert done.exit_code == 0, done.output
    assert ("A function of your own is called for each resample: about 1 s for 200." in done.stderr) == is_said
