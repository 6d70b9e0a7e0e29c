"""Every metric, with every option, equals its oracle: alone, weighted, over groups, of one group, and resampled."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.declaration.scoring.metrics import metrics
from tests.scoring_programs.declared.declaring import Files, cell, csv_of, gold_faults, one_table, score
from tests.scoring_programs.declared.oracles import KINDS, Kind, safe
from tests.scoring_programs.declared.resampled import score_and_resample
from tests.sweeps import sweep

SIZES = (14, 30, 1, 3)
WAYS = ("alone", "weighted", "by group", "of a group")


@dataclass(frozen=True)
class Drawn:
    """Made-up answers of a kind: their table, columns with a metric each, files, and what the columns must score."""

    fields: list[dict[str, Any]]
    rows: str
    reference: dict[str, Any]
    metrics: dict[str, Any]
    gold: Files
    answers: Files
    expected: dict[str, Callable[[], float]]

    def options(self) -> dict[str, Any]:
        return one_table(self.fields, self.metrics, reference=self.reference, rows=self.rows)


def drawn(kind: Kind, seed: int, size: int, ways: Sequence[str]) -> Drawn:
    """So many keys, of some seeds with all answers right or all the same; the metrics take the ways in turn."""
    rng = random.Random(seed)
    gold, answers = kind.pair(rng, size)
    if not kind.many and kind.gold_cells is None:
        if seed % 4 == 1 and kind.gold == "x":
            answers = list(gold)
        elif seed % 4 == 3 and kind.fields[0]["type"] != "tags":  # which are as long as the gold's
            answers = [answers[0]] * size
    weight = [rng.choice([0, 0.25, 1, 1, 2.5, 7]) for _ in range(size - 1)] + [1.5]
    groups = [rng.choice("uv") for _ in range(size - 1)] + ["u"]
    of_group = [[i for i in range(size) if groups[i] == one] for one in sorted(set(groups))]
    sides = gold, answers, weight
    named: dict[str, Any] = {}
    expected: dict[str, Callable[[], float]] = {}
    for number, (metric, oracle) in enumerate(kind.rows):
        row = metrics()[metric["name"]]
        way = "alone" if kind.many else ways[(number + seed) % len(ways)]
        if way == "weighted" and not (row.weighted is True or (row.weighted and metric.get("average") == "macro")):
            way = "alone"
        more: dict[str, Any] = {"weighted": {"weight": "w"}, "by group": {"by": "g"}, "alone": {}}.get(
            way, {"where": {"g": "u"}}
        )
        parts = {"by group": of_group, "of a group": of_group[:1]}.get(way, [list(range(size))])
        worst = dict(row.worst_of).get(kind.fields[0]["type"], row.worst)

        def value(
            oracle: Any = oracle, parts: Any = parts, worst: float = worst, weighs: bool = "w" in way[:1]
        ) -> float:
            found = []
            for part in parts:
                own = [[side[i] for i in part] for side in sides]
                one = safe(oracle, own[0], own[1], own[2] if weighs else None)
                found.append(worst if math.isnan(one) else one)
            return math.fsum(found) / len(found)

        named[f"c{number}"] = {**metric, **more}
        expected[f"c{number}"] = value
    reference: dict[str, Any] = {"file": "gold.csv", **({"keys": "docs.csv"} if kind.many else {})}
    beside = {} if kind.many else {"w": weight, "g": groups}
    files = {"gold.csv": table(kind, gold, kind.gold, beside, rng)}
    files |= {"docs.csv": csv_of("id", [[f"k{i}"] for i in range(size)])} if kind.many else {}
    sent = {"predictions.csv": table(kind, answers, "x", {}, rng, sent=True)}
    return Drawn(kind.fields, "many" if kind.many else "one", reference, named, files, sent, expected)


def table(
    kind: Kind, values: Sequence[Any], name: str, beside: dict[str, Any], rng: random.Random, sent: bool = False
) -> str:
    """One side as CSV, with the keys in any order."""
    spread = kind.cells if sent or (name == "x" and kind.gold_cells is None) else kind.gold_cells
    rows: list[list[list[Any]]] = []
    header = ["id", *(one["field"] for one in kind.fields)]
    for at, value in enumerate(values):
        rows.append([])
        for one in value if kind.many else [value]:
            cells = spread(one) if spread is not None else {name: cell(one, kind.fields[0]["type"])}
            header = ["id", *cells, *beside]
            rows[-1].append([f"k{at}", *cells.values(), *(own[at] for own in beside.values())])
    return csv_of(",".join(header), [one for own in rng.sample(rows, len(rows)) for one in own])


SEEDS = [
    0,
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, len(SIZES))),
    *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (4, 8)),
]
"""Those that are not thorough have every size, every way, all answers right, and all the same."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", KINDS)
def test_a_value_is_the_oracles(name: str, seed: int, tmp_path: Path) -> None:
    made = drawn(KINDS[name], seed, SIZES[seed % len(SIZES)], WAYS)
    found = score(made.options(), made.gold, made.answers, tmp_path)
    wrong = {}
    for key, value in made.expected.items():
        expected = pytest.approx(value(), rel=1e-9, abs=1e-9)
        if found.value(key) != expected:
            wrong[str(made.metrics[key])] = f"{found.value(key)} instead of {expected}"
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", sweep((0, 2), [2]))
@pytest.mark.parametrize("name", KINDS)
def test_resamples_score_the_keys_that_are_drawn(name: str, seed: int, tmp_path: Path) -> None:
    made = drawn(KINDS[name], seed, 20, WAYS)
    for fault in gold_faults(made.options(), made.gold, tmp_path):  # a build refuses such a column
        made.metrics.pop(fault.partition("(")[2].partition(")")[0], None)
    score_and_resample(made.options(), made.gold, made.answers, tmp_path)


def test_every_metric_option_and_type_is_compared() -> None:
    there: set[tuple[str, ...]] = set()
    for kind in KINDS.values():
        for metric, _ in kind.rows:
            row = metrics()[metric["name"]]
            options = {name: option.default for name, option in row.options.items()} | metric
            for name, value in options.items():
                if name in row.options and value is not None:
                    there |= {(row.name, name), (row.name, name, str(value))}
            there.add((row.name, kind.fields[0]["type"]))
    wanted: set[tuple[str, ...]] = set()
    for row in metrics().values():
        wanted |= {(row.name, name) for name in row.options}
        wanted |= {(row.name, name, choice) for name, option in row.options.items() for choice in option.choices}
        wanted |= {(row.name, kind) for kind in row.types}
    # BERTScore and arrays have tests of their own; `items` changes no value, but what participants must rank.
    elsewhere = ("bertscore", "dice", "iou")
    assert {one for one in wanted - there if one[0] not in elsewhere and one[1] != "items"} == set()
