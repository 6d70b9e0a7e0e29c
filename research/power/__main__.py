"""What `power` foretells of a test set, and what the report's test then finds in real-like systems' answers.

A population is a large test set with answers of systems that err as real ones do: hard items are hard for all, labels
are confused with their neighbours, errors have heavy tails, documents and clusters differ. Two systems of a known score
and correlation of errors answer it, the second one worse by each of several gaps. Test sets are drawn from it with
replacement, and tested by the kit's own `p_values`: the smallest difference found in 8 of 10 of them is what is found.
What is foretold rests on the gold of one such test set, the level, and the correlation as `--common`; it is the mean
over several golds.

Run: `.venv/bin/python -m research.power [CASE …]`.
"""

import csv
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scoring_programs"))

from declared import reference, submission
from declared.systems import Systems
from declared.tasks import scorer
from gen_bundle.declaration.scoring import settle
from gen_bundle.declaration.source import Section
from scoring_kit.base.power_settings import WHOLE, PowerSettings
from scoring_kit.errors import Problems
from scoring_kit.manifest import Manifest
from scoring_kit.program import Program, ScoreColumn
from scoring_kit.resampling import power as kit
from scoring_kit.resampling.draws import TeamColumn
from scoring_kit.resampling.final_report import column_over_units
from scoring_kit.resampling.significance import ALPHA, p_values
from scoring_kit.submission_files import read_submission
from scoring_kit.units import Array

POPULATION, SETS, EXCHANGES, GOLDS = 4000, 300, 400, 5
HALVINGS = 9
Rows = list[list[Any]]
Draw = Callable[[np.random.Generator, int], tuple[Rows, Callable[[int, float], tuple[Rows, Array]]]]
"""(random, units) → the gold's rows, and what system 0 or 1 of an ability answers, with its errors, one a place."""


def shared(random: np.random.Generator, share: float, *shape: int) -> tuple[Array, Array]:
    """Normal numbers of two systems that correlate by `share`."""
    together = random.normal(size=shape)
    one, other = (math.sqrt(share) * together + math.sqrt(1 - share) * random.normal(size=shape) for _ in range(2))
    return one, other


LABELS = np.array(["neg", "neu", "pos"])
NEAR = np.array([1, 0, 1])


def labels(random: np.random.Generator, units: int, clusters: bool = False) -> Any:
    """Three labels, the rarest the hardest; three of four wrong answers are the label beside the gold's."""
    cluster = np.arange(units)
    if clusters:
        sizes = random.integers(1, 16, size=units)
        cluster = np.repeat(np.arange(units), sizes)
    rows = len(cluster)
    gold = random.choice(3, size=rows, p=(0.2, 0.3, 0.5))
    hard = np.array([0.5, 0.2, -0.3])[gold]
    if clusters:
        hard = hard + 0.7 * random.normal(size=units)[cluster]
    own = shared(random, 0.6, rows)
    near = random.random(rows) < 0.75
    of_cluster = [0.2 * random.normal(size=units)[cluster] * clusters for _ in range(2)]
    table = [[f"r{i}", LABELS[label], f"c{cluster[i]}"] for i, label in enumerate(gold)]

    def answer(system: int, ability: float) -> tuple[Rows, Array]:
        wrong = own[system] + hard + of_cluster[system] > ability
        other = np.where(near, NEAR[gold], 3 - gold - NEAR[gold])
        given = np.where(wrong, other, gold)
        return [[f"r{i}", LABELS[label]] for i, label in enumerate(given)], wrong.astype(np.float64)

    return table, answer


def in_clusters(random: np.random.Generator, units: int) -> Any:
    """The same in clusters of 1 to 15 rows, which differ in difficulty, and in which system is better."""
    return labels(random, units, clusters=True)


def numbers(random: np.random.Generator, units: int) -> Any:
    """Skewed gold; answers are drawn to the mean, with errors of Student's t distribution of six degrees of freedom."""
    gold = 5 * random.beta(2, 3, size=units)
    scale = np.sqrt(6 / random.chisquare(6, size=units))
    noise = [one * scale for one in shared(random, 0.6, units)]

    def answer(system: int, ability: float) -> tuple[Rows, Array]:
        given = gold.mean() + 0.9 * (gold - gold.mean()) + math.exp(-ability) * noise[system]
        return [[f"r{i}", f"{value:.6f}"] for i, value in enumerate(given)], given - gold

    return [[f"r{i}", f"{value:.6f}", "c"] for i, value in enumerate(gold)], answer


