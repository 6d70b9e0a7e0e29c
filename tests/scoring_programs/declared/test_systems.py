"""Systems made of the gold: of any quality, in every kind of column; and what they foretell of a test set."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from declared import reference
from declared.systems import Systems
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.resampling.power import power
from scoring_kit.units import Additive
from tests.scoring_programs.declared.declaring import csv_of, one_table

LABELS = ("neg", "neu", "pos")


def rows(number: int) -> list[list[Any]]:
    """Rows of a label, a number, a set of labels and a text, in clusters of five."""
    random = np.random.default_rng(5)
    made = []
    for i in range(number):
        label = str(random.choice(LABELS, p=(0.2, 0.3, 0.5)))
        some = "|".join(sorted(set(random.choice(LABELS, size=2).tolist())))
        words = " ".join(random.choice(list("abcdefghij"), size=8).tolist())
        made.append([f"r{i}", label, f"{random.normal(5, 2):.3f}", some, words, f"c{i // 5}", LABELS.index(label) % 2])
    return made


FIELDS: dict[str, dict[str, Any]] = {
    "label": {"field": "label", "type": "label", "values": list(LABELS)},
    "number": {"field": "number", "type": "number"},
    "some": {"field": "some", "type": "labels", "values": list(LABELS)},
    "words": {"field": "words", "type": "text"},
    "open": {"field": "label", "type": "string"},
    "p": {"field": "p", "type": "number", "min": 0, "max": 1},
}
HEADER = "id,label,number,some,words,cluster,p"


class Made:
    """Systems of made-up gold, and the program of one column."""

    def __init__(self, folder: Path, field: str, metric: dict[str, Any], number: int = 300, cluster: bool = False):
        keys: dict[str, Any] = {"file": "gold.csv", **({"cluster": "cluster"} if cluster else {})}
        options = one_table([FIELDS[field]], {"score": metric}, reference=keys)
        (folder / "gold.csv").write_text(csv_of(HEADER, rows(number)))
        self.reference, self.options = reference.read(folder, ["t"], options), options
        sort = "asc" if metric["name"] == "rmse" else "desc"
        column = ScoreColumn("score", "t", "Score", sort, 4, {"desc": -1.0, "asc": 99.0}[sort], "")
        self.program = Program(
            *("made-up", "declared", "Made up", "1", "joint", ("t",), ("t",), {"t": "Task"}, options, (column,), 5)
        )

    def systems(self, common: float = 0.7) -> Systems:
        return Systems(self.reference, ["t"], self.options, 0, common)

    def score(self, quality: float, system: int = 0) -> float:
        units = self.systems().per_unit({"t": ["score"]}, system, quality)["t"]
        return float(units.statistics["score"].over(np.ones((1, len(units.names))))[0])

    def foretold(self, common: float = 0.7, **asked: Any) -> dict[str, Any]:
        request = {"submissions": None, "settings": {"teams": 3, "sizes": (), **asked}}
        return dict(power(request, self.program, self.systems(common))["t"])


KINDS = [
    ("label", {"name": "accuracy"}, 1.0),
    ("label", {"name": "f1", "average": "macro"}, 1.0),
    ("number", {"name": "pearson"}, 1.0),
    ("number", {"name": "spearman"}, 1.0),
    ("number", {"name": "rmse"}, 0.0),
    ("some", {"name": "f1", "average": "micro"}, 1.0),
    ("some", {"name": "set_f1"}, 1.0),
    ("words", {"name": "chrf"}, 100.0),
    ("p", {"name": "roc_auc"}, 1.0),
    ("p", {"name": "brier"}, 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("field", "metric", "best"), KINDS)
def test_a_system_is_as_good_as_its_quality(field: str, metric: dict[str, Any], best: float, tmp_path: Path) -> None:
    made = Made(tmp_path, field, metric)
    scores = [made.score(quality) for quality in (0.0, 0.2, 0.5, 0.8, 1.0)]
    assert scores[-1] == pytest.approx(best)
    assert sorted(scores, reverse=best == 0) == scores
    assert made.score(0.5, 0) != made.score(0.5, 1)
    if metric["name"] == "accuracy":
        assert scores == pytest.approx([0.0, 0.2, 0.5, 0.8, 1.0], abs=0.08)


@pytest.mark.slow
def test_a_seed_gives_the_same_systems_in_every_process(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        f"from {__name__} import Made\n"
        "print(Made(Path(sys.argv[1]), 'some', {'name': 'set_f1'}).score(0.5))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, str(tmp_path)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert float(said) == Made(tmp_path, "some", {"name": "set_f1"}).score(0.5)


@pytest.mark.parametrize("metric", ["pearson", "spearman", "kendall", "rmse"])
def test_answers_of_a_mixture_are_exchanged_like_those_of_a_submission(metric: str, tmp_path: Path) -> None:
    units = Made(tmp_path, "number", {"name": metric}, 50).systems().per_unit({"t": ["score"]}, 0, 0.5)["t"]
    one = units.statistics["score"]
    once, alone = np.ones((1, 50)), one.to_exchange()
    mixed = one.joined(one).at(np.arange(50)).to_exchange()
    assert mixed.over(once) == pytest.approx(alone.over(once))
    assert (mixed.as_sums() is None) == (alone.as_sums() is None)


@pytest.mark.parametrize("common", [0.0, 0.5, 0.9])
def test_systems_err_together_as_often_as_asked_for(common: float, tmp_path: Path) -> None:
    made = Made(tmp_path, "label", {"name": "accuracy"}, 1500)
    right = []
    for system in (0, 1):
        units = made.systems(common).per_unit({"t": ["score"]}, system, 0.7)["t"]
        right.append(units.statistics["score"].over(np.eye(1500)))
    assert np.asarray(np.corrcoef(right))[0, 1] == pytest.approx(common, abs=0.05)


def gap(task: dict[str, Any], size: int = 0) -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = task["sizes"][size]["gaps"]
    return found


@pytest.mark.slow
def test_power_without_a_gap_is_the_size_of_the_test_and_with_a_large_one_it_is_1(tmp_path: Path) -> None:
    none, large = gap(Made(tmp_path, "label", {"name": "accuracy"}).foretold(gaps=[0.0, 0.3], level=0.8))
    assert 0.01 <= none["power"] <= 0.095  # 200 test sets: within three standard errors of .05
    assert large["power"] == 1
    assert (large["first"], large["teams"]) == (1, 3)
    assert none["optimism"] > 0.005
    assert abs(large["optimism"]) < 0.005


@pytest.mark.slow
@pytest.mark.thorough
def test_half_the_rows_need_the_difference_that_half_the_size_says(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    whole = Made(tmp_path, "label", {"name": "accuracy"}, 800).foretold(sizes=[0.5, 1.0], level=0.75)
    half = Made(tmp_path / "half", "label", {"name": "accuracy"}, 400).foretold(level=0.75)
    small, large = (size["smallest"] for size in whole["sizes"])
    assert small == pytest.approx(half["sizes"][0]["smallest"], rel=0.15)
    assert small / large == pytest.approx(2**0.5, rel=0.15)
    # that of a paired difference of shares: (1.96 + .84) standard errors of √(2 (1 - .7) .75 · .25 / n)
    assert large == pytest.approx(2.8 * (2 * 0.3 * 0.75 * 0.25 / 800) ** 0.5, rel=0.2)


@pytest.mark.slow
def test_metrics_without_sums_are_foretold_as_those_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(tmp_path, "label", {"name": "accuracy"}, 400)
    exchanged = made.foretold(level=0.75)["sizes"][0]["smallest"]
    monkeypatch.setattr(Additive, "as_sums", lambda _: None)
    of_spread = made.foretold(level=0.75)["sizes"][0]["smallest"]
    assert of_spread != exchanged
    assert of_spread == pytest.approx(exchanged, rel=0.12)


@pytest.mark.slow
def test_clusters_stay_whole_and_few_units_have_no_intervals(tmp_path: Path) -> None:
    task = Made(tmp_path, "label", {"name": "accuracy"}, 200, cluster=True).foretold(sizes=[1.0, 2.0])
    assert [size["units"] for size in task["sizes"]] == [40, 80]
    assert [size["intervals"] for size in task["sizes"]] == [
        "There are only 40 units; at least 50 make an interval.",
        None,
    ]


def test_what_cannot_be_simulated_says_why(tmp_path: Path) -> None:
    task = Made(tmp_path, "open", {"name": "ari"}).foretold()
    assert task["without"] == "The per-unit results of the scoring program leave the column out."
    task = Made(tmp_path, "label", {"name": "accuracy"}, 1).foretold()  # whose one label nothing can be confused with
    assert task["without"] == "Score does not become better the more answers are right."