def rankings(random: np.random.Generator, units: int) -> Any:
    """Queries of 12 judged items; in hard ones scores have up to several times as much noise."""
    relevance = random.choice(4, size=(units, 12), p=(0.6, 0.2, 0.15, 0.05))
    relevance[:, 0] = 3
    spread = np.exp(0.5 * random.normal(size=(units, 1)))
    noise = [one * spread for one in shared(random, 0.6, units, 12)]

    def rows(values: Any) -> Rows:
        return [[f"q{i}", f"d{j}", value] for i, own in enumerate(values.tolist()) for j, value in enumerate(own)]

    def answer(system: int, ability: float) -> tuple[Rows, Array]:
        return rows(relevance + math.exp(-ability) * noise[system]), noise[system].ravel()

    return rows(relevance), answer


def entities(random: np.random.Generator, units: int) -> Any:
    """Documents with a few mentions; what is hard in a document is hard for all, and some mentions are made up."""
    document = np.repeat(np.arange(units), 1 + random.poisson(4, size=units))
    number = len(document)
    hard = 0.7 * random.normal(size=units)[document]
    own, false = shared(random, 0.6, number), shared(random, 0.6, number)
    names = [f"e{i}" for i in range(number)]
    keys = [f"d{i}" for i in document]

    def answer(system: int, ability: float) -> tuple[Rows, Array]:
        missed, made_up = own[system] + hard > ability, false[system] + hard > ability + 0.4
        given = [[key, name] for key, name, no in zip(keys, names, missed, strict=True) if not no]
        given += [[key, f"x{name}"] for key, name, yes in zip(keys, names, made_up, strict=True) if yes]
        return given, missed.astype(np.float64)

    return [[key, name] for key, name in zip(keys, names, strict=True)], answer


@dataclass(frozen=True)
class Case:
    """A metric over a population, for test sets of so many units."""

    draw: Any
    metric: Any
    units: int
    gaps: Sequence[float]
    level: float
    fields: Sequence[Mapping[str, Any]]
    header: tuple[str, str]
    rows: Mapping[str, Any]
    reference: Mapping[str, Any]
    sort: str = "desc"


ONE_LABEL = ({"field": "label", "type": "label", "values": LABELS.tolist()},)
ONE_NUMBER = ({"field": "number", "type": "number"},)
OF_LABELS: Mapping[str, Any] = {"fields": ONE_LABEL, "header": ("id,label,cluster", "id,label"), "rows": {}}
OF_NUMBERS: Mapping[str, Any] = {"fields": ONE_NUMBER, "header": ("id,number,cluster", "id,number"), "rows": {}}
GOLD: Mapping[str, Any] = {"file": "gold.csv"}
ACROSS = (0.5, 1.0, 1.5, 2.0)
CASES: Mapping[str, Case] = {
    "accuracy": Case(labels, "accuracy", 600, (0.02, 0.035, 0.05, 0.07), 0.75, **OF_LABELS, reference=GOLD),
    "accuracy .9": Case(labels, "accuracy", 600, (0.015, 0.025, 0.04, 0.06), 0.9, **OF_LABELS, reference=GOLD),
    "macro F1": Case(
        labels, {"name": "f1", "average": "macro"}, 600, (0.02, 0.04, 0.06, 0.08), 0.72, **OF_LABELS, reference=GOLD
    ),
    "Pearson": Case(numbers, "pearson", 500, (0.02, 0.04, 0.06, 0.09), 0.8, **OF_NUMBERS, reference=GOLD),
    "RMSE": Case(numbers, "rmse", 500, (0.03, 0.06, 0.09, 0.13), 0.7, **OF_NUMBERS, reference=GOLD, sort="asc"),
    "nDCG": Case(
        *(rankings, {"name": "ndcg", "cutoff": 10}, 200, (0.01, 0.02, 0.03, 0.045), 0.85),
        ({"field": "item", "type": "string"}, {"field": "score", "type": "number"}),
        ("id,item,relevance", "id,item,score"),
        {"rows": "many"},
        GOLD,
    ),
    "set F1": Case(
        *(entities, "set_f1", 200, (0.02, 0.035, 0.05, 0.08), 0.7),
        ({"field": "mention", "type": "string"},),
        ("id,mention", "id,mention"),
        {"rows": "many"},
        GOLD,
    ),
    "accuracy in clusters": Case(
        in_clusters,
        "accuracy",
        100,
        (0.02, 0.03, 0.045, 0.06),
        0.75,
        **OF_LABELS,
        reference={**GOLD, "cluster": "cluster"},
    ),
}


class Population:
    """A large test set of a case, in which any system's answers are scored."""

    def __init__(self, case: Case, units: int, seed: int, folder: Path) -> None:
        self.case, self.folder = case, folder
        random = np.random.default_rng(seed)
        self.gold, self.answer = case.draw(random, units)
        declaration = {
            "submission": {
                "file": "predictions.csv",
                "key": "id",
                **case.rows,
                "fields": [{"field": "id", "type": "string"}, *case.fields],
            },
            "reference": dict(case.reference),
            "tasks": [{"id": "t", "columns": [{"key": "score", "metric": case.metric}]}],
        }
        read = Section(declaration)
        self.options = settle(read, folder).as_options()
        if read.found:
            raise SystemExit(str(read.found))
        worst = {"desc": -1.0, "asc": 1e6}[case.sort]
        column = ScoreColumn("score", "t", "Score", case.sort, 4, worst, "")
        about = ("research", "declared", "Research", "1", "joint", ("t",), ("t",), {"t": "Task"}, self.options)
        self.program = Program(*about, (column,), 5)
        self.reference = self._read(self.gold)

    def _read(self, gold: Rows) -> Any:
        _write(self.folder / "gold.csv", self.case.header[0], gold)
        return reference.read(self.folder, ["t"], self.options)

    def system(self, system: int, ability: float) -> tuple[TeamColumn, Array, float]:
        """A system over all units, its errors, and its score."""
        rows, errors = self.answer(system, ability)
        sent = self.folder / "sent"
        sent.mkdir(exist_ok=True)
        _write(sent / "predictions.csv", self.case.header[1], rows)
        expected = reference.manifest(self.reference, ["t"])
        manifest = Manifest.from_dict({**vars(self.program), "expected": expected})
        given, _ = read_submission(submission, sent, manifest, Problems())
        result = scorer("t")(self.reference, given, self.options)
        assert result.units is not None
        over = column_over_units(self.program.columns[0], self.program, ["s"], {"s": {"t": result.units()}})
        score = result.metrics["score"].value
        assert score is not None
        return over.teams["s"], errors, score

    def of_score(self, system: int, goal: float) -> tuple[TeamColumn, Array]:
        """A system of about this score; abilities are halved."""
        low, high = -3.0, 6.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            team, errors, score = self.system(system, middle)
            if (score < goal) == (self.case.sort == "desc"):
                low = middle
            else:
                high = middle
        return team, errors

    def sample(self, random: np.random.Generator, units: int) -> Rows:
        """The gold's rows of so many units."""
        place = 2 if "cluster" in self.case.reference else 0
        names = list(dict.fromkeys(row[place] for row in self.gold))
        chosen = {names[i] for i in random.choice(len(names), size=units, replace=False)}
        return [row for row in self.gold if row[place] in chosen]


def _write(path: Path, header: str, rows: Rows) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows)


def found(case: Case, population: Population) -> tuple[float | None, float, float]:
    """The smallest difference that is found, the correlation of errors, and the size of the test without a gap."""
    better, errors = population.of_score(0, case.level)
    sign = 1 if case.sort == "desc" else -1
    others = [population.of_score(1, case.level - sign * gap) for gap in (0.0, *case.gaps)]
    common = float(np.corrcoef(errors, others[1][1])[0, 1])
    random = np.random.default_rng(1)
    shares: NDArray[np.float64] = np.zeros(len(others))
    pairs = [(0, place) for place in range(1, 1 + len(others))]
    for test_set in range(SETS):
        drawn = random.integers(POPULATION, size=case.units)
        teams = [better.at(drawn), *(team.at(drawn) for team, _ in others)]
        p = p_values(teams, case.units, EXCHANGES, test_set, pairs=pairs)
        shares += np.array([p[pair] < ALPHA for pair in pairs])
    power = (shares / SETS).tolist()
    return kit.crossing(case.gaps, power[1:]), common, power[0]


def foretold(case: Case, population: Population, common: float, seed: int) -> tuple[float | None, float]:
    """The smallest difference that is foretold from the gold of one test set, and likewise the size."""
    gold = population._read(population.sample(np.random.default_rng([2, seed]), case.units))
    settings = PowerSettings(2, (0.0,), (), case.level, common, seed)
    systems = Systems(gold, ["t"], population.options, seed, common)
    (column,) = population.program.columns
    of_task = kit.TaskPower(column, population.program, systems, {}, settings)
    (size,) = of_task.written([WHOLE], lambda: None)["sizes"]
    return size["smallest"], size["gaps"][0]["power"]


def main() -> None:
    print("| metric | units | common | size: found, foretold | found | foretold, and its range | foretold / found |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            population = Population(case, POPULATION, 3, Path(folder))
            smallest, common, size = found(case, population)
            of_golds = [foretold(case, population, common, seed) for seed in range(GOLDS)]
        told = [one for one, _ in of_golds if one is not None]
        mean, sizes = statistics.fmean(told), statistics.fmean(size for _, size in of_golds)
        ratio = f"{mean / smallest:.2f}" if smallest else "–"
        print(
            f"| {name} | {case.units} | {common:.2f} | {size:.3f}, {sizes:.3f} | {smallest and round(smallest, 4)} "
            f"| {mean:.4f} ({min(told):.4f} to {max(told):.4f}) | {ratio} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
